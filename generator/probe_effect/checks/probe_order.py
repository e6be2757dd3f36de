"""Probes cost in an order that follows from how they work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.checks.baseline_range import CALL_LOOPS
from probe_effect.checks.rule import Fault, JudgedSubmission, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case

OUTSIDE_KERNEL = ("uftrace", "lttng-ust", "dormant")
"""Tracers whose probes in user programs do not enter the kernel."""

CALLS_PER_OPERATION = 2
RETURNS = {"uretprobe": "uprobe", "kretprobe": "kprobe"}


def _faults(judged: JudgedSubmission) -> Iterator[Fault]:
    suite = judged.checked.suite
    if suite is None:
        return
    cases = {case.id: case for case in suite.cases}
    yield from _below_entry(judged, cases)
    if suite.workload.program in CALL_LOOPS:
        yield from _below_system_call(judged, cases)


def _below_system_call(judged: JudgedSubmission, cases: Mapping[str, Case]) -> Iterator[Fault]:
    """A uprobe enters the kernel, as a system call does, and then does more."""
    baseline_ns = judged.baseline_ns
    for one in judged.submission.numbers:
        case = cases.get(one.case)
        if case is None or baseline_ns is None or one.cost is None or one.cost.high is None:
            continue
        call_ns = baseline_ns / CALLS_PER_OPERATION
        if case.probe == "uprobe" and not one.tracer.startswith(OUTSIDE_KERNEL) and one.cost.high < call_ns:
            said = f"case `{one.case}` with {one.tracer} costs {units.duration(one.cost.value)}"
            found = f"{said}, less than a system call there ({units.duration(call_ns)})"
            yield Fault("samples.csv", judged.line_of(one), found, "look whether the probe fired at all", "warning")


def _below_entry(judged: JudgedSubmission, cases: Mapping[str, Case]) -> Iterator[Fault]:
    """The probe at a function's return is armed by one at its entry."""
    costs = {(one.case, one.tracer, one.level): one for one in judged.submission.numbers}
    for one in judged.submission.numbers:
        case = cases.get(one.case)
        entry = case and _entry(case, cases)
        other = costs.get((entry.id, one.tracer, one.level)) if entry else None
        if other is not None and _is_below(one, other):
            found = f"case `{one.case}` with {one.tracer} costs less than `{other.case}`, the entry of the same"
            hint = "look whether it fired, and at the mechanism of both"
            yield Fault("samples.csv", judged.line_of(one), found, hint, "warning")


def _entry(case: Case, cases: Mapping[str, Case]) -> Case | None:
    """The case that does at the entry of the same function what `case` does at its return."""
    words = case.probe.split("-")
    wanted = "-".join([RETURNS.get(words[0], ""), *words[1:]])
    same = (other for other in cases.values() if other.probe == wanted and other.action == case.action)
    return next((other for other in same if other.variant == case.variant), None)


def _is_below(one: Number, other: Number) -> bool:
    if one.cost is None or other.cost is None or one.cost.high is None or other.cost.low is None:
        return False
    return one.cost.high < other.cost.low


RULE = Rule(
    "probe-order",
    "A uprobe costs no less than a system call; a probe at a return costs no less than the one at the entry.",
    _faults,
    good="uprobe 1.2 us, uretprobe 1.6 us, system call 200 ns",
    bad="uprobe 40 ns, system call 200 ns",
)
