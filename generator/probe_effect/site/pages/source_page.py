"""A page per published source: what it is, its figures, and whether they follow from one another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.compare.agreement import Pairing, of_source, orders
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.published import Recomputed, with_unit
from probe_effect.records import beside
from probe_effect.site.charts.dots import Dot, cost_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, citing, comparison, links, parts
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Pieces, Table, columns, of_data, section
from probe_effect.site.pages.text import bracketed, link, listed, safe, say
from probe_effect.store.beside_files import GRADES, Figure

FACTS = beside(__file__)
READ: dict[str, str] = FACTS["read"]
MAX_GRID_COLUMNS = 4


class FigureGroup(NamedTuple):
    """Figures under one heading; a grid by platform where the same things were measured on several."""

    heading: str
    figures: Sequence[Figure]
    platforms: Sequence[str]


def write(source: PublishedSource, catalogue: Catalogue) -> str:
    note = (
        "One figure has an address of its own: follow the figure in its table, and cite the address that you come to. "
        "On the command line, probe-effect cite takes the source and the figure with # between."
    )
    front = {
        "title": source.document.title,
        "kind": "source",
        "open": 2,
        "kicker": parts.source_label(source.document),
        "description": source.sentence(source.document.summary),
        **citing.front(citing.cite_source(source, catalogue)),
        "cite_note": note,
    }
    return parts.page(front, _parts(source, catalogue))


def _parts(source: PublishedSource, catalogue: Catalogue) -> Iterator[Part]:
    document, suites = source.document, catalogue.by_suite
    yield source.sentence(document.summary)
    yield from (parts.chart(chart.name) for chart in charts(catalogue, source))
    if source.from_excerpt:
        seen = "These figures were seen; the rest of the page was not. Check the source before citing them."
        yield say("**Known only from an excerpt.** {}", seen)
    reading = f"{READ[document.read]} (grade {document.grade}: {GRADES[document.grade]})"
    facts = {label: getattr(document, name) for label, name in FACTS["facts"].items()}
    yield from section("What it is", Table.of_facts(facts | {"Known to us": reading}))
    findings = [source.sentence(finding.sentence) for finding in document.findings]
    yield from section("Where it disagrees", Items(findings))
    yield from section("What to know before using it", Items([source.sentence(remark) for remark in document.remarks]))
    repeated = []
    for repetition in document.repeated:
        here = listed(
            links.suite(name, suites[name].suite.title) if name in suites else name for name in repetition.suites
        )
        repeated.append(
            (repetition.what, here or "not done", source.sentence(repetition.note) if repetition.note else "")
        )
    again = Table(columns("done-there", "done-here", "done-note"), repeated)
    yield from section("What of it is done again here", again if repeated else None)
    yield Heading("Its figures")
    yield say(
        "A figure in italics, or with ‡ in the sentences above, is derived: worked out here from what was printed."
    )
    if source.recomputed:
        differing = sum(result.verdict == "differs" for result in source.recomputed.values())
        yield say(
            "Each figure that follows from others is computed again from them: {} of {} came out differently. "
            "“Close” means within the rounding of what was printed.",
            units.count(differing) if differing else "none",
            units.count(len(source.recomputed)),
        )
    else:
        yield "None of these figures follows from others that the source prints, so nothing could be computed again."
    for group in groups(source.figures):
        platforms = {figure.platform for figure in group.figures}
        platform = platforms.pop() if len(platforms) == 1 else None
        yield Heading(group.heading, 3)
        yield say("For all of them: {}.", platform) if platform else None
        if group.platforms:
            yield grid(group, catalogue.titles, lambda figure: _in_grid(figure, source))
        else:
            rows = [_row(figure, source, has_platform=not platform) for figure in group.figures]
            yield Table(columns("what", "printed", "recomputed", "figure-grade"), rows)
    yield from _measured(of_source(catalogue, source), source)
    yield say("All figures as data: {}.", source_files(source))


def source_files(source: PublishedSource) -> Markup:
    return listed(link(name, f"/data/published/{source.id}/{name}") for name in ("figures.csv", "source.toml"))


def grid(group: FigureGroup, titles: Mapping[str, str], cell: Callable[[Figure], object]) -> Table:
    """Figures that were printed for several platforms, or one below the other where they form no grid."""
    if not group.platforms:
        below = [(titles.get(entry.what, entry.what), cell(entry)) for entry in group.figures]
        return Table([of_data("", "left"), of_data("")], below)
    rows = []
    for what, own in grouped_by(zip(_rows(group.figures), group.figures, strict=True), itemgetter(0)).items():
        figures = {figure.platform or "": figure for _, figure in own}
        cells = (cell(figures[name]) if name in figures else "" for name in group.platforms)
        rows.append((titles.get(what, what), *cells))
    return Table([of_data("", "left"), *map(of_data, group.platforms)], rows)


def _in_grid(figure: Figure, source: PublishedSource) -> Pieces:
    outcome = _verdict(source.recomputed.get(figure.figure))
    anchor = Link(shown(figure), f"#={figure.figure}")
    return Pieces([anchor, say(" ({})", outcome)] if outcome not in {"", "agrees"} else [anchor])


def _row(figure: Figure, source: PublishedSource, *, has_platform: bool) -> Sequence[object]:
    what = bracketed(figure.what, figure.platform if has_platform else None)
    what = say("{}. {}", what, figure.note) if figure.note else what
    anchor, is_printed = Link(shown(figure), f"#={figure.figure}"), figure.printed is not None
    printed = anchor if is_printed else Pieces([safe("*"), anchor, safe("*")])
    return what, printed, _verdict(source.recomputed.get(figure.figure)), figure.grade


def _measured(pairings: Sequence[Pairing], source: PublishedSource) -> Iterator[Part]:
    if not pairings:
        return
    rows: list[Sequence[object]] = []
    ratios = comparison.ratios(pairings)
    for key, own in grouped_by(pairings, lambda pairing: (source.id, pairing.figure.figure)).items():
        figure, number = own[0].figure, own[0].measured
        cost = units.duration(None if figure.cost_ns is None else float(figure.cost_ns))
        derived = " (derived)" if figure.cost_from == "derived" else ""
        printed = Pieces([cost, derived, ", excerpt only" if source.from_excerpt else ""])
        ends = (
            pick((pairing.measured for pairing in own), key=lambda measured: measured.known_cost.value)
            for pick in (min, max)
        )
        ours = [
            links.number(measured, "cost", units.duration(measured.known_cost.value))
            for measured in dict.fromkeys(ends)
        ]
        machines = list(dict.fromkeys(names.machine_name(pairing.measured.submission) for pairing in own))
        where = f" on {len(machines)} machines" if len(machines) > 1 else f" on {machines[0]}"
        what = links.case(number.case, number.title), figure.platform or figure.what
        rows.append((*what, printed, Pieces([*Pieces.joined(ours, " to "), where]), ratios[key]))
    yield Heading("Measured here")
    yield Table(columns("case", "published-for", "published", "measured-here", "measured-published"), rows)
    yield (
        "With the same tool, the least and the greatest of so many machines and versions, which the page of the case "
        "has one by one. Machines, kernels and methods differ, so the ratio says how far apart the two are, not which "
        "of them is right; they are never averaged."
    )
    if of_platforms := orders(source, pairings):
        rows = []
        for platform, alike in grouped_by(of_platforms, attrgetter("platform")).items():
            order = max(alike, key=lambda platform_order: len(platform_order.pairings))
            number = order.pairings[0].measured
            measured_on = links.machine(number.submission), names.tool_with_version(number)
            pairs = f"{units.count(len(order.pairings))} of {units.count(order.published)}"
            chance, every = comparison.chance_of_order(order), comparison.correlations(alike)
            rows.append((platform, *measured_on, pairs, comparison.rank_correlation(order), chance, every))
        means = "is 1 where published and measured costs are in one order, and −1 in the opposite one"
        yield Heading("Do both order the cases alike?", 3)
        yield f"{comparison.extent(of_platforms)} Kendall’s rank correlation {means}."
        on, over = ("on", "Measured here on"), ("correlation", "Over all machines and versions")
        yield Table(columns("published-on", on, "with", "pairs", "correlation", "chance", over), rows)


def groups(figures: Sequence[Figure]) -> list[FigureGroup]:
    by_heading = grouped_by(figures, lambda figure: figure.group)
    return [FigureGroup(heading, own, _platforms(own)) for heading, own in by_heading.items()]


def _rows(figures: Sequence[Figure]) -> list[str]:
    """The row of each figure: its case where all have one, which joins what tools call differently."""
    cases = [figure.case for figure in figures if figure.case is not None]
    return cases if len(cases) == len(figures) else [figure.what for figure in figures]


def _platforms(figures: Sequence[Figure]) -> tuple[str, ...]:
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


def _verdict(recomputed: Recomputed | None) -> str:
    if recomputed is None:
        return ""
    if recomputed.figure.printed is None:
        return "derived by us"
    if recomputed.verdict == "agrees":
        return "agrees"
    value = with_unit(float(recomputed.value), recomputed.figure.unit)
    return f"{value}, close" if recomputed.verdict == "close" else f"differs: {value}"


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
    ends = parts.from_to([dot.cost.value for dot in dots])
    title = f"One event costs {ends}, as published: {parts.source_label(source.document)}"
    return [cost_chart(f"costs-{source.id}", title, sentence, dots, page=addresses.figure(source.id))]
