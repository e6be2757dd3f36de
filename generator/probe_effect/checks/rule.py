"""What a rule is, and what it is given to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from probe_effect.model import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.store.machine_file import MachineFile
    from probe_effect.store.places import Submission
    from probe_effect.store.source_file import Figure, SourceFile
    from probe_effect.store.suite_file import Suite

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
    """One rule: its id, what it demands in one sentence, and the function that yields its faults."""

    id: str
    text: str
    check: Callable[[T], Iterator[Fault]]

    def problems(self, subject: T, name: Callable[[str], str]) -> list[Problem]:
        """Every fault of `subject` as a Problem; `name` gives a file of the folder its shown name."""
        return [
            Problem(fault.severity, name(fault.file), fault.line, None, self.id, fault.message, fault.hint)
            for fault in self.check(subject)
        ]


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission whose files could be read."""

    submission: Submission
    document: MachineFile
    samples: Sequence[Sample]
    suite: Suite | None

    def lines(self) -> Iterator[tuple[int, Sample]]:
        """Each row with its line in `samples.csv`; exact because a sound file has one line a row."""
        yield from enumerate(self.samples, start=2)


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A published source whose files could be read."""

    folder: Path
    document: SourceFile
    figures: Sequence[Figure]
    values: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """A suite whose `suite.toml` could be read."""

    folder: Path
    suite: Suite
    known: Mapping[str, Suite]
    """Every sound suite by id."""
