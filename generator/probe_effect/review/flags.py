"""What somebody should look at before a new submission is published: named in words, and never left out.

A cost is out of range where its whole interval lies beyond `RANGE_FACTOR` times the highest, or below the lowest by as
much, of what like machines have for the same case, tool and level. With few machines a range is all that can be said.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.compare.subjects import of_kind
from probe_effect.model import Estimate, Key
from probe_effect.numbers.index import current
from probe_effect.numbers.likeness import facts_of_submission, likeness
from probe_effect.numbers.names import tool_of
from probe_effect.reduce.submission import Number, Submission

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
