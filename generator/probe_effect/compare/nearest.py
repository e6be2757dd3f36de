"""The published machine that is most like that of a new submission, and the new numbers against its own."""

from collections.abc import Iterable
from dataclasses import dataclass

from probe_effect.compare.comparison import Comparison, Side, between
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.likeness import Likeness, by_likeness, facts_of_submission
from probe_effect.reduce.submission import Submission


@dataclass(frozen=True, slots=True)
class Nearest:
    """A machine, what it shares with the given one, and each case that both have: the given against it."""

    likeness: Likeness
    newest: Submission
    """The machine's newest submission, which has its facts."""
    comparisons: tuple[Comparison, ...]


def nearest(new: Submission, known: Iterable[Submission]) -> Nearest | None:
    """The most alike of the machines of `known`; None where none holds what `new` holds, times or instructions.

    One that may be compared and has a case in common comes before one that is more alike and has not.
    """
    machines = of_kind(new, known)
    order = by_likeness(
        facts_of_submission(new), [facts_of_submission(submissions[0]) for submissions in machines.values()]
    )
    first = None
    for likeness in order:
        runs = machines[likeness.machine]
        sides = Side(likeness.machine, tuple(runs)), Side(new.id, (new,))
        found = Nearest(likeness, runs[0], tuple(between(*sides)) if likeness.comparable else ())
        if found.comparisons:
            return found
        first = first or found
    return first


def of_kind(new: Submission, known: Iterable[Submission]) -> dict[str, list[Submission]]:
    """Machine to its submissions that hold what `new` holds, newest first; `new` itself left out."""
    return Numbers(one for one in known if one.id != new.id).machines(new.metric)
