"""Who holds what, and everything that is switched on in tracefs: tracers, events and dynamic probes.

Source: proc_pid_fdinfo(5); `bpf_prog_show_fdinfo` and `bpf_link_show_fdinfo` in kernel/bpf/syscall.c; for TracerPid
proc_pid_status(5).

Source: Documentation/trace/ftrace.rst (set_event, current_tracer, instances, per_cpu/cpuN/stats), kprobetrace.rst and
uprobetracer.rst ("Event Profiling").
"""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import tracefs_folder
from probe_effect.live.bpf_links import Attached, place, queried
from probe_effect.live.places import Place

HOLDS_PROGRAM = re.compile(r"anon_inode:\[?bpf[-_](?:prog|link)\]?|anon_inode:\[?perf_event\]?")
PERF_EVENT = "perf_event"
PROGRAM_ID = re.compile(r"^prog_id:\s*(\d+)", re.MULTILINE)
TRACER = re.compile(r"^TracerPid:\s*([1-9]\d*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """A process by its id and the name that it gave itself."""

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
    found = Holders()
    for folder in ROOT.glob("proc/[0-9]*"):
        process = _process(folder)
        tracer = TRACER.search(read_text(folder, "status") or "")
        if tracer:
            found.traced[_process(folder.parent / tracer[1])].add(process)
        for descriptor, name in _descriptors(folder):
            if PERF_EVENT in name:
                _add_perf_event(found, process, descriptor)
            elif program := PROGRAM_ID.search(read_text(folder, f"fdinfo/{descriptor}") or ""):
                found.of_program[int(program[1])].add(process)
    return found


def _add_perf_event(found: Holders, process: Process, descriptor: int) -> None:
    attached = None
    with contextlib.suppress(OSError):  # it has no program, or one that samples
        attached = queried(process.pid, descriptor)
    if attached is None:
        found.perf_events[process] += 1
    else:
        found.attached.append(attached)
        found.of_program[attached.program].add(process)


def _process(folder: Path) -> Process:
    return Process(int(folder.name), read_text(folder, "comm") or "")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedOn:
    """A tracer, an event or a probe that is on. `instance`: of which part of ftrace, empty for the main one.

    `events`: how often it fired until now; None if the kernel does not count it by itself.
    """

    instance: str
    name: str
    place: Place
    events: int | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """The records written into the buffer of an instance until now, from all that is on in it."""

    instance: str
    events: int


def switched_on() -> tuple[list[SwitchedOn], list[Buffer]]:
    """What is on in each instance of ftrace, and how much it has written; nothing where tracefs is not mounted."""
    folder = tracefs_folder(ROOT)
    if folder is None:
        return [], []
    probes = dict(_probes(folder))
    found, buffers = [], []
    for name, instance in _instances(folder):
        here = list(_on(name, instance, probes))
        found += here
        if here:
            stats = (read_text(path, "stats") or "" for path in instance.glob("per_cpu/cpu*"))
            buffers.append(Buffer(name, sum(int(number) for text in stats for number in WRITTEN.findall(text))))
    return found, buffers


def _instances(folder: Path) -> Iterator[tuple[str, Path]]:
    yield "", folder
    try:
        yield from sorted((path.name, path) for path in (folder / "instances").iterdir() if path.is_dir())
    except OSError:
        return


def _on(instance: str, folder: Path, probes: dict[str, tuple[Place, int | None]]) -> Iterator[SwitchedOn]:
    tracer = read_text(folder, "current_tracer") or NO_TRACER
    if tracer != NO_TRACER:
        where = Place(kind=TRACERS.get(tracer, tracer), name=tracer)
        yield SwitchedOn(instance=instance, name=tracer, place=where, events=None)
    for event in (read_text(folder, "set_event") or "").split():
        where, hits = probes[event] if event in probes else (place("tracepoint", event, 0), None)
        yield SwitchedOn(instance=instance, name=event, place=where, events=hits)


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
    """How often each event fired, by its name; the file of uprobes has the path before it."""
    lines = (line.split() for line in (read_text(folder, file) or "").splitlines())
    return {words[column]: int(words[column + 1]) for words in lines if len(words) > column + 1}
