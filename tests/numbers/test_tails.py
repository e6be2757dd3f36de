"""How long single operations take: percentiles from buckets, over blocks, in words, in a table and in a chart."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import block_rows, machine_values, write_data, write_submission
from helpers.number_builder import reduced
from probe_effect.costs.evidence import evidence_of
from probe_effect.model import Bucket, Key
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.counted import FEWEST_BEYOND, at_least, percentile_ns, pooled
from probe_effect.numbers.rows import SHARES
from probe_effect.site.charts.curves import Curve, tail_chart
from probe_effect.site.charts.draw import draw_svg
from probe_effect.site.charts.theme import TextForm
from probe_effect.site.data_folder import write_runs
from probe_effect.site.pages import case_page, submission_page
from probe_effect.store.kept import NOWHERE
from probe_effect.store.places import DataFolder
from probe_effect.store.result_tables import bucket_around

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.suite_file import Case

UNTRACED, TRACED = Key("baseline", "none"), Key("02-kprobe", "bpftrace")


def buckets(times_ns: Sequence[int]) -> tuple[Bucket, ...]:
    """Times counted in their buckets, as a workload does it."""
    counted = Counter(map(bucket_around, times_ns))
    longest_ns = max(times_ns)
    return tuple(Bucket(low, min(high, longest_ns), number) for (low, high), number in sorted(counted.items()))


times = st.lists(st.integers(0, 10**12), min_size=1, max_size=300)
shares = st.sampled_from(SHARES)


@given(times, shares)
def test_a_percentile_is_within_a_buckets_width_of_the_true_one(times_ns: list[int], share: float) -> None:
    found = percentile_ns(buckets(times_ns), share)
    beyond = len(times_ns) - share * len(times_ns)
    assert (found is None) == (beyond < FEWEST_BEYOND)
    if found is not None:
        true_ns = sorted(times_ns)[math.ceil(share * len(times_ns)) - 1]
        low_ns, high_ns = bucket_around(true_ns)
        assert low_ns <= found <= high_ns


@given(st.lists(times, min_size=1, max_size=4))
def test_runs_that_are_pooled_are_one_run_of_all_their_operations(runs: list[list[int]]) -> None:
    together = pooled(buckets(times_ns) for times_ns in runs)
    every = [time_ns for times_ns in runs for time_ns in times_ns]
    assert [(one.low_ns, one.operations) for one in together] == [
        (one.low_ns, one.operations) for one in buckets(every)
    ]
    assert together[-1].high_ns == max(every)


@given(times)
def test_the_share_that_takes_as_long_or_longer_falls_from_all_to_the_longest(times_ns: list[int]) -> None:
    points = at_least(buckets(times_ns))
    assert [share for _, share in points] == sorted((share for _, share in points), reverse=True)
    for time_ns, share in points:
        assert share <= sum(one >= time_ns for one in times_ns) / len(times_ns)
    assert points[0][1] == 1
    assert points[-1] == (max(times_ns), 1 / len(times_ns))
    assert at_least(()) == []


def timed(blocks: int = 8, traced_ns: int = 512) -> list[Sample]:
    """Blocks in which one operation in a hundred takes ten times as long, with a tracer and without."""

    def histogram(time_ns: int) -> tuple[Bucket, ...]:
        return (Bucket(time_ns, time_ns, 9900), Bucket(10 * time_ns, 10 * time_ns, 100))

    return [
        replace(row, events=10_000, histogram=histogram(256 if row.arm == "baseline" else traced_ns))
        for block in range(blocks)
        for row in block_rows(block, cost_ns=50 + block % 2)
    ]


def test_each_case_and_the_untraced_runs_have_percentiles_over_the_blocks_and_the_longest_of_all() -> None:
    found = reduced(timed()).tails
    assert set(found) == {UNTRACED, TRACED}
    half, ninety, ninety_nine, rare = found[TRACED].percentiles_ns
    assert half == ninety == ninety_nine == (512, 512, 512)
    assert rare == (5120, 5120, 5120)
    assert found[TRACED].longest_ns == 5120
    assert found[UNTRACED].operations == 2 * found[TRACED].operations == 2 * 8 * 10_000


def test_below_six_blocks_a_percentile_has_no_interval_and_too_few_operations_have_none() -> None:
    (half, *_, rare) = reduced(timed(blocks=5)).tails[TRACED].percentiles_ns
    assert half == (512, None, None)
    few = [replace(row, events=1000, histogram=(Bucket(300, 300, 1000),)) for row in timed()]
    *_, rare = reduced(few).tails[TRACED].percentiles_ns
    assert rare is None


def test_runs_without_a_histogram_have_no_tail() -> None:
    assert reduced([replace(row, histogram=()) for row in timed()]).tails == {}


def test_a_line_of_the_table_has_the_untraced_runs_first() -> None:
    own = reduced(timed())
    assert [line.name for line in case_page.tails(own.numbers)] == ["untraced", "bpftrace"]
    assert case_page.tails(own.numbers)[1].cells()[-1] == "5\u202f120\u00a0ns"


def test_the_page_of_a_case_has_the_chart_and_the_table(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    values = machine_values()
    values["run"]["started"], values["run"]["ended"] = "2026-11-21T10:00:00Z", "2026-11-21T10:30:00Z"
    folder = write_submission(data, timed(), values, "2026-11-21-per-event")
    catalogue = read_catalogue(DataFolder(data))
    page = case_of(catalogue)
    assert '{{< chart "tail-02-kprobe" >}}' in page
    assert "| untraced | 256" in page
    newest = next(one for one in catalogue.active if one.files.folder == folder)
    assert "/histogram.csv)" in submission_page.write(newest, catalogue)
    (chart,) = case_page.tail_charts(catalogue, kprobe_of(catalogue))
    assert {row["series"] for row in chart.rows} == {"untraced", "bpftrace"}
    assert chart.table.rows[-1] == ("the longest", "2\u202f560\u00a0ns", "5\u202f120\u00a0ns")


def test_a_case_whose_operations_were_not_timed_alone_has_none_of_it(tmp_path: Path) -> None:
    page = case_of(read_catalogue(DataFolder(write_data(tmp_path))))
    assert "Single operations" not in page
    assert "tail-" not in page


def case_of(catalogue: Catalogue) -> str:
    """The page of 02-kprobe."""
    return case_page.write(catalogue, evidence_of(catalogue), catalogue.by_suite["per-event"], kprobe_of(catalogue))


def kprobe_of(catalogue: Catalogue) -> Case:
    found = catalogue.by_suite["per-event"].suite.case("02-kprobe")
    assert found is not None
    return found


@pytest.mark.parametrize("layout", ["wide", "narrow", "card"])
def test_a_chart_is_drawn_whatever_the_times(layout: str) -> None:
    curves = [Curve("untraced", [(0, 1.0), (1, 0.5), (10**12, 1e-9)]), Curve("bpftrace", [(7, 1.0)], "bpftrace")]
    chart = tail_chart("tail-x", "Tails", "A sentence.", curves, table=TextForm(("", "untraced"), ()))
    assert all(float(row["time_ns"] or 0) > 0 for row in chart.rows)
    assert "untraced" in draw_svg(chart, layout, NOWHERE)  # type: ignore[arg-type]


def test_all_histograms_are_one_table_of_parquet_too(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    assert written(data, tmp_path / "none.parquet") == []
    write_submission(data, timed(blocks=6), folder="2026-11-20-per-event-2")
    found = written(data, tmp_path / "some.parquet")
    assert len(found) == 6 * 3 * 2
    assert {(row["submission"], row["metric"]) for row in found} == {
        ("test-machine/2026-11-20-per-event-2", "time"),
    }
    assert {(row["low_ns"], row["operations"]) for row in found if row["position"] == 1} == {(512, 9900), (5120, 100)}


def written(data: Path, path: Path) -> list[dict[str, object]]:
    """The rows of the table of all histograms, which says itself how many there are."""
    table = write_runs("histogram", read_catalogue(DataFolder(data)), path)
    found: list[dict[str, object]] = pq.read_table(path).to_pylist()
    assert table.count == len(found)
    return found
