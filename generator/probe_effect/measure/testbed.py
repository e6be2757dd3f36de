"""The machine that runs are made on: this one, or one that is emulated (`probe_effect.guests`)."""

import fcntl
import os
import pwd
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from probe_effect.host import ROOT, read_text, stay_on, this_machine, usable_cpus
from probe_effect.host.compilers import CompiledProgram
from probe_effect.host.load import CpuTimes, cpu_times, trap_times
from probe_effect.host.this_machine import kinds
from probe_effect.host.workloads import WorkloadTask, build, clock_read_ns
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, probed_functions, run_once
from probe_effect.measure.request import Work
from probe_effect.model import HostNotReady, Metric, Sample
from probe_effect.store.machine_file import Machine, System
from probe_effect.store.result_tables import EventPath
from probe_effect.tracers.tool import SHARED_MEMORY


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
