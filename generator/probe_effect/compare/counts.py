"""Counts of one architecture beside those of another, and what is known of the cause of a change.

An instruction of one is not the work of an instruction of another, so counts themselves are never compared. What can
be is each case against the architecture's own untraced operation, the order of the cases, and which cases exist.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from probe_effect.compare.comparison import Comparison
from probe_effect.compare.kernels import (
    CountedCase,
    Matrix,
    between_kernels,
    between_versions,
    column_of,
    matrices,
    release_order,
    series,
    threads_of,
)
from probe_effect.errors import BadData
from probe_effect.model import Problem
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.numbers.names import release_series, tool_of
from probe_effect.reduce.submission import Number
from probe_effect.stats.trends import Correlation, kendall
from probe_effect.store.beside_files import Explanation, read_explanations
from probe_effect.store.places import DataFolder


@dataclass(frozen=True, slots=True)
class ArchitecturePair:
    """Two architectures with one tracer on the newest release that each has of a kernel series, `6.12`.

    Attributes:
        pairs: the cases that both have a sound count of, on as many CPUs.
        only: the cases of each side that the other has no count of, with any tracer.
        correlation: that of the two orders; None of fewer than two pairs.
    """

    matrices: tuple[Matrix, Matrix]
    series: str
    tracer: str
    pairs: tuple[tuple[Number, Number], ...]
    only: tuple[tuple[CountedCase, ...], tuple[CountedCase, ...]]
    correlation: Correlation | None

    def furthest(self, most: int) -> list[tuple[Number, Number]]:
        """Up to `most` pairs, those first whose shares of an untraced operation lie furthest apart as a ratio."""
        apart = {pair: share(pair[1]) / share(pair[0]) for pair in self.pairs if min(map(share, pair)) > 0}
        return sorted(apart, key=lambda pair: max(apart[pair], 1 / apart[pair]), reverse=True)[:most]


def share(one: Number) -> float:
    """The addition of an event to an untraced operation of its own machine, as a ratio; 0 where it is unknown."""
    return one.added_ratio or 0.0


def beside(found: Sequence[Matrix]) -> list[ArchitecturePair]:
    """Each two architectures in each suite that both have counts of: where they have most cases in common.

    Of places with as many, the newest kernel and then the first tracer.
    """
    pairs = [pair for pair in combinations(found, 2) if pair[0].suite is pair[1].suite]
    return [best for pair in pairs if (best := _most_in_common(pair)) is not None]


def _most_in_common(pair: tuple[Matrix, Matrix]) -> ArchitecturePair | None:
    first, second = (_newest(one.kernels) for one in pair)
    places = [
        _beside(pair, series, tracer)
        for series in sorted(first.keys() & second.keys(), key=release_order, reverse=True)
        for tracer in pair[0].tracers
        if tracer in pair[1].tracers
    ]
    return max((one for one in places if one.pairs), key=lambda one: len(one.pairs), default=None)


def _beside(matrices: tuple[Matrix, Matrix], series: str, tracer: str) -> ArchitecturePair:
    kernels = [_newest(one.kernels)[series] for one in matrices]
    cells = [
        {row: cell for row in one.events() if (cell := one.cell(row, kernel, tracer)) is not None and cell.is_sound}
        for one, kernel in zip(matrices, kernels, strict=True)
    ]
    both = ((one, cells[1][row]) for row, one in cells[0].items() if row in cells[1])
    pairs = tuple((one, other) for one, other in both if threads_of(one) == threads_of(other))
    costs = np.array([[one.known_cost.value for one in pair] for pair in pairs], dtype=np.float64).reshape(-1, 2).T
    counted = [_counted(one, kernel) for one, kernel in zip(matrices, kernels, strict=True)]
    only = tuple(tuple(row for row in own if row not in other) for own, other in (counted, reversed(counted)))
    return ArchitecturePair(matrices, series, tracer, pairs, (only[0], only[1]), kendall(*costs))


def _counted(found: Matrix, kernel: str) -> list[CountedCase]:
    """The rows with a count on a kernel, by whichever tracer."""
    cells = ((row, found.cell(row, kernel, tracer)) for row in found.events() for tracer in found.tracers)
    return list(dict.fromkeys(row for row, cell in cells if cell is not None and cell.cost is not None))


def _newest(kernels: Iterable[str]) -> dict[str, str]:
    """Kernel series to the newest release of it; `kernels` are in order."""
    return {release_series(kernel): kernel for kernel in kernels}


UNSEEN = "explanation-seen"
"""The rule of these warnings, which is not among those of `checks`: they know nothing of comparisons."""


def explanation_of(found: Comparison, known: Iterable[Explanation]) -> Explanation | None:
    """Why a count on another kernel or of another version is more or fewer; None where it is not, or nobody knows."""
    return next((one for one in known if _explains(one, found)), None)


def unseen_changes(data: DataFolder) -> list[Problem]:
    """A warning for each explanation of a change that no two counts show any more; none where data cannot be read."""
    known, _ = read_explanations(data)
    if not known:
        return []
    try:
        numbers = read_numbers(data)
        found = [*matrices(numbers), *series(numbers)]
    except BadData:  # which `check` tells anyway
        return []
    changes = [one for each in found for one in (*between_kernels(each), *between_versions(each))]
    file, hint = data.relative(data.root / "explanations.toml"), "mend its cases and versions, or remove it"
    return [
        Problem("warning", file, None, None, UNSEEN, f"`{one.id}` explains a change that no counts show", hint)
        for one in known
        if not any(_explains(one, change) for change in changes)
    ]


def _explains(one: Explanation, found: Comparison) -> bool:
    first, second = found.first, found.second
    return (
        found.is_clear
        and second.case in one.cases
        and (not one.tools or tool_of(second.tracer) in one.tools)
        and (not one.architectures or second.submission.architecture in one.architectures)
        and one.made(_version(first, one), _version(second, one)) == ("more" if found.outcome == "higher" else "fewer")
    )


def _version(side: Number, one: Explanation) -> str:
    return column_of(side).kernel if one.of == "kernel" else side.tool_version or ""
