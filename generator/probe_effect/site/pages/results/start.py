"""Start and stop of a tracer: its times, or instructions of them, and what each further probe adds to them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from operator import attrgetter
from typing import Literal, NamedTuple

from probe_effect import units
from probe_effect.compare.kernels import kernel_names, matrices_of_case
from probe_effect.model import Estimate, level_order
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.charts.curves import Axes, TimePoint, times_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, instructions, parts
from probe_effect.site.pages.parts import Heading, Part, Table, column, fold, of_data
from probe_effect.site.pages.results import cost, counts, view
from probe_effect.site.pages.results.view import (
    COUNTED_START,
    COUNTED_STOP,
    CPU,
    START,
    STOP,
    CaseResults,
    NumberColumn,
    ResultSection,
    ResultView,
    of_levels,
)
from probe_effect.site.pages.text import say
from probe_effect.store.suite_file import Case, Suite

Verb = Literal["start", "stop"]

SENTENCES: dict[Verb, str] = {
    "start": "Time from starting the tracer until its probes are live, by how many a script asks for.",
    "stop": "Time from asking the tracer to stop until it has exited, by how many probes a script asks for.",
}
"""The sentence of each of the charts."""

ATTACHED = NumberColumn("probes", lambda one: units.count(one.event.probes))
CELLS = (*of_levels(view.LEVEL, view.PROBES), START, STOP, *of_levels(CPU))


class Slope(NamedTuple):
    """The starts and stops of a tracer on a machine with the fewest probes and with the most."""

    fewest: Number
    most: Number

    @property
    def submission(self) -> Submission:
        """Where the most were measured."""
        return self.most.submission

    def each(self, taken_for: Literal["attach", "detach"]) -> str | None:
        """What each further probe takes; None where their number is not known, or the share not above 0."""
        fewest, most = self.fewest.event, self.most.event
        first, last = getattr(fewest, taken_for), getattr(most, taken_for)
        if first is None or last is None or fewest.probes is None or most.probes is None:
            return None
        taken, more = last.value - first.value, most.probes - fewest.probes
        return units.duration(taken / more, 2) if taken > 0 and more > 0 else None


SLOPES = (
    NumberColumn("tracer", lambda one: names.tool_with_version(one.most)),
    NumberColumn("start", lambda one: one.each("attach"), label="To start, each more"),
    NumberColumn("stop", lambda one: one.each("detach"), label="To stop, each more"),
)


def slopes(measured: Iterable[Number]) -> list[Slope]:
    """The slope of each tracer on each machine that was measured with several numbers of probes."""
    known = [one for one in measured if one.event.attach is not None and one.level is not None]
    known.sort(key=lambda one: level_order(one.level))
    groups = grouped_by(known, lambda one: (one.submission.machine, one.tracer))
    return [Slope(own[0], own[-1]) for own in groups.values() if len(own) > 1]


def said(number: Number) -> str:
    """`it takes 80 ms until the probes are live, and 10 ms to stop`; as of a cost where it has no start."""
    if number.event.attach is None:
        return cost.said(number) if number.is_time else counts.said(number)
    unit = "" if number.is_time else " instructions"
    return f"it takes {parts.start(number)}{unit} until the probes are live, and {parts.stop(number)}{unit} to stop"


def sections(of: CaseResults) -> list[Part]:
    """The times of a case, and what each further probe adds to them, folded."""
    attached = " “Probes” are those that the tracer says it attached, those of its own among them."
    note = "Hodges-Lehmann estimates over the runs, with exact 95 % intervals."
    table = of.table((view.TOOL, *CELLS), note + attached if of.suite.factor else note)
    more = ResultSection(SLOPES, slopes(of.measured)).of_machines()
    return [*table, *fold("What one more adds", *more)]


def counted(suite: Suite, case: Case, catalogue: Catalogue) -> list[Part]:
    """The counted instructions of a case kernel by kernel, folded."""
    each, levels = matrices_of_case(catalogue, suite, case.id), [suite.factor.title] if suite.factor else []
    parts: list[Part] = []
    for found in each:
        place = names.architecture(found.architecture)
        heads = [column("tracer"), *(column("level", title) for title in levels)]
        heads += map(of_data, kernel_names(found.kernels).values())
        parts += [Heading(place, 3)] if len(each) > 1 else []
        for words, own in (("To start", COUNTED_START), ("To stop", COUNTED_STOP)):
            rows: list[list[object]] = []
            for row, tracer in product(found.rows, found.tracers):
                counts = [own.cell(one) if one else "" for one in found.line(row, tracer)]
                if any(counts):
                    rows.append([instructions.short(tracer), *(row.level for _ in levels), *counts])
            where = say(", on {}", place) if own is COUNTED_START and len(each) == 1 else ""
            parts += [say("{}{}:", words, where), Table(heads, rows)]
    where_counted = say(
        "[Counted in emulated machines](/kernels/), where waiting takes none: what all their CPUs execute until the "
        "probes are live and the kernel has nothing left to do for them, and until the tracer has exited."
    )
    return fold("Instructions to start and stop", where_counted, *parts) if parts else []


def points(measured: Iterable[Number], labels: Mapping[tuple[str, str], str], verb: Verb = "start") -> list[TimePoint]:
    """The starts or stops of some numbers at levels that are numbers of probes; `labels` are by machine and tracer.

    What takes no time at all has no place on a logarithmic axis.
    """
    return [
        _point(one, int(one.level), time, labels[one.submission.machine, one.tracer])
        for one in measured
        if (time := one.event.attach if verb == "start" else one.event.detach) is not None
        and min(end for end in time if end is not None) > 0
        and one.level is not None
        and one.level.isdecimal()
        and int(one.level) > 0
    ]


def _point(one: Number, asked: int, time: Estimate, label: str) -> TimePoint:
    attached = units.MISSING if one.event.probes is None else units.count(one.event.probes)
    return TimePoint(
        label, one.tracer, asked, time, (label, units.count(asked), attached, units.interval(time, units.DURATION))
    )


def charts(of: CaseResults) -> list[Chart]:
    """Start and stop by the number of probes, where they were measured at levels."""
    found, case = [], of.case
    for verb, what in SENTENCES.items():
        if growing := points(of.measured, of.labels, verb):
            times = parts.from_to([one.time.value for one in growing])
            title = f"{case.title}: {times} to {verb}, by number of probes, on {' and '.join(of.machines.values())}"
            axes = Axes(
                quantity=verb,
                number="probes that the script asks for",
                time=f"time to {verb}",
                columns=("Tracer", "Probes asked for", "Probes attached", verb.capitalize()),
            )
            found.append(times_chart(f"{verb}s-{case.id}", title, what, growing, axes, page=addresses.case(case.id)))
    return found


VIEW = ResultView(
    heading="Start and stop",
    main=START,
    columns=(view.TRACER, *CELLS, view.BLOCKS),
    guide=(START, STOP),
    summary={
        "time to start (95 %)": START,
        "time to stop (95 %)": STOP,
        "probes": ATTACHED,
        "CPU time of the tracer": CPU,
        "memory": view.MEMORY,
        "grade": view.GRADE,
    },
    quantities=view.with_first((START, STOP), cost.QUANTITIES),
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
    counts.COUNTS,
    heading="Instructions to start and stop",
    main=COUNTED_START,
    columns=(view.COUNTED_TRACER, *of_levels(view.LEVEL, view.PROBES), COUNTED_START, COUNTED_STOP, view.BLOCKS),
    summary={
        "instructions to start (range)": COUNTED_START,
        "to stop (range)": COUNTED_STOP,
        "probes": ATTACHED,
        "blocks": NumberColumn("blocks", lambda one: str(one.blocks)),
    },
    quantities=view.with_first((COUNTED_START, COUNTED_STOP), counts.COUNTS.quantities),
    said=said,
    cited="Instructions to start and stop",
    value=lambda one: f"start {parts.start(one)}, stop {parts.stop(one)} instructions",
)
