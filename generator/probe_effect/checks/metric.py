"""A submission's rows hold what its metric says: times, or instructions and no time at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.store.samples import SAMPLE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Sample

TIMES = tuple(column.name for column in SAMPLE_COLUMNS if column.name.endswith("_ns"))


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    counts = checked.document.run.metric == "instructions"
    for line, sample in checked.lines():
        yield from _of_counts(line, sample) if counts else _of_times(line, sample)


def _of_counts(line: int, sample: Sample) -> Iterator[Fault]:
    filled = [name for name in TIMES if getattr(sample, name) is not None]
    if filled:
        found = f"metric `instructions`, but a row with {', '.join(filled)}"
        yield Fault("samples.csv", line, found, "leave times empty: those of an emulated machine mean nothing")
    if _is_timed(sample) and not sample.instructions:
        found = "metric `instructions`, but an `ok` run without `instructions`"
        yield Fault("samples.csv", line, found, "set status to failed when they are not known")


def _of_times(line: int, sample: Sample) -> Iterator[Fault]:
    if _is_timed(sample) and not sample.wall_ns:
        found = "metric `time`, but an `ok` run without `wall_ns`"
        yield Fault("samples.csv", line, found, "set run.metric to `instructions` where no times were taken")


def _is_timed(sample: Sample) -> bool:
    return sample.status == "ok" and sample.arm != "check"


RULE = Rule(
    "metric",
    "Rows hold times, or instructions and no time, as `run.metric` says.",
    _faults,
    good="metric `time`: a row with `wall_ns`",
    bad="metric `instructions`: a row with `wall_ns`",
)
