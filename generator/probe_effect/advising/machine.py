"""The machine that this runs on, and the measured machine whose costs are taken for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probe_effect.answer.advice import part_of
from probe_effect.errors import HostNotReady, unknown
from probe_effect.machine import collect
from probe_effect.numbers.likeness import by_likeness, facts_of, facts_of_submission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.advice import ProbeGroup
    from probe_effect.answer.evidence import Evidence
    from probe_effect.numbers.likeness import Facts, Likeness


def this_machine() -> Facts:
    """The facts of the machine that this runs on by which it is compared with others."""
    system = collect.collect_system(None)
    return facts_of(collect.collect_machine(), system.kernel_release, vulnerabilities=system.vulnerabilities)


def measured_machines(costs: Evidence) -> dict[str, Facts]:
    """The same facts of every machine with a usable cost, by its id, from its newest submission."""
    machines = dict.fromkeys(machine for machine, _, _ in reversed(costs.keys))
    return {one: facts_of_submission(costs.costs[costs.keys_of(one)[0]].submission) for one in machines}


def machine_for(costs: Evidence, tracer: str, here: Facts, asked: Sequence[ProbeGroup], named: str | None) -> Likeness:
    """The machine whose costs are taken for some probes: of those that may be compared, the nearest that tells most.

    As for `predict`, a machine that measured every probe comes before a nearer one that did not.

    Raises: UsageError for a named machine without the tracer; HostNotReady where none may be compared with this one.
    """
    measured = by_likeness(here, measured_machines(costs).values())
    ordered = [one for one in measured if tracer in costs.by_tracer(one.machine)]
    unknown(filter(None, [named]), [one.machine for one in ordered], f"machine with {tracer}")
    if named is not None:
        return next(one for one in ordered if one.machine == named)
    known: dict[Likeness, tuple[int, int]] = {}
    for one in ordered:
        if one.comparable and (len(asked), len(asked)) not in known.values():
            known[one] = _known(costs, one.machine, tracer, asked)
    if not known:
        others = "".join(f"\n  {one.machine}: {'; '.join(one.reasons)}" for one in ordered)
        msg = f"no machine like this one ({here.kind}) was measured with {tracer}; name one with --machine:{others}"
        raise HostNotReady(msg)
    nearest, chosen = next(iter(known)), max(known, key=lambda one: known[one])
    passed = () if chosen is nearest else (f"the nearest, {nearest.machine}, was measured with fewer of these probes",)
    return replace(chosen, reasons=chosen.reasons + passed)


def _known(costs: Evidence, machine: str, tracer: str, asked: Sequence[ProbeGroup]) -> tuple[int, int]:
    """How many probes have a cost on a machine, and how many of those were measured there."""
    parts = [part for group in asked if (part := part_of(costs, machine, tracer, group)) is not None]
    return len(parts), sum(part.is_measured for part in parts)
