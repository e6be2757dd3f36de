"""What the page of a machine, and the list of machines, begin with: what a probe costs there, and against others.

Every difference is a comparison of one case with one tracer, and its words come from `pages/comparison.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from probe_effect import units
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.compare.comparison import compare
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.grouping import grouped_by
from probe_effect.numbers.home import FIRST_SUITE
from probe_effect.pages import comparison, wording
from probe_effect.reduce.submission import Number
from probe_effect.tools.record import plain_tools


class MachineQuestion(NamedTuple):
    """What readers ask of a machine first, in words and in few; the kind of probe, and what its instruction becomes."""

    words: str
    briefly: str
    probe: str
    mechanism: str | None


ASKED = (
    MachineQuestion("a tracepoint on a system call", "tracepoint", "tracepoint-entry", None),
    MachineQuestion("a user probe whose first instruction is emulated", "user probe, emulated", "uprobe", "emulated"),
    MachineQuestion("a user probe whose first instruction is stepped", "user probe, stepped", "uprobe", "stepped"),
)

PLAIN_ACTIONS = ("nothing", "count")
"""The actions of cases that are about their probe."""

TRACERS = tuple(reversed(plain_tools("bpf")))
"""Whose costs these are; the first that has one, and the lower bound only where no other has."""


def briefly(machine: str, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Each type of probe in a few words and its cost without interval, for a badge or a picture."""
    return [(kind.briefly, units.value(one.cost, units.DURATION)) for kind, one in asked(machine, catalogue)]


def asked(machine: str, catalogue: Catalogue) -> list[tuple[MachineQuestion, Number]]:
    """Each type of probe with the number that represents it there; types without a clear cost are left out."""
    found = ((kind, _of_kind(machine, catalogue, kind)) for kind in ASKED)
    return [(kind, one) for kind, one in found if one is not None]


def extremes(catalogue: Catalogue) -> list[str]:
    """A sentence for each type of probe: the lowest cost against the highest of a machine of the same tier."""
    found = []
    for kind in ASKED:
        every = [one for machine in catalogue.numbers.machines() if (one := _of_kind(machine, catalogue, kind))]
        groups = grouped_by(every, lambda one: (one.case, one.tracer, wording.tier(one.submission.document)))
        several = max(groups.values(), key=len, default=[])
        if len(several) > 1:
            least, *_, most = sorted(several, key=lambda one: one.known_cost.value)
            found.append(comparison.between_machines(compare(least, most)))
    return found


def _of_kind(machine: str, catalogue: Catalogue, kind: MachineQuestion) -> Number | None:
    """The clear cost of a machine's first plain case of a type of probe; None without any."""
    cases = {
        case.id: case
        for folder in sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)
        for case in folder.suite.cases
        if case.probe == kind.probe and case.action in PLAIN_ACTIONS and not case.like and case.counted_by != "nothing"
    }
    order = list(cases)
    fitting = [
        one
        for one in catalogue.numbers.of_machine(machine).values()
        if one.threshold(5) is not None
        and one.level is None
        and one.tracer in TRACERS
        and one.case in cases
        and kind.mechanism in (None, mechanism_of(cases[one.case], one))
    ]
    return min(fitting, key=lambda one: (TRACERS.index(one.tracer), order.index(one.case)), default=None)
