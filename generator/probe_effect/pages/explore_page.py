"""What `/explore/` and `/compare/` show without scripts beside the matrices: a chart, and comparisons of tracers."""

from collections import Counter

from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import FIRST_SUITE, reference_submission, shown_machines
from probe_effect.pages import instructions, wording
from probe_effect.pages.markdown import render
from probe_effect.reduce.submission import Number

CHART = "explore"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    drawn = CHART if charts(catalogue) else None
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


def charts(catalogue: Catalogue) -> list[Chart]:
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
    return [cost_chart(CHART, title, sentence, dots, series=order, note=note, page="/explore/")]
