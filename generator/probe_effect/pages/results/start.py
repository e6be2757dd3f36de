"""Start and stop of a tracer: its times, or instructions of them, and what more and more probes make of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Literal

from probe_effect import units
from probe_effect.charts.theme import Chart
from probe_effect.charts.times import Axes, TimePoint, times_chart
from probe_effect.compare.kernels import Matrix, column_of
from probe_effect.model import Estimate, level_order
from probe_effect.numbers import names
from probe_effect.pages import addresses, wording
from probe_effect.pages.results import cells, cost, counts
from probe_effect.pages.results.cells import COUNTED_START, COUNTED_STOP, CPU, START, STOP, NumberColumn, of_levels
from probe_effect.pages.results.view import CaseResults, ResultSection, ResultView
from probe_effect.reduce.submission import Number

Verb = Literal["start", "stop"]

SENTENCES: dict[Verb, str] = {
    "start": "Time from starting the tracer until its probes are live, by how many a script asks for.",
    "stop": "Time from asking the tracer to stop until it has exited, by how many probes a script asks for.",
}
"""The sentence of each of the charts."""

FEW = 2
"""Levels that a growth needs."""

NOTE = "Hodges-Lehmann estimates over the runs, with exact 95 % intervals."
PROBES_NOTE = " “Probes” are those that the tracer says it attached, those of its own among them."
ATTACHED = NumberColumn("probes", lambda one: units.count(one.probes))
CELLS = (*of_levels(cells.LEVEL, cells.PROBES), START, STOP, *of_levels(CPU))


def said(number: Number) -> str:
    """`it takes 80 ms until the probes are live, and 10 ms to stop`; as of a cost where it has no start."""
    if number.attach is None:
        return cost.said(number) if number.is_time else counts.said(number)
    unit = "" if number.is_time else " instructions"
    return f"it takes {wording.start(number)}{unit} until the probes are live, and {wording.stop(number)}{unit} to stop"


def sections(of: CaseResults) -> list[ResultSection]:
    """The sections of a case: start and stop for the first and for each further probe, then the times."""
    grown, factor = ResultSection(sentences=growth(of.measured)), of.suite.factor
    table = of.table((cells.TOOL, *CELLS), NOTE, *([PROBES_NOTE] if factor else []))
    return [grown, table]


def points(measured: Iterable[Number], labels: Mapping[tuple[str, str], str], verb: Verb = "start") -> list[TimePoint]:
    """The starts or stops of some numbers at levels that are numbers of probes; `labels` are by machine and tracer.

    What takes no time at all has no place on a logarithmic axis.
    """
    return [
        _point(one, int(one.level), time, labels[one.submission.machine, one.tracer])
        for one in measured
        if (time := one.attach if verb == "start" else one.detach) is not None
        and min(end for end in time if end is not None) > 0
        and one.level is not None
        and one.level.isdecimal()
        and int(one.level) > 0
    ]


def _point(one: Number, asked: int, time: Estimate, label: str) -> TimePoint:
    attached = units.MISSING if one.probes is None else units.count(one.probes)
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


def growth(measured: Iterable[Number]) -> list[str]:
    """A sentence for each machine and tracer: its start and stop, as times or counts, from fewest probes to most."""
    ordered = sorted(measured, key=lambda one: (one.submission.machine, one.tracer, level_order(one.level)))
    found = []
    for _, group in groupby(ordered, key=lambda one: (one.submission.machine, one.tracer)):
        known = [one for one in group if one.attach is not None and one.level is not None]
        if len(known) >= FEW:
            found.append(_sentence(known))
    return found


def _sentence(known: Sequence[Number]) -> str:
    fewest, most = known[0], known[-1]
    where = f"On {names.machine_name(fewest.submission)}, {names.tool_with_version(fewest)}"
    said = [_growing("start", fewest, most, fewest.attach, most.attach)]
    if fewest.detach and most.detach:
        said.append(_growing("stop", fewest, most, fewest.detach, most.detach))
    return f"{where} takes {'; and '.join(said)}."


def _growing(verb: Verb, fewest: Number, most: Number, first: Estimate | None, last: Estimate | None) -> str:
    """`80 ms to start with 1 probe and 320 ms with 720 probes, 330 us for each more`."""
    assert first is not None
    assert last is not None
    scale, unit = (units.DURATION, "") if fewest.is_time else (units.MANY_INSTRUCTIONS, " instructions")
    few, many = _probes(fewest), _probes(most)
    if few == many:  # one for all that are asked for
        few, many = _asked(fewest), f"{_asked(most)}, attached as {many}"
    from_, to = (units.quantity(one.value, scale) for one in (first, last))
    said = f"{from_}{unit} to {verb} with {few} and {to} with {many}"
    each = _for_each(fewest, most, last.value - first.value)
    return said if each is None else f"{said}, {units.quantity(each, scale, 2)} for each more"


def _probes(one: Number) -> str:
    """How many it says; else how many were asked for."""
    return _asked(one) if one.probes is None else _named(one.probes)


def _asked(one: Number) -> str:
    return _named(int(one.level or 0))


def _named(number: int) -> str:
    return f"{units.count(number)} {'probe' if number == 1 else 'probes'}"


def _for_each(fewest: Number, most: Number, taken: float) -> float | None:
    """The share of `taken` for each further probe; None where their number is unknown, or the share not above 0."""
    if fewest.probes is None or most.probes is None:
        return None
    more = most.probes - fewest.probes
    return taken / more if more > 0 and taken > 0 else None


def growth_counted(found: Matrix) -> list[str]:
    """The sentences on growth of counted instructions, on the newest kernel of an architecture."""
    return growth(one for one in found.all() if column_of(one).kernel == found.kernels[-1])


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
    estimate=attrgetter("attach"),
    range_label="Start, on all machines",
    sections=sections,
    charts=charts,
    counts_template="results/counted-starts.md.j2",
    counts={"growth": growth_counted, "columns": (("To start", COUNTED_START), ("To stop", COUNTED_STOP))},
    has_figures_beside=True,
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
