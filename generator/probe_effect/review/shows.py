"""What a new submission shows that no other did, how it agrees with others, and what somebody should look at first.

A cost is out of range where its whole interval lies beyond `RANGE_FACTOR` times the highest, or below the lowest by as
much, of what like machines have for the same case, tool and level. With few machines a range is all that can be said.

The model of estimates is on trial with every machine that times what was estimated (METHOD.md, "Estimates on trial").
A case is estimated from the machine's other kinds of probe, and the interval is the one that was known before.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from probe_effect import units
from probe_effect.compare.agreement import of_case
from probe_effect.compare.kernels import LEAST_CHANGE_RATIO, series, series_changes
from probe_effect.compare.subjects import of_kind
from probe_effect.costs.evidence import evidence
from probe_effect.costs.from_counts import judged, models
from probe_effect.model import Estimate, Key
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import current, grouped_by
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import facts_of_submission, likeness
from probe_effect.pages import series_page
from probe_effect.reduce.submission import Number, Submission
from probe_effect.review.report import MAX_LINE

RANGE_FACTOR = 2.0
"""Our choice: CPUs of one instruction set differ by as much, and a wrong unit or a wrong probe by far more."""

NEGATIVE = "less than no tracing, beyond the noise floor: nothing that a tracer does explains that"


@dataclass(frozen=True, slots=True)
class Flag:
    """All that is to be looked at in one case; what is of the whole submission is in the reasons of its grade."""

    key: Key
    words: str
    is_odd: bool
    """Whether it may be wrong, and is not merely noisy."""


def review_flags(new: Submission, known: Iterable[Submission]) -> list[Flag]:
    """All that is to be looked at in a submission, among those already published; what may be wrong comes first."""
    like = _like_machines(new, known)
    flags = []
    for one in new.numbers:
        odd, noise = [*_out_of_range(one, like), *_odd(one)], list(_noise(one))
        if odd or noise:
            flags.append(Flag(one.key, "; ".join([*odd, *noise]), bool(odd)))
    return sorted(flags, key=lambda flag: not flag.is_odd)


def _odd(one: Number) -> Iterator[str]:
    """The findings in the number's own rows that cannot be right."""
    if not one.is_time:
        yield from one.faults
    elif one.distinguishable and one.cost is not None and one.cost.value < 0:
        yield NEGATIVE


def _noise(one: Number) -> Iterator[str]:
    """The reasons in its own rows to trust it less; those of the whole submission are with its grade."""
    if one.is_time:
        yield from (reason for reason in one.grade_reasons if reason not in one.submission.grade_reasons)
    if one.note and one.blocks:
        yield one.note


def _like_machines(new: Submission, known: Iterable[Submission]) -> list[list[Number]]:
    """The current numbers of each machine whose numbers may be compared with these."""
    machines = of_kind(new, known).values()
    own = facts_of_submission(new)
    like = [some for some in machines if likeness(own, facts_of_submission(some[0])).comparable]
    return [list(current(some).values()) for some in like]


def _out_of_range(one: Number, machines: Iterable[Sequence[Number]]) -> Iterator[str]:
    own = extent(one)
    others = [found for numbers in machines if (found := _same(one, numbers)) is not None]
    if own is None or own.low is None or own.high is None or not others:
        return
    lowest, highest = min(found.value for found in others), max(found.value for found in others)
    if own.low <= RANGE_FACTOR * highest and own.high >= lowest / RANGE_FACTOR:
        return
    where = "above the highest" if own.low > RANGE_FACTOR * highest else "below the lowest"
    scale = units.DURATION if one.is_time else units.INSTRUCTIONS
    known = units.quantity(highest if where.startswith("above") else lowest, scale)
    among = f"{units.count(len(others))} like machine{'s' if len(others) > 1 else ''}"
    factor = units.trimmed(RANGE_FACTOR)
    yield f"{units.interval(own, scale)} is by more than {factor} times {where} of {among}, {known}"


def extent(one: Number) -> Estimate | None:
    """The cost with its ends; None where it is none to compare with."""
    return one.cost if one.is_sound and (one.distinguishable or not one.is_time) else None


def _same(one: Number, numbers: Iterable[Number]) -> Estimate | None:
    """The cost that a machine has for the same case, tool and level; None without any."""
    wanted = one.case, tool_of(one.tracer), one.level
    same = (other for other in numbers if (other.case, tool_of(other.tracer), other.level) == wanted)
    return next((found for other in same if (found := extent(other)) is not None), None)


MOST_TOLD = 3
"""Changes of the series that are told of a submission; the page has all."""

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


def over_releases(new: Submission, after: Catalogue) -> Iterator[str]:
    """What counts of a submission, one of those in `after`, change in the series over releases, as its feed says it.

    What leads to them comes before what leads from them to the next release, and the largest first.
    """
    each = series(after)
    counts = sum(one.submission.id == new.id and one.cost is not None for found in each for one in found.all())
    changes = [
        (one, found)
        for found in each
        for one in series_changes(found)
        if new.id in {one.first.submission.id, one.second.submission.id}
    ]
    changes.sort(key=lambda told: (told[0].second.submission.id != new.id, -abs(told[0].change_ratio or 0)))
    yield from (f"Over releases of Linux: {series_page.sentence(*told)}." for told in changes[:MOST_TOLD])
    if counts:
        least = units.stated(LEAST_CHANGE_RATIO, units.SHARE)
        yield (
            f"The series over releases, {series_page.PAGE} of the site, has {units.count(counts)} of its counts; "
            f"changes of more than {least}: {units.count(len(changes))}."
        )


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
