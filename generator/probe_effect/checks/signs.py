"""Signs that a submission was not measured as it says, in its own files: each a warning, with its figure.

Two that do not follow from each other are an error (`checks/run.py`), which an entry of kind "accepted" in the change
log lifts.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.model import Arm, Key, Sample
from probe_effect.stats import run_order
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.suite_file import Suite
from probe_effect.toml import beside

FILE = "samples.csv"

LEAST_VALUES = 40
"""So many does it take to say something of digits."""

MICROSECOND_NS = 1000

LEAST_CHANCE = 1e-6
"""Of digits that a clock has made; one of a hundred thousand honest submissions is beyond it in any of ten digits."""

CPU_TIMES = ("user_ns", "sys_ns", "tracer_cpu_ns")

CLOCK_SLACK_S = 2.0
"""`started` and `ended` are whole seconds."""

SLOWEST_REGISTER_NS, FASTEST_DEVICE_NS = 400.0, 100.0
"""A register is read in some tens of nanoseconds, a device's counter in about a microsecond: our choice, well apart."""

KNOWN = beside(__file__)
CLOCKS, MAKERS = KNOWN["clocks"], KNOWN["makers"]


@rule("clock-digits")
def _clock_digits(checked: CheckedSubmission) -> Iterator[Fault]:
    if checked.document.run.metric != "time":
        return
    walls = [sample.wall_ns for sample in checked.samples if sample.wall_ns]
    if len(walls) >= LEAST_VALUES:
        if all(wall_ns % MICROSECOND_NS == 0 for wall_ns in walls):
            yield Fault(FILE, None, f"all {len(walls)} wall times are whole microseconds; the clock counts nanoseconds")
        elif checked.document.system.clocksource in CLOCKS["fine"] and (chance := _digits_chance(walls)) < LEAST_CHANCE:
            found = f"the last digits of {len(walls)} wall times come by chance with a probability of {chance:.1g}"
            yield Fault(FILE, None, found)
    cpu_times = [time for sample in checked.samples for name in CPU_TIMES if (time := getattr(sample, name))]
    finer = sum(time % MICROSECOND_NS != 0 for time in cpu_times)
    if finer:
        found = f"{finer} of {len(cpu_times)} CPU times are no whole microseconds, in which the kernel counts them"
        yield Fault(FILE, None, found)


def _digits_chance(values: list[int]) -> float:
    """Of last digits at least so uneven, by the chi-squared statistic with 9 degrees of freedom (Wilson-Hilferty)."""
    expected = len(values) / 10
    counts = [sum(value % 10 == digit for value in values) for digit in range(10)]
    squared = sum((count - expected) ** 2 for count in counts) / expected
    cubic = (squared / 9) ** (1 / 3)
    return 0.5 * math.erfc((cubic - (1 - 2 / 81)) / math.sqrt(2 / 81) / math.sqrt(2))


@rule("seed-order")
def _seed_order(checked: CheckedSubmission) -> Iterator[Fault]:
    run, suite = checked.document.run, checked.suite
    if suite is None or run.started[:10] < run_order.SINCE or run.blocks < 2:
        return
    wanted = order_of_seed(checked.document, checked.samples, suite)
    if wanted is None:
        return
    wrong = [
        line
        for line, row in checked.lines()
        if wanted.get((row.block, row.position)) != (Key(row.case, row.tracer, row.level), row.arm)
    ]
    if wrong:
        found = f"{len(wrong)} of {len(checked.samples)} runs are not where seed {run.seed} puts them"
        yield Fault(FILE, wrong[0], found)


def order_of_seed(
    document: MachineFile, samples: Sequence[Sample], suite: Suite
) -> dict[tuple[int, int], tuple[Key, Arm]] | None:
    """(block, position) to what the seed puts there; None where a case or tracer is unknown, or blocks are missing."""
    cases, levels = [case.id for case in suite.cases], suite.levels or (None,)
    known = [{part: place for place, part in enumerate(parts)} for parts in (cases, document.tools, levels)]
    rows: dict[Key, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm != "baseline":
            rows[Key(sample.case, sample.tracer, sample.level)].append(sample)
    blocks = 1 + max((sample.block for sample in samples), default=0)
    if blocks > len(samples) or any(
        part not in places for key in rows for part, places in zip(key, known, strict=True)
    ):
        return None
    keys = sorted(rows, key=lambda key: [places[part] for part, places in zip(key, known, strict=True)])
    measured = [key for key in keys if any(row.block or row.status == "ok" or row.events for row in rows[key])]
    left_out = [key for key in keys if key not in measured]
    left_out.sort(key=lambda key: rows[key][0].status == "skipped")  # a trial comes before what was never tried
    counted = [key for key in keys if any(row.arm == "check" for row in rows[key])]
    orders = run_order.blocks_in_order(measured, left_out, counted, blocks, document.run.seed)
    return {(block, place): one for block, order in enumerate(orders) for place, one in enumerate(order)}


@rule("time-span")
def _time_span(checked: CheckedSubmission) -> Iterator[Fault]:
    run = checked.document.run
    if run.ended is None or run.metric != "time":
        return
    rows = checked.samples
    total_s = sum((row.wall_ns or 0) + (row.attach_ns or 0) + (row.detach_ns or 0) for row in rows) / 1e9
    started, ended = datetime.fromisoformat(run.started), datetime.fromisoformat(run.ended)
    span_s = (ended - started).total_seconds()
    if 0 <= span_s < total_s - CLOCK_SLACK_S:
        yield checked.fault("run.ended", f"the runs add up to {total_s:.0f} s, and the whole took {span_s:.0f} s")


@rule("maker-facts")
def _maker_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    for key, found in (*_of_maker(checked), *_of_clock(checked)):
        yield checked.fault(key, found)


def _of_maker(checked: CheckedSubmission) -> Iterator[tuple[str, str]]:
    document = checked.document
    machine = document.machine
    name_of_cpu, is_of_kvm = machine.cpu_model or "", machine.microcode == MAKERS["amd"]["kvm_microcode"]
    makers = [maker for maker, own in MAKERS.items() if re.search(own["words"], name_of_cpu, re.IGNORECASE)]
    if len(makers) == 1:
        for name, said in document.system.vulnerabilities.items():
            if name in MAKERS[makers[0]]["of_others"] and said != "Not affected":
                yield "system.vulnerabilities", f"`{name}`: no CPU with `{makers[0]}` in its name is affected"
        if is_of_kvm and makers == ["intel"]:
            yield "machine.microcode", f"microcode {machine.microcode} is what KVM shows guests on AMD's CPUs"
    if is_of_kvm and machine.virtualization is None:
        yield "machine.microcode", f"bare metal, but microcode {machine.microcode} is what KVM shows a guest"


def _of_clock(checked: CheckedSubmission) -> Iterator[tuple[str, str]]:
    machine, system = checked.document.machine, checked.document.system
    source, read_ns = system.clocksource, system.clock_read_ns
    if not read_ns:
        return
    if source in CLOCKS["registers"] and read_ns > SLOWEST_REGISTER_NS and machine.virtualization is None:
        yield "system.clock_read_ns", f"{read_ns:.0f} ns to read `{source}`, which is a register"
    if source in CLOCKS["devices"] and read_ns < FASTEST_DEVICE_NS:
        yield "system.clock_read_ns", f"{read_ns:.0f} ns to read `{source}`, which is a device"


def has_fixed_operations(suite: Suite | None) -> bool:
    """Whether the suite says how many operations a run has, and no trial finds it."""
    return suite is None or suite.workload.operations is not None or suite.workload.project is not None


RULES = (_clock_digits, _seed_order, _time_span, _maker_facts)
