"""Static beside dynamic probes: one machine, both places, and a finding only where two costs differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.builders import copy_suite
from probe_effect.answer.answers import of_case
from probe_effect.costs.evidence import evidence_of
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.shown import home_machine
from probe_effect.site.pages.guide_fragments import COMPARED, charts, finding
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.costs.row import CostRow


def test_the_chart_has_probes_of_both_kinds_in_the_kernel_and_in_programs(catalogue: Catalogue) -> None:
    (chart,) = charts(catalogue)
    places = {str(row["label"]).partition(":")[0] for row in chart.rows}
    kinds = {str(row["series"]).partition(",")[0] for row in chart.rows}
    assert places == {"Kernel", "Program"}
    assert kinds == {"static", "dynamic"}
    assert len({row["label"] for row in chart.rows}) == len(chart.rows)


def test_what_was_not_timed_says_that_it_is_estimated(catalogue: Catalogue) -> None:
    (chart,) = charts(catalogue)
    kprobe = next(row for row in chart.rows if row["label"] == "Kernel: Kprobe")
    assert kprobe["series"] in {"dynamic, measured", "dynamic, estimated from instructions"}


def test_nothing_is_drawn_before_anything_was_measured(tmp_path: Path) -> None:
    copy_suite(tmp_path / "data")
    assert charts(read_catalogue(DataFolder(tmp_path / "data"))) == []


def compared(catalogue: Catalogue) -> list[CostRow]:
    found, machine = evidence_of(catalogue), home_machine(catalogue.numbers) or ""
    return [part for case in COMPARED if (part := of_case(found, case, machine, "bpftrace"))]


def test_the_title_has_the_ratio_of_two_costs_of_one_run_that_differ(catalogue: Catalogue) -> None:
    first, second = compared(catalogue)
    assert "times" in finding([first, second])
    assert finding([first, replace(second, cost=first.cost)]) == ""
    assert finding([first]) == ""
