"""The work folder: pages, fragments, charts, scripts and raw data as Hugo wants them, from one catalogue.

`content/` and `assets/` are read by Hugo; `static/` is published as it is. Raw rows are files of the site itself, so
that a number leads to its rows wherever the site is served.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from probe_effect.charts.draw import draw_svg, live_script
from probe_effect.exports.dictionary import data_package
from probe_effect.exports.facts import facts
from probe_effect.exports.guidance import guidance
from probe_effect.pages import site
from probe_effect.store.suite_file import own_headers, workload_source
from probe_effect.store.tables import FORMULA_START, csv_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue

FOLDERS = ("static", "assets", "content")
"""What the work folder holds, rebuilt from nothing each time; what others refer to comes first."""


def assemble(catalogue: Catalogue, work: Path) -> Iterator[str]:
    """Fill the empty `FOLDERS` of `work`, and say each step before it is taken."""
    yield "pages"
    for path, text in site.content(catalogue).items():
        _write(work / "content" / path, text)
    for name, text in site.fragment_files(catalogue).items():
        _write(work / "assets" / "fragments" / name, text)
    _write(work / "assets" / "facts.json", json.dumps(facts(catalogue), ensure_ascii=False, indent=1))
    _write(work / "assets" / "data" / "guidance.json", guidance(catalogue))
    charts = site.charts(catalogue)
    yield f"{len(charts)} charts"
    for chart in charts:
        _write_chart(chart, work)
    yield "raw data"
    _copy_scripts(catalogue, work)
    _copy_data(catalogue, work)
    _write(work / "static" / "data" / "datapackage.json", data_package(catalogue))
    _write(work / "static" / "js" / "vega.js", live_script())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_chart(chart: Chart, work: Path) -> None:
    assets, static = work / "assets" / "charts" / chart.name, work / "static" / "charts" / chart.name
    for layout, spec in chart.specs.items():
        svg = draw_svg(chart, layout)
        _write(assets / f"{layout}.svg", svg)
        _write(static / f"{layout}.svg", svg)
        _write(static / f"{layout}.json", json.dumps(spec, ensure_ascii=False, allow_nan=False))
    meta = {"title": chart.title, "sentence": chart.sentence} | ({"note": chart.note} if chart.note else {})
    _write(assets / "meta.json", json.dumps(meta, ensure_ascii=False))
    header = list(chart.rows[0]) if chart.rows else []
    lines = [csv_line(header), *(csv_line(safe_cell(row[name]) for name in header) for row in chart.rows)]
    _write(static / "data.csv", "".join(lines))


def safe_cell(value: str | float | None) -> str | float | None:
    """A cell that no spreadsheet runs: text that starts like a formula gets an apostrophe (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and FORMULA_START.match(value) else value


def _copy_scripts(catalogue: Catalogue, work: Path) -> None:
    for one in catalogue.suites:
        source = workload_source(one.folder, one.suite)
        # Another suite's workload lies with the scripts that it belongs to here; a header beside the suites, as there.
        places = {path: f"{one.suite.id}/{path.name}" for path in one.scripts()}
        places |= {source: f"{one.suite.id}/workload/{source.name}"}
        places |= {header: header.name for header in own_headers(source)}
        for path, place in places.items():
            for kind in ("assets", "static"):
                target = work / kind / "scripts" / place
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


def _copy_data(catalogue: Catalogue, work: Path) -> None:
    """Only files that were read and checked, each by its known name; `histogram.csv` waits for its columns."""
    published = work / "static" / "data" / "published"
    for source in catalogue.sources:
        _copy(source.folder, published / source.id, ("source.toml", "figures.csv"))
    for files in (*(one.files for one in catalogue.submissions), *(one.files for one in catalogue.counted)):
        target = work / "static" / "data" / "results" / files.machine / files.folder.name
        _copy(files.folder, target, ("samples.csv", "machine.json"))


def _copy(folder: Path, target: Path, names: tuple[str, ...]) -> None:
    target.mkdir(parents=True)
    for name in names:
        shutil.copyfile(folder / name, target / name)
