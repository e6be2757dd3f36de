"""Start and stop of a tracer: its times, or instructions of them, and what each further probe adds to them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Literal, NamedTuple

from probe_effect import units
from probe_effect.charts.curves import Axes, TimePoint, times_chart
from probe_effect.charts.theme import Chart
from probe_effect.model import Estimate, level_order
from probe_effect.numbers import names
from probe_effect.numbers.index import grouped_by
from probe_effect.pages import addresses, wording
from probe_effect.pages.results import cells, cost, counts
from probe_effect.pages.results.cells import COUNTED_START, COUNTED_STOP, CPU, START, STOP, NumberColumn, of_levels
from probe_effect.pages.results.view import CaseResults, ResultSection, ResultView
from probe_effect.reduce.submission import Number, Submission

Verb = Literal["start", "stop"]

SENTENCES: dict[Verb, str] = {
    "start": "Time from starting the tracer until its probes are live, by how many a script asks for.",
    "stop": "Time from asking the tracer to stop until it has exited, by how many probes a script asks for.",
}
"""The sentence of each of the charts."""

NOTE = "Hodges-Lehmann estimates over the runs, with exact 95 % intervals."
PROBES_NOTE = " “Probes” are those that the tracer says it attached, those of its own among them."
ATTACHED = NumberColumn("probes", lambda one: units.count(one.event.probes))
CELLS = (*of_levels(cells.LEVEL, cells.PROBES), START, STOP, *of_levels(CPU))


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
    return f"it takes {wording.start(number)}{unit} until the probes are live, and {wording.stop(number)}{unit} to stop"


def sections(of: CaseResults) -> list[ResultSection]:
    """The times of a case, and what each further probe adds to them, folded."""
    rows, factor = slopes(of.measured), of.suite.factor
    more = ResultSection(title="What one more adds", columns=SLOPES if rows else (), rows=rows)
    table = of.table((cells.TOOL, *CELLS), NOTE, *([PROBES_NOTE] if factor else []))
    return [table, more]


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
            times = wording.from_to([one.time.value for one in growing])
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
    columns=(cells.TRACER, *CELLS, cells.BLOCKS),
    guide=(START, STOP),
    summary={
        "time to start (95 %)": START,
        "time to stop (95 %)": STOP,
        "probes": ATTACHED,
        "CPU time of the tracer": CPU,
        "memory": cells.MEMORY,
        "grade": cells.GRADE,
    },
    quantities=cells.with_first((START, STOP), cost.QUANTITIES),
    block_columns=cost.VIEW.block_columns,
    rows_said=cost.ROWS,
    said=said,
    cited=cost.VIEW.cited,
    value=cost.value,
    estimate=attrgetter("event.attach"),
    answered="A tracer is live after {}",
    range_label="Start, on all machines",
    sections=sections,
    charts=charts,
    counts_template="results/counted-starts.md.j2",
    counts={"columns": (("To start", COUNTED_START), ("To stop", COUNTED_STOP))},
)

COUNTED = replace(
    counts.COUNTS,
    heading="Instructions to start and stop",
    main=COUNTED_START,
    noted="start-instructions",
    columns=(cells.COUNTED_TRACER, *of_levels(cells.LEVEL, cells.PROBES), COUNTED_START, COUNTED_STOP, cells.BLOCKS),
    summary={
        "instructions to start (range)": COUNTED_START,
        "to stop (range)": COUNTED_STOP,
        "probes": ATTACHED,
        "blocks": NumberColumn("blocks", lambda one: str(one.blocks)),
    },
    quantities=cells.with_first((COUNTED_START, COUNTED_STOP), counts.COUNTS.quantities),
    said=said,
    cited="Instructions to start and stop",
    value=lambda one: f"start {wording.start(one)}, stop {wording.stop(one)} instructions",
)
