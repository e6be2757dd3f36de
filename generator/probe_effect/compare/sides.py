"""The sides of a comparison: a submission, or all of a machine, by name, then read; and in what two differ besides."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from pathlib import Path

from probe_effect.compare.comparison import Side
from probe_effect.errors import BadData, UsageError
from probe_effect.model import Metric, Problem
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import cpu, tier, tool_with_version
from probe_effect.reduce.reading import read_submissions
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.beside_files import changed_ids, read_changes
from probe_effect.store.places import DataFolder, SubmissionFolder


@dataclass(frozen=True, slots=True)
class NamedSide:
    """A side whose folders are known and not read yet. `text`: how the command line names it."""

    name: str
    text: str
    folders: tuple[SubmissionFolder, ...]
    is_machine: bool

    @property
    def words(self) -> str:
        """The side as the end of a sentence has it."""
        return f"in {self.name}" if "/" in self.name else f"on {self.name}"

    def in_force(self, problems: list[Problem]) -> tuple[SubmissionFolder, ...]:
        """Its folders; of a machine without those withdrawn. What is wrong with the change log is added to `problems`.

        Raises: UsageError where nothing is left.
        """
        results = self.folders[0].folder.parent.parent
        data = DataFolder(results.parent)
        if not self.is_machine or results != data.results:
            return self.folders
        document, faults = read_changes(data)
        problems += faults
        gone = changed_ids(document.changes if document else (), "withdrawn")
        left = tuple(one for one in self.folders if one.id not in gone)
        if not left:
            msg = f"{self.text}: all its submissions are withdrawn. Name one by its folder to compare it all the same."
            raise UsageError(msg)
        return left


def find_side(text: str, data: DataFolder) -> NamedSide:
    """A submission or a machine. Raises: UsageError where `text` is neither."""
    folder = (Path(text) if Path(text).is_dir() else data.results / text).resolve()
    own = SubmissionFolder(folder)
    if own.machine_file.is_file() or own.samples.is_file():
        return NamedSide(own.id, text, (own,), is_machine=False)
    inside = (SubmissionFolder(path) for path in sorted(folder.glob("*")))
    submissions = tuple(one for one in inside if one.machine_file.is_file())
    if not submissions:
        known = ", ".join(sorted({one.machine for one in data.submissions()})) or "none"
        raise UsageError(f"{text}: neither the folder of a submission nor a machine with any; known machines: {known}")
    return NamedSide(folder.name, text, submissions, is_machine=True)


def named_apart(first: NamedSide, second: NamedSide) -> list[NamedSide]:
    """Both sides; by the folders given where their submissions are of one name, in two folders of results.

    Raises: UsageError for one side twice.
    """
    if first.folders == second.folders:
        msg = f"{first.name}: the same twice. Expected two submissions or machines that are not one and the same."
        raise UsageError(msg)
    if first.name != second.name:
        return [first, second]
    return [replace(first, name=first.text), replace(second, name=second.text)]


@dataclass(frozen=True, slots=True)
class ReadSide:
    """A side with its submissions."""

    given: NamedSide
    submissions: Sequence[Submission]

    def of(self, metric: Metric) -> Side:
        """The side with only its submissions of times, or of counts."""
        return Side(self.given.name, tuple(one for one in self.submissions if one.metric == metric))


def read_sides(given: Sequence[NamedSide], data: DataFolder) -> list[ReadSide]:
    """The sides, each submission read once. Raises: BadData where files are unsound, UsageError where none is left."""
    problems: list[Problem] = []
    folders = [one.in_force(problems) for one in given]
    read = read_submissions(list(dict.fromkeys(one for some in folders for one in some)), data, problems)
    if problems:
        raise BadData(problems)
    by_folder = {one.files: one for one in read}
    return [ReadSide(one, [by_folder[files] for files in some]) for one, some in zip(given, folders, strict=True)]


def differing_traits(first: Iterable[Number], second: Iterable[Number]) -> list[tuple[str, str, str]]:
    """Trait, what it is on the first side and what on the second, for those that are not the same."""
    ours, others = traits(first), traits(second)
    return [
        (name, ours.get(name, ""), others.get(name, "")) for name in ours | others if ours.get(name) != others.get(name)
    ]


def traits(side: Iterable[Number]) -> dict[str, str]:
    """The traits of a side: name of each trait of its machines, tools and runs, to all its values."""
    each = grouped_by(chain.from_iterable(map(_traits, side)), itemgetter(0))
    return {name: ", ".join(sorted({value for _, value in own})) for name, own in each.items()}


def _traits(one: Number) -> Iterator[tuple[str, str]]:
    document = one.submission.document
    run = document.run
    yield "machine", document.machine.id
    yield "tier", tier(document.machine, run.metric)
    yield "CPU", f"{cpu(document.machine)}, {document.machine.threads} CPUs"
    yield "kernel", document.system.kernel_release
    yield "tracer", tool_with_version(one)
    yield "suite", f"{run.suite}, version {run.suite_version}"
    yield "date", run.started[:10]
    yield "blocks", str(run.blocks)
    if one.is_time:
        yield "grade", f"{run.suite} {one.submission.grade}"
    yield from ((f"first bytes of {name}", code) for name, code in run.functions.items())
    yield from ((f"package of {part}", package) for part, package in run.packages.items())
