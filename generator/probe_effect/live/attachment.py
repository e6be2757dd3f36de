"""Putting our counting program on probes of any kind, by the means that attaches most at once, and removing it again.

Uprobes go by one link for all functions of a file (Linux 6.6), kprobes by one for all functions (Linux 5.18), else each
by a perf event, as tracepoints do. If the kernel refuses a link, its probes are halved until those that cannot be
attached are alone, so that one bad probe spoils no other.
"""

from __future__ import annotations

import contextlib
import os
import struct
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from probe_effect.live import bpf, bpf_objects, bpf_program, perf_event
from probe_effect.live.countable import IN_FILES, RETURNS
from probe_effect.model import series_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from probe_effect.live.countable import Countable, CountableProbe

MAP_BYTES = 1 << 26
MAP_ELEMENTS = 1 << 16
"""Most (probe, thread) pairs counted separately, and the memory that they may take; others are counted together."""

ELEMENT_OVERHEAD_BYTES = 64
"""About the bytes of a hash's element without its values (struct htab_elem, kernel/bpf/hashtab.c)."""

MOST_PROCESSES = 1 << 16

OWN_PROCESS_SINCE = (6, 10)
"""Linux whose links to many uprobes take a process for all its threads; before, only its first one ran the program.

Source: kernel/trace/bpf_trace.c, uprobe_prog_run, and the commit "bpf: fix multi-uprobe PID filtering logic".
"""


@dataclass(slots=True)
class ProbeCounts:
    """What was counted of a probe until now."""

    by_thread: dict[int, int] = field(default_factory=dict)
    by_cpu: dict[int, int] = field(default_factory=dict)
    rest: int = 0
    """Events of the target in threads for which there was no room."""
    elsewhere: int = 0
    """Events of others than the target."""

    @property
    def events(self) -> int:
        """The events of the target."""
        return sum(self.by_thread.values()) + self.rest


@dataclass(frozen=True, slots=True)
class Runs:
    """How often the programs of one kind ran, for any process, and for how long."""

    runs: int
    run_ns: int


class Attachments:
    """Probes with our program on them; it counts only between `switch(on=True)` and `switch(on=False)`.

    Always `close` it: programs are detached when their descriptors are closed.

    Args:
        countables: the probes; those of kind `profile` are not attached.
        watched: the ids of the processes whose events count; None for all.
        follow: whether the children of these count too.
        pid: the only process whose files get breakpoints; None for all that map them.
    Raises: OSError if the kernel refuses maps, programs or statistics; HostNotReady.
    """

    def __init__(
        self, countables: Sequence[Countable], watched: Iterable[int] | None, *, follow: bool, pid: int | None = None
    ) -> None:
        self.refused: dict[int, str] = {}
        """Probes that could not be attached, by their place in `countables`, with the kernel's error."""
        self._countables, self._pid = countables, pid
        self._link_pid = pid if pid is not None and _kernel_version() >= OWN_PROCESS_SINCE else 0
        self._cpus = bpf.possible_cpus()
        self._links: list[tuple[frozenset[int], list[int]]] = []
        self._programs: dict[CountableProbe, tuple[int, int]] = {}
        with contextlib.ExitStack() as undo:
            self._closing = undo
            self._keep(bpf.enable_statistics())
            self._switch = self._keep(bpf.create_map(bpf.ARRAY, 4, 8, 1))
            self._watched = None if watched is None else self._watch(watched, follow=follow)
            self._counts = self._make_counts()
            self._attach(range(len(countables)))
            self._closing = undo.pop_all()

    @property
    def live(self) -> set[int]:
        """Probes that are attached, by their place in `countables`."""
        return {index for indexes, _ in self._links for index in indexes}

    def watch(self, pids: Iterable[int]) -> None:
        """Count the events of these processes too."""
        for pid in pids:
            if self._watched is not None:
                bpf.update(self._watched, struct.pack("=I", pid), struct.pack("=I", 1))

    def switch(self, *, on: bool) -> None:
        """Start or stop counting, at all probes at the same moment."""
        bpf.update(self._switch, bytes(4), struct.pack("=Q", on))

    def runs(self) -> dict[CountableProbe, Runs]:
        """What our programs ran until now, by kind of probe, counted or not."""
        found = {}
        for kind, descriptors in self._programs.items():
            infos = [bpf_objects.program(fd) for fd in descriptors if fd >= 0]
            found[kind] = Runs(sum(one.runs for one in infos), sum(one.run_ns for one in infos))
        return found

    def counts(self) -> list[ProbeCounts]:
        """What was counted until now of each probe, in the order of `countables`."""
        found = [ProbeCounts() for _ in self._countables]
        for key, values in bpf.read_per_cpu(self._counts, 8, self._cpus):
            index, thread = struct.unpack("=2I", key)
            _add(found[index], thread, values)
        return found

    def detach(self, indexes: set[int]) -> None:
        """Remove the program from these probes. A link to many is closed, and made again for those that stay."""
        touched = [one for one in self._links if one[0] & indexes]
        self._links = [one for one in self._links if not one[0] & indexes]
        for _, descriptors in touched:
            _close_all(descriptors)
        self._attach({index for kept, _ in touched for index in kept} - indexes)

    def close(self) -> None:
        """Detach everything, and restore the statistics' setting."""
        for _, descriptors in self._links:
            _close_all(descriptors)
        self._links = []
        self._closing.close()

    def _keep(self, fd: int) -> int:
        self._closing.callback(os.close, fd)
        return fd

    def _watch(self, watched: Iterable[int], *, follow: bool) -> int:
        """The hash of watched processes; a process that is forked from now on is in it before it runs."""
        self._watched = self._keep(bpf.create_map(bpf.HASH, 4, 4, MOST_PROCESSES))
        self.watch(watched)
        if follow:
            offset = perf_event.field_offset("sched", "sched_process_fork", "child_pid")
            code = bpf_program.following(self._watched, offset)
            program = self._keep(bpf.load(bpf.TRACEPOINT, code, "pe_follow"))
            event = self._keep(perf_event.open_tracepoint("sched", "sched_process_fork"))
            self._keep(bpf.link_perf_event(program, event, 0))
        return self._watched

    def _make_counts(self) -> int:
        """The map of counts, with the elements of each probe that stand for threads without one."""
        probes = len(self._countables)
        room = min(MAP_ELEMENTS, MAP_BYTES // (8 * self._cpus + ELEMENT_OVERHEAD_BYTES))
        counts = self._keep(bpf.create_map(bpf.PERCPU_HASH, 8, 8, 2 * probes + room))
        for index in range(probes):
            for thread in (bpf_program.REST, bpf_program.ELSEWHERE):
                bpf.update(counts, struct.pack("=2I", index, thread), bytes(8 * self._cpus))
        return counts

    def _attach(self, indexes: Iterable[int]) -> None:
        wanted = [index for index in sorted(indexes) if self._countables[index].kind != "profile"]
        order = sorted(wanted, key=lambda index: self._countables[index].group)
        for _, group in groupby(order, key=lambda index: self._countables[index].group):
            self._attach_group(list(group))

    def _attach_group(self, indexes: list[int]) -> None:
        """Attach by one link for all if the kernel can; else each half by one, or a single probe by a perf event."""
        kind = self._countables[indexes[0]].kind
        ways: list[Callable[[], list[int]]] = []
        if kind != "tracepoint":
            ways.append(partial(self._link_many, kind, indexes))
        if len(indexes) == 1:
            ways.append(partial(self._link_one, kind, indexes[0]))
        for way in ways:
            try:
                self._links.append((frozenset(indexes), way()))
            except OSError as error:
                words = error.strerror or str(error)
            else:
                return
        if len(indexes) == 1:
            self.refused[indexes[0]] = words
            return
        middle = len(indexes) // 2
        self._attach_group(indexes[:middle])
        self._attach_group(indexes[middle:])

    def _link_many(self, kind: CountableProbe, indexes: list[int]) -> list[int]:
        program = self._program(kind, is_multi=True)
        ones = [(index, self._countables[index]) for index in indexes]
        if kind not in IN_FILES:
            return [bpf.link_kprobes(program, [(one.name, index) for index, one in ones], is_return=kind in RETURNS)]
        places = [(offset, one.semaphore, index) for index, one in ones for offset in one.offsets]
        path = os.fsencode(ones[0][1].path or "")
        return [bpf.link_uprobes(program, path, places, pid=self._link_pid, is_return=kind in RETURNS)]

    def _link_one(self, kind: CountableProbe, index: int) -> list[int]:
        """A perf event for each place, with a link on it."""
        one, program = self._countables[index], self._program(kind, is_multi=False)
        descriptors: list[int] = []
        try:
            for offset in one.offsets or (0,):
                event = self._open(one, offset)
                descriptors.append(event)
                descriptors.append(bpf.link_perf_event(program, event, index))
        except OSError:
            _close_all(descriptors)
            raise
        return descriptors

    def _open(self, one: Countable, offset: int) -> int:
        if one.kind == "tracepoint":
            return perf_event.open_tracepoint(*one.name.split(":", 1))
        device, name = (
            ("uprobe", os.fsencode(one.path or "")) if one.kind in IN_FILES else ("kprobe", one.name.encode())
        )
        pid = self._pid if self._pid is not None and one.kind in IN_FILES else -1
        is_return = one.kind in RETURNS
        return perf_event.open_dynamic(device, name, offset, is_return=is_return, semaphore=one.semaphore, pid=pid)

    def _program(self, kind: CountableProbe, *, is_multi: bool) -> int:
        """The program for probes of a kind, loaded when it is first needed."""
        loaded = self._programs.get(kind, (-1, -1))
        if loaded[is_multi] < 0:
            code = bpf_program.counting(self._counts, self._switch, self._watched)
            multi = bpf.UPROBE_MULTI if kind in IN_FILES else bpf.KPROBE_MULTI
            sort = bpf.TRACEPOINT if kind == "tracepoint" else bpf.KPROBE
            fd = self._keep(bpf.load(sort, code, f"pe_{kind}", attach_type=multi if is_multi else 0))
            loaded = (loaded[0], fd) if is_multi else (fd, loaded[1])
            self._programs[kind] = loaded
        return loaded[is_multi]


def _kernel_version() -> tuple[int, int]:
    return series_of(os.uname().release)


def _add(found: ProbeCounts, thread: int, values: Sequence[int]) -> None:
    """Put one element of the map to its probe."""
    total = sum(values)
    if thread == bpf_program.ELSEWHERE:
        found.elsewhere += total
        return
    if thread == bpf_program.REST:
        found.rest += total
    elif total:
        found.by_thread[thread] = total
    for cpu, value in enumerate(values):
        if value:
            found.by_cpu[cpu] = found.by_cpu.get(cpu, 0) + value


def _close_all(descriptors: list[int]) -> None:
    for fd in reversed(descriptors):  # the link before its event
        os.close(fd)
