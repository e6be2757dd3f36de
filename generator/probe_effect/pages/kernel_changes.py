"""What changed from kernel to kernel and from version to version of a tracer, and the page of every change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from probe_effect.compare.comparison import Comparison, largest
from probe_effect.compare.explained import explanation_of
from probe_effect.compare.kernels import (
    KernelColumn,
    Matrix,
    between_kernels,
    between_versions,
    column_of,
    matrices,
    names_of_all,
)
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import instructions
from probe_effect.pages.markdown import page

AFTER_MACHINES = 1000
"""The weight of the page of changes, which comes after those of the machines."""


@dataclass(frozen=True, slots=True)
class Comparing:
    """One way to set counts against each other: its title, the changes, a sentence on one, what differs, what does not.

    `same`: the title of what both sides have in common, and its place in a column.
    """

    title: str
    changes: Callable[[Matrix], list[Comparison]]
    sentence: Callable[[Comparison, Mapping[str, str]], str]
    differs: int
    same: tuple[str, int]

    def of_all(self, found: Iterable[Matrix]) -> list[Comparison]:
        """The changes of every suite."""
        return [one for each in found for one in self.changes(each)]


KERNEL, TRACER = KernelColumn._fields.index("kernel"), KernelColumn._fields.index("tracer")
WAYS = (
    Comparing("From kernel to kernel", between_kernels, instructions.between_kernels, KERNEL, ("Tracer", TRACER)),
    Comparing("From version to version", between_versions, instructions.between_versions, TRACER, ("Kernel", KERNEL)),
)


def changes(found: Sequence[Matrix]) -> dict[Comparing, list[Comparison]]:
    """Every change from kernel to kernel, and from version to version, the largest first."""
    listed = {way: largest(some, len(some)) for way in WAYS if (some := way.of_all(found))}
    return {way: some for way, some in listed.items() if some}


def write(catalogue: Catalogue) -> str | None:
    """The page of every change; None where there is none."""
    found = matrices(catalogue)
    listed, kernels = changes(found), names_of_all(found)
    if not listed:
        return None
    front = {
        "title": "Every change",
        "description": "Every count that differs from kernel to kernel, or from version to version of a tracer.",
        "weight": AFTER_MACHINES,
    }
    why = partial(explanation_of, known=catalogue.explanations)
    return page(
        "changes.md.j2",
        front,
        why=why,
        causes=list(dict.fromkeys(cause for some in listed.values() for one in some if (cause := why(one)))),
        changes=listed,
        several=len({one.architecture for one in found}) > 1,
        titles=catalogue.titles,
        column=column_of,
        place=lambda name: kernels.get(name, instructions.short(name)),
    )
