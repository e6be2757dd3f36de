"""The folder of one run: made at the start, so that a run cut short is a submission too, closed at the end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Literal

from probe_effect import __version__
from probe_effect.machine.load import load_average
from probe_effect.store.machine_file import MachineFile, Provenance, write_machine_file
from probe_effect.store.places import Submission

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.store.machine_file import Machine, Run, Submitter, System

Author = Literal["project", "third-party"]


@dataclass(frozen=True, slots=True)
class OpenSubmission:
    """A submission whose run is under way."""

    place: Submission
    document: MachineFile

    def close(self) -> Submission:
        """Say when the run ended and how busy the machine was then."""
        ended = {"ended": moment(), "load_after": load_average()}
        run = self.document.run.model_copy(update=ended)
        write_machine_file(self.place.machine_file, self.document.model_copy(update={"run": run}))
        return self.place


def open_submission(
    results: Path,
    *,
    machine: Machine,
    system: System,
    tools: dict[str, str],
    run: Run,
    submitter: Submitter,
    author: Author,
) -> OpenSubmission:
    """A fresh folder below `results` with its `machine.json`, `ended` still null."""
    document = MachineFile(
        schema_version=1,
        machine=machine,
        system=system,
        tools=tools,
        run=run,
        submitter=submitter,
        provenance=Provenance(tool=f"probe-effect {__version__}", kind=author),
    )
    place = Submission(_fresh_folder(results / machine.id, f"{run.started[:10]}-{run.suite}"))
    write_machine_file(place.machine_file, document)
    return OpenSubmission(place, document)


def _fresh_folder(parent: Path, name: str) -> Path:
    """`<name>`, or `<name>-2` and so on when there was a run on that day: nothing measured is ever overwritten."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError


def moment() -> str:
    """Now, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
