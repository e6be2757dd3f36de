"""A tracer that is a program, run as a process beside the workload; the known tracers, and other versions by path.

Its output goes to files in memory: reading a pipe while the workload runs would fire probes on read. That its probes
are live is known from a line of its own, never from a wait.

Several tools have scripts that are the words of a command line, and of some `perf stat` counts the events or the calls.
"""

import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Literal, NoReturn

from probe_effect.host import ROOT, run_program
from probe_effect.host.kernel import missing
from probe_effect.host.processes import SHARED_MEMORY, WORK_PREFIX, Child, Ended, is_gone, may_trace, peak_rss_bytes
from probe_effect.model import Need, UsageError
from probe_effect.records import TOOLS
from probe_effect.tracers.protocol import Counting, Report, Session, Tracer, TracerFailed, install_advice

LOOK_EVERY_S = 0.001
"""How often a file is looked at while a proof is awaited; a start takes tens of ms at least."""

VERSION = re.compile(r"\d+(?:\.\d+)+")


class WorkFolder:
    """A fresh folder in memory (`/dev/shm` where there is one) for one run, with the tool's output and errors."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix=f"{WORK_PREFIX}{os.getpid()}-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
        )
        self.path = Path(self._folder.name)
        self.out, self.err = self.path / "out", self.path / "err"
        self.out.touch()
        self.err.touch()

    def remove(self) -> None:
        self._folder.cleanup()


class ToolSession(Session, ABC):
    """Base of sessions with a tool. A subclass says which command, or which prefix, which proof, and which count.

    A tool with a `prefix` starts the workload itself: it ends with it, and its time is known from the workload's end.
    """

    name: str
    """The tool's name in messages."""
    stop_signal: signal.Signals = signal.SIGTERM
    good_exits: frozenset[int] = frozenset({0})
    complains_in: tuple[str, ...] = ("err", "out")
    """Files of the work folder with the tool's own words, in the order in which they are asked."""
    harmless: re.Pattern[str] = re.compile(r"^\s*$")
    """Lines of its output that are no complaint."""
    always_counts: bool = False
    """Whether the tool counts whatever its script does."""
    look_every_s: float = LOOK_EVERY_S
    """Pause between two looks whether its probes are live."""

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path = ROOT) -> None:
        self.tool, self.script, self.counting, self.program, self.root = tool, script, counting, program, root
        self.work = WorkFolder()
        self.written = self.work.path / "written"
        """The file or folder to which the tool writes, where it does not print."""
        self.child: Child | None = None
        self.attach_ns: int | None = None
        self.pid = 0
        """The workload, or the tool that has started it."""
        self._start_ns = time.monotonic_ns()

    def command(self, pid: int) -> Sequence[str]:
        """The command that watches the workload `pid`; none for a tool that starts it."""
        return ()

    @abstractmethod
    def is_live(self) -> bool:
        """Whether it is proved that every probe is live. Raises: ValueError when the output is not understood."""

    @abstractmethod
    def count(self) -> tuple[int | None, int | None]:
        """(events seen, events lost), after the end. Raises: ValueError when the output is not understood."""

    def probes(self) -> int | None:
        """How many probes the tool says that it attached, after the end; None when it does not say.

        Raises: ValueError when the output is not understood.
        """
        return None

    def environment(self) -> dict[str, str]:
        return {}

    def attach(self, pid: int) -> None:
        """Start the tool, unless it has started as the process `pid`, and starts the workload. Raises: TracerFailed."""
        self.pid = pid
        if not self.prefix:
            self._start_ns = time.monotonic_ns()
            self.child = self.spawn(self.command(pid))

    def spawn(self, command: Sequence[str], terminal: int | None = None) -> Child:
        """A program in the workload's folder, which prints to the work folder, or to a terminal where one is given.

        Its errors are in the work folder. Raises: TracerFailed.
        """
        with self.work.out.open("ab") as out, self.work.err.open("ab") as err, _many_files():
            try:
                return Child(
                    command,
                    stdin=subprocess.DEVNULL if terminal is None else terminal,
                    stdout=out.fileno() if terminal is None else terminal,
                    stderr=err.fileno(),
                    folder=self.program.parent,
                    environment=self.environment(),
                )
            except OSError as error:
                raise TracerFailed(f"{self.name} cannot be started: {error.strerror}") from error

    def ready(self, timeout_s: float) -> None:
        """Return when every probe is live. Raises: TracerFailed when the tool dies or does not get there."""
        deadline_s = time.monotonic() + timeout_s
        while not self.is_live():
            if self.child is not None:
                has_ended = self.child.wait(self.look_every_s) is not None
            else:  # it runs the workload, and is not ours to wait for
                time.sleep(self.look_every_s)
                has_ended = is_gone(self.pid)
            if has_ended:
                self.fail("failed", "ended before its probes were live")
            if time.monotonic() > deadline_s:
                self.fail("timeout", f"no probe was live after {timeout_s:.0f} s")
        self.attach_ns = time.monotonic_ns() - self._start_ns

    def ask_to_stop(self) -> None:
        if self.child is not None:
            self.child.send(self.stop_signal)

    def wait_for_end(self, child: Child, timeout_s: float) -> Ended | None:
        """How the tool ended once it was asked to; None when it has not."""
        return child.wait(timeout_s)

    def stop(self, timeout_s: float) -> Report:
        """Ask the tool to stop, wait until it has flushed and exited, and count. Raises: TracerFailed."""
        if self.child is None:  # it ran the workload, and ended with it
            return self._report()
        rss_bytes = peak_rss_bytes(self.child.pid)
        asked_ns = time.monotonic_ns()
        self.ask_to_stop()
        ended = self.wait_for_end(self.child, timeout_s)
        detach_ns = time.monotonic_ns() - asked_ns
        if ended is None:
            self.fail("timeout", f"had not exited {timeout_s:.0f} s after it was asked to stop")
        if ended.exit_status not in self.good_exits:
            self.fail("failed", f"exit status {ended.exit_status}")
        cpu_ns = ended.user_ns + ended.sys_ns
        return replace(self._report(), tracer_cpu_ns=cpu_ns, tracer_rss_bytes=rss_bytes, detach_ns=detach_ns)

    def end(self) -> None:
        """Leave no process, no probe and no file behind."""
        if self.child is not None:
            self.child.end()
        self.work.remove()

    def output_bytes(self) -> int:
        path = self.written if self.written.exists() else self.work.out
        return path.stat().st_size

    def complaint(self) -> str:
        return next(filter(None, (words(self.work.path / name, self.harmless) for name in self.complains_in)), "")

    def fail(self, status: Literal["failed", "timeout"], what: str) -> NoReturn:
        """End the tool. Raises: TracerFailed with its own words, always."""
        if self.child is not None:
            self.child.end()
        complaint = self.complaint()
        raise TracerFailed(f"{self.name} {what}" + (f": {complaint}" if complaint else ""), status=status)

    def _report(self) -> Report:
        try:
            seen, lost = self.count() if self.always_counts or self.counting != "nothing" else (None, None)
            probes = self.probes()
        except ValueError as error:
            raise TracerFailed(f"the output of {self.name} is not understood: {error}") from error
        return Report(seen=seen, lost=lost, output_bytes=self.output_bytes(), attach_ns=self.attach_ns, probes=probes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Tracer):
    """Base of tracers that are programs: `program` is the command, and `sessions` its class of sessions."""

    program: str
    sessions: ClassVar[type[ToolSession]]
    sees: ClassVar[str] = ""
    """What it watches, for a tool that watches nothing by a facility of the kernel."""

    def version(self) -> str | None:
        return version_line(self.program)

    def available(self) -> str | None:
        return self.absent(self.program)

    def missing(self, need: Need) -> str | None:
        return f"{self.id} has no {need}: {self.sees}" if self.sees else missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> ToolSession:
        return self.sessions(self.program, script, counting, program, self.root)

    def absent(self, *programs: str) -> str | None:
        """None when these programs are on the PATH, or are paths to programs; else which is not, and what brings it."""
        advice = install_advice(TOOLS[self.tool].packages)
        return next(filter(None, (absent(program, advice) for program in programs)), None)


@contextmanager
def _many_files() -> Iterator[None]:
    """What is started meanwhile may open as many files as it is ever allowed: a tool has one for each probe."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def text_of(path: Path) -> str:
    """The text of a tool's file, whatever bytes it wrote; empty where there is no such file."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def words(path: Path, harmless: re.Pattern[str] = ToolSession.harmless) -> str:
    """The first lines of a file of output as one line, without those that are `harmless`."""
    lines = text_of(path).splitlines()[:50]
    return " ".join(line.strip() for line in lines if not harmless.search(line))


def read_back(command: Sequence[str]) -> str:
    """What a program prints about what was recorded. Raises: ValueError with its words when it fails, or hangs."""
    try:
        run = run_program(command, 600)  # for 7 million events at most: a run of 0.5 s with 70 ns for each
    except subprocess.TimeoutExpired as error:
        raise ValueError(str(error)) from error
    if run.returncode != 0:
        raise ValueError(f"`{' '.join(command)}` ended with status {run.returncode}: {' '.join(run.stderr.split())}")
    return run.stdout


def read_arguments(script: Path) -> list[str]:
    """The words in `script`, split as a shell splits them; `#` begins a comment. Raises: TracerFailed."""
    return split_arguments(read_script(script), script.name)


def read_script(script: Path) -> str:
    """The text of `script`. Raises: TracerFailed."""
    try:
        return script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TracerFailed(f"{script.name}: expected text in UTF-8: {error}") from error


def split_arguments(text: str, name: str) -> list[str]:
    """The words in the text of the script `name`, split as a shell splits them. Raises: TracerFailed."""
    try:
        return shlex.split(text, comments=True)
    except ValueError as error:
        raise TracerFailed(f"{name}: expected words as on a command line, with # comments: {error}") from error


def count_counters(text: str) -> int:
    """Events of all counters in a file of `perf stat -x, -o FILE`.

    Source: perf-stat(1), "CSV FORMAT": value, unit, event, time that it counted, share of the time that it counted.
    Raises: TracerFailed with perf's word when it did not count; ValueError when the text is of another form.
    """
    lines = counters(text)
    if not lines:
        raise ValueError("perf stat wrote no counter")
    total = 0
    for line in lines:
        try:
            value, _, event, _, share, *_ = line.split(",")
        except ValueError:
            raise ValueError(f"`{line}`, expected a value, its unit, its event, and how long it was counted") from None
        if value.startswith("<"):
            raise TracerFailed(f"perf stat says {value} for {event}")
        if float(share) < 100:
            msg = f"perf stat counted {event} for {share} % of the time, so that its value is an estimate"
            raise TracerFailed(f"{msg}; count fewer events")
        total += int(value)
    return total


def counters(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def version_line(program: str, *arguments: str) -> str | None:
    """First line that `program --version` prints (or with other `arguments`); None when it does not."""
    try:
        run = run_program([program, *(arguments or ("--version",))], 30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (run.stdout.strip() or run.stderr.strip()).splitlines()
    return lines[0].strip() if lines else None


def absent(program: str, advice: str) -> str | None:
    """None when `program` is on the PATH or is a path to a program, and starts; else a sentence with `advice`."""
    path = shutil.which(program)
    return _not_starting(path) if path else f"{program} is not installed; {advice}"


@cache
def _not_starting(path: str) -> str | None:
    """Why a program does not start, in the loader's words; None if it does, whatever it says."""
    try:
        run = run_program([path, "--version"])
    except OSError as error:
        return f"{path} does not start: {error.strerror}"
    except subprocess.TimeoutExpired:
        return None
    if run.returncode not in {126, 127}:  # with which the shell and the loader end where they cannot start a program
        return None
    why = next(iter((run.stderr.strip() or run.stdout.strip()).splitlines()), "no word why")
    return f"{path} does not start (exit {run.returncode}): {why}"


def not_root(name: str) -> str | None:
    """None for root with root's capabilities, else what to do: what `name` stands for is open to root only."""
    if os.geteuid() != 0:
        return f"{name} needs root; run this command with sudo"
    if not sys.platform.startswith("linux") or may_trace(ROOT):
        return None
    return f"{name} needs CAP_SYS_ADMIN, which root lacks here, as in a container; give the container --privileged"


def known_tracers() -> dict[str, Tracer]:
    """Tracer id to tracer, in the order in which they are offered."""
    return {name: tracer for name in TOOLS if (tracer := known_tracer(name))}


def known_tracer(name: str) -> Tracer | None:
    """The tracer of that id, without the modules of the others; None for an unknown one."""
    tool = TOOLS.get(name)
    if tool is None:
        return None
    module, _, class_name = tool.tracer.partition(":")
    made = getattr(import_module(f"{__package__}.{module}"), class_name)
    own = {"program": tool.program} if issubclass(made, Tool) else {}
    tracer: Tracer = made(id=name, tool=name, **own, **tool.options)
    return tracer


def with_paths(all_tracers: Mapping[str, Tracer], words: Sequence[str]) -> tuple[dict[str, Tracer], list[str]]:
    """(the known tracers with those given as `NAME=PATH`, the ids of those that `words` name).

    Raises: UsageError for a path that is no such tool, and for two of one version; an unknown name is left to the
        caller.
    """
    tracers, names = dict(all_tracers), []
    for word in words:
        name, has_path, program = word.partition("=")
        if has_path and name in all_tracers:
            other = at_path(all_tracers[name], program)
            name = other.id
            if tracers.setdefault(name, other) != other:
                msg = f"{program}: a {name} is given already; the data cannot tell two programs of one version apart"
                raise UsageError(msg)
        names.append(name)
    return tracers, names


def at_path(tracer: Tracer, program: str) -> Tracer:
    """The tool by the path of its program, with its version in its id: `bpftrace-0-23-2`.

    Raises: UsageError for a tool that has no program of its own, and for a program that does not say its version.
    """
    if not isinstance(tracer, Tool):
        raise UsageError(f"{tracer.id} is no program that could lie elsewhere; give its name without a path")
    # Tools are started in the workload's folder, and a run that is continued may be so from elsewhere.
    path = Path(on_path).absolute() if (on_path := shutil.which(program)) else program
    other = replace(tracer, program=str(path))
    version = other.version() or ""
    number = VERSION.search(version)
    if number is None:
        msg = f"{program}: expected a {tracer.id} that prints its version, found {version or 'nothing that runs'}"
        raise UsageError(msg)
    return replace(other, id=f"{tracer.id}-{number[0].replace('.', '-')}")
