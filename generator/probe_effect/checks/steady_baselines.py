"""Runs without a tracer agree: the second baseline of the blocks takes as long as the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.checks.rule import Fault, JudgedSubmission, Rule
from probe_effect.reduce.rows import baselines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.stats.drift import Trend

MOST_RATIO = 0.02


def _faults(judged: JudgedSubmission) -> Iterator[Fault]:
    for level, baseline in baselines(judged.checked.samples).items():
        found = baseline.drift_within()
        if found is not None and _is_beyond(found):
            at = "" if level is None else f" at level `{level}`"
            first = next(line for line, row in judged.checked.lines() if (row.arm, row.level) == ("baseline", level))
            said = f"baselines{at} differ by {units.percent(found.ratio)} from the first of a block to the second"
            hint = "look what else ran; nothing that small can be measured there"
            yield Fault("samples.csv", first, said, hint, "warning")


def _is_beyond(found: Trend) -> bool:
    """Whether the whole interval is: among many levels, some are beyond by chance."""
    low, high = found.low_ratio, found.high_ratio
    return low is not None and high is not None and (low > MOST_RATIO or high < -MOST_RATIO)


RULE = Rule(
    "steady-baselines",
    "From the first baseline of a block to the second nothing changes by more than 2 %.",
    _faults,
    good="first and second baselines differ by 0.3 %",
    bad="the second ones take 5 % longer",
)
