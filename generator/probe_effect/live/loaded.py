"""Everything that traces on this system now, with or without BPF, and how often it fired between two looks.

The kernel counts runs and times of BPF programs only while statistics are on. They are on while a `RunStatistics` is
open, and go off with its descriptor, at `kill -9` too. If the sysctl `kernel.bpf_stats_enabled` has switched them on
already, that stays as it is.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Self

from probe_effect.live import bpf, bpf_links, bpf_objects, tracefs
from probe_effect.live.bpf_links import Attached
from probe_effect.live.bpf_objects import BpfProgram, own_cost
from probe_effect.live.owners import Holders, Process, holders
from probe_effect.live.places import Place
from probe_effect.live.refusal import explained

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


class RunStatistics:
    """Statistics that are on until `close`. Raises, when it is made: HostNotReady, with what would help."""

    def __init__(self) -> None:
        with explained("asking what is loaded"):
            self.own = own_cost()
            self._statistics = bpf.enable_statistics()

    def look(self) -> TracingSnapshot:
        """All that traces now. Raises: HostNotReady."""
        with explained("asking what is loaded"):
            at_ns = time.monotonic_ns()
            programs, links, held = bpf_objects.programs(), bpf_links.links(), holders()
        found = [*_programs(programs, links, held), *_in_tracefs(), *_held(held)]
        return TracingSnapshot(at_ns, tuple(found))

    def between(self, first: TracingSnapshot, last: TracingSnapshot) -> list[Active]:
        """What fired between two looks, of all that traced at the last; what is new since the first began at zero."""
        seconds = (last.at_ns - first.at_ns) / 1e9
        before = {one.key: one for one in first.found}
        return [self._active(before.get(one.key), one, seconds) for one in last.found]

    def added_s_per_s(self, active: Iterable[Active]) -> float | None:
        """The cost of the statistics themselves, in seconds per second; None if it could not be measured."""
        if self.own.added_ns is None:
            return None
        return sum(one.events_hz or 0.0 for one in active if one.loaded.sort == "bpf") * self.own.added_ns / 1e9

    def close(self) -> None:
        """Restore the statistics' setting."""
        os.close(self._statistics)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _active(self, before: Loaded | None, now: Loaded, seconds: float) -> Active:
        if now.events is None:
            return Active(now, None, None)
        events = now.events - (before.events or 0 if before else 0)
        if now.program_ns is None:
            return Active(now, events / seconds, None)
        spent_ns = now.program_ns - (before.program_ns or 0 if before else 0) - events * self.own.counted_ns
        return Active(now, events / seconds, max(0.0, spent_ns) / 1e9 / seconds)


def _programs(programs: Iterable[BpfProgram], links: Iterable[Attached], held: Holders) -> Iterator[Loaded]:
    linked: dict[int, list[Attached]] = defaultdict(list)
    for one in links:
        linked[one.program].append(one)
    queried: dict[int, dict[Place, None]] = defaultdict(dict)
    for one in held.attached:
        queried[one.program] |= dict.fromkeys(one.places)
    for program in programs:
        its = linked[program.id]
        named = dict.fromkeys(place for one in its for place in one.places)
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
            others=0 if samples else max(0, sum(one.others for one in its) - len(more)),
            events=program.runs,
            program_ns=program.run_ns,
        )


def _in_tracefs() -> Iterator[Loaded]:
    """Everything that is on in ftrace. Events without a count of their own are one row, counted by their buffer."""
    for instance in tracefs.switched_on():
        for one in instance.on:
            if one.events is not None:
                yield Loaded(
                    key=("ftrace", instance.name, one.place),
                    sort="ftrace",
                    kind=one.place.kind,
                    name=one.name,
                    places=(one.place,),
                    events=one.events,
                )
        if places := tuple(one.place for one in instance.on if one.events is None):
            yield Loaded(
                key=("buffer", instance.name),
                sort="ftrace",
                kind="buffer",
                name=instance.name or "ftrace",
                places=places,
                events=instance.written - sum(one.events or 0 for one in instance.on),
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
        places = tuple(Place(kind="system-call", name=f"{one.comm} ({one.pid})") for one in sorted(traced))
        yield Loaded(
            key=("ptrace", tracer), sort="ptrace", kind="ptrace", name=tracer.comm, owners=(tracer,), places=places
        )
