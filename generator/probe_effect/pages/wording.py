"""Numbers with their intervals as readers see them, and the sentences built from them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.guidance.slowdown import THRESHOLDS
from probe_effect.model import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe_effect.model import CaseSummary
    from probe_effect.store.machine_file import MachineFile
    from probe_effect.store.source_file import SourceFile

NOT_STATED = "not stated"


def interval(value: Interval | None, show: Callable[[float | None, int], str], digits: int | None = None) -> str:
    """`591 ns (577 to 604)`, with as many digits as the interval supports; the value alone without one."""
    if value is None:
        return units.MISSING
    if value.low is None or value.high is None:
        return show(value.value, digits or 3)
    places = digits or units.digits_for(value.value, value.low, value.high)
    low, high = (show(end, places).split("\u00a0")[0] for end in (value.low, value.high))
    return f"{show(value.value, places)} ({low} to {high})"


def cost(case: CaseSummary) -> str:
    """The cost of a case; in words where it is no difference."""
    if case.cost is None:
        return case.status
    if case.distinguishable is False:
        return f"not distinguishable from 0 (below {units.nanoseconds(case.noise_floor_ns, 2)})"
    return interval(case.cost, units.nanoseconds)


def slowdown(case: CaseSummary) -> str:
    """Slowdown of the workload itself, which does nothing but fire the probe."""
    return units.MISSING if case.distinguishable is False else interval(case.slowdown, units.percent)


def thresholds(case: CaseSummary) -> list[str]:
    """The rates at which slowdown reaches 1, 5 and 30 %."""
    found = (case.threshold_1, case.threshold_5, case.threshold_30)
    return [units.MISSING if rate is None else units.rate(rate.value) for rate in found]


def start_and_stop(case: CaseSummary) -> list[str]:
    """How long the tracer takes to have its probes live, and to exit when asked."""
    return [interval(_in_ms(time_ns), units.milliseconds) for time_ns in (case.attach, case.detach)]


def _in_ms(time_ns: Interval | None) -> Interval | None:
    if time_ns is None:
        return None
    low, high = (None if end is None else end / units.NS_PER_MS for end in (time_ns.low, time_ns.high))
    return Interval(time_ns.value / units.NS_PER_MS, low, high)


def answer(case: CaseSummary, machine: str) -> str:
    """The sentence that matters: at which rates this probe slows a thread by 1, 5 and 30 %."""
    where = f"With {case.tracer} on {machine}"
    if case.cost is None:
        return f"{where} this case is {case.status}: {case.note}."
    if case.distinguishable is False:
        return f"{where} it cannot be told from no tracing at all."
    if case.threshold_5 is None or case.threshold_1 is None or case.threshold_30 is None:
        return f"{where} there is no guidance: {case.note or 'it was not slower'}."
    words = ", ".join(
        f"{percent}\u00a0% ({word}) at {units.rate(rate.value)}"
        for (percent, word), rate in zip(
            THRESHOLDS.items(), (case.threshold_1, case.threshold_5, case.threshold_30), strict=True
        )
    )
    each = interval(case.cost, units.nanoseconds)
    return f"{where} each event costs {each}, so a busy thread slows by {words}."


def source_label(document: SourceFile) -> str:
    """Who and when, as a table or a caption calls a source; the title where no author is stated."""
    who = document.title if document.author == NOT_STATED else document.author
    return who if document.date == NOT_STATED else f"{who}, {units.date_words(document.date)}"


VERSION_IN_ID = re.compile(r"(-\d+)+$")
"""What a second version has at the end of its id: `bpftrace-0-23-2`."""


def tool(name: str, version: str | None) -> str:
    """A tracer with its version, which many tools print with their own name in front: `bpftrace v0.17.0`."""
    if version is None:
        return name
    own_name = VERSION_IN_ID.sub("", name)
    return version if version.startswith(own_name) else f"{own_name} {version}"


def tier(document: MachineFile) -> str:
    """What kind of machine it is, because times of different kinds never share a ranking."""
    machine = document.machine
    if document.run.metric == "instructions":
        return "emulated"
    if machine.virtualization is None:
        return "physical"
    return "nested virtual machine" if machine.nested else "virtual machine"


def machine_name(document: MachineFile) -> str:
    """A machine as prose calls it: `AMD EPYC, 2 CPUs, kvm, Linux 6.18`."""
    machine, system = document.machine, document.system
    release = ".".join(system.kernel_release.split("-")[0].split(".")[:2])
    parts = [machine.cpu_model or machine.architecture, f"{machine.threads} CPUs"]
    if machine.virtualization:
        parts.append(machine.virtualization)
    return ", ".join([*parts, f"Linux {release}"])
