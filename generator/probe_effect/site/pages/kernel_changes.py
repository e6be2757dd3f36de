"""What changed from kernel to kernel and from version to version of a tracer, and the charts of a suite's counts.

A few counts have a page over every release of Linux: their charts, and what changed from one release to the next.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from operator import attrgetter
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
from probe_effect.site.pages.parts import Fold, Heading, Items, Part, Pieces, Table, columns, of_data, section
from probe_effect.site.pages.text import bracketed, coded, link, listed, safe, say
from probe_effect.store.beside_files import Explanation

NOTE = "Counts that are flagged, and those that are not above 0, are not drawn; the tables have them."


def charts_of(found: Matrix) -> list[Chart]:
    """Each case kernel by kernel and version by version, then the kernel with most tracers, tracer by tracer."""
    return [*by_kernel(found), *_by_version(found), *_by_tracer(found)]


def by_kernel(found: Matrix, by: str = "kernels", page: str | None = None) -> list[Chart]:
    """A panel for each case that was counted on several kernels, with a line for each tracer.

    `by` is in its name; `page` is where it is, if not on that of the architecture.
    """
    heads = dict(zip(found.kernels, short_names(found), strict=True))
    along = f"Linux {heads[found.kernels[0]]} to {heads[found.kernels[-1]]}"
    points = [
        CountPoint(names.with_level(one), tracer(one), heads[column_of(one).kernel], one.known_cost, one.tracer)
        for one in _drawn(found)
    ]
    called = (by, f"kernel, {along}", f"tracer, from {along}")
    return _panels(found, called, points, heads.values(), map(short, found.tracers), page=page)


def _by_version(found: Matrix) -> list[Chart]:
    versions = grouped_by(found.tracers, lambda name: name.partition(" ")[0])
    tool, own = max(versions.items(), key=lambda pair: len(pair[1]))
    kernels = kernel_names(found.kernels)
    places = {name: short(name).removeprefix(f"{tool} ") for name in own}
    points = [
        CountPoint(names.with_level(one), kernels[column_of(one).kernel], places[column_of(one).tracer], one.known_cost)
        for one in _drawn(found)
        if column_of(one).tracer in places
    ]
    called = ("versions", f"version of {tool}", f"kernel, over versions of {tool}")
    return _panels(found, called, points, places.values(), kernels.values())


def _panels(
    found: Matrix,
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
    drawn = [one for one in points if len({other.at for other in panels[one.panel]}) > 1]
    if not drawn:
        return []
    left_out = "" if len(drawn) == len(points) else " A case with but one place has no panel."
    return [
        panels_chart(
            *_name_and_title(found, name, by),
            f"Instructions that one event adds, a panel for each case and a line for each {line}.",
            drawn,
            places=list(places),
            series=list(dict.fromkeys(series)),
            note=f"Each panel has its own scale, from 0 to the number above it. {NOTE}{left_out}",
            page=page or addresses.architecture(found.architecture),
        )
    ]


def short_names(found: Matrix) -> list[str]:
    return [name.removeprefix("Linux ") for name in kernel_names(found.kernels).values()]


def _by_tracer(found: Matrix) -> list[Chart]:
    drawn = _drawn(found)
    if not drawn:
        return []
    of_kernel = grouped_by(drawn, lambda one: column_of(one).kernel)
    # Of kernels with as many tracers the newest.
    newest_first = sorted(of_kernel, key=found.kernels.index, reverse=True)
    kernel = max(newest_first, key=lambda name: len({column_of(one).tracer for one in of_kernel[name]}))
    own, series, called = of_kernel[kernel], list(dict.fromkeys(map(short, found.tracers))), kernel_names(found.kernels)
    how = "tracer by tracer" if len({one.tracer for one in own}) > 1 else f"with {series[0]}"
    return [
        instruction_chart(
            *_name_and_title(found, "tracers", f"tracer, {called[kernel]}"),
            f"Instructions that one event adds on {called[kernel]}, {how}.",
            [Dot(names.with_level(one), tracer(one), one.known_cost, one.tracer) for one in own],
            series=series,
            note=NOTE if len(drawn) < len(_counted(found)) else None,
            page=addresses.architecture(found.architecture),
        )
    ]


def _name_and_title(found: Matrix, name: str, by: str) -> tuple[str, str]:
    """The name of a chart is part of an address: those of x86-64 were there before any other architecture."""
    word = names.architecture(found.architecture)
    title = said_of(found.suite, f"instructions on {word} by {by}")
    return f"instructions-{'' if word == names.X86_64 else f'{word}-'}{found.suite.id}-{name}", title


def _drawn(found: Matrix) -> list[Number]:
    """The sound counts above 0 of cases with events; the axis may be logarithmic."""
    return [one for one in _counted(found) if one.is_sound and (one.known_cost.low or 0) > 0]


def _counted(found: Matrix) -> list[Number]:
    rows = set(found.events())
    return [one for one in found.all() if one.cost is not None and counted.row_of(one) in rows]


class Comparing(NamedTuple):
    """One way to set counts against each other."""

    title: str
    changes: Callable[[Matrix], list[Comparison]]
    sentence: Callable[[Comparison, Mapping[str, str]], str]
    differs: str  # a field of `KernelColumn`, and a column of tables, as is that which stays the same
    same: str

    def of_all(self, found: Iterable[Matrix]) -> list[Comparison]:
        return [one for each in found for one in self.changes(each)]


WAYS = (
    Comparing("From kernel to kernel", counted.between_kernels, instructions.between_kernels, "kernel", "tracer"),
    Comparing("From version to version", counted.between_versions, instructions.between_versions, "tracer", "kernel"),
)


def changes(found: Sequence[Matrix]) -> dict[Comparing, list[Comparison]]:
    """Every change from kernel to kernel, and from version to version, the largest first."""
    pairs = ((way, way.of_all(found)) for way in WAYS)
    return {way: ordered for way, some in pairs if (ordered := largest(some, len(some)))}


def causes(found: Iterable[Matrix], known: Iterable[Explanation]) -> dict[Explanation, set[str]]:
    """Each known cause of a change, to the ids of the numbers that are more or fewer by it than the one before."""
    by_cause: dict[Explanation, set[str]] = {}
    for one in (one for each in found for way in WAYS for one in way.changes(each)):
        if cause := explanation_of(one, known):
            by_cause.setdefault(cause, set()).add(one.second.id)
    return by_cause


def cause_text(known: Explanation) -> Markup:
    references = listed(map(parts.reference, known.references), "")
    return say("{}{} {}", coded(known.says), references, CERTAIN[known.certainty])


def cause_address(known: Explanation) -> str:
    return f"/kernels/changes/#{known.id}"


def write(catalogue: Catalogue) -> str | None:
    front = {
        "title": "Every change",
        "description": "Every count that differs from kernel to kernel, or from version to version of a tracer.",
        "weight": 1000,  # after the pages of machines
        "open": 1,
    }
    found = matrices(catalogue)
    every = changes(found)
    return parts.page(front, _parts(found, every, catalogue)) if every else None


def _parts(
    found: Sequence[Matrix], every: Mapping[Comparing, list[Comparison]], catalogue: Catalogue
) -> Iterator[Part]:
    yield say(
        "{} times a count differs between two kernels, or between two versions of a tracer. "
        "Choose a case; its largest changes come first.",
        units.count(sum(map(len, every.values()))),
    )
    rules = (
        say("Two counts differ if their ranges do not overlap and they are more than {} apart.", instructions.LIMIT),
        "A small count must also change by more than counts of the same event differ from each other.",
        "Flagged counts and cases without events are excluded.",
        say(
            "If both events were recorded, the page names up to five functions that [execute](/kernels/anatomy/) more "
            "or fewer instructions."
        ),
        "A function that a release renamed counts as the same one; an inlined function is part of its caller.",
        "“Bisected”: versions between the two were counted too, on both sides of the change.",
        "“Read”: the source or its notes say the cause. “Inferred”: it follows from both.",
        "“Unknown”: nobody has found a commit yet, whether or not the functions are known.",
    )
    yield Fold("What counts as a change, and as its cause", [Items(rules)])
    yield Heading("Cases")
    kernels, explained = names_of_all(found), causes([*found, *series(catalogue)], catalogue.explanations)
    places = {one: place for place, one in enumerate(explained, start=1)}
    why = ((one, explanation_of(one, catalogue.explanations)) for some in every.values() for one in some)
    known = {one: link(places[cause], cause_address(cause)) for one, cause in why if cause}
    for case in dict.fromkeys(row.case for each in found for row in each.rows):
        own = {way: [one for one in some if one.second.case == case] for way, some in every.items()}
        if count := sum(map(len, own.values())):
            inner = [part for way, some in own.items() if some for part in _changed(way, some, known, kernels)]
            title = catalogue.titles[case]
            first = say("[Changes](#={}) of {}:", safe(case), links.case(case, title))
            yield Fold(f"{title} ({count})", [first, *inner])
    lines = [say("[{}](#={}): {}.", place, safe(one.id), cause_text(one)) for one, place in places.items()]
    yield from section("Causes", Items(lines) if lines else None)


def _changed(
    way: Comparing, own: Sequence[Comparison], causes: Mapping[Comparison, object], kernels: Mapping[str, str]
) -> Iterator[Part]:
    def place(one: Number, field: str) -> str:
        name: str = getattr(column_of(one), field)
        return kernels.get(name, short(name))

    yield say("{}:", way.title)
    rows = []
    for one in own:
        ends = (one.first, one.second)
        what = bracketed(place(one.second, way.same), names.level(one.second.level)), instructions.change(one)
        counts = Pieces.joined(map(links.count, ends), " to ")
        sides = (place(side, way.differs) for side in ends)
        architecture = names.architecture(one.second.submission.architecture)
        rows.append((architecture, *what, counts, *sides, causes.get(one, "unknown")))
    yield Table(columns("architecture", way.same, "change", "counts", "from", "to", "cause"), rows)
    lines = []
    for text, some in grouped_by(own, lambda one: instructions.changed(one.first, one.second)).items():
        if text:
            # `arm64, libbpf 1.1 and bpftrace 0.23.2, Linux 6.12.117 to 7.3: do_trap +8.`
            where = names.architecture(some[0].second.submission.architecture)
            same = instructions.listed(dict.fromkeys(place(one.second, way.same) for one in some))
            sides = (place(side, way.differs) for side in (some[0].first, some[0].second))
            lines.append(say("{}, {}, {} to {}: {}.", where, same, *sides, text))
    yield Items(lines)


UNKNOWN_ABOVE_RATIO = 0.05  # nobody looked for the cause of a smaller change, so it is not called unknown
SERIES, SERIES_FEED = "/kernels/series/", "/kernels/series.xml"


def series_charts(catalogue: Catalogue) -> list[Chart]:
    return [chart for found in series(catalogue) for chart in by_kernel(found, "releases", SERIES)]


def write_series(catalogue: Catalogue) -> str | None:
    front = {
        "title": "Over releases",
        "description": "A few probes counted on many releases of Linux, and what changed from one to the next.",
        "weight": 1001,
        "open": 1,
    }
    found = series(catalogue)
    return parts.page(front, _series_parts(found, catalogue)) if found else None


def _series_parts(each: Sequence[Matrix], catalogue: Catalogue) -> Iterator[Part]:
    yield say(
        "A few probes are counted on every release of Linux: each chart has the instructions that one event adds. "
        "Each section names the releases that changed a count by more than {}. Changes are also a {}.",
        units.stated(counted.LEAST_CHANGE_RATIO, units.SHARE),
        link("feed", SERIES_FEED),
    )
    rules = (
        "A count is compared with that of the last release before it that has one.",
        "Each release of Debian has its own compiler: between two releases of Debian, a change may be the compiler's.",
        "If both events were recorded, up to five functions follow that execute more or fewer instructions.",
        say(
            "A known cause has a link. “Cause unknown” is said of changes above {}; for smaller ones nobody has looked "
            "for it.",
            units.stated(UNKNOWN_ABOVE_RATIO, units.SHARE),
        ),
    )
    yield Fold("What counts as a change", [Items(rules)])
    titles = catalogue.titles
    for found in each:
        name = names.architecture(found.architecture)
        yield Heading(say("{} on {}", found.suite.title, name))
        yield from (parts.chart(one.name) for one in by_kernel(found, "releases", SERIES))
        steps = grouped_by(counted.series_changes(found), partial(_step, found))
        for step, changes in steps.items():
            items = []
            for one in changes:
                why = explanation_of(one, catalogue.explanations)
                unknown = "; cause unknown" if abs(one.change_ratio or 0) > UNKNOWN_ABOVE_RATIO else ""
                cause = say("; {}", link("cause", cause_address(why))) if why else unknown
                items.append(say("{}{}.", _what(one), cause))
            yield say("**{}**", step)
            yield Items(items)
        if not steps:
            yield "No two neighbours differ."
        rows = []
        for row, name_of in product(found.rows, found.tracers):
            if found.along_kernels(row, name_of):
                case, counts = links.case(row.case, titles[row.case]), map(links.count, found.line(row, name_of))
                rows.append((case, short(name_of), *counts))
        table = Table([*columns("case", "tracer"), *map(of_data, short_names(found))], rows)
        yield Fold(f"Every count, {found.suite.title}, {name}", [table])


def series_sentence(found: Comparison, among: Matrix) -> str:
    """`6.12.107 to 6.12.117, x86-64: Uprobe with libbpf 1.1 +3.1 % (1585 to 1634): return_thunk +8`."""
    return f"{_step(among, found)}, {names.architecture(among.architecture)}: {_what(found)}"


def _step(among: Matrix, found: Comparison) -> str:
    called = dict(zip(among.kernels, short_names(among), strict=True))
    return " to ".join(called[column_of(side).kernel] for side in (found.first, found.second))


def _what(found: Comparison) -> str:
    what = f"{found.second.title} with {instructions.tracer(found.second)} {instructions.change(found)}"
    functions = instructions.changed(found.first, found.second)
    told = f"{what} ({' to '.join(instructions.counts(found))})"
    return f"{told}: {functions}" if functions else told
