"""Times that others printed of arm64, beside our counts of the same probes."""

from dataclasses import dataclass
from itertools import combinations

from probe_effect.compare.kernels import column_of, matrices, release_order
from probe_effect.costs.instructions import mechanism_of
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.names import tool_of
from probe_effect.reduce.submission import Number
from probe_effect.store.beside_files import Figure
from probe_effect.toml import beside

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
