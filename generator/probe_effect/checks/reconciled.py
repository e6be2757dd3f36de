"""Events seen and lost add up to those that the workload made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.reduce.events import RECONCILE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    for line, sample in checked.lines():
        if sample.seen is None or not sample.events:
            continue
        difference = sample.seen + (sample.lost or 0) - sample.events
        if abs(difference) > RECONCILE_TOLERANCE * sample.events:
            found = f"{sample.case}: {sample.events} events made, {sample.seen} seen, {sample.lost or 0} lost"
            hint = "the case is left out of guidance; measure again while nothing else fires the probe"
            yield Fault("samples.csv", line, found, hint, "warning")


RULE = Rule(
    "reconciled",
    "Events seen and lost add up to those made, within 0.1 %.",
    _faults,
    good="1000 events made, 990 seen, 10 lost",
    bad="1000 events made, 990 seen, 0 lost",
)
