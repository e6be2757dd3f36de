"""Probes whose events can be counted, of any kind: putting our counting program on them, and removing it again.

Uprobes go by one link for all functions of a file (Linux 6.6), kprobes by one for all functions (Linux 5.18).
Tracepoints go by raw ones, those on system calls by one for all calls. Each that the kernel refuses so goes by a perf
event. If it refuses a link, its probes are halved until those that cannot be attached are alone, so that one bad probe
spoils no other.
"""

import contextlib
import mmap
import os
import platform
import struct
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from system_calls import NoSuchSystemCall, NotSupportedSystemCall, syscalls

from probe_effect.live import bpf_objects, bpf_program, kernel_calls
from probe_effect.live.bpf_program import Instruction
from probe_effect.live.target import ThreadUse
from probe_effect.model import series_of
from probe_effect.records import beside
from probe_effect.store.tables import printable

ENDS = ("sys_enter", "sys_exit")

_FACTS: Any = beside(__file__, "countable")
NUMBER_OFFSETS: dict[str, int] = _FACTS["number_offsets"]
"""Where the kernel's registers have a call's number, bytes, by machine."""
ARCHITECTURES: dict[str, str] = _FACTS["architectures"]
NAMED_OTHERWISE: dict[str, str] = _FACTS["named_otherwise"]
"""Functions of the kernel, from which its tracepoints have their names, to their calls."""


@cache
def number(tracepoint: str) -> int | None:
    """The number of the call that a tracepoint is on, of this machine; None for one on all, and if it is not known."""
    call = tracepoint.partition(":")[2].removeprefix("sys_enter").removeprefix("sys_exit").removeprefix("_")
    if not call or call in NAMED_OTHERWISE.values():  # such a tracepoint is on a call of 32-bit programs
        return None
    try:
        architecture = ARCHITECTURES.get(platform.machine(), platform.machine())
        return int(syscalls().get(NAMED_OTHERWISE.get(call, call), architecture))
    except (NoSuchSystemCall, NotSupportedSystemCall):
        return None


CountableProbe = Literal["tracepoint", "kprobe", "kretprobe", "uprobe", "uretprobe", "usdt", "profile"]

IN_FILES: tuple[CountableProbe, ...] = ("uprobe", "uretprobe", "usdt")
RETURNS: tuple[CountableProbe, ...] = ("kretprobe", "uretprobe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Countable:
    """One probe whose events are to be counted.

    `probe`: the caller's own name for it. `name`: `category:name` of a tracepoint, the function of a kprobe.
    `path`, `offsets`: of a probe in a file, its places there, in bytes; several places count as one probe.
    `semaphore`: where the file counts the tools that watch a USDT probe, 0 if it does not. `mechanism`: how the
    kernel gets past the first instruction of a user probe; None of other probes, and where it is not known. `hz`: of a
    profile, whose events are computed and not counted.
    """

    probe: str
    kind: CountableProbe
    name: str = ""
    path: Path | None = None
    offsets: tuple[int, ...] = ()
    semaphore: int = 0
    mechanism: str | None = None
    hz: float = 0.0

    @property
    def calls_end(self) -> str | None:
        """The raw tracepoint of all calls, `sys_enter` or `sys_exit`, for a tracepoint on system calls; else None."""
        category, _, name = self.name.partition(":")
        end = next((end for end in ENDS if name.startswith(end)), None)
        is_on_calls = category == "raw_syscalls" or (category == "syscalls" and number(self.name) is not None)
        is_known = self.kind == "tracepoint" and platform.machine() in NUMBER_OFFSETS
        return end if is_known and end is not None and is_on_calls else None

    @property
    def group(self) -> tuple[str, ...]:
        return (self.kind, (self.calls_end or self.name) if self.kind == "tracepoint" else str(self.path))


Means = CountableProbe | Literal["raw-tracepoint"]
"""By what a probe is attached."""

MAP_BYTES = 1 << 26
MAP_ELEMENTS = 1 << 16
"""Most (probe, thread) pairs counted separately, and the memory that they may take; others are counted together."""

ELEMENT_OVERHEAD_BYTES = 64
"""About the bytes of a hash's element without its values (struct htab_elem, kernel/bpf/hashtab.c)."""

MOST_PROCESSES, MOST_CALLS, MOST_ENDED = 1 << 16, 1 << 10, 1 << 14
MOST_CLOSING = 8
"""Threads that close links."""

OWN_PROCESS_SINCE = (6, 10)
"""Linux whose links to many uprobes take a process for all its threads; before, only its first one ran the program.

Source: kernel/trace/bpf_trace.c, uprobe_prog_run, and the commit "bpf: fix multi-uprobe PID filtering logic".
"""


class Attachments:
    """Probes with our program on them; it counts only between `switch(on=True)` and `switch(on=False)`.

    They are attached from the beginning. Always `close` it: programs go with their descriptors.

    Args:
        countables: the probes; those of kind `profile` are not attached.
        watched: the ids of the processes whose events count; None for all.
        follow: whether the children of these count too.
        pid: the only process whose files get breakpoints; None for all that map them.
        stacks: whether the stacks of some events are looked at.
    Raises: OSError if the kernel refuses maps, programs or statistics; HostNotReady.
    """

    def __init__(
        self,
        countables: Sequence[Countable],
        watched: Iterable[int] | None,
        *,
        follow: bool,
        pid: int | None = None,
        stacks: bool = False,
    ) -> None:
        self.refused: dict[int, str] = {}
        """Probes that could not be attached, by their place in `countables`, with the kernel's error."""
        self.slots: list[tuple[int, ...]] = [(index,) for index in range(len(countables))]
        """Of each probe, the keys under which its events are counted: for all system calls each call's, and the rest's.

        Those that are no probe's place have the calls that are no probe's."""
        self.means: list[Means] = [countable.kind for countable in countables] + ["raw-tracepoint"] * len(ENDS)
        """By what the probe of each key is attached."""
        self._countables, self._pid, self._stacks = countables, pid, stacks
        self._link_pid = pid if pid is not None and series_of(os.uname().release) >= OWN_PROCESS_SINCE else 0
        self._cpus = kernel_calls.possible_cpus()
        self._ways: list[Callable[[], list[int]]] = []
        self._links: list[list[int]] = []
        self._programs: dict[tuple[Means, object], int] = {}
        self._ended: int | None = None
        with contextlib.ExitStack() as undo:
            self._closing = undo
            self._keep(kernel_calls.enable_statistics())
            switch = self._keep(kernel_calls.create_map(kernel_calls.ARRAY, 4, 8, 1, flags=kernel_calls.MEMORY_MAPPED))
            self._switch, self._switched = switch, undo.enter_context(mmap.mmap(switch, mmap.PAGESIZE))
            self._watched = None if watched is None else self._watch(watched, follow=follow)
            self._counts = self._make_counts()
            attached = [index for index, countable in enumerate(countables) if countable.kind != "profile"]
            # what is on system calls is hot, and attached last: for the shortest time
            attached.sort(key=lambda index: (countables[index].calls_end is not None, countables[index].group))
            for _, indexes in groupby(attached, key=lambda index: countables[index].group):
                self._attach_group(list(indexes))
            self._closing = undo.pop_all()

    def watch(self, pids: Iterable[int]) -> None:
        for pid in pids:
            if self._watched is not None:
                kernel_calls.update(self._watched, struct.pack("=I", pid), struct.pack("=I", 1))

    def switch(self, *, on: bool) -> None:
        """Start or stop counting, at all probes at the same moment."""
        self._switched[0] = on

    def attach(self) -> None:
        """Put the program on the probes again. Raises: OSError."""
        if not self._links:
            for way in self._ways:
                with contextlib.suppress(ProcessLookupError):  # the process has ended
                    self._links.append(way())

    def detach(self) -> None:
        """Remove the program from all probes; nothing of them stays in the kernel.

        All links at once: each waits for a grace period, during which the probes of the others would go on to fire.
        """
        links, self._links = self._links, []  # first, so that nobody closes them again where this is interrupted
        with ThreadPoolExecutor(min(MOST_CLOSING, len(links) or 1)) as pool:
            for _ in pool.map(_close_all, links):
                pass

    def runs(self) -> dict[Means, tuple[int, int]]:
        """(how often our programs ran until now, counted or not, and for how many ns), by the means of attaching."""
        total: dict[Means, tuple[int, int]] = {}
        for (means, _), fd in self._programs.items():
            program, (runs, run_ns) = bpf_objects.program(fd), total.get(means, (0, 0))
            total[means] = runs + program.runs, run_ns + program.run_ns
        return total

    def read(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """What was counted until now on each CPU, by key of `slots` and thread."""
        return {
            (slot, thread): values
            for key, values in kernel_calls.read_per_cpu(self._counts, 8, self._cpus)
            for slot, thread in [struct.unpack("=2I", key)]
            if slot != bpf_program.STACKS
        }

    def frames(self) -> float | None:
        """The mean number of frames on the stacks that were looked at, 48 at most; None without any."""
        wanted = struct.pack("=2I", bpf_program.STACKS, bpf_program.REST)
        counts = kernel_calls.read_per_cpu(self._counts, 8, self._cpus)
        values = next((values for key, values in counts if key == wanted), ())
        stacks = sum(value >> bpf_program.STACK_BITS for value in values)
        own_bytes = sum(value & ((1 << bpf_program.STACK_BITS) - 1) for value in values)
        return own_bytes / 8 / stacks if stacks else None

    def ended(self) -> dict[int, ThreadUse]:
        """Thread id to each thread that ended, with all its CPU time; none where children are not followed."""
        if self._ended is None:
            return {}
        thread_by_id = {}
        for _, (cpu_ns, ids, *name) in kernel_calls.read_per_cpu(self._ended, 4, bpf_program.ENDED_WORDS):
            comm = printable(bpf_objects.text(struct.pack("=2Q", *name)))
            pid, tid = ids >> 32, ids & 0xFFFF_FFFF
            thread_by_id[tid] = ThreadUse(tid=tid, pid=pid, comm=comm, cpu_s=cpu_ns / 1e9, waited_s=0.0)
        return thread_by_id

    def close(self) -> None:
        self.detach()
        self._closing.close()

    def _keep(self, fd: int) -> int:
        self._closing.callback(os.close, fd)
        return fd

    def _watch(self, watched: Iterable[int], *, follow: bool) -> int:
        """The hash of watched processes; a process that is forked from now on is in it before it runs."""
        self._watched = self._keep(kernel_calls.create_map(kernel_calls.HASH, 4, 4, MOST_PROCESSES))
        self.watch(watched)
        if not follow:
            return self._watched
        offset = kernel_calls.field_offset("sched", "sched_process_fork", "child_pid")
        code = bpf_program.following(self._watched, offset)
        program = self._keep(kernel_calls.load(kernel_calls.TRACEPOINT, code, "pe_follow"))
        event = self._keep(kernel_calls.open_tracepoint("sched", "sched_process_fork"))
        self._keep(kernel_calls.link_perf_event(program, event, 0))
        time_offset = bpf_objects.cpu_time_offset()
        if time_offset is not None:  # else the CPU time of threads that have ended is not known
            value_bytes = 8 * bpf_program.ENDED_WORDS
            self._ended = self._keep(kernel_calls.create_map(kernel_calls.HASH, 4, value_bytes, MOST_ENDED))
            code = bpf_program.ending(self._watched, self._ended, time_offset)
            program = self._keep(kernel_calls.load(kernel_calls.RAW_TRACEPOINT, code, "pe_end"))
            with contextlib.suppress(OSError):  # likewise
                self._keep(kernel_calls.link_raw_tracepoint(program, "sched_process_exit"))
        return self._watched

    def _make_counts(self) -> int:
        """The map of counts, with the elements of each probe that stand for threads without one."""
        room = min(MAP_ELEMENTS, MAP_BYTES // (8 * self._cpus + ELEMENT_OVERHEAD_BYTES))
        entries = 2 * len(self.means) + 1 + room
        counts = self._keep(kernel_calls.create_map(kernel_calls.PERCPU_HASH, 8, 8, entries))
        threads = (bpf_program.REST, bpf_program.ELSEWHERE)
        keys = [(probe, thread) for probe in range(len(self.means)) for thread in threads]
        for key in [*keys, (bpf_program.STACKS, bpf_program.REST)] if self._stacks else keys:
            kernel_calls.update(counts, struct.pack("=2I", *key), bytes(8 * self._cpus))
        return counts

    def _attach_group(self, indexes: list[int]) -> None:
        """Attach by one link for all if the kernel can; else each half by one, or a single probe by a perf event."""
        first = self._countables[indexes[0]]
        ways: list[Callable[[], list[int]]]
        if first.kind != "tracepoint":
            ways = [partial(self._link_many, first.kind, indexes)]
        elif first.calls_end:
            ways = [partial(self._link_calls, first.calls_end, indexes)]
        else:
            ways = [partial(self._link_raw, indexes[0])]
        if len(indexes) == 1:
            ways.append(partial(self._link_one, first.kind, indexes[0]))
        for way in ways:
            try:
                self._links.append(way())
            except OSError as error:
                words = error.strerror or str(error)
            else:
                self._ways.append(way)
                return
        if len(indexes) == 1:
            self.refused[indexes[0]] = words
        else:
            middle = len(indexes) // 2
            self._attach_group(indexes[:middle])
            self._attach_group(indexes[middle:])

    def _link_raw(self, index: int) -> list[int]:
        program = self._program("raw-tracepoint", index, kernel_calls.RAW_TRACEPOINT, bpf_program.always(index))
        link = kernel_calls.link_raw_tracepoint(program, self._countables[index].name.partition(":")[2])
        self.means[index] = "raw-tracepoint"
        return [link]

    def _link_calls(self, end: str, indexes: list[int]) -> list[int]:
        """One program for all system calls: those of other numbers are counted together, for they take time too."""
        others = len(self._countables) + ENDS.index(end)
        numbers = {index: number(self._countables[index].name) for index in indexes}
        probes = {call: index for index, call in reversed(numbers.items()) if call is not None}
        if ("raw-tracepoint", end) not in self._programs:
            by_number = self._keep(kernel_calls.create_map(kernel_calls.HASH, 4, 4, MOST_CALLS))
            for call, index in probes.items():
                kernel_calls.update(by_number, struct.pack("=I", call), struct.pack("=I", index))
            offset = NUMBER_OFFSETS[platform.machine()] if end == "sys_exit" else None  # the entry is told the number
            code = bpf_program.by_call(by_number, others, offset)
            self._program("raw-tracepoint", end, kernel_calls.RAW_TRACEPOINT, code)
        link = kernel_calls.link_raw_tracepoint(self._programs["raw-tracepoint", end], end)
        for index, own in numbers.items():
            self.slots[index] = (*probes.values(), others) if own is None else (probes[own],)
            self.means[index] = "raw-tracepoint"
        return [link]

    def _link_many(self, kind: CountableProbe, indexes: list[int]) -> list[int]:
        multi = kernel_calls.UPROBE_MULTI if kind in IN_FILES else kernel_calls.KPROBE_MULTI
        program = self._program(kind, multi, kernel_calls.KPROBE, bpf_program.by_cookie(), attach_type=multi)
        ones = [(index, self._countables[index]) for index in indexes]
        is_return = kind in RETURNS
        if kind not in IN_FILES:
            functions = [(countable.name, index) for index, countable in ones]
            return [kernel_calls.link_kprobes(program, functions, is_return=is_return)]
        places = [(offset, countable.semaphore, index) for index, countable in ones for offset in countable.offsets]
        path = os.fsencode(ones[0][1].path or "")
        return [kernel_calls.link_uprobes(program, path, places, pid=self._link_pid, is_return=is_return)]

    def _link_one(self, kind: CountableProbe, index: int) -> list[int]:
        countable = self._countables[index]
        sort = kernel_calls.TRACEPOINT if kind == "tracepoint" else kernel_calls.KPROBE
        program = self._program(kind, None, sort, bpf_program.by_cookie())
        descriptors: list[int] = []
        try:
            for offset in countable.offsets or (0,):
                event = self._open(countable, offset)
                descriptors.append(event)
                descriptors.append(kernel_calls.link_perf_event(program, event, index))
        except OSError:
            _close_all(descriptors)
            raise
        return descriptors

    def _open(self, countable: Countable, offset: int) -> int:
        if countable.kind == "tracepoint":
            return kernel_calls.open_tracepoint(*countable.name.split(":", 1))
        device, name, pid = "kprobe", countable.name.encode(), -1
        if countable.kind in IN_FILES:
            device, name, pid = "uprobe", os.fsencode(countable.path or ""), -1 if self._pid is None else self._pid
        is_return = countable.kind in RETURNS
        return kernel_calls.open_dynamic(
            device, name, offset, is_return=is_return, semaphore=countable.semaphore, pid=pid
        )

    def _program(
        self, means: Means, which: object, sort: int, to_probe: Sequence[Instruction | str], *, attach_type: int = 0
    ) -> int:
        """The program for probes that are attached by such means, loaded when it is first needed."""
        if (means, which) not in self._programs:
            code = bpf_program.counting(self._counts, self._switch, self._watched, to_probe, stacks=self._stacks)
            fd = self._keep(kernel_calls.load(sort, code, f"pe_{means.partition('-')[0]}", attach_type=attach_type))
            self._programs[means, which] = fd
        return self._programs[means, which]


def _close_all(descriptors: list[int]) -> None:
    for fd in reversed(descriptors):  # the link before its event
        os.close(fd)
