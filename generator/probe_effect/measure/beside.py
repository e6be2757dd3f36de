"""What else traces on this machine while we measure: whether it fires in what is measured, and what is new since.

What fires in the workload is in untraced runs too, so that a cost without it cannot be seen. Of BPF programs, of
ftrace and of perf events the kernel counts how often they fire, which an untraced run shows; to a user other than root
it tells nothing.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

from probe_effect.host import ROOT, read_text
from probe_effect.host.this_machine import MachineWarning, of_tracing
from probe_effect.live import bpf_objects
from probe_effect.live import loaded as live
from probe_effect.model import HostNotReady

TracingKey = tuple[object, ...]

LEAST_EVENTS_RATIO = 0.1
"""A share of an untraced run's operations: what fires less often is not on what is measured."""

LEAST_EVENTS = 1_000  # start and end of a workload make some hundred events, whatever it does

MOST_EVENTS_HZ = 1e8
"""Rate that no traced event reaches: a perf event that counts faster counts cycles or nanoseconds."""

UntracedRun = tuple[int, float]
"""The operations of an untraced run, and its seconds; 0 where it could not be made."""

SHOWN = 3  # of the places of one program, how many are named; further ones are counted


def tracing() -> list[live.Loaded]:
    """Everything that traces now; empty where the kernel does not tell us.

    Programs that are on nothing are left out, and processes that trace others than us by ptrace.
    """
    if sys.platform != "linux":
        return []
    try:
        everything = live.tracing_now().found
    except HostNotReady:
        everything = ()
    return [loaded for loaded in everything if _is_on(loaded, f"({os.getpid()})")]


def _is_on(loaded: live.Loaded, ours: str) -> bool:
    if loaded.sort == "ptrace":
        return any(site.name.endswith(ours) for site in loaded.places)
    return loaded.sort != "bpf" or (loaded.kind in live.OF_PROBES and bool(loaded.places or loaded.others))


def firing(found: list[live.Loaded], run: Callable[[], UntracedRun]) -> list[live.Loaded]:
    """What of all that traces fires in an untraced run, which `run` makes.

    Who traces us by ptrace does. Raises: HostNotReady where a run cannot be made.
    """
    surely = [loaded for loaded in found if loaded.sort == "ptrace"]
    if len(surely) == len(found):
        return surely
    with live.RunStatistics() as statistics:
        before, sampled = statistics.look(), dict(_perf_counts(found))
        operations, seconds = run()
        after, resampled = statistics.look(), dict(_perf_counts(found))
    counts = {loaded.key: loaded.events or 0 for loaded in before.found}
    least = max(LEAST_EVENTS, LEAST_EVENTS_RATIO * operations)
    fired = {loaded.key for loaded in after.found if (loaded.events or 0) - counts.get(loaded.key, 0) >= least}
    grown = ((key, count - sampled.get((key, event), count)) for (key, event), count in resampled.items())
    fired |= {key for key, events in grown if least <= events <= MOST_EVENTS_HZ * seconds}
    functions = {loaded.key for loaded in found if any(place.kind.startswith("function") for place in loaded.places)}
    return surely + [loaded for loaded in found if loaded.key in fired | functions]


def _perf_counts(found: list[live.Loaded]) -> Iterator[tuple[tuple[TracingKey, int], int]]:
    """What each perf event of these has counted, by its owner's key and its descriptor."""
    for loaded in found:
        if loaded.sort == "perf":
            yield from (((loaded.key, event), count) for event, count in live.perf_counts(loaded.owners[0].pid).items())


def present() -> frozenset[TracingKey]:
    """What can be seen in some milliseconds of all that traces, to be compared with a later look."""
    if sys.platform != "linux":
        return frozenset()
    found: set[TracingKey] = {("ftrace", name, one.place) for name, _, on in live.switched_on() for one in on}
    found |= {("perf", pid) for pid in live.with_perf_events()}
    with suppress(OSError, HostNotReady):  # closed to us
        found |= {("bpf", one.id) for one in bpf_objects.programs() if one.kind in live.OF_PROBES}
    if tracer := live.TRACER.search(read_text(ROOT, "proc/self/status") or ""):
        found.add(("ptrace", tracer[1]))
    return frozenset(found)


def in_words(found: list[live.Loaded]) -> str:
    """What traces, with the processes that hold it, for the owner of the machine; empty for nothing."""
    words = []
    for loaded in found:
        who = ", ".join(f"{owner.comm} ({owner.pid})" for owner in loaded.owners)
        where = ", ".join(site.name for site in loaded.places[:SHOWN])
        more = len(loaded.places) + loaded.others - SHOWN
        places = f" on {where}{f' and {more} more' if more > 0 else ''}" if where else ""
        words.append(f"{loaded.kind}{places}{f' of {who}' if who else ''}")
    return "; ".join(words)


def _recorded(loaded: live.Loaded) -> str:
    """Tracepoints and functions of the kernel by name; of a place in a program, and of a process, the kind alone."""
    is_kernels = loaded.sort != "ptrace"
    names = [site.name if is_kernels and not site.path else site.kind for site in loaded.places[:SHOWN]]
    return " ".join(dict.fromkeys([loaded.sort, *(names or [loaded.kind])]))


class Company:
    """What else traces during a run: asked between two runs, when nothing of ours does."""

    def __init__(self) -> None:
        self.warnings: dict[str, MachineWarning] = {}
        self.recorded: dict[str, None] = {}
        self._known = self._seen = frozenset[TracingKey]()

    def look(self, run: Callable[[], UntracedRun]) -> list[MachineWarning]:
        """The warnings about what else traces now; `run` makes an untraced run."""
        found = tracing()
        on = firing(found, run)
        new = list(of_tracing(in_words(on), in_words([one for one in found if one not in on])))
        self.warnings |= {one.id: one for one in new}
        self.recorded |= dict.fromkeys(map(_recorded, found))
        self._known = self._seen = present()
        return new

    def has_come(self) -> bool:
        """Whether something that was not there when we looked was there before the last run, and still is."""
        now = present()
        new, self._seen = (now & self._seen) - self._known, now
        return bool(new)
