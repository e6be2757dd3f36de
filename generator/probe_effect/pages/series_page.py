"""A few counts over every release of Linux: their charts, and what changed from one release to the next, in words."""

from functools import partial

from probe_effect import units
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.kernels import LEAST_CHANGE_RATIO, Matrix, column_of, explanation_of, series, series_changes
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import architecture
from probe_effect.pages import executed, instructions
from probe_effect.pages.kernel_changes import AFTER_MACHINES, by_kernel, short_names
from probe_effect.pages.markdown import page

UNKNOWN_ABOVE_RATIO = 0.05
"""Of smaller changes nobody looked for the cause, so that it is not said either that none was found."""

PAGE, FEED = "/kernels/series/", "/kernels/series.xml"


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart of the page."""
    return [chart for found in series(catalogue) for chart in _charts_of(found)]


def write(catalogue: Catalogue) -> str | None:
    """The page; None before any of its cells was counted."""
    each = [(found, _steps(found), _charts_of(found)) for found in series(catalogue)]
    if not each:
        return None
    front = {
        "title": "Over releases",
        "description": "A few probes counted on many releases of Linux, and what changed from one to the next.",
        "weight": AFTER_MACHINES + 1,
    }
    return page(
        "series.md.j2",
        front,
        each=each,
        heads=short_names,
        what=_what,
        why=partial(explanation_of, known=catalogue.explanations),
        least=units.stated(LEAST_CHANGE_RATIO, units.SHARE),
        unknown_above=UNKNOWN_ABOVE_RATIO,
        above=units.stated(UNKNOWN_ABOVE_RATIO, units.SHARE),
        feed=FEED,
        titles=catalogue.titles,
    )


def sentence(found: Comparison, among: Matrix) -> str:
    """`6.12.107 to 6.12.117, x86-64: Uprobe with libbpf 1.1 +3.1 % (1585 to 1634): return_thunk +8`."""
    return f"{_step(among, found)}, {architecture(among.architecture)}: {_what(found)}"


def _charts_of(found: Matrix) -> list[Chart]:
    return by_kernel(found, "releases", PAGE)


def _steps(found: Matrix) -> dict[str, list[Comparison]]:
    """The changes between two neighbouring releases, by the names of the two; the newest first."""
    return grouped_by(series_changes(found), partial(_step, found))


def _step(among: Matrix, found: Comparison) -> str:
    called = dict(zip(among.kernels, short_names(among), strict=True))
    return " to ".join(called[column_of(side).kernel] for side in (found.first, found.second))


def _what(found: Comparison) -> str:
    what = f"{found.second.title} with {instructions.tracer(found.second)} {instructions.change(found)}"
    functions = executed.changed(found.first, found.second)
    told = f"{what} ({' to '.join(instructions.counts(found))})"
    return f"{told}: {functions}" if functions else told
