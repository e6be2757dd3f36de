"""The conditions of `conditions.toml` that hold on this machine now.

No warning judges a result: the baseline, the noise floor and the interval are measured as they are. If pyperf's
`system tune` mends a setting it is recommended, because it also restores the setting (pyperf, "Tune the system for
benchmarks"; checked with 2.10: frequency governor under every driver, turbo of Intel CPUs).

Two conditions that pyperf looks at are no warning here. Address space randomisation is welcome: each run then has
another layout, and a fixed one would favour some case every time (Mytkowicz et al. 2009). The highest sampling rate of
perf (kernel.perf_event_max_sample_rate) limits events that are sampled by time; those that are recorded one by one, as
ours, are not throttled (`perf_swevent_event` in kernel/events/core.c).
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from probe_effect import units
from probe_effect.host import ROOT, read_text
from probe_effect.host import system as cpus
from probe_effect.host.collect import kinds
from probe_effect.host.load import Throttling, tightest_quota
from probe_effect.records import CONDITIONS
from probe_effect.store.machine_file import FIRST_DAY, SLACK

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

BOOST = f"{cpus.CPU_FOLDER}/cpufreq/boost"


@dataclass(frozen=True, slots=True)
class MachineWarning:
    """One condition that holds; `id` is what `machine.json` records."""

    id: str
    found: str
    why: str
    advice: str
    measure: str
    """What `measure` does, as `conditions.Condition` has it."""

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
    now, threads, governor = datetime.now(UTC), cpus.threads(root), cpus.governor(root)
    of_cpu, container, hypervisor = kinds(root), cpus.container(root), cpus.virtualization(root)
    kind, tracer_kind = (of_cpu.get(-1 if number is None else number) for number in (cpu, tracer_cpu))
    siblings = "" if cpu is None else ", ".join(map(str, sorted(cpus.siblings(root, cpu) - {cpu})))
    is_nested, source = hypervisor is not None and cpus.nested(root), cpus.clocksource(root)
    is_slow = clock_read_ns is not None and clock_read_ns > CLOCK_READ_LIMIT_NS
    # Of the machine, and not of a device (Documentation/ABI/testing/sysfs-class-power).
    batteries = [path for path in (root / "sys/class/power_supply").glob("*") if read_text(path, "scope") != "Device"]
    facts = {
        "cpu": cpu,
        "tracer_cpu": tracer_cpu,
        "workload": kind.name if kind else "",
        "tracer": tracer_kind.name if tracer_kind else "",
        "folder": cpus.CPU_FOLDER,
        "boost": BOOST,
        "date": now.date(),
        "kind": container,
        "governor": governor,
        "hypervisor": hypervisor,
        "flag": cpus.NESTED_FLAG,
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
        "turbo": cpus.turbo(root),
        "battery": any(read_text(path, "status") == "Discharging" for path in batteries),
        "nested": is_nested,
        "virtual": hypervisor and not is_nested,
        "smt-sibling": siblings and sibling_busy is not None and sibling_busy > SIBLING_LIMIT_RATIO,
        "smt": cpus.smt(root),
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
    better = next((name for name in FAST_CLOCKS if name in cpus.offered_clocksources(root)), None)
    if better is None:
        return "dmesg says why the kernel has no better one (search it for clocksource)"
    switch = f"echo {better} | sudo tee /{cpus.CLOCK_FOLDER}/current_clocksource"
    return f"dmesg says why not {better}; where nothing speaks against it: {switch}"


def _warning(name: str, **facts: object) -> MachineWarning:
    own = CONDITIONS[name]
    found, why, advice = (text.format(**facts) for text in (own.found, own.why, own.advice))
    return MachineWarning(name, found, why, advice, own.measure)
