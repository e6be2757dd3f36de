"""`probe-effect compare` for counted instructions: two submissions, machines or tracers against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.cli.compare_instructions_output import CountsCompared
from probe_effect.cli.compare_sides import asked_for, check_tracers, names
from probe_effect.errors import ProbeEffectError
from probe_effect.guidance.instruction_change import REPEATABILITY_LIMIT_RATIO, changes, changes_of_tracers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probe_effect.cli.compare_sides import Given
    from probe_effect.guidance.instruction_change import Counted
    from probe_effect.guidance.rows import CaseKey


def of_sides(
    first: Given, second: Given, cases: Sequence[str], tracers: Sequence[str], fail_above_ratio: float | None
) -> CountsCompared:
    """Raises: UsageError for an unknown case or tracer; ProbeEffectError without a common case."""
    ours, others = first.counts.counts(), second.counts.counts()
    wanted = asked_for([*ours, *others], cases, tracers)
    every = changes(first.counts, second.counts, _limit_ratio(fail_above_ratio))
    found = [one for one in every if wanted(one.first.key)]
    if not found:
        has = [names(filter(wanted, side)) for side in (ours, others)]
        msg = f"no case with the same tracer on both sides. {first.name}: {has[0]}. {second.name}: {has[1]}."
        raise ProbeEffectError(msg)
    only_first = {key: one for key, one in ours.items() if wanted(key) and key not in others}
    return CountsCompared(
        first=first.name,
        second=second.name,
        second_words=second.words,
        changes=tuple(found),
        only_first=tuple(only_first.values()),
        only_second=tuple(one for key, one in others.items() if wanted(key) and key not in ours),
        absences=_absences(only_first, second.counts.newest()),
        fail_above_ratio=fail_above_ratio,
    )


def of_tracers(
    side: Given, first: str, second: str, cases: Sequence[str], fail_above_ratio: float | None
) -> CountsCompared:
    """Raises: UsageError for one tracer twice or an unknown name; ProbeEffectError where no case has both."""
    known = side.counts.counts()
    check_tracers(first, second, known)
    wanted = asked_for(known, cases, ())
    every = changes_of_tracers(side.counts, first, second, _limit_ratio(fail_above_ratio))
    found = [one for one in every if wanted(one.first.key)]
    ours, others = ([key for key in known if wanted(key) and key.tracer == tracer] for tracer in (first, second))
    if not found:
        msg = f"{side.name}: no case with both tracers. {first}: {names(ours)}. {second}: {names(others)}."
        raise ProbeEffectError(msg)
    compared = {one.first.key._replace(tracer="") for one in found}
    only_first, only_second = (
        {key: known[key] for key in some if key._replace(tracer="") not in compared} for some in (ours, others)
    )
    newest = {key._replace(tracer=first): one for key, one in side.counts.newest().items() if key.tracer == second}
    return CountsCompared(
        first=first,
        second=second,
        second_words=f"with {second}",
        changes=tuple(found),
        only_first=tuple(only_first.values()),
        only_second=tuple(only_second.values()),
        absences=_absences(only_first, newest),
        of=side.name,
        fail_above_ratio=fail_above_ratio,
    )


def _limit_ratio(fail_above_ratio: float | None) -> float:
    """What changes are called so: those of the gate too, where it is the finer of the two."""
    return min(REPEATABILITY_LIMIT_RATIO, REPEATABILITY_LIMIT_RATIO if fail_above_ratio is None else fail_above_ratio)


def _absences(keys: Iterable[CaseKey], newest: Mapping[CaseKey, Counted]) -> dict[CaseKey, str]:
    """Why the second side has no count of each of `keys`."""
    return {
        key: f"{newest[key].case.status}: {newest[key].case.note}" if key in newest else "it was not measured"
        for key in keys
    }
