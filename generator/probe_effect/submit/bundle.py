"""The content of a pull request: the submissions of one machine, under their paths in the repository."""

import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.errors import BadData, HostNotReady, ProbeEffectError, UsageError
from probe_effect.store.machine_file import MachineFile, Submitter, read_machine_file, write_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder

IN_REPOSITORY = "data/results"


@dataclass(frozen=True, slots=True)
class Item:
    """One submission that could be read."""

    submission: SubmissionFolder
    document: MachineFile
    is_changed: bool = False
    """Whether the document differs from the one on disk."""

    def files(self) -> list[Path]:
        """The files of the submission, by name."""
        return sorted(path for path in self.submission.folder.iterdir() if path.is_file())

    def target(self, path: Path) -> str:
        """The path in the repository of a file of the submission."""
        return f"{IN_REPOSITORY}/{self.submission.id}/{path.name}"

    @property
    def credit(self) -> str | None:
        """The name that the submission credits."""
        return self.document.submitter.name

    def credited(self, name: str | None) -> "Item":
        """The item with `name` as its credit, in memory; None removes the credit."""
        if name == self.credit:
            return self
        submitter = Submitter(name=name, url=self.document.submitter.url if name else None)
        return Item(self.submission, self.document.model_copy(update={"submitter": submitter}), is_changed=True)

    def save(self) -> None:
        """Write the changed documents. Raises: HostNotReady."""
        if self.is_changed:
            write_machine_file(self.submission.machine_file, self.document)


@dataclass(frozen=True, slots=True)
class SubmissionBundle:
    """All submissions of one machine."""

    machine: str
    items: Sequence[Item]

    @property
    def branch(self) -> str:
        """`submit/<machine>-<date of the newest run>`."""
        newest = max(item.document.run.started[:10] for item in self.items)
        return f"submit/{self.machine}-{newest}"

    def credited(self, name: str | None) -> "SubmissionBundle":
        """The bundle with `name` as the credit of each submission, in memory."""
        return SubmissionBundle(self.machine, [item.credited(name) for item in self.items])

    @property
    def title(self) -> str:
        """One line for the commit and the pull request; of ids only, so that nothing in it can mean anything."""
        suites = dict.fromkeys(item.document.run.suite for item in self.items)
        return f"Results of {self.machine}: {', '.join(suites)}"


def unpublished(data: DataFolder, published: Collection[str]) -> tuple[list[SubmissionFolder], list[SubmissionFolder]]:
    """The complete and the incomplete submissions under `data`, by their ids, without the `published` ones."""
    found = [one for one in data.submissions() if one.id not in published]
    return [one for one in found if not one.plan_file.exists()], [one for one in found if one.plan_file.exists()]


def read_bundles(submissions: Iterable[SubmissionFolder], data: DataFolder) -> list[SubmissionBundle]:
    """A bundle for each machine, in the order of the folders. Raises: BadData, UsageError."""
    by_target: dict[str, Item] = {}
    for one in submissions:
        document, problems = read_machine_file(one.machine_file, data.relative(one.machine_file))
        if document is None:
            raise BadData(problems)
        other = by_target.setdefault(one.id, Item(one, document))
        if other.submission.folder != one.folder:
            msg = f"{one.folder}: has the place of {other.submission.folder} in the repository, {one.id}. Rename one."
            raise UsageError(msg)
    machines: dict[str, list[Item]] = {}
    for item in by_target.values():
        machines.setdefault(item.submission.machine, []).append(item)
    return [SubmissionBundle(name, items) for name, items in machines.items()]


def lay_out(items: Iterable[Item], root: Path) -> None:
    """Copy the files of `items` below `root`, laid out like the repository: outside a clone, to be sent by hand.

    Older files are replaced. Raises: ProbeEffectError when another run has the place of a submission;
        HostNotReady.
    """
    for item in items:
        rows = item.submission.samples
        there = root / item.target(rows)
        if there.exists() and there.read_bytes() != rows.read_bytes():
            msg = f"{there.parent}: holds another run than {rows.parent}. Remove that folder, or rename yours."
            raise ProbeEffectError(msg)
        for path in item.files():
            _copy(path, root / item.target(path))


def _copy(path: Path, target: Path) -> None:
    if target.exists() and target.samefile(path):
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    except OSError as error:
        raise HostNotReady(f"{target}: cannot be written: {error.strerror}. Run this where you may write.") from error
