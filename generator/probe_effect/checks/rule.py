"""What a rule is, and what it is given to look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from probe_effect.model import Problem, Severity
from probe_effect.store.documents import value_line
from probe_effect.store.tables import MAX_PROBLEMS_PER_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.reduce.submission import Number, Submission
    from probe_effect.store.machine_file import MachineFile
    from probe_effect.store.places import SubmissionFolder
    from probe_effect.store.source_file import Figure, SourceFile
    from probe_effect.store.suite_file import Suite

    RowIndex = Mapping[int, tuple[Path, ...]]
    """Hash of a row to the folders of the submissions that have it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """What a rule found: where, what, and how to mend it. Lines count from 1."""

    file: str
    line: int | None
    message: str
    hint: str
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """One rule: its id, what it demands in one sentence, the function that yields its faults, and two examples."""

    id: str
    text: str
    check: Callable[[T], Iterator[Fault]]
    good: str
    """An example that keeps the rule, in a few words."""
    bad: str
    """An example that breaks it."""

    def problems(self, subject: T, name: Callable[[str], str]) -> list[Problem]:
        """Every fault of `subject` as a Problem, as far as one file may have them.

        Args:
            subject: what the rule looks at.
            name: gives a file of the folder its shown name.
        """
        return [
            Problem(fault.severity, name(fault.file), fault.line, None, self.id, fault.message, fault.hint)
            for fault in islice(self.check(subject), MAX_PROBLEMS_PER_FILE)
        ]


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission whose files could be read."""

    submission: SubmissionFolder
    document: MachineFile
    samples: Sequence[Sample]
    suite: Suite | None
    suite_folder: Path | None = None
    """Where the suite's scripts lie; None where the suite is not known."""

    def line_of(self, key: str) -> int | None:
        """The line of `machine.json` where the value at the dotted `key` begins."""
        return value_line(self.submission.machine_file, key.split("."))

    def lines(self) -> Iterator[tuple[int, Sample]]:
        """Each row with its line in `samples.csv`; exact because a sound file has one line a row."""
        yield from enumerate(self.samples, start=2)


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """A submission beside the rows of every known one."""

    submission: SubmissionFolder
    copies: RowIndex


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission of times in which nothing is wrong, with the costs that follow from it."""

    checked: CheckedSubmission
    submission: Submission

    @property
    def baseline_ns(self) -> float | None:
        """One untraced operation."""
        return self.submission.baseline.value if self.submission.baseline else None

    def line_of(self, case: Number) -> int | None:
        """The first row of a case, tracer and level in `samples.csv`."""
        key = case.key
        rows = self.checked.lines()
        return next((line for line, row in rows if (row.case, row.tracer, row.level) == key), None)


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A published source whose files could be read."""

    folder: Path
    document: SourceFile
    figures: Sequence[Figure]
    values: Mapping[str, Fraction]

    def line_of(self, key: str) -> int | None:
        """The line of `source.toml` where `key` stands."""
        return value_line(self.folder / "source.toml", [key])


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """A suite whose `suite.toml` could be read."""

    folder: Path
    suite: Suite
    known: Mapping[str, Suite]
    """Every sound suite by id."""
