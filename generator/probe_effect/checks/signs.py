"""Signs that a submission was not measured as it says, and what looks odd in its costs: each a warning.

Two that do not follow from each other are an error (`checks/run.py`), which an entry of kind "accepted" in the change
log lifts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from probe_effect import units
from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.numbers.estimates import is_below
from probe_effect.numbers.rows import baselines
from probe_effect.numbers.submission import Number, Submission
from probe_effect.store.suite_file import Case, Suite
from probe_effect.toml import beside
from probe_effect.tools import known_tool

SLOWEST_REGISTER_NS, FASTEST_DEVICE_NS = 400.0, 100.0
"""A register is read in some tens of nanoseconds, a device's counter in about a microsecond: our choice, well apart."""

KNOWN = beside(__file__)
CLOCKS, MAKERS = KNOWN["clocks"], KNOWN["makers"]


@rule("maker-facts")
def _maker_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    machine, system = checked.document.machine, checked.document.system
    name_of_cpu, is_of_kvm = machine.cpu_model or "", machine.microcode == MAKERS["amd"]["kvm_microcode"]
    makers = [maker for maker, own in MAKERS.items() if re.search(own["words"], name_of_cpu, re.IGNORECASE)]
    if len(makers) == 1:
        for name, state in system.vulnerabilities.items():
            if name in MAKERS[makers[0]]["of_others"] and state != "Not affected":
                found = f"`{name}`: no CPU with `{makers[0]}` in its name is affected"
                yield checked.fault("system.vulnerabilities", found)
        if is_of_kvm and makers == ["intel"]:
            found = f"microcode {machine.microcode} is what KVM shows guests on AMD's CPUs"
            yield checked.fault("machine.microcode", found)
    if is_of_kvm and machine.virtualization is None:
        found = f"bare metal, but microcode {machine.microcode} is what KVM shows a guest"
        yield checked.fault("machine.microcode", found)
    source, read_ns = system.clocksource, system.clock_read_ns or 0.0
    if source in CLOCKS["registers"] and read_ns > SLOWEST_REGISTER_NS and machine.virtualization is None:
        yield checked.fault("system.clock_read_ns", f"{read_ns:.0f} ns to read `{source}`, which is a register")
    if source in CLOCKS["devices"] and 0 < read_ns < FASTEST_DEVICE_NS:
        yield checked.fault("system.clock_read_ns", f"{read_ns:.0f} ns to read `{source}`, which is a device")


def has_fixed_operations(suite: Suite | None) -> bool:
    """Whether the suite says how many operations a run has, and no trial finds it."""
    return suite is None or suite.workload.operations is not None or suite.workload.project is not None


RULES = (_maker_facts,)


CALL_LOOPS = frozenset({"dd-loop.c"})
"""Workloads of which an operation is two system calls and nothing else."""

CALLS_PER_OPERATION = 2
LEAST_NS, MOST_NS = 30, 2000
MOST_DRIFT_RATIO = 0.02

RETURNS = {"uretprobe": "uprobe", "kretprobe": "kprobe"}


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission of times in which nothing is wrong, with the costs that follow from it."""

    checked: CheckedSubmission
    submission: Submission

    @property
    def baseline_ns(self) -> float | None:
        """One untraced operation of a loop of system calls; None of any other workload."""
        suite, baseline = self.checked.suite, self.submission.baseline
        return baseline.value if suite and baseline and suite.workload.program in CALL_LOOPS else None

    def cases(self) -> dict[str, Case]:
        """The cases of its suite by id."""
        return {case.id: case for case in self.checked.suite.cases} if self.checked.suite else {}

    def doubt(self, number: Number, found: str, hint: str | None = None) -> Fault:
        """What is odd about a number, at the first row of its case, tracer and level."""
        rows = self.checked.lines()
        first = next((line for line, row in rows if (row.case, row.tracer, row.level) == number.key), None)
        return Fault("samples.csv", first, f"case `{number.case}` with {number.tracer} {found}", hint)


@rule("baseline-range")
def _baseline_range(judged: JudgedSubmission) -> Iterator[Fault]:
    baseline_ns = judged.baseline_ns
    if baseline_ns is not None and not LEAST_NS <= baseline_ns <= MOST_NS:
        found = f"an untraced operation takes {units.duration(baseline_ns)}, expected {LEAST_NS} to {MOST_NS} ns"
        first = next((line for line, row in judged.checked.lines() if row.arm == "baseline"), None)
        yield Fault("samples.csv", first, found)


@rule("steady-baselines")
def _steady_baselines(judged: JudgedSubmission) -> Iterator[Fault]:
    for level, baseline in baselines(judged.checked.samples).items():
        drift = baseline.drift_within()
        if drift is None or drift.low is None or drift.high is None:
            continue
        # The whole interval is beyond: among many levels, some values are by chance.
        if drift.low > MOST_DRIFT_RATIO or drift.high < -MOST_DRIFT_RATIO:
            at = "" if level is None else f" at level `{level}`"
            first = next(line for line, row in judged.checked.lines() if (row.arm, row.level) == ("baseline", level))
            found = f"baselines{at} differ by {units.percent(drift.value)} from the first of a block to the second"
            yield Fault("samples.csv", first, found)


@rule("negative-cost")
def _negative_cost(judged: JudgedSubmission) -> Iterator[Fault]:
    suite = judged.checked.suite
    builds = {case.id for case in judged.cases().values() if case.variant and suite and not suite.result_type.guides}
    for one in judged.submission.numbers:
        if one.cost is not None and one.distinguishable and one.cost.value < 0 and one.case not in builds:
            yield judged.doubt(one, f"costs {units.duration(one.cost.value)}")


@rule("probe-order")
def _probe_order(judged: JudgedSubmission) -> Iterator[Fault]:
    cases = judged.cases()
    numbers = {number.key: number for number in judged.submission.numbers}
    # The probe at a function's return is armed by one at its entry.
    for number in numbers.values():
        case = cases.get(number.case)
        entry = case and _entry(case, cases)
        other = numbers.get(number.key._replace(case=entry.id)) if entry else None
        if other is not None and is_below(number.cost, other.cost):
            found = f"costs less than `{other.case}`, the entry of the same"
            yield judged.doubt(number, found, "look whether it fired, and at the mechanism of both")
    # A uprobe enters the kernel, as a system call does, and then does more.
    if judged.baseline_ns is None:
        return
    call_ns = judged.baseline_ns / CALLS_PER_OPERATION
    for number in numbers.values():
        case, tool = cases.get(number.case), known_tool(number.tracer)
        if case is None or case.probe != "uprobe" or (tool is not None and not tool.enters_kernel):
            continue
        if number.cost is not None and number.cost.high is not None and number.cost.high < call_ns:
            cost, call = units.duration(number.cost.value), units.duration(call_ns)
            yield judged.doubt(number, f"costs {cost}, less than a system call there ({call})")


def _entry(case: Case, cases: Mapping[str, Case]) -> Case | None:
    """The case that does at the entry of the same function what `case` does at its return."""
    words = case.probe.split("-")
    wanted = "-".join([RETURNS.get(words[0], ""), *words[1:]])
    same = (other for other in cases.values() if other.probe == wanted and other.action == case.action)
    return next((other for other in same if other.variant == case.variant), None)


COST_RULES = (_baseline_range, _steady_baselines, _negative_cost, _probe_order)
