"""The sides of a comparison, as the command line names them: a submission, or all of a machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.errors import UsageError
from probe_effect.store.places import DataFolder, SubmissionFolder

if TYPE_CHECKING:
    from probe_effect.model import Problem


@dataclass(frozen=True, slots=True)
class Given:
    """One side, found but not read yet. `text`: how the command line names it."""

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
        from probe_effect.store.changes_file import read_changes, withdrawn_ids

        results = self.folders[0].folder.parent.parent
        data = DataFolder(results.parent)
        if not self.is_machine or results != data.results:
            return self.folders
        document, faults = read_changes(data)
        problems += faults
        gone = withdrawn_ids(document.changes if document else ())
        left = tuple(one for one in self.folders if one.id not in gone)
        if not left:
            msg = f"{self.text}: all its submissions are withdrawn. Name one by its folder to compare it all the same."
            raise UsageError(msg)
        return left


def find_side(text: str, data: DataFolder) -> Given:
    """A submission or a machine. Raises: UsageError where `text` is neither."""
    folder = (Path(text) if Path(text).is_dir() else data.results / text).resolve()
    own = SubmissionFolder(folder)
    if own.machine_file.is_file() or own.samples.is_file():
        return Given(own.id, text, (own,), is_machine=False)
    inside = (SubmissionFolder(path) for path in sorted(folder.glob("*")))
    submissions = tuple(one for one in inside if one.machine_file.is_file())
    if not submissions:
        known = ", ".join(sorted({one.machine for one in data.submissions()})) or "none"
        msg = f"{text}: neither the folder of a submission nor a machine with any; known machines: {known}"
        raise UsageError(msg)
    return Given(folder.name, text, submissions, is_machine=True)


def told_apart(first: Given, second: Given) -> list[Given]:
    """Both sides; by the folders given where their submissions are of one name, in two folders of results.

    Raises: UsageError for one side twice.
    """
    if first.folders == second.folders:
        msg = f"{first.name}: the same twice. Expected two submissions or machines that are not one and the same."
        raise UsageError(msg)
    if first.name != second.name:
        return [first, second]
    return [replace(first, name=first.text), replace(second, name=second.text)]
