"""The files of every figure, and the picture and badge of every machine.

A figure has drawings, a picture, its spec and rows, the words around it, and a page that has them all.
"""

from collections.abc import Iterable
from pathlib import Path

from probe_effect.charts.badge import badge
from probe_effect.charts.draw import draw_framed, draw_png, draw_svg, pictures
from probe_effect.charts.site_card import machine_card, site_card
from probe_effect.charts.theme import LAYOUTS, Chart
from probe_effect.exports.files import write
from probe_effect.exports.table import json_of, rows_document, safe_cell
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import findings, machine_page, site, wording
from probe_effect.store.kept import Kept
from probe_effect.store.tables import csv_line

EMBEDDED_WORDS_PX = 150
"""Height of the words around the drawing, in the page that others embed."""


def write_figures(charts: Iterable[Chart], catalogue: Catalogue, work: Path) -> None:
    """Write the page of each chart into the work folder, and its files, but for the drawings."""
    for chart in charts:
        static = work / "static" / "charts" / chart.name
        write(work / "assets" / "charts" / chart.name / "meta.json", json_of(words(chart)))
        for layout in LAYOUTS:
            write(static / f"{layout}.json", json_of(chart.specs[layout]))
        write(static / "data.csv", csv_text(chart))
        write(static / "data.json", json_text(chart, catalogue))
        write(work / "content" / "charts" / f"{chart.name}.md", site.figure_page(chart, catalogue))


def write_drawings(charts: Iterable[Chart], work: Path, cache: Kept, version: str) -> None:
    """Write the drawings of each chart, for pages and to be taken away, and the picture of a link to other pages."""
    for chart in charts:
        assets, static = (work / kind / "charts" / chart.name for kind in ("assets", "static"))
        for layout in LAYOUTS:
            write(assets / f"{layout}.svg", draw_svg(chart, layout, cache))
            write(static / f"{layout}.svg", draw_framed(chart, layout, cache, version))
        for name in pictures(chart):
            write(static / f"{name}.png", draw_png(chart, name, cache, version))
    write(work / "static" / "og" / "site.png", draw_png(site_card(), "card", cache))


def words(chart: Chart) -> dict[str, str | int]:
    """The words of a chart for layouts, the height of its embedded form in px, and whether it has a card."""
    height = chart.specs["wide"]["height"] + EMBEDDED_WORDS_PX
    more = {"has_card": "card" in chart.specs, **({"note": chart.note} if chart.note else {})}
    return {"title": chart.title, "sentence": chart.sentence, "embed_height_px": height, **more}


def csv_text(chart: Chart) -> str:
    """The rows as CSV that no spreadsheet runs."""
    header = list(chart.rows[0]) if chart.rows else []
    return "".join([csv_line(header), *(csv_line(safe_cell(row[name]) for name in header) for row in chart.rows)])


def json_text(chart: Chart, catalogue: Catalogue) -> str:
    """The rows as JSON, with what they are and of which data; a missing value is null."""
    about = {"title": chart.title, "sentence": chart.sentence, "data_version": catalogue.version}
    return rows_document(about, map(json_of, chart.rows))


def machine_cards(catalogue: Catalogue) -> dict[str, Chart]:
    """Every machine whose times were measured, to the picture of a link to its page."""
    found = {}
    for machine, submissions in catalogue.numbers.machines().items():
        newest, costs = submissions[0], findings.briefly(machine, catalogue)
        found[machine] = machine_card(machine, names.machine_name(newest), wording.tier(newest.document), costs)
    return found


def write_machine_pictures(catalogue: Catalogue, work: Path, cache: Kept) -> None:
    """Write picture and badge of every machine whose times were measured, beside its page."""
    for machine, card in machine_cards(catalogue).items():
        write(work / "static" / machine_page.card(machine), draw_png(card, "card", cache))
        write(work / "static" / machine_page.badge(machine), badge(findings.briefly(machine, catalogue)))
