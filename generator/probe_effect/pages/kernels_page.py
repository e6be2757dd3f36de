"""The pieces of the section on kernels: instructions per event by kernel and tracer version, and what changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from probe_effect.answer.rate_tiers import PLAIN_ACTIONS
from probe_effect.compare.agreement import counted_orders
from probe_effect.compare.comparison import compare, largest
from probe_effect.compare.kernels import (
    Column,
    between_kernels,
    between_versions,
    column_of,
    kernel_names,
    matrices,
    release_order,
)
from probe_effect.numbers.index import newest_first
from probe_effect.numbers.names import quoted
from probe_effect.pages import instructions
from probe_effect.pages.kernel_charts import charts_of
from probe_effect.pages.markdown import page, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from probe_effect.compare.agreement import CountedOrder
    from probe_effect.compare.comparison import Comparison
    from probe_effect.compare.kernels import Matrix
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Number, Submission


MOST_SAID = 3
"""Changes of a suite that the page begins with."""

AFTER_MACHINES = 1000
"""The weight of the page of changes, which stands behind those of the machines."""


@dataclass(frozen=True, slots=True)
class Comparing:
    """One way to set counts against each other: its title, the changes, a sentence on one, what differs, what does not.

    `same`: the title of what both sides have in common, and where it stands in a column.
    """

    title: str
    changes: Callable[[Matrix], list[Comparison]]
    sentence: Callable[[Comparison, Mapping[str, str]], str]
    differs: int
    same: tuple[str, int]

    def of_all(self, found: Iterable[Matrix]) -> list[Comparison]:
        """The changes of every suite."""
        return [one for each in found for one in self.changes(each)]


KERNEL, TRACER = Column._fields.index("kernel"), Column._fields.index("tracer")
WAYS = (
    Comparing("From kernel to kernel", between_kernels, instructions.between_kernels, KERNEL, ("Tracer", TRACER)),
    Comparing("From version to version", between_versions, instructions.between_versions, TRACER, ("Kernel", KERNEL)),
)


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown; each says so, or is empty, before anything was counted."""
    found = matrices(catalogue)
    kernels = _kernel_names(found)
    own: dict[str, dict[str, object]] = {
        "findings": {"findings": findings(found, kernels), "changes": changes(found)},
        "tables": {"charts": charts_of, "flagged": flagged, "uncounted": uncounted, "heads": heads},
        "orders": {"orders": orders(catalogue, found)},
        "machines": {"machines": machines(catalogue), "tracers": tracers},
    }
    shared = {"matrices": found, "kernels": kernels, "titles": catalogue.titles}
    return {
        f"kernel-{name}.md": render(f"fragments/kernel-{name}.md.j2", **values, **shared)
        for name, values in own.items()
    }


def write_changes(catalogue: Catalogue) -> str | None:
    """The page of every change; None where there is none."""
    found = matrices(catalogue)
    listed, kernels = changes(found), _kernel_names(found)
    if not listed:
        return None
    front = {
        "title": "Every change",
        "description": "Every count that differs from kernel to kernel, or from version to version of a tracer.",
        "weight": AFTER_MACHINES,
    }
    return page(
        "changes.md.j2",
        front,
        changes=listed,
        titles=catalogue.titles,
        column=column_of,
        place=lambda name: kernels.get(name, instructions.short(name)),
    )


def machines(catalogue: Catalogue) -> dict[str, list[Submission]]:
    """Emulated machine to its submissions, newest first; machines in the order of their kernels."""
    found: dict[str, list[Submission]] = {}
    for one in sorted(
        newest_first(catalogue.counted), key=lambda one: release_order(one.document.system.kernel_release)
    ):
        found.setdefault(one.machine, []).append(one)
    return found


def tracers(submissions: Iterable[Submission]) -> list[str]:
    """Every tracer of a machine, with its version."""
    return list(dict.fromkeys(instructions.tracer(number) for one in submissions for number in one.numbers))


def findings(found: Sequence[Matrix], kernels: Mapping[str, str]) -> list[list[str]]:
    """What changed from the oldest kernel to the newest, and since when probes exist; then how much differs at all.

    With that the largest change between each two kernels and each two versions of a tool.
    """
    said = [group for each in found for group in (_over_all(each, kernels), since(each, kernels)) if len(group) > 1]
    for way in WAYS:
        if some := way.of_all(found):
            largest_ones = _largest_of_each(some, way)
            said.append([instructions.extent(some, way.title), *(way.sentence(one, kernels) for one in largest_ones)])
    return said


def _over_all(found: Matrix, kernels: Mapping[str, str]) -> list[str]:
    """The largest changes of plain probes from the oldest kernel to the newest, with libbpf where it was counted.

    It opens no sample of its own, as bpftrace does for tracepoints on the only CPU.
    """
    plain = {case.id for case in found.suite.cases if case.action in PLAIN_ACTIONS}
    chosen = next((tracer for tracer in found.tracers if tracer.startswith("libbpf ")), found.tracers[0])
    lines = (found.along_kernels(row, chosen) for row in found.events() if row.case in plain)
    sound = [[one for one in line if one.is_sound] for line in lines]
    ends = (found.kernels[0], found.kernels[-1])
    whole = (line for line in sound if line and (column_of(line[0]).kernel, column_of(line[-1]).kernel) == ends)
    compared = largest([compare(line[0], line[-1]) for line in whole if len(line) > 1], MOST_SAID)
    head = f"{found.suite.title}: which probes changed most, from the oldest kernel here to the newest."
    return [head, *(instructions.between_kernels(one, kernels) for one in compared)]


def since(found: Matrix, kernels: Mapping[str, str]) -> list[str]:
    """Which cases could be counted from some kernel on, and not on the older ones here, where they were tried."""
    firsts: dict[str, list[str]] = {}
    for row in found.events():
        cells = [one for tracer in found.tracers for one in found.along_kernels(row, tracer)]
        known = {column_of(one).kernel for one in cells if one.cost is not None}
        first = next((kernel for kernel in found.kernels if kernel in known), None)
        if first is not None and any(release_order(column_of(one).kernel) < release_order(first) for one in cells):
            firsts.setdefault(first, []).append(quoted(cells[0].title))
    head = f"{found.suite.title}: what could not be counted on older kernels here."
    return [head, *(f"From {kernels[kernel]} on: {', '.join(names)}." for kernel, names in firsts.items())]


def changes(found: Sequence[Matrix]) -> dict[Comparing, list[Comparison]]:
    """Every change from kernel to kernel, and from version to version, the largest first."""
    listed = {way: largest(some, len(some)) for way in WAYS if (some := way.of_all(found))}
    return {way: some for way, some in listed.items() if some}


def orders(catalogue: Catalogue, found: Sequence[Matrix]) -> list[list[CountedOrder]]:
    """The orders that can be set against each other, together for each source and platform."""
    each = [one for suite in found for one in counted_orders(catalogue, suite)]
    return [list(some) for _, some in groupby(each, key=lambda one: (one.source.id, one.platform))]


def heads(found: Matrix) -> list[str]:
    """The kernels of a table whose title says that they are Linux."""
    return [name.removeprefix("Linux ") for name in kernel_names(found.kernels).values()]


def flagged(found: Matrix) -> dict[tuple[str, str], list[str]]:
    """Case with tracer, and what is wrong, to the kernels where it is: shown, but neither ranked nor compared."""
    faulty = (one for one in found.all() if one.cost is not None and one.faults)
    return _kernels_of(faulty, lambda one: "; ".join(one.faults))


def uncounted(found: Matrix) -> dict[tuple[str, str], list[str]]:
    """Case with tracer, and the reason why there is no count, to the kernels where that is so."""
    missing = (one for one in found.all() if one.cost is None)
    return _kernels_of(missing, lambda one: f"{one.status}: {one.note}")


def _kernels_of(some: Iterable[Number], reason: Callable[[Number], str]) -> dict[tuple[str, str], list[str]]:
    kernels: dict[tuple[str, str], list[str]] = {}
    for one in some:
        what = f"{instructions.subject(one)} with {instructions.tracer(one)}"
        kernels.setdefault((what, reason(one)), []).append(column_of(one).kernel)
    return kernels


def _kernel_names(found: Iterable[Matrix]) -> dict[str, str]:
    return kernel_names(kernel for one in found for kernel in one.kernels)


def _largest_of_each(some: Sequence[Comparison], way: Comparing) -> list[Comparison]:
    """The largest change between each two kernels or versions, in the order of their numbers."""
    firsts: dict[tuple[str, str], Comparison] = {}
    for one in largest(some, len(some)):
        first, second = (column_of(side)[way.differs] for side in (one.first, one.second))
        firsts.setdefault((first, second), one)
    return [firsts[ends] for ends in sorted(firsts, key=lambda ends: tuple(map(release_order, ends)))]
