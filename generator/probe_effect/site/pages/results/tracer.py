"""What a tracer takes itself, where that was measured: by level, and for one thing more."""

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import estimates, names
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.charts.curves import Axes, TimePoint, times_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, parts
from probe_effect.site.pages.parts import Part, fold
from probe_effect.site.pages.results import view
from probe_effect.site.pages.results.cost import with_interval
from probe_effect.site.pages.results.view import (
    BLOCKS,
    CALLS,
    CPU,
    GRADE,
    LEVELS,
    MEMORY,
    CaseResults,
    NumberColumn,
    ResultSection,
    ResultView,
)
from probe_effect.site.pages.text import say

NOTE = "Intervals are 95 % intervals; the start and the end of a tool are in what it takes."


class Growth(NamedTuple):
    """What one further thing adds to an operation of a tracer on a machine, from the lowest level to `last`."""

    last: Number
    cpu: Estimate
    """ns."""
    calls: float | None

    @property
    def submission(self) -> Submission:
        """Where both levels were measured."""
        return self.last.submission


SLOPES = (
    NumberColumn("tracer", lambda one: names.tool_with_version(one.last)),
    NumberColumn("tracer-slope", lambda one: units.interval(one.cpu, units.DURATION)),
    NumberColumn("calls-slope", lambda one: None if one.calls is None else units.significant(one.calls)),
)


def growths(measured: Iterable[Number]) -> list[Growth]:
    """The growth of each tracer on each machine with two levels or more, in the order of `measured`."""
    known = (one for one in measured if one.level and one.level.isdecimal() and one.own_use.cpu)
    groups = grouped_by(known, lambda one: (one.submission.machine, one.tracer)).values()
    found = (_growth(min(own, key=_at), max(own, key=_at)) for own in groups)
    return [one for one in found if one is not None]


def _growth(first: Number, last: Number) -> Growth | None:
    more, least, most = _at(last) - _at(first), first.own_use, last.own_use
    if not more or least.cpu is None or most.cpu is None:
        return None
    cpu = estimates.difference(most.cpu, least.cpu).mapped(lambda value_ns: value_ns / more)
    return Growth(last, cpu, None if least.calls is None or most.calls is None else (most.calls - least.calls) / more)


def charts(of: CaseResults) -> list[Chart]:
    """CPU time over levels, where it was measured."""
    labels, suite, case = of.labels, of.suite, of.case
    points = [
        _point(one, cpu, labels[one.submission.machine, one.tracer])
        for one in of.measured
        if (cpu := one.own_use.cpu) is not None and cpu.value > 0 and _at(one) > 0
    ]
    if not points or suite.factor is None:
        return []
    sentence = f"CPU time that each tool takes itself for {suite.workload.operation}, with 95 % intervals."
    factor = suite.factor.title
    axes = Axes(
        quantity="cpu",
        number=f"{factor[:1].lower()}{factor[1:]}",
        time="CPU time of the tool, an operation",
        columns=("Tool", f"{factor[:1].upper()}{factor[1:]}", "CPU time"),
    )
    times = parts.from_to([one.time.value for one in points])
    title = f"{case.title}: {times} of the tool's CPU time on {' and '.join(of.machines.values())}"
    page = addresses.case(case.id)
    return [times_chart(f"use-{case.id}", title, sentence, points, axes, page=page)]


def _point(one: Number, cpu: Estimate, label: str) -> TimePoint:
    words = (label, units.count(_at(one)), units.interval(cpu, units.DURATION))
    return TimePoint(label, one.tracer, _at(one), cpu, words)


def _at(one: Number) -> int:
    """The level of a number as an integer; 0 where it has none, or words."""
    return int(one.level) if one.level is not None and one.level.isdecimal() else 0


def said(number: Number) -> str:
    """`the tool itself takes 12 ms of CPU time for an operation`."""
    return f"the tool itself takes {parts.tracer_cpu(number)} of CPU time for an operation"


def sections(of: CaseResults) -> list[Part]:
    """By level, and what each further one of what a level counts adds."""
    note = say(
        "What each further one adds to an operation{}: the difference between the highest level and the lowest, over "
        "how many more there are.",
        say(" ({})", of.suite.factor.unit) if of.suite.factor else "",
    )
    more = ResultSection(SLOPES, growths(of.measured), note=note).of_machines()
    return [
        *of.table((view.TOOL, LEVELS, CPU, MEMORY, CALLS, GRADE), NOTE),
        *fold("What one more adds", *more),
    ]


VIEW = ResultView(
    heading="What the tool takes",
    main=CPU,
    columns=(view.TRACER, LEVELS, CPU, MEMORY, CALLS, BLOCKS, GRADE),
    guide=(CPU, MEMORY, CALLS),
    summary={"CPU time of the tool (95 %)": CPU, "memory": MEMORY, "system calls": CALLS, "grade": GRADE},
    quantities=(CPU, MEMORY, CALLS, BLOCKS),
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
    value=lambda one: f"{parts.tracer_cpu(one)} an operation{with_interval(one.own_use.cpu)}",
    estimate=attrgetter("own_use.cpu"),
    answered="The tool itself takes {} of CPU time for an operation",
    sections=sections,
    charts=charts,
)
