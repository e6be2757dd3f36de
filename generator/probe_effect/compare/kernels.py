"""Instructions per event by kernel release and tracer version: the matrix of each suite, and what changed in it.

A matrix is of one architecture: instructions of two are not the same work (`compare/counts.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from probe_effect import toml
from probe_effect.compare.comparison import Comparison, compare
from probe_effect.model import level_order, release_numbers
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import best, grouped_by, newest_first, once
from probe_effect.numbers.names import ARCHITECTURES, point_release, release_series, tool, tool_of
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.suite_file import Suite

SERIES: Mapping[str, Mapping[str, Sequence[str]]] = toml.beside(__file__, "series")
"""The cases of the series over releases, by suite and by tracer with its version."""

LEAST_CHANGE_RATIO = 0.02
"""Smaller changes from release to release are not told in a series."""


class CountedCase(NamedTuple):
    """A row of a matrix: a case, at a level of the suite's factor where it has one."""

    case: str
    level: str | None


class KernelColumn(NamedTuple):
    """Where it is counted: a kernel release, and a tracer with its version as prose calls it."""

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

    def along_kernels(self, row: CountedCase, tracer: str) -> list[Number]:
        """The cells of a row and tracer from kernel to kernel."""
        return [cell for kernel in self.kernels if (cell := self.cell(row, kernel, tracer))]

    def events(self) -> tuple[CountedCase, ...]:
        """The rows of cases that have events at all, so that there is a count for each of them."""
        silent = {case.id for case in self.suite.cases if case.counted_by == "nothing"}
        return tuple(row for row in self.rows if row.case not in silent)

    def all(self) -> Iterator[Number]:
        """Every cell, row by row."""
        return (cell for row in self.rows for tracer in self.tracers for cell in self.along_kernels(row, tracer))


def matrices(catalogue: Catalogue) -> list[Matrix]:
    """Every matrix with counts, by architecture and then by suite, the first suite first; not of starts and stops."""
    suites = [folder.suite for folder in catalogue.suites if folder.suite.result_type.guides]
    suites.sort(key=lambda suite: suite.id != FIRST_SUITE)
    places = ((architecture, suite) for architecture in architectures(catalogue) for suite in suites)
    return [found for architecture, suite in places if (found := matrix(catalogue, suite, architecture)).cells]


@once
def series(catalogue: Catalogue) -> list[Matrix]:
    """The cells of `SERIES`, by architecture and then by suite, over every release on which any of them was counted."""
    suites = {folder.suite.id: folder.suite for folder in catalogue.suites}
    chosen = [(suites[name], cells) for name, cells in SERIES.items() if name in suites]
    found = []
    for architecture in architectures(catalogue):
        each = [matrix(catalogue, suite, architecture, of=cells) for suite, cells in chosen]
        # All have the same kernels, so that a release has the same name in each.
        kernels = tuple(sorted({kernel for one in each for kernel in one.kernels}, key=release_order))
        found += [replace(one, kernels=kernels) for one in each if one.cells]
    return found


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
    """The matrix of a suite, of one of its cases, or `of` some cases of tracers; a cell is the current number there.

    Two machines can have one kernel release, and two ids one version of a tool: its release's own, and one beside it.
    """
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
    return Matrix(suite, architecture, _rows(suite, cells), tuple(kernels), _tracers(cells), cells)


def matrices_of_case(catalogue: Catalogue, suite: Suite, case_id: str) -> list[Matrix]:
    """The matrices of a case, one for each architecture on which it was counted."""
    each = (matrix(catalogue, suite, architecture, case_id) for architecture in architectures(catalogue))
    return [one for one in each if one.cells]


def architectures(catalogue: Catalogue) -> list[str]:
    """The architectures on which anything was counted; those that readers have a word for come first."""
    return sorted({one.architecture for one in catalogue.counted}, key=architecture_order)


def architecture_order(architecture: str) -> tuple[int, str]:
    """x86-64 first, then the others that readers have a word for, then the rest by name."""
    known = list(ARCHITECTURES)
    return known.index(architecture) if architecture in known else len(known), architecture


@once
def counted(catalogue: Catalogue, *, narrow: bool = False) -> Sequence[Submission]:
    """The counts that pages show, newest first: where a kernel was counted on more CPUs and on fewer, those on more.

    Kernels of which only some cases were counted are of the series alone, and here with `narrow`.
    The only CPU of a machine is CPU 0, where the kernel does more at some probes (METHOD.md, "Instructions").
    """
    most: dict[tuple[str, ...], int] = defaultdict(int)
    for one in catalogue.counted:
        most[_counted_of(one)] = max(most[_counted_of(one)], one.document.machine.threads)
    newest = newest_first(catalogue.counted)
    whole = {_kernel_of(one) for one in newest if narrow or "--case" not in one.document.run.command}
    some = (one for one in newest if _kernel_of(one) in whole)
    return [one for one in some if one.document.machine.threads == most[_counted_of(one)]]


def _kernel_of(one: Submission) -> tuple[str, ...]:
    return one.architecture, one.suite, one.document.system.kernel_release


def _counted_of(one: Submission) -> tuple[str, ...]:
    return one.architecture, one.suite, release_series(one.document.system.kernel_release)


def row_of(one: Number) -> CountedCase:
    """The row of a count."""
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
    cells = (
        [found.cell(row, kernel, tracer) for tracer in found.tracers]
        for row in found.events()
        for kernel in found.kernels
    )
    lines = (filter(None, line) for line in cells)
    tools = (versions for line in lines for _, versions in groupby(line, key=lambda one: tool_of(one.tracer)))
    return [one for versions in tools for one in _changes(versions)]


def kernel_names(kernels: Iterable[str]) -> dict[str, str]:
    """How prose calls each release of one architecture: `Linux 6.1`, as short as tells it from the others.

    Where another has the same series it is `Linux 6.12.107`, and where it has these numbers too, the whole release.
    """
    releases = list(dict.fromkeys(kernels))
    shorter = [[release_series(one), point_release(one), one] for one in releases]
    every = Counter(name for names in shorter for name in set(names))
    return {
        release: f"Linux {next((name for name in names if name and every[name] == 1), release)}"
        for release, names in zip(releases, shorter, strict=True)
    }


def names_of_all(found: Iterable[Matrix]) -> dict[str, str]:
    """The names in prose of the kernels of several matrices, by release."""
    kernels: dict[str, list[str]] = defaultdict(list)
    for one in found:
        kernels[one.architecture] += one.kernels
    return {release: name for some in kernels.values() for release, name in kernel_names(some).items()}


def release_order(release: str) -> tuple[tuple[int, ...], str]:
    """Releases and versions by their numbers; text decides between equals."""
    return release_numbers(release), release


def _changes(line: Iterable[Number]) -> list[Comparison]:
    pairs = pairwise(one for one in line if one.is_sound)
    return [compare(first, second) for first, second in pairs if threads_of(first) == threads_of(second)]


def threads_of(one: Number) -> int:
    """How many CPUs the machine of a count has."""
    return one.submission.document.machine.threads


def _rows(suite: Suite, cells: Iterable[tuple[CountedCase, KernelColumn]]) -> tuple[CountedCase, ...]:
    rows = {row for row, _ in cells}
    order = {case.id: place for place, case in enumerate(suite.cases)}
    return tuple(sorted(rows, key=lambda row: (order.get(row.case, len(order)), row.case, level_order(row.level))))


def _tracers(cells: Mapping[tuple[CountedCase, KernelColumn], Number]) -> tuple[str, ...]:
    """The tool with most rows first, and its versions in the order of their numbers."""
    tools = {column.tracer: tool_of(one.tracer) for (_, column), one in cells.items()}
    rows: dict[str, set[CountedCase]] = {}
    for row, column in cells:
        rows.setdefault(tools[column.tracer], set()).add(row)
    return tuple(sorted(tools, key=lambda one: (-len(rows[tools[one]]), tools[one], release_order(one))))
