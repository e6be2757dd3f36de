"""`data/published/<source>/`: `source.toml` and `figures.csv`, the numbers that others printed."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from probe_effect.model import Problem
from probe_effect.store.documents import Document, Slug, Text, read_document
from probe_effect.store.tables import TableReader, read_columns
from probe_effect.toml import beside

Grade = Literal["S", "F", "X", "M"]

KNOWN = beside(__file__)

GRADES: dict[str, str] = KNOWN["grades"]

UNIT_SCALE = {unit: Fraction(scale) for unit, scale in KNOWN["units"].items()}
"""Unit of a figure to its size in the base unit: ns for times, a ratio for per cents, bytes, events/s."""

FIGURE_COLUMNS = read_columns("figures", unit=tuple(UNIT_SCALE))


class Finding(Document):
    """Where a source disagrees with itself."""

    id: Slug
    sentence: Text
    agrees_if: Text | None = None


class Repetition(Document):
    """One thing that a source did or measured, and whether it is done again here."""

    what: Text
    suites: tuple[Slug, ...] = ()
    note: Text | None = None

    @model_validator(mode="after")
    def _says_why_not(self) -> Self:
        if not self.suites and self.note is None:
            raise ValueError("expected suites that do it again, or a note that says why none does")
        return self


class SourceFile(Document):
    """What is known of a source; "not stated" where it does not say."""

    schema_version: Literal[1]
    title: Text
    author: Text
    date: Annotated[str, Field(pattern=r"^([0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?|not stated)$")]
    kind: Text
    where: Text
    read: Literal["full", "file", "excerpt"]
    grade: Grade
    hardware: Text
    physical: tuple[Text, ...] = ()
    os: Text
    tool_versions: Text
    workload: Text
    method: Text
    statistic: Text
    repeats: Text
    summary: Text
    remarks: tuple[Text, ...]
    findings: tuple[Finding, ...] = ()
    repeated: tuple[Repetition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One published or derived number: a row of `figures.csv`, with its line."""

    line: int
    figure: str
    group: str
    what: str
    printed: str | None
    value: Decimal
    unit: str
    platform: str | None
    case: str | None
    tracer: str | None
    probe: str | None
    action: str | None
    cost_ns: Decimal | None
    cost_from: str | None
    baseline_ns: Decimal | None
    baseline_from: str | None
    baseline_formula: str | None
    formula: str | None
    statistic: str | None
    spread_ns: Decimal | None
    grade: str
    note: str | None

    @property
    def base_value(self) -> Fraction:
        """The value in its base unit (see `UNIT_SCALE`), exact."""
        return Fraction(self.value) * UNIT_SCALE[self.unit]

    @property
    def is_derived(self) -> bool:
        """Whether it was worked out here from what the source printed, so that it never passes for the author's."""
        return self.printed is None

    @property
    def said(self) -> tuple[object, ...]:
        """What makes it the number that it is, whatever else is said of it."""
        return self.value, self.unit, self.printed, self.cost_ns


read_source = partial(read_document, rule="source", model=SourceFile)


def read_figures(path: Path, file: str) -> tuple[list[Figure], list[Problem]]:
    """The sound rows of a `figures.csv`, and every problem found in it."""
    reader = TableReader(file, "figures", FIGURE_COLUMNS)
    return [Figure(line=row.line, **row.cells) for row in reader.read(path)], reader.problems
