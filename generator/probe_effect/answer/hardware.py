"""What others measured without a hypervisor, beside a user probe that is stepped in a guest of KVM.

KVM handles every debug exception of a guest (`init_vmcb`, arch/x86/kvm/svm/svm.c; `vmx_update_exception_bitmap`,
arch/x86/kvm/vmx/vmx.c), and a stepped instruction raises one: the CPU leaves the guest. A breakpoint stays in the guest
unless the host debugs it, so an emulated instruction costs no exit.
"""

from __future__ import annotations

from probe_effect import units
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.prediction import ThreadLoad, predict
from probe_effect.answer.published import PublishedCost
from probe_effect.answer.words import WORDS
from probe_effect.numbers.names import X86_64, architecture
from probe_effect.reduce.submission import Number, Submission


def on_hardware(found: Evidence, kind: str, mechanism: str | None, measured: Submission) -> PublishedCost | None:
    """What others measured of a kind of probe on a physical machine; None unless it is stepped in a guest of KVM."""
    machine = measured.document.machine
    if mechanism != "stepped" or machine.virtualization != "KVM" or architecture(machine.architecture) != X86_64:
        return None
    printed = ((found.case_of.get(case), one) for (_, _, case), one in found.printed.items() if one.is_physical)
    return next((one for case, one in printed if case is not None and case.probe == kind), None)


def of_number(found: Evidence, one: Number) -> PublishedCost | None:
    """The same for the case of a measured number."""
    case = found.case_of[one.case]
    return on_hardware(found, case.probe, mechanism_of(case, one), one.submission)


def said(called: str, one: PublishedCost) -> str:
    """That the cost of what is called so includes an exit from the guest, and what it is without a hypervisor."""
    words = {"cost": one.text, "figure": one.figure.what, "label": one.label, "hardware": one.hardware}
    return WORDS["hardware"].format(what=called, **words)


def row(one: PublishedCost, load: ThreadLoad) -> tuple[str, str]:
    """A line of figures: the slowdown of a thread without a hypervisor, and the cost of an event."""
    slowdown = units.percent(predict(one.cost, load).slowdown.value)
    return WORDS["hardware-row"], WORDS["hardware-figures"].format(slowdown=slowdown, cost=one.text)
