"""Whose costs an answer takes. That is decided first, before anything is asked of what a probe costs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from probe_effect.costs.evidence import Evidence
from probe_effect.numbers.likeness import Facts, Likeness, by_likeness, facts_of_submission


@dataclass(frozen=True, slots=True)
class Scope:
    """Machines whose costs may be taken, level by level: a later level answers where an earlier one knows nothing.

    `own`: the asker's machine, or the one that was named. `alike`: those of its kind, and `others` those of another
    kind. `lending`: machines of the own one's kind, which tell what an action adds where it does not; `printed`: the
    machine of others that was named.
    """

    own: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    lending: tuple[str, ...] = ()
    printed: str | None = None

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The machines whose probes are taken, the nearest first."""
        return self.own, self.alike, self.others

    @property
    def adding(self) -> tuple[tuple[str, ...], ...]:
        """The machines that tell what an action adds, the nearest first."""
        return self.own, self.alike or self.lending, self.others


def machines_for(found: Evidence, here: Facts, named: str | None = None) -> list[Likeness]:
    """The measured machines with what each has in common with this one, the most like it first; or a named one."""
    machines = dict.fromkeys(machine for machine, _, _ in reversed(found.keys))
    newest = (found.costs[found.keys_of(one)[0]].submission for one in machines)
    ordered = by_likeness(here, map(facts_of_submission, newest))
    return ordered if named is None else [replace(one, comparable=True) for one in ordered if one.machine == named]


def whose(found: Evidence, here: Facts, named: str | None = None) -> Scope:
    """Whose costs answer a question from the machine of `here`, or about a machine that is named."""
    if named is None:
        every = machines_for(found, here)
        alike = _names(one for one in every if one.comparable and not one.is_same)
        own = _names(one for one in every if one.is_same)
        return Scope(own, alike, _names(one for one in every if not one.comparable))
    if named not in found.machines:
        return Scope(printed=named)
    facts = facts_of_submission(found.costs[found.keys_of(named)[0]].submission)
    kind = _names(one for one in machines_for(found, facts) if one.comparable and not one.is_same)
    return Scope((named,), lending=kind)


def _names(machines: Iterable[Likeness]) -> tuple[str, ...]:
    return tuple(one.machine for one in machines)
