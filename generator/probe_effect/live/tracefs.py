"""Everything switched on in tracefs: tracers, events and dynamic probes of ftrace and its instances, without BPF.

Source: Documentation/trace/ftrace.rst (set_event, current_tracer, instances, per_cpu/cpuN/stats), kprobetrace.rst and
uprobetracer.rst ("Event Profiling").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import tracefs_folder
from probe_effect.live.bpf_links import place
from probe_effect.live.places import Place

NO_TRACER = "nop"

DEFINED = re.compile(r"^([pr])\d*:(\S+)/(\S+) (\S+):0x([0-9a-fA-F]+)", re.MULTILINE)
"""A line of `uprobe_events`."""

WRITTEN = re.compile(r"^(?:entries|overrun|read events): (\d+)", re.MULTILINE)
"""Parts of a buffer's `stats` whose sum is all that was written: entries in it, overwritten and read ones."""

TRACERS = {"function": "function-tracer", "function_graph": "function-graph"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedOn:
    """A tracer, an event or a probe that is on. `events`: how often it fired; None if the kernel does not count it."""

    name: str
    place: Place
    events: int | None


@dataclass(frozen=True, slots=True)
class TracingInstance:
    """A part of ftrace, the main one without a name: what is on in it, and how many records all that has written."""

    name: str
    on: list[SwitchedOn]
    written: int


def switched_on() -> Iterator[TracingInstance]:
    """The instances of ftrace in which anything is on; none where tracefs is not mounted."""
    folder = tracefs_folder(ROOT)
    if folder is None:
        return
    probes = dict(_probes(folder))
    for name, instance in _instances(folder):
        if here := list(_on(instance, probes)):
            stats = (read_text(path, "stats") or "" for path in instance.glob("per_cpu/cpu*"))
            yield TracingInstance(name, here, sum(int(number) for text in stats for number in WRITTEN.findall(text)))


def _instances(folder: Path) -> Iterator[tuple[str, Path]]:
    yield "", folder
    try:
        yield from sorted((path.name, path) for path in (folder / "instances").iterdir() if path.is_dir())
    except OSError:
        return


def _on(folder: Path, probes: dict[str, tuple[Place, int | None]]) -> Iterator[SwitchedOn]:
    tracer = read_text(folder, "current_tracer") or NO_TRACER
    if tracer != NO_TRACER:
        where = Place(kind=TRACERS.get(tracer, tracer), name=tracer)
        yield SwitchedOn(name=tracer, place=where, events=None)
    for event in (read_text(folder, "set_event") or "").split():
        where, hits = probes[event] if event in probes else (place("tracepoint", event, 0), None)
        yield SwitchedOn(name=event, place=where, events=hits)


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
