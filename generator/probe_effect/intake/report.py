"""What a review says, as values alone, and its problems grouped by the fault that somebody has to mend.

The report that a comment is made from comes from a stranger's branch and may hold anything, so these models hold it to
short lines of plain text and to numbers that can be written. Problems of one rule in one file are one group.

Annotations on GitHub: the runner's source (actions/runner, ActionCommand), and
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from probe_effect import units
from probe_effect.model import Problem
from probe_effect.numbers.index import grouped_by
from probe_effect.site.pages.instructions import listed
from probe_effect.store.documents import Document, Text

T = TypeVar("T")
D = TypeVar("D", bound=Document)
MAX_REPORT_BYTES = 256 * 1024  # the largest that is written, and read for a comment
MAX_LINE = 400
MAX_FEW = 20
STEPS = (1000, 300, 100, 30, 10, 3, 1, 0)  # how many rows of each table are kept, until the whole fits
LEAST, GREATEST = 1e-9, 1e18


def is_writable(value: float) -> bool:
    """Whether a quantity is 0 or of a size that a measurement can have, from `LEAST` to `GREATEST`."""
    return value == 0 or LEAST <= abs(value) <= GREATEST


def _writable(value: float) -> float:
    if not is_writable(value):
        raise ValueError(f"expected 0, or a number from {LEAST:g} to {GREATEST:g}, of either sign")
    return value


ReportLine = Annotated[Text, StringConstraints(max_length=MAX_LINE)]
Few = Annotated[tuple[ReportLine, ...], Field(max_length=MAX_FEW)]
FiniteNumber = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_writable)]
ReportCount = Annotated[int, Field(ge=0, le=10**9)]


class Listed(Document, Generic[T]):
    """Rows of a table, and how many more there are that are not here."""

    rows: tuple[T, ...] = ()
    more: ReportCount = 0

    @property
    def count(self) -> int:
        return len(self.rows) + self.more


class ProblemRow(Document):
    """A problem that the change brings, with those of the same rule in the same file."""

    severity: Literal["error", "warning"]
    file: ReportLine
    line: ReportCount | None
    column: ReportCount | None
    rule: ReportLine
    message: ReportLine
    hint: ReportLine
    times: ReportCount = 1


class CaseKey(Document):
    """Which case, tracer and level a row is of."""

    case: ReportLine
    tracer: ReportLine
    level: ReportLine | None


class CaseRow(CaseKey):
    """A new number: ns per event with its 95 % interval, or instructions per event with their range."""

    status: ReportLine
    blocks: ReportCount
    distinguishable: bool | None = None
    noise_floor_ns: FiniteNumber | None = None
    cost_ns: FiniteNumber | None = None
    cost_low_ns: FiniteNumber | None = None
    cost_high_ns: FiniteNumber | None = None
    cost_instructions: FiniteNumber | None = None
    cost_least_instructions: FiniteNumber | None = None
    cost_greatest_instructions: FiniteNumber | None = None
    loss_ratio: FiniteNumber | None = None
    grade: ReportLine | None = None
    note: ReportLine | None = None
    printed: ReportLine | None = None
    estimated: ReportLine | None = None


class ComparedRow(CaseKey):
    """A case of the nearest machine and the same of the new one, as `compare` says it."""

    before: ReportLine
    after: ReportLine
    difference: ReportLine
    ratio: ReportLine
    outcome: ReportLine


class NearestRow(Document):
    """The published machine that is most like the new one."""

    machine: ReportLine
    name: ReportLine
    reasons: Few
    comparable: bool
    sentences: Few
    compared: Listed[ComparedRow]


class RemarkRow(CaseKey):
    """Something to look at, which may be wrong or is merely noisy."""

    words: ReportLine
    is_odd: bool


class SubmissionRow(Document):
    """A new submission."""

    id: ReportLine
    machine: ReportLine
    name: ReportLine
    tier: ReportLine
    suite: ReportLine
    metric: Literal["time", "instructions"]
    submitter: ReportLine | None
    grade: ReportLine | None
    grade_reasons: Few
    blocks: ReportCount
    noise_floor_ns: FiniteNumber | None
    baseline_ns: FiniteNumber | None
    cases: Listed[CaseRow]
    remarks: Listed[RemarkRow]
    of_project: bool = False
    shows: Few = ()
    nearest: NearestRow | None


class NumberRow(Document):
    """A number by its id, before and after, as it is written; null where it is not in force."""

    id: ReportLine
    kind: Literal["cost", "count", "figure"]
    old: ReportLine | None
    new: ReportLine | None


class ChangeRow(Document):
    """A new entry of the change log."""

    date: ReportLine
    kind: Literal["added", "corrected", "withdrawn", "accepted"]
    what: Few
    more: ReportCount
    why: ReportLine
    old: ReportLine | None
    new: ReportLine | None


class SourceRow(Document):
    """A new published source."""

    id: ReportLine
    title: ReportLine
    figures: ReportCount


FileChange = Literal["changed", "gone", "added"]


class FileRow(Document):
    """A file that differs; `beside`: not one of a new submission."""

    change: FileChange
    path: ReportLine
    beside: bool = False


class ReviewReport(Document):
    """All that a change of the data would publish."""

    schema_version: Literal[1]
    base: ReportLine
    head: ReportLine
    errors: ReportCount
    warnings: ReportCount
    odd_cases: ReportCount
    beside: dict[FileChange, ReportCount] = Field(default={})
    """How many files differ that are of no new submission."""
    of_project: ReportCount = 0
    """How many new submissions say that the project itself ran them."""
    problems: Listed[ProblemRow]
    submissions: Listed[SubmissionRow] = Listed()
    sources: Listed[SourceRow] = Listed()
    changes: Listed[ChangeRow] = Listed()
    numbers: Listed[NumberRow] = Listed()
    files: Listed[FileRow]


def fitted(report: ReviewReport, write: Callable[[ReviewReport], str], most_bytes: int) -> str:
    """`report` as `write` writes it, with as many rows of each table as fit into `most_bytes`."""
    for most in STEPS:
        text = write(_cut(report, most))
        if len(text.encode()) <= most_bytes:
            return text
    raise ValueError(f"a review without rows is larger than {most_bytes} bytes")


def _cut(document: D, most: int) -> D:
    """The document with at most so many rows in each of its tables, and in theirs."""
    if isinstance(document, Listed):
        rows = tuple(_cut(row, most) for row in document.rows[:most])
        return document.model_copy(update={"rows": rows, "more": document.count - len(rows)})
    held = {name: getattr(document, name) for name in type(document).model_fields}
    inner = {name: _cut(value, most) for name, value in held.items() if isinstance(value, Document)}
    return document.model_copy(update=inner)


MOST_LINES = 5

IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})

MOST_OF_A_KIND = 10
"""GitHub shows no more errors of a step, and no more warnings: the last of ours says how many there are besides."""


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems of one severity: the first of them in full, and the lines of the others."""

    first: Problem
    others: tuple[Problem, ...]

    @property
    def times(self) -> int:
        return 1 + len(self.others)

    @property
    def message(self) -> str:
        """What is wrong in the first, and where else: `.. (and 37 more like it, in lines 14, 15, 16, ..)`."""
        if not self.others:
            return self.first.message
        lines = [str(problem.line) for problem in self.others if problem.line is not None]
        shown = ", ".join(lines[:MOST_LINES]) + (", .." if len(lines) > MOST_LINES else "")
        where = f", in line{'s' if len(lines) > 1 else ''} {shown}" if lines else ""
        return f"{self.first.message} (and {len(self.others)} more like it{where})"


def grouped(problems: Iterable[Problem]) -> list[ProblemGroup]:
    """Errors first, else in the order in which they were found."""
    errors_first = sorted(problems, key=lambda problem: problem.severity != "error")
    alike = grouped_by(errors_first, lambda problem: (problem.severity, problem.rule, problem.file)).values()
    return [ProblemGroup(first, tuple(others)) for first, *others in alike]


def annotate(problems: Iterable[Problem]) -> Iterator[str]:
    """A line for each rule that a file breaks, errors first."""
    for severity, groups in grouped_by(grouped(problems), lambda group: group.first.severity).items():
        whole = MOST_OF_A_KIND if len(groups) <= MOST_OF_A_KIND else MOST_OF_A_KIND - 1
        yield from map(_annotation, groups[:whole])
        if more := len(groups[whole:]):
            yield f"::{severity} title=and more::{more} more {severity}s of other rules or files: see the log"


def _annotation(group: ProblemGroup) -> str:
    """One line: `::error file=data/..,line=3,title=row-order::what is wrong`, with the mend on the message's second."""
    problem = group.first
    places = {"file": problem.file, "line": problem.line, "col": problem.column, "title": problem.rule}
    fields = ((name, str(value)) for name, value in places.items() if value is not None)
    properties = ",".join(f"{name}={value.translate(IN_PROPERTY)}" for name, value in fields)
    message = f"{group.message}\n{problem.hint}".translate(IN_MESSAGE)
    return f"::{problem.severity} {properties}::{message}"


MEND = (
    "Next: mend what is under Problems and push to the same branch; the review is then made again. "
    "probe-effect review origin/main says the same before you push."
)
LOOK = "Next: the submitter says in the pull request why it is so, or measures again; a maintainer decides."
MERGE = "Next: a maintainer merges it, and its pages follow within minutes. The submitter has nothing left to do."


def title(report: ReviewReport) -> str:
    if report.errors:
        return f"{number(report.errors, 'error')} to mend"
    if not _changes(report):
        return "Nothing changes in the data"
    reasons = _to_look_at(report)
    return f"To look at: {listed(reasons)}" if reasons else "Ready to merge"


def _to_look_at(report: ReviewReport) -> list[str]:
    """What keeps a change without errors from being merged at once: nobody has looked at it yet."""
    counts = (
        (report.warnings, "warning"),
        (report.odd_cases, "odd case"),
        (report.of_project, "run in the project's name"),
        (report.beside.get("gone", 0), "removed file"),
        (report.beside.get("changed", 0), "changed file"),
        (report.beside.get("added", 0), "file that is of no new submission"),
    )
    return [number(count, noun) for count, noun in counts if count]


def lines(report: ReviewReport) -> Iterator[str]:
    """The first error in full, what the review is of and how much there is, and the next step."""
    first = next((problem for problem in report.problems.rows if problem.severity == "error"), None)
    if first is not None:
        yield f"{place(first)}: {first.message} [{first.rule}]. To mend it: {first.hint}."
    counted = (
        (report.submissions.count, "new submission"),
        (report.numbers.count, "number that differs"),
        (report.errors, "error"),
        (report.warnings, "warning"),
        (report.files.count, "file"),
    )
    counts = ", ".join(number(count, noun) for count, noun in counted if count) if _changes(report) else "nothing"
    yield f"{report.head[:1].upper()}{report.head[1:]} against {report.base}: {counts}."
    if report.errors:
        yield MEND
    elif _to_look_at(report):
        yield LOOK
    elif _changes(report):
        yield MERGE


def place(problem: ProblemRow) -> str:
    return ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)


def number(count: int, noun: str) -> str:
    """A count with its noun: `1 file`, `3 numbers that differ`, `2 runs in the project's name`."""
    first, blank, rest = re.split(r"( that | in |$)", noun, maxsplit=1)
    several = f"{first}s{blank}{rest.replace('differs', 'differ').replace('is of', 'are of')}"
    return f"{units.count(count)} {noun if count == 1 else several}"


def _changes(report: ReviewReport) -> bool:
    return bool(report.files.count or report.problems.count)
