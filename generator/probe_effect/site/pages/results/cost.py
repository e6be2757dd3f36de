"""The cost of an event: what a busy thread pays at which rate, ranked and set against other machines and versions.

Beside it are the instructions of one event, counted in emulated machines, where no time is measured.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.compare.kernels import column_of, kernel_names, matrices_of_case, names_of_all
from probe_effect.costs.actions import FRAMES, WALKED, SampleLaw, sample_law
from probe_effect.costs.evidence import Evidence, evidence_of
from probe_effect.costs.row import Contention, RatePoint, calls_of_event, contention, line
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.submission import Number
from probe_effect.site.charts.dots import NANOSECONDS
from probe_effect.site.charts.slowdown import CostLine, MeasuredSlowdown, slowdown_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, comparison, instructions, kernel_changes, links, parts
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Pieces, Table, column, fold, of_data
from probe_effect.site.pages.results import view
from probe_effect.site.pages.results.view import CaseResults, NumberColumn, ResultView
from probe_effect.site.pages.text import bracketed, coded, link, listed, say, together
from probe_effect.store.suite_file import Case, Suite

INTERVALS = "An interval holds what the next run finds, in 95\u00a0% of cases."
RANGES = "The range above is from value to value; in a text that names no machine it is from end to end of intervals."


def said(number: Number) -> str:
    """`tracing adds 1.2 µs to one event`; of a cost that is no difference, that it is none."""
    if not number.is_time:
        return f"tracing adds {instructions.count(number.cost)} instructions to one event"
    if number.distinguishable is False:
        return f"the cost of one event is {parts.cost(number)}"
    return f"tracing adds {parts.cost(number)} to one event{interval_said(number)}"


def value(number: Number) -> str:
    return f"{parts.cost(number)}{'' if number.distinguishable is False else with_interval(number.cost)}"


def with_interval(estimate: Estimate | None) -> str:
    """The words for an interval in brackets; empty without one."""
    return "" if estimate is None or estimate.low is None else ", with the 95 % interval"


def sections(of: CaseResults) -> list[Part]:
    """The table, by level where the suite has a factor; else with what differs from tracer to tracer, folded."""
    timed, factor = [number for number in of.measured if number.cost], of.suite.factor
    if factor and timed:
        like, titles = of.case.like, timed[0].submission.titles
        event = say(" The event is that of {}.", links.case(like, titles.get(like, like))) if like else ""
        note = say("{}: {}. {}{}", factor.title, factor.meaning, INTERVALS, event)
        rate = NumberColumn("untraced-rate", lambda number: units.rate(units.NS_PER_SECOND / number.baseline.value))
        return of.table((view.TOOL, view.LEVEL, rate, view.COST, view.SLOWDOWN, view.LOSS, view.GRADE), note)
    calls = calls_of_event(of.found, of.case.id)
    unit = f" An event here is an iteration of {calls} system calls, and rates are of iterations." if calls else ""
    ranges = f" {RANGES}" if sum(number.is_clear for number in timed) > 1 else ""
    note = listed(
        [INTERVALS, ranges, " ", parts.THRESHOLD_COLUMN, unit, *other_instructions(timed, of.case.functions)], ""
    )
    machines = [] if factor else grouped_by(of.measured, lambda number: number.submission.machine).values()
    ranked = [words for own in machines if (words := comparison.ranking(own, comparison.place_of(own[0])))]
    table = of.table((view.TOOL, view.COST, view.RATE_5, view.LOSS, view.GRADE), note)
    return [*table, *fold("Which tracer costs least", Items(ranked))]


class Tested(NamedTuple):
    """The cost of a case with a tracer on a machine, and what was measured of it at other rates and by more threads."""

    cost: Number
    points: Sequence[RatePoint]
    factors: Sequence[Contention]


def tested(evidence: Evidence, case_id: str, machines: Collection[str]) -> list[Tested]:
    """Every cost of a case on some machines of which a suite with a factor measured more."""
    more = []
    for machine in (machine_id for machine_id in evidence.machines if machine_id in machines):
        for tracer, cost in evidence.with_tracers(machine, case_id).items():
            key = machine, tracer, case_id
            more.append(Tested(cost, line(evidence, *key), contention(evidence, *key)))
    return [test for test in more if test.points or test.factors]


def dots(tests: Sequence[Tested], labels: Mapping[tuple[str, str], str]) -> list[MeasuredSlowdown]:
    """The slowdowns measured at other rates, for the chart; `labels`: machine and tracer to the name of their line."""
    drawn = []
    for test in tests:
        if label := labels.get((test.cost.submission.machine, test.cost.tracer)):
            points = (point for point in test.points if point.measured.value > 0)  # the axis is logarithmic
            drawn += [MeasuredSlowdown(label, point.rate_hz, point.measured) for point in points]
    return drawn


def charts(of: CaseResults) -> list[Chart]:
    labels, machines, case = of.labels, of.machines, of.case
    lines = [
        CostLine(labels[number.submission.machine, number.tracer], number.known_cost, number.tracer)
        for number in of.measured
        if number.threshold(5) is not None and not of.suite.factor
    ]
    if not lines:
        return []
    where = f" on {' and '.join(dict.fromkeys(machines.values()))}"
    points = dots(tested(of.found, case.id, machines), labels)
    sentence = "Slowdown of one busy thread by the rate of its events, with 95 % intervals as bands" + (
        "; dots are slowdowns that were measured at those rates." if points else "."
    )
    rates = [rate.value for number in of.measured if (rate := number.threshold(5))]
    title = f"{case.title}: 5\u00a0% slowdown at {parts.from_to(rates, units.rate)}{where}"
    page = addresses.case(case.id)
    return [slowdown_chart(f"slowdown-{case.id}", title, sentence, lines, points, page=page)]


def interval_said(number: Number) -> str:
    """The words that brackets have an interval; empty for a cost without one."""
    return f"{words} in brackets" if (words := with_interval(number.cost)) else ""


def other_instructions(measured: Sequence[Number], functions: Sequence[str]) -> list[str]:
    """That a user function, `file:symbol`, begins otherwise on some of the machines: the cost depends on that."""
    first_bytes = [number.submission.document.run.functions for number in measured]
    return [
        f" {name} does not begin with the same bytes on all of these machines, and the cost depends on that."
        for name in functions
        if len({own[name] for own in first_bytes if name in own}) > 1
    ]


def of_suite(suite: Suite, catalogue: Catalogue) -> list[Part]:
    """The laws of all its cases on all machines; nothing of another suite."""
    if suite.factor is None or suite.factor.name != FRAMES:
        return []
    evidence = evidence_of(catalogue)
    laws = {}
    for like, machine in product(dict.fromkeys(case.like for case in suite.cases if case.like), evidence.machines):
        for tracer, cost in evidence.with_tracers(machine, like).items():
            if law := sample_law(evidence, machine, tracer, like):
                laws[cost] = law
    columns = (
        NumberColumn("tracer", names.tool_with_version),
        NumberColumn("machine", lambda cost: names.machine_name(cost.submission)),
        NumberColumn("sample-base", lambda cost: units.interval(laws[cost].at(0), units.DURATION)),
        NumberColumn("sample-frame", lambda cost: units.interval(laws[cost].line.per_x, units.DURATION)),
        NumberColumn("sample-residuals", lambda cost: _residuals(laws[cost])),
    )
    sentence = (
        f"The cost of a sample is a line over the frames that are walked, {WALKED} at most. "
        "A thread is slowed by the samples a second that hit it times that cost."
    )
    return [sentence, *view.of_cases(columns, laws)] if laws else []


def _residuals(law: SampleLaw) -> str:
    """`1: +0.5 %, 10: −1.2 %`: measured less fitted at each depth, over fitted."""
    residuals = law.residuals.items()
    return ", ".join(f"{frames}: {'+' if ratio > 0 else ''}{units.percent(ratio)}" for frames, ratio in residuals)


def counted(suite: Suite, case: Case, catalogue: Catalogue) -> Iterator[Part]:
    each, address = matrices_of_case(catalogue, suite, case.id), kernel_changes.cause_address
    causes = kernel_changes.causes(each, catalogue.explanations)
    marks = [
        (numbers, Link(position, address(cause))) for position, (cause, numbers) in enumerate(causes.items(), start=1)
    ]
    if each:
        yield Heading("Instructions")
        yield say("[Counted in emulated machines](/kernels/): no times, and the same wherever they are counted again.")
    for matrix in each:
        architecture, kernels = names.architecture(matrix.architecture), kernel_names(matrix.kernels)
        ways = list(dict.fromkeys(number.count.mechanism for number in matrix.all() if number.cost))
        written = instructions.cell if len(ways) == 1 else instructions.made
        rows: list[list[object]] = []
        for row, tracer in product(matrix.rows, matrix.tracers):
            if matrix.along_kernels(row, tracer):
                rows.append([bracketed(instructions.short(tracer), names.level(row.level))])
                for number in matrix.line(row, tracer):
                    own = [part for ids, mark in marks if number and number.id in ids for part in (" ", mark)]
                    rows[-1].append(Pieces([links.number(number, "instructions", written(number)), *own]))
        yield Heading(architecture, 3)
        heads = (of_data(name.replace("Linux ", "")) for name in kernels.values())
        yield Table([column("tracer", f"On {architecture}, Linux"), *heads], rows)
        made = " or ".join(instructions.MADE.get(way, way) for way in ways if way)
        how = "; the kernel made each probe " if len(ways) == 1 else ", and how the kernel made the probe: "
        yield say("Instructions that one event adds{}.", how + made if made else "")
        for number in (number for number in matrix.all() if number.faults):
            side = column_of(number).tracer, kernels[column_of(number).kernel]
            yield Items([say("{} {}, {}: {}.", instructions.FLAG, *side, "; ".join(number.faults))])
    if causes:
        yield say("A small number leads to the cause of a change, from the kernel or the version of the tracer before.")
    links_of = (
        (explanation, link(instructions.CERTAIN[explanation.certainty], address(explanation))) for explanation in causes
    )
    why = [say("{} {}.", coded(cause.says), certainty) for cause, certainty in links_of]
    changes = kernel_changes.changes(each)
    by_function = Items(kernel_changes.functions_changed(changes, names_of_all(each)))
    more = "Functions that execute more or fewer instructions of an event:" if by_function else None
    yield from fold("Why the counts changed", Items(why, is_numbered=True), more, by_function)
    apart = link("what of them can be compared", "/kernels/architectures/")
    yield together(
        changes and say("{} of these counts.", link("Every change", f"/kernels/changes/#{case.id}")),
        len(each) > 1 and say("Counts of two architectures are not the same work: {}.", apart),
    )


THRESHOLD_LINES = [at._replace(label=f"Slows a busy thread by {percent} % at") for percent, at in view.AT.items()]

ROWS = view.BlockRows(
    view.run_columns(", ns an"),
    Markup(
        "A run over its operations is `wall_ns` divided by `operations`, or by `events` where that is empty.\n"
        "A difference is traced less untraced, divided by the events that an operation makes in one thread ({events}); "
        "one for each untraced run of the block.\n"
        "The cost is the Hodges-Lehmann estimate of the first differences of all blocks, averaged with that of the "
        "second; [the method](/method/interval/#cost-and-its-interval) says why, and how the interval is made."
    ),
)

VIEW = ResultView(
    heading="Costs",
    heading_of_machine="What an event costs here",
    main=view.COST,
    columns=(
        *(view.TRACER, view.LEVELS, view.COST, view.FASTEST, *view.of_levels(view.SLOWDOWN)),
        *(view.AT_5, view.LOSS, view.BLOCKS, view.GRADE),
    ),
    brief=(
        *(view.TRACER, view.LEVELS, view.COST, *view.of_levels(view.FASTEST, view.SLOWDOWN)),
        *(view.AT_5, view.GRADE),
    ),
    guide=(view.COST, view.AT[5]),
    summary={
        "cost of one event (95 %)": view.COST,
        "slowdown of the loop": view.SLOWDOWN,
        **{f"{percent} % at": at for percent, at in view.AT.items()},
        "lost": view.LOSS,
        "grade": view.GRADE,
    },
    quantities=view.with_first((view.COST, *THRESHOLD_LINES), view.QUANTITIES),
    rows=ROWS,
    said=said,
    cited="Cost of one event",
    value=value,
    estimate=lambda number: number.cost if number.distinguishable and number.leads else None,
    answered="One event costs {}",
    most=lambda number: number.bounded_cost.high if number.leads else None,
    drawn=NANOSECONDS,
    sections=sections,
    charts=charts,
    of_suite=of_suite,
    counted=counted,
)

INSTRUCTIONS = view.linked("instructions", instructions.added)
SHARE = NumberColumn("untraced-share", instructions.share)
MECHANISM = NumberColumn("mechanism", lambda number: number.count.mechanism or "")
UNTRACED = NumberColumn("baseline", lambda number: instructions.count(number.baseline))

COUNTED = ResultView(
    heading="Counts",
    main=INSTRUCTIONS,
    columns=(view.COUNTED_TRACER, INSTRUCTIONS, SHARE, view.LOSS, MECHANISM),
    summary={
        "instructions per event (range)": NumberColumn("instructions", lambda number: instructions.count(number.cost)),
        "untraced": UNTRACED,
        "share added": SHARE,
        "lost": view.LOSS,
        "kprobes made by": NumberColumn("mechanism", lambda number: number.count.mechanism),
        "blocks": view.BLOCKS,
    },
    quantities=(INSTRUCTIONS, SHARE, UNTRACED, view.LOSS, MECHANISM, *view.COUNTS_OF_RUN),
    rows=view.BlockRows(
        view.run_columns(" instructions, an"),
        Markup(
            "A run over its operations is `instructions` divided by `operations`, or by `events` where that is empty.\n"
            "The difference that counts is traced less the mean of the untraced runs of the block, divided by the "
            "events that an operation makes ({events}); the count is the median over the blocks."
        ),
    ),
    said=said,
    cited="Instructions of one event",
    answered="One event takes {} instructions",
    value=lambda number: f"{instructions.count(number.cost)} instructions",
)
