"""What `/explore/` and `/compare/` show without scripts: a chart and tables of every current cost, and comparisons."""

from __future__ import annotations

from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.home import FIRST_SUITE, reference_submission
from probe_effect.numbers.kinds import MOST_MACHINES, shown
from probe_effect.pages import instructions, wording
from probe_effect.pages.fragments import first_suite_first
from probe_effect.pages.markdown import render
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Suite

CHART = "explore"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    drawn = CHART if charts(catalogue) else None
    suites = (folder.suite for folder in first_suite_first(catalogue) if folder.suite.result_type.guides)
    tables = [(suite, rows) for suite in suites if (rows := measured(catalogue, suite))]
    most = MOST_MACHINES if len(catalogue.numbers.machines()) > MOST_MACHINES else None
    return {
        "explore-chart.md": render("fragments/chart.md.j2", chart=drawn, without=""),
        "explore-tables.md": render(
            "fragments/explore-tables.md.j2", tables=tables, most=most, flagged=flagged, titles=catalogue.titles
        ),
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


def measured(catalogue: Catalogue, suite: Suite) -> list[Number]:
    """The current costs of a suite on the machines that pages show, in its order."""
    found = (shown(catalogue.numbers.of_case(case.id), catalogue.numbers)[0] for case in suite.cases)
    return [one for numbers in found for one in numbers if one.cost is not None]


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
    """The first suite on the reference machine with all its tracers; none before anything was measured."""
    reference = reference_submission(catalogue.numbers)
    if reference is None:
        return []
    known = catalogue.numbers.of_machine(reference.machine).values()
    own = [one for one in known if one.submission.suite == FIRST_SUITE and one.cost is not None]
    clear = [one for one in own if one.distinguishable and one.is_sound]
    titles = catalogue.titles
    dots = [
        Dot(titles.get(one.case, one.case), names.tool_with_version(one), one.known_cost, one.tracer) for one in clear
    ]
    if not dots:
        return []
    where = f"{names.machine_name(reference)} ({wording.tier(reference.document)})"
    sentence = f"Measured on {where}: what each event adds, a row for each case and a dot for each tracer."
    left_out = len(own) - len(clear)
    note = f"Left out: {left_out} not distinguishable from 0, or whose events do not add up." if left_out else None
    return [cost_chart(CHART, "The cost of one event, by case and tracer", sentence, dots, note=note, page="/explore/")]
