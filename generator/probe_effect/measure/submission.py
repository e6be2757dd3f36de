"""The folder of one run: made at the start, so that a run cut short is a submission too, closed at the end."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Literal

from probe_effect import __version__
from probe_effect.errors import HostNotReady
from probe_effect.machine.load import load_average
from probe_effect.store.machine_file import MOMENT_FORM, MachineFile, Provenance, write_machine_file
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.plan_file import write_plan_file

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.store.machine_file import Machine, Run, Submitter, System
    from probe_effect.store.plan_file import PlanFile

Author = Literal["project", "third-party"]


class SteadyClock:
    """The time of day at its making, carried on by the monotonic clock: nobody sets it while a run goes on."""

    def __init__(self) -> None:
        self._start, self._start_s = datetime.now(UTC), time.monotonic()

    def moment(self) -> str:
        """Now, UTC, to the second."""
        return _written(self._start + timedelta(seconds=time.monotonic() - self._start_s))

    def jumped_s(self) -> float:
        """By how many seconds the time of day was set since: above 0 when it was set forward."""
        return (datetime.now(UTC) - self._start).total_seconds() - (time.monotonic() - self._start_s)


@dataclass(frozen=True, slots=True)
class OpenSubmission:
    """A submission whose run is under way."""

    place: SubmissionFolder
    document: MachineFile
    plan: PlanFile
    clock: SteadyClock = field(default_factory=SteadyClock)

    def write(self) -> None:
        """Write what is known so far. Raises: HostNotReady."""
        write_machine_file(self.place.machine_file, self.document)

    def close(self, **facts: object) -> SubmissionFolder:
        """Say when the run ended and how busy the machine was then; `facts` are further keys of `run`.

        Raises: HostNotReady when that cannot be written; then the run stays open.
        """
        ended = {"ended": self.clock.moment(), "load_after": load_average()} | facts
        run = self.document.run.model_copy(update=ended)
        write_machine_file(self.place.machine_file, self.document.model_copy(update={"run": run}))
        self.place.plan_file.unlink()
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
    plan: PlanFile,
) -> OpenSubmission:
    """A fresh folder below `results` with its `machine.json`, `ended` still null, and its plan.

    Raises: HostNotReady when the folder cannot be made or written.
    """
    document = MachineFile(
        schema_version=1,
        machine=machine,
        system=system,
        tools=tools,
        run=run,
        submitter=submitter,
        provenance=Provenance(tool=f"probe-effect {__version__}", kind=author),
    )
    try:
        place = SubmissionFolder(_fresh_folder(results / machine.id, f"{run.started[:10]}-{run.suite}"))
    except OSError as error:
        raise _not_writable(results, error) from error
    try:
        write_machine_file(place.machine_file, document)
        write_plan_file(place.plan_file, plan)  # last: by it the run is known to be unfinished
    except HostNotReady:
        shutil.rmtree(place.folder, ignore_errors=True)  # nothing was measured yet
        raise
    return OpenSubmission(place, document, plan)


def check_writable(results: Path) -> None:
    """Nothing, when folders can be made in `results`; asked before the first trial. Raises: HostNotReady."""
    try:
        results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=results):
            pass
    except OSError as error:
        raise _not_writable(results, error) from error


def _not_writable(results: Path, error: OSError) -> HostNotReady:
    return HostNotReady(f"{results}: results cannot be written there: {error.strerror}; name another folder with --out")


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
    return _written(datetime.now(UTC))


def _written(time_of_day: datetime) -> str:
    return time_of_day.strftime(MOMENT_FORM)
