"""What others measured beside a user probe of ours: without a hypervisor.

KVM handles every debug exception of a guest (`init_vmcb`, arch/x86/kvm/svm/svm.c; `vmx_update_exception_bitmap`,
arch/x86/kvm/vmx/vmx.c), and a stepped instruction raises one: the CPU leaves the guest. A breakpoint stays in the guest
unless the host debugs it, so an emulated instruction costs no exit.
"""

from collections.abc import Iterable

from probe_effect import units
from probe_effect.answer.prediction import ThreadLoad, predict
from probe_effect.answer.words import WORDS
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.machine import number_on_hardware
from probe_effect.costs.published import PublishedCost
from probe_effect.costs.row import CostRow
from probe_effect.numbers.names import quoted
from probe_effect.reduce.submission import Number


def sentences(found: Evidence, numbers: Iterable[Number]) -> list[str]:
    """A sentence for each case of measured numbers that has such a cost."""
    known = dict.fromkeys((quoted(one.title), number_on_hardware(found, one)) for one in numbers)
    return [said(called, one) for called, one in known if one]


def said(called: str, one: PublishedCost) -> str:
    """That the cost of what is called so includes an exit from the guest, and what it is without a hypervisor."""
    return WORDS["hardware"].format(what=called, one=one)


def note_of(row: CostRow) -> str | None:
    """What was assumed of a cost, and what it is without a hypervisor."""
    beyond = said("this probe", row.hardware) if row.hardware else None
    return " ".join(filter(None, [row.note, beyond])) or None


def row(one: PublishedCost, load: ThreadLoad) -> tuple[str, str]:
    """A line of figures: the slowdown of a thread without a hypervisor, and the cost of an event."""
    values = {"slowdown": units.percent(predict(one.cost, load).slowdown.value), "cost": one.text}
    return WORDS["hardware-row"], WORDS["hardware-figures"].format(**values)
