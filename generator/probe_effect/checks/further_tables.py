"""What the tables beside `samples.csv` must hold.

`histogram.csv` has buckets of the runs that were timed, with all their operations; `calibration.csv` scripts that the
submission ran, each probe once; `paths.csv` events of cases that it counted.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.model import Key, Sample
from probe_effect.store.histogram import HistogramRow, bucket_around
from probe_effect.store.tables import printable

HISTOGRAM, CALIBRATION, PATHS = "histogram.csv", "calibration.csv", "paths.csv"

NEAR_RATIO = 0.005
"""By how much the instructions of an event may differ from those of its run, an operation, unless it is said what else
was executed; and those of its run from those of the others. Repeated counts differ by less (METHOD.md)."""


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


@rule("paths-counts")
def _paths(checked: CheckedSubmission) -> Iterator[Fault]:
    counts: dict[Key, list[float]] = {}
    for row in checked.samples:
        operations = row.operations or row.events
        if row.status == "ok" and row.arm != "check" and row.instructions and operations:
            counts.setdefault(Key(row.case, row.tracer, row.level), []).append(row.instructions / operations)
    for event in checked.paths:
        named = printable(" ".join(filter(None, event.key)))
        if event.key not in counts:
            yield Fault(PATHS, None, f"{named} was not counted in samples.csv", "leave the file as the tool wrote it")
            continue
        sum_, usual = event.total.instructions, median(counts[event.key])
        if abs(sum_ - event.counted) > NEAR_RATIO * event.counted and not event.beside:
            found = f"{named}: {sum_} instructions in its rows, {event.counted:g} an operation in its run"
            yield Fault(PATHS, None, found, "say what else was executed, or record it again", "warning")
        if abs(event.counted - usual) > NEAR_RATIO * usual:
            found = f"{named}: {event.counted:g} instructions an operation where it was recorded, {usual:g} counted"
            yield Fault(PATHS, None, found, "record it again: the run was disturbed", "warning")


RULES = (_runs, _buckets, _operations, _scripts, _paths)
