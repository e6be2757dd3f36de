"""A few counts over every release of Linux: their charts, and what changed from one release to the next, in words."""

from collections.abc import Iterator, Sequence
from functools import partial

from probe_effect import units
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.kernels import LEAST_CHANGE_RATIO, Matrix, column_of, explanation_of, series, series_changes
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import architecture
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import instructions, links
from probe_effect.site.pages.kernel_changes import AFTER_MACHINES, by_kernel, cause_address, short_names
from probe_effect.site.pages.parts import Fold, Heading, Items, Part, Table, chart, column, of_data, page
from probe_effect.site.pages.text import link, say

UNKNOWN_ABOVE_RATIO = 0.05
"""Of smaller changes nobody looked for the cause, so that it is not said either that none was found."""

PAGE, FEED = "/kernels/series/", "/kernels/series.xml"


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart of the page."""
    return [chart for found in series(catalogue) for chart in by_kernel(found, "releases", PAGE)]


def write(catalogue: Catalogue) -> str | None:
    """The page; None before any of its cells was counted."""
    front = {
        "title": "Over releases",
        "description": "A few probes counted on many releases of Linux, and what changed from one to the next.",
        "weight": AFTER_MACHINES + 1,
        "open": 1,
    }
    found = series(catalogue)
    return page(front, _parts(found, catalogue)) if found else None


def _parts(each: Sequence[Matrix], catalogue: Catalogue) -> Iterator[Part]:
    yield say(
        "A few probes are counted on every release of Linux: each chart has the instructions that one event adds. "
        "Each section names the releases that changed a count by more than {}. Changes are also a {}.",
        units.stated(LEAST_CHANGE_RATIO, units.SHARE),
        link("feed", FEED),
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
        name = architecture(found.architecture)
        yield Heading(say("{} on {}", found.suite.title, name))
        yield from (chart(one.name) for one in by_kernel(found, "releases", PAGE))
        steps = grouped_by(series_changes(found), partial(_step, found))
        for step, changes in steps.items():
            yield say("**{}**", step)
            yield Items([_with_cause(one, catalogue) for one in changes])
        if not steps:
            yield "No two neighbours differ."
        rows = [
            (
                links.case(row.case, titles[row.case]),
                instructions.short(tracer),
                *map(links.count, found.line(row, tracer)),
            )
            for row in found.rows
            for tracer in found.tracers
            if found.along_kernels(row, tracer)
        ]
        table = Table([column("case"), column("tracer"), *map(of_data, short_names(found))], rows)
        yield Fold(f"Every count, {found.suite.title}, {name}", [table])


def _with_cause(one: Comparison, catalogue: Catalogue) -> str:
    if why := explanation_of(one, catalogue.explanations):
        return say("{}; {}.", _what(one), link("cause", cause_address(why)))
    has_none = abs(one.change_ratio or 0) > UNKNOWN_ABOVE_RATIO
    return say("{}{}.", _what(one), "; cause unknown" if has_none else "")


def sentence(found: Comparison, among: Matrix) -> str:
    """`6.12.107 to 6.12.117, x86-64: Uprobe with libbpf 1.1 +3.1 % (1585 to 1634): return_thunk +8`."""
    return f"{_step(among, found)}, {architecture(among.architecture)}: {_what(found)}"


def _step(among: Matrix, found: Comparison) -> str:
    """The names of the two neighbouring releases of a change."""
    called = dict(zip(among.kernels, short_names(among), strict=True))
    return " to ".join(called[column_of(side).kernel] for side in (found.first, found.second))


def _what(found: Comparison) -> str:
    what = f"{found.second.title} with {instructions.tracer(found.second)} {instructions.change(found)}"
    functions = instructions.changed(found.first, found.second)
    told = f"{what} ({' to '.join(instructions.counts(found))})"
    return f"{told}: {functions}" if functions else told
