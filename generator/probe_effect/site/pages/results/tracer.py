"""What a tracer takes itself, where that was measured: by level, and for one thing more."""

from collections.abc import Iterable
from operator import attrgetter

from markupsafe import Markup

from probe_effect import units
from probe_effect.numbers import estimates, names
from probe_effect.numbers.submission import Number
from probe_effect.site.charts.curves import Axes, TimePoint, times_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, parts
from probe_effect.site.pages.parts import Part, fold
from probe_effect.site.pages.results import view
from probe_effect.site.pages.results.cost import with_interval
from probe_effect.site.pages.results.view import CaseResults, Growth, NumberColumn, ResultView
from probe_effect.site.pages.text import say


def _cpu_each_more(growth: Growth) -> str:
    cpu, more = [number.own_use.cpu for number in growth], _more(growth)
    if cpu[0] is None or cpu[1] is None:
        return units.MISSING
    return units.interval(estimates.difference(cpu[1], cpu[0]).mapped(lambda value_ns: value_ns / more), units.DURATION)


def _calls_each_more(growth: Growth) -> str | None:
    least, most = (number.own_use.calls for number in growth)
    return None if least is None or most is None else units.significant((most - least) / _more(growth))


def _more(growth: Growth) -> int:
    return view.level_number(growth.last) - view.level_number(growth.first)


SLOPES = (
    NumberColumn("tracer", lambda growth: names.tool_with_version(growth.last)),
    NumberColumn("tracer-slope", _cpu_each_more),
    NumberColumn("calls-slope", _calls_each_more),
)


def slopes(measured: Iterable[Number]) -> list[Growth]:
    """The lowest and the highest level of each tracer on each machine that was measured at two or more."""
    numbers = (number for number in measured if number.level and number.level.isdecimal() and number.own_use.cpu)
    return [growth for growth in view.growths(numbers) if _more(growth)]


def charts(of: CaseResults) -> list[Chart]:
    labels, suite, case, points = of.labels, of.suite, of.case, []
    for result in of.measured:
        cpu, level = result.own_use.cpu, view.level_number(result)
        if cpu is not None and cpu.value > 0 and level:
            label = labels[result.submission.machine, result.tracer]
            words = (label, units.count(level), units.interval(cpu, units.DURATION))
            points.append(TimePoint(label, result.tracer, level, cpu, words))
    if not points or suite.factor is None:
        return []
    sentence = f"CPU time that each tool takes itself for {suite.workload.operation}, with 95 % intervals."
    number, head = (change(suite.factor.title[:1]) + suite.factor.title[1:] for change in (str.lower, str.upper))
    heads, time = ("Tool", head, "CPU time"), "CPU time of the tool, an operation"
    axes = Axes(quantity="cpu", number=number, time=time, columns=heads)
    times = parts.from_to([point.time.value for point in points])
    title = f"{case.title}: {times} of the tool's CPU time on {' and '.join(of.machines.values())}"
    page = addresses.case(case.id)
    return [times_chart(f"use-{case.id}", title, sentence, points, axes, page=page)]


def said(number: Number) -> str:
    """`the tool itself takes 12 ms of CPU time for an operation`."""
    return f"the tool itself takes {parts.tracer_cpu(number)} of CPU time for an operation"


def sections(of: CaseResults) -> list[Part]:
    note = say(
        "What each further one adds to an operation{}: the difference between the highest level and the lowest, over "
        "how many more there are.",
        say(" ({})", of.suite.factor.unit) if of.suite.factor else "",
    )
    all_in = "Intervals are 95 % intervals; the start and the end of a tool are in what it takes."
    table = of.table((view.TOOL, view.LEVELS, view.CPU, view.MEMORY, view.CALLS, view.GRADE), all_in)
    return [*table, *fold("What one more adds", *view.of_machines(SLOPES, slopes(of.measured), note))]


VIEW = ResultView(
    heading="What the tool takes",
    main=view.CPU,
    columns=(view.TRACER, view.LEVELS, view.CPU, view.MEMORY, view.CALLS, view.BLOCKS, view.GRADE),
    guide=(view.CPU, view.MEMORY, view.CALLS),
    summary={
        "CPU time of the tool (95 %)": view.CPU,
        "memory": view.MEMORY,
        "system calls": view.CALLS,
        "grade": view.GRADE,
    },
    quantities=(view.CPU, view.MEMORY, view.CALLS, view.BLOCKS),
    rows=view.BlockRows(
        view.OWN_COLUMNS,
        Markup(
            "What the tool takes for an operation is `tracer_cpu_ns` divided by `operations`, or by `events` where "
            "that is empty; system calls are those of all operations, counted in the run of arm `check`.\n"
            "The value is the Hodges-Lehmann estimate over the blocks, with its exact interval."
        ),
    ),
    said=said,
    cited="CPU time that the tool itself takes",
    value=lambda number: f"{parts.tracer_cpu(number)} an operation{with_interval(number.own_use.cpu)}",
    estimate=attrgetter("own_use.cpu"),
    answered="The tool itself takes {} of CPU time for an operation",
    sections=sections,
    charts=charts,
)
