"""Start and stop of a tracer: its times, or instructions of them, and what each further probe adds to them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Literal

from probe_effect import units
from probe_effect.compare.kernels import kernel_names, matrices_of_case
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.submission import Number
from probe_effect.site.charts.curves import Axes, TimePoint, times_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, instructions, parts
from probe_effect.site.pages.parts import Heading, Part, Table, column, fold, of_data
from probe_effect.site.pages.results import cost, view
from probe_effect.site.pages.results.view import CaseResults, Growth, NumberColumn, ResultView
from probe_effect.site.pages.text import say
from probe_effect.store.suite_file import Case, Suite

Verb = Literal["start", "stop"]

ATTACHED = NumberColumn("probes", lambda number: units.count(number.event.probes))
LEVEL_AND_PROBES = view.of_levels(view.LEVEL, view.PROBES)
CELLS = (*LEVEL_AND_PROBES, view.START, view.STOP, *view.of_levels(view.CPU))


def _taken(number: Number, verb: Verb) -> Estimate | None:
    return number.event.attach if verb == "start" else number.event.detach


def _each_more(growth: Growth, verb: Verb) -> str | None:
    """What each further probe takes; None where their number is not known, or the share not above 0."""
    (first, last), probes = (_taken(number, verb) for number in growth), [number.event.probes for number in growth]
    if first is None or last is None or probes[0] is None or probes[1] is None:
        return None
    taken, more = last.value - first.value, probes[1] - probes[0]
    return units.duration(taken / more, 2) if taken > 0 and more > 0 else None


SLOPES = (
    NumberColumn("tracer", lambda growth: names.tool_with_version(growth.last)),
    NumberColumn("start", partial(_each_more, verb="start"), label="To start, each more"),
    NumberColumn("stop", partial(_each_more, verb="stop"), label="To stop, each more"),
)


def slopes(measured: Iterable[Number]) -> list[Growth]:
    """The fewest and the most probes of each tracer on each machine that was measured with several numbers of them."""
    return view.growths(number for number in measured if number.event.attach is not None and number.level is not None)


def said(number: Number) -> str:
    """`it takes 80 ms until the probes are live, and 10 ms to stop`; as of a cost where it has no start."""
    if number.event.attach is None:
        return cost.said(number)
    unit = "" if number.is_time else " instructions"
    start, stop = view.START.words(number), view.STOP.words(number)
    return f"it takes {start}{unit} until the probes are live, and {stop}{unit} to stop"


def sections(of: CaseResults) -> list[Part]:
    attached = " “Probes” are those that the tracer says it attached, those of its own among them."
    note = "Hodges-Lehmann estimates over the runs, with exact 95 % intervals."
    table = of.table((view.TOOL, *CELLS), note + attached if of.suite.factor else note)
    return [*table, *fold("What one more adds", *view.of_machines(SLOPES, slopes(of.measured)))]


def counted(suite: Suite, case: Case, catalogue: Catalogue) -> list[Part]:
    each, levels = matrices_of_case(catalogue, suite, case.id), [suite.factor.title] if suite.factor else []
    tables: list[Part] = []
    for matrix in each:
        architecture, kernels = names.architecture(matrix.architecture), kernel_names(matrix.kernels).values()
        heads = [column("tracer"), *(column("level", title) for title in levels), *map(of_data, kernels)]
        tables += [Heading(architecture, 3)] if len(each) > 1 else []
        for words, own in (("To start", view.COUNTED_START), ("To stop", view.COUNTED_STOP)):
            rows: list[list[object]] = []
            for row, tracer in product(matrix.rows, matrix.tracers):
                counts = [own.cell(number) if number else "" for number in matrix.line(row, tracer)]
                if any(counts):
                    rows.append([instructions.short(tracer), *(row.level for _ in levels), *counts])
            where = say(", on {}", architecture) if own is view.COUNTED_START and len(each) == 1 else ""
            tables += [say("{}{}:", words, where), Table(heads, rows)]
    where_counted = say(
        "[Counted in emulated machines](/kernels/), where waiting takes none: what all their CPUs execute until the "
        "probes are live and the kernel has nothing left to do for them, and until the tracer has exited."
    )
    return fold("Instructions to start and stop", where_counted, *tables) if tables else []


def points(measured: Iterable[Number], labels: Mapping[tuple[str, str], str], verb: Verb = "start") -> list[TimePoint]:
    """The starts or stops of some numbers at levels that are numbers of probes; `labels` are by machine and tracer.

    What takes no time at all has no place on a logarithmic axis.
    """
    drawn = []
    for number in measured:
        time, asked = _taken(number, verb), view.level_number(number)
        if time is not None and asked and min(end for end in time if end is not None) > 0:
            label, written = labels[number.submission.machine, number.tracer], units.interval(time, units.DURATION)
            attached = units.MISSING if number.event.probes is None else units.count(number.event.probes)
            drawn.append(TimePoint(label, number.tracer, asked, time, (label, units.count(asked), attached, written)))
    return drawn


def charts(of: CaseResults) -> list[Chart]:
    drawn, case = [], of.case
    sentences: dict[Verb, str] = {
        "start": "Time from starting the tracer until its probes are live, by how many a script asks for.",
        "stop": "Time from asking the tracer to stop until it has exited, by how many probes a script asks for.",
    }
    for verb, what in sentences.items():
        if growing := points(of.measured, of.labels, verb):
            times = parts.from_to([point.time.value for point in growing])
            title = f"{case.title}: {times} to {verb}, by number of probes, on {' and '.join(of.machines.values())}"
            heads = ("Tracer", "Probes asked for", "Probes attached", verb.capitalize())
            asked = "probes that the script asks for"
            axes = Axes(quantity=verb, number=asked, time=f"time to {verb}", columns=heads)
            drawn.append(times_chart(f"{verb}s-{case.id}", title, what, growing, axes, page=addresses.case(case.id)))
    return drawn


VIEW = ResultView(
    heading="Start and stop",
    main=view.START,
    columns=(view.TRACER, *CELLS, view.BLOCKS),
    guide=(view.START, view.STOP),
    summary={
        "time to start (95 %)": view.START,
        "time to stop (95 %)": view.STOP,
        "probes": ATTACHED,
        "CPU time of the tracer": view.CPU,
        "memory": view.MEMORY,
        "grade": view.GRADE,
    },
    quantities=view.with_first((view.START, view.STOP), view.QUANTITIES),
    rows=cost.ROWS,
    said=said,
    cited=cost.VIEW.cited,
    value=cost.value,
    estimate=attrgetter("event.attach"),
    answered="A tracer is live after {}",
    sections=sections,
    charts=charts,
    counted=counted,
)

COUNTED = replace(
    cost.COUNTED,
    heading="Instructions to start and stop",
    main=view.COUNTED_START,
    columns=(view.COUNTED_TRACER, *LEVEL_AND_PROBES, view.COUNTED_START, view.COUNTED_STOP, view.BLOCKS),
    summary={
        "instructions to start (range)": view.COUNTED_START,
        "to stop (range)": view.COUNTED_STOP,
        "probes": ATTACHED,
        "blocks": view.BLOCKS,
    },
    quantities=view.with_first((view.COUNTED_START, view.COUNTED_STOP), cost.COUNTED.quantities),
    said=said,
    cited="Instructions to start and stop",
    value=lambda number: f"start {view.START.words(number)}, stop {view.STOP.words(number)} instructions",
)
