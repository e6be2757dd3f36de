"""Pages over all machines: the ladder, rung by rung, and what `/explore/` and `/compare/` show without scripts."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from probe_effect import units
from probe_effect.compare.comparison import between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.costs.questions import QUESTIONS, MachineRange, NamedQuestion, Reply, of_all_machines, on
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.shown import FIRST_SUITE, one_of_each, reference_submission, shown_machines
from probe_effect.numbers.submission import Number
from probe_effect.site.charts.dots import Dot, cost_chart
from probe_effect.site.charts.slowdown import CostLine, LadderRung, ladder_chart, slowdown_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import comparison, instructions, links, parts
from probe_effect.site.pages.parts import (
    Heading,
    Items,
    Link,
    Part,
    Pieces,
    Table,
    columns,
    fold,
    fragment,
    of_data,
    section,
)
from probe_effect.site.pages.text import link, safe, say

SCALES = {
    "Each time": units.Scale((units.Unit(math.inf, 1, "ns"),), 3),
    "Once a run": units.Scale((units.Unit(math.inf, 1e6, "ms"),), 3),
}
"""The two groups of rungs, to the one unit of each table."""

MOST = 6  # kinds of machine whose pictures a page can hold, on a phone too
CHART, RATES_CHART = "ladder", "events-to-slowdown"


class RungTime(NamedTuple):
    """A rung on a machine: what it asks, and the answer of the machine."""

    rung: NamedQuestion
    reply: Reply

    def said(self, scale: units.Scale = units.DURATION) -> str:
        """Its time with the interval, or the bound."""
        time, is_bound = self.reply.time, self.reply.is_bound
        return units.within(units.quantity(time.value, scale, 2), "below ") if is_bound else units.interval(time, scale)

    def cell(self, scale: units.Scale) -> object:
        """Its time, which leads to its line on the page of the number."""
        return links.number(self.reply.number, "cost" if self.rung.of == "event" else self.rung.of, self.said(scale))


RUNGS = tuple(question for question in QUESTIONS.values() if question.is_rung)
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
    of_machines = {}
    for machine in one_of_each(catalogue.numbers, MOST):
        own = [RungTime(rung, reply) for rung in RUNGS if (reply := on(catalogue, rung, machine))]
        if len(own) > 1:
            own.sort(key=lambda step: (list(SCALES).index(group_of(step.rung)), step.reply.time.value))
            of_machines[machine] = own
    return of_machines


def span(catalogue: Catalogue, rung: NamedQuestion) -> MachineRange | None:
    """The range of a rung over all machines where it is clear; None of fewer than two."""
    everywhere = of_all_machines(catalogue, rung)
    return everywhere if everywhere and everywhere.machines > 1 else None


def charts(catalogue: Catalogue) -> list[Chart]:
    """A ladder for each machine that stands for its kind, and the slowdown by rate of the events of the first."""
    drawn = [_ladder(catalogue, machine, steps) for machine, steps in ladders(catalogue).items()]
    for machine, steps in islice(ladders(catalogue).items(), 1):
        events = [step for step in steps if step.rung.of == "event" and not step.reply.is_bound]
        lines = [CostLine(event.rung.words, event.reply.time) for event in events]
        title = f"From events per second to slowdown on {_name(catalogue, machine)}"
        words = (RATES_CHART, title, "Slowdown of one busy thread by the rate of its events.")
        drawn += [slowdown_chart(*words, lines, page="/costs/")] if lines else []
    return drawn


def _name(catalogue: Catalogue, machine: str) -> str:
    return names.machine_name(catalogue.numbers.machines()[machine][0])


def _picture(catalogue: Catalogue, machine: str) -> str:
    """The name of a machine's picture; the home machine's has no id, so that its address stays."""
    return CHART if machine == next(iter(ladders(catalogue))) else f"{CHART}-{machine}"


def _ladder(catalogue: Catalogue, machine: str, steps: list[RungTime]) -> Chart:
    drawn = []
    for step in steps:
        text, whole = units.alone(step.said()), span(catalogue, step.rung)
        time, is_bound = step.reply.time, step.reply.is_bound
        drawn.append(LadderRung(step.rung.words, group_of(step.rung), time, text, whole and whole.time, is_bound))
    ends = [next((rung.text for rung in drawn if not rung.is_bound), drawn[0].text), drawn[-1].text]
    title = f"Numbers for tracers: {' to '.join(ends)} on {_name(catalogue, machine)}"
    sentence = "What tracing takes, on a logarithmic scale; the grey lines are the ranges over all machines."
    return ladder_chart(_picture(catalogue, machine), title, sentence, drawn)


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: the page of ladders, and what the home page says first, with its three costs."""
    rates = [parts.chart(chart.name) for chart in charts(catalogue) if chart.name == RATES_CHART]
    explored = [parts.chart(chart.name) for chart in explore_charts(catalogue)]
    made: dict[str, Iterable[Part]] = {
        "ladder.md": _tables(catalogue),
        "home.md": _home(catalogue),
        "rates-chart.md": rates,
        "explore-chart.md": explored,
        "compare-tracers.md": _versus(catalogue),
    }
    return {name: fragment(body) for name, body in made.items()}


def _tables(catalogue: Catalogue) -> Iterator[Part]:
    of_machines = ladders(catalogue)
    if not of_machines:
        yield "Nothing has been measured yet."
        return
    first, *others = (parts.chart(_picture(catalogue, machine)) for machine in of_machines)
    below = "Pictures of other kinds of machine are [below the tables](/ladder/#other-kinds-of-machine)."
    yield from (first, say(below) if others else None)
    heads = [*columns("rung", "machines-range"), *(of_data(_name(catalogue, machine)) for machine in of_machines)]
    by_rung = grouped_by((step for own in of_machines.values() for step in own), lambda step: step.rung)
    for group, scale in SCALES.items():
        rows = []
        for rung, steps in by_rung.items():
            if group_of(rung) == group:
                cells = {step.reply.number.submission.machine: step.cell(scale) for step in steps}
                everywhere = span(catalogue, rung)
                ends = [units.span(everywhere.time, scale), f" ({everywhere.machines})"] if everywhere else []
                name = Link(rung.words, f"#={rung.id}")
                rows.append((name, Pieces(ends), *(cells.get(machine, "") for machine in of_machines)))
        yield from section(group, Table(heads, rows) if rows else None)
    yield from section("Other kinds of machine", *others)


def _home(catalogue: Catalogue) -> Iterator[Part]:
    timed, counted = len(catalogue.numbers.machines()), len(catalogue.numbers.machines("instructions"))
    if not timed:
        yield "Nothing has been measured yet."
        return
    machines = f"{timed} machine{'s' if timed != 1 else ''}"
    if counted:
        machines += f" and counted on {counted} emulated one{'s' if counted != 1 else ''}"
    how = "by [one command that you can run](/submit/); the [data are open](/data/), CC BY."
    yield say("Measured on {} {}", machines, safe(how))
    costs = []
    for cost in HOME:
        if whole := span(catalogue, cost):
            time, by = units.span(whole.time, units.DURATION), f", {cost.by}" if cost.by else ""
            words = link(cost.words, f"/ladder/#{cost.id if cost.is_rung else 'each-time'}")
            costs.append(say("{}: **{}** on {} machines{}", words, time, whole.machines, by))
    yield Items(costs)


def cost(number: Number) -> str:
    """The cost of an event as these pages and their scripts write it; words where it is no difference."""
    return parts.cost(number) if number.is_time else instructions.count(number.cost)


def flagged(number: Number) -> str:
    """The cost of an event, marked where it is in no ranking because its events do not add up or were lost."""
    return cost(number) if number.leads else f"{cost(number)} {instructions.FLAG}"


def _versus(catalogue: Catalogue) -> Iterator[Part]:
    reference = reference_submission(catalogue.numbers)
    machines = (subject for subject in subjects(catalogue) if reference and subject.name == reference.machine)
    for machine in islice(machines, 1):
        usual, *others = machine.tools
        pairs = ((tracer, between_tracers(machine, usual, tracer)) for tracer in others)
        for index, (tracer, compared) in enumerate(
            (tracer, comparisons) for tracer, comparisons in pairs if comparisons
        ):
            sides = names.tracer_name(usual), names.tracer_name(tracer)
            title = f"{machine.tools[tracer]} against {sides[0]}"
            summed = say("On {}. {}", machine.label, comparison.summary(compared, f"with {sides[1]}"))
            level = ["Level"] if any(difference.first.level is not None for difference in compared) else []
            rows = []
            for difference in compared:
                case = links.case(difference.first.case, difference.first.title)
                levels = (names.level(difference.first.level) for _ in level)
                costs = (links.number(side, "cost", cost(side)) for side in (difference.first, difference.second))
                rows.append((case, *levels, *costs, *comparison.cells(difference)))
            heads = map(of_data, (*level, *sides, "Difference", "Ratio"))
            table = Table([of_data("Case", "left"), *heads, of_data("Outcome", "left")], rows)
            refused = (
                (difference, instructions.subject(difference.first)) for difference in compared if difference.reason
            )
            why = Items([comparison.sentence(*pair, "with", *sides) for pair in refused])
            yield from fold(title, summed, table, why) if index else (Heading(title), summed, table, why)


def explore_charts(catalogue: Catalogue) -> list[Chart]:
    """The first suite on the machines that pages show, with the tracer that has most of its costs; none without any.

    Machines have the colours: they differ by more than tracers do.
    """
    machines = shown_machines(catalogue.numbers)
    numbers = [number for machine in machines for number in catalogue.numbers.of_machine(machine).values()]
    first = [number for number in numbers if number.submission.suite == FIRST_SUITE and number.cost is not None]
    tracer = next((tracer for tracer, _ in Counter(number.tracer for number in first).most_common(1)), None)
    own = sorted((number for number in first if number.tracer == tracer), key=lambda number: number.key.order)
    clear = [number for number in own if number.distinguishable and number.leads]
    dots = [Dot(number.title, names.machine_name(number.submission), number.known_cost) for number in clear]
    if not dots:
        return []
    title = f"The cost of one event with {tracer}, by case and machine"
    sentence = f"Measured with {names.tool_with_version(clear[0])}: a row for each case and a dot for each machine."
    left_out = len(own) - len(clear)
    why = f"Left out: {left_out} not distinguishable from 0, or whose events do not add up or were lost."
    note = why if left_out else None
    order = [names.machine_name(number.submission) for number in first]
    return [cost_chart("explore", title, sentence, dots, series=order, note=note, page="/explore/")]
