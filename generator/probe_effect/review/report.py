"""What a review says, as values alone: what `review --format json` writes, and what a comment is made from.

The file that a comment is made from comes from a stranger's branch and may hold anything, so these models hold it to
short lines of plain text and to numbers that can be written.
"""

from collections.abc import Callable
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from probe_effect.store.documents import Document, Text

T = TypeVar("T")
D = TypeVar("D", bound=Document)

MAX_REPORT_BYTES = 256 * 1024
"""The largest that is written, and read for a comment."""

MAX_LINE = 400
MAX_FEW = 20

STEPS = (1000, 300, 100, 30, 10, 3, 1, 0)
"""How many rows of each table are kept, until the whole fits."""

LEAST, GREATEST = 1e-9, 1e18


def _writable(value: float) -> float:
    if not is_writable(value):
        raise ValueError(f"expected 0, or a number from {LEAST:g} to {GREATEST:g}, of either sign")
    return value


def is_writable(value: float) -> bool:
    """Whether a quantity is 0 or of a size that a measurement can have, from `LEAST` to `GREATEST`."""
    return value == 0 or LEAST <= abs(value) <= GREATEST


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
        """How many rows the table has, with those that are not here."""
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
    submissions: Listed[SubmissionRow]
    sources: Listed[SourceRow]
    changes: Listed[ChangeRow]
    numbers: Listed[NumberRow]
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
        left_out = len(document.rows) - len(rows)
        return document.model_copy(update={"rows": rows, "more": document.more + left_out})
    held = {name: getattr(document, name) for name in type(document).model_fields}
    inner = {name: _cut(value, most) for name, value in held.items() if isinstance(value, Document)}
    return document.model_copy(update=inner)
