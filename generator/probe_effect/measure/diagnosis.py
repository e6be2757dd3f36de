"""What this machine can measure, what it or a container lacks, what makes it noisy, and what else traces on it.

What else traces may fire in what is measured, and may be new since we looked. What fires in the workload is in untraced
runs too, so that a cost without it cannot be seen. Of BPF programs, of ftrace and of perf events the kernel counts how
often they fire, which an untraced run shows; to a user other than root it tells nothing.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from probe_effect.host import ROOT, kernel_config, other_pids, read_text, this_machine
from probe_effect.host.compilers import CompiledProgram
from probe_effect.host.kernel import BTF, CLOSED, TRACEFS, missing, tracefs_folder, tracefs_missing
from probe_effect.host.load import SINCE_BOOT, busy_ratio, cpu_times, load_average, steal_ratio, trap_times
from probe_effect.host.processes import may_trace
from probe_effect.host.system import aslr, container, siblings
from probe_effect.host.this_machine import MachineWarning, of_tracing, warnings
from probe_effect.host.workloads import build, clock_read_ns
from probe_effect.live import bpf_objects
from probe_effect.live import loaded as live
from probe_effect.measure.request import Work, resolve
from probe_effect.model import HostNotReady, Need, ProbeEffectError
from probe_effect.store.machine_file import Machine, System
from probe_effect.store.suite_file import Suite, script_paths
from probe_effect.tracers.protocol import Tracer, TracerState, missing_packages, state_of


def flags_missing(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Each flag that would give more, and why; none where there is no container, or nothing is kept from us."""
    if container(root) is None:
        return
    if not may_trace(root):
        yield (
            "--privileged",
            "it has neither CAP_SYS_ADMIN nor CAP_BPF and CAP_PERFMON, so that nothing of the kernel traces",
        )
    if tracefs_folder(root) is None:
        yield f"-v /{TRACEFS[0]}:/{TRACEFS[0]}", "tracefs is not there, or closed"
    if not (root / BTF).exists() and (kernel_config(root) or {}).get("DEBUG_INFO_BTF", "y") == "y":
        folder = Path(BTF).parent
        yield f"-v /{folder}:/{folder}:ro", "the kernel's types (BTF) are not there, which fentry needs"
    if other_pids(root):
        yield "--pid=host", "its process ids are not those that the kernel gives to tracers"
    release = read_text(root, "proc/sys/kernel/osrelease")
    if release and not (root / "lib/modules" / release).exists():
        yield (
            "-v /lib/modules:/lib/modules:ro -v /usr/src:/usr/src:ro",
            "SystemTap needs the kernel's modules and headers",
        )


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


def firing(all_loaded: list[live.Loaded], run: Callable[[], UntracedRun]) -> list[live.Loaded]:
    """What of all that traces fires in an untraced run, which `run` makes.

    Who traces us by ptrace does. Raises: HostNotReady where a run cannot be made.
    """
    surely = [loaded for loaded in all_loaded if loaded.sort == "ptrace"]
    if len(surely) == len(all_loaded):
        return surely
    with live.RunStatistics() as statistics:
        before, sampled = statistics.look(), dict(_perf_counts(all_loaded))
        operations, seconds = run()
        after, resampled = statistics.look(), dict(_perf_counts(all_loaded))
    counts = {loaded.key: loaded.events or 0 for loaded in before.found}
    least = max(LEAST_EVENTS, LEAST_EVENTS_RATIO * operations)
    fired = {loaded.key for loaded in after.found if (loaded.events or 0) - counts.get(loaded.key, 0) >= least}
    grown = ((key, count - sampled.get((key, event), count)) for (key, event), count in resampled.items())
    fired |= {key for key, events in grown if least <= events <= MOST_EVENTS_HZ * seconds}
    functions = {
        loaded.key
        for loaded in all_loaded
        if any(probe_site.kind.startswith("function") for probe_site in loaded.places)
    }
    return surely + [loaded for loaded in all_loaded if loaded.key in fired | functions]


def _perf_counts(all_loaded: list[live.Loaded]) -> Iterator[tuple[tuple[TracingKey, int], int]]:
    """What each perf event of these has counted, by its owner's key and its descriptor."""
    for loaded in all_loaded:
        if loaded.sort == "perf":
            yield from (((loaded.key, event), count) for event, count in live.perf_counts(loaded.owners[0].pid).items())


def present() -> frozenset[TracingKey]:
    """What can be seen in some milliseconds of all that traces, to be compared with a later look."""
    if sys.platform != "linux":
        return frozenset()
    keys: set[TracingKey] = {("ftrace", name, probe.place) for name, _, on in live.switched_on() for probe in on}
    keys |= {("perf", pid) for pid in live.with_perf_events()}
    with suppress(OSError, HostNotReady):  # closed to us
        keys |= {("bpf", program.id) for program in bpf_objects.programs() if program.kind in live.OF_PROBES}
    if tracer := live.TRACER.search(read_text(ROOT, "proc/self/status") or ""):
        keys.add(("ptrace", tracer[1]))
    return frozenset(keys)


def in_words(all_loaded: list[live.Loaded]) -> str:
    """What traces, with the processes that hold it, for the owner of the machine; empty for nothing."""
    words = []
    for loaded in all_loaded:
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
        all_loaded = tracing()
        on = firing(all_loaded, run)
        new = list(of_tracing(in_words(on), in_words([loaded for loaded in all_loaded if loaded not in on])))
        self.warnings |= {warning.id: warning for warning in new}
        self.recorded |= dict.fromkeys(map(_recorded, all_loaded))
        self._known = self._seen = present()
        return new

    def has_come(self) -> bool:
        """Whether something that was not there when we looked was there before the last run, and still is."""
        now = present()
        new, self._seen = (now & self._seen) - self._known, now
        return bool(new)


NEEDS: tuple[Need, ...] = get_args(Need)
PROBED: tuple[Need, ...] = tuple(need for need in NEEDS if need not in {"delay-accounting", "schedstats"})
"""What a tracer can lack: the others a kernel does by itself."""


@dataclass(frozen=True, slots=True)
class Availability:
    """What was found, or the reason why there is nothing: one of the two is None."""

    found: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteState:
    """A suite on this machine."""

    suite: str
    cases: int
    scripts: Mapping[str, int]
    """Tracer to how many of the cases are written for it; tracers without any are excluded."""
    measurable: Mapping[str, int]
    """Tracer to how many of the cases can be measured here; tracers that cannot run are excluded."""
    unbuildable: str | None
    """Why the workload cannot be compiled, so that nothing can be measured; None when it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The whole diagnosis of a machine; unknown facts are None."""

    machine: Machine
    system: System
    is_root: bool
    compiler: Availability
    tracefs: Availability
    aslr: str | None
    workload_cpu: int
    tracer_cpu: int | None
    load: float | None
    steal_ratio: float | None
    """The steal of the workload's CPU since the machine started, as a ratio of the time."""
    kernel: Mapping[Need, str | None]
    """Facility to None where the kernel offers it, else why not."""
    tracers: tuple[TracerState, ...]
    suites: tuple[SuiteState, ...]
    packages: tuple[str, ...]
    """The missing packages of the tracers, by Debian's or Ubuntu's names."""
    warnings: tuple[MachineWarning, ...]

    @property
    def can_measure(self) -> bool:
        return any(sum(suite.measurable.values()) for suite in self.suites)


def diagnose(
    suites: Sequence[tuple[Path, Suite]],
    all_tracers: Mapping[str, Tracer],
    cache: Path | None = None,
    root: Path = ROOT,
) -> Diagnosis:
    """The diagnosis of this machine. Each suite's workload is compiled, to prove that compiler and headers are there.

    What is compiled is kept in `cache`, the user's by default.
    """
    load = load_average()  # before anything of ours runs
    workload_cpu, tracer_cpu = this_machine.choose_cpus(root)
    shared = siblings(root, workload_cpu) - {workload_cpu}
    before = {cpu: cpu_times(root, cpu) for cpu in shared}
    tracers = tuple(state_of(tracer, PROBED) for tracer in all_tracers.values())
    ready = {state.tracer: all_tracers[state.tracer] for state in tracers if state.unavailable is None}
    works = [resolve(folder, suite, ready, []) for folder, suite in suites]
    programs = {work.suite.id: _build(work, cache) for work in works}
    built = next((program for program in programs.values() if isinstance(program, CompiledProgram)), None)
    fault = next((fault for fault in programs.values() if isinstance(fault, str)), "there is no suite to compile")
    clock_ns = clock_read_ns(built.path, workload_cpu) if built else None
    steal = steal_ratio(SINCE_BOOT, cpu_times(root, workload_cpu))
    tracefs, closed = tracefs_folder(root), tracefs_missing(root)
    reasons = {need: missing(need, root) for need in NEEDS}
    shares = [busy_ratio(times, cpu_times(root, cpu)) for cpu, times in before.items()]
    return Diagnosis(
        machine=this_machine.collect_machine(root),
        system=this_machine.collect_system(clock_ns, root, trap_times(workload_cpu, cache)),
        is_root=os.geteuid() == 0,
        compiler=Availability(built.compiler, None) if built else Availability(None, fault),
        tracefs=Availability(f"/{tracefs.relative_to(root)}" if tracefs else None, closed),
        aslr=aslr(root),
        workload_cpu=workload_cpu,
        tracer_cpu=tracer_cpu,
        load=load,
        steal_ratio=steal,
        kernel={need: CLOSED if reason and closed == CLOSED else reason for need, reason in reasons.items()},
        tracers=tracers,
        suites=tuple(_suite(work, all_tracers, programs[work.suite.id]) for work in works),
        packages=tuple(missing_packages([tracer.tool for tracer in all_tracers.values()], root)),
        warnings=(
            *of_tracing("", in_words(tracing()) if root == ROOT else ""),
            *warnings(
                root,
                cpu=workload_cpu,
                tracer_cpu=tracer_cpu,
                load=load,
                clock_read_ns=clock_ns,
                steal=steal,
                sibling_busy=max((share for share in shares if share is not None), default=None),
            ),
        ),
    )


def _suite(work: Work, all_tracers: Mapping[str, Tracer], program: CompiledProgram | str) -> SuiteState:
    unbuildable = program if isinstance(program, str) else None
    measured = () if unbuildable else work.measured
    scripts = {
        name: sum(bool(script_paths(work.folder, work.suite, case.id, tracer.tool)) for case in work.suite.cases)
        for name, tracer in all_tracers.items()
    }
    return SuiteState(
        suite=work.suite.id,
        cases=len(work.suite.cases),
        scripts={name: number for name, number in scripts.items() if number},
        measurable={
            name: len({subject.case for subject in measured if subject.tracer == name})
            for name in work.tracers
            if scripts[name]
        },
        unbuildable=unbuildable,
    )


def _build(work: Work, cache: Path | None) -> CompiledProgram | str:
    """A suite's workload, compiled, or why it cannot be."""
    try:
        return build(work.source(), cache, work.suite.workload.libraries)
    except (ProbeEffectError, OSError) as error:
        return str(error)
