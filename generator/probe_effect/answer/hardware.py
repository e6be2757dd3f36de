"""What others measured without a hypervisor, beside a user probe that is stepped in a guest of KVM.

KVM handles every debug exception of a guest (`init_vmcb`, arch/x86/kvm/svm/svm.c; `vmx_update_exception_bitmap`,
arch/x86/kvm/vmx/vmx.c), and a stepped instruction raises one: the CPU leaves the guest. A breakpoint stays in the guest
unless the host debugs it, so an emulated instruction costs no exit.
"""

from collections.abc import Iterable

from probe_effect import units
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.prediction import ThreadLoad, predict
from probe_effect.answer.published import PublishedCost
from probe_effect.answer.words import WORDS
from probe_effect.numbers.names import X86_64, architecture, quoted
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.machine_file import KVM_GUEST


def on_hardware(found: Evidence, kind: str, mechanism: str | None, measured: Submission) -> PublishedCost | None:
    """What others measured of a kind of probe on a physical machine; None unless it is stepped in a guest of KVM."""
    machine = measured.document.machine
    is_kvm = machine.virtualization in {"KVM", KVM_GUEST}
    if mechanism != "stepped" or not is_kvm or architecture(machine.architecture) != X86_64:
        return None
    of_kind = (one for key, one in found.printed.items() if key[2] in found.of and found.case_of[key[2]].probe == kind)
    return next((one for one in of_kind if one.hardware in one.source.document.physical), None)


def of_number(found: Evidence, one: Number) -> PublishedCost | None:
    """The same for the case of a measured number."""
    case = found.case_of[one.case]
    return on_hardware(found, case.probe, mechanism_of(case, one), one.submission)


def sentences(found: Evidence, numbers: Iterable[Number]) -> list[str]:
    """A sentence for each case of measured numbers that has such a cost."""
    known = dict.fromkeys((quoted(one.title), of_number(found, one)) for one in numbers)
    return [said(called, one) for called, one in known if one]


def said(called: str, one: PublishedCost) -> str:
    """That the cost of what is called so includes an exit from the guest, and what it is without a hypervisor."""
    return WORDS["hardware"].format(what=called, one=one)


def row(one: PublishedCost, load: ThreadLoad) -> tuple[str, str]:
    """A line of figures: the slowdown of a thread without a hypervisor, and the cost of an event."""
    values = {"slowdown": units.percent(predict(one.cost, load).slowdown.value), "cost": one.text}
    return WORDS["hardware-row"], WORDS["hardware-figures"].format(**values)
