"""The cost of an event: what a busy thread pays at which rate, ranked and set against other machines and versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.entry_path import calls_of_event
from probe_effect.charts.slowdown import CostLine, slowdown_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import compare
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.grouping import grouped_by
from probe_effect.pages import addresses, comparison, wording
from probe_effect.pages.factors import dots, tested
from probe_effect.pages.results import cells
from probe_effect.pages.results.cells import AT, AT_5, COST, GRADE, LOSS, SLOWDOWN, TOOL, NumberColumn, of_levels
from probe_effect.pages.results.view import CaseResults, ResultSection, ResultView
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Case

QUANTITIES = (
    COST,
    *(at._replace(label=f"Slows a busy thread by {percent} % at") for percent, at in AT.items()),
    SLOWDOWN,
    cells.FASTEST,
    cells.BASELINE,
    cells.NOISE_FLOOR,
    cells.TRACED_RATE,
    LOSS,
    *cells.OF_RUN,
)

INTERVALS = "Intervals are 95 % intervals."

PLACES = Markup(
    " “Place” is a tracer’s place by cost on its machine, 1 for the least: where intervals overlap, all the places "
    "that it may hold. Costs that are not distinguishable from 0, or whose events do not add up, have none."
)

ROWS = Markup(
    "A run over its operations is `wall_ns` divided by `operations`, or by `events` where that is empty.\n"
    "A difference is traced less untraced, divided by the events that an operation makes in one thread ({events}); one "
    "for each untraced run of the block.\n"
    "The cost is the Hodges-Lehmann estimate of the first differences of all blocks, averaged with that of the second; "
    "[the method](/method/#cost-and-its-interval) says why, and how the interval is made."
)


def said(number: Number) -> str:
    """`tracing adds 1.2 µs to one event`; of a cost that is no difference, that it is none."""
    if number.distinguishable is False:
        return f"the cost of one event is {wording.cost(number)}"
    return f"tracing adds {wording.cost(number)} to one event{interval_said(number)}"


def value(number: Number) -> str:
    """The cost, and what its brackets hold."""
    return f"{wording.cost(number)}{'' if number.distinguishable is False else with_interval(number.cost)}"


def with_interval(estimate: Estimate | None) -> str:
    """The words for an interval in brackets; empty without one."""
    return "" if estimate is None or estimate.low is None else ", with the 95 % interval"


def sections(of: CaseResults) -> list[ResultSection]:
    """By level where the suite has a factor; else ranked, and against other machines and versions."""
    timed, factor = [one for one in of.measured if one.cost], of.suite.factor
    if factor and timed:
        levels = ResultSection(note=(factor.title, Markup(": a level counts "), factor.unit, "."))
        columns = (TOOL, cells.LEVEL, cells.UNTRACED_RATE, COST, SLOWDOWN, LOSS, GRADE)
        return [levels, ResultSection(columns=columns, rows=timed, note=(INTERVALS, *_event_of(of.case, timed[0])))]
    first, *others = answers(of.measured, of.home, ranked=not factor) or [[]]
    compared = [] if factor else of.measured
    ranks = places(compared)
    place = [NumberColumn("place", lambda one: ranks.get(one.id, ""))] if ranks else []
    calls = calls_of_event(of.found, of.case.id)
    unit = [f" An event here is an iteration of {calls} system calls, and rates are of iterations."] if calls else []
    notes = (INTERVALS, " ", wording.THRESHOLD_COLUMN, *unit, *([PLACES] if ranks else []))
    table = of.table((TOOL, COST, *place, AT[5], LOSS, GRADE), *notes)
    return [
        replace(table, sentences=first),
        ResultSection(title="On other machines", items=[" ".join(own) for own in others]),
        ResultSection(title="From version to version", items=between_versions(compared)),
        ResultSection(title="From machine to machine", items=between_machines(compared, of.case.functions)),
    ]


def charts(of: CaseResults) -> list[Chart]:
    """Slowdown over the rate of events, with what was measured at other rates as dots."""
    labels, machines, case = of.labels, of.machines, of.case
    lines = [
        CostLine(labels[one.submission.machine, one.tracer], one.known_cost, one.tracer)
        for one in of.measured
        if one.threshold(5) is not None and not of.suite.factor
    ]
    if not lines:
        return []
    where = f" on {' and '.join(dict.fromkeys(machines.values()))}"
    points = dots(tested(of.found, case.id, machines), labels)
    sentence = "Slowdown of one busy thread by the rate of its events, with 95 % intervals as bands" + (
        "; dots are slowdowns that were measured at those rates." if points else "."
    )
    rates = [rate.value for one in of.measured if (rate := one.threshold(5))]
    title = f"{case.title}: 5\u00a0% slowdown at {wording.from_to(rates, units.rate)}{where}"
    page = addresses.case(case.id)
    return [slowdown_chart(f"slowdown-{case.id}", title, sentence, lines, points, page=page)]


def interval_said(number: Number) -> str:
    """The words that brackets have an interval; empty for a cost without one."""
    return f"{words} in brackets" if (words := with_interval(number.cost)) else ""


def _event_of(case: Case, number: Number) -> Sequence[str]:
    """Whose event that of a case is, with a link; nothing where it is its own."""
    if case.like is None:
        return ()
    title = number.submission.titles.get(case.like, case.like)
    return (" The event is that of ", Markup("["), title, Markup("](/costs/{}/).").format(case.like))


def answers(measured: Sequence[Number], home: str | None, *, ranked: bool) -> list[list[str]]:
    """For each machine, `home` first, its tracers of lowest and highest overhead; if `ranked`, which of them differ."""
    ordered = sorted(measured, key=lambda one: one.submission.machine != home)
    machines = grouped_by(ordered, lambda one: one.submission.machine)
    return [[*_extremes(own), *(rankings(own) if ranked else [])] for own in machines.values()]


def _extremes(own: Sequence[Number]) -> list[str]:
    costs = sorted((one for one in own if one.cost), key=lambda one: one.known_cost.value)
    chosen = dict.fromkeys([*costs[:1], *costs[-1:]] or own[:1])
    return [wording.answer(one, names.machine_name(one.submission)) for one in chosen]


def rankings(measured: Sequence[Number]) -> list[str]:
    """A sentence for each machine with several tracers: which has the lowest overhead, as far as intervals show."""
    said = [comparison.ranking(own, comparison.place_of(own[0])) for own in _by_machine(measured)]
    return [sentence for sentence in said if sentence is not None]


def places(measured: Sequence[Number]) -> dict[str, str]:
    """Number's id to the place by cost among the tracers of that machine; empty without any."""
    return {key: place for own in _by_machine(measured) for key, place in comparison.places(own).items()}


def between_machines(measured: Sequence[Number], functions: Sequence[str]) -> list[str]:
    """Sentences on each tracer: the machine that ran last against every other machine of its tier that has it."""
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
    """Sentences on each two versions of one tool on one machine, the one with the shorter id first."""
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
    """The numbers of each machine and level: only these are ranked together."""
    return list(grouped_by(measured, lambda one: (one.submission.machine, one.level)).values())


VIEW = ResultView(
    heading="Costs",
    heading_of_machine="What an event costs here",
    main=COST,
    columns=(cells.TRACER, cells.LEVELS, COST, cells.FASTEST, *of_levels(SLOWDOWN), AT_5, LOSS, cells.BLOCKS, GRADE),
    brief=(cells.TRACER, cells.LEVELS, COST, *of_levels(cells.FASTEST, SLOWDOWN), AT_5, GRADE),
    guide=(COST, AT[5]),
    summary={
        "cost of one event (95 %)": COST,
        "slowdown of the loop": SLOWDOWN,
        **{f"{percent} % at": at for percent, at in AT.items()},
        "lost": LOSS,
        "grade": GRADE,
    },
    quantities=QUANTITIES,
    block_columns=cells.run_columns(", ns an"),
    rows_said=ROWS,
    said=said,
    cited="Cost of one event",
    value=value,
    estimate=lambda one: one.cost if one.distinguishable else None,
    alone=wording.cost,
    sections=sections,
    charts=charts,
    counts_template="results/counts.md.j2",
    has_costs=True,
    has_chart=True,
)
