"""`probe-effect compare` for times: the costs of two submissions, machines or tracers against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.cli.compare_output import Compared
from probe_effect.cli.compare_sides import asked_for, check_tracers, names
from probe_effect.errors import ProbeEffectError
from probe_effect.guidance.comparison import between, between_tracers, without_counterpart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.cli.compare_sides import Given


def of_sides(first: Given, second: Given, cases: Sequence[str], tracers: Sequence[str]) -> Compared:
    """Raises: UsageError for an unknown case or tracer; ProbeEffectError without a common case."""
    known = [side.times.measurements() for side in (first, second)]
    wanted = asked_for([key for side in known for key in side], cases, tracers)
    found = [one for one in between(first.times, second.times) if wanted(one.first.key)]
    if not found:
        ours, others = (names(filter(wanted, side)) for side in known)
        msg = f"no case with the same tracer on both sides. {first.name}: {ours}. {second.name}: {others}."
        raise ProbeEffectError(msg)
    only_first = without_counterpart(first.times, [one.first for one in found])
    only_second = without_counterpart(second.times, [one.second for one in found])
    return Compared(
        first.name,
        second.name,
        second.words,
        tuple(found),
        tuple(one for one in only_first if wanted(one.key)),
        tuple(one for one in only_second if wanted(one.key)),
    )


def of_tracers(side: Given, first: str, second: str, cases: Sequence[str]) -> Compared:
    """Raises: UsageError for one tracer twice or an unknown name; ProbeEffectError where no case has both."""
    known = side.times.measurements()
    check_tracers(first, second, known)
    wanted = asked_for(known, cases, ())
    found = [one for one in between_tracers(side.times, first, second) if wanted(one.first.key)]
    ours, others = (
        tuple(one for key, one in known.items() if wanted(key) and key.tracer == tracer) for tracer in (first, second)
    )
    if not found:
        has = [names(one.key for one in some) for some in (ours, others)]
        msg = f"{side.name}: no case with both tracers. {first}: {has[0]}. {second}: {has[1]}."
        raise ProbeEffectError(msg)
    compared = {(one.first.case.case, one.first.case.level) for one in found}
    only_first, only_second = (
        tuple(one for one in some if (one.case.case, one.case.level) not in compared) for some in (ours, others)
    )
    return Compared(first, second, f"with {second}", tuple(found), only_first, only_second, of=side.name)
