"""Everything that is new in Debian and not counted yet: kernels, and versions of the tracers that we follow.

The record is the submissions themselves: `run.packages` names the kernel and each tracer with its version.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path
from statistics import median
from typing import Literal

from probe_effect.guests.assembly import USERLAND, can_bring
from probe_effect.guests.debian import DebianRelease, GuestArchitecture, newest
from probe_effect.guests.qemu import CPUS
from probe_effect.records import TOOLS
from probe_effect.store.machine_file import MachineFile

RELEASES = ("bullseye", "bookworm", "trixie", "trixie-backports", "sid")
"""The releases of Debian whose kernel is followed."""

TRACER_RELEASES = (USERLAND, "trixie", "sid")
"""The releases whose tracers are followed: the userland's own, and each later one that has another version."""

NARROWED = {"--case", "--quick"}  # options with which a run counts only a part of a suite


@dataclass(frozen=True, slots=True)
class CountingTracer:
    """A tracer to count with."""

    word: str
    """The tracer's name for `--tracer`: `libbpf`, `bpftrace=bpftrace/trixie`."""
    package: str | None
    """The tracer's package and version; None where its version is not followed."""

    @property
    def tool(self) -> str:
        return self.word.partition("=")[0]

    def __str__(self) -> str:
        return self.package or self.word


@dataclass(frozen=True, slots=True)
class Offer:
    """A kernel that Debian has now, and the tracers that are counted on it."""

    release: str
    architecture: str
    """The architecture as Debian names it."""
    kernel: str
    """The package and its version."""
    tracers: tuple[CountingTracer, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One suite to count on one kernel."""

    offer: Offer
    suite: str
    tracers: tuple[CountingTracer, ...]


def offer(release: str, architecture: GuestArchitecture, cache: Path) -> Offer:
    """What Debian has for one architecture, with the kernel of that release. Raises: HostNotReady."""
    archive = DebianRelease(release, cache, architecture)
    image, packages = newest(archive)
    tracers: dict[str | None, CountingTracer] = {}
    for tool, name in product(_followed("version"), TRACER_RELEASES):
        package = f"{tool} {DebianRelease(name, cache, architecture).version(tool)}"
        tracers.setdefault(package, CountingTracer(tool if name == USERLAND else f"{tool}={tool}/{name}", package))
    followed = (*tracers.values(), *(CountingTracer(name, None) for name in _followed("kernel") if can_bring(name)))
    return Offer(release, architecture.debian, f"{image} {archive.version(packages[0])}", followed)


def _followed(by: Literal["version", "kernel"]) -> list[str]:
    """Tools of which each version is counted, whose package has their name; or those counted once on each kernel."""
    return [tool.name for tool in TOOLS.values() if tool.followed == by]


def missing(offers: Iterable[Offer], runs: Sequence[MachineFile], able: Mapping[str, set[str]]) -> list[Job]:
    """The jobs that no run did, kernel after kernel; `able` is suite to the tools that it has scripts for."""
    counted_with: dict[tuple[str, str], set[str]] = defaultdict(set)
    for run in filter(_stands, runs):
        packages = {_unplaced(origin) for origin in run.run.packages.values()}
        counted_with[_unplaced(run.run.packages.get("kernel", "")), run.run.suite] |= packages | set(run.tools)
    kernels: dict[str, Offer] = {}
    for offer in offers:  # each kernel by the first release that has it
        kernels.setdefault(offer.kernel, offer)
    jobs = []
    for kernel, offer in kernels.items():
        for suite, tools in able.items():
            wanted = [tracer for tracer in offer.tracers if tracer.tool in tools]
            if todo := tuple(tracer for tracer in wanted if str(tracer) not in counted_with[kernel, suite]):
                jobs.append(Job(offer, suite, todo))
    return jobs


def counted(kernel: str, runs: Iterable[MachineFile]) -> bool:
    return any(_unplaced(run.run.packages.get("kernel", "")) == kernel for run in filter(_stands, runs))


def duration_s(job: Job, runs: Iterable[MachineFile], machine: str, blocks: int) -> float | None:
    """About how long it takes, by what the same suite took before; None where it was not counted before.

    Runs on the same processor, `machine` as `uname -m` gives it, are taken where there are any. Trials are as one more
    of the `blocks`.
    """
    paces: dict[bool, list[float]] = {True: [], False: []}
    for run in runs:
        if run.run.suite == job.suite and _is_whole(run) and run.tools and not run.run.resumed:
            begun, ended = (datetime.fromisoformat(moment) for moment in (run.run.started, str(run.run.ended)))
            pace_s = (ended - begun).total_seconds() / len(run.tools) / run.run.blocks
            paces[run.machine.architecture == machine].append(pace_s)
    best = paces[True] or paces[False]
    return median(best) * len(job.tracers) * (blocks + 1) if best else None


def _is_whole(run: MachineFile) -> bool:
    return run.run.metric == "instructions" and run.run.ended is not None and not NARROWED & set(run.run.command)


def _stands(run: MachineFile) -> bool:
    """Whether a run is whole, on such a machine as is emulated today."""
    return _is_whole(run) and run.machine.threads == CPUS


def _unplaced(origin: str) -> str:
    """A package with its version, without the release that it was taken from."""
    return origin.partition(" (")[0]
