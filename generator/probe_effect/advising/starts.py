"""What a program's start costs while user probes are in a library that all programs map.

The kernel writes each breakpoint into every process that maps the file: it copies the page, and from then on a fork
copies the page table of the library too. No event fires for that.
"""

import os
import re
import resource
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from probe_effect.host import ROOT, read_text
from probe_effect.host.symbols import matching_functions
from probe_effect.live.attachment import Attachments, Countable
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.numbers.estimates import Floats
from probe_effect.units import NS_PER_SECOND

MAPPED_BY_ALL = re.compile(r"(?:libc|ld)[.-].*so")
"""Files of the C library, and of the loader, which every program maps that is linked with them."""

UNCALLED = ("strptime", "wcsftime", "regcomp")
"""Functions of the C library that a plain start does not call, so that no event's cost is in what is measured."""

ROUNDS, STARTS = 24, 15
SHELL = f"i=0; while [ $i -lt {STARTS} ]; do /bin/true; i=$((i + 1)); done"


NOWHERE = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
"""What is done to the shell's streams: they are nobody's."""


def mapped_by_all(paths: Iterable[Path | None]) -> Path | None:
    """The first file that every program maps, as we do; None without one. A copy of it, or a container's, is none."""
    ours = {line.split(maxsplit=5)[-1] for line in (read_text(ROOT, "proc/self/maps") or "").splitlines()}
    named = (path for path in paths if path is not None and MAPPED_BY_ALL.match(path.name))
    return next((path for path in named if str(path.resolve()) in ours), None)


def start_cost(path: Path) -> Estimate | None:
    """CPU time, ns, that a probe in `path` adds to a fork and a start; None where it has no function to probe.

    Where the starts with the probe took less, other work hid what it adds: up to as much as they took less.

    Raises: OSError, HostNotReady where the kernel refuses.
    """
    found = (matching_functions(path, name).get(name) for name in UNCALLED)
    place = next(filter(None, found), None)
    if place is None:
        return None
    probe = Countable(probe="", kind="uprobe", path=path, offsets=(place.offset,))
    attachments = Attachments([probe], [os.getpid()], follow=False)
    try:
        with_ns, without_ns = [], []
        for _ in range(ROUNDS):
            with_ns.append(_start_ns())
            attachments.detach()
            without_ns.append(_start_ns())
            attachments.attach()
    finally:
        attachments.close()
    return added(np.array(with_ns) - np.array(without_ns))


def added(differences_ns: Floats) -> Estimate:
    """What is added, ns, by the rounds' differences: never below 0, nor exactly 0 with an interval of no width."""
    value, low, high = estimates.estimate(differences_ns)
    if low is None or high is None:
        return Estimate(max(0.0, value))
    return Estimate(max(0.0, value), max(0.0, low), high if high > 0 else -low)


def _start_ns() -> float:
    """CPU time, ns, of a fork of a shell and the start of a program that does nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", SHELL], {}, file_actions=NOWHERE), 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken_s * NS_PER_SECOND / STARTS
