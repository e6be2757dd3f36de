"""The loop of ours in which a script's clauses fire, and the tracer with them, live for the time of a `with` block.

What the tracer holds meanwhile of BPF maps, and of buffers in which a kernel hands it records, the kernel tells.
Source: bpf_map_show_fdinfo in kernel/bpf/syscall.c; proc_pid_maps(5). Of a map alone is the fdinfo read: that of some
links can kill the kernel (`live/loaded.py`).
"""

import contextlib
import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

from probe_effect.costs.map_memory import MEMLOCK_SINCE, RING, BpfMap, TracerMemory
from probe_effect.host import ROOT, read_text, run_program
from probe_effect.host.compilers import c_compiler, compiled
from probe_effect.host.processes import Child, is_readable
from probe_effect.live import bpf_objects, kernel_calls
from probe_effect.live.own_cost import CALLS_NOP10
from probe_effect.model import HostNotReady, series_of
from probe_effect.tracers.protocol import Tracer, TracerFailed
from probe_effect.tracers.tool import ToolSession, WorkFolder

SOURCE = Path(__file__).with_name("loop.c")
FLAGS = ("-O2", "-std=c11", "-Wall", "-Wextra", "-pthread", "-fno-omit-frame-pointer")
NOP10_FLAGS = ("-DCALLS_NOP10",) if CALLS_NOP10 else ()

SLOTS = 8
"""How many functions of each sort it has."""

OWN_FRAMES = 6 if platform.machine() == "aarch64" else 5
"""On the stack of a function that the loop calls, without any frames beside, as the kernel walks it."""

ANSWER_S = 10.0
"""A block takes some ms; on a machine whose CPUs are taken by others a hundred times as long."""


class LoopProcess(NamedTuple):
    """The loop's program, its process, and the system calls that it can make."""

    path: Path
    pid: int
    calls: frozenset[str]


class BlockTime(NamedTuple):
    """How long one block took: CPU time of the loop, and elapsed time, ns."""

    cpu_ns: int
    wall_ns: int


class CalibrationLoop:
    """The loop's process. It ends with the `with` block, and with us.

    Raises, when it is made: HostNotReady without a compiler.
    """

    def __init__(self) -> None:
        path = compiled(SOURCE, c_compiler(FLAGS + NOP10_FLAGS), "calibration/calibration-loop").path
        process = run_program([str(path), "--calls"], None)
        if process.returncode:
            msg = f"the program that the C compiler made of {SOURCE.name} does not run here: {process.stderr.strip()}"
            raise HostNotReady(msg)
        self._child = Child([str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process = LoopProcess(path, self._child.pid, frozenset(process.stdout.split()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._child.end()

    def run(self, operation: str, cpu: int, frames: int, times: int) -> BlockTime:
        self._child.tell(f"{operation} {cpu} {max(0, frames - OWN_FRAMES)} {times}\n")
        line = b""
        while not line.endswith(b"\n"):
            more = os.read(self._child.stdout, 100) if is_readable(self._child.stdout, ANSWER_S) else b""
            if not more and self._child.wait(0) is None:
                msg = f"the loop did {operation} on CPU {cpu} for {ANSWER_S:g} s without an end; is that CPU free?"
                raise HostNotReady(msg)
            if not more:
                output = self._child.output()[1].strip()
                raise HostNotReady(f"the loop ended at {operation} on CPU {cpu}: {output}")
            line += more
        return BlockTime(*map(int, line.split()))


LIVE_WITHIN_S, END_WITHIN_S = 30.0, 10.0


class Traced:
    """A tracer at work on the loop.

    Raises, on entering the block: HostNotReady, in the tracer's own words.
    """

    def __init__(self, text: str, tracer: Tracer, process: LoopProcess) -> None:
        self._work, self._pid = WorkFolder(), process.pid
        script = self._work.path / "calibration.bt"
        script.write_text(text, encoding="utf-8")
        self._before = set(bpf_objects.ids(bpf_objects.PROGRAM_NEXT))
        self._session = tracer.session(script, "nothing", process.path)

    def __enter__(self) -> Self:
        try:
            self._session.attach(self._pid)
            self._session.ready(LIVE_WITHIN_S)
        except BaseException as error:
            self.close()
            if isinstance(error, TracerFailed):
                raise HostNotReady(str(error)) from error
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def stop(self) -> None:
        """Have it end. Raises: HostNotReady where it had ended by itself, so that nothing was traced."""
        try:
            self._session.stop(END_WITHIN_S)
        except TracerFailed as error:
            raise HostNotReady(str(error)) from error

    def runs_in(self, block: Callable[[], None]) -> int:
        """How often programs ran that were not there before, while `block` went on. Raises: OSError."""
        statistics = kernel_calls.enable_statistics()
        try:
            before = self._runs()
            block()
            return self._runs() - before
        finally:
            os.close(statistics)

    def memory(self) -> TracerMemory | None:
        """What its maps and buffers take; None where it has no process of its own."""
        child = self._session.child if isinstance(self._session, ToolSession) else None
        return held_memory(child.pid) if child else None

    def close(self) -> None:
        """Leave nothing behind; once more does no harm."""
        self._session.end()
        self._work.remove()

    def _runs(self) -> int:
        return sum(program.runs for program in bpf_objects.programs() if program.id not in self._before)


MAP = "anon_inode:bpf-map"
FIELD = re.compile(r"^(\w+):\s*(\w+)$", re.MULTILINE)
PERF_BUFFER = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*anon_inode:\[perf_event\]$", re.MULTILINE)


def held_memory(pid: int) -> TracerMemory | None:
    """The memory of a tracer that is at work; None if it has gone, or is closed to us."""
    folder = ROOT / "proc" / str(pid)
    maps: dict[str, tuple[bool, int | None]] = {}
    try:
        for link in (folder / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it has been closed meanwhile
                if str(link.readlink()) == MAP:
                    fields = dict(FIELD.findall((folder / "fdinfo" / link.name).read_text(encoding="utf-8")))
                    maps[fields["map_id"]] = int(fields["map_type"]) == RING, _taken_bytes(fields)
        mapped = (folder / "maps").read_text(encoding="utf-8", errors="replace")
    except (OSError, LookupError, ValueError):
        return None
    if not mapped:  # it has ended, and nobody has waited for it yet
        return None
    buffers = sum(int(end, 16) - int(start, 16) for start, end in PERF_BUFFER.findall(mapped))
    rings, others = ([taken for is_ring, taken in maps.values() if is_ring is wanted] for wanted in (True, False))
    return TracerMemory(_sum(others), _sum([*rings, buffers]), is_measured=True)


def _taken_bytes(fields: dict[str, str]) -> int | None:
    """What a map takes, by the lines of its fdinfo; by the law where the kernel only estimates it."""
    if series_of(read_text(ROOT, "proc/sys/kernel/osrelease") or "") >= series_of(MEMLOCK_SINCE):
        return int(fields["memlock"])
    kind, key, value, entries = (int(fields[name]) for name in ("map_type", "key_size", "value_size", "max_entries"))
    bpf_map = BpfMap(kind=kind, key_bytes=key, value_bytes=value, entries=entries, flags=int(fields["map_flags"], 16))
    return bpf_map.taken_bytes(kernel_calls.possible_cpus(), os.sysconf("SC_PAGE_SIZE"))


def _sum(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)
