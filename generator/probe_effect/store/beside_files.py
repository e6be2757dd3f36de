"""What people write beside submissions and suites: `changes.toml`, `claims.toml`, `explanations.toml`, references, and
published sources with their figures.

References are facts about kernels and tools that the guide states, each with where it can be checked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from probe_effect.model import Problem, release_numbers, series_of
from probe_effect.records import beside
from probe_effect.store.documents import (
    Document,
    DocumentEntry,
    Slug,
    Text,
    entries_file,
    no_name_of,
    read_document,
    without,
)
from probe_effect.store.places import DataFolder
from probe_effect.store.result_tables import CALIBRATION_COLUMNS, HISTOGRAM_COLUMNS, PATH_COLUMNS, SAMPLE_COLUMNS
from probe_effect.store.suite_file import Architecture
from probe_effect.store.tables import TableReader, read_columns

CHANGES_FILE = "changes.toml"

ChangeKind = Literal["added", "corrected", "withdrawn", "accepted"]

Day = Annotated[str, Field(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")]

ID = r"^[a-z0-9]+(-[a-z0-9]+)*((/[a-z0-9]+(-[a-z0-9]+)*)*|#[a-z][a-z0-9_]*)$"
"""A source, a figure `<source>#<figure>`, a submission `<machine>/<folder>`, or a number below one."""


class Change(Document):
    """One entry. A submission is added by being there, so only sources are added here."""

    date: Day
    kind: ChangeKind
    what: tuple[Annotated[str, Field(pattern=ID, max_length=300)], ...] = Field(min_length=1)
    why: Text
    old: Text | None = None
    new: Text | None = None

    @model_validator(mode="after")
    def _values_of_a_correction(self) -> Self:
        if {self.old is not None, self.new is not None} != {self.kind == "corrected"}:
            raise ValueError("`old` and `new` come together, with a correction and only there")
        return self


class ChangesFile(Document):
    """The whole document."""

    schema_version: Literal[1]
    changes: tuple[Change, ...] = ()


def read_changes(data: DataFolder) -> tuple[ChangesFile | None, list[Problem]]:
    """The change log of `data`, empty where there is no file; None with every problem found."""
    path = data.root / CHANGES_FILE
    if not path.exists() and not path.is_symlink():
        return ChangesFile(schema_version=1), []
    return read_document(path, data.relative(path), "changes", ChangesFile)


def changed_ids(changes: Sequence[Change], kind: ChangeKind) -> frozenset[str]:
    return frozenset(changed_id for change in changes if change.kind == kind for changed_id in change.what)


MOST_WORDS = 25
NumberKey = Annotated[str, Field(pattern=r"^([a-z0-9-]+\*?|\*)\.[a-z0-9-]+(@[\w.*-]+)?$", max_length=100)]

ClaimSubject = Literal["System calls", "Kernel probes", "User probes", "Dormant", "Starting", "Stacks", "Agents"]
HEADINGS = frozenset(name.lower().replace(" ", "-") for name in get_args(ClaimSubject))


DateOrNone = Annotated[str, Field(pattern=r"^([0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?|not stated)$")]
"""A year, a month of it or a day; or that the source states none."""


class Claim(DocumentEntry):
    """A saying with its source; and either the test of our numbers that decides it, or what they lack."""

    id: Annotated[Slug, Field(max_length=40), no_name_of(HEADINGS, "of a heading of its page")]
    subject: ClaimSubject
    words: Text = Field(pattern=rf"^(\S+ ){{0,{MOST_WORDS - 1}}}\S+$")
    link: str = Field(pattern=r"^https://[^\s<>\"]+$", max_length=300)
    date: DateOrNone
    who: Text = Field(max_length=80)
    conditions: Text = Field(max_length=300)
    says: Text = Field(max_length=500)
    missing: Text | None = Field(default=None, max_length=300)
    numbers: tuple[NumberKey, ...] = ()
    quantity: Literal[
        "cost", "slowdown", "threshold", "times", "ratio", "instructions", "instructions ratio", "loss", "start", "stop"
    ] = "cost"
    rate_hz: float | None = Field(default=None, gt=0, le=1e12)
    over: NumberKey | None = None
    less: NumberKey | None = None
    above: float | None = Field(default=None, allow_inf_nan=False)
    below: float | None = Field(default=None, gt=1e-12, allow_inf_nan=False)
    only_refutes: bool = False

    @model_validator(mode="after")
    def _is_decided(self) -> Self:
        wanted = {"slowdown": "rate_hz", "threshold": "below", "ratio": "over"}.get(self.quantity.split()[-1], "id")
        is_bounded = (self.above, self.below) != (None, None) and getattr(self, wanted) is not None
        msg = None
        if bool(self.numbers) == bool(self.missing) or bool(self.numbers) != is_bounded:
            msg = "needs `numbers` with `above` or `below` (and `rate_hz` or `over`, by its quantity), or `missing`"
        elif self.above is not None and self.below is not None and self.above >= self.below:
            msg = f"`above` is {self.above} and `below` {self.below}, and no number is between them; expected a range"
        elif self.only_refutes and (self.missing or self.quantity == "threshold"):
            msg = "`only_refutes` is of a claim that numbers can be outside of; a threshold, or `missing`, has none"
        if msg:
            raise ValueError(msg)
        return self

    @property
    def names(self) -> set[str]:
        """The cases of its numbers, and their tools without versions."""
        parts = (key.partition("@")[0].split(".") for key in (*self.numbers, self.over, self.less) if key)
        return {name for tool, case in parts for name in (case, re.sub(r"(-\d+)*\*?$", "", tool)) if name}


ClaimsFile, read_claims = entries_file(Claim, 500)

Series = Annotated[str, Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")]
"""The first two numbers of a version: `6.18`."""

Update = Annotated[str, Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}$")]
"""An update of a stable series: `6.12.93`."""


class Explanation(DocumentEntry):
    """One cause: what it made more or fewer, from which version to which, and where that can be checked."""

    cases: tuple[Slug, ...] = Field(min_length=1, max_length=50)
    tools: tuple[Slug, ...] = Field(default=(), max_length=20)
    of: Literal["kernel", "tool"]
    before: Series
    since: Series
    until: Series | None = None
    stable: tuple[Update, ...] = Field(default=(), max_length=10)
    change: Literal["more", "fewer"]
    architectures: tuple[Architecture, ...] = Field(default=(), max_length=2)
    says: Text = Field(max_length=500)
    references: tuple[Slug, ...] = Field(max_length=10)
    certainty: Literal["bisected", "read", "inferred", "unknown"]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if series_of(self.before) >= series_of(self.since):
            raise ValueError(f"`before` {self.before} is no older than `since` {self.since}")
        if self.until is not None and series_of(self.until) < series_of(self.since):
            raise ValueError(f"`until` {self.until} is older than `since` {self.since}")
        if (self.certainty == "unknown") is bool(self.references):
            raise ValueError('a cause has `references`, and where `certainty` is "unknown" there are none')
        return self

    def made(self, first: str, second: str) -> Literal["more", "fewer"] | None:
        """What it made of the counts from one version to a later one; None where both have it, or neither."""
        had, has = self._is_in(first), self._is_in(second)
        if None in {had, has} or had is has:
            return None
        return self.change if has else "fewer" if self.change == "more" else "more"

    def _is_in(self, version: str) -> bool | None:
        """Whether a version, written in full, has it; None between the last known without it and the first with it."""
        series = series_of(version)
        updates = {series_of(release): release_numbers(release) for release in self.stable}
        if series in updates:
            return release_numbers(version)[:3] >= updates[series]
        if series >= series_of(self.since):
            return self.until is None or series <= series_of(self.until)
        return False if series <= series_of(self.before) else None


ExplanationsFile, read_explanations = entries_file(Explanation, 500)

MOVING = re.compile(r"/(?:blob|tree|plain|source)/(?:master|main|HEAD|latest)/")
PERMANENT = without(MOVING, "shows another text tomorrow: name a tag or a commit")


class Reference(DocumentEntry):
    """One fact with its source."""

    says: Text = Field(max_length=400)
    project: Text = Field(max_length=60)
    place: Text = Field(max_length=200)
    url: Annotated[str, Field(pattern=r"^https://[^\s<>\"]+$", max_length=300), PERMANENT]
    since: Text | None = Field(default=None, max_length=60)
    architectures: tuple[Slug, ...] = Field(default=(), max_length=20)


ReferencesFile, read_references = entries_file(Reference, 1000)

Grade = Literal["S", "F", "X", "M"]

KNOWN = beside(__file__, "source_file")

GRADES: dict[str, str] = KNOWN["grades"]

UNIT_SCALE = {unit: Fraction(scale) for unit, scale in KNOWN["units"].items()}
"""Unit of a figure to its size in the base unit: ns for times, a ratio for per cents, bytes, events/s."""

FIGURE_COLUMNS = read_columns("figures", unit=tuple(UNIT_SCALE))

TABLES = {
    "samples.csv": SAMPLE_COLUMNS,
    "histogram.csv": HISTOGRAM_COLUMNS,
    "calibration.csv": CALIBRATION_COLUMNS,
    "paths.csv": PATH_COLUMNS,
    "figures.csv": FIGURE_COLUMNS,
}
"""The tables of submissions and of published sources: what a column of each means is in its record."""


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
    date: DateOrNone
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
    reader = TableReader(file, "figures", FIGURE_COLUMNS)
    return [Figure(line=row.line, **row.cells) for row in reader.read(path)], reader.problems
