"""The folder of one run: made at the start, so that a run cut short is a submission too, closed at the end."""

import os
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from probe_effect.errors import HostNotReady
from probe_effect.host.ownership import stranger, sudo_user
from probe_effect.machine.busy import load_average
from probe_effect.store.documents import write_document
from probe_effect.store.machine_file import MOMENT_FORM, MachineFile
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.plan_file import PlanFile


class SteadyClock:
    """The time of day when it was made, continued by the monotonic clock, which is never set during a run."""

    def __init__(self) -> None:
        self._start, self._start_s = datetime.now(UTC), time.monotonic()

    def moment(self) -> str:
        """Now, UTC, to the second."""
        return (self._start + timedelta(seconds=time.monotonic() - self._start_s)).strftime(MOMENT_FORM)

    def jumped_s(self) -> float:
        """Seconds by which the time of day was set since then: above 0 when it was set forward."""
        return (datetime.now(UTC) - self._start).total_seconds() - (time.monotonic() - self._start_s)


def moment() -> str:
    """Now, UTC, to the second."""
    return SteadyClock().moment()


@dataclass(frozen=True, slots=True)
class OpenSubmission:
    """A submission whose run is under way, or was cut short."""

    place: SubmissionFolder
    document: MachineFile
    plan: PlanFile
    clock: SteadyClock = field(default_factory=SteadyClock)

    def write(self) -> None:
        """Write the document as it is so far. Raises: HostNotReady."""
        write_document(self.place.machine_file, self.document)

    def close(self, **facts: object) -> SubmissionFolder:
        """Record when the run ended and how busy the machine was then; `facts` are further keys of `run`.

        Raises: HostNotReady when that cannot be written; then the run stays open.
        """
        load_after = None if self.document.run.load_before is None else load_average()
        ended = {"ended": self.clock.moment(), "load_after": load_after} | facts
        run = self.document.run.model_copy(update=ended)
        write_document(self.place.machine_file, self.document.model_copy(update={"run": run}))
        self.place.plan_file.unlink()
        return self.place


def open_submission(results: Path, document: MachineFile, plan: PlanFile) -> OpenSubmission:
    """A fresh folder below `results` with its `machine.json`, `ended` still null, and its plan.

    Raises: HostNotReady when the folder cannot be made or written.
    """
    name = f"{document.run.started[:10]}-{document.run.suite}"
    try:
        place = SubmissionFolder(_fresh_folder(results / document.machine.id, name))
    except OSError as error:
        raise _not_writable(results, error) from error
    opened = OpenSubmission(place, document, plan)
    try:
        opened.write()
        write_document(place.plan_file, plan)  # last: by it the run is known to be unfinished
    except HostNotReady:
        shutil.rmtree(place.folder, ignore_errors=True)  # nothing was measured yet
        raise
    return opened


def check_writable(results: Path) -> None:
    """Check, before the first trial, that folders can be made in `results`. Raises: HostNotReady when they cannot."""
    try:
        results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=results):
            pass
    except OSError as error:
        raise _not_writable(results, error) from error


def _not_writable(results: Path, error: OSError) -> HostNotReady:
    return HostNotReady(f"{results}: results cannot be written there: {error.strerror}; name another folder with --out")


def _fresh_folder(parent: Path, name: str) -> Path:
    """`<name>`, or `<name>-2` and so on if there was a run on that day: no measured row is ever overwritten."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError


def hand_to_sudo_user(folder: Path) -> None:
    """Give a submission's folder to the user who called `sudo`, so that they can read, credit and send it.

    The parent folders that were made for it become theirs too, up to the nearest that is theirs already. Without sudo
    this does nothing, nor where a third user could exchange what is handed over.
    """
    user = sudo_user()
    if user is None or stranger(folder):
        return
    for path in (*_on_the_way(folder.resolve(), user[0]), folder, *folder.iterdir()):
        status = path.lstat()
        is_only_here = stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)
        if status.st_uid == 0 and is_only_here:  # what root made here, and not another name of a file elsewhere
            os.chown(path, *user, follow_symlinks=False)


def _on_the_way(folder: Path, user: int) -> list[Path]:
    """Root's folders between `folder` and the nearest parent that is the user's; none if no parent is."""
    between: list[Path] = []
    for parent in folder.parents:
        owner = parent.stat().st_uid
        if owner == user:
            return between
        if owner != 0:
            break
        between.append(parent)
    return []
