"""A page per published source: what it is, its figures, and whether they follow from one another."""

from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.agreement import of_source, orders
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.published import Recomputed, with_unit
from probe_effect.pages import addresses, citing, wording
from probe_effect.pages.markdown import page
from probe_effect.store.beside_files import GRADES, Figure
from probe_effect.toml import beside

_FILE = beside(__file__)
READ: dict[str, str] = _FILE["read"]

MAX_GRID_COLUMNS = 4

FIGURE_NOTE = (
    "One figure has an address of its own: follow the figure in its table, and cite the address that you come to. "
    "On the command line, probe-effect cite takes the source and the figure with # between."
)


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Figures under one heading; a grid by platform where the same things were measured on several."""

    heading: str
    figures: tuple[Figure, ...]
    platforms: tuple[str, ...]

    def rows(self) -> dict[str, dict[str, Figure]]:
        """The figures by what was measured, and then by platform."""
        rows: dict[str, dict[str, Figure]] = {}
        for name, figure in zip(_rows(self.figures), self.figures, strict=True):
            rows.setdefault(name, {})[figure.platform or ""] = figure
        return rows

    @property
    def platform(self) -> str | None:
        """The one platform of all its figures, when there is just one."""
        found = {figure.platform for figure in self.figures}
        return found.pop() if len(found) == 1 else None


def write(source: PublishedSource, catalogue: Catalogue) -> str:
    """The page of `source`, with what was measured of the same."""
    document, pairings = source.document, of_source(catalogue, source)
    front = {
        "title": document.title,
        "kind": "source",
        "kicker": wording.source_label(document),
        "description": source.sentence(document.summary),
        **citing.front(citing.cite_source(source, catalogue)),
        "cite_note": FIGURE_NOTE,
    }
    facts = {label: getattr(document, name) for label, name in _FILE["facts"].items()}
    facts["Known to us"] = f"{READ[document.read]} (grade {document.grade}: {GRADES[document.grade]})"
    return page(
        "source.md.j2",
        front,
        source=source,
        document=document,
        facts=facts,
        groups=groups(source.figures),
        printed=shown,
        recomputed=lambda figure: verdict(source.recomputed.get(figure.figure)),
        differing=sum(one.verdict == "differs" for one in source.recomputed.values()),
        charts=[chart.name for chart in charts(catalogue, source)],
        pairings=pairings,
        orders=orders(source, pairings),
        titles=catalogue.titles,
        suites={folder.suite.id: folder.suite.title for folder in catalogue.suites},
    )


def groups(figures: Sequence[Figure]) -> list[FigureGroup]:
    """Figures by heading, in the order given."""
    by_heading = grouped_by(figures, lambda figure: figure.group)
    return [FigureGroup(heading, tuple(own), _platforms(own)) for heading, own in by_heading.items()]


def _rows(figures: Sequence[Figure]) -> list[str]:
    """The row of each figure: its case where all have one, which joins what tools call differently."""
    cases = [figure.case for figure in figures if figure.case is not None]
    return cases if len(cases) == len(figures) else [figure.what for figure in figures]


def _platforms(figures: Sequence[Figure]) -> tuple[str, ...]:
    """The columns of a grid; empty when the figures do not form one."""
    places = [(row, figure.platform or "") for row, figure in zip(_rows(figures), figures, strict=True)]
    platforms = tuple(dict.fromkeys(platform for _, platform in places))
    rows = len({row for row, _ in places})
    is_grid = len(set(places)) == len(places) and len(platforms) > 1 and len(places) * 2 > rows * len(platforms)
    return platforms if is_grid and rows > 1 and len(platforms) <= MAX_GRID_COLUMNS else ()


def shown(figure: Figure) -> str:
    """A figure as a table shows it: as printed, with the unit added where the source prints a bare number."""
    if figure.printed is None:
        return with_unit(float(figure.value), figure.unit)
    is_bare = figure.printed.replace(".", "").replace(",", "").replace(" ", "").isdigit()
    if not is_bare or figure.unit == "count":
        return figure.printed
    return f"{figure.printed}\u00a0{'%' if figure.unit == 'percent' else figure.unit}"


def verdict(found: Recomputed | None) -> str:
    """How a recomputation came out, in words; empty where there is nothing to recompute from."""
    if found is None:
        return ""
    if found.figure.printed is None:
        return "derived by us"
    if found.verdict == "agrees":
        return "agrees"
    value = with_unit(float(found.value), found.figure.unit)
    return f"{value}, close" if found.verdict == "close" else f"differs: {value}"


def baselines(source: PublishedSource) -> dict[str, float]:
    """Platform (empty when not named) to its baseline per operation, ns: the same cost is another per cent on each."""
    return {
        figure.platform or "": float(figure.baseline_ns) for figure in source.figures if figure.baseline_ns is not None
    }


@once
def charts(catalogue: Catalogue, source: PublishedSource) -> list[Chart]:
    """The chart of its costs per event as dots; empty where it prints fewer than two."""
    costs = [(figure, float(figure.cost_ns)) for figure in source.figures if figure.cost_ns and figure.cost_ns > 0]
    dots = [
        Dot(catalogue.titles.get(row, row), figure.platform or source.document.title, Estimate(cost_ns))
        for row, (figure, cost_ns) in zip(_rows([figure for figure, _ in costs]), costs, strict=True)
    ]
    if len(dots) < 2:
        return []
    largest = max(dots, key=lambda dot: dot.cost.value)
    sentence = f"The highest is {largest.label} ({largest.series}) at {units.duration(largest.cost.value)} an event."
    if source.from_excerpt:
        sentence += " Known only from an excerpt."
    ends = wording.from_to([dot.cost.value for dot in dots])
    title = f"One event costs {ends}, as published: {wording.source_label(source.document)}"
    return [cost_chart(f"costs-{source.id}", title, sentence, dots, page=addresses.figure(source.id))]
