"""Pages over all machines: the ladder, rung by rung, and what `/explore/` and `/compare/` show without scripts."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from probe_effect import units
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.slowdown import CostLine, LadderRung, ladder_chart, slowdown_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.costs.added import event_cost
from probe_effect.costs.evidence import evidence
from probe_effect.model import Estimate, Key
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import once
from probe_effect.numbers.shown import FIRST_SUITE, MachineRange, one_of_each, reference_submission, shown_machines
from probe_effect.pages import instructions, wording
from probe_effect.pages.markdown import render
from probe_effect.reduce.submission import Number
from probe_effect.toml import beside

SCALES = {
    "Each time": units.Scale((units.Unit(math.inf, 1, "ns"),), 3),
    "Once a run": units.Scale((units.Unit(math.inf, 1e6, "ms"),), 3),
}
"""The two groups of rungs, to the one unit of each table."""

MOST = 6
"""Kinds of machine whose pictures a page can hold, on a phone too."""

CHART, RATES_CHART = "ladder", "events-to-slowdown"


@dataclass(frozen=True, slots=True)
class Rung:
    """What is shown, in words: an event, a start or a stop of a tracer, of the first of `cases` that a machine has."""

    words: str
    tracer: str
    cases: tuple[str, ...]
    of: Literal["event", "start", "stop"] = "event"
    by: str = ""

    @property
    def group(self) -> str:
        """The words over it and its like."""
        return list(SCALES)[self.of != "event"]


class RungTime(NamedTuple):
    """A rung on a machine: its number, and its time, ns."""

    rung: Rung
    number: Number
    time: Estimate

    @property
    def is_bound(self) -> bool:
        """Whether the event may cost nothing, and `time` is what it costs at most."""
        return self.rung.of == "event" and not self.number.is_clear

    @property
    def quantity(self) -> str:
        """Its line on the page of the number."""
        return "cost" if self.rung.of == "event" else self.rung.of

    def said(self, scale: units.Scale = units.DURATION) -> str:
        """Its time with the interval, or the bound."""
        bound = units.quantity(self.time.value, scale, 2)
        return f"below {bound}" if self.is_bound else units.interval(self.time, scale)


def _read(kind: str) -> list[Rung]:
    found: dict[str, list[dict[str, Any]]] = beside(__file__, "ladder")
    return [Rung(**one | {"cases": tuple(one["cases"])}) for one in found[kind]]


RUNGS, COSTS = _read("rung"), _read("cost")


@once
def ladders(catalogue: Catalogue) -> Mapping[str, list[RungTime]]:
    """Each machine that stands for its kind, the home machine first, to its rungs: the least first, events before runs.

    A machine of one rung has no ladder.
    """
    found = {}
    for machine in one_of_each(catalogue.numbers, MOST):
        own = [step for rung in RUNGS for step in _steps(catalogue, rung, machine)[:1]]
        found[machine] = sorted(own, key=lambda one: (list(SCALES).index(one.rung.group), one.time.value))
    return {machine: own for machine, own in found.items() if len(own) > 1}


def _steps(catalogue: Catalogue, rung: Rung, machine: str) -> list[RungTime]:
    """A rung on a machine, for each of its cases that has a sound number there."""
    keys = (Key(case, rung.tracer, level or None) for case, _, level in (one.partition("@") for one in rung.cases))
    every = (catalogue.numbers.of_machine_and_case(machine, key.case).get(key) for key in keys)
    timed = ((one, _time(catalogue, rung, one)) for one in every if one and one.is_sound)
    return [RungTime(rung, one, time) for one, time in timed if time and time.value > 0]


def _time(catalogue: Catalogue, rung: Rung, number: Number) -> Estimate | None:
    if rung.of != "event":
        return number.attach if rung.of == "start" else number.detach
    if not number.is_clear:
        return Estimate(number.bounded_cost.high) if number.bounded_cost.high else None
    key = number.submission.machine, number.tracer, number.case
    return event_cost(evidence(catalogue), key, number.known_cost)[0]


@once
def span(catalogue: Catalogue, rung: Rung) -> MachineRange | None:
    """The least and the greatest time of a rung on all machines where it is clear; None of fewer than two."""
    found = [
        [one.time.value for one in _steps(catalogue, rung, machine) if not one.is_bound]
        for machine in catalogue.numbers.machines()
    ]
    times = sorted(time for of_machine in found for time in of_machine)
    machines = sum(map(bool, found))
    return MachineRange(Estimate(times[0], times[0], times[-1]), machines) if machines > 1 else None


def charts(catalogue: Catalogue) -> list[Chart]:
    """A ladder for each machine that stands for its kind, and the slowdown by rate of the events of the first."""
    found = [_ladder(catalogue, machine, steps) for machine, steps in ladders(catalogue).items()]
    for machine, steps in islice(ladders(catalogue).items(), 1):
        lines = [CostLine(one.rung.words, one.time) for one in steps if one.rung.of == "event" and not one.is_bound]
        title = f"From events per second to slowdown on {_name(catalogue, machine)}"
        words = (RATES_CHART, title, "Slowdown of one busy thread by the rate of its events.")
        found += [slowdown_chart(*words, lines, page="/costs/")] if lines else []
    return found


def _name(catalogue: Catalogue, machine: str) -> str:
    return names.machine_name(catalogue.numbers.machines()[machine][0])


def _picture(catalogue: Catalogue, machine: str) -> str:
    """The name of a machine's picture; the home machine's has no id, so that its address stays."""
    return CHART if machine == next(iter(ladders(catalogue))) else f"{CHART}-{machine}"


def _ladder(catalogue: Catalogue, machine: str, steps: list[RungTime]) -> Chart:
    drawn = []
    for one in steps:
        text, whole = one.said().partition(" (")[0], span(catalogue, one.rung)
        drawn.append(LadderRung(one.rung.words, one.rung.group, one.time, text, whole and whole.cost, one.is_bound))
    ends = [next((one.text for one in drawn if not one.is_bound), drawn[0].text), drawn[-1].text]
    title = f"Numbers for tracers: {' to '.join(ends)} on {_name(catalogue, machine)}"
    sentence = "What tracing takes, on a logarithmic scale; the grey lines are the ranges over all machines."
    return ladder_chart(_picture(catalogue, machine), title, sentence, drawn)


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: the page of ladders, and what the home page says first, with its three costs."""
    found = ladders(catalogue)
    tables: dict[str, dict[Rung, dict[str, RungTime]]] = {group: {} for group in SCALES}
    for machine, steps in found.items():
        for one in steps:
            tables[one.rung.group].setdefault(one.rung, {})[machine] = one
    shown = {
        "machines": {machine: _name(catalogue, machine) for machine in found},
        "pictures": [_picture(catalogue, machine) for machine in found],
        "spans": {rung: span(catalogue, rung) for rung in (*RUNGS, *COSTS)},
        "timed": len(catalogue.numbers.machines()),
        "counted": len(catalogue.numbers.machines("instructions")),
    }
    rates = [chart.name for chart in charts(catalogue) if chart.name == RATES_CHART]
    values = shown | {"tables": tables, "scales": SCALES, "costs": COSTS, "rates": rates}
    return {name: render(f"fragments/{name}.j2", **values) for name in ("ladder.md", "home.md", "rates-chart.md")}


EXPLORE_CHART = "explore"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    drawn = EXPLORE_CHART if explore_charts(catalogue) else None
    return {
        "explore-chart.md": render("fragments/chart.md.j2", chart=drawn, without=""),
        "compare-tracers.md": render(
            "fragments/compare-tracers.md.j2", **versus(catalogue), cost=cost, titles=catalogue.titles
        ),
    }


def cost(one: Number) -> str:
    """The cost of an event as these pages and their scripts write it; words where it is no difference."""
    return wording.cost(one) if one.is_time else instructions.count(one.cost)


def flagged(one: Number) -> str:
    """The cost of an event, marked where it is in no ranking because its events do not add up or were lost."""
    return f"{cost(one)} {instructions.FLAG}" if one.faults else cost(one)


def versus(catalogue: Catalogue) -> dict[str, object]:
    """On the reference machine each tracer against the one with most costs; nothing before anything was measured."""
    reference = reference_submission(catalogue.numbers)
    machines = (one for one in subjects(catalogue) if reference and one.name == reference.machine)
    machine = next(machines, None)
    if machine is None:
        return {"usual": None, "where": None, "others": []}
    usual, *others = machine.tools
    found = ((other, between_tracers(machine, usual, other)) for other in others)
    return {
        "usual": usual,
        "where": machine.label,
        "others": [(other, machine.tools[other], some) for other, some in found if some],
    }


def explore_charts(catalogue: Catalogue) -> list[Chart]:
    """The first suite on the machines that pages show, with the tracer that has most of its costs; none without any.

    Machines have the colours: they differ by more than tracers do.
    """
    machines = shown_machines(catalogue.numbers)
    known = [one for machine in machines for one in catalogue.numbers.of_machine(machine).values()]
    first = [one for one in known if one.submission.suite == FIRST_SUITE and one.cost is not None]
    tracer = next((tracer for tracer, _ in Counter(one.tracer for one in first).most_common(1)), None)
    own = sorted((one for one in first if one.tracer == tracer), key=lambda one: one.key.order)
    clear = [one for one in own if one.distinguishable and one.is_sound]
    dots = [Dot(one.title, names.machine_name(one.submission), one.known_cost) for one in clear]
    if not dots:
        return []
    title = f"The cost of one event with {tracer}, by case and machine"
    sentence = f"Measured with {names.tool_with_version(clear[0])}: a row for each case and a dot for each machine."
    left_out = len(own) - len(clear)
    note = f"Left out: {left_out} not distinguishable from 0, or whose events do not add up." if left_out else None
    order = [names.machine_name(one.submission) for one in first]
    return [cost_chart(EXPLORE_CHART, title, sentence, dots, series=order, note=note, page="/explore/")]
