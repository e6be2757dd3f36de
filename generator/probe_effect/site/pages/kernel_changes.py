"""What changed from kernel to kernel and from version to version of a tracer, and the charts of a suite's counts.

A few counts have a page over every release of Linux: their charts, and what changed from one release to the next.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from operator import attrgetter, itemgetter
from statistics import median
from typing import NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.compare import kernels as counted
from probe_effect.compare.comparison import Comparison, largest
from probe_effect.compare.kernels import Matrix, column_of, explanation_of, kernel_names, matrices, names_of_all, series
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.submission import Number
from probe_effect.site.charts.curves import CountPoint, panels_chart
from probe_effect.site.charts.dots import Dot, instruction_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, instructions, links, parts
from probe_effect.site.pages.instructions import CERTAIN, said_of, short, tracer
from probe_effect.site.pages.parts import Fold, Heading, Items, Link, Part, Pieces, Table, columns, of_data, section
from probe_effect.site.pages.text import coded, link, listed, safe, say, together
from probe_effect.store.beside_files import Explanation

NOTE = "Counts that are flagged, and those that are not above 0, are not drawn; the tables have them."


def charts_of(matrix: Matrix) -> list[Chart]:
    """Each case kernel by kernel and version by version, then the kernel with most tracers, tracer by tracer."""
    return [*by_kernel(matrix), *_by_version(matrix), *_by_tracer(matrix)]


def by_kernel(matrix: Matrix, by: str = "kernels", page: str | None = None) -> list[Chart]:
    """A panel for each case that was counted on several kernels, with a line for each tracer.

    `by` is in its name; `page` is where it is, if not on that of the architecture.
    """
    heads = dict(zip(matrix.kernels, short_names(matrix), strict=True))
    along = f"Linux {heads[matrix.kernels[0]]} to {heads[matrix.kernels[-1]]}"
    points = [
        CountPoint(
            names.with_level(number), tracer(number), heads[column_of(number).kernel], number.known_cost, number.tracer
        )
        for number in _drawn(matrix)
    ]
    called = (by, f"kernel, {along}", f"tracer, from {along}")
    return _panels(matrix, called, points, heads.values(), map(short, matrix.tracers), page=page)


def _by_version(matrix: Matrix) -> list[Chart]:
    versions = grouped_by(matrix.tracers, lambda name: name.partition(" ")[0])
    tool, own = max(versions.items(), key=lambda pair: len(pair[1]))
    kernels = kernel_names(matrix.kernels)
    places = {name: short(name).removeprefix(f"{tool} ") for name in own}
    points = [
        CountPoint(
            names.with_level(number),
            kernels[column_of(number).kernel],
            places[column_of(number).tracer],
            number.known_cost,
        )
        for number in _drawn(matrix)
        if column_of(number).tracer in places
    ]
    called = ("versions", f"version of {tool}", f"kernel, over versions of {tool}")
    return _panels(matrix, called, points, places.values(), kernels.values())


def _panels(
    matrix: Matrix,
    called: tuple[str, str, str],
    points: Sequence[CountPoint],
    places: Iterable[str],
    series: Iterable[str],
    *,
    page: str | None = None,
) -> list[Chart]:
    """The chart of the cases that have several places, because a single dot on its own scale says nothing.

    `called`: what it is by in its address, in its title, and in its sentence.
    """
    name, by, line = called
    panels = grouped_by(points, attrgetter("panel"))
    drawn = [point for point in points if len({other.at for other in panels[point.panel]}) > 1]
    if not drawn:
        return []
    left_out = "" if len(drawn) == len(points) else " A case with but one place has no panel."
    return [
        panels_chart(
            *_name_and_title(matrix, name, by),
            f"Instructions that one event adds, a panel for each case and a line for each {line}.",
            drawn,
            places=list(places),
            series=list(dict.fromkeys(series)),
            note=f"Each panel has its own scale, from 0 to the number above it. {NOTE}{left_out}",
            page=page or addresses.architecture(matrix.architecture, matrix.suite.id),
        )
    ]


def short_names(matrix: Matrix) -> list[str]:
    return [name.removeprefix("Linux ") for name in kernel_names(matrix.kernels).values()]


def _by_tracer(matrix: Matrix) -> list[Chart]:
    drawn = _drawn(matrix)
    if not drawn:
        return []
    of_kernel = grouped_by(drawn, lambda number: column_of(number).kernel)
    # Of kernels with as many tracers the newest.
    newest_first = sorted(of_kernel, key=matrix.kernels.index, reverse=True)
    kernel = max(newest_first, key=lambda name: len({column_of(number).tracer for number in of_kernel[name]}))
    own = of_kernel[kernel]
    series = list(dict.fromkeys(map(short, matrix.tracers)))
    called = kernel_names(matrix.kernels)
    how = "tracer by tracer" if len({number.tracer for number in own}) > 1 else f"with {series[0]}"
    return [
        instruction_chart(
            *_name_and_title(matrix, "tracers", f"tracer, {called[kernel]}"),
            f"Instructions that one event adds on {called[kernel]}, {how}.",
            [Dot(names.with_level(number), tracer(number), number.known_cost, number.tracer) for number in own],
            series=series,
            note=NOTE if len(drawn) < len(_counted(matrix)) else None,
            page=addresses.architecture(matrix.architecture, matrix.suite.id),
        )
    ]


def _name_and_title(matrix: Matrix, name: str, by: str) -> tuple[str, str]:
    """The name of a chart is part of an address: those of x86-64 were there before any other architecture."""
    word = names.architecture(matrix.architecture)
    title = said_of(matrix.suite, f"instructions on {word} by {by}")
    return f"instructions-{'' if word == names.X86_64 else f'{word}-'}{matrix.suite.id}-{name}", title


def _drawn(matrix: Matrix) -> list[Number]:
    """The sound counts above 0 of cases with events; the axis may be logarithmic."""
    return [number for number in _counted(matrix) if number.is_sound and (number.known_cost.low or 0) > 0]


def _counted(matrix: Matrix) -> list[Number]:
    rows = set(matrix.events())
    return [number for number in matrix.all() if number.cost is not None and counted.row_of(number) in rows]


class Comparing(NamedTuple):
    """One way to set counts against each other."""

    title: str
    changes: Callable[[Matrix], list[Comparison]]
    sentence: Callable[[Comparison, Mapping[str, str]], str]
    differs: str  # a field of `KernelColumn`, and a column of tables, as is that which stays the same
    same: str

    def of_all(self, all_matrices: Iterable[Matrix]) -> list[Comparison]:
        return [change for each in all_matrices for change in self.changes(each)]


WAYS = (
    Comparing("From kernel to kernel", counted.between_kernels, instructions.between_kernels, "kernel", "tracer"),
    Comparing("From version to version", counted.between_versions, instructions.between_versions, "tracer", "kernel"),
)


def changes(all_matrices: Sequence[Matrix]) -> dict[Comparing, list[Comparison]]:
    """Every change from kernel to kernel, and from version to version, the largest first."""
    pairs = ((way, way.of_all(all_matrices)) for way in WAYS)
    return {way: ordered for way, some in pairs if (ordered := largest(some, len(some)))}


def causes(all_matrices: Iterable[Matrix], explanations: Iterable[Explanation]) -> dict[Explanation, set[str]]:
    """Each known cause of a change, to the ids of the numbers that are more or fewer by it than the one before."""
    by_cause: dict[Explanation, set[str]] = {}
    for change in (change for each in all_matrices for way in WAYS for change in way.changes(each)):
        if cause := explanation_of(change, explanations):
            by_cause.setdefault(cause, set()).add(change.second.id)
    return by_cause


def cause_text(cause: Explanation) -> Markup:
    references = listed(map(parts.reference, cause.references), "")
    return say("{}{} {}", coded(cause.says), references, CERTAIN[cause.certainty])


def cause_address(cause: Explanation) -> str:
    return f"/kernels/changes/#{cause.id}"


def write(catalogue: Catalogue) -> str | None:
    front = {
        "title": "Every change",
        "description": "Every count that differs from kernel to kernel, or from version to version of a tracer.",
        "weight": 1000,  # after the pages of machines
        "open": 1,
    }
    all_matrices = matrices(catalogue)
    every = changes(all_matrices)
    return parts.page(front, _parts(all_matrices, every, catalogue)) if every else None


def _parts(
    all_matrices: Sequence[Matrix], every: Mapping[Comparing, list[Comparison]], catalogue: Catalogue
) -> Iterator[Part]:
    each = [comparison for some in every.values() for comparison in some]
    yield say(
        "Changes of a count from kernel to kernel, or from version to version of a tracer: {}, half of them by up to "
        "{}.\nTo know what a kernel changed for your probe, read the row of the probe in the column of the kernel.",
        units.count(len(each)),
        units.percent(median(abs(comparison.change_ratio or 0) for comparison in each), 2),
    )
    yield from (parts.chart(chart.name) for chart in series_charts(catalogue)[:1])
    rules = (
        say(
            "A cell is the change from the last kernel, or version, before it that was counted: by cause, the least "
            "and the greatest of all tracers, or kernels, and levels. It leads to the largest."
        ),
        say(
            "A small number leads to a cause. Where there is none, it is not known; of a change up to {} nobody has "
            "looked for it.",
            units.stated(UNKNOWN_ABOVE_RATIO, units.SHARE),
        ),
        say(
            "The page of a case has each count, and up to five functions that execute more or fewer instructions; one "
            "that a release renamed counts as the same."
        ),
        say("Two counts differ if their ranges do not overlap and they are more than {} apart.", instructions.LIMIT),
        "A small count must also change by more than counts of the same event differ from each other.",
        "Flagged counts and cases without events are excluded.",
        "“Bisected”: versions between the two were counted too, on both sides of the change.",
        "“Read”: the source or its notes say the cause. “Inferred”: it follows from both.",
    )
    yield Fold("What a cell says, and what counts as a change and as its cause", [Items(rules)])
    kernels, explained = names_of_all(all_matrices), causes([*all_matrices, *series(catalogue)], catalogue.explanations)
    marks = {
        explanation: Link(index, cause_address(explanation)) for index, explanation in enumerate(explained, start=1)
    }
    why = ((comparison, explanation_of(comparison, catalogue.explanations)) for comparison in each)
    mark_of = {comparison: marks[cause] for comparison, cause in why if cause}
    cases = list(dict.fromkeys(row.case for matrix in all_matrices for row in matrix.rows))
    # The first row of a case is its place.
    rows_by_key = {
        case: [" ", Link(f"({number})", f"#={case}")]
        for case, number in Counter(comparison.second.case for comparison in each).items()
    }
    for way, architecture in product(every, dict.fromkeys(matrix.architecture for matrix in all_matrices)):
        own = [comparison for comparison in every[way] if comparison.second.submission.architecture == architecture]
        changed = sorted({comparison.second.case for comparison in own}, key=cases.index)
        rows = {
            case: Pieces([links.case(case, catalogue.titles[case]), *rows_by_key.pop(case, ())]) for case in changed
        }
        table = _changed(way, own, rows, mark_of, kernels) if own else None
        yield from section(say("{}, on {}", way.title, names.architecture(architecture)), table)
    lines = [
        say("[{}](#={}): {}.", mark.text, safe(explanation.id), cause_text(explanation))
        for explanation, mark in marks.items()
    ]
    yield from section("Causes", Items(lines) if lines else None)


def _changed(
    way: Comparing,
    own: Sequence[Comparison],
    rows: Mapping[str, Pieces],
    causes: Mapping[Comparison, Link],
    kernels: Mapping[str, str],
) -> Table:
    """A row for each case, by its first cell, and a column for each kernel, or version, that changed any."""
    cells = grouped_by(own, lambda change: (change.second.case, getattr(column_of(change.second), way.differs)))
    heads = sorted({head for _, head in cells}, key=counted.release_order)
    lines = [[name, *(_cell(cells.get((case, head), ()), causes) for head in heads)] for case, name in rows.items()]
    return Table(
        [parts.column("case", "Case (changes)"), *(of_data(kernels.get(head, short(head))) for head in heads)], lines
    )


def _place(number: Number, field: str, kernels: Mapping[str, str]) -> str:
    name: str = getattr(column_of(number), field)
    return kernels.get(name, short(name))


def _cell(own: Sequence[Comparison], causes: Mapping[Comparison, Link]) -> Pieces:
    """Of some changes, the largest first, the least and the greatest of each cause, which lead to the largest."""
    pieces: list[object] = []
    for mark, alike in grouped_by(own, causes.get).items():
        ends = (pick(alike, key=lambda comparison: comparison.change_ratio or 0) for pick in (min, max))
        text = " to ".join(dict.fromkeys(map(instructions.change, ends)))
        largest = Link(text, addresses.number(alike[0].second, "instructions"))
        pieces += [", "] * bool(pieces) + [largest] + ([" ", mark] if mark else [])
    return Pieces(pieces)


def functions_changed(every: Mapping[Comparing, list[Comparison]], kernels: Mapping[str, str]) -> list[Markup]:
    """The functions that execute more or fewer instructions after some changes, those with the same in one line."""
    lines = []
    for way, some in every.items():
        for text, own in grouped_by(
            some, lambda comparison: instructions.changed(comparison.first, comparison.second)
        ).items():
            if text:
                # `arm64, libbpf 1.1 and bpftrace 0.23.2, Linux 6.12.117 to 7.3: do_trap +8.`
                where = names.architecture(own[0].second.submission.architecture)
                same = instructions.listed(
                    dict.fromkeys(_place(comparison.second, way.same, kernels) for comparison in own)
                )
                sides = (_place(side, way.differs, kernels) for side in (own[0].first, own[0].second))
                lines.append(say("{}, {}, {} to {}: {}.", where, same, *sides, text))
    return lines


UNKNOWN_ABOVE_RATIO = 0.05  # nobody looked for the cause of a smaller change, so it is not called unknown
SERIES, SERIES_FEED = "/kernels/series/", "/kernels/series.xml"


def series_address(architecture: str) -> str:
    """Of x86-64 it is what the page of all was."""
    word = names.architecture(architecture)
    return SERIES if word == names.X86_64 else f"{SERIES}{word}/"


def series_charts(catalogue: Catalogue) -> list[Chart]:
    return [
        chart
        for matrix in series(catalogue)
        for chart in by_kernel(matrix, "releases", series_address(matrix.architecture))
    ]


def write_series(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Path and page of each architecture that readers have a word for."""
    by_architecture = grouped_by(series(catalogue), attrgetter("architecture"))
    for weight, (architecture, all_matrices) in enumerate(by_architecture.items(), start=1001):
        if architecture in names.ARCHITECTURES:
            word, address = names.architecture(architecture), series_address(architecture)
            others = [other for other in by_architecture if other != architecture and other in names.ARCHITECTURES]
            front = {
                "title": f"Over releases, on {word}",
                "description": f"A few probes counted on {word} on many releases of Linux, and what changed from one "
                "to the next.",
                "weight": weight,
                "open": 1,
            }
            beside = listed(link(f"on {names.architecture(other)}", series_address(other)) for other in others)
            yield f"{address.strip('/')}.md", parts.page(front, _series_parts(all_matrices, beside, catalogue))


def _series_parts(each: Sequence[Matrix], beside: Markup, catalogue: Catalogue) -> Iterator[Part]:
    every = [
        (abs(comparison.change_ratio or 0), matrix, comparison)
        for matrix in each
        for comparison in counted.series_changes(matrix)
    ]
    for _, matrix, comparison in sorted(every, key=itemgetter(0))[-1:]:
        what = "The largest change from one release to the next: {}, {} {}."
        yield say(what, _step(matrix, comparison), comparison.second.title, _by(comparison))
    yield together(
        "A few probes are counted on every release of Linux.",
        say(
            "Each section has the instructions that one event adds, and names the releases that changed them by more "
            "than {}.",
            units.stated(counted.LEAST_CHANGE_RATIO, units.SHARE),
        ),
        say("Changes are also a {}.", link("feed", SERIES_FEED)),
        beside and say("The same {}.", beside),
    )
    rules = (
        "A count is compared with that of the last release before it that has one.",
        "Each release of Debian has its own compiler: between two releases of Debian, a change may be the compiler's.",
        say(
            "A known cause has a link. Without one, up to five functions follow that execute more or fewer "
            "instructions, if both events were recorded; of a change up to {} nobody has looked for the cause.",
            units.stated(UNKNOWN_ABOVE_RATIO, units.SHARE),
        ),
    )
    yield Fold("What counts as a change", [Items(rules)])
    titles = catalogue.titles
    for matrix in each:
        name = names.architecture(matrix.architecture)
        yield Heading(say("{} on {}", matrix.suite.title, name))
        yield from (
            parts.chart(chart.name) for chart in by_kernel(matrix, "releases", series_address(matrix.architecture))
        )
        steps = grouped_by(counted.series_changes(matrix), partial(_step, matrix))
        for step, changes in steps.items():
            by_cause = grouped_by(
                changes, lambda comparison: (comparison.second.title, _cause(comparison, catalogue.explanations))
            )
            yield say("**{}**", step)
            yield Items([say("{} {}{}.", title, listed(map(_by, own)), why) for (title, why), own in by_cause.items()])
        if not steps:
            yield "No two neighbours differ."
        rows = []
        for row, name_of in product(matrix.rows, matrix.tracers):
            if matrix.along_kernels(row, name_of):
                case, counts = links.case(row.case, titles[row.case]), map(links.count, matrix.line(row, name_of))
                rows.append((case, short(name_of), *counts))
        table = Table([*columns("case", "tracer"), *map(of_data, short_names(matrix))], rows)
        yield Fold(f"Every count, {matrix.suite.title}, {name}", [table])


def series_sentence(change: Comparison, among: Matrix) -> str:
    """`6.12.107 to 6.12.117, x86-64: Uprobe with libbpf 1.1 +3.1 % (1585 to 1634): return_thunk +8`."""
    return f"{_step(among, change)}, {names.architecture(among.architecture)}: {_what(change)}"


def _step(among: Matrix, change: Comparison) -> str:
    called = dict(zip(among.kernels, short_names(among), strict=True))
    return " to ".join(called[column_of(side).kernel] for side in (change.first, change.second))


def _what(change: Comparison) -> str:
    functions = instructions.changed(change.first, change.second)
    return f"{change.second.title} {_by(change)}{functions and f': {functions}'}"


def _by(comparison: Comparison) -> str:
    counts = " to ".join(instructions.counts(comparison))
    return f"with {instructions.tracer(comparison.second)} {instructions.change(comparison)} ({counts})"


def _cause(comparison: Comparison, explanations: Iterable[Explanation]) -> Markup:
    """What follows a change on the page: its cause, or else the functions that are known, and that it is unknown."""
    if why := explanation_of(comparison, explanations):
        return say("; {}", link("cause", cause_address(why)))
    functions = instructions.changed(comparison.first, comparison.second)
    unknown = "; cause unknown" if abs(comparison.change_ratio or 0) > UNKNOWN_ABOVE_RATIO else ""
    return say("{}{}", functions and f": {functions}", unknown)
