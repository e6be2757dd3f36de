"""The diagrams as layouts draw them, and the files of every figure, picture and badge.

Costs in diagrams are from the home machine; what only another machine measured has the short id of that machine.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from probe_effect import units
from probe_effect.answer.answers import of_case
from probe_effect.answer.prediction import BANDS
from probe_effect.costs.evidence import Evidence, evidence_of
from probe_effect.costs.instructions import mechanism_of
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.names import Edition
from probe_effect.numbers.shown import in_order, shown_machines
from probe_effect.site.charts.draw import badge, draw_card, draw_framed, draw_svg, machine_card, site_card
from probe_effect.site.charts.svg import Inscription, diagram, framed
from probe_effect.site.charts.theme import LAYOUTS, Chart, source
from probe_effect.site.files import json_of, rows_document, safe_cell, write
from probe_effect.site.pages import addresses, machine_page, parts, site
from probe_effect.site.pages.case_answer import MARK
from probe_effect.store.kept import Kept
from probe_effect.store.tables import csv_line

WHOSE = "Costs are those of {machine}."
ESTIMATED = f"{MARK} marks what was estimated from counted instructions."

Drawing = dict[str, Any]  # a document of `site/diagrams/`, or one of its parts


def write_diagrams(catalogue: Catalogue, work: Path, folder: Path) -> None:
    """Write each diagram of `folder` for layouts, as `assets/diagrams/<name>.json`, and as a picture to take away."""
    for name, drawing in diagrams(catalogue, folder):
        write(work / "assets" / "diagrams" / f"{name}.json", json_of(drawing))
        sentence = f"{drawing['sentence']} {drawing['whose']}".strip()
        words = Inscription(drawing["title"], sentence, source(catalogue.version))
        write(work / "static" / "diagrams" / f"{name}.svg", framed(diagram(drawing), words, "wide"))


def diagrams(catalogue: Catalogue, folder: Path) -> Iterator[tuple[str, Drawing]]:
    """Name and content of each diagram: `whose` its costs are, and each cost with its `text` and `href`, if known."""
    evidence = evidence_of(catalogue)
    shown = shown_machines(catalogue.numbers)
    labels = {
        submission.machine: names.machine_name(submission)
        for submission in in_order(catalogue.numbers)
        if submission.machine in shown
    }
    for path in sorted(folder.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        tables = list(_tables(document))
        asked = [request for table in tables for request in table.get("cost", ())]
        by_machine = {machine: costs for machine in labels if (costs := _costs(evidence, machine, asked))}
        machine = next(iter(by_machine), "")
        own = by_machine.pop(machine, {})
        # Others' measured costs have the short id of their machine; of several the one that has most goes first.
        others: dict[str, Drawing] = {}
        for other in sorted(by_machine, key=lambda other: len(by_machine[other])):
            at = f" ({names.short_id(other)})"
            others |= {key: cost | {"text": cost["text"] + at} for key, cost in _measured(by_machine[other]).items()}
        costs = own | others | _measured(own)
        for table in tables:
            if "cost" in table:
                table["cost"] = _chosen(table["cost"], costs)
            if table.pop("has_bands", False):
                table["rows"] += [{"when": band.range, "what": band.recommendation} for band in BANDS]
        whose = [WHOSE.format(machine=labels[machine])] if costs else []
        marked = [ESTIMATED] if any(cost["text"].startswith(MARK) for cost in costs.values()) else []
        yield path.stem, document | {"whose": " ".join([*whose, *marked])}


def _measured(costs: Mapping[str, Drawing]) -> dict[str, Drawing]:
    return {key: cost for key, cost in costs.items() if not cost["text"].startswith(MARK)}


def _tables(part: object) -> Iterator[Drawing]:
    """Every table of a diagram, itself and those within; one may ask for a `cost` of some, as `tracer.case`."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    for child in part if isinstance(part, list) else ():
        yield from _tables(child)


def _chosen(asked: Sequence[str], costs: Mapping[str, Drawing]) -> Drawing | None:
    """The first measured cost of those that a part asks for, else the first; of another tracer it names that."""
    answered = sorted(
        (request for request in asked if request in costs), key=lambda request: costs[request]["text"].startswith(MARK)
    )
    if not answered:
        return None
    (tracer, _, _), (usual, _, _) = answered[0].partition("."), asked[0].partition(".")
    cost = costs[answered[0]]
    return cost if tracer == usual else cost | {"text": f"{cost['text']}, {tracer}"}


def _costs(evidence: Evidence, machine: str, asked: Sequence[str]) -> dict[str, Drawing]:
    """The costs that a machine knows of those asked for, made as it is asked: `bpftrace.03-uprobe-nop5 called`.

    A measured one is its value with its address; an estimated one its interval, which spans a factor of two.
    """
    costs: dict[str, Drawing] = {}
    for request in asked:
        key, _, mechanism = request.partition(" ")
        tracer, case = key.split(".", 1)
        row = of_case(evidence, case, machine, tracer)
        if row is None or mechanism not in {"", mechanism_of(evidence.case_of[case], row.counted or row.added[0])}:
            continue
        if row.basis == "measured":
            text, href = units.value(row.cost, units.DURATION), addresses.number(row.added[0], "cost")
        else:
            text, href = f"{MARK} {units.span(row.cost, units.DURATION)}", addresses.case(row.name)
        costs[request] = {"text": text, "href": href}
    return costs


EMBEDDED_WORDS_PX = 150  # height of the words around the drawing, in the page that others embed


def write_figures(charts: Iterable[Chart], catalogue: Catalogue, work: Path) -> None:
    for position, chart in enumerate(charts, 1):
        static = work / "static" / "charts" / chart.name
        height = chart.specs["wide"]["height"] + EMBEDDED_WORDS_PX
        words = {"title": chart.title, "sentence": chart.sentence, "embed_height_px": height}
        words |= {"has_card": "card" in chart.specs} | ({"note": chart.note} if chart.note else {})
        write(work / "assets" / "charts" / chart.name / "meta.json", json_of(words))
        for layout in LAYOUTS:
            write(static / f"{layout}.json", json_of(chart.specs[layout]))
        cells = (map(safe_cell, row.values()) for row in chart.rows)
        write(static / "data.csv", "".join(map(csv_line, (chart.rows[0] if chart.rows else (), *cells))))
        about = {"title": chart.title, "sentence": chart.sentence, "data_version": catalogue.version}
        write(static / "data.json", rows_document(about, map(json_of, chart.rows)))
        write(work / "content" / "charts" / f"{chart.name}.md", site.figure_page(chart, catalogue, position))


def write_drawings(charts: Iterable[Chart], work: Path, cache: Kept, version: str) -> None:
    for chart in charts:
        assets, static = (work / kind / "charts" / chart.name for kind in ("assets", "static"))
        for layout in LAYOUTS:
            write(assets / f"{layout}.svg", draw_svg(chart, layout, cache))
            write(static / f"{layout}.svg", draw_framed(chart, layout, cache, version))
        if "card" in chart.specs:
            write(static / "card.png", draw_card(chart, cache))


def with_pictures(charts: Iterable[Chart], edition: Edition) -> list[Chart]:
    """Charts with their cards where it is known where the site will be: the picture of a link needs a whole address."""
    if edition.has_address:
        return list(charts)
    return [replace(chart, specs={layout: chart.specs[layout] for layout in LAYOUTS}) for chart in charts]


def cards(catalogue: Catalogue) -> list[Chart]:
    """The pictures of links that are no charts: the site's own, and one for each machine."""
    return [site_card(), *machine_cards(catalogue).values()] if catalogue.edition.has_address else []


def machine_cards(catalogue: Catalogue) -> dict[str, Chart]:
    cards = {}
    for machine, (newest, *_) in catalogue.numbers.machines().items():
        costs = machine_page.briefly(machine, catalogue)
        cards[machine] = machine_card(machine, names.machine_name(newest), parts.tier(newest.document), costs)
    return cards


def write_pictures(catalogue: Catalogue, work: Path, cache: Kept) -> None:
    """The badge of each machine, and the pictures of links."""
    for machine in catalogue.numbers.machines():
        write(work / "static" / machine_page.badge(machine), badge(machine_page.briefly(machine, catalogue)))
    if catalogue.edition.has_address:
        write(work / "static" / "og" / "site.png", draw_card(site_card(), cache))
        for machine, card in machine_cards(catalogue).items():
            write(work / "static" / machine_page.card(machine), draw_card(card, cache))
