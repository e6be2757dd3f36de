"""The work folder: pages, fragments, charts, scripts and raw data as Hugo wants them, from one catalogue.

`content/` and `assets/` are read by Hugo; `static/` is published as it is. Raw rows are files of the site itself, so
that a number leads to its rows wherever the site is served.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING

from probe_effect.charts.draw import live_script
from probe_effect.exports.data_section import write_data_section
from probe_effect.exports.facts import asked_ratios, facts
from probe_effect.exports.feed import feed
from probe_effect.exports.figures import write_figures
from probe_effect.exports.labels import labels
from probe_effect.exports.looks import tracer_looks
from probe_effect.exports.release import copy_releases
from probe_effect.exports.script_data import OF_LAYOUTS, script_data
from probe_effect.exports.social import write_site_card
from probe_effect.pages import site
from probe_effect.store.suite_file import own_headers, workload_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.kept import Kept

FOLDERS = ("static", "assets", "content")
"""What the work folder holds, rebuilt from nothing each time; what others refer to comes first."""


def assemble(catalogue: Catalogue, work: Path, cache: Kept, content: Path) -> Iterator[str]:
    """Fill the empty `FOLDERS` of `work`, and say each step before it is taken.

    Args:
        cache: drawings of earlier builds.
        content: the hand-written pages, which say what ratios they quote.
    """
    yield "pages"
    for path, text in site.content(catalogue):
        _write(work / "content" / path, text)
    for name, pages in site.number_pages(catalogue):
        target = work / "assets" / "numbers" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(pages)
    for name, text in site.fragment_files(catalogue).items():
        _write(work / "assets" / "fragments" / name, text)
    quoted = facts(catalogue, asked_ratios(content))
    _write(work / "assets" / "facts.json", json.dumps(quoted, ensure_ascii=False))
    examples = {name: asdict(found) for name, found in site.citations(catalogue).items()}
    _write(work / "assets" / "citations.json", json.dumps(examples, ensure_ascii=False))
    _write(work / "assets" / "labels.json", json.dumps(labels(catalogue), ensure_ascii=False))
    for name, text in script_data(catalogue):
        _write(work / ("assets" if name in OF_LAYOUTS else "static") / "data" / name, text)
    charts = site.charts(catalogue)
    yield f"{len(charts)} charts"
    write_figures(charts, catalogue, work, cache)
    write_site_card(work, cache)
    for kind in ("assets", "static"):
        _write(work / kind / "data" / "tracer-looks.json", tracer_looks(catalogue))
    yield "raw data"
    _copy_scripts(catalogue, work)
    _copy_data(catalogue, work)
    _write(work / "static" / "data" / "changes.xml", feed(catalogue))
    write_data_section(catalogue, work)
    copy_releases(catalogue, work / "static" / "releases")
    _write(work / "static" / "js" / "vega.js", live_script(cache))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


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
    for files in (one.files for one in catalogue.everything):
        target = work / "static" / "data" / "results" / files.machine / files.folder.name
        _copy(files.folder, target, ("samples.csv", "machine.json"))


def _copy(folder: Path, target: Path, names: tuple[str, ...]) -> None:
    target.mkdir(parents=True)
    for name in names:
        shutil.copyfile(folder / name, target / name)
