"""What a new submission shows that no other did, and how it agrees with others' figures and with our estimates.

The model of estimates is on trial with every machine that times what was estimated (METHOD.md, "Estimates on trial").
A case is estimated from the machine's other kinds of probe, and the interval is the one that was known before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from probe_effect import units
from probe_effect.answer.evidence import evidence
from probe_effect.answer.from_counts import judged, models
from probe_effect.compare.agreement import of_case
from probe_effect.model import Estimate, Key
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.likeness import facts_of_submission
from probe_effect.numbers.once import grouped_by
from probe_effect.reduce.submission import Number, Submission
from probe_effect.review.flags import extent
from probe_effect.review.report import MAX_LINE

FEWEST_CASES, LEAST_SHARE = 10, 0.8
"""The model is refuted where the intervals of so many estimates, or more, hold a smaller share of times."""


class Beside(NamedTuple):
    """A cost of a case beside what others printed, from the least to the greatest, or beside its estimate, ns."""

    key: Key
    cost: Estimate
    other: Estimate
    is_printed: bool

    @property
    def holds(self) -> bool:
        """Whether the cost lies inside; an interval reaches into the range of others, and an estimate holds a value."""
        low, high = self.cost[1:] if self.is_printed else (self.cost.value, self.cost.value)
        return (self.other.low or 0.0) <= (high or 0.0) and (low or 0.0) <= (self.other.high or 0.0)

    @property
    def times(self) -> float:
        """The cost over the nearer end."""
        low, high = self.other.low or 0.0, self.other.high or 0.0
        return self.cost.value / (low if self.cost.value < low else high)


@dataclass(frozen=True, slots=True)
class Shows:
    """Sentences, and what they are from."""

    lines: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()

    @property
    def cells(self) -> dict[Key, dict[str, str]]:
        """Each case to what others printed of it, and to its estimate, and whether the cost lies inside."""
        found: dict[Key, dict[str, str]] = {}
        for one in self.beside:
            words = f"{units.span(one.other, units.DURATION)}: {'inside' if one.holds else 'outside'}"
            found.setdefault(one.key, {})["printed" if one.is_printed else "estimated"] = words
        return found


def shows(new: Submission, base: Catalogue) -> Shows:
    """What a submission of times adds to `base`; nothing of instructions, or of suites that guide nobody."""
    found = evidence(replace(base, active=(*base.active, new)))
    timed = (one for one in new.numbers if one.is_time and one.is_sound and one.case in found.case_of)
    own = {one.key: one for one in timed if one.is_clear and found.case_of[one.case].counted_by != "nothing"}
    if not own:
        return Shows()
    known = models(evidence(base))
    printed = [Beside(one.key, one.known_cost, other, is_printed=True) for one, other in _printed(base, own)]
    estimated = [
        Beside(key, own[key].known_cost, ratio.times(own[key].known_cost.value / one.ratio), is_printed=False)
        for one in judged(found, new.machine)
        if one.ratio and (key := Key(one.case, one.tracer, None)) in own
        if (ratio := known.held(one.kind, has_exceptions=one.has_exceptions))
    ]
    lines = [*_firsts(new, base, list(own.values())), *_agreement(printed), *_trial(estimated)]
    return Shows(tuple(lines), (*printed, *estimated))


def _printed(base: Catalogue, own: Mapping[Key, Number]) -> Iterator[tuple[Number, Estimate]]:
    """Each number that others printed with the same tool, and from where to where their figures reach."""
    for case, numbers in grouped_by(own.values(), lambda one: one.case).items():
        for pairs in grouped_by(of_case(base, case, numbers), lambda pair: pair.measured.key).values():
            costs = sorted(float(pair.figure.cost_ns or 0) for pair in pairs)
            yield pairs[0].measured, Estimate(costs[0], costs[0], costs[-1])


def _firsts(new: Submission, base: Catalogue, own: Sequence[Number]) -> Iterator[str]:
    kind = facts_of_submission(new).kind
    before = {
        case: {facts_of_submission(one.submission).kind for one in base.numbers.of_case(case) if extent(one)}
        for case in {one.case for one in own}
    }
    first = {one.case: one for one in sorted(own, key=lambda one: one.tracer, reverse=True) if not before[one.case]}
    if first:
        told = [
            f"{base.titles[case]} {units.interval(one.cost, units.DURATION)} with {names.tool_with_version(one)}"
            for case, one in sorted(first.items())
        ]
        yield _named("First times, of one event", told)
    if others := sum(bool(kinds) and kind not in kinds for kinds in before.values()):
        yield f"First times on a machine of this kind ({kind}): of {others} cases that others have timed."


def _named(lead: str, items: Sequence[str]) -> str:
    """A sentence with as many whole items as a line of a report holds, and how many more there are."""
    some = ("; ".join([*items[:most], f"and {len(items) - most} more"]) for most in range(len(items) - 1, -1, -1))
    whole = (f"{lead}: {text}." for text in ("; ".join(items), *some))
    return next(text for text in whole if len(text) <= MAX_LINE)


def _agreement(printed: Sequence[Beside]) -> Iterator[str]:
    out = sorted(one.times for one in printed if not one.holds)
    if printed:
        span = units.span(Estimate(out[0], out[0], out[-1]), units.TIMES) if out else ""
        rest = f"; the others are {span} the nearest figure" if out else ""
        yield f"Others printed {len(printed)} of its costs: {len(printed) - len(out)} lie inside their range{rest}."


def _trial(estimated: Sequence[Beside]) -> Iterator[str]:
    if estimated:
        held = sum(one.holds for one in estimated)
        share = held / len(estimated)
        verdict = "the model stands" if share >= LEAST_SHARE else "the model is refuted on this machine"
        if len(estimated) < FEWEST_CASES:
            verdict = f"fewer than {FEWEST_CASES} decide nothing"
        yield (
            f"Estimates from counts, on trial: the intervals of {held} of {len(estimated)} hold the measured time "
            f"({units.percent(share, 2)}; it takes {units.percent(LEAST_SHARE, 2)}): {verdict}."
        )
