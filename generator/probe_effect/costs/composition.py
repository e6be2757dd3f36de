"""Costs that nobody measured, put together from measured ones, and how well that went where somebody did measure.

Two kinds: several probes at once, whose costs add; and a probe with an action that was measured on another probe.
Its cost is cost(probe) + cost(action) - cost(plain), `plain` being that other probe with an action that does nothing.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from probe_effect.costs.evidence import Evidence
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.stats import estimates
from probe_effect.store.suite_file import Case

CompositionKind = Literal["several probes", "probe and action"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A combination that was measured, beside what its parts predict; both in ns an operation.

    `ratio`: measured over predicted, None where the prediction may be 0. `holds`: whether the two intervals overlap.
    """

    case: str
    tracer: str
    kind: CompositionKind
    predicted: Estimate
    measured: Estimate
    ratio: Estimate | None
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Of `count` combinations `holding` agree within the intervals; the ratios are measured over predicted."""

    count: int
    holding: int
    median_ratio: float
    least_ratio: float
    greatest_ratio: float


def composed(probe: Estimate, action: Estimate, plain: Estimate) -> Estimate:
    """The cost of `probe` with the action of `action`: cost(probe) + cost(action) - cost(plain), ns.

    The difference is that of independent estimates, and the ends of the sum add (`stats.estimates`), so the interval is
    rather too wide than too narrow for costs of one submission, which share their baselines.
    """
    return estimates.total([probe, estimates.difference(action, plain)])


@once
def checked(found: Evidence, machine: str) -> Sequence[Checked]:
    """Every combination that was measured on `machine` together with its parts, with the same tracer and intervals."""
    return [one for tracer in found.by_tracer(machine) for one in _checked(found, machine, tracer)]


def agreement(found: Sequence[Checked], kind: CompositionKind) -> Agreement | None:
    """What the checks of one kind say together; None where there are none."""
    of_kind = [one for one in found if one.kind == kind]
    ratios = [one.ratio.value for one in of_kind if one.ratio is not None]
    if not ratios:
        return None
    return Agreement(
        count=len(of_kind),
        holding=sum(one.holds for one in of_kind),
        median_ratio=statistics.median(ratios),
        least_ratio=min(ratios),
        greatest_ratio=max(ratios),
    )


def _checked(found: Evidence, machine: str, tracer: str) -> Iterator[Checked]:
    # An operation is what a case and its parts have in common: each may make several events of it.
    costs = {
        case: one.known_cost.times(found.case_of[case].events_per_operation)
        for case, one in found.by_tracer(machine)[tracer].items()
        if one.leads
    }
    for case, measured in costs.items():
        for kind, predicted in _predicted(found.case_of[case], costs):
            holds = estimates.overlap(measured, predicted)
            if holds is not None:
                yield Checked(case, tracer, kind, predicted, measured, estimates.ratio(measured, predicted), holds)


def _predicted(case: Case, costs: dict[str, Estimate]) -> Iterator[tuple[CompositionKind, Estimate]]:
    """What the parts of a combination say of it, where all were measured."""
    if case.parts and costs.keys() >= set(case.parts):
        yield "several probes", estimates.total([costs[part] for part in case.parts])
    names = case.composed
    if names and costs.keys() >= {names.probe, names.action, names.plain}:
        yield "probe and action", composed(costs[names.probe], costs[names.action], costs[names.plain])
