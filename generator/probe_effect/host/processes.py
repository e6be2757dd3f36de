"""Programs that we start, and what proc(5) says of processes and of the BPF programs that they hold.

What we start has a process group of its own, is waited for with a time limit, and is ended with its group.

A group of their own keeps a Ctrl-C at the terminal from them: we decide when they end, and in which order. Where
util-linux has `setpriv`, the kernel tells them when we are gone, however we went: no probe outlives a killed run.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from probe_effect.host import ROOT, read_text

STARTED_BY, STARTED_AS = "PROBE_EFFECT_PID", "PROBE_EFFECT_PROGRAMS"
"""Variables in the environment of the tools and workloads that we start, by which those of a killed run are recognised:
our process id; when we started, in ticks since the boot, and the names of the programs, after a `/` each."""

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (a fresh folder of our own is made inside)
WORK_PREFIX = "probe-effect-"
"""Begins the name of every work folder, before our process id: so what a killed run leaves behind is recognised."""

GRACE_S = 5.0  # time to end in order after SIGTERM, before SIGKILL


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended and what it used, with the children that it waited for itself."""

    exit_status: int
    """As `subprocess` gives it: negative for a signal."""
    user_ns: int
    sys_ns: int


class Child:
    """A running program. Always `end` it, also after `wait`: use `contextlib.closing` or `finally`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: int,
        stdout: int,
        stderr: int,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        is_ours: bool = True,
    ) -> None:
        """Start it. A command of the user's is not `is_ours`: what it leaves running is wanted, and bears no mark."""
        unmarked = {name: value for name, value in os.environ.items() if name not in {STARTED_BY, STARTED_AS}}
        # A program inherits signals that are ignored or held back: a shell without job control starts what it puts into
        # the background with SIGINT ignored, `nohup` ignores SIGHUP, and we hold signals back while we tidy up. A tool
        # that is to end at SIGINT would never end.
        is_usual = not _ignored() and not signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._popen = subprocess.Popen(
            [*_dying_with_us(), *command],
            cwd=folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            process_group=0,
            preexec_fn=None if is_usual else _as_usual,  # noqa: PLW1509 (it calls nothing that takes a lock)
            # Messages go to notes and are searched for words: one language.
            env={**unmarked, "LC_ALL": "C", **(mark(command) if is_ours else {}), **(environment or {})},
        )
        self._pidfd = end_descriptor(self._popen.pid)
        self._ended: Ended | None = None

    @property
    def pid(self) -> int:
        return self._popen.pid

    def wait(self, timeout_s: float) -> Ended | None:
        if self._ended is None and is_readable(self._pidfd, timeout_s):
            _, status, usage = os.wait4(self.pid, 0)
            self._popen.returncode = os.waitstatus_to_exitcode(status)
            self._ended = Ended(
                exit_status=self._popen.returncode,
                user_ns=round(usage.ru_utime * 1e9),
                sys_ns=round(usage.ru_stime * 1e9),
            )
        return self._ended

    def tell(self, text: str) -> None:
        """Write `text` to its standard input, which must be a pipe, and keep it open. A program gone is no fault."""
        if self._popen.stdin is not None:
            with suppress(BrokenPipeError):
                os.write(self._popen.stdin.fileno(), text.encode())

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program alone, not to its group. A program gone is no fault."""
        if self._ended is None:
            os.kill(self.pid, number)  # not yet waited for, so the id cannot belong to anybody else

    @property
    def stdout(self) -> int:
        assert self._popen.stdout is not None
        return self._popen.stdout.fileno()

    def output(self) -> tuple[str, str]:
        """What it wrote to the pipes of its standard output and error. Call after it ended."""
        streams = (self._popen.stdout, self._popen.stderr)
        texts = [stream.read().decode("utf-8", errors="replace") if stream else "" for stream in streams]
        return texts[0], texts[1]

    def end(self) -> Ended:
        for demand, patience_s in ((None, 0.0), (signal.SIGTERM, GRACE_S), (signal.SIGKILL, 3600.0)):
            if self._ended is None and demand is not None:
                # Not yet waited for, so the id cannot belong to anybody else.
                os.killpg(self.pid, demand)
            if (ended := self.wait(patience_s)) is not None:
                break
        else:
            raise RuntimeError(f"process {self.pid} did not end after SIGKILL")
        for stream in filter(None, (self._popen.stdin, self._popen.stdout, self._popen.stderr)):
            stream.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        return ended


def mark(command: Sequence[str]) -> dict[str, str]:
    """The variables that mark a command as started by us. A tool may start a workload that it is told by its path."""
    programs = [command[0], *(word for word in command[1:] if "/" in word and shutil.which(word))]
    names = (Path(program).name for program in programs)
    return {STARTED_BY: str(os.getpid()), STARTED_AS: "/".join([str(_began_ticks(PROC / "self")), *names])}


PROC = Path("/proc")
NO_PID = 1 << 23  # above every process id: PID_MAX_LIMIT of include/linux/threads.h is half of it


@dataclass(frozen=True, slots=True)
class RunMark:
    """The mark of a process: the program of ours that started it, and what that started."""

    pid: int
    began_ticks: int
    programs: frozenset[str]

    def is_of_the_living(self) -> bool:
        """Whether the program of ours still runs, and is not another with its process id."""
        return _began_ticks(PROC / str(self.pid)) == self.began_ticks

    def is_on(self, process: Path) -> bool:
        """Whether the process runs what was started, and not what that has started in turn; its words may follow those
        of an interpreter.
        """
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:3]
            return not self.programs.isdisjoint({Path(word).name for word in words})
        return False


def mark_of(process: Path) -> RunMark | None:
    """The mark of a process, by its folder in /proc; None without one, and where its ids are those of a container."""
    with suppress(OSError, ValueError, LookupError):
        if (process / "ns/pid").readlink() != (PROC / "self/ns/pid").readlink():
            return None
        words = (process / "environ").read_bytes().decode(errors="replace").split("\0")
        variables = dict(word.split("=", 1) for word in words if word.startswith((STARTED_BY, STARTED_AS)))
        ticks, *programs = variables[STARTED_AS].split("/")
        made = RunMark(int(variables[STARTED_BY]), int(ticks), frozenset(programs))
        return made if made.pid < NO_PID and _began_ticks(process) >= made.began_ticks else None
    return None


def _began_ticks(process: Path) -> int:
    """When a process began, in ticks since the boot (proc_pid_stat(5), field 22); -1 where there is none."""
    with suppress(OSError):
        return int((process / "stat").read_bytes().rpartition(b")")[2].split()[19])
    return -1


def _ignored() -> set[signal.Signals]:
    """The signals that we ignore, less those that Python ignores and `subprocess` restores."""
    ours = signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}
    return {number for number in ours if signal.getsignal(number) is signal.SIG_IGN}


def _as_usual() -> None:
    """In a program that is about to begin: no signal ignored, none held back."""
    for number in _ignored():
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _dying_with_us() -> tuple[str, ...]:
    """Words before a command that have the kernel send it SIGTERM when we die (PR_SET_PDEATHSIG, prctl(2))."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or not _tells_of_deaths(setpriv):
        return ()
    # Its parent, which the shell compares, may be gone before `setpriv` has asked for the signal.
    return (setpriv, "--pdeathsig", "TERM", "--", "/bin/sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"', str(os.getpid()))


@cache
def _tells_of_deaths(setpriv: str) -> bool:
    """Whether it is util-linux's: BusyBox's, which Alpine has, knows no --pdeathsig."""
    command = [setpriv, "--pdeathsig", "TERM", "/bin/sh", "-c", ":"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=GRACE_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def end_descriptor(pid: int) -> int:
    """A descriptor that becomes readable when the process ends; the caller closes it.

    Raises: ProcessLookupError when there is no such process.
    """
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    if sys.platform != "linux" and hasattr(select, "kqueue"):
        queue = select.kqueue()
        queue.control([select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)], 0)
        return os.dup(queue.fileno())  # the queue closes its own when it goes
    os.kill(pid, 0)
    readable, held = os.pipe()
    threading.Thread(target=_hold_until_end, args=(pid, held), daemon=True).start()
    return readable


def _hold_until_end(pid: int, descriptor: int) -> None:
    """Close a descriptor once the process has ended, and leave that to be waited for: illumos has nothing better."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:  # the end of another's child is only seen by looking again and again
        with suppress(ProcessLookupError):
            while True:
                os.kill(pid, 0)
                time.sleep(0.02)
    finally:
        os.close(descriptor)


def is_readable(descriptor: int, timeout_s: float) -> bool:
    """Whether `descriptor` has something to read, or has ended, within `timeout_s`."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))


PATIENCE_S = 10.0  # DTrace takes up to 9 s to end on a busy machine


def end_process(pid: int) -> None:
    """End any process, also one that is not our child, so that it removes its probes; by force if it does not end."""
    try:
        descriptor = end_descriptor(pid)
    except ProcessLookupError:
        return
    try:
        for demand in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(pid, demand)
            if is_readable(descriptor, PATIENCE_S):
                return
    finally:
        os.close(descriptor)


CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_RESOURCE, CAP_PERFMON, CAP_BPF = 19, 21, 24, 38, 39
"""Bits in CapEff. Source: capabilities(7), include/uapi/linux/capability.h."""


def state(pid: int) -> str | None:
    return status(pid).get("State", "")[:1] or None


def is_gone(pid: int) -> bool:
    return state(pid) in {None, "Z", "X"}


def status(pid: int | str, root: Path | None = None) -> dict[str, str]:
    """`/proc/PID/status` by name; empty when the process is gone. `self` is this process."""
    lines = (read_text(root or ROOT, f"proc/{pid}/status") or "").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def peak_rss_bytes(pid: int) -> int | None:
    """Largest resident memory of a running process so far (VmHWM); None when it has ended.

    Not wait4's `ru_maxrss`: that keeps the peak of the process before exec, which was ours.
    """
    peak = status(pid).get("VmHWM")
    return int(peak.split()[0]) * 1024 if peak else None  # in KiB, though it says kB


def has_capability(number: int, root: Path) -> bool:
    held = status("self", root).get("CapEff")
    return held is not None and bool(int(held, 16) >> number & 1)


def may_trace(root: Path) -> bool:
    """Whether this process may trace the kernel by its capabilities, which root may lack in a container.

    Source: capabilities(7); CAP_PERFMON and CAP_BPF together do for CAP_SYS_ADMIN in what tracers do, since Linux 5.8.
    """
    return has_capability(CAP_SYS_ADMIN, root) or all(has_capability(bit, root) for bit in (CAP_PERFMON, CAP_BPF))


def children(pid: int) -> list[int]:
    """Process ids of what its main thread has started; every process where CONFIG_PROC_CHILDREN is off."""
    listed = f"proc/{pid}/task/{pid}/children"
    if (ROOT / listed).exists():
        return [int(word) for word in (read_text(ROOT, listed) or "").split()]
    return [int(path.name) for path in ROOT.glob("proc/[0-9]*")]


def family(pid: int) -> str:
    """A process and all that it has started, ids with commas; itself alone where CONFIG_PROC_CHILDREN is off."""
    pids = [pid]
    for parent in pids:  # which grows meanwhile
        listed = read_text(ROOT, f"proc/{parent}/task/{parent}/children") or ""
        pids += [int(word) for word in listed.split()]
    return ",".join(map(str, pids))


def maps(pid: int) -> str:
    """What a process has in its memory, with the paths of files; empty when it is gone."""
    return read_text(ROOT, f"proc/{pid}/maps") or ""


def waits_for_go(pid: int) -> bool:
    """Whether a process sleeps in a system call on standard input that asks for one byte, as a workload does in `main`.

    `/proc/PID/syscall` has the call's number, which differs among processors, and its arguments. Where there is no such
    file, or it is closed to us, any sleep will do.
    """
    if state(pid) != "S":
        return False
    words = (read_text(ROOT, f"proc/{pid}/syscall") or "").split()
    return not words or (words[1:2] == ["0x0"] and words[3:4] == ["0x1"])


PROGRAM_ID = re.compile(r"^prog_id:\s*(\d+)$", re.MULTILINE)
RUNS = re.compile(r"^run_cnt:\s*(\d+)$", re.MULTILINE)


def count_runs(root: Path, *, on: bool) -> None:
    """Switch the kernel's count of runs of BPF programs on or off; nothing happens without one, or if we may not.

    Each run takes longer while it is on. Source: Documentation/admin-guide/sysctl/kernel.rst (bpf_stats_enabled, Linux
    5.1); kernel/bpf/syscall.c, bpf_prog_show_fdinfo.
    """
    with suppress(OSError):
        (root / "proc/sys/kernel/bpf_stats_enabled").write_text("1" if on else "0", encoding="ascii")


def program_runs(root: Path) -> int | None:
    """Runs of all BPF programs that processes hold, while the count was on; None where no process holds any.

    Only what programs say is read: reading what a link says can kill the kernel (`live.loaded`).
    """
    runs: dict[str, int] = {}
    for folder in root.glob("proc/[0-9]*/fd"):
        with suppress(OSError):  # a process that has ended meanwhile
            for descriptor in folder.iterdir():
                with suppress(OSError):  # it was closed meanwhile
                    if "bpf-prog" in str(descriptor.readlink()):
                        text = read_text(folder.parent, f"fdinfo/{descriptor.name}") or ""
                        program, count = PROGRAM_ID.search(text), RUNS.search(text)
                        if program and count:
                            runs[program[1]] = int(count[1])
    return sum(runs.values()) if runs else None
