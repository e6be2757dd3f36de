"""What a rule is, and what those of submissions are given to look at."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from probe_effect.model import Problem, Sample, Severity
from probe_effect.records import beside
from probe_effect.store.documents import value_line
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import EventPath, HistogramRow, ProbeCalibration
from probe_effect.store.suite_file import Case, Suite
from probe_effect.store.tables import MAX_PROBLEMS_PER_FILE

T = TypeVar("T")

WORDS: dict[str, dict[str, Any]] = beside(__file__, "rules")
"""Name of each rule to its `text`, to an example that is `good` and one that is `bad`; where most of its faults have
the same, also to a `hint` and a `severity`."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a rule is broken, how, and what mends it; lines count from 1. Hint and severity may be the rule's."""

    file: str
    line: int | None
    message: str
    hint: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """What it demands, in one sentence with two short examples; hint and severity are of a fault without its own."""

    id: str
    text: str
    check: Callable[[T], Iterator[Fault]]
    good: str
    bad: str
    hint: str = ""
    severity: Severity = "error"


def rule(name: str) -> Callable[[Callable[[T], Iterator[Fault]]], Rule[T]]:
    """Makes a rule of the function below it, which yields its faults; `rules.toml` has by that name what it demands.

    The id of `source/folder-name` is `folder-name`: another thing has a rule of that id.
    """
    return lambda check: Rule(name.rpartition("/")[2], check=check, **WORDS[name])


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission whose files could be read; further tables are empty where there is no file.

    `suite` and `suite_folder`, which has the scripts, are None where the suite is not known.
    """

    submission: SubmissionFolder
    document: MachineFile
    samples: Sequence[Sample]
    suite: Suite | None
    suite_folder: Path | None = None
    histogram: Sequence[HistogramRow] = ()
    calibration: Sequence[ProbeCalibration] = ()
    paths: Sequence[EventPath] = ()

    def fault(self, key: str, message: str, hint: str | None = None, severity: Severity | None = None) -> Fault:
        """What is wrong with the value at the dotted `key` of `machine.json`, at the line where it begins."""
        line = value_line(self.submission.machine_file, key.split("."))
        return Fault("machine.json", line, message, hint, severity)

    @property
    def is_of_tracer(self) -> bool:
        return self.suite is not None and self.suite.result_type.of_tracer

    def cases(self) -> dict[str, Case]:
        return {case.id: case for case in self.suite.cases} if self.suite else {}

    def lines(self) -> Iterator[tuple[int, Sample]]:
        """Each row with its line in `samples.csv`; exact because a sound file has one line a row."""
        yield from enumerate(self.samples, start=2)


def broken(rules: Iterable[Rule[T]], subject: T, name: Callable[[str], str]) -> list[Problem]:
    """Every problem of the subject by some rules; of each as many as one file may have. `name` shows a file."""
    return [
        Problem(
            fault.severity or rule.severity,
            name(fault.file),
            fault.line,
            None,
            rule.id,
            fault.message,
            fault.hint or rule.hint,
        )
        for rule in rules
        for fault in islice(rule.check(subject), MAX_PROBLEMS_PER_FILE)
    ]


def names_in(folder: Path, data: DataFolder) -> Callable[[str], str]:
    return lambda file: data.relative(folder / file)
