"""What a case's page says of other ways to the same answer that cost less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.answer.alternatives import alternatives

if TYPE_CHECKING:
    from collections.abc import Collection

    from probe_effect.answer.alternatives import Alternative
    from probe_effect.answer.evidence import Evidence
    from probe_effect.reduce.submission import Number


@dataclass(frozen=True, slots=True)
class Group:
    """A case as one machine measured it with one tracer, and what costs less there."""

    asked: Number
    found: tuple[Alternative, ...]


def groups(found: Evidence, case_id: str, machines: Collection[str]) -> list[Group]:
    """For each of some machines the tracer with most cases that has this one; no machines where nothing costs less.

    The other tracers of the case are in its table, and the calculator answers for each of them.
    """
    keys = [
        (machine, min(costs, key=found.tracers.index), case_id)
        for machine in found.machines
        if machine in machines and (costs := found.with_tracers(machine, case_id))
    ]
    made = [Group(found.costs[key], tuple(alternatives(found, key))) for key in keys]
    return [group for group in made if group.found]
