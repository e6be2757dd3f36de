"""What changed from kernel to kernel and from version to version of a tracer, and the charts of a suite's counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter

from probe_effect.charts.curves import CountPoint, panels_chart
from probe_effect.charts.dots import Dot, instruction_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import Comparison, largest
from probe_effect.compare.kernels import (
    KernelColumn,
    Matrix,
    between_kernels,
    between_versions,
    column_of,
    explanation_of,
    kernel_names,
    matrices,
    names_of_all,
    row_of,
    series,
)
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import architecture
from probe_effect.pages import addresses, executed, instructions
from probe_effect.pages.instructions import said_of, short, tracer
from probe_effect.pages.markdown import page
from probe_effect.reduce.submission import Number
from probe_effect.store.beside_files import Explanation

NOTE = "Counts that are flagged, and those that are not above 0, are not drawn; the tables have them."


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart of the pages of architectures."""
    known = (found for found in matrices(catalogue) if found.architecture in names.ARCHITECTURES)
    return [chart for found in known for chart in charts_of(found)]


def charts_of(found: Matrix) -> list[Chart]:
    """Each case kernel by kernel and version by version, then the kernel with most tracers, tracer by tracer."""
    return [*by_kernel(found), *_by_version(found), *_by_tracer(found)]


def by_kernel(found: Matrix, by: str = "kernels", page: str | None = None) -> list[Chart]:
    """A panel for each case that was counted on several kernels, with a line for each tracer.

    `by` is in its name; `page` is where it is, if not on that of the architecture.
    """
    heads = dict(zip(found.kernels, short_names(found), strict=True))
    points = [
        CountPoint(names.with_level(one), tracer(one), heads[column_of(one).kernel], one.known_cost, one.tracer)
        for one in _drawn(found)
    ]
    series = list(dict.fromkeys(short(name) for name in found.tracers))
    places = list(heads.values())
    sentence = (
        "Instructions that one event adds, a panel for each case and a line for each tracer, "
        f"from Linux {places[0]} to {places[-1]}."
    )
    title = f"kernel, Linux {places[0]} to {places[-1]}"
    return _panels(found, (by, title), sentence, points, places=places, series=series, page=page)


def _by_version(found: Matrix) -> list[Chart]:
    """A panel for each case counted with several versions of the tool that has most of them, a line for each kernel."""
    versions = grouped_by(found.tracers, lambda name: name.partition(" ")[0])
    tool, names_of_tool = max(versions.items(), key=lambda pair: len(pair[1]))
    called = kernel_names(found.kernels)
    places = {name: short(name).removeprefix(f"{tool} ") for name in names_of_tool}
    points = [
        CountPoint(names.with_level(one), called[column_of(one).kernel], places[column_of(one).tracer], one.known_cost)
        for one in _drawn(found)
        if column_of(one).tracer in places
    ]
    sentence = (
        f"Instructions that one event adds, a panel for each case and a line for each kernel, over versions of {tool}."
    )
    by = ("versions", f"version of {tool}")
    return _panels(found, by, sentence, points, places=list(places.values()), series=list(called.values()))


def _panels(
    found: Matrix,
    by: tuple[str, str],
    sentence: str,
    points: Sequence[CountPoint],
    *,
    places: Sequence[str],
    series: Sequence[str],
    page: str | None = None,
) -> list[Chart]:
    """The chart of the cases that have several places, because a single dot on its own scale says nothing.

    `by`: how the chart is called in its address, and in its title.
    """
    panels = grouped_by(points, attrgetter("panel"))
    drawn = [one for one in points if len({other.at for other in panels[one.panel]}) > 1]
    if not drawn:
        return []
    left_out = "" if len(drawn) == len(points) else " A case with but one place has no panel."
    title = _title(found, by[1])
    page = page or addresses.architecture(found.architecture)
    note = f"Each panel has its own scale, from 0 to the number above it. {NOTE}{left_out}"
    name = chart_name(found, by[0])
    return [panels_chart(name, title, sentence, drawn, places=places, series=series, note=note, page=page)]


def short_names(found: Matrix) -> list[str]:
    """The kernels where it is said that they are Linux."""
    return [name.removeprefix("Linux ") for name in kernel_names(found.kernels).values()]


def _by_tracer(found: Matrix) -> list[Chart]:
    drawn, called = _drawn(found), kernel_names(found.kernels)
    lines = {kernel: [one for one in drawn if column_of(one).kernel == kernel] for kernel in reversed(found.kernels)}
    # Of kernels with as many tracers the newest.
    kernel = max(lines, key=lambda name: len({column_of(one).tracer for one in lines[name]}))
    counts = [Dot(names.with_level(one), tracer(one), one.known_cost, one.tracer) for one in lines[kernel]]
    series = list(dict.fromkeys(short(name) for name in found.tracers))
    ids = {one.tracer for one in lines[kernel]}
    how = "tracer by tracer" if len(ids) > 1 else f"with {series[0]}"
    sentence = f"Instructions that one event adds on {called[kernel]}, {how}."
    if not counts:
        return []
    name, title = chart_name(found, "tracers"), _title(found, f"tracer, {called[kernel]}")
    note = NOTE if len(drawn) < len(_counted(found)) else None
    page = addresses.architecture(found.architecture)
    return [instruction_chart(name, title, sentence, counts, series=series, note=note, page=page)]


def _title(found: Matrix, by: str) -> str:
    return said_of(found.suite, f"instructions on {names.architecture(found.architecture)} by {by}")


def chart_name(found: Matrix, by: str) -> str:
    """The name of a chart, which is part of an address: those of x86-64 were there before any other architecture."""
    word = names.architecture(found.architecture)
    return f"instructions-{'' if word == names.X86_64 else f'{word}-'}{found.suite.id}-{by}"


def _drawn(found: Matrix) -> list[Number]:
    """The sound counts above 0 of cases with events; the axis may be logarithmic."""
    return [one for one in _counted(found) if one.is_sound and (one.known_cost.low or 0) > 0]


def _counted(found: Matrix) -> list[Number]:
    rows = set(found.events())
    return [one for one in found.all() if one.cost is not None and row_of(one) in rows]


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
        causes=list(causes([*found, *series(catalogue)], catalogue.explanations)),
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
