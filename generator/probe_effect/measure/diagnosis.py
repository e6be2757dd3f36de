"""What this machine can measure, what it or a container lacks, and what makes it noisy."""

import os
from collections.abc import Iterator, Mapping, Sequence
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
from probe_effect.measure import beside
from probe_effect.measure.request import Work, resolve
from probe_effect.model import Need, ProbeEffectError
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
    suites: Sequence[tuple[Path, Suite]], known: Mapping[str, Tracer], cache: Path | None = None, root: Path = ROOT
) -> Diagnosis:
    """The diagnosis of this machine. Each suite's workload is compiled, to prove that compiler and headers are there.

    What is compiled is kept in `cache`, the user's by default.
    """
    load = load_average()  # before anything of ours runs
    workload_cpu, tracer_cpu = this_machine.choose_cpus(root)
    shared = siblings(root, workload_cpu) - {workload_cpu}
    before = {cpu: cpu_times(root, cpu) for cpu in shared}
    tracers = tuple(state_of(tracer, PROBED) for tracer in known.values())
    ready = {state.tracer: known[state.tracer] for state in tracers if state.unavailable is None}
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
        suites=tuple(_suite(work, known, programs[work.suite.id]) for work in works),
        packages=tuple(missing_packages([tracer.tool for tracer in known.values()], root)),
        warnings=(
            *of_tracing("", beside.in_words(beside.tracing()) if root == ROOT else ""),
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


def _suite(work: Work, known: Mapping[str, Tracer], program: CompiledProgram | str) -> SuiteState:
    unbuildable = program if isinstance(program, str) else None
    measured = () if unbuildable else work.measured
    scripts = {
        name: sum(bool(script_paths(work.folder, work.suite, case.id, tracer.tool)) for case in work.suite.cases)
        for name, tracer in known.items()
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
