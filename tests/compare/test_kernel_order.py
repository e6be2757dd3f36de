"""The order of counted instructions against that of published costs: what is paired, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA, copy_suite, counted_rows, write_counted_submission, write_source
from probe_effect.compare.agreement import CountedOrder, counted_orders
from probe_effect.compare.kernels import KernelColumn, matrices
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.trends import MIN_PAIRS
from probe_effect.site.pages import comparison
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from probe_effect.model import Sample

CASES = sorted(path.stem for path in (REAL_DATA / "suites" / "per-event").glob("[01]*.d") if path.name.count(".") == 1)
FIRING = CASES[1:11]


def figure(case: str, cost_ns: float, tracer: str = "bpftrace") -> dict[str, str]:
    """A printed cost."""
    return {
        "figure": f"c_{case.replace('-', '_')}",
        "what": f"cost of {case}",
        "printed": f"{cost_ns} ns",
        "value": str(cost_ns),
        "unit": "ns",
        "platform": "a laptop",
        "case": case,
        "tracer": tracer,
        "cost_ns": str(cost_ns),
        "cost_from": "printed",
    }


def orders(data: Path, figures: Iterable[dict[str, str]], samples: list[Sample] | None = None) -> list[CountedOrder]:
    """What comes of `figures`, where the cases take 100, 200, .. instructions in their order."""
    copy_suite(data)
    write_source(data, list(figures), [], summary="A talk.")
    costs = {f"{case} bpftrace": 100.0 * place for place, case in enumerate(CASES, start=1)}
    write_counted_submission(data, counted_rows(costs) if samples is None else samples)
    catalogue = read_catalogue(DataFolder(data))
    return [one for found in matrices(catalogue) for one in counted_orders(catalogue, found)]


def test_counts_in_the_order_of_published_costs_agree_fully(tmp_path: Path) -> None:
    (found,) = orders(tmp_path, [figure(case, 10 + place) for place, case in enumerate(FIRING)])
    assert found.column == KernelColumn("6.1.0-50-amd64", "bpftrace 0.17.0")
    assert (found.source.id, found.platform) == ("a-talk", "a laptop")
    assert found.correlation is not None
    assert found.correlation.tau == 1
    assert found.pairings[0] == pytest.approx((10, 200))


def test_counts_in_the_opposite_order_disagree_fully(tmp_path: Path) -> None:
    (found,) = orders(tmp_path, [figure(case, 100 - place) for place, case in enumerate(FIRING)])
    assert found.correlation is not None
    assert found.correlation.tau == -1


def test_a_source_with_too_few_costs_is_not_set_against_counts(tmp_path: Path) -> None:
    assert orders(tmp_path, [figure(case, 10 + place) for place, case in enumerate(FIRING[:7])]) == []


def test_costs_of_another_tool_are_not_set_against_counts(tmp_path: Path) -> None:
    assert orders(tmp_path, [figure(case, 10 + place, "dtrace") for place, case in enumerate(FIRING)]) == []


def test_a_cost_of_zero_and_a_case_without_events_have_no_place(tmp_path: Path) -> None:
    figures = [figure(case, place) for place, case in enumerate(FIRING)]
    (found,) = orders(tmp_path, [figure(CASES[0], 5), *figures])
    assert len(found.pairings) == len(FIRING) - 1


def test_flagged_counts_have_no_place_and_the_page_says_how_many_are_missing(tmp_path: Path) -> None:
    costs = {f"{case} bpftrace": 100.0 * place for place, case in enumerate(CASES, start=1)}
    lossy = set(FIRING[:4])
    rows = [replace(row, seen=900, lost=100) if row.case in lossy else row for row in counted_rows(costs)]
    (found,) = orders(tmp_path, [figure(case, 10 + place) for place, case in enumerate(FIRING)], rows)
    assert len(found.pairings) == len(FIRING) - 4
    assert MIN_PAIRS - len(found.pairings) == 2
    assert comparison.rank_correlation(found) == "1.00; 6 rows: too few for an interval, which needs 8"
