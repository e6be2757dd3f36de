"""Instructions per event by kernel release and tracer version: the matrix of each suite, what changed in it and why,
and the matrices of two architectures.

An instruction of one architecture is not the work of an instruction of another, so counts of two are never compared.
What can be is each case against the architecture's own untraced operation, the order of the cases, and which cases
exist.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, pairwise
from typing import NamedTuple

import numpy as np

from probe_effect import records
from probe_effect.compare.comparison import Comparison, compare
from probe_effect.model import level_order, release_numbers
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import best, grouped_by, newest_first, once
from probe_effect.numbers.names import ARCHITECTURES, point_release, release_series, tool, tool_of
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.numbers.submission import Number, Submission
from probe_effect.numbers.trends import Correlation, kendall
from probe_effect.store.beside_files import Explanation
from probe_effect.store.suite_file import Suite

# The cases of the series over releases, by suite and by tracer with its version.
SERIES: Mapping[str, Mapping[str, Sequence[str]]] = records.beside(__file__, "series")
LEAST_CHANGE_RATIO = 0.02  # smaller changes from release to release are not told in a series


class CountedCase(NamedTuple):
    """A row of a matrix: a case, at a level of the suite's factor where it has one."""

    case: str
    level: str | None


class KernelColumn(NamedTuple):
    """A kernel release, and a tracer with its version as prose calls it."""

    kernel: str
    tracer: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """The counts of one suite on one architecture, `x86_64` or another that `canonical_architecture` gives.

    Rows have the suite's order, kernels and versions the order of their numbers.
    """

    suite: Suite
    architecture: str
    rows: tuple[CountedCase, ...]
    kernels: tuple[str, ...]
    tracers: tuple[str, ...]
    cells: Mapping[tuple[CountedCase, KernelColumn], Number]

    def cell(self, row: CountedCase, kernel: str, tracer: str) -> Number | None:
        """The current number of a row there; None where it was not run."""
        return self.cells.get((row, KernelColumn(kernel, tracer)))

    def line(self, row: CountedCase, tracer: str) -> list[Number | None]:
        return [self.cell(row, kernel, tracer) for kernel in self.kernels]

    def along_kernels(self, row: CountedCase, tracer: str) -> list[Number]:
        return [cell for cell in self.line(row, tracer) if cell]

    def events(self) -> tuple[CountedCase, ...]:
        """The rows of cases that have events at all, so that there is a count for each of them."""
        silent = {case.id for case in self.suite.cases if case.counted_by == "nothing"}
        return tuple(row for row in self.rows if row.case not in silent)

    def all(self) -> Iterator[Number]:
        return (cell for row in self.rows for tracer in self.tracers for cell in self.along_kernels(row, tracer))


def matrices(catalogue: Catalogue) -> list[Matrix]:
    """Every matrix with counts, by architecture and then by suite, the first suite first; not of starts and stops."""
    suites = [folder.suite for folder in catalogue.suites if folder.suite.result_type.guides]
    suites.sort(key=lambda suite: suite.id != FIRST_SUITE)
    each = (matrix(catalogue, suite, own) for own in architectures(catalogue) for suite in suites)
    return [one for one in each if one.cells]


@once
def series(catalogue: Catalogue) -> list[Matrix]:
    """The cells of `SERIES`, by architecture and then by suite, over every release on which any of them was counted."""
    chosen = [(catalogue.by_suite[name].suite, cells) for name, cells in SERIES.items() if name in catalogue.by_suite]
    made = []
    for architecture in architectures(catalogue):
        each = [matrix(catalogue, suite, architecture, of=cells) for suite, cells in chosen]
        # All have the same kernels, so that a release has the same name in each.
        kernels = tuple(sorted({kernel for one in each for kernel in one.kernels}, key=release_order))
        made += [replace(one, kernels=kernels) for one in each if one.cells]
    return made


def series_changes(found: Matrix) -> list[Comparison]:
    """What changed from release to release by more than `LEAST_CHANGE_RATIO`: the newest first, there the largest."""
    place = found.kernels.index
    told = (one for one in between_kernels(found) if one.is_clear and abs(one.change_ratio or 0) > LEAST_CHANGE_RATIO)
    return sorted(told, key=lambda one: (-place(column_of(one.second).kernel), -abs(one.change_ratio or 0)))


def matrix(
    catalogue: Catalogue,
    suite: Suite,
    architecture: str,
    case_id: str | None = None,
    *,
    of: Mapping[str, Sequence[str]] | None = None,
) -> Matrix:
    """The matrix of a suite, of one of its cases, or `of` some cases of tracers; a cell is the current number there."""
    numbers = (
        one
        for submission in counted(catalogue, narrow=of is not None)
        if submission.suite == suite.id and submission.architecture == architecture
        for one in submission.numbers
        if case_id in {None, one.case}
        and (of is None or one.case in of.get(column_of(one).tracer.partition(",")[0], ()))
    )
    places = grouped_by(numbers, lambda one: (row_of(one), column_of(one)))
    cells = {place: best(own) for place, own in places.items()}
    kernels = sorted({column.kernel for _, column in cells}, key=release_order)
    order = {case.id: place for place, case in enumerate(suite.cases)}
    rows = sorted(
        {row for row, _ in cells},
        key=lambda row: (order.get(row.case, len(order)), row.case, level_order(row.level)),
    )
    # The tool with most rows first, and its versions in the order of their numbers.
    tools = {column.tracer: tool_of(one.tracer) for (_, column), one in cells.items()}
    often = Counter(tool for tool, _ in {(tools[column.tracer], row) for row, column in cells})
    tracers = sorted(tools, key=lambda one: (-often[tools[one]], tools[one], release_order(one)))
    return Matrix(suite, architecture, tuple(rows), tuple(kernels), tuple(tracers), cells)


def matrices_of_case(catalogue: Catalogue, suite: Suite, case_id: str) -> list[Matrix]:
    """The matrices of a case, one for each architecture on which it was counted."""
    each = (matrix(catalogue, suite, architecture, case_id) for architecture in architectures(catalogue))
    return [one for one in each if one.cells]


def architectures(catalogue: Catalogue) -> list[str]:
    """The architectures on which anything was counted; those that readers have a word for come first."""
    return sorted({one.architecture for one in catalogue.counted}, key=architecture_order)


def architecture_order(architecture: str) -> tuple[int, str]:
    """x86-64 first, then the others that readers have a word for, then the rest by name."""
    return [*ARCHITECTURES, architecture].index(architecture), architecture


@once
def counted(catalogue: Catalogue, *, narrow: bool = False) -> Sequence[Submission]:
    """The counts that pages show, newest first: where a kernel was counted on more CPUs and on fewer, those on more.

    Kernels of which only some cases were counted are of the series alone, and here with `narrow`.
    The only CPU of a machine is CPU 0, where the kernel does more at some probes; a finding says which:
    /findings/on-one-cpu-bpftraces-tracepoints-cost-twice-as-much/.
    """
    whole: set[tuple[str, str, str]] = set()
    most: dict[tuple[str, str, str], int] = defaultdict(int)
    for one in catalogue.counted:
        kernel = one.document.system.kernel_release
        place = one.architecture, one.suite, release_series(kernel)
        most[place] = max(most[place], one.document.machine.threads)
        if narrow or "--case" not in one.document.run.command:
            whole.add((one.architecture, one.suite, kernel))

    def is_shown(one: Submission) -> bool:
        kernel, threads = one.document.system.kernel_release, one.document.machine.threads
        is_whole = (one.architecture, one.suite, kernel) in whole
        return is_whole and threads == most[one.architecture, one.suite, release_series(kernel)]

    return list(filter(is_shown, newest_first(catalogue.counted)))


def row_of(one: Number) -> CountedCase:
    return CountedCase(one.case, one.level)


def column_of(one: Number) -> KernelColumn:
    """The column of a count. What is part of the kernel, such as ftrace, has no version beside the kernel's."""
    tracer, document = one.tracer, one.submission.document
    kernel, version = document.system.kernel_release, document.tools.get(tracer)
    is_the_kernels = version is not None and kernel in version
    return KernelColumn(kernel, tool_of(tracer) if is_the_kernels else tool(tracer, version))


def between_kernels(found: Matrix) -> list[Comparison]:
    """Each sound count against that of the kernel before, of the same case, tracer, version and number of CPUs."""
    lines = (found.along_kernels(row, tracer) for row in found.events() for tracer in found.tracers)
    return [one for line in lines for one in _changes(line)]


def between_versions(found: Matrix) -> list[Comparison]:
    """Each sound count against that of the older version of the same tool, of the same case and kernel."""
    changes = []
    for row in found.events():
        for kernel in found.kernels:
            cells = filter(None, (found.cell(row, kernel, tracer) for tracer in found.tracers))
            for _, versions in groupby(cells, key=lambda one: tool_of(one.tracer)):
                changes += _changes(versions)
    return changes


def kernel_names(kernels: Iterable[str]) -> dict[str, str]:
    """How prose calls each release of one architecture: `Linux 6.1`, as short as tells it from the others.

    Where another has the same series it is `Linux 6.12.107`, and where it has these numbers too, the whole release.
    """
    names = {one: [release_series(one), point_release(one), one] for one in kernels}
    every = Counter(name for own in names.values() for name in set(own))
    shortest = {one: next((name for name in own if name and every[name] == 1), one) for one, own in names.items()}
    return {release: f"Linux {name}" for release, name in shortest.items()}


def names_of_all(found: Iterable[Matrix]) -> dict[str, str]:
    """The names in prose of the kernels of several matrices, by release."""
    made: dict[str, str] = {}
    for own in grouped_by(found, lambda one: one.architecture).values():
        made |= kernel_names(kernel for one in own for kernel in one.kernels)
    return made


def release_order(release: str) -> tuple[tuple[int, ...], str]:
    """Releases and versions by their numbers; text decides between equals."""
    return release_numbers(release), release


def _changes(line: Iterable[Number]) -> list[Comparison]:
    pairs = pairwise(one for one in line if one.is_sound)
    return [compare(first, second) for first, second in pairs if threads_of(first) == threads_of(second)]


def threads_of(one: Number) -> int:
    return one.submission.document.machine.threads


class ArchitecturePair(NamedTuple):
    """Two architectures with one tracer on the newest release that each has of a kernel series, `6.12`.

    `pairs`: the cases that both have a sound count of, on as many CPUs. `only`: the cases of each side that the other
    has no count of, with any tracer. `correlation`: that of the two orders; None of fewer than two pairs.
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
    """Each two architectures in each suite, on the newest kernel and with the tracer that have most cases in common."""
    made = []
    for pair in combinations(found, 2):
        if pair[0].suite is pair[1].suite:
            first, second = (_newest(one.kernels) for one in pair)
            shared = sorted(first.keys() & second.keys(), key=release_order, reverse=True)
            tracers = [tracer for tracer in pair[0].tracers if tracer in pair[1].tracers]
            places = (_beside(pair, series, tracer) for series in shared for tracer in tracers)
            best_place = max((one for one in places if one.pairs), key=lambda one: len(one.pairs), default=None)
            made += [best_place] if best_place else []
    return made


def _beside(matrices: tuple[Matrix, Matrix], series: str, tracer: str) -> ArchitecturePair:
    sound, counted = [], []  # of each architecture its sound counts by row, and the rows that any tracer has a count of
    for one in matrices:
        kernel = _newest(one.kernels)[series]
        cells = {(row, name): one.cell(row, kernel, name) for row in one.events() for name in one.tracers}
        known = {place: cell for place, cell in cells.items() if cell and cell.cost is not None}
        counted.append(dict.fromkeys(row for row, _ in known))
        sound.append({row: cell for (row, name), cell in cells.items() if name == tracer and cell and cell.is_sound})
    both = ((one, sound[1][row]) for row, one in sound[0].items() if row in sound[1])
    pairs = tuple((one, other) for one, other in both if threads_of(one) == threads_of(other))
    costs = np.array([[one.known_cost.value for one in pair] for pair in pairs], dtype=np.float64).reshape(-1, 2).T
    first, second = counted
    only = tuple(row for row in first if row not in second), tuple(row for row in second if row not in first)
    return ArchitecturePair(matrices, series, tracer, pairs, only, kendall(*costs))


def _newest(kernels: Iterable[str]) -> dict[str, str]:
    """Kernel series to the newest release of it; `kernels` are in order."""
    return {release_series(kernel): kernel for kernel in kernels}


def explanation_of(found: Comparison, known: Iterable[Explanation]) -> Explanation | None:
    """Why a count on another kernel or of another version is more or fewer; None where it is not, or nobody knows."""
    return next((one for one in known if _explains(one, found)), None)


def _explains(one: Explanation, found: Comparison) -> bool:
    second = found.second
    if not found.is_clear or second.case not in one.cases:
        return False
    before, after = (
        column_of(side).kernel if one.of == "kernel" else side.tool_version or "" for side in (found.first, second)
    )
    return (
        (not one.tools or tool_of(second.tracer) in one.tools)
        and (not one.architectures or second.submission.architecture in one.architectures)
        and one.made(before, after) == ("more" if found.outcome == "higher" else "fewer")
    )
