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
    return [count_matrix for count_matrix in each if count_matrix.cells]


@once
def series(catalogue: Catalogue) -> list[Matrix]:
    """The cells of `SERIES`, by architecture and then by suite, over every release on which any of them was counted."""
    chosen = [(catalogue.by_suite[name].suite, cells) for name, cells in SERIES.items() if name in catalogue.by_suite]
    made = []
    for architecture in architectures(catalogue):
        each = [matrix(catalogue, suite, architecture, of=cells) for suite, cells in chosen]
        # All have the same kernels, so that a release has the same name in each.
        kernels = tuple(sorted({kernel for count_matrix in each for kernel in count_matrix.kernels}, key=release_order))
        made += [replace(count_matrix, kernels=kernels) for count_matrix in each if count_matrix.cells]
    return made


def series_changes(count_matrix: Matrix) -> list[Comparison]:
    """What changed from release to release by more than `LEAST_CHANGE_RATIO`: the newest first, there the largest."""
    position_of = count_matrix.kernels.index
    told = (
        comparison
        for comparison in between_kernels(count_matrix)
        if comparison.is_clear and abs(comparison.change_ratio or 0) > LEAST_CHANGE_RATIO
    )
    return sorted(
        told,
        key=lambda comparison: (-position_of(column_of(comparison.second).kernel), -abs(comparison.change_ratio or 0)),
    )


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
        number
        for submission in counted(catalogue, narrow=of is not None)
        if submission.suite == suite.id and submission.architecture == architecture
        for number in submission.numbers
        if case_id in {None, number.case}
        and (of is None or number.case in of.get(column_of(number).tracer.partition(",")[0], ()))
    )
    places = grouped_by(numbers, lambda number: (row_of(number), column_of(number)))
    cells = {key: best(own) for key, own in places.items()}
    kernels = sorted({column.kernel for _, column in cells}, key=release_order)
    order = {case.id: index for index, case in enumerate(suite.cases)}
    rows = sorted(
        {row for row, _ in cells},
        key=lambda row: (order.get(row.case, len(order)), row.case, level_order(row.level)),
    )
    # The tool with most rows first, and its versions in the order of their numbers.
    tools = {column.tracer: tool_of(number.tracer) for (_, column), number in cells.items()}
    often = Counter(tool for tool, _ in {(tools[column.tracer], row) for row, column in cells})
    tracers = sorted(tools, key=lambda tracer: (-often[tools[tracer]], tools[tracer], release_order(tracer)))
    return Matrix(suite, architecture, tuple(rows), tuple(kernels), tuple(tracers), cells)


def matrices_of_case(catalogue: Catalogue, suite: Suite, case_id: str) -> list[Matrix]:
    """The matrices of a case, one for each architecture on which it was counted."""
    each = (matrix(catalogue, suite, architecture, case_id) for architecture in architectures(catalogue))
    return [count_matrix for count_matrix in each if count_matrix.cells]


def architectures(catalogue: Catalogue) -> list[str]:
    """The architectures on which anything was counted; those that readers have a word for come first."""
    return sorted({submission.architecture for submission in catalogue.counted}, key=architecture_order)


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
    for submission in catalogue.counted:
        kernel = submission.document.system.kernel_release
        key = submission.architecture, submission.suite, release_series(kernel)
        most[key] = max(most[key], submission.document.machine.threads)
        if narrow or "--case" not in submission.document.run.command:
            whole.add((submission.architecture, submission.suite, kernel))

    def is_shown(submission: Submission) -> bool:
        kernel, threads = submission.document.system.kernel_release, submission.document.machine.threads
        is_whole = (submission.architecture, submission.suite, kernel) in whole
        return is_whole and threads == most[submission.architecture, submission.suite, release_series(kernel)]

    return list(filter(is_shown, newest_first(catalogue.counted)))


def row_of(number: Number) -> CountedCase:
    return CountedCase(number.case, number.level)


def column_of(number: Number) -> KernelColumn:
    """The column of a count. What is part of the kernel, such as ftrace, has no version beside the kernel's."""
    tracer, document = number.tracer, number.submission.document
    kernel, version = document.system.kernel_release, document.tools.get(tracer)
    is_the_kernels = version is not None and kernel in version
    return KernelColumn(kernel, tool_of(tracer) if is_the_kernels else tool(tracer, version))


def between_kernels(count_matrix: Matrix) -> list[Comparison]:
    """Each sound count against that of the kernel before, of the same case, tracer, version and number of CPUs."""
    lines = (
        count_matrix.along_kernels(row, tracer) for row in count_matrix.events() for tracer in count_matrix.tracers
    )
    return [comparison for line in lines for comparison in _changes(line)]


def between_versions(count_matrix: Matrix) -> list[Comparison]:
    """Each sound count against that of the older version of the same tool, of the same case and kernel."""
    changes = []
    for row in count_matrix.events():
        for kernel in count_matrix.kernels:
            cells = filter(None, (count_matrix.cell(row, kernel, tracer) for tracer in count_matrix.tracers))
            for _, versions in groupby(cells, key=lambda number: tool_of(number.tracer)):
                changes += _changes(versions)
    return changes


def kernel_names(kernels: Iterable[str]) -> dict[str, str]:
    """How prose calls each release of one architecture: `Linux 6.1`, as short as tells it from the others.

    Where another has the same series it is `Linux 6.12.107`, and where it has these numbers too, the whole release.
    """
    names = {kernel: [release_series(kernel), point_release(kernel), kernel] for kernel in kernels}
    every = Counter(name for own in names.values() for name in set(own))
    shortest = {
        kernel: next((name for name in own if name and every[name] == 1), kernel) for kernel, own in names.items()
    }
    return {release: f"Linux {name}" for release, name in shortest.items()}


def names_of_all(count_matrices: Iterable[Matrix]) -> dict[str, str]:
    """The names in prose of the kernels of several matrices, by release."""
    made: dict[str, str] = {}
    for own in grouped_by(count_matrices, lambda count_matrix: count_matrix.architecture).values():
        made |= kernel_names(kernel for count_matrix in own for kernel in count_matrix.kernels)
    return made


def release_order(release: str) -> tuple[tuple[int, ...], str]:
    """Releases and versions by their numbers; text decides between equals."""
    return release_numbers(release), release


def _changes(line: Iterable[Number]) -> list[Comparison]:
    pairs = pairwise(number for number in line if number.is_sound)
    return [compare(first, second) for first, second in pairs if threads_of(first) == threads_of(second)]


def threads_of(number: Number) -> int:
    return number.submission.document.machine.threads


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


def share(number: Number) -> float:
    """The addition of an event to an untraced operation of its own machine, as a ratio; 0 where it is unknown."""
    return number.added_ratio or 0.0


def beside(count_matrices: Sequence[Matrix]) -> list[ArchitecturePair]:
    """Each two architectures in each suite, on the newest kernel and with the tracer that have most cases in common."""
    made = []
    for pair in combinations(count_matrices, 2):
        if pair[0].suite is pair[1].suite:
            first, second = (_newest(count_matrix.kernels) for count_matrix in pair)
            shared = sorted(first.keys() & second.keys(), key=release_order, reverse=True)
            tracers = [tracer for tracer in pair[0].tracers if tracer in pair[1].tracers]
            places = (_beside(pair, series, tracer) for series in shared for tracer in tracers)
            best_place = max(
                (architecture_pair for architecture_pair in places if architecture_pair.pairs),
                key=lambda architecture_pair: len(architecture_pair.pairs),
                default=None,
            )
            made += [best_place] if best_place else []
    return made


def _beside(matrices: tuple[Matrix, Matrix], series: str, tracer: str) -> ArchitecturePair:
    sound, counted = [], []  # of each architecture its sound counts by row, and the rows that any tracer has a count of
    for count_matrix in matrices:
        kernel = _newest(count_matrix.kernels)[series]
        cells = {
            (row, name): count_matrix.cell(row, kernel, name)
            for row in count_matrix.events()
            for name in count_matrix.tracers
        }
        counted_cells = {key: cell for key, cell in cells.items() if cell and cell.cost is not None}
        counted.append(dict.fromkeys(row for row, _ in counted_cells))
        sound.append({row: cell for (row, name), cell in cells.items() if name == tracer and cell and cell.is_sound})
    both = ((number, sound[1][row]) for row, number in sound[0].items() if row in sound[1])
    pairs = tuple((number, other) for number, other in both if threads_of(number) == threads_of(other))
    costs = (
        np.array([[number.known_cost.value for number in pair] for pair in pairs], dtype=np.float64).reshape(-1, 2).T
    )
    first, second = counted
    only = tuple(row for row in first if row not in second), tuple(row for row in second if row not in first)
    return ArchitecturePair(matrices, series, tracer, pairs, only, kendall(*costs))


def _newest(kernels: Iterable[str]) -> dict[str, str]:
    """Kernel series to the newest release of it; `kernels` are in order."""
    return {release_series(kernel): kernel for kernel in kernels}


def explanation_of(comparison: Comparison, explanations: Iterable[Explanation]) -> Explanation | None:
    """Why a count on another kernel or of another version is more or fewer; None where it is not, or nobody knows."""
    return next((explanation for explanation in explanations if _explains(explanation, comparison)), None)


def _explains(explanation: Explanation, comparison: Comparison) -> bool:
    second = comparison.second
    if not comparison.is_clear or second.case not in explanation.cases:
        return False
    before, after = (
        column_of(side).kernel if explanation.of == "kernel" else side.tool_version or ""
        for side in (comparison.first, second)
    )
    return (
        (not explanation.tools or tool_of(second.tracer) in explanation.tools)
        and (not explanation.architectures or second.submission.architecture in explanation.architectures)
        and explanation.made(before, after) == ("more" if comparison.outcome == "higher" else "fewer")
    )
