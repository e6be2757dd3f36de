"""All facts of a machine, as `machine.json` has them, and which of them make its times vary or differ from others'.

Every command asks this module what its machine is, by the module's name, so that a test makes it another machine in one
place.

No warning judges a result: the baseline, the noise floor and the interval are measured as they are. If pyperf's
`system tune` mends a setting it is recommended, because it also restores the setting (pyperf, "Tune the system for
benchmarks"; checked with 2.10: frequency governor under every driver, turbo of Intel CPUs).

Two conditions that pyperf looks at are no warning here. Address space randomisation is welcome: each run then has
another layout, and a fixed one would favour some case every time (Mytkowicz et al. 2009). The highest sampling rate of
perf (kernel.perf_event_max_sample_rate) limits events that are sampled by time; those that are recorded one by one, as
ours, are not throttled (`perf_swevent_event` in kernel/events/core.c).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from probe_effect import units
from probe_effect.host import ROOT, read_text, usable_cpus
from probe_effect.machine import system
from probe_effect.machine import system as cpus
from probe_effect.store.machine_file import Machine, System, with_id
from probe_effect.toml import beside


def collect_machine(root: Path = ROOT) -> Machine:
    """The hardware, real or virtual."""
    found = Machine(
        id="made-of-the-rest",
        cpu_model=system.cpu_model(root),
        cpu_numbers=system.numbers(root),
        microarchitecture=system.microarchitecture(root),
        architecture=system.architecture(),
        sockets=system.sockets(root),
        cores=system.cores(root),
        threads=system.threads(root),
        smt=system.smt(root),
        memory_bytes=system.memory_bytes(root),
        governor=system.governor(root),
        turbo=system.turbo(root),
        microcode=system.microcode(root),
        virtualization=system.virtualization(root),
        nested=system.nested(root),
    )
    return with_id(found, system.signature(root), system.kernel_release(root))


def collect_system(
    clock_read_ns: float | None, root: Path = ROOT, traps: Mapping[str, float] = MappingProxyType({})
) -> System:
    """The operating system. The caller measures `clock_read_ns`, with the workload's own clock loop, and `traps`."""
    found = System(
        os=system.os_name(root),
        kernel_release=system.kernel_release(root),
        kernel_config=system.kernel_options(root),
        boot_flags=system.boot_flags(root),
        vulnerabilities=system.vulnerabilities(root),
        clocksource=system.clocksource(root),
        clock_read_ns=clock_read_ns,
        bpf_jit=system.bpf_jit(root),
        boot_messages=system.boot_messages(root),
    )
    return found.model_copy(update=traps)


def choose_cpus(root: Path = ROOT) -> tuple[int, int | None]:
    """The CPU for the workload and the CPU for the tracer, of those that we may use; None if there is only one CPU.

    The workload gets the last one, which by custom has fewer interrupts than the first; the tracer gets the first
    that shares no core with it, or a sibling when there is no other.
    """
    usable = sorted(usable_cpus())
    workload = usable[-1]
    others = [number for number in usable if number != workload]
    apart = [number for number in others if number not in system.siblings(root, workload)]
    return workload, next(iter(apart or others), None)


STEAL_LIMIT_RATIO = 0.01
SIBLING_LIMIT_RATIO = 0.05
LOAD_LIMIT_RATIO = 0.5
CLOCK_READ_LIMIT_NS = 100.0
"""A read without a system call takes 20 to 60 ns; one that enters the kernel or asks a device takes more than 100."""

FAST_CLOCKS = tuple(
    "tsc kvm-clock hyperv_clocksource_tsc_page xen arch_sys_counter riscv_clocksource timebase tod".split()
)
"""Clock sources that programs read without a system call (`vdso_clock_mode` in the kernel's drivers), best first."""

BOOST = f"{cpus.CPU_FOLDER}/cpufreq/boost"

WORDS: dict[str, dict[str, str]] = beside(__file__, "warnings")
"""Id of each condition to its parts, with what was found of it in braces."""


@dataclass(frozen=True, slots=True)
class MachineWarning:
    """One condition that holds; `id` is what `machine.json` records."""

    id: str
    found: str
    why: str
    advice: str


def warnings(
    root: Path = ROOT,
    *,
    cpu: int | None = None,
    load: float | None = None,
    clock_read_ns: float | None = None,
    steal: float | None = None,
    sibling_busy: float | None = None,
    throttles: float | None = None,
) -> tuple[MachineWarning, ...]:
    """Every condition that holds; facts that were not measured (None) are not judged.

    Of the workload's `cpu` are `steal` and `throttles`, during the run, and `sibling_busy`, of its busiest sibling
    (`busy.py`, `system.py`); `load` is that of a minute before anything of ours ran.
    """
    siblings = "" if cpu is None else ", ".join(map(str, sorted(cpus.siblings(root, cpu) - {cpu})))
    core = {"siblings": siblings, "cpu": cpu, "folder": cpus.CPU_FOLDER}
    return (
        *_lasting(root),
        *_of_core(root, core, sibling_busy),
        *_passing(load, cpus.threads(root), steal, throttles),
        *_slow_clock(root, clock_read_ns),
    )


def _lasting(root: Path) -> Iterator[MachineWarning]:
    """How the machine is set, and whether it is one."""
    governor = cpus.governor(root)
    if governor not in {None, "performance"}:
        yield _warning("governor", governor=governor)
    if cpus.turbo(root):
        found = _warning("turbo", boost=BOOST)
        yield found if read_text(root, BOOST) else replace(found, advice=WORDS["governor"]["advice"])
    if _is_discharging(root):
        yield _warning("battery")
    if hypervisor := cpus.virtualization(root):
        yield _warning("nested" if cpus.nested(root) else "virtual", hypervisor=hypervisor, flag=cpus.NESTED_FLAG)


def _is_discharging(root: Path) -> bool:
    """Whether a battery of the machine, and not of a device, is (Documentation/ABI/testing/sysfs-class-power)."""
    places = [f"sys/class/power_supply/{path.name}" for path in (root / "sys/class/power_supply").glob("*")]
    own = (one for one in places if read_text(root, f"{one}/scope") != "Device")
    return any(read_text(root, f"{one}/status") == "Discharging" for one in own)


def _of_core(root: Path, core: Mapping[str, object], busy: float | None) -> Iterator[MachineWarning]:
    """What shares the core of the workload's CPU."""
    if core["siblings"] and busy is not None and busy > SIBLING_LIMIT_RATIO:
        yield _warning("smt-sibling", busy=units.percent(busy), **core)
    if cpus.smt(root):
        whose = "; CPU {siblings} shares the core of the workload's CPU {cpu}" if core["siblings"] else ""
        yield _warning("smt", whose=whose.format(**core), **core)


def _passing(
    load: float | None, threads: int, steal: float | None, throttles: float | None
) -> Iterator[MachineWarning]:
    """What others do meanwhile, and what heat does."""
    if throttles:
        yield _warning("throttled", throttles=throttles)
    if load is not None and load > threads * LOAD_LIMIT_RATIO:
        yield _warning("load", load=load, threads=threads)
    if steal is not None and steal > STEAL_LIMIT_RATIO:
        yield _warning("steal", steal=units.percent(steal))


def _slow_clock(root: Path, clock_read_ns: float | None) -> Iterator[MachineWarning]:
    """Reading the time is slow: the workload reads it twice in a run, a tracer often at each event."""
    source = cpus.clocksource(root)
    is_slow = clock_read_ns is not None and clock_read_ns > CLOCK_READ_LIMIT_NS
    if is_slow or (source is not None and source not in FAST_CLOCKS):
        reads = f", and a read takes {units.duration(clock_read_ns)}" if is_slow else ""
        yield _warning("clock", source=source or "not known", reads=reads, advice=_clock_advice(root, source))


def _clock_advice(root: Path, source: str | None) -> str:
    if source in FAST_CLOCKS:
        return (
            "programs have to ask the kernel for it here: see whether vdso=0 is in /proc/cmdline, or a sandbox around"
        )
    better = next((name for name in FAST_CLOCKS if name in cpus.offered_clocksources(root)), None)
    if better is None:
        return "dmesg says why the kernel has no better one (search it for clocksource)"
    switch = f"echo {better} | sudo tee /{cpus.CLOCK_FOLDER}/current_clocksource"
    return f"dmesg says why not {better}; where nothing speaks against it: {switch}"


def _warning(name: str, **facts: object) -> MachineWarning:
    return MachineWarning(name, **{part: text.format(**facts) for part, text in WORDS[name].items()})
