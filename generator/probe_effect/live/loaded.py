"""Everything that traces on this system now, with or without BPF: what it is, who holds it, and how often it fired.

Source: proc_pid_fdinfo(5) and `bpf_prog_show_fdinfo` in kernel/bpf/syscall.c; pidfd_getfd(2); for TracerPid
proc_pid_status(5); Documentation/trace/ftrace.rst (set_event, current_tracer, instances, per_cpu/cpuN/stats),
kprobetrace.rst and uprobetracer.rst ("Event Profiling").

The kernel counts runs and times of BPF programs only while statistics are on. They are on while a `RunStatistics` is
open, and go off with its descriptor, at `kill -9` too. If the sysctl `kernel.bpf_stats_enabled` has switched them on
already, that stays as it is.
"""

import contextlib
import ctypes
import os
import re
import struct
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import tracefs_folder
from probe_effect.live import bpf_objects, kernel_calls
from probe_effect.live.bpf_objects import INFO_BYTES, Attached, BpfProgram, own_cost, place, queried
from probe_effect.live.kernel_calls import explained
from probe_effect.live.places import Place
from probe_effect.store.tables import printable

HOLDS_PROGRAM = re.compile(r"anon_inode:\[?bpf[-_](?:prog|link)\]?|anon_inode:\[?perf_event\]?")
PERF_EVENT, LINK = "perf_event", "link"
PIDFD_GETFD = 438
"""pidfd_getfd(2), on every architecture: include/uapi/asm-generic/unistd.h, since Linux 5.6."""
GROUP_BYTES = 40
PROGRAM_ID = re.compile(r"^prog_id:\s*(\d+)", re.MULTILINE)
TRACER = re.compile(r"^TracerPid:\s*([1-9]\d*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """A process by its id and the name that it gave itself, fit to be printed."""

    pid: int
    comm: str


@dataclass(slots=True)
class Holders:
    """What all processes hold.

    `of_program`: program id to those that hold it, its link or its perf event. `attached`: what perf events with a
    program are on. `perf_events`: process to how many of its perf events have none that the kernel tells of.
    `traced`: a process that traces others by ptrace (strace, gdb) to those.
    """

    of_program: dict[int, set[Process]] = field(default_factory=lambda: defaultdict(set))
    attached: list[Attached] = field(default_factory=list)
    perf_events: dict[Process, int] = field(default_factory=lambda: defaultdict(int))
    traced: dict[Process, set[Process]] = field(default_factory=lambda: defaultdict(set))


def holders() -> Holders:
    """What the processes that we may look into hold now."""
    held = Holders()
    for folder in ROOT.glob("proc/[0-9]*"):
        process = _process(folder)
        tracer = TRACER.search(read_text(folder, "status") or "")
        if tracer:
            held.traced[_process(folder.parent / tracer[1])].add(process)
        for descriptor, name in _descriptors(folder):
            if PERF_EVENT in name:
                event = None
                with contextlib.suppress(OSError):  # it has no program, or one that samples
                    event = queried(process.pid, descriptor)
                if event is None:
                    held.perf_events[process] += 1
                else:
                    held.attached.append(event)
                    held.of_program[event.program].add(process)
            elif LINK in name:
                # Its fdinfo has the program too, but reading that can kill the kernel: `bpf_kprobe_multi_show_fdinfo`
                # (since Linux 6.17, kernel/trace/bpf_trace.c) follows the list of cookies of a link that has none;
                # seen on 6.18.15. So a copy of its descriptor is asked.
                with contextlib.suppress(OSError), _copied(process.pid, descriptor) as link:  # it is gone, or closed
                    program_id = struct.unpack_from("=3I", bpf_objects.information(link, INFO_BYTES))[2]
                    held.of_program[program_id].add(process)
            elif program := PROGRAM_ID.search(read_text(folder, f"fdinfo/{descriptor}") or ""):
                held.of_program[int(program[1])].add(process)
    return held


@contextlib.contextmanager
def _copied(pid: int, descriptor: int) -> Iterator[int]:
    process = os.pidfd_open(pid)
    try:
        copy = kernel_calls.system_call(PIDFD_GETFD, ctypes.c_int(process), ctypes.c_int(descriptor), ctypes.c_uint(0))
    finally:
        os.close(process)
    try:
        yield copy
    finally:
        os.close(copy)


def with_perf_events() -> Iterator[int]:
    """The ids of the processes that hold perf events, of those that we may look into."""
    for folder in ROOT.glob("proc/[0-9]*"):
        if any(PERF_EVENT in name for _, name in _descriptors(folder)):
            yield int(folder.name)


def perf_counts(pid: int) -> dict[int, int]:
    """What each perf event of a process has counted, by its descriptor; not those that the kernel does not tell us.

    Source: perf_event_open(2), "Reading results". The first number is the count, but where events are read as a group,
    which takes at least `GROUP_BYTES` where perf asks for it.
    """
    counts = {}
    for descriptor, name in _descriptors(ROOT / "proc" / str(pid)):
        if PERF_EVENT in name:
            with contextlib.suppress(OSError), _copied(pid, descriptor) as event:
                read = os.read(event, 16 * GROUP_BYTES)
                if read and len(read) < GROUP_BYTES:
                    counts[descriptor] = int.from_bytes(read[:8], sys.byteorder)
    return counts


def _process(folder: Path) -> Process:
    return Process(int(folder.name), printable(read_text(folder, "comm") or ""))


def _descriptors(folder: Path) -> Iterator[tuple[int, str]]:
    """Descriptors that may hold a program; a process that ends meanwhile holds none."""
    with contextlib.suppress(OSError), os.scandir(folder / "fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                name = os.readlink(entry.path)  # noqa: PTH115 (thousands: a path for each takes longer than the call)
                if HOLDS_PROGRAM.fullmatch(name):
                    yield int(entry.name), name


NO_TRACER = "nop"

DEFINED = re.compile(r"^([pr])\d*:(\S+)/(\S+) (\S+):0x([0-9a-fA-F]+)", re.MULTILINE)
"""A line of `uprobe_events`."""

WRITTEN = re.compile(r"^(?:entries|overrun|read events): (\d+)", re.MULTILINE)
"""Parts of a buffer's `stats` whose sum is all that was written: entries in it, overwritten and read ones."""

TRACERS = {"function": "function-tracer", "function_graph": "function-graph"}


class SwitchedOn(NamedTuple):
    """A tracer, an event or a probe that is on. `events`: how often it fired; None if the kernel does not count it."""

    name: str
    place: Place
    events: int | None


def switched_on() -> Iterator[tuple[str, Path, list[SwitchedOn]]]:
    """Each instance of ftrace in which anything is on: its name, its folder, and what is on.

    The main instance has no name. None is there where tracefs is not mounted.
    """
    folder = tracefs_folder(ROOT)
    if folder is None:
        return
    probes = dict(_probes(folder))
    instances = [("", folder)]
    with contextlib.suppress(OSError):
        instances += sorted((path.name, path) for path in (folder / "instances").iterdir() if path.is_dir())
    for name, instance in instances:
        events = (read_text(instance, "set_event") or "").split()
        on = [SwitchedOn(event, *(probes.get(event) or (place("tracepoint", event, 0), None))) for event in events]
        tracer = read_text(instance, "current_tracer") or NO_TRACER
        if tracer != NO_TRACER:
            on.insert(0, SwitchedOn(tracer, Place(kind=TRACERS.get(tracer, tracer), name=tracer), None))
        if on:
            yield name, instance, on


def _probes(folder: Path) -> Iterator[tuple[str, tuple[Place, int | None]]]:
    """The place of each dynamic probe and how often it fired, by `group:event`."""
    hits = _hits(folder, "uprobe_profile", 1) | _hits(folder, "kprobe_profile", 0)
    for kind, group, event, path, offset in DEFINED.findall(read_text(folder, "uprobe_events") or ""):
        where = place("uprobe" if kind == "p" else "uretprobe", path, int(offset, 16))
        yield f"{group}:{event}", (where, hits.get(event))
    for line in (read_text(folder, "kprobe_events") or "").splitlines():
        name, _, target = line.partition(" ")
        kind, _, event = name.partition(":")
        where = place("kretprobe" if kind.startswith("r") else "kprobe", target.split(" ", 1)[0], 0)
        yield event.replace("/", ":"), (where, hits.get(event.rpartition("/")[2]))


def _hits(folder: Path, file: str, column: int) -> dict[str, int]:
    lines = (line.split() for line in (read_text(folder, file) or "").splitlines())
    return {words[column]: int(words[column + 1]) for words in lines if len(words) > column + 1}


Sort = Literal["bpf", "ftrace", "perf", "ptrace"]

OF_PROBES = {"kprobe", "tracepoint", "raw_tracepoint", "raw_tracepoint_writable", "perf_event", "tracing"}
"""Types of BPF programs that probes run; others are run by the network, by cgroups and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One tracing program, event or process, as it was at one look.

    `key`: identifies it at the next look. `owners`: processes that hold it; none of a program that
    is pinned or that the kernel holds, and of what is on in tracefs, where nobody holds it. `places`: where it is
    attached, as far as the kernel tells, and `others` how many more there are. `events`, `program_ns`: how often it
    fired and how long its program ran since statistics were on; None where the kernel does not keep it.
    """

    key: tuple[object, ...]
    sort: Sort
    id: int | None = None
    kind: str
    name: str
    owners: tuple[Process, ...] = ()
    places: tuple[Place, ...] = ()
    others: int = 0
    events: int | None = None
    program_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Active:
    """One tracing program, event or process between two looks: events per second, seconds in its program per second.

    The statistics' own part of each run is subtracted from the latter. None if the kernel does not keep them.
    """

    loaded: Loaded
    events_hz: float | None
    program_s_per_s: float | None


@dataclass(frozen=True, slots=True)
class TracingSnapshot:
    """All that traces at a moment of the monotonic clock."""

    at_ns: int
    found: tuple[Loaded, ...] = field(repr=False)


def tracing_now() -> TracingSnapshot:
    """All that traces now. Its counts of BPF programs grow only while statistics are on. Raises: HostNotReady."""
    with explained("asking what is loaded"):
        at_ns = time.monotonic_ns()
        programs, links, held = bpf_objects.programs(), bpf_objects.links(), holders()
    all_loaded = [*_programs(programs, links, held), *_in_tracefs(), *_held(held)]
    return TracingSnapshot(at_ns, tuple(all_loaded))


class RunStatistics(contextlib.AbstractContextManager["RunStatistics"]):
    """Statistics that are on for a `with` block. Raises, when it is made: HostNotReady, with what would help."""

    def __init__(self) -> None:
        with explained("asking what is loaded"):
            self.own = own_cost()
            self._statistics = kernel_calls.enable_statistics()

    def __exit__(self, *_: object) -> None:
        os.close(self._statistics)

    look = staticmethod(tracing_now)

    def between(self, first: TracingSnapshot, last: TracingSnapshot) -> list[Active]:
        """What fired between two looks, of all that traced at the last; what is new since the first began at zero."""
        seconds = (last.at_ns - first.at_ns) / 1e9
        before = {loaded.key: loaded for loaded in first.found}
        activities = []
        for now in last.found:
            then = before.get(now.key)
            events_hz = program_s_per_s = None
            if now.events is not None:
                events = now.events - (then.events or 0 if then else 0)
                events_hz = events / seconds
                if now.program_ns is not None:
                    spent_ns = now.program_ns - (then.program_ns or 0 if then else 0) - events * self.own.counted_ns
                    program_s_per_s = max(0.0, spent_ns) / 1e9 / seconds
            activities.append(Active(now, events_hz, program_s_per_s))
        return activities

    def added_s_per_s(self, active: Iterable[Active]) -> float | None:
        """The cost of the statistics themselves, in seconds per second; None if it could not be measured."""
        if self.own.added_ns is None:
            return None
        return (
            sum(activity.events_hz or 0.0 for activity in active if activity.loaded.sort == "bpf")
            * self.own.added_ns
            / 1e9
        )


def _programs(programs: Iterable[BpfProgram], links: Iterable[Attached], held: Holders) -> Iterator[Loaded]:
    linked: dict[int, list[Attached]] = defaultdict(list)
    for attachment in links:
        linked[attachment.program].append(attachment)
    queried: dict[int, dict[Place, None]] = defaultdict(dict)
    for attachment in held.attached:
        queried[attachment.program] |= dict.fromkeys(attachment.places)
    for program in programs:
        its = linked[program.id]
        named = dict.fromkeys(probe_site for attachment in its for probe_site in attachment.places)
        more = queried[program.id].keys() - named.keys()  # a link on a perf event is found as both
        is_sampling = program.kind == "perf_event" and not named and not more  # then the kernel tells no place
        samples = (Place(kind="profile", name="samples"),) if is_sampling else ()
        yield Loaded(
            key=("bpf", program.id),
            sort="bpf",
            id=program.id,
            kind=program.kind,
            name=program.name,
            owners=tuple(sorted(held.of_program.get(program.id, ()))),
            places=tuple(named | queried[program.id]) or samples,
            others=0 if samples else max(0, sum(attachment.others for attachment in its) - len(more)),
            events=program.runs,
            program_ns=program.run_ns,
        )


def _in_tracefs() -> Iterator[Loaded]:
    """Everything that is on in ftrace. Events without a count of their own are one row, counted by their buffer."""
    for instance, folder, on in switched_on():
        counted = [probe for probe in on if probe.events is not None]
        for probe in counted:
            yield Loaded(
                key=("ftrace", instance, probe.place),
                sort="ftrace",
                kind=probe.place.kind,
                name=probe.name,
                places=(probe.place,),
                events=probe.events,
            )
        if places := tuple(probe.place for probe in on if probe.events is None):
            stats = (read_text(path, "stats") or "" for path in folder.glob("per_cpu/cpu*"))
            written = sum(int(number) for text in stats for number in WRITTEN.findall(text))
            yield Loaded(
                key=("buffer", instance),
                sort="ftrace",
                kind="buffer",
                name=instance or "ftrace",
                places=places,
                events=written - sum(probe.events or 0 for probe in counted),
            )


def _held(held: Holders) -> Iterator[Loaded]:
    """Perf events of processes that hold no program, of which the kernel tells no more; and who traces by ptrace."""
    with_programs = {process for owners in held.of_program.values() for process in owners}
    for process, number in sorted(held.perf_events.items()):
        if process not in with_programs:
            yield Loaded(
                key=("perf", process),
                sort="perf",
                kind=f"{number} perf {'event' if number == 1 else 'events'}",
                name=process.comm,
                owners=(process,),
            )
    for tracer, traced in sorted(held.traced.items()):
        places = tuple(Place(kind="system-call", name=f"{tracee.comm} ({tracee.pid})") for tracee in sorted(traced))
        yield Loaded(
            key=("ptrace", tracer), sort="ptrace", kind="ptrace", name=tracer.comm, owners=(tracer,), places=places
        )
