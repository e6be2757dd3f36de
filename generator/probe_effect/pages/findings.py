"""What the page of a machine begins with, what a probe costs there; and the list of machines, a chart of them all."""

from typing import NamedTuple

from probe_effect import units
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import grouped_by
from probe_effect.numbers.shown import FIRST_SUITE, shown_machines
from probe_effect.reduce.submission import Number
from probe_effect.tools.record import plain_tools

CHART = "machines"


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


def charts(catalogue: Catalogue) -> list[Chart]:
    """What each type of probe costs on the machines that pages show, a row for each; none for a machine alone."""
    found = []
    for kind in ASKED:
        every = [one for machine in shown_machines(catalogue.numbers) if (one := _of_kind(machine, catalogue, kind))]
        alike = grouped_by(every, lambda one: (one.case, one.tracer))
        found += [(kind, one) for one in max(alike.values(), key=len, default=[])]
    dots = [Dot(names.machine_name(one.submission), kind.briefly, one.known_cost) for kind, one in found]
    if len({one.label for one in dots}) < 2:
        return []
    costs = [one.known_cost.value for kind, one in found if kind is found[0][0]]
    whole = units.span(Estimate(costs[0], min(costs), max(costs)), units.DURATION)
    said = "Each dot has its interval; rows are in no order of cost."
    return [cost_chart(CHART, f"One {found[0][0].briefly} costs {whole}", said, dots, page="/machines/")]


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
