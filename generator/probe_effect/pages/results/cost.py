"""The cost of an event: what a busy thread pays at which rate, ranked and set against other machines and versions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from markupsafe import Markup

from probe_effect import units
from probe_effect.charts.slowdown import Line, slowdown_chart
from probe_effect.compare.comparison import compare
from probe_effect.numbers import names
from probe_effect.pages import addresses, comparison, wording
from probe_effect.pages.factors import dots, tested
from probe_effect.pages.results.view import (
    BLOCK,
    BLOCKS,
    GRADE,
    LEVEL,
    LINES,
    LOSS,
    PROBES,
    SEEN,
    TOOL,
    TRACER,
    BlockColumn,
    End,
    NumberColumn,
    Range,
    ResultView,
    Section,
    counted,
    digits,
    level_column,
)
from probe_effect.reduce.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.model import Estimate
    from probe_effect.pages.results.view import CaseResults
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case, Factor

COST = NumberColumn("cost", wording.cost, is_linked=True)
SLOWDOWN = NumberColumn("slowdown", wording.slowdown, is_linked=True)
FASTEST = NumberColumn("fastest", lambda one: units.duration(one.fastest_ns), is_linked=True)
AT = {
    percent: NumberColumn(f"threshold-{percent}", partial(wording.threshold, percent=percent), is_linked=True)
    for percent in THRESHOLDS
}
"""The rate at which a busy thread is so many per cent slower."""
BASELINE = NumberColumn("baseline", lambda one: units.duration(one.baseline.value if one.baseline else None))
START = NumberColumn("start", wording.start, is_linked=True)
STOP = NumberColumn("stop", wording.stop, is_linked=True)
CPU = NumberColumn("tracer-cpu", wording.tracer_cpu, is_linked=True)
MEMORY = NumberColumn("tracer-memory", wording.tracer_memory, is_linked=True)
UNTRACED_RATE = NumberColumn("untraced-rate", lambda one: units.rate(units.NS_PER_SECOND / one.baseline.value))

THRESHOLD_LINES = tuple(at._replace(label=f"Slows a busy thread by {percent} % at") for percent, at in AT.items())
"""Of the page of a number."""

QUANTITIES = (
    COST,
    *THRESHOLD_LINES,
    SLOWDOWN,
    FASTEST,
    BASELINE,
    NumberColumn("noise-floor", lambda one: units.duration(one.noise_floor_ns, 2)),
    NumberColumn("traced-rate", lambda one: units.rate(one.rate_hz)),
    LOSS,
    START,
    STOP,
    CPU,
    MEMORY,
    PROBES,
    BLOCKS,
)

PLACES = Markup(
    " “Place” is a tracer’s place by cost on its machine, 1 for the least: where intervals overlap, all the places "
    "that it may hold. Costs that are not distinguishable from 0, or whose events do not add up, have none."
)

INTERVALS = "Intervals are 95 % intervals."


def block_columns(of_run: str, of_event: str) -> tuple[BlockColumn, ...]:
    """Traced and untraced runs of a block, their difference, and the events of the run in which they were counted."""
    return (
        BLOCK,
        BlockColumn("untraced-operation", lambda block, _: digits(block, block.untraced), f"Untraced{of_run}"),
        BlockColumn(
            "traced-operation",
            lambda block, _: block.problem or "" if block.traced is None else digits(block, [block.traced]),
            f"Traced{of_run}",
        ),
        BlockColumn(
            "difference-event", lambda block, of: digits(block, of.differences(block)), f"Difference{of_event}"
        ),
        BlockColumn("expected", lambda block, _: counted(block.expected)),
        SEEN,
        BlockColumn("lost", lambda block, _: counted(block.lost)),
        LINES,
    )


class Timed(ResultView):
    """Times of runs with a tracer against runs without."""

    quantities = QUANTITIES
    block_columns = block_columns(", ns an operation", ", ns an event")

    def said(self, number: Number) -> str:
        """`tracing adds 1.2 µs to one event`; of a cost that is no difference, that it is none."""
        if number.distinguishable is False:
            return f"the cost of one event is {wording.cost(number)}"
        return f"tracing adds {wording.cost(number)} to one event{interval_said(number)}"

    def rows_said(self, events: str) -> str:
        """The paired differences, and what is made of them."""
        return ROWS.format(events=events)


class Costs(Timed):
    """What tracing adds to one event."""

    heading = "Costs"
    heading_of_machine = "What an event costs here"
    main = COST
    noted = "cost"
    guide = (COST, AT[5])
    summary = (
        COST._replace(label="cost of one event (95 %)"),
        SLOWDOWN._replace(label="slowdown of the loop"),
        *(at._replace(label=f"{percent} % at") for percent, at in AT.items()),
        LOSS._replace(label="lost"),
        GRADE._replace(label="grade"),
    )
    has_costs = True
    counts_template = "results/counts.md.j2"

    def columns(self, factor: Factor | None) -> tuple[NumberColumn, ...]:
        """With levels in place of rates, which are others at each level."""
        return (TRACER, *level_column(factor), COST, FASTEST, SLOWDOWN if factor else AT[5], LOSS, BLOCKS, GRADE)

    def table(
        self, numbers: Sequence[Number], factor: Factor | None, chart: str | None = None, *, brief: bool = False
    ) -> Section:
        """With the chart of all costs above it, and what the one rate says of the other two."""
        left_out = {LOSS, BLOCKS, *([] if factor else [FASTEST])} if brief else set()
        columns = [one for one in self.columns(factor) if one not in left_out]
        note = () if factor else (wording.THRESHOLD_COLUMN,)
        return Section(charts=[chart] if chart else [], columns=columns, rows=numbers, note=note)

    def estimates(self, numbers: Iterable[Number]) -> Iterable[tuple[Number, Estimate | None]]:
        """Costs that are a difference."""
        return ((one, one.cost) for one in numbers if one.distinguishable)

    def span(self, numbers: Sequence[Number], text: Callable[[float], str] = units.duration) -> Range:
        """One number alone has its words; so has the first of several that are all no difference."""
        if len(numbers) == 1 or not any(one.distinguishable for one in numbers):
            return Range((End(numbers[0], "cost", wording.cost(numbers[0])),), 1)
        return super().span(numbers, text)

    def sections(self, of: CaseResults) -> list[Section]:
        """By level where the suite has a factor; else ranked, and against other machines and versions."""
        suite, case, measured = of.suite, of.case, of.measured
        timed = [one for one in measured if one.cost]
        if suite.factor and timed:
            columns = (TOOL, LEVEL, UNTRACED_RATE, COST, SLOWDOWN, LOSS, GRADE)
            levels = Section(note=(suite.factor.title, Markup(": a level counts "), suite.factor.unit, "."))
            return [levels, Section(columns=columns, rows=timed, note=(INTERVALS, *_event_of(case, timed[0])))]
        first, *others = answers(measured, of.home, ranked=not suite.factor) or [[]]
        compared = [] if suite.factor else measured
        return [
            replace(_ranked(timed, places(compared)) if timed else Section(), sentences=first),
            Section(title="On other machines", items=[" ".join(own) for own in others]),
            Section(title="From version to version", items=between_versions(compared)),
            Section(title="From machine to machine", items=between_machines(compared, case.functions)),
        ]

    def charts(self, of: CaseResults) -> list[Chart]:
        """Slowdown over the rate of events, with what was measured at other rates as dots."""
        labels, machines, case = of.labels, of.machines, of.case
        lines = [
            Line(labels[one.submission.machine, one.tracer], one.known_cost, one.tracer)
            for one in of.measured
            if one.threshold(5) is not None and not of.suite.factor
        ]
        if not lines:
            return []
        where = f" on {next(iter(machines.values()))}" if len(machines) == 1 else ""
        points = dots(tested(of.found, case.id, machines), labels)
        sentence = f"Slowdown of one busy thread by the rate of its events{where}, with 95 % intervals as bands" + (
            "; dots are slowdowns that were measured at those rates." if points else "."
        )
        title, page = f"{case.title}: events per second to slowdown", addresses.case(case.id)
        return [slowdown_chart(f"slowdown-{case.id}", title, sentence, lines, points, page=page)]


ROWS = Markup(
    "A run over its operations is `wall_ns` divided by `operations`, or by `events` where that is empty.\n"
    "A difference is traced less untraced, divided by the events that an operation makes in one thread ({events}); one "
    "for each untraced run of the block.\n"
    "The cost is the Hodges-Lehmann estimate of the first differences of all blocks, averaged with that of the second; "
    "[the method](/method/#cost-and-its-interval) says why, and how the interval is made."
)


def interval_said(number: Number) -> str:
    """That brackets hold an interval, where a cost has one."""
    return "" if number.cost is None or number.cost.low is None else ", with the 95 % interval in brackets"


def _ranked(timed: Sequence[Number], ranks: Mapping[str, str]) -> Section:
    """A table of costs, with their places where any have one."""
    place = (NumberColumn("place", lambda one: ranks.get(one.id, "")),) if ranks else ()
    note = (INTERVALS, " ", wording.THRESHOLD_COLUMN, *([PLACES] if ranks else []))
    return Section(columns=(TOOL, COST, *place, AT[5], LOSS, GRADE), rows=timed, note=note)


def _event_of(case: Case, number: Number) -> Sequence[str]:
    """Whose event that of a case is, with a link; nothing where it is its own."""
    if case.like is None:
        return ()
    title = number.submission.titles.get(case.like, case.like)
    return (" The event is that of ", Markup("["), title, Markup("](/costs/{}/).").format(case.like))


def answers(measured: Sequence[Number], home: str | None, *, ranked: bool) -> list[list[str]]:
    """For each machine, `home` first, what its tracers of the lowest and the highest overhead do, or why none does.

    Args:
        ranked: whether to say, too, which of its tracers can be told apart.
    """
    machines: dict[str, list[Number]] = {}
    for one in sorted(measured, key=lambda one: one.submission.machine != home):
        machines.setdefault(one.submission.machine, []).append(one)
    return [[*_extremes(own), *(rankings(own) if ranked else [])] for own in machines.values()]


def _extremes(own: Sequence[Number]) -> list[str]:
    costs = sorted((one for one in own if one.cost), key=lambda one: one.known_cost.value)
    chosen = dict.fromkeys([*costs[:1], *costs[-1:]] or own[:1])
    return [wording.answer(one, names.machine_label(one.submission)) for one in chosen]


def rankings(measured: Sequence[Number]) -> list[str]:
    """For each machine with several tracers, which has the lowest overhead, as far as can be told."""
    said = [comparison.ranking(own, comparison.place_of(own[0])) for own in _by_machine(measured)]
    return [sentence for sentence in said if sentence is not None]


def places(measured: Sequence[Number]) -> dict[str, str]:
    """Number's id to the place by cost among the tracers of that machine; empty without any."""
    return {key: place for own in _by_machine(measured) for key, place in comparison.places(own).items()}


def between_machines(measured: Sequence[Number], functions: Sequence[str]) -> list[str]:
    """Each tracer on the machine that ran last against every other machine of the same tier that has it."""
    newest: dict[tuple[str, str | None, str], Number] = {}
    found = []
    for one in sorted(measured, key=lambda one: one.submission.started, reverse=True):
        document = one.submission.document
        place = (one.tracer, one.level, names.tier(document.machine, document.run.metric))
        other = newest.setdefault(place, one)
        if other is not one and one.cost and other.cost:
            compared = compare(one, other)
            remarks = comparison.instruction_remarks(compared, functions)
            found.append(" ".join([comparison.between_machines(compared), *remarks]))
    return found


def between_versions(measured: Sequence[Number]) -> list[str]:
    """Each two versions of one tool on one machine, the one with the shorter id first."""
    pairs = [
        pair
        for own in _by_machine(measured)
        for pair in combinations(sorted(own, key=lambda one: one.tracer), 2)
        if len({names.tool_of(one.tracer) for one in pair}) == 1
    ]
    return [
        f"On {comparison.place_of(found.first)}, {comparison.between_tracers(found)}"
        for found in (compare(*pair) for pair in pairs if all(one.cost for one in pair))
    ]


def _by_machine(measured: Sequence[Number]) -> list[list[Number]]:
    """What each machine measured, apart for each level: only that is ranked together."""
    groups: dict[tuple[str, str | None], list[Number]] = {}
    for one in measured:
        groups.setdefault((one.submission.machine, one.level), []).append(one)
    return list(groups.values())


VIEW = Costs()
