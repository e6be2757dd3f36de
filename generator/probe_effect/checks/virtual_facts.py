"""A machine that says it is bare metal shows no sign of a hypervisor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

GUEST_CPU = re.compile(r"\b(qemu|kvm|tcg|virtual(apple)?|virtual cpu)\b", re.IGNORECASE)
GUEST_CLOCKS = frozenset(
    {"kvm-clock", "xen", "vmware", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr", "bhyve"}
)
GUEST_FLAGS = ("nested_pvm", "kvm-guest", "xen_")


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    document = checked.document
    if document.machine.virtualization is None:
        for key, sign in _signs(checked):
            yield _fault(checked, key, f"bare metal, but {sign}")
    if document.run.metric == "instructions" and "emulator" not in document.run.packages:
        yield _fault(checked, "run.packages", "instructions of an emulated machine, but no emulator is named")


def _signs(checked: CheckedSubmission) -> Iterator[tuple[str, str]]:
    """Key of the fact, and what it says of a hypervisor."""
    document = checked.document
    if found := GUEST_CPU.search(document.machine.cpu_model or ""):
        yield "machine.cpu_model", f"the CPU's name says `{found[0]}`"
    if document.system.clocksource in GUEST_CLOCKS:
        yield "system.clocksource", f"the clock source is `{document.system.clocksource}`"
    if any(flag.startswith(GUEST_FLAGS) for flag in document.system.boot_flags):
        yield "system.boot_flags", "a boot flag is a guest's"
    if document.run.steal_ratio:
        yield "run.steal_ratio", "a hypervisor took time from it"
    if document.machine.nested:
        yield "machine.nested", "it is said to be nested"


def _fault(checked: CheckedSubmission, key: str, found: str) -> Fault:
    hint = "look at `machine.virtualization`: a virtual machine is compared with others of its kind only"
    return Fault("machine.json", checked.line_of(key), found, hint, "warning")


RULE = Rule(
    "virtual-facts",
    "Bare metal shows no sign of a hypervisor, and counted instructions name their emulator.",
    _faults,
    good='`"virtualization": "KVM"` with clock source `kvm-clock`',
    bad="`virtualization` null with the same clock source",
)
