"""A tracer does not make a program faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.checks.rule import Fault, JudgedSubmission, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


def _faults(judged: JudgedSubmission) -> Iterator[Fault]:
    for case in judged.submission.numbers:
        if case.cost is not None and case.distinguishable and case.cost.value < 0:
            found = f"case `{case.case}` with {case.tracer} costs {units.duration(case.cost.value)}"
            hint = "look what differs between traced runs and baselines: frequency, placement, or the code's alignment"
            yield Fault("samples.csv", judged.line_of(case), found, hint, "warning")


RULE = Rule(
    "negative-cost",
    "No cost is below 0 by more than the noise floor.",
    _faults,
    good="-0.4 ns with a noise floor of 2 ns",
    bad="-40 ns with the same noise floor",
)
