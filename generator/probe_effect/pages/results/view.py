"""What every type of result gives its pages: columns, sections, sentences, charts and ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from probe_effect import units
from probe_effect.numbers import names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from probe_effect.answer.evidence import Evidence
    from probe_effect.charts.theme import Chart
    from probe_effect.model import Estimate
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.index import Numbers
    from probe_effect.pages.columns import Column
    from probe_effect.reduce.blocks import Block, BlockTable
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case, Factor, Suite

DIGITS = 7
"""Of a run over its operations: enough to come to the same estimate by hand."""


class NumberColumn(NamedTuple):
    """A column of a table that has a row for each number, or a line of the page of a number.

    `id`: of its entry in the dictionary; `label`: another header than that has; `is_linked`: whether its cells lead to
    the line of the number's own page.
    """

    id: str
    text: Callable[[Any], object]
    is_linked: bool = False
    label: str | None = None

    def words(self, number: Number) -> str:
        """What it says of a number; `units.MISSING` where that is not known."""
        said = self.text(number)
        return units.MISSING if said is None else str(said)


class BlockColumn(NamedTuple):
    """A column of the rows behind a number: what it says of each block."""

    id: str
    text: Callable[[Block, BlockTable], object]
    label: str | None = None


TRACER = NumberColumn("tracer", attrgetter("tracer"))
TOOL = NumberColumn("tracer", names.tool_with_version)
LEVEL = NumberColumn("level", attrgetter("level"))
PROBES = NumberColumn("probes", lambda one: "" if one.probes is None else units.count(one.probes))
LOSS = NumberColumn("loss", lambda one: units.percent(one.loss_ratio), is_linked=True)
BLOCKS = NumberColumn("blocks", attrgetter("blocks"))
GRADE = NumberColumn("grade", attrgetter("grade"))


def level_column(factor: Factor | None) -> tuple[NumberColumn, ...]:
    """The levels of a factor, under its title; no column without one."""
    return (LEVEL._replace(label=factor.title),) if factor else ()


def digits(block: Block, values: Iterable[float | None]) -> str:
    """Values of a block, all to the place that its longest run has in `DIGITS` digits."""
    longest = max((*block.untraced, block.traced or 0.0, block.own or 0.0), default=0.0)
    place = units.exponent(longest) - DIGITS + 1 if longest else 0
    return "; ".join(units.at_place(value, place) for value in values if value is not None)


def counted(value: int | None) -> str:
    """A whole number of a block; empty where it is not known."""
    return "" if value is None else units.count(value)


BLOCK = BlockColumn("block", lambda block, _: block.number)
SEEN = BlockColumn("seen", lambda block, _: counted(block.seen))
LINES = BlockColumn("lines", lambda block, _: ", ".join(map(str, block.lines)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A piece of a page: sentences, charts by name, a table, a note in parts, and a list, each where there is any.

    The rows of the table are numbers, or have a `submission` as these have.
    """

    title: str = ""
    sentences: Sequence[str] = ()
    charts: Sequence[str] = ()
    columns: Sequence[NumberColumn] = ()
    rows: Sequence[Any] = ()
    note: Sequence[str] = ()
    items: Sequence[str] = ()

    @property
    def heads(self) -> list[tuple[str, str | None]]:
        """The header of each of its columns: id and label."""
        return [(one.id, one.label) for one in self.columns]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.sentences or self.columns or self.note or self.items)

    def with_charts_of(self, drawn: Collection[str]) -> Section:
        """The same with those of its charts that were drawn."""
        return replace(self, charts=[name for name in self.charts if name in drawn])


@dataclass(frozen=True, slots=True)
class CaseResults:
    """What was measured of a case, for its page; `home`: the machine to be named first."""

    found: Evidence
    suite: Suite
    case: Case
    measured: Sequence[Number]
    home: str | None

    @property
    def machines(self) -> dict[str, str]:
        """Id to name of each machine."""
        return {one.submission.machine: names.machine_name(one.submission.document) for one in self.measured}

    @property
    def labels(self) -> dict[tuple[str, str], str]:
        """Machine and tracer to the name of their line in a chart."""
        is_alone = len(self.machines) == 1
        keys = [(one.submission.machine, one.tracer) for one in self.measured]
        return {(machine, tracer): tracer if is_alone else f"{tracer}, {machine}" for machine, tracer in keys}


@dataclass(frozen=True, slots=True)
class End:
    """One number as it stands in a cell, and whose it is."""

    number: Number
    quantity: str
    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """One number, or the least and the greatest of `count`; without any, `words` say why."""

    ends: tuple[End, ...] = ()
    count: int = 0
    words: str = ""


class ResultView:
    """How pages show one type of result. A type overrides what it shows otherwise."""

    heading: str
    """Of its numbers on the page of a submission."""
    heading_of_machine: str
    """The same on the page of a machine."""
    range_label = "Measured"
    main: NumberColumn
    """The quantity that stands for all where there is room for one."""
    noted: str
    """The column to whose line a note leads."""
    guide: tuple[NumberColumn, ...]
    """What chapters of the guide show."""
    summary: tuple[NumberColumn, ...]
    """What the terminal shows, under labels of its own."""
    quantities: tuple[NumberColumn, ...]
    """The lines of the page of a number, as far as they are known."""
    block_columns: tuple[BlockColumn, ...]
    explained: tuple[Column, ...] = ()
    """Columns that no other pages have."""
    has_untraced = True
    """Whether the workload runs untraced too."""
    has_costs = False
    """Whether its numbers are costs of an event, which runs and pages compare."""
    has_figures_beside = False
    """Whether figures of others that are no costs are shown on the pages of its cases."""
    counts_template: str | None = None
    """What shows its counted instructions on the page of a case."""

    def columns(self, factor: Factor | None) -> tuple[NumberColumn, ...]:
        """Those of a table of a submission, whose rows are its cases."""
        raise NotImplementedError

    def table(
        self,
        numbers: Sequence[Number],
        factor: Factor | None,
        chart: str | None = None,  # noqa: ARG002  only costs are drawn
        *,
        brief: bool = False,  # noqa: ARG002  only that of costs is long
    ) -> Section:
        """The numbers of a submission, with the `chart` of its costs; `brief`: for the page of a machine."""
        return Section(columns=self.columns(factor), rows=numbers)

    def said(self, number: Number) -> str:
        """What a number says, as the end of a sentence."""
        raise NotImplementedError

    def rows_said(self, events: str) -> str:
        """How a number is made of its rows; `events` is how many an operation makes, in words."""
        raise NotImplementedError

    def estimates(self, numbers: Iterable[Number]) -> Iterable[tuple[Number, Estimate | None]]:
        """Those of numbers that a range is made of, each with its main quantity."""
        raise NotImplementedError

    def range_of(self, case: Case, numbers: Numbers) -> Range:
        """What is current of a case; costs that are no difference stand alone or not at all."""
        every = numbers.of_case(case.id)
        known = [one for one in every if one.is_known]
        return self.span(known) if known else Range(words=every[0].status if every else _not_yet(numbers, case))

    def span(self, numbers: Sequence[Number], text: Callable[[float], str] = units.duration) -> Range:
        """The least and the greatest of at least one number; `text` writes them."""
        known = [(one, estimate.value) for one, estimate in self.estimates(numbers) if estimate is not None]
        known.sort(key=lambda end: end[1])
        if not known:
            return Range(words=units.MISSING)
        ends = (End(number, self.main.id, text(value)) for number, value in (known[0], *known[1:][-1:]))
        return Range(tuple(ends), len(known))

    def of_suite(self, suite: Suite, catalogue: Catalogue) -> Section | None:  # noqa: ARG002  only some have one
        """What the page of a suite says was found; None where the pages of its cases say it."""
        return None

    def sections(self, of: CaseResults) -> list[Section]:
        """What was measured of a case on some machines."""
        raise NotImplementedError

    def charts(self, of: CaseResults) -> list[Chart]:  # noqa: ARG002  only some have any
        """Those of a case."""
        return []


def _not_yet(numbers: Numbers, case: Case) -> str:
    """Why nobody ran a case: perhaps no machine could."""
    machines = (runs[0].document.machine for runs in numbers.machines().values())
    if not case.architectures or any(case.is_of(machine.architecture) for machine in machines):
        return "not yet"
    return f"no {' or '.join(map(names.architecture, case.architectures))} machine timed yet"
