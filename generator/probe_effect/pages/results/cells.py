"""Columns of tables whose rows are numbers, and of those whose rows are their blocks: what each says, in words."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.pages import instructions, wording
from probe_effect.reduce.rows import Block, BlockTable
from probe_effect.reduce.submission import THRESHOLDS, Number
from probe_effect.store.suite_file import Factor

DIGITS = 7
"""The digits of a run over its operations: enough to compute the same estimate by hand."""


class NumberColumn(NamedTuple):
    """A column of a table that has a row for each number, or a line of the page of a number.

    Attributes:
        id: that of its entry in the dictionary.
        is_linked: whether its cells lead to the line of the number's own page.
        label: another header than the dictionary has.
        note: a sentence below its table.
        at_levels: True for a column of suites with a factor alone, False for one of suites without.
    """

    id: str
    text: Callable[[Any], object]
    is_linked: bool = False
    label: str | None = None
    note: str = ""
    at_levels: bool | None = None

    def words(self, number: Number) -> str:
        """The text of its cell for a number; `units.MISSING` where that is not known."""
        said = self.text(number)
        return units.MISSING if said is None else str(said)


class BlockColumn(NamedTuple):
    """A column of the rows behind a number: what it says of each block."""

    id: str
    text: Callable[[Block, BlockTable], object]
    label: str | None = None


def linked(name: str, text: Callable[[Number], object]) -> NumberColumn:
    """A column whose cells lead to the page of their number."""
    return NumberColumn(name, text, is_linked=True)


def of_levels(*columns: NumberColumn) -> list[NumberColumn]:
    """Copies of some columns for suites with a factor alone."""
    return [one._replace(at_levels=True) for one in columns]


def with_first(first: Sequence[NumberColumn], others: Iterable[NumberColumn]) -> tuple[NumberColumn, ...]:
    """The columns of `first`, then those of `others` that are not among them."""
    return *first, *(one for one in others if one not in first)


def for_factor(columns: Iterable[NumberColumn], factor: Factor | None) -> list[NumberColumn]:
    """The columns that a suite with that factor has, or one without; levels under the title of their factor."""
    shown = [one for one in columns if one.at_levels in {None, factor is not None}]
    return [one._replace(label=factor.title) if factor and one.id == "level" else one for one in shown]


TRACER = NumberColumn("tracer", attrgetter("tracer"))
TOOL = NumberColumn("tracer", names.tool_with_version)
COUNTED_TRACER = NumberColumn("tracer", instructions.tracer)
LEVEL = NumberColumn("level", attrgetter("level"))
LEVELS = LEVEL._replace(at_levels=True)
PROBES = NumberColumn("probes", lambda one: "" if one.event.probes is None else units.count(one.event.probes))
LOSS = linked("loss", lambda one: units.percent(one.event.loss_ratio))
BLOCKS = NumberColumn("blocks", attrgetter("blocks"))
GRADE = NumberColumn("grade", attrgetter("grade"))

COST = linked("cost", wording.cost)
SLOWDOWN = linked("slowdown", wording.slowdown)
FASTEST = linked("fastest", lambda one: units.duration(one.time.fastest_ns))
AT = {percent: linked(f"threshold-{percent}", partial(wording.threshold, percent=percent)) for percent in THRESHOLDS}
AT_5 = AT[5]._replace(note=wording.THRESHOLD_COLUMN, at_levels=False)
"""The one threshold of a table, where no factor makes the rate another at each level."""
RATE_5 = AT[5]._replace(text=lambda one: units.value(one.threshold(5), units.RATE))
"""The same beside the cost with its interval, which has that of the rate too."""
BASELINE = NumberColumn("baseline", lambda one: units.duration(one.baseline.value if one.baseline else None))
NOISE_FLOOR = NumberColumn("noise-floor", lambda one: units.duration(one.time.noise_floor_ns, 2))
TRACED_RATE = NumberColumn("traced-rate", lambda one: units.rate(one.time.rate_hz))
UNTRACED_RATE = NumberColumn("untraced-rate", lambda one: units.rate(units.NS_PER_SECOND / one.baseline.value))
START, STOP = linked("start", wording.start), linked("stop", wording.stop)
CPU = linked("tracer-cpu", wording.tracer_cpu)
MEMORY = linked("tracer-memory", lambda one: units.interval(one.own_use.memory or one.time.memory, units.SIZE))
WRITTEN = linked("event-bytes", lambda one: one.time.event_bytes and units.size(round(one.time.event_bytes)))
CALLS = linked("tracer-calls", lambda one: units.count(one.own_use.calls))

OF_RUN = (START, STOP, CPU, MEMORY, WRITTEN, PROBES, BLOCKS)
"""The columns of a timed run, whatever its suite measures."""

INSTRUCTIONS = linked("instructions", instructions.added)
SHARE = NumberColumn("untraced-share", instructions.share)
MECHANISM = NumberColumn("mechanism", lambda one: one.count.mechanism or "")
COUNTED_BASELINE = NumberColumn("baseline", lambda one: instructions.count(one.baseline))
COUNTED_START = linked("start-instructions", wording.start)
COUNTED_STOP = linked("stop-instructions", wording.stop)

BLOCK = BlockColumn("block", lambda block, _: block.number)
SEEN = BlockColumn("seen", lambda block, _: _counted(block.seen))
LINES = BlockColumn("lines", lambda block, _: ", ".join(map(str, block.lines)))


def run_columns(unit: str) -> Sequence[BlockColumn]:
    """Traced and untraced runs of a block and their difference, in `unit`, and events of the run that counted them."""
    return (
        BLOCK,
        BlockColumn("untraced-operation", lambda block, _: digits(block, *block.untraced), f"Untraced{unit} operation"),
        BlockColumn("traced-operation", lambda block, _: _run(block, block.traced), f"Traced{unit} operation"),
        BlockColumn(
            "difference-event",
            lambda block, table: digits(block, *table.differences(block)),
            f"Difference, {unit.replace(',', '').strip()} event",
        ),
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
    place = units.exponent(longest) - DIGITS + 1 if longest else 0
    return "; ".join(units.at_place(value, place) for value in values)


def _run(block: Block, value: float | None) -> str:
    return block.problem or "" if value is None else digits(block, value)


def _counted(value: int | None) -> str:
    return "" if value is None else units.count(value)
