"""Conditions that make a machine's times vary, or differ from those of other machines: one function for each.

No warning judges a result: the baseline, the noise floor and the interval are measured as they are. If pyperf's
`system tune` mends a setting it is recommended, because it also restores the setting (pyperf, "Tune the system for
benchmarks"; checked with 2.10: frequency governor under every driver, turbo of Intel CPUs).

Two conditions that pyperf looks at are no warning here. Address space randomisation is welcome: each run then has
another layout, and a fixed one would favour some case every time (Mytkowicz et al. 2009). The highest sampling rate of
perf (kernel.perf_event_max_sample_rate) limits events that are sampled by time; those that are recorded one by one, as
ours, are not throttled (`perf_swevent_event` in kernel/events/core.c).
"""

from dataclasses import dataclass, replace
from pathlib import Path

from probe_effect import units
from probe_effect.host import ROOT, read_text
from probe_effect.machine import cpu, kernel
from probe_effect.machine import cpu as cpus
from probe_effect.toml import beside

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

WORDS: dict[str, dict[str, str]] = beside(__file__)
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

    Args:
        cpu: the workload's CPU.
        load: one-minute load average before anything of ours ran.
        clock_read_ns: time of one monotonic clock read.
        steal: share of the CPU's time that the hypervisor took (`busy.steal_ratio`).
        sibling_busy: share of time in which the busiest sibling of the CPU was busy (`busy.busy_ratio`).
        throttles: how often the CPU was slowed for its heat during the run (`cpu.throttles`).
    """
    found = (
        governor_not_performance(root),
        turbo_on(root),
        on_battery(root),
        _warning("throttled", throttles=throttles) if throttles else None,
        sibling_is_busy(root, cpu, sibling_busy),
        smt_on(root, cpu),
        high_load(load, cpus.threads(root)),
        high_steal(steal),
        slow_clock(root, clock_read_ns),
        is_virtual(root),
    )
    return tuple(warning for warning in found if warning is not None)


def governor_not_performance(root: Path) -> MachineWarning | None:
    """The frequency of a CPU follows its load."""
    governor = cpus.governor(root)
    return None if governor in {None, "performance"} else _warning("governor", governor=governor)


def turbo_on(root: Path) -> MachineWarning | None:
    """The CPU exceeds its base frequency while it is cool enough."""
    if not cpus.turbo(root):
        return None
    found = _warning("turbo", boost=BOOST)
    return found if read_text(root, BOOST) else replace(found, advice=WORDS["governor"]["advice"])


def on_battery(root: Path) -> MachineWarning | None:
    """A battery of the machine, and not of a device, is discharging (Documentation/ABI/testing/sysfs-class-power)."""
    places = [f"sys/class/power_supply/{path.name}" for path in (root / "sys/class/power_supply").glob("*")]
    own = (one for one in places if read_text(root, f"{one}/scope") != "Device")
    is_discharging = any(read_text(root, f"{one}/status") == "Discharging" for one in own)
    return _warning("battery") if is_discharging else None


def sibling_is_busy(root: Path, cpu: int | None, busy: float | None) -> MachineWarning | None:
    """Another program runs on the core of the workload."""
    siblings = _siblings(root, cpu)
    if not siblings or busy is None or busy <= SIBLING_LIMIT_RATIO:
        return None
    return _warning("smt-sibling", siblings=siblings, cpu=cpu, busy=units.percent(busy), folder=cpus.CPU_FOLDER)


def smt_on(root: Path, cpu: int | None) -> MachineWarning | None:
    """CPUs are threads that share cores."""
    if not cpus.smt(root):
        return None
    siblings = _siblings(root, cpu)
    whose = f"; CPU {siblings} shares the core of the workload's CPU {cpu}" if siblings else ""
    return _warning("smt", whose=whose, folder=cpus.CPU_FOLDER)


def high_load(load: float | None, threads: int) -> MachineWarning | None:
    """Other programs run. `threads` is the number of logical CPUs."""
    if load is None or load <= threads * LOAD_LIMIT_RATIO:
        return None
    return _warning("load", load=load, threads=threads)


def high_steal(steal: float | None) -> MachineWarning | None:
    """The hypervisor let others run in our time."""
    return None if steal is None or steal <= STEAL_LIMIT_RATIO else _warning("steal", steal=units.percent(steal))


def slow_clock(root: Path, clock_read_ns: float | None) -> MachineWarning | None:
    """Reading the time is slow: the workload reads it twice in a run, a tracer often at each event."""
    source = kernel.clocksource(root)
    is_slow = clock_read_ns is not None and clock_read_ns > CLOCK_READ_LIMIT_NS
    if not is_slow and (source is None or source in FAST_CLOCKS):
        return None
    reads = f", and a read takes {units.duration(clock_read_ns)}" if is_slow else ""
    return _warning("clock", source=source or "not known", reads=reads, advice=_clock_advice(root, source))


def _clock_advice(root: Path, source: str | None) -> str:
    if source in FAST_CLOCKS:
        return (
            "programs have to ask the kernel for it here: see whether vdso=0 is in /proc/cmdline, or a sandbox around"
        )
    better = next((name for name in FAST_CLOCKS if name in kernel.offered_clocksources(root)), None)
    if better is None:
        return "dmesg says why the kernel has no better one (search it for clocksource)"
    switch = f"echo {better} | sudo tee /{kernel.CLOCK_FOLDER}/current_clocksource"
    return f"dmesg says why not {better}; where nothing speaks against it: {switch}"


def is_virtual(root: Path) -> MachineWarning | None:
    """The machine is a guest: of a hypervisor on hardware, as far as is known, or of another guest."""
    hypervisor = cpu.virtualization(root)
    if hypervisor is None:
        return None
    if cpu.nested(root):
        return _warning("nested", hypervisor=hypervisor, flag=cpu.NESTED_FLAG)
    return _warning("virtual", hypervisor=hypervisor)


def _warning(name: str, **facts: object) -> MachineWarning:
    return MachineWarning(name, **{part: text.format(**facts) for part, text in WORDS[name].items()})


def _siblings(root: Path, cpu: int | None) -> str:
    """The CPUs that share a core with `cpu`, as text; empty when there are none."""
    return "" if cpu is None else ", ".join(str(one) for one in sorted(cpus.siblings(root, cpu) - {cpu}))
