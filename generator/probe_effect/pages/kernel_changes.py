"""What changed from kernel to kernel and from version to version of a tracer, and the page of every change."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from probe_effect.compare.comparison import Comparison, largest
from probe_effect.compare.counts import explanation_of
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
from probe_effect.numbers.names import architecture
from probe_effect.numbers.once import grouped_by
from probe_effect.pages import executed, instructions
from probe_effect.pages.markdown import page
from probe_effect.store.beside_files import Explanation

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


def causes(found: Iterable[Matrix], known: Iterable[Explanation]) -> dict[Explanation, set[str]]:
    """Each known cause of a change, to the ids of the numbers that are more or fewer by it than the one before."""
    pairs = [(explanation_of(one, known), one.second.id) for each in found for way in WAYS for one in way.changes(each)]
    groups = grouped_by((pair for pair in pairs if pair[0]), itemgetter(0))
    return {cause: {number for _, number in own} for cause, own in groups.items() if cause}


def write(catalogue: Catalogue) -> str | None:
    """The page of every change, case by case; None where there is none."""
    found = matrices(catalogue)
    listed, kernels = changes(found), names_of_all(found)
    if not listed:
        return None
    cases = grouped_by(((way, one) for way, some in listed.items() for one in some), lambda pair: pair[1].second.case)
    front = {
        "title": "Every change",
        "description": "Every count that differs from kernel to kernel, or from version to version of a tracer.",
        "weight": AFTER_MACHINES,
    }
    return page(
        "changes.md.j2",
        front,
        why=partial(explanation_of, known=catalogue.explanations),
        causes=list(causes(found, catalogue.explanations)),
        cases={case: cases[case] for each in found for case, _ in each.rows if case in cases},
        several=len({one.architecture for one in found}) > 1,
        titles=catalogue.titles,
        column=column_of,
        differing=differing,
        place_of=partial(_place_of, kernels),
        place=lambda name: kernels.get(name, instructions.short(name)),
    )


def differing(changes: Iterable[Comparison]) -> list[tuple[str, list[Comparison]]]:
    """The functions of which events differ, in words, each with the changes that differ by them."""
    known = grouped_by(changes, lambda one: executed.changed(one.first, one.second))
    return [(text, list(some)) for text, some in known.items() if text]


def _place_of(kernels: Mapping[str, str], changes: Sequence[Comparison], way: Comparing) -> str:
    """`arm64, Linux 6.12.117 to 7.3, libbpf 1.1 and bpftrace 0.23.2`: where some changes are."""
    first, second = (column_of(side)[way.differs] for side in (changes[0].first, changes[0].second))
    names_of = [kernels.get(name, instructions.short(name)) for name in (first, second)]
    same = dict.fromkeys(column_of(one.second)[way.same[1]] for one in changes)
    others = instructions.listed([kernels.get(name, instructions.short(name)) for name in same])
    return f"{architecture(changes[0].second.submission.architecture)}, {others}, {' to '.join(names_of)}"
