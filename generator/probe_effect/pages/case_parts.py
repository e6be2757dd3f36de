"""What suites with a factor say of a case, and how long its single operations take."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.charts.curves import Curve, tail_chart
from probe_effect.charts.slowdown import MeasuredSlowdown
from probe_effect.charts.theme import Chart, TextForm
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import Contention, RatePoint, contention, line
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import shown
from probe_effect.pages import addresses
from probe_effect.pages.results.cells import NumberColumn
from probe_effect.reduce.rows import Tail
from probe_effect.reduce.submission import Number, Submission
from probe_effect.stats.counted import at_least
from probe_effect.store.suite_file import Case


@dataclass(frozen=True, slots=True)
class Tested:
    """The cost of a case with a tracer on a machine, and what was measured of it at other rates and by more threads."""

    cost: Number
    points: tuple[RatePoint, ...]
    factors: tuple[Contention, ...]

    @property
    def words(self) -> str:
        """At which rates the line holds."""
        return sentences.line_words(self.points)


def tested(found: Evidence, case_id: str, machines: Collection[str]) -> list[Tested]:
    """Every cost of a case on some machines of which a suite with a factor measured more."""
    every = (
        Tested(cost, tuple(line(found, machine, tracer, case_id)), tuple(contention(found, machine, tracer, case_id)))
        for machine in found.machines
        if machine in machines
        for tracer, cost in found.with_tracers(machine, case_id).items()
    )
    return [one for one in every if one.points or one.factors]


def dots(found: list[Tested], labels: dict[tuple[str, str], str]) -> list[MeasuredSlowdown]:
    """The slowdowns measured at other rates, for the chart; `labels`: machine and tracer to the name of their line."""
    keys = [(one, (one.cost.submission.machine, one.cost.tracer)) for one in found]
    return [
        MeasuredSlowdown(labels[key], point.rate_hz, point.measured)
        for one, key in keys
        if key in labels
        for point in one.points
        if point.measured.value > 0  # the axis is logarithmic
    ]


UNTRACED = "untraced"


class TailRow(NamedTuple):
    """One row: the tracer's number, None for the untraced runs of its submission, and how long operations took."""

    submission: Submission
    number: Number | None
    tail: Tail

    @property
    def name(self) -> str:
        """The name of the line beside others of its submission."""
        return self.number.tracer if self.number else UNTRACED

    @property
    def label(self) -> str:
        """The tracer with its version, or the word for untraced runs."""
        return names.tool_with_version(self.number) if self.number else UNTRACED

    def cells(self) -> list[str]:
        """The percentiles with their intervals, and the longest time, as text."""
        found = [units.interval(one, units.DURATION) for one in self.tail.percentiles_ns]
        return [*found, units.duration(self.tail.longest_ns)]


COLUMNS = (
    NumberColumn("tracer", attrgetter("label")),
    NumberColumn("p50", lambda line: line.cells()[0]),
    NumberColumn("p99", lambda line: line.cells()[2]),
    NumberColumn("p99-9", lambda line: line.cells()[3]),
    NumberColumn("longest", lambda line: line.cells()[4]),
)
"""The columns of a table of these rows, which has room for some of their cells."""


def lines(measured: Sequence[Number]) -> list[TailRow]:
    """The rows of each submission that timed single operations: the untraced one, then one for each of the numbers."""
    found = []
    for submission in dict.fromkeys(one.submission for one in measured):
        own = [one for one in measured if one.submission is submission and one.key in submission.tails]
        levels = {one.level for one in own}
        found += [
            TailRow(submission, None, tail)
            for key, tail in submission.tails.items()
            if key.is_baseline and key.level in levels
        ]
        found += [TailRow(submission, one, submission.tails[one.key]) for one in own]
    return found


def charts(catalogue: Catalogue, case: Case) -> list[Chart]:
    """The share of operations that take as long or longer, on one machine; none where they were not timed."""
    timed = [one for one in catalogue.numbers.of_case(case.id) if one.key in one.submission.tails]
    chosen, _ = shown(timed, catalogue.numbers, 1)
    found = lines(chosen)
    if not found:
        return []
    curves = [
        Curve(line.name, at_least(line.tail.buckets), line.number.tracer if line.number else None) for line in found
    ]
    rows = zip(HEAD, *(line.cells() for line in found), strict=True)
    table = TextForm(("", *(line.name for line in found)), tuple(rows))
    where = names.machine_name(found[0].submission)
    sentence = "Share of operations that take as long or longer: one in a thousand is 0.1 %."
    title = f"{case.title}: how long single operations take on {where}"
    return [tail_chart(f"tail-{case.id}", title, sentence, curves, table=table, page=addresses.case(case.id))]


HEAD = ("half take no longer than", "90 %", "99 %", "99.9 %", "the longest")
"""The meaning of each cell of a line."""
