"""The sides of a comparison, as the command line names them: a submission, or all of a machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.errors import BadData, UsageError
from probe_effect.guidance.catalogue import CountedSubmission, MeasuredSubmission, read_submission
from probe_effect.guidance.comparison import Side
from probe_effect.guidance.instruction_change import CountedSide
from probe_effect.measure.request import unknown
from probe_effect.store.places import DataFolder, Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from probe_effect.guidance.rows import CaseKey
    from probe_effect.model import Problem


@dataclass(frozen=True, slots=True)
class Given:
    """One side: what was found there, newest first. Times and counted instructions stay apart.

    `text`: how the command line names it.
    """

    name: str
    text: str
    folders: tuple[Path, ...]
    times: Side
    counts: CountedSide

    @property
    def metrics(self) -> list[str]:
        """What its submissions hold, in words."""
        held = (("instructions", self.counts.submissions), ("time", self.times.submissions))
        return [metric for metric, submissions in held if submissions]

    @property
    def words(self) -> str:
        """The side as the end of a sentence has it."""
        return f"in {self.name}" if "/" in self.name else f"on {self.name}"


def read_side(text: str, data: DataFolder) -> Given:
    """A submission or a machine. Raises: UsageError where `text` is neither, BadData where its files are unsound."""
    folder = (Path(text) if Path(text).is_dir() else data.results / text).resolve()
    files = _submissions(folder)
    if not files:
        known = ", ".join(sorted({one.machine for one in data.submissions()})) or "none"
        msg = f"{text}: neither the folder of a submission nor a machine with any; known machines: {known}"
        raise UsageError(msg)
    problems: list[Problem] = []
    read = [found for one in files if (found := read_submission(one, data, problems))]
    if problems:
        raise BadData(problems)
    read.sort(key=lambda one: one.document.run.started, reverse=True)
    name = files[0].id if files[0].folder == folder else folder.name
    return Given(
        name,
        text,
        tuple(one.files.folder for one in read),
        Side(name, tuple(one for one in read if isinstance(one, MeasuredSubmission))),
        CountedSide(name, tuple(one for one in read if isinstance(one, CountedSubmission))),
    )


def told_apart(first: Given, second: Given) -> tuple[Given, Given]:
    """Both sides; by the folders given where their submissions are of one name, in two folders of results."""
    if first.name != second.name:
        return first, second
    return replace(first, name=first.text), replace(second, name=second.text)


def common_metric(first: Given, second: Given) -> str:
    """What both hold, time before instructions. Raises: UsageError for one side twice, or nothing in common."""
    if first.folders == second.folders:
        msg = f"{first.name}: the same twice. Expected two submissions or machines that are not one and the same."
        raise UsageError(msg)
    common = [metric for metric in first.metrics if metric in second.metrics]
    if not common:
        words = " against ".join(", ".join(side.metrics) for side in (first, second))
        msg = f"{first.name}, {second.name}: {words}. Times and instruction counts are never compared."
        raise UsageError(msg)
    return common[-1]


def asked_for(known: Iterable[CaseKey], cases: Sequence[str], tracers: Sequence[str]) -> Callable[[CaseKey], bool]:
    """Whether one is asked for; none named means all. Raises: UsageError for a name that nothing known has."""
    keys = list(known)
    unknown(cases, sorted({key.case for key in keys}), "case here")
    unknown(tracers, sorted({key.tracer for key in keys}), "tracer here")
    return lambda key: (not cases or key.case in cases) and (not tracers or key.tracer in tracers)


def check_tracers(first: str, second: str, known: Iterable[CaseKey]) -> None:
    """Nothing, for two tracers of `known`. Raises: UsageError for one tracer twice or an unknown one."""
    if first == second:
        msg = f"{first}: the same tracer twice. Expected two tracers, such as --tracers bpftrace libbpf."
        raise UsageError(msg)
    asked_for(known, (), (first, second))


def names(keys: Iterable[CaseKey]) -> str:
    """What a side has, for a message: `02-kprobe (bpftrace, libbpf); 03-kretprobe (bpftrace)`."""
    return "; ".join(f"{case} ({tracers})" for case, tracers in tracers_by_case(keys)) or "none"


def tracers_by_case(keys: Iterable[CaseKey]) -> list[tuple[str, str]]:
    """Each case with its tracers, and levels where it has any, by case id."""
    found: dict[str, list[str]] = {}
    for key in sorted(keys, key=lambda key: key.case):
        level = "" if key.level is None else f" at {key.level}"
        found.setdefault(key.case, []).append(f"{key.tracer}{level}")
    return [(case, ", ".join(tracers)) for case, tracers in found.items()]


def _submissions(folder: Path) -> list[Submission]:
    """The submission that `folder` is, or those that lie in it."""
    own = Submission(folder)
    if own.machine_file.is_file() or own.samples.is_file():
        return [own]
    inside = (Submission(path) for path in sorted(folder.glob("*")))
    return [one for one in inside if one.machine_file.is_file()]
