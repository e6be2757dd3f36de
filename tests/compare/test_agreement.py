"""Published costs beside measured ones: which stand side by side, their ratio, and whether both order cases alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import (
    MACHINE,
    REAL_DATA,
    block_rows,
    copy_suite,
    machine_values,
    many_blocks,
    traced_row,
    write_source,
    write_submission,
)
from helpers.written_pages import written
from probe_effect.compare.agreement import of_case, of_source, orders
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.trends import MIN_PAIRS
from probe_effect.site.pages import comparison, source_page
from probe_effect.site.pages.parts import markdown
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.compare.agreement import Order, Pairing
    from probe_effect.model import Sample

CASES = sorted(path.stem for path in (REAL_DATA / "suites" / "per-event").glob("[01]*.d") if path.name.count(".") == 1)


def figure(case: str, cost_ns: float, tracer: str = "bpftrace", platform: str = "a laptop") -> dict[str, str]:
    """A printed cost."""
    return {
        "figure": f"c_{case.replace('-', '_')}_{tracer}_{platform.replace(' ', '_')}",
        "what": f"cost of {case}",
        "printed": f"{cost_ns} ns",
        "value": str(cost_ns),
        "unit": "ns",
        "platform": platform,
        "case": case,
        "tracer": tracer,
        "cost_ns": str(cost_ns),
        "cost_from": "printed",
    }


@pytest.mark.deep
def test_a_range_of_published_costs_marks_each_end_by_what_it_is(catalogue: Catalogue) -> None:
    figures = [one for source in catalogue.sources for one in source.figures if one.cost_ns is not None]
    printed = next(one for one in figures if one.cost_from == "printed" and one.cost_ns)
    derived = next(one for one in figures if one.cost_from == "derived" and one.cost_ns != printed.cost_ns)
    told = markdown(comparison.published_range([printed, derived]))
    assert sorted(text[-1] for text in told.split(" to ")) == ["†", "‡"]
    assert markdown(comparison.published_range([printed, printed])).endswith("†")


def several(costs_ns: dict[str, float], tracer: str = "bpftrace") -> list[Sample]:
    """Eight blocks in which each case costs exactly so much."""
    rows: list[Sample] = []
    for block in range(8):
        own = [row for row in block_rows(block) if row.arm == "baseline"]
        own += [
            traced_row(block, 10 + place, 100 + cost_ns, case, tracer=tracer)
            for place, (case, cost_ns) in enumerate(costs_ns.items())
        ]
        rows += own
    return rows


def catalogue_of(data: Path, rows: list[dict[str, str]], samples: list[Sample]) -> Catalogue:
    copy_suite(data)
    write_source(data, rows, [], summary="A talk.")
    write_submission(data, samples)
    return read_catalogue(DataFolder(data))


def pairings(catalogue: Catalogue, case: str = "02-kprobe") -> list[Pairing]:
    return of_case(catalogue, case, catalogue.numbers.of_case(case))


@pytest.mark.parametrize(("tracer", "tool"), [("bpftrace-0-23-2", "bpftrace"), ("perf-stat", "perf-stat")])
def test_a_version_of_a_tool_is_that_tool(tracer: str, tool: str) -> None:
    assert tool_of(tracer) == tool


def test_the_ratio_is_measured_over_published_with_the_interval_of_the_measured(tmp_path: Path) -> None:
    spread = [row for block in range(8) for row in block_rows(block, 40 + 5 * block)]
    (found,) = pairings(catalogue_of(tmp_path, [figure("02-kprobe", 25)], spread))
    cost = found.measured.cost
    assert cost is not None
    assert cost.low is not None
    assert found.ratio.value == pytest.approx(cost.value / 25)
    assert found.ratio.low == pytest.approx(cost.low / 25)
    assert cost.low < cost.value


def test_only_figures_of_the_same_tool_are_set_against_ours(tmp_path: Path) -> None:
    others = [figure("02-kprobe", 25, "dtrace"), figure("02-kprobe", 30, "") | {"tracer": ""}]
    found = pairings(catalogue_of(tmp_path, [figure("02-kprobe", 20), *others], many_blocks()))
    assert [one.figure.tracer for one in found] == ["bpftrace"]


def test_every_version_of_a_tool_is_set_against_the_same_figure(tmp_path: Path) -> None:
    rows = [figure("02-kprobe", 20)]
    found = pairings(catalogue_of(tmp_path, rows, many_blocks(tracer="bpftrace-0-23-2")))
    assert [one.measured.tracer for one in found] == ["bpftrace-0-23-2"]


@pytest.mark.parametrize(
    ("cost_ns", "samples"),
    [
        pytest.param(0, many_blocks(), id="published cost of 0"),
        pytest.param(20, many_blocks(cost_ns=0), id="no difference from 0"),
        pytest.param(20, many_blocks(seen=1), id="events that do not add up"),
    ],
)
def test_a_cost_that_cannot_be_a_divisor_or_is_none_has_no_ratio(
    tmp_path: Path, cost_ns: float, samples: list[Sample]
) -> None:
    assert pairings(catalogue_of(tmp_path, [figure("02-kprobe", cost_ns)], samples)) == []


# Order


def orders_of(data: Path, published: dict[str, float], measured: dict[str, float]) -> list[Order]:
    rows = [figure(case, cost_ns) for case, cost_ns in published.items()]
    catalogue = catalogue_of(data, rows, several(measured))
    (source,) = catalogue.sources
    return orders(source, of_source(catalogue, source))


def test_few_rows_have_a_correlation_and_no_interval_and_say_so(tmp_path: Path) -> None:
    published = {case: 100.0 + place for place, case in enumerate(CASES)}
    (order,) = orders_of(tmp_path, published, {case: published[case] for case in CASES[:4]})
    assert (order.published, len(order.pairings)) == (len(CASES), 4)
    assert order.correlation is not None
    assert order.correlation.tau == 1
    assert "1.00; 4 rows: too few for an interval, which needs" in comparison.rank_correlation(order)
    assert comparison.extent([order]).endswith("that it prints for a platform, 4 were measured here.")


def test_enough_rows_have_an_interval(tmp_path: Path) -> None:
    published = {case: 100.0 + place for place, case in enumerate(CASES)}
    measured = dict(published) | {CASES[0]: 300.0, CASES[7]: 250.0}
    (order,) = orders_of(tmp_path, published, measured)
    assert len(order.pairings) >= MIN_PAIRS
    assert order.correlation is not None
    assert order.correlation.low is not None
    assert order.correlation.low < order.correlation.tau < 1
    assert " to " in comparison.rank_correlation(order)
    assert comparison.chance_of_order(order).endswith("%")


def test_one_measured_row_has_no_order(tmp_path: Path) -> None:
    published = {case: 100.0 + place for place, case in enumerate(CASES)}
    (order,) = orders_of(tmp_path, published, {CASES[0]: 50.0})
    assert order.correlation is None
    assert (comparison.rank_correlation(order), comparison.chance_of_order(order)) == ("no order to compare", "—")


def test_a_source_with_few_cases_on_a_platform_is_not_ranked(tmp_path: Path) -> None:
    assert orders_of(tmp_path, dict.fromkeys(CASES[:3], 9.0), dict.fromkeys(CASES[:3], 50.0)) == []


# Pages


def test_source_and_case_pages_say_how_ours_is_to_theirs(tmp_path: Path) -> None:
    pages = written(catalogue_of(tmp_path, [figure("02-kprobe", 25)], many_blocks()))
    for path in ("costs/02-kprobe.md", "sources/a-talk.md"):
        shown = pages[path].replace("\u00a0", " ")
        assert "2.00 times" in shown


def test_the_talk_of_2023_says_how_many_of_its_rows_could_be_measured(catalogue: Catalogue) -> None:
    source = next(one for one in catalogue.sources if one.id == "piotrowski-2023-tracing-overhead")
    found = orders(source, of_source(catalogue, source))
    printed = {(figure.platform, figure.case) for figure in source.figures if figure.cost_ns and figure.case}
    assert {order.platform for order in found} == {platform for platform, _ in printed}
    assert all(order.published == sum(one == order.platform for one, _ in printed) for order in found)
    page = source_page.write(source, catalogue)
    assert all(f"{len(order.pairings)} of {order.published}" in page for order in found)


def test_results_of_another_machine_are_another_row(tmp_path: Path) -> None:
    values = machine_values()
    values["machine"]["id"] = "other-machine"
    write_submission(tmp_path, many_blocks(), values)
    found = pairings(catalogue_of(tmp_path, [figure("02-kprobe", 25)], many_blocks()))
    assert {one.measured.submission.machine for one in found} == {MACHINE, "other-machine"}
