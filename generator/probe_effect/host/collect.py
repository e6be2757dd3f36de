"""All facts of a machine, as `machine.json` has them, and the kinds of its cores.

Every command asks this module what its machine is, by the module's name, so that a test makes it another machine in one
place. Kinds of cores are big and little ones of Arm, performance and efficiency cores of Intel, and CPUs of two speeds.

Source: Documentation/ABI/testing/sysfs-devices-system-cpu (`cpu_capacity`), sysfs-bus-event_source-devices-… of the
drivers `cpu_core` and `cpu_atom` (`cpus`), and Documentation/admin-guide/pm/cpufreq.rst (`cpuinfo_max_freq`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from probe_effect.host import ROOT, may_use, read_text, system, usable_cpus
from probe_effect.host.system import CPU_FOLDER, core_name, numbered, processors
from probe_effect.store.machine_file import Machine, System, with_id

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
