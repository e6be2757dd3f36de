"""What the tables beside `samples.csv` must hold.

`histogram.csv` has buckets of the runs that were timed, with all their operations; `calibration.csv` scripts that the
submission ran, each probe once.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.model import Sample
from probe_effect.store.histogram import HistogramRow, bucket_around
from probe_effect.store.tables import printable

HISTOGRAM, CALIBRATION = "histogram.csv", "calibration.csv"


@rule("histogram-runs")
def _runs(checked: CheckedSubmission) -> Iterator[Fault]:
    if not checked.histogram:
        return
    timed = {(row.block, row.position) for row in checked.samples if _is_timed(row)}
    found: dict[tuple[int, int], int] = {}
    for line, row in _lines(checked):
        found.setdefault(row.place, line)
    for (block, position), line in found.items():
        if (block, position) not in timed:
            said = f"block {block}, position {position} is no run of samples.csv that was timed and ended well"
            yield Fault(HISTOGRAM, line, said, "leave the file as the tool wrote it")
    for block, position in sorted(timed - found.keys()):
        said = f"block {block}, position {position} has no row, and other runs have"
        yield Fault(HISTOGRAM, None, said, "leave the file as the tool wrote it")


@rule("histogram-buckets")
def _buckets(checked: CheckedSubmission) -> Iterator[Fault]:
    for line, row in _lines(checked):
        low_ns, high_ns = bucket_around(row.low_ns)
        if row.low_ns != low_ns or not low_ns <= row.high_ns <= high_ns:
            found = f"{row.low_ns} to {row.high_ns} ns is no bucket"
            yield Fault(HISTOGRAM, line, found, f"{low_ns} to {high_ns} ns is one; only the last of a run ends before")
    for (_, before), (line, after) in pairwise(_lines(checked)):
        if (after.place, after.low_ns) <= (before.place, before.low_ns):
            found = f"block {after.block}, position {after.position}, {after.low_ns} ns comes after a later row"
            yield Fault(HISTOGRAM, line, found, "keep rows in the order run, and in that of times")


@rule("histogram-operations")
def _operations(checked: CheckedSubmission) -> Iterator[Fault]:
    counted: Counter[tuple[int, int]] = Counter()
    last: dict[tuple[int, int], int] = {}
    for line, row in _lines(checked):
        counted[row.place] += row.operations
        last[row.place] = line
    for sample in checked.samples:
        place = (sample.block, sample.position)
        made = sample.operations or sample.events
        if place in counted and _is_timed(sample) and counted[place] != made:
            found = f"block {sample.block}, position {sample.position}: {counted[place]} operations in its buckets"
            yield Fault(HISTOGRAM, last[place], f"{found}, {made} performed", "leave the file as the tool wrote it")


def _is_timed(sample: Sample) -> bool:
    """Whether a run can have a histogram: it was timed, and ended well."""
    return sample.status == "ok" and sample.arm != "check" and bool(sample.wall_ns)


def _lines(checked: CheckedSubmission) -> Iterator[tuple[int, HistogramRow]]:
    """Each row with its line; exact because a sound file has one line a row."""
    yield from enumerate(checked.histogram, start=2)


@rule("calibration-scripts")
def _scripts(checked: CheckedSubmission) -> Iterator[Fault]:
    known = {(row.case, row.tracer, level) for row in checked.samples for level in (row.level, None)}
    seen: set[tuple[object, ...]] = set()
    for line, row in enumerate(checked.calibration, start=2):  # exact because a sound file has one line a row
        named = printable(f"{row.case} with {row.tracer}" + (f" at {row.level}" if row.level else ""))
        if row.key not in known:
            yield Fault(CALIBRATION, line, f"{named} is not in samples.csv", "leave the file as the tool wrote it")
        if (probe := row[:5]) in seen:
            yield Fault(CALIBRATION, line, f"{named} has this probe twice", "keep its first row")
        seen.add(probe)


RULES = (_runs, _buckets, _operations, _scripts)
