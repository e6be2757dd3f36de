"""The published machine that is most like that of a new submission, and the new costs against its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.guidance.catalogue import CountedSubmission, MeasuredSubmission
from probe_effect.guidance.comparison import Side, between
from probe_effect.guidance.instruction_change import CountedSide, change
from probe_effect.guidance.likeness import by_likeness, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.guidance.comparison import Comparison
    from probe_effect.guidance.instruction_change import Change
    from probe_effect.guidance.likeness import Facts, Likeness

    AnySubmission = MeasuredSubmission | CountedSubmission


@dataclass(frozen=True, slots=True)
class Nearest:
    """A machine, what it shares with the given one, and each case that both have: the given against it.

    One of `comparisons` and `changes` is empty: times and instructions are never compared.
    """

    likeness: Likeness
    newest: AnySubmission
    """The machine's newest submission, which has its facts."""
    comparisons: tuple[Comparison, ...] = ()
    changes: tuple[Change, ...] = ()


def nearest(new: AnySubmission, known: Iterable[AnySubmission]) -> Nearest | None:
    """The most alike of the machines of `known`; None where none holds what `new` holds, times or instructions.

    One that may be compared and has a case in common comes before one that is more alike and has not.
    """
    machines = of_kind(new, known)
    order = by_likeness(facts(new), [facts(submissions[0]) for submissions in machines.values()])
    found = [_against(new, one, machines[one.machine]) for one in order]
    return next((one for one in found if one.comparisons or one.changes), next(iter(found), None))


def of_kind(new: AnySubmission, known: Iterable[AnySubmission]) -> dict[str, list[AnySubmission]]:
    """Machine to its submissions that hold what `new` holds, newest first; `new` itself left out."""
    machines: dict[str, list[AnySubmission]] = {}
    for one in sorted(known, key=lambda one: one.document.run.started, reverse=True):
        if type(one) is type(new) and one.files.id != new.files.id:
            machines.setdefault(one.document.machine.id, []).append(one)
    return machines


def facts(one: AnySubmission) -> Facts:
    """What likeness looks at."""
    return facts_of(one.document.machine, one.document.system.kernel_release, one.document.run.metric)


def _against(new: AnySubmission, likeness: Likeness, known: Sequence[AnySubmission]) -> Nearest:
    if not likeness.comparable:
        return Nearest(likeness, known[0])
    if isinstance(new, CountedSubmission):
        counted = tuple(one for one in known if isinstance(one, CountedSubmission))
        return Nearest(likeness, known[0], changes=_changes(new, CountedSide(likeness.machine, counted)))
    timed = tuple(one for one in known if isinstance(one, MeasuredSubmission))
    sides = Side(likeness.machine, timed), Side(new.files.id, (new,))
    return Nearest(likeness, known[0], comparisons=tuple(between(*sides)))


def _changes(new: CountedSubmission, known: CountedSide) -> tuple[Change, ...]:
    ours = CountedSide(new.files.id, (new,)).counts()
    return tuple(change(one, ours[key]) for key, one in known.counts().items() if key in ours)
