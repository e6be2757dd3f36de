"""What a review says, as values alone: what `review --format json` writes, and what a comment is made from.

The file that a comment is made from comes from a stranger's branch and may hold anything, so these models hold it to
short lines of plain text and to numbers that can be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from probe_effect.store.documents import Document, Text

if TYPE_CHECKING:
    from collections.abc import Callable

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
        msg = f"expected 0, or a number from {LEAST:g} to {GREATEST:g}, of either sign"
        raise ValueError(msg)
    return value


def is_writable(value: float) -> bool:
    """Whether a quantity is 0 or of a size that a measurement can have, from `LEAST` to `GREATEST`."""
    return value == 0 or LEAST <= abs(value) <= GREATEST


Line = Annotated[Text, StringConstraints(max_length=MAX_LINE)]
Few = Annotated[tuple[Line, ...], Field(max_length=MAX_FEW)]
Number = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_writable)]
Count = Annotated[int, Field(ge=0, le=10**9)]


class Listed(Document, Generic[T]):
    """Rows of a table, and how many more there are that are not here."""

    rows: tuple[T, ...] = ()
    more: Count = 0

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.rows) + self.more


class ProblemRow(Document):
    """A problem that the change brings, with those of the same rule in the same file."""

    severity: Literal["error", "warning"]
    file: Line
    line: Count | None
    column: Count | None
    rule: Line
    message: Line
    hint: Line
    times: Count = 1


class CaseKey(Document):
    """Which case, tracer and level a row is of."""

    case: Line
    tracer: Line
    level: Line | None


class CaseRow(CaseKey):
    """A new number: ns per event with its 95 % interval, or instructions per event with their range."""

    status: Line
    blocks: Count
    distinguishable: bool | None = None
    noise_floor_ns: Number | None = None
    cost_ns: Number | None = None
    cost_low_ns: Number | None = None
    cost_high_ns: Number | None = None
    cost_instructions: Number | None = None
    cost_least_instructions: Number | None = None
    cost_greatest_instructions: Number | None = None
    loss_ratio: Number | None = None
    grade: Line | None = None
    note: Line | None = None


class ComparedRow(CaseKey):
    """A case of the nearest machine and the same of the new one, as `compare` says it."""

    before: Line
    after: Line
    difference: Line
    ratio: Line
    outcome: Line


class NearestRow(Document):
    """The published machine that is most like the new one."""

    machine: Line
    name: Line
    reasons: Few
    comparable: bool
    sentences: Few
    compared: Listed[ComparedRow]


class RemarkRow(CaseKey):
    """Something to look at, which may be wrong or is merely noisy."""

    words: Line
    is_odd: bool


class SubmissionRow(Document):
    """A new submission."""

    id: Line
    machine: Line
    name: Line
    tier: Line
    suite: Line
    metric: Literal["time", "instructions"]
    submitter: Line | None
    grade: Line | None
    grade_reasons: Few
    blocks: Count
    noise_floor_ns: Number | None
    baseline_ns: Number | None
    cases: Listed[CaseRow]
    remarks: Listed[RemarkRow]
    nearest: NearestRow | None


class NumberRow(Document):
    """A number by its id, before and after, as it is written; null where it is not in force."""

    id: Line
    kind: Literal["cost", "count", "figure"]
    old: Line | None
    new: Line | None


class ChangeRow(Document):
    """A new entry of the change log."""

    date: Line
    kind: Literal["added", "corrected", "withdrawn", "accepted"]
    what: Few
    more: Count
    why: Line
    old: Line | None
    new: Line | None


class SourceRow(Document):
    """A new published source."""

    id: Line
    title: Line
    figures: Count


class FileRow(Document):
    """A file that differs."""

    change: Literal["added", "changed", "gone"]
    path: Line


class ReviewReport(Document):
    """All that a change of the data would publish."""

    schema_version: Literal[1]
    base: Line
    head: Line
    errors: Count
    warnings: Count
    odd_cases: Count
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
    msg = f"a review without rows is larger than {most_bytes} bytes"
    raise ValueError(msg)


def _cut(document: D, most: int) -> D:
    """The document with at most so many rows in each of its tables, and in theirs."""
    if isinstance(document, Listed):
        rows = tuple(_cut(row, most) for row in document.rows[:most])
        left_out = len(document.rows) - len(rows)
        return document.model_copy(update={"rows": rows, "more": document.more + left_out})
    held = {name: getattr(document, name) for name in type(document).model_fields}
    inner = {name: _cut(value, most) for name, value in held.items() if isinstance(value, Document)}
    return document.model_copy(update=inner)
