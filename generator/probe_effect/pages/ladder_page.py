"""Pages over all machines: the ladder, rung by rung, and what `/explore/` and `/compare/` show without scripts."""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from probe_effect import units
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.slowdown import CostLine, LadderRung, ladder_chart, slowdown_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.costs.questions import QUESTIONS, MachineRange, NamedQuestion, Reply, of_all_machines, on
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import once
from probe_effect.numbers.shown import FIRST_SUITE, one_of_each, reference_submission, shown_machines
from probe_effect.pages import instructions, wording
from probe_effect.pages.markdown import render
from probe_effect.reduce.submission import Number

SCALES = {
    "Each time": units.Scale((units.Unit(math.inf, 1, "ns"),), 3),
    "Once a run": units.Scale((units.Unit(math.inf, 1e6, "ms"),), 3),
}
"""The two groups of rungs, to the one unit of each table."""

MOST = 6
"""Kinds of machine whose pictures a page can hold, on a phone too."""

CHART, RATES_CHART = "ladder", "events-to-slowdown"


class RungTime(NamedTuple):
    """A rung on a machine: what it asks, and the answer of the machine."""

    rung: NamedQuestion
    reply: Reply

    @property
    def group(self) -> str:
        """The words over it and its like."""
        return group_of(self.rung)

    @property
    def quantity(self) -> str:
        """Its line on the page of the number."""
        return "cost" if self.rung.of == "event" else self.rung.of

    def said(self, scale: units.Scale = units.DURATION) -> str:
        """Its time with the interval, or the bound."""
        time, is_bound = self.reply.time, self.reply.is_bound
        return f"below {units.quantity(time.value, scale, 2)}" if is_bound else units.interval(time, scale)


RUNGS = tuple(one for one in QUESTIONS.values() if one.is_rung)
HOME = tuple(QUESTIONS[name] for name in ("tracepoint-counted", "function-counted", "strace-call"))
"""The three costs of the home page, each over all machines."""


def group_of(rung: NamedQuestion) -> str:
    """The words over a rung and its like."""
    return list(SCALES)[rung.of != "event"]


@once
def ladders(catalogue: Catalogue) -> Mapping[str, list[RungTime]]:
    """Each machine that stands for its kind, the home machine first, to its rungs: the least first, events before runs.

    A machine of one rung has no ladder.
    """
    found = {}
    for machine in one_of_each(catalogue.numbers, MOST):
        own = [RungTime(rung, reply) for rung in RUNGS if (reply := on(catalogue, rung, machine))]
        found[machine] = sorted(own, key=lambda one: (list(SCALES).index(one.group), one.reply.time.value))
    return {machine: own for machine, own in found.items() if len(own) > 1}


def span(catalogue: Catalogue, rung: NamedQuestion) -> MachineRange | None:
    """The range of a rung over all machines where it is clear; None of fewer than two."""
    found = of_all_machines(catalogue, rung)
    return found if found and found.machines > 1 else None


def charts(catalogue: Catalogue) -> list[Chart]:
    """A ladder for each machine that stands for its kind, and the slowdown by rate of the events of the first."""
    found = [_ladder(catalogue, machine, steps) for machine, steps in ladders(catalogue).items()]
    for machine, steps in islice(ladders(catalogue).items(), 1):
        events = [one for one in steps if one.rung.of == "event" and not one.reply.is_bound]
        lines = [CostLine(one.rung.words, one.reply.time) for one in events]
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
        time, is_bound = one.reply.time, one.reply.is_bound
        drawn.append(LadderRung(one.rung.words, one.group, time, text, whole and whole.time, is_bound))
    ends = [next((one.text for one in drawn if not one.is_bound), drawn[0].text), drawn[-1].text]
    title = f"Numbers for tracers: {' to '.join(ends)} on {_name(catalogue, machine)}"
    sentence = "What tracing takes, on a logarithmic scale; the grey lines are the ranges over all machines."
    return ladder_chart(_picture(catalogue, machine), title, sentence, drawn)


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: the page of ladders, and what the home page says first, with its three costs."""
    found = ladders(catalogue)
    tables: dict[str, dict[NamedQuestion, dict[str, RungTime]]] = {group: {} for group in SCALES}
    for machine, steps in found.items():
        for one in steps:
            tables[one.group].setdefault(one.rung, {})[machine] = one
    shown = {
        "machines": {machine: _name(catalogue, machine) for machine in found},
        "pictures": [_picture(catalogue, machine) for machine in found],
        "spans": {rung: span(catalogue, rung) for rung in (*RUNGS, *HOME)},
        "timed": len(catalogue.numbers.machines()),
        "counted": len(catalogue.numbers.machines("instructions")),
    }
    rates = [chart.name for chart in charts(catalogue) if chart.name == RATES_CHART]
    values = shown | {"tables": tables, "scales": SCALES, "costs": HOME, "rates": rates}
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
    return cost(one) if one.leads else f"{cost(one)} {instructions.FLAG}"


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
    clear = [one for one in own if one.distinguishable and one.leads]
    dots = [Dot(one.title, names.machine_name(one.submission), one.known_cost) for one in clear]
    if not dots:
        return []
    title = f"The cost of one event with {tracer}, by case and machine"
    sentence = f"Measured with {names.tool_with_version(clear[0])}: a row for each case and a dot for each machine."
    left_out = len(own) - len(clear)
    note = (
        f"Left out: {left_out} not distinguishable from 0, or whose events do not add up or were lost."
        if left_out
        else None
    )
    order = [names.machine_name(one.submission) for one in first]
    return [cost_chart(EXPLORE_CHART, title, sentence, dots, series=order, note=note, page="/explore/")]
