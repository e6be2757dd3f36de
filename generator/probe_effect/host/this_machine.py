"""This machine: all its facts, as `machine.json` has them, the kinds of its cores, and what is wrong with it now.

Every command asks this module what its machine is, by the module's name, so that a test makes it another machine in one
place. Kinds of cores are big and little ones of Arm, performance and efficiency cores of Intel, and CPUs of two speeds.

Source: Documentation/ABI/testing/sysfs-devices-system-cpu (`cpu_capacity`), sysfs-bus-event_source-devices-… of the
drivers `cpu_core` and `cpu_atom` (`cpus`), and Documentation/admin-guide/pm/cpufreq.rst (`cpuinfo_max_freq`).

What is wrong are the conditions of `conditions.toml` that hold. No warning judges a result: the baseline, the noise
floor and the interval are measured as they are. If pyperf's `system tune` mends a setting it is recommended, because it
also restores the setting (pyperf, "Tune the system for benchmarks"; checked with 2.10: frequency governor under every
driver, turbo of Intel CPUs).

Two conditions that pyperf looks at are no warning here. Address space randomisation is welcome: each run then has
another layout, and a fixed one would favour some case every time (Mytkowicz et al. 2009). The highest sampling rate of
perf (kernel.perf_event_max_sample_rate) limits events that are sampled by time; those that are recorded one by one, as
ours, are not throttled (`perf_swevent_event` in kernel/events/core.c).
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from probe_effect import units
from probe_effect.host import ROOT, may_use, read_text, system, usable_cpus
from probe_effect.host.load import Throttling, tightest_quota
from probe_effect.host.system import CPU_FOLDER, core_name, numbered, processors
from probe_effect.records import CONDITIONS
from probe_effect.store.machine_file import FIRST_DAY, HOSTED, SLACK, Machine, System, as_author, with_id

PMUS = {"cpu_core": "performance core", "cpu_atom": "efficiency core"}
"""Drivers of counters that an Intel machine with two kinds has, to what their CPUs are."""

SLOWER_RATIO = 0.85  # cores of one kind differ by a few per cent, because the best of a chip may go faster


@dataclass(frozen=True, slots=True, order=True)
class CoreKind:
    """A kind of core; greater is faster. `capacity` is of 1024; 0 where the kernel tells none."""

    capacity: int
    rank: int
    """1 for a performance core of Intel, else 0."""
    max_khz: int
    name: str


UNKNOWN = CoreKind(0, 0, 0, "")


def kinds(root: Path = ROOT) -> dict[int, CoreKind]:
    """Each CPU online to its kind; empty where all are alike, or nothing says."""
    cpus = sorted(numbered(read_text(root, f"{CPU_FOLDER}/online") or ""))
    speeds = {cpu: int(read_text(root, f"{CPU_FOLDER}/cpu{cpu}/cpufreq/cpuinfo_max_freq") or 0) for cpu in cpus}
    fastest: dict[int, int] = {}
    for speed in sorted(set(speeds.values()), reverse=True):  # those that differ little are of one kind
        fastest[speed] = next((top for top in fastest.values() if speed >= SLOWER_RATIO * top), speed)
    pmu = {cpu: name for name in PMUS for cpu in numbered(read_text(root, f"sys/devices/{name}/cpus") or "")}
    infos = processors(root)
    parts = {part: core_name(info) for info in infos.values() for part in [info.get("CPU part")]}
    of_cpu = {}
    for cpu in cpus:
        core = parts.get(infos.get(str(cpu), {}).get("CPU part")) or ""
        capacity = int(read_text(root, f"{CPU_FOLDER}/cpu{cpu}/cpu_capacity") or 0)
        max_khz, driver = fastest[speeds[cpu]], pmu.get(cpu, "")
        first, _, second = core.partition(" / ")  # of an Intel model with two kinds
        own = (second if driver == "cpu_atom" else first) if driver else core
        clock = f"{max_khz / 1e6:g} GHz" if max_khz else ""
        name = ", ".join(filter(None, (own, PMUS.get(driver), f"capacity {capacity}" if capacity else "", clock)))
        of_cpu[cpu] = CoreKind(capacity, int(driver == "cpu_core"), max_khz, name or "core")
    return of_cpu if len(set(of_cpu.values())) > 1 else {}


def collect_machine(root: Path = ROOT) -> Machine:
    """The hardware, real or virtual. Where it has several kinds of cores, that of the workload's CPU is in its id."""
    of_cpu, topology = kinds(root), system.topology(root)
    cpu = choose_cpus(root)[0] if of_cpu else None
    kind = [of_cpu[cpu].name] if cpu in of_cpu else []
    machine = Machine(
        id="made-of-the-rest",
        cpu_model=system.cpu_model(root, cpu),
        cpu_numbers=system.numbers(root, cpu),
        microarchitecture=system.microarchitecture(root, cpu),
        core_kinds=dict(Counter(kind.name for kind in of_cpu.values())),
        architecture=system.architecture(),
        sockets=len({package for package, _ in topology}) or None,
        cores=len(topology) or None,
        threads=system.threads(root),
        smt=system.smt(root),
        memory_bytes=system.memory_bytes(root),
        governor=system.governor(root),
        turbo=system.turbo(root),
        microcode=system.cpuinfo(root, cpu).get("microcode"),
        virtualization=system.virtualization(root),
        nested=system.nested(root),
    )
    return with_id(machine, (*system.signature(root, cpu), *kind), system.kernel_release(root))


def collect_system(
    clock_read_ns: float | None, root: Path = ROOT, traps: Mapping[str, float] = MappingProxyType({})
) -> System:
    """The operating system. The caller measures `clock_read_ns`, with the workload's own clock loop, and `traps`."""
    facts = System(
        os=system.os_name(root),
        kernel_release=system.kernel_release(root),
        kernel_config=system.kernel_options(root),
        boot_flags=system.boot_flags(root),
        vulnerabilities=system.vulnerabilities(root),
        clocksource=system.clocksource(root),
        clock_read_ns=clock_read_ns,
        bpf_jit=read_text(root, "proc/sys/net/core/bpf_jit_enable"),
        boot_messages=system.boot_messages(root),
    )
    return facts.model_copy(update=traps)


def collect_named() -> tuple[Machine, System]:
    """Both, with the id that a submission from here has: a hosted runner is called by its image and its CPU."""
    machine, system_here = collect_machine(), collect_system(None)
    if os.environ.get("RUNNER_ENVIRONMENT") == "github-hosted":  # docs.github.com, "Variables reference"
        machine = as_author(machine, system_here, HOSTED)
    return machine, system_here


def choose_cpus(root: Path = ROOT) -> tuple[int, int | None]:
    """The CPU for the workload and the CPU for the tracer, of those that we may use; None if there is only one CPU.

    The workload gets an isolated one if there is any, then one of the fastest kind, of those the last, which by custom
    has fewer interrupts than the first. The tracer gets the first that shares no core with it and is of its kind, or
    else of another kind, or a sibling when there is no other.
    """
    isolated, of_cpu = system.isolated(root), kinds(root)
    usable = usable_cpus() | {cpu for cpu in isolated if may_use(cpu)}
    workload = max(usable, key=lambda cpu: (cpu in isolated, of_cpu.get(cpu, UNKNOWN), cpu))
    siblings, kind = system.siblings(root, workload), of_cpu.get(workload)
    others = usable - {workload}
    return workload, min(others, key=lambda cpu: (cpu in siblings, of_cpu.get(cpu) != kind, cpu), default=None)


STEAL_LIMIT_RATIO = 0.01
STOPPED_LIMIT_RATIO = 0.01
"""Share of the periods of a quota: a stop in one of a hundred makes an interval wider, and leaves the median."""
SIBLING_LIMIT_RATIO = 0.05
LOAD_LIMIT_RATIO = 0.5
CLOCK_READ_LIMIT_NS = 100.0
"""A read without a system call takes 20 to 60 ns; one that enters the kernel or asks a device takes more than 100."""

FAST_CLOCKS = tuple(
    "tsc kvm-clock hyperv_clocksource_tsc_page xen arch_sys_counter riscv_clocksource timebase tod Constant".split()
)
"""Clock sources that programs read without a system call (`vdso_clock_mode` in the kernel's drivers), best first."""

BOOST = f"{CPU_FOLDER}/cpufreq/boost"


@dataclass(frozen=True, slots=True)
class MachineWarning:
    """One condition that holds; `id` is what `machine.json` records."""

    id: str
    found: str
    why: str
    advice: str
    measure: str
    """What `measure` does, as `records.Condition` has it."""

    def __str__(self) -> str:
        return f"{self.found}. {self.why} To do: {self.advice}"


def warnings(
    root: Path = ROOT,
    *,
    cpu: int | None = None,
    load: float | None = None,
    clock_read_ns: float | None = None,
    steal: float | None = None,
    sibling_busy: float | None = None,
    throttles: float | None = None,
    tracer_cpu: int | None = None,
    busy_cpus: int = 1,
    stopped: Throttling | None = None,
) -> tuple[MachineWarning, ...]:
    """Every condition that holds; facts that were not measured (None) are not judged.

    Of the workload's `cpu` are `steal` and `throttles`, during the run, and `sibling_busy`, of its busiest sibling;
    `load` is that of a minute before anything of ours ran. `busy_cpus`: how many the workload keeps busy. `stopped`:
    how often a quota stopped the run.
    """
    now, threads, governor = datetime.now(UTC), system.threads(root), system.governor(root)
    of_cpu, container, hypervisor = kinds(root), system.container(root), system.virtualization(root)
    kind, tracer_kind = (of_cpu.get(-1 if number is None else number) for number in (cpu, tracer_cpu))
    siblings = "" if cpu is None else ", ".join(map(str, sorted(system.siblings(root, cpu) - {cpu})))
    is_nested, source = hypervisor is not None and system.nested(root), system.clocksource(root)
    is_slow = clock_read_ns is not None and clock_read_ns > CLOCK_READ_LIMIT_NS
    # Of the machine, and not of a device (Documentation/ABI/testing/sysfs-class-power).
    batteries = [path for path in (root / "sys/class/power_supply").glob("*") if read_text(path, "scope") != "Device"]
    facts = {
        "cpu": cpu,
        "tracer_cpu": tracer_cpu,
        "workload": kind.name if kind else "",
        "tracer": tracer_kind.name if tracer_kind else "",
        "folder": CPU_FOLDER,
        "boost": BOOST,
        "date": now.date(),
        "kind": container,
        "governor": governor,
        "hypervisor": hypervisor,
        "flag": system.NESTED_FLAG,
        "siblings": siblings,
        "whose": f"; CPU {siblings} shares the core of the workload's CPU {cpu}" if siblings else "",
        "busy": units.percent(sibling_busy),
        "throttles": throttles,
        "load": load,
        "threads": threads,
        "steal": units.percent(steal),
        "source": source or "not known",
        "reads": f", and a read takes {units.duration(clock_read_ns)}" if is_slow else "",
        "advice": _clock_advice(root, source),
    }
    holds = {
        "clock-unset": now < FIRST_DAY - SLACK,
        "container": container,
        "mixed-cores": kind and tracer_kind and kind != tracer_kind,
        "slow-core": kind and kind < max(of_cpu.values()),
        "governor": governor not in {None, "performance"},
        "turbo": system.turbo(root),
        "battery": any(read_text(path, "status") == "Discharging" for path in batteries),
        "nested": is_nested,
        "virtual": hypervisor and not is_nested,
        "smt-sibling": siblings and sibling_busy is not None and sibling_busy > SIBLING_LIMIT_RATIO,
        "smt": system.smt(root),
        "throttled": throttles,
        "load": load is not None and load > threads * LOAD_LIMIT_RATIO,
        "steal": steal is not None and steal > STEAL_LIMIT_RATIO,
        "clock": is_slow or (source is not None and source not in FAST_CLOCKS),
    }
    by_name = {name: _warning(name, **facts) for name, does_hold in holds.items() if does_hold}
    if "turbo" in by_name and not read_text(root, BOOST):
        by_name["turbo"] = replace(by_name["turbo"], advice=CONDITIONS["governor"].advice)
    settings = (
        _warning(name)
        for name, condition in CONDITIONS.items()
        if condition.file and re.search(condition.shows, read_text(root, condition.file) or "", re.MULTILINE)
    )
    return (*quotas(root, busy_cpus, stopped), *settings, *by_name.values())


def of_tracing(measured: str, elsewhere: str) -> Iterator[MachineWarning]:
    """What else traces, in words: what is measured, and other things; empty where nothing does."""
    if measured:
        yield _warning("traced", what=measured)
    if elsewhere:
        yield _warning("traced-elsewhere", what=elsewhere)


def quotas(root: Path = ROOT, busy_cpus: int = 1, stopped: Throttling | None = None) -> Iterator[MachineWarning]:
    """What keeps a workload of so many busy CPUs, or the tracer beside it, from its CPU; `stopped`: how often."""
    quota = tightest_quota(root)
    if quota is not None and quota.cpus < busy_cpus:
        yield _warning("quota", **asdict(quota), busy=busy_cpus)
    elif quota is not None and quota.cpus < busy_cpus + 1:
        yield _warning("quota-near", **asdict(quota), busy=busy_cpus + 1)
    if stopped is not None and stopped.ratio > STOPPED_LIMIT_RATIO:
        time = units.duration(stopped.throttled_ns)
        yield _warning("quota-stopped", stopped=stopped.throttled_periods, periods=stopped.periods, time=time)


def _clock_advice(root: Path, source: str | None) -> str:
    if source in FAST_CLOCKS:
        return (
            "programs have to ask the kernel for it here: see whether vdso=0 is in /proc/cmdline, or a sandbox around"
        )
    better = next((name for name in FAST_CLOCKS if name in system.offered_clocksources(root)), None)
    if better is None:
        return "dmesg says why the kernel has no better one (search it for clocksource)"
    switch = f"echo {better} | sudo tee /{system.CLOCK_FOLDER}/current_clocksource"
    return f"dmesg says why not {better}; where nothing speaks against it: {switch}"


def _warning(name: str, **facts: object) -> MachineWarning:
    own = CONDITIONS[name]
    finding, why, advice = (text.format(**facts) for text in (own.found, own.why, own.advice))
    return MachineWarning(name, finding, why, advice, own.measure)
