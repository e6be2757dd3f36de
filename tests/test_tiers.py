"""The rate tiers of 2011: worked out again from the source's own figures, and from what was measured here."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builders import REAL_DATA, machine_values, many_blocks, write_submission
from probe_effect.answer.rate_tiers import SOURCE, Tiers, measured, tiers
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.pages import site
from probe_effect.pages import tiers as wording
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The source, the suites, and no measurement."""
    root = tmp_path / "data"
    shutil.copytree(REAL_DATA / "published" / SOURCE, root / "published" / SOURCE)
    shutil.copytree(REAL_DATA / "suites", root / "suites")
    return root


def catalogue_of(data: Path) -> Catalogue:
    return read_catalogue(DataFolder(data))


def tiers_of(data: Path) -> Tiers:
    found = tiers(catalogue_of(data))
    assert found is not None
    return found


def write(data: Path, machine: str, case: str, cost_ns: float, *, tracer: str = "bpftrace", month: int = 1) -> None:
    """A submission in which one case costs so much."""
    values = machine_values()
    values["machine"]["id"] = machine
    values["run"]["started"] = f"2026-{month:02d}-01T00:00:00Z"
    rows = [
        row if row.arm == "baseline" else replace(row, case=case) for row in many_blocks(cost_ns=cost_ns, tracer=tracer)
    ]
    write_submission(data, rows, values, f"2026-{month:02d}-01-{case}-{tracer}")


def test_the_tiers_come_out_as_printed_with_the_cost_that_they_assume(data: Path) -> None:
    found = tiers_of(data)
    assumed = found.costs[0]
    printed = [float(figure.base_value) for figure in found.slowdowns]
    assert [slowdown.value for slowdown in assumed.slowdowns] == pytest.approx(printed)
    assert assumed.of_assumed.value == 1


def test_the_measured_costs_follow_from_the_run_times(data: Path) -> None:
    count, copy = tiers_of(data).costs[1:3]
    assert count.cost.value == pytest.approx((62.519046129 - 2.722916042) / 1e8 * 1e9)
    assert copy.cost.value == pytest.approx((153.046645951 - 2.722916042) / 1e8 * 1e9)


def test_the_factor_of_pessimism_is_computed(data: Path) -> None:
    said = wording.pessimism(tiers_of(data))
    assert said.startswith("At 6\u00a0us a probe the tiers were too pessimistic, by a factor of 10.0 for ")
    assert " and of 3.99 for " in said


def test_without_measurements_there_are_only_published_costs(data: Path) -> None:
    found = tiers_of(data)
    assert [one.measured for one in found.costs] == [None, None, None]
    assert wording.against_ours(found) is None


def test_without_the_source_there_are_no_tiers(tmp_path: Path) -> None:
    assert tiers(catalogue_of(tmp_path)) is None


def test_ours_are_of_the_machine_that_ran_last_with_the_tracer_that_has_most(data: Path) -> None:
    write(data, "old", "06-uprobe", 900, month=1)
    write(data, "new", "06-uprobe", 9000, month=3)
    write(data, "new", "02-uprobe-nop1", 500, month=2)
    write(data, "new", "03-uprobe-nop5", 700, month=2)
    write(data, "new", "06-uprobe", 9500, tracer="libbpf", month=4)
    write(data, "new", "14-filter", 600, month=2)
    found = measured(catalogue_of(data))
    assert [(one.submission.machine, one.case, one.tracer) for one in found] == [
        ("new", "06-uprobe", "bpftrace"),
        ("new", "03-uprobe-nop5", "bpftrace"),
        ("new", "02-uprobe-nop1", "bpftrace"),
    ]
    said = wording.against_ours(tiers_of(data))
    assert said is not None
    assert said.endswith("2 cost less than the tiers assume and 1 cost more.")


def test_a_cost_that_is_no_difference_from_0_is_not_shown(data: Path) -> None:
    write(data, "new", "06-uprobe", 0)
    assert measured(catalogue_of(data)) == []


def test_the_page_of_the_source_shows_printed_and_recomputed_tiers(data: Path) -> None:
    write(data, "new", "06-uprobe", 9000)
    page = dict(site.content(catalogue_of(data)))[f"sources/{SOURCE}.md"].replace("\u00a0", " ")
    table = page.split("## Its rate tiers, worked out again")[1]
    assert "| the tiers as printed | 6 us | 0.6% | 6% | none printed |" in table
    assert "| 598 ns | 0.060 % | 0.60 % | 6.0 % | 0.0997 times |" in table
    assert "[Uprobe, " in table
