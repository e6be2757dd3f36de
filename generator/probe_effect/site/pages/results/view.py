"""What every type of result gives its pages: columns, tables, sentences, charts and ranges.

A row of a column is a number, or one of the blocks of a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from probe_effect import units
from probe_effect.model import FIRST_RELEASE, Estimate, level_order, series_of
from probe_effect.numbers import names
from probe_effect.numbers.index import Numbers, grouped_by
from probe_effect.numbers.submission import THRESHOLDS, Number, Submission
from probe_effect.site.pages import instructions, links, parts
from probe_effect.site.pages.parts import Group, Link, Part, Pieces, Table, TableColumn, column, fold
from probe_effect.site.pages.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from markupsafe import Markup

    from probe_effect.costs.evidence import Evidence
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.rows import Block, BlockTable
    from probe_effect.site.charts.dots import DotQuantity
    from probe_effect.site.charts.theme import Chart
    from probe_effect.store.suite_file import Case, Factor, Suite


DIGITS = 7  # the digits of a run over its operations: enough to compute the same estimate by hand


class NumberColumn(NamedTuple):
    """A column of a table that has a row for each number, or a line of the page of a number."""

    id: str  # that of its entry in the dictionary
    text: Callable[[Any], object]
    is_linked: bool = False  # whether its cells lead to the line of the number's own page
    label: str | None = None  # another header than the dictionary has
    note: str = ""  # a sentence below its table
    at_levels: bool | None = None  # True for a column of suites with a factor alone, False for one of suites without

    @property
    def head(self) -> TableColumn:
        return column(self.id, self.label)

    def cell(self, number: Any) -> object:  # noqa: ANN401 (a number, or what has the attributes of one)
        text = self.text(number)
        return links.number(number, self.id, text) if self.is_linked else text

    def words(self, number: Number) -> str:
        value = self.text(number)
        return units.MISSING if value is None else str(value)


class BlockColumn(NamedTuple):
    """A column of the rows behind a number: what it says of each block."""

    id: str
    text: Callable[[Block, BlockTable], object]
    label: str | None = None


class BlockRows(NamedTuple):
    """The rows behind a number, and how it is made of them; with `{events}`, how many an operation makes, in words."""

    columns: Sequence[BlockColumn]
    said: Markup


def linked(name: str, text: Callable[[Number], object]) -> NumberColumn:
    return NumberColumn(name, text, is_linked=True)


def of_levels(*columns: NumberColumn) -> list[NumberColumn]:
    return [number_column._replace(at_levels=True) for number_column in columns]


def with_first(first: Sequence[NumberColumn], others: Iterable[NumberColumn]) -> tuple[NumberColumn, ...]:
    """The columns of `first`, then those of `others` that are not among them."""
    return *first, *(number_column for number_column in others if number_column not in first)


def for_factor(columns: Iterable[NumberColumn], factor: Factor | None) -> list[NumberColumn]:
    """The columns that a suite with that factor has, or one without; levels under the title of their factor."""
    shown = [number_column for number_column in columns if number_column.at_levels in {None, factor is not None}]
    return [
        number_column._replace(label=factor.title) if factor and number_column.id == "level" else number_column
        for number_column in shown
    ]


TRACER = NumberColumn("tracer", attrgetter("tracer"))
TOOL = NumberColumn("tracer", names.tool_with_version)
COUNTED_TRACER = NumberColumn("tracer", instructions.tracer)
LEVEL = NumberColumn("level", attrgetter("level"))
LEVELS = LEVEL._replace(at_levels=True)
PROBES = NumberColumn("probes", lambda number: "" if number.event.probes is None else units.count(number.event.probes))
LOSS = linked("loss", lambda number: units.percent(number.event.loss_ratio))
BLOCKS = NumberColumn("blocks", attrgetter("blocks"))
GRADE = NumberColumn("grade", attrgetter("grade"))

COST = linked("cost", parts.cost)
SLOWDOWN = linked("slowdown", parts.slowdown)
FASTEST = linked("fastest", lambda number: units.duration(number.time.fastest_ns))
AT = {percent: linked(f"threshold-{percent}", partial(parts.threshold, percent=percent)) for percent in THRESHOLDS}
AT_5 = AT[5]._replace(note=parts.THRESHOLD_COLUMN, at_levels=False)
"""The one threshold of a table, where no factor makes the rate another at each level."""
RATE_5 = AT[5]._replace(text=lambda number: units.value(number.threshold(5), units.RATE))
"""The same beside the cost with its interval, which has that of the rate too."""
START = linked("start", lambda number: parts.taken(number, number.event.attach))
STOP = linked("stop", lambda number: parts.taken(number, number.event.detach))
CPU = linked("tracer-cpu", parts.tracer_cpu)
MEMORY = linked("tracer-memory", lambda number: units.interval(number.own_use.memory or number.time.memory, units.SIZE))
CALLS = linked("tracer-calls", lambda number: units.count(number.own_use.calls))

QUANTITIES = (
    COST,
    SLOWDOWN,
    FASTEST,
    NumberColumn("baseline", lambda number: units.duration(number.baseline.value if number.baseline else None)),
    NumberColumn("noise-floor", lambda number: units.duration(number.time.noise_floor_ns, 2)),
    NumberColumn("traced-rate", lambda number: units.rate(number.time.rate_hz)),
    LOSS,
    START,
    STOP,
    CPU,
    MEMORY,
    linked("event-bytes", lambda number: number.time.event_bytes and units.size(round(number.time.event_bytes))),
    PROBES,
    BLOCKS,
)
"""The lines of the page of a time, unless its type puts others first."""

COUNTED_START, COUNTED_STOP = START._replace(id="start-instructions"), STOP._replace(id="stop-instructions")
COUNTS_OF_RUN = (COUNTED_START, COUNTED_STOP, PROBES, BLOCKS)  # the lines of a count, whatever its suite measures

BLOCK = BlockColumn("block", lambda block, _: block.number)
SEEN = BlockColumn("seen", lambda block, _: _counted(block.seen))
LINES = BlockColumn("lines", lambda block, _: ", ".join(map(str, block.lines)))


def run_columns(unit: str) -> Sequence[BlockColumn]:
    """Traced and untraced runs of a block and their difference, in `unit`, and events of the run that counted them."""
    difference = f"Difference, {unit.replace(',', '').strip()} event"
    return (
        BLOCK,
        BlockColumn("untraced-operation", lambda block, _: digits(block, *block.untraced), f"Untraced{unit} operation"),
        BlockColumn("traced-operation", lambda block, _: _run(block, block.traced), f"Traced{unit} operation"),
        BlockColumn("difference-event", lambda block, table: digits(block, *table.differences(block)), difference),
        BlockColumn("expected", lambda block, _: _counted(block.expected)),
        SEEN,
        BlockColumn("lost", lambda block, _: _counted(block.lost)),
        LINES,
    )


OWN_COLUMNS = (
    BLOCK,
    BlockColumn("own-operation", lambda block, _: _run(block, block.own), "The tool, ns an operation"),
    SEEN._replace(label="System calls"),
    LINES,
)


def digits(block: Block, *values: float) -> str:
    """Values of a block, all to the place that its longest run has in `DIGITS` digits."""
    longest = max((*block.untraced, block.traced or 0.0, block.own or 0.0), default=0.0)
    power = units.exponent(longest) - DIGITS + 1 if longest else 0
    return "; ".join(units.at_place(value, power) for value in values)


def _run(block: Block, value: float | None) -> str:
    return block.problem or "" if value is None else digits(block, value)


def _counted(value: int | None) -> str:
    return "" if value is None else units.count(value)


MOST_ROWS = 20  # rows of the table of a case, which a reader sees before those of other machines are asked for


def of_cases(columns: Sequence[NumberColumn], numbers: Iterable[Number]) -> list[Part]:
    """A table whose rows are cases, with the level beside the case where no column has it; nothing without numbers."""
    has_levels, rows = any(number_column.id == "level" for number_column in columns), []
    for number in numbers:
        case = links.case(number.case, number.title, None if has_levels else number.level)
        rows.append([case, *(number_column.cell(number) for number_column in columns)])
    heads = [column("case"), *(number_column.head for number_column in columns)]
    return [Table(heads, rows), listed((number_column.note for number_column in columns), "")] if rows else []


def of_machines(
    columns: Sequence[NumberColumn], results: Iterable[Any], note: object = "", *, has_places: bool = False
) -> list[Part]:
    """A table where each machine is named once above its rows, with a note below; nothing without rows.

    What is `results` are numbers, or has a `submission` as these have; each row may have an address of its own.
    """
    first, *others = columns
    rows: list[Sequence[object] | Group] = []
    for machine, own in grouped_by(results, lambda result: result.submission.machine).items():
        rows.append(Group(links.machine(own[0].submission)))
        for row in own:
            text = first.text(row)
            if has_places:
                text = Link(text, "#=" + "-".join(filter(None, (names.short_id(machine), row.tracer, row.level))))
            rows.append([text, *(number_column.cell(row) for number_column in others)])
    heads = [number_column.head for number_column in columns]
    return [Table(heads, rows), listed([note, *(number_column.note for number_column in columns)], "")] if rows else []


def level_number(number: Number) -> int:
    """The level of a number as an integer; 0 where it has none, or words."""
    return int(number.level) if number.level is not None and number.level.isdecimal() else 0


class Growth(NamedTuple):
    """The numbers of a tracer on a machine at the lowest and at the highest level."""

    first: Number
    last: Number

    @property
    def submission(self) -> Submission:
        return self.last.submission


def growths(numbers: Iterable[Number]) -> list[Growth]:
    groups = grouped_by(numbers, lambda number: (number.submission.machine, number.tracer)).values()
    ordered = (sorted(own, key=lambda number: level_order(number.level)) for own in groups)
    return [Growth(own[0], own[-1]) for own in ordered if len(own) > 1]


@dataclass(frozen=True, slots=True)
class CaseResults:
    """The results of a case for its page."""

    found: Evidence
    suite: Suite
    case: Case
    measured: Sequence[Number]

    @property
    def machines(self) -> dict[str, str]:
        return {number.submission.machine: names.machine_name(number.submission) for number in self.measured}

    @property
    def costs(self) -> dict[str, dict[str, Number]]:
        """Each of its machines of which guidance knows the case, to the cost with each tracer."""
        machines = (machine for machine in self.found.machines if machine in self.machines)
        return {machine: costs for machine in machines if (costs := self.found.with_tracers(machine, self.case.id))}

    @property
    def labels(self) -> dict[tuple[str, str], str]:
        machines, keys = self.machines, [(number.submission.machine, number.tracer) for number in self.measured]
        is_alone = len(machines) == 1
        words = {tracer: names.tracer_name(tracer) for _, tracer in keys}
        return {(at, key): words[key] if is_alone else f"{words[key]}, {machines[at]}" for at, key in keys}

    def table(self, columns: Sequence[NumberColumn], note: object = "") -> list[Part]:
        rows = [number for number in self.measured if number.is_known]
        shown_columns = for_factor(columns, self.suite.factor)
        ends = accumulate(len(own) for own in grouped_by(rows, lambda number: number.submission.machine).values())
        end = max((end for end in ends if end <= MOST_ROWS), default=MOST_ROWS)
        shown, others = (of_machines(shown_columns, some, note, has_places=True) for some in (rows[:end], rows[end:]))
        return [*shown, *fold("On other machines", *others)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """How pages and the terminal show one type of result."""

    heading: str  # the heading of its numbers on the page of a submission
    heading_of_machine: str = ""  # the heading on the page of a machine, where that is another
    main: NumberColumn
    """The quantity that stands for all where there is room for one, and to whose line a note on a number leads."""
    columns: Sequence[NumberColumn]  # the columns of a submission's table, whose rows are its cases
    brief: Sequence[NumberColumn] = ()  # the columns on the page of a machine, where that has fewer
    guide: Sequence[NumberColumn] = ()  # the columns that chapters of the guide show
    summary: Mapping[str, NumberColumn]  # the columns that the terminal shows, by their headers
    quantities: Sequence[NumberColumn]  # the lines of the page of a number, as far as they are known
    rows: BlockRows  # the rows behind a number
    said: Callable[[Number], str]  # the end of a sentence that says a number
    cited: str  # the words for what was measured, in the title of a citation
    value: Callable[[Number], str]  # the value of a number, as its citation has it
    answered: str  # the sentence that the page of a case begins with, `{}` for the range over all machines
    estimate: Callable[[Number], Estimate | None] = lambda _: None
    """The quantity of a number that a range shows; None for a number that is left out."""
    most: Callable[[Number], float | None] = lambda _: None  # what that quantity is at most, where it is no difference
    scale: units.Scale = units.DURATION  # the units of that quantity; a share below 0 is a result too, and not noise
    sections: Callable[[CaseResults], list[Part]] = lambda _: []
    """Its parts of the page of a case; what is folded comes after all answers."""
    drawn: DotQuantity | None = None
    """How a chart of machines by tracers shows that quantity, in the first of its units; None where it has none."""
    charts: Callable[[CaseResults], list[Chart]] = lambda _: []  # the charts of a few machines on the page of a case
    of_suite: Callable[[Suite, Catalogue], list[Part]] = lambda _suite, _catalogue: []
    """Its parts of the page of a suite; none where the pages of its cases have the results."""
    counted: Callable[[Suite, Case, Catalogue], Iterable[Part]] = lambda _suite, _case, _catalogue: ()
    """The counted instructions of a case on its page."""

    @property
    def has_untraced(self) -> bool:
        return any(block_column.id == "untraced-operation" for block_column in self.rows.columns)

    @property
    def has_costs(self) -> bool:
        """Whether its numbers are costs of an event, or slowdowns by them, which runs and pages compare."""
        return any(number_column.id == COST.id for number_column in self.columns)

    def table(self, numbers: Sequence[Number], factor: Factor | None, *, brief: bool = False) -> list[Part]:
        return of_cases(for_factor((brief and self.brief) or self.columns, factor), numbers)

    @property
    def range_head(self) -> TableColumn:
        """The header above ranges, which names what is no cost."""
        return column("range-measured", None if self.main is COST else f"{self.main.head.label}, on all machines")

    def range_of(self, case: Case, numbers: Numbers) -> Pieces | str:
        """The least and the greatest of the current numbers of a case, and how many they are; in words why it has none.

        Costs that are no difference are shown only where there is no other: the one that may be the most.
        """
        every = numbers.of_case(case.id)
        measured = [number for number in every if number.is_known]
        if not measured:
            return _why_none(numbers, case) or (every[0].status if every else "not yet")
        values = [(number, estimate.value) for number in measured if (estimate := self.estimate(number)) is not None]
        if self.main is COST and (len(measured) == 1 or not values):
            return Pieces([COST.cell(max(measured, key=lambda number: self.most(number) or 0.0))])
        if not values:
            return units.MISSING
        values.sort(key=itemgetter(1))
        least, *more = (
            links.number(number, self.main.id, units.quantity(value, self.scale)) for number, value in values
        )
        return Pieces([least, *([" to ", more[-1], f" ({len(values)})"] if more else [])])


def _why_none(numbers: Numbers, case: Case) -> str | None:
    """Why no machine could run a case, where that is so."""
    runs = [run for runs in numbers.machines().values() for run in runs if case.is_of(run.architecture)]
    if case.architectures and not runs:
        return f"no {' or '.join(map(names.architecture, case.architectures))} machine timed yet"
    first = max((FIRST_RELEASE[need] for need in case.needs if need in FIRST_RELEASE), default=(0, 0))
    if runs and all(series_of(run.document.system.kernel_release) < first for run in runs):
        return f"no Linux {first[0]}.{first[1]} timed yet"
    return None
