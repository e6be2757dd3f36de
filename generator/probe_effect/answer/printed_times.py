"""What others measured or printed beside a user probe of ours: without a hypervisor, and on arm64.

KVM handles every debug exception of a guest (`init_vmcb`, arch/x86/kvm/svm/svm.c; `vmx_update_exception_bitmap`,
arch/x86/kvm/vmx/vmx.c), and a stepped instruction raises one: the CPU leaves the guest. A breakpoint stays in the guest
unless the host debugs it, so an emulated instruction costs no exit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from probe_effect import units
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.prediction import ThreadLoad, predict
from probe_effect.answer.published import PublishedCost
from probe_effect.answer.words import WORDS
from probe_effect.compare.kernels import column_of, matrices, release_order
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.names import X86_64, architecture, quoted, tool_of
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.machine_file import KVM_GUEST
from probe_effect.store.source_file import Figure
from probe_effect.toml import beside


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


FACTS = beside(__file__)
SOURCE, CASES, DONE = FACTS["source"], FACTS["cases"], FACTS["done"]
NOP = CASES["uprobe_nop"]
CaseCounts = dict[tuple[str, str], "Number"]


@dataclass(frozen=True, slots=True)
class PrintedTime:
    """A printed time and the count of the same probe; `ns_per_instruction` is the one over the other."""

    figure: Figure
    count: Number

    @property
    def time_ns(self) -> float:
        """The printed time of an event."""
        return float(self.figure.cost_ns or 0)

    @property
    def ns_per_instruction(self) -> float:
        """Of the time of the event, exceptions and all."""
        return self.time_ns / self.count.known_cost.value


@dataclass(frozen=True, slots=True)
class TimedKernel:
    """The times of a source on one platform beside the counts of one kernel; at least one."""

    source: PublishedSource
    platform: str
    kernel: str
    pairs: tuple[PrintedTime, ...]

    def alike(self) -> tuple[int, int]:
        """Of how many pairs of cases time and count say alike which is more, and of how many in all."""
        both = list(combinations(self.pairs, 2))
        return sum(_sign(one, other) > 0 for one, other in both), len(both)


def timed_kernels(catalogue: Catalogue) -> list[TimedKernel]:
    """What can be set beside each other, before the patch and with it; empty where no counts are of arm64."""
    source = next((one for one in catalogue.sources if one.id == SOURCE), None)
    counts = _counts(catalogue)
    if source is None:
        return []
    found = [_timed(catalogue, source, counts, word, kernel) for word, kernel in _kernels(catalogue, counts).items()]
    return [one for one in found if one is not None]


def _timed(
    catalogue: Catalogue, source: PublishedSource, counts: CaseCounts, word: str, kernel: str
) -> TimedKernel | None:
    pairs: list[PrintedTime] = []
    figures = {one.figure: one for one in source.figures}
    for name, case in CASES.items():
        figure, count = figures.get(f"time_{word}_{name}"), counts.get((case, kernel))
        done = DONE[word].get(name.rpartition("_")[2])
        if figure and figure.cost_ns and count and done and _mechanism(catalogue, count) == done:
            pairs.append(PrintedTime(figure, count))
    return TimedKernel(source, pairs[0].figure.platform or "", kernel, tuple(pairs)) if pairs else None


def _kernels(catalogue: Catalogue, counts: CaseCounts) -> dict[str, str]:
    """The kernel that stands for the source's without the patch, and that for the one with it, where there are such."""
    made = {kernel: _mechanism(catalogue, one) for (case, kernel), one in counts.items() if case == NOP}
    stepping, emulating = (
        sorted((kernel for kernel, one in made.items() if one == kind), key=release_order)
        for kind in ("stepped", "emulated")
    )
    return {word: some[place] for word, some, place in (("xol", stepping, -1), ("emulation", emulating, 0)) if some}


def _counts(catalogue: Catalogue) -> CaseCounts:
    """The current sound counts above 0 of arm64 with the source's tool, by case and kernel."""
    cells = (one for found in matrices(catalogue) if found.architecture == FACTS["architecture"] for one in found.all())
    sound = (one for one in cells if tool_of(one.tracer) == FACTS["tool"] and one.is_sound and one.known_cost.value > 0)
    return {(one.case, column_of(one).kernel): one for one in sound}


def _mechanism(catalogue: Catalogue, count: Number) -> str | None:
    case = next(case for case in catalogue.cases() if case.id == count.case)
    return mechanism_of(case, count)


def _sign(one: PrintedTime, other: PrintedTime) -> float:
    return (one.time_ns - other.time_ns) * (one.count.known_cost.value - other.count.known_cost.value)
