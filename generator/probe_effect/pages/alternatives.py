"""What a case's page says of other ways to the same answer that cost less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.guidance.alternatives import alternatives

if TYPE_CHECKING:
    from probe_effect.guidance.alternatives import Alternative
    from probe_effect.guidance.evidence import Evidence, Measured


@dataclass(frozen=True, slots=True)
class Group:
    """A case as one machine measured it with one tracer, and what costs less there."""

    asked: Measured
    found: tuple[Alternative, ...]


def groups(found: Evidence, case_id: str) -> list[Group]:
    """For each machine the tracer with most cases that has this one; without machines where nothing costs less.

    The other tracers of the case are in its table, and the calculator answers for each of them.
    """
    order = found.tracers()
    usual: dict[str, str] = {}
    for machine, tracer, case in found.costs:
        if case == case_id:
            usual[machine] = min(tracer, usual.get(machine, tracer), key=order.index)
    keys = [(machine, tracer, case_id) for machine, tracer in usual.items()]
    made = [Group(found.costs[key], tuple(alternatives(found, key))) for key in keys]
    return [group for group in made if group.found]
