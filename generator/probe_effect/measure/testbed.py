"""The machine that runs are made on: this one, or one that is emulated (`probe_effect.guests`).

It can be made quieter for as long as we measure. The old values are on disk before anything is set, so that the next
`lend` puts back what a killed one has left. The file is locked meanwhile: what a `lend` at work has set is nobody's to
put back. What the files mean: Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst.

What killed runs left on it is found and removed. The kernel ends the programs of a run that dies (see
`host/processes.py`), and most probes with them; this is for the rest.
"""

import fcntl
import json
import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from probe_effect.host import ROOT, read_text, stay_on, this_machine, usable_cpus
from probe_effect.host.compilers import CompiledProgram
from probe_effect.host.load import CpuTimes, cpu_times, trap_times
from probe_effect.host.ownership import demand, our_users
from probe_effect.host.processes import SHARED_MEMORY, WORK_PREFIX, end_process, mark_of
from probe_effect.host.system import CPU_FOLDER
from probe_effect.host.this_machine import kinds
from probe_effect.host.workloads import WorkloadTask, build, clock_read_ns
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, probed_functions, run_once, undisturbed
from probe_effect.measure.request import Work
from probe_effect.model import HostNotReady, Metric, ProbeEffectError, Sample
from probe_effect.store.machine_file import Machine, System
from probe_effect.store.result_tables import EventPath
from probe_effect.store.tables import printable
from probe_effect.tracers import dynamic_events, ftrace


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of a machine that we made ourselves; keys of `run` in machine.json."""

    mechanisms: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    program_runs: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Testbed:
    """A machine on which runs are made: the one that we run on, where another does not say otherwise."""

    cache: Path | None = None
    """Where its programs and its lock are, in place of the user's cache and the machine's own folder of locks."""

    @property
    def metric(self) -> Metric:
        """What is measured on the machine: `time` or `instructions`."""
        return "time"

    def cpus(self, work: Work) -> tuple[int, int | None]:
        """The CPU of the workload, or the first of several, and the CPU of the tracers, or None if they have none."""
        return (min(usable_cpus()), None) if work.occupies_cpus else this_machine.choose_cpus()

    @contextmanager
    def held(self, cpus: tuple[int, int | None]) -> Iterator[None]:
        """Hold the machine for this measurement, with this program and the tracers that it starts on the tracers' CPU.

        Raises: HostNotReady if another measurement holds it.
        """
        with measurement_lock(self.cache or LOCKS), _staying_on(cpus[1]):
            yield

    def program(self, work: Work) -> CompiledProgram:
        """The suite's workload, compiled. Raises: HostNotReady, ProbeEffectError."""
        return build(work.source(), self.cache, work.suite.workload.libraries)

    def run(self, planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits) -> Sample:
        """The row of one run, with its times by the machine's own clock. Raises: HostNotReady."""
        return run_once(planned, load, watch, limits)

    def recorded(self, row: Sample) -> Sample:
        """The row as it is written, in the machine's metric."""
        return row

    def machine(self) -> Machine:
        return this_machine.collect_machine()

    def system(self, program: Path | None, cpu: int) -> System:
        """The facts of its operating system; with a workload, also the time of a clock read on a CPU."""
        if program is None:
            return this_machine.collect_system(None)
        return this_machine.collect_system(clock_read_ns(program, cpu), ROOT, trap_times(cpu, self.cache))

    def cores(self) -> dict[int, str]:
        """Each CPU to the kind of its core; empty where all are alike."""
        return {cpu: kind.name for cpu, kind in kinds(ROOT).items()}

    def cpu_times(self, cpu: int) -> CpuTimes | None:
        """How a CPU of the machine spent its time since it started; None where it does not say."""
        return cpu_times(ROOT, cpu)

    def functions(self, names: Sequence[str], load: WorkloadTask) -> dict[str, str]:
        """First bytes of the user functions that are probed (`one_run.probed_functions`)."""
        return probed_functions(names, load)

    def origins(self) -> Origins:
        """The origins of the machine; empty if its owner installed it."""
        return Origins()

    def paths(self) -> Sequence[EventPath]:
        """What single events of the suite execute; empty if nothing records it: hardware does not say."""
        return ()


LOCKS = SHARED_MEMORY if SHARED_MEMORY.is_dir() else Path("/tmp")  # noqa: S108 (whoever owns the file may hold it)
"""Where every user finds the machine's one lock, whatever cache he has."""

LOCK = "probe-effect.lock"
OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def measurement_lock(folder: Path = LOCKS) -> Iterator[None]:
    """Be the only measurement on this machine: two would trace and slow each other, and neither would show it.

    The lock is a file in `folder`, of the user who came first, and is never written; the kernel lets go of it when we
    end, however we end. Raises: HostNotReady when another measurement holds it.
    """
    try:
        lock = _lock_file(folder / LOCK)
    except OSError as error:
        msg = f"{folder / LOCK}: expected a file that may be read, which is this machine's lock: {error.strerror}"
        raise HostNotReady(f"{msg}; remove it") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = f"another measurement is running on this machine{_holder(os.fstat(lock).st_ino)}; wait for its end"
            raise HostNotReady(f"{msg}, then start this one again") from error
        yield
    finally:
        os.close(lock)


def _lock_file(path: Path) -> int:
    """A descriptor of the lock, which may be another user's. Raises: OSError."""
    with suppress(FileNotFoundError):
        return os.open(path, OPENED)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        made = os.open(path, OPENED | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:  # another has just made it
        return os.open(path, OPENED)
    os.fchmod(made, 0o644)  # whatever the umask: each user has to open it
    return made


def _holder(inode: int) -> str:
    """The process that holds a lock, and its user, in words (proc_locks(5)); empty where the kernel does not say."""
    locks = (line.split() for line in (read_text(ROOT, "proc/locks") or "").splitlines())
    pid = next((words[4] for words in locks if words[1] == "FLOCK" and words[5].endswith(f":{inode}")), None)
    with suppress(OSError, KeyError):
        return f" (process {pid}, of {pwd.getpwuid((ROOT / f'proc/{pid}').stat().st_uid).pw_name})"
    return ""


@contextmanager
def _staying_on(cpu: int | None) -> Iterator[None]:
    """Keep this program, and the tracers that it starts, on one CPU; the workload moves itself to its own."""
    before = usable_cpus()
    if cpu is not None:
        stay_on({cpu})
    try:
        yield
    finally:
        stay_on(before)


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
