"""Stopping in order, a quieter machine for as long as we measure, and the leftovers of a killed run.

The old values are on disk before anything is set, so that the next `lend` puts back what a killed one has left. The
file is locked meanwhile: what a `lend` at work has set is nobody's to put back. What the files mean:
Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst.

The kernel ends the programs of a run that dies (see `processes`), and most probes with them; this is for the rest.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from probe_effect.host import ROOT, read_text
from probe_effect.host.ownership import demand, our_users
from probe_effect.host.processes import end_process, mark_of
from probe_effect.host.system import CPU_FOLDER
from probe_effect.model import INTERRUPTED, ProbeEffectError
from probe_effect.store.tables import printable
from probe_effect.tracers import dynamic_events, ftrace
from probe_effect.tracers.tool import SHARED_MEMORY, WORK_PREFIX

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
"""The signals with which a terminal, a system that shuts down, and a timer of ours ask a program to end."""


class Interrupted(ProbeEffectError):
    """The program was asked to stop."""

    exit_status = INTERRUPTED


class TimeIsOver(Interrupted):
    """The time that it was given is over."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` at the first signal to stop. Further signals wait until everything is tidied up.

    A terminal that is gone stops nothing where SIGHUP is ignored already, as nohup(1) has it.
    """

    def stop(number: int, _: FrameType | None) -> None:
        for known in SIGNALS:
            signal.signal(known, signal.SIG_IGN)
        if number == signal.SIGALRM:
            raise TimeIsOver("the time is over")
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    is_deaf = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    before = {number: signal.signal(number, stop) for number in SIGNALS if number != signal.SIGHUP or not is_deaf}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Have `interruptible` raise `TimeIsOver` when the block takes longer."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold these signals back until the block is left, so that it is run as a whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


QUIET = {"cpu[0-9]*/cpufreq/scaling_governor": "performance", "intel_pstate/no_turbo": "1", "cpufreq/boost": "0"}
"""Files below `CPU_FOLDER`, to the value of each with which times vary less."""


OTHER_STATE = "remove it, or have XDG_STATE_HOME name another folder"


def state_file() -> Path:
    """Where the old values are: below `$XDG_STATE_HOME/probe-effect`, or `~/.local/state/probe-effect`."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local/state") / "probe-effect" / "settings-before.json"


@contextmanager
def quiet_machine(say: Callable[[str], None], *, is_wanted: bool, root: Path = ROOT) -> Iterator[None]:
    """Set what can be set, where that is wanted, and put it back at the end. `say` is told what is done."""
    files = ((path, value) for names, value in QUIET.items() for path in sorted((root / CPU_FOLDER).glob(names)))
    values = {str(path): value for path, value in files if os.access(path, os.W_OK) and _current(path) != value}
    if not is_wanted or not values:
        yield
        return
    state_file().parent.mkdir(parents=True, exist_ok=True)
    demand([state_file().parent, state_file()], OTHER_STATE)
    with state_file().open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump({path: _current(Path(path)) for path in values}, file)
        file.flush()
        os.fsync(file.fileno())
        try:
            _set(values, say)
            yield
        finally:
            with undisturbed():
                _restore(say)


def put_back(say: Callable[[str], None]) -> None:
    """Put back what a killed `lend` has set; nothing where none has, or where one is at work.

    Raises: UsageError where another user may have written what was set.
    """
    demand([state_file()], OTHER_STATE)
    try:
        with state_file().open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _restore(say)
    except (FileNotFoundError, BlockingIOError):
        return


def _current(path: Path) -> str | None:
    return read_text(path.parent, path.name)


def _set(values: Mapping[str, str], say: Callable[[str], None]) -> None:
    for path, value in values.items():
        try:
            Path(path).write_text(value, encoding="utf-8")
            say(f"set: {path} to {value}")
        except OSError as refusal:
            say(f"not set: {path} to {value}: {refusal.strerror}")


def _restore(say: Callable[[str], None]) -> None:
    """Put back what the file says, and remove it once all is as it was, or is not there any more."""
    text = state_file().read_text(encoding="utf-8")
    try:
        before: dict[str, str] = json.loads(text)
    except ValueError:  # killed while it was written: nothing had been set
        before = {}
    ours = [f"{CPU_FOLDER}/{names}" for names in QUIET]
    values = {path: value for path, value in before.items() if any(map(Path(path).match, ours))}
    _set(values, say)
    if all(_current(Path(path)) in {value, None} for path, value in values.items()):
        state_file().unlink()


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that a killed run left behind, in words, and how to remove it."""

    what: str
    remove: Callable[[], None]


def leftovers() -> list[Leftover]:
    """All leftovers of killed runs on this machine; programs first, because they hold the others."""
    left: list[Leftover] = []
    for process in ROOT.glob("proc/[0-9]*"):
        mark = mark_of(process)
        if mark is None or mark.is_of_the_living() or _user_of(process) not in our_users():
            continue
        pid = int(process.name)
        is_ours = mark.is_on(process) or _works_in_folder_of(mark.pid, process)
        what = f"process {pid} ({printable(read_text(process, 'comm') or 'ended')})"
        left.append(Leftover(what, partial(end_process if is_ours else _leave_alone, pid)))
    if os.geteuid() == 0:  # to others tracefs is closed
        names, groups = ftrace.leftovers(), dynamic_events.leftovers()
        left += [Leftover(f"tracing instance {name}", partial(ftrace.remove_instance, name)) for name in names]
        left += [Leftover(f"probes of the group {name}", partial(dynamic_events.remove_group, name)) for name in groups]
    for parent in {SHARED_MEMORY, Path(tempfile.gettempdir())}:
        for path in sorted(parent.glob(f"{WORK_PREFIX}*")):
            run = re.match(rf"{WORK_PREFIX}(\d{{1,7}})-", path.name)  # no system has ids of more digits
            if run and not _is_alive(int(run[1])) and path.is_dir() and _user_of(path) in our_users():
                left.append(Leftover(f"folder {path}", partial(shutil.rmtree, path, ignore_errors=True)))
    return left


def _works_in_folder_of(pid: int, process: Path) -> bool:
    """Whether the working folder of a process is one that the run `pid` made, as that of a build is."""
    with suppress(OSError):
        return any(part.startswith(f"{WORK_PREFIX}{pid}-") for part in (process / "cwd").readlink().parts)
    return False


def _user_of(path: Path) -> int | None:
    with suppress(OSError):
        return path.lstat().st_uid
    return None


def _leave_alone(pid: int) -> None:
    # A tool of ours has started something else, which may be wanted.
    raise ProbeEffectError(f"it is no program that this one starts; if nobody needs it: kill {pid}")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as refusal:
        return isinstance(refusal, PermissionError)  # somebody else's
    return True
