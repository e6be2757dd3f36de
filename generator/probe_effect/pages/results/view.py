"""What every type of result gives its pages: columns, sections, sentences, charts and ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from probe_effect import units
from probe_effect.charts.dots import DotQuantity
from probe_effect.charts.theme import Chart
from probe_effect.model import FIRST_RELEASE, Estimate, series_of
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import Numbers, grouped_by
from probe_effect.pages.results.cells import BlockColumn, NumberColumn, for_factor
from probe_effect.pages.wording import TableColumn
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.suite_file import Case, Factor, Suite

if TYPE_CHECKING:  # pages of numbers are kept, and need no code of answers
    from probe_effect.costs.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSection:
    """A piece of a page: sentences, charts by name, a table, a list, and a note in parts, each where there is any.

    The rows of the table are numbers, or have a `submission` as these have. On the page of a case a section with a
    title is folded until a reader asks for it.
    """

    title: str = ""
    sentences: Sequence[str] = ()
    charts: Sequence[str] = ()
    columns: Sequence[NumberColumn] = ()
    rows: Sequence[Any] = ()
    items: Sequence[str] = ()
    note: Sequence[str] = ()

    @property
    def heads(self) -> list[tuple[str, str | None]]:
        """The header of each of its columns: id and label."""
        return [(one.id, one.label) for one in self.columns]

    @property
    def notes(self) -> list[str]:
        """The note of the section, then those of its columns, each in parts."""
        return [*self.note, *(one.note for one in self.columns)]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.sentences or self.columns or self.note or self.items)

    @property
    def by_machine(self) -> list[tuple[Submission, list[Any]]]:
        """The rows of each machine, with a submission that names it."""
        groups = grouped_by(self.rows, lambda one: one.submission.machine).values()
        return [(own[0].submission, own) for own in groups]

    def parted(self, most_rows: int, title: str) -> tuple[ResultSection, ResultSection]:
        """The section with the machines that have at most so many rows together, and one of the rest, with a title."""
        ends = list(accumulate(len(own) for _, own in self.by_machine))
        end = max((end for end in ends if end <= most_rows), default=most_rows)
        rest = replace(self, title=title, sentences=(), rows=self.rows[end:])
        return replace(self, rows=self.rows[:end]), rest if rest.rows else ResultSection()


@dataclass(frozen=True, slots=True)
class CaseResults:
    """The results of a case for its page."""

    found: Evidence
    suite: Suite
    case: Case
    measured: Sequence[Number]

    @property
    def machines(self) -> dict[str, str]:
        """Id to name of each machine."""
        return {one.submission.machine: names.machine_name(one.submission) for one in self.measured}

    @property
    def labels(self) -> dict[tuple[str, str], str]:
        """Machine and tracer to the name of their line in a chart."""
        machines, keys = self.machines, [(one.submission.machine, one.tracer) for one in self.measured]
        is_alone = len(machines) == 1
        return {(machine, tracer): tracer if is_alone else f"{tracer}, {machines[machine]}" for machine, tracer in keys}

    def table(self, columns: Sequence[NumberColumn], *note: str) -> ResultSection:
        """The section of a table of all known numbers, with the columns that the suite has; empty without any."""
        rows = [one for one in self.measured if one.is_known]
        shown = for_factor(columns, self.suite.factor)
        return ResultSection(columns=shown, rows=rows, note=note) if rows else ResultSection()


@dataclass(frozen=True, slots=True)
class End:
    """One number with the text that a cell has of it."""

    number: Number
    quantity: str
    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """One number, or the least and the greatest of `count`; without any, `words` say why."""

    ends: tuple[End, ...] = ()
    count: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """How pages and the terminal show one type of result."""

    heading: str
    """The heading of its numbers on the page of a submission."""
    heading_of_machine: str = ""
    """The heading on the page of a machine, where that is another."""
    main: NumberColumn
    """The quantity that stands for all where there is room for one."""
    noted: str = "cost"
    """The column to whose line on the page of a number a note leads."""
    columns: Sequence[NumberColumn]
    """The columns of a submission's table, whose rows are its cases."""
    brief: Sequence[NumberColumn] = ()
    """The columns on the page of a machine, where that has fewer."""
    guide: Sequence[NumberColumn] = ()
    """The columns that chapters of the guide show."""
    summary: Mapping[str, NumberColumn]
    """The columns that the terminal shows, by their headers."""
    quantities: Sequence[NumberColumn]
    """The lines of the page of a number, as far as they are known."""
    block_columns: Sequence[BlockColumn]
    """The columns of the rows behind a number."""
    rows_said: Markup
    """How a number is made of its rows; with `{events}`, how many an operation makes, in words."""
    said: Callable[[Number], str]
    """The end of a sentence that says a number."""
    cited: str
    """The words for what was measured, in the title of a citation."""
    value: Callable[[Number], str]
    """The value of a number, as its citation has it."""
    answered: str
    """The sentence that the page of a case begins with, `{}` for the range over all machines."""
    estimate: Callable[[Number], Estimate | None] = lambda _: None
    """The quantity of a number that a range shows; None for a number that is left out."""
    most: Callable[[Number], float | None] = lambda _: None
    """What that quantity is at most, where it is no difference."""
    scale: units.Scale = units.DURATION
    """The units of that quantity."""
    range_label: str = "On all machines"
    alone: Callable[[Number], str] | None = None
    """The text of a cell in place of a range, for one number, or for several that are no difference."""
    sections: Callable[[CaseResults], list[ResultSection]] = lambda _: []
    """The sections of the page of a case."""
    drawn: DotQuantity | None = None
    """How a chart of machines by tracers shows that quantity, in the first of its units; None where it has none."""
    charts: Callable[[CaseResults], list[Chart]] = lambda _: []
    """The charts of a few machines on the page of a case."""
    of_suite: Callable[[Suite, Catalogue], ResultSection | None] = lambda _suite, _catalogue: None
    """The section of the page of a suite; None where the pages of its cases have the results."""
    counts_template: str | None = None
    """The template of its counted instructions on the page of a case, which reads `counts`."""
    counts: Mapping[str, object] = field(default_factory=dict)
    explained: Sequence[TableColumn] = ()
    """Columns that no other pages have."""
    is_signed: bool = False
    """Whether a quantity below 0 is a result too, and not noise."""
    has_untraced: bool = True
    """Whether the workload runs untraced too."""
    has_costs: bool = False
    """Whether its numbers are costs of an event, which runs and pages compare."""
    has_chart: bool = False
    """Whether the table of a submission has a chart above it."""

    def table(
        self, numbers: Sequence[Number], factor: Factor | None, chart: str | None = None, *, brief: bool = False
    ) -> ResultSection:
        """The numbers of a submission, with the `chart` of its costs; `brief`: for the page of a machine."""
        columns = for_factor((brief and self.brief) or self.columns, factor)
        return ResultSection(charts=[chart] if chart and self.has_chart else [], columns=columns, rows=numbers)

    def range_of(self, case: Case, numbers: Numbers) -> Range:
        """The range of the current numbers of a case; a cost that is no difference is shown alone or not at all."""
        every = numbers.of_case(case.id)
        known = [one for one in every if one.is_known]
        if not known:
            return Range(words=_why_none(numbers, case, every[0].status if every else "not yet"))
        ends = [(one, estimate.value) for one in known if (estimate := self.estimate(one)) is not None]
        if self.alone and (len(known) == 1 or not ends):
            return Range((End(known[0], self.main.id, self.alone(known[0])),), 1)
        ends.sort(key=lambda end: end[1])
        shown = (
            End(one, self.main.id, units.quantity(value, self.scale)) for one, value in (*ends[:1], *ends[1:][-1:])
        )
        return Range(tuple(shown), len(ends), "" if ends else units.MISSING)


def _why_none(numbers: Numbers, case: Case, otherwise: str) -> str:
    """Why a case has no number: perhaps no machine could run it."""
    runs = [run for runs in numbers.machines().values() for run in runs if case.is_of(run.architecture)]
    if case.architectures and not runs:
        return f"no {' or '.join(map(names.architecture, case.architectures))} machine timed yet"
    first = max((FIRST_RELEASE[need] for need in case.needs if need in FIRST_RELEASE), default=(0, 0))
    if runs and all(series_of(run.document.system.kernel_release) < first for run in runs):
        return f"no Linux {first[0]}.{first[1]} timed yet"
    return otherwise
