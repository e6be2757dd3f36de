"""The charts of a suite's counts: one tracer kernel by kernel, and one kernel tracer by tracer."""

from collections.abc import Sequence
from operator import attrgetter

from probe_effect.charts.dots import Dot, instruction_chart
from probe_effect.charts.panels import CountPoint, panels_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.kernels import Matrix, column_of, kernel_names, matrices, row_of
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import grouped_by
from probe_effect.pages import addresses
from probe_effect.pages.instructions import said_of, short, tracer
from probe_effect.reduce.submission import Number

NOTE = "Counts that are flagged, and those that are not above 0, are not drawn; the tables have them."


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart of the pages of architectures."""
    known = (found for found in matrices(catalogue) if found.architecture in names.ARCHITECTURES)
    return [chart for found in known for chart in charts_of(found)]


def charts_of(found: Matrix) -> list[Chart]:
    """Each case kernel by kernel and version by version, then the kernel with most tracers, tracer by tracer."""
    return [*_by_kernel(found), *_by_version(found), *_by_tracer(found)]


def _by_kernel(found: Matrix) -> list[Chart]:
    """A panel for each case that was counted on several kernels, with a line for each tracer."""
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
    return _panels(
        found, ("kernels", f"kernel, Linux {places[0]} to {places[-1]}"), sentence, points, places=places, series=series
    )


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
    page = addresses.architecture(found.architecture)
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
