"""The work folder: pages, fragments, charts, scripts and raw data as Hugo wants them, from one catalogue.

`content/` and `assets/` are read by Hugo; `static/` is published as it is. Raw rows are files of the site itself, so
that a number leads to its rows wherever the site is served.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from probe_effect.charts.draw import live_script
from probe_effect.charts.pictures import badge, site_card
from probe_effect.compare.subjects import subjects
from probe_effect.exports.advising import ADVISING, FIRST, advise_files
from probe_effect.exports.compare_shards import INDEX, compare_files
from probe_effect.exports.data_section import write_data_section
from probe_effect.exports.explore import FORM, MATRIX, explore_files, matrix_file
from probe_effect.exports.facts import asked_ratios, facts, verdicts
from probe_effect.exports.figures import (
    machine_cards,
    write_diagrams,
    write_drawings,
    write_figures,
    write_machine_pictures,
)
from probe_effect.exports.files import copy, write
from probe_effect.exports.labels import labels, tracer_looks, transcript_values
from probe_effect.exports.releases import copy_releases, feed
from probe_effect.exports.script_values import guidance_files, machine_values, script_json
from probe_effect.exports.workers import drawing
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import site, tracer_page
from probe_effect.store.kept import Kept
from probe_effect.store.places import own_headers
from probe_effect.store.suite_file import workload_source

FOLDERS = ("static", "assets", "content")
"""The parts of the work folder, rebuilt from nothing each time; what others refer to comes first."""

LIST = "machines.json"
"""All machines, which a page loads when its reader asks for one that the form does not offer from the start."""

OF_LAYOUTS = frozenset({ADVISING, FIRST, FORM, INDEX, MATRIX})
"""The data of scripts that layouts read, and publish beside the others."""


def assemble(catalogue: Catalogue, work: Path, cache: Kept, project: Path) -> Iterator[str]:
    """Fill the empty `FOLDERS` of `work`, and say each step before it is taken.

    `project` is the checkout with the hand-written pages, which say what ratios they quote, and the diagrams.
    """
    yield "pages"
    charts = site.charts(catalogue)
    with drawing([*charts, site_card(), *machine_cards(catalogue).values()], cache, catalogue.version):
        _write_pages(catalogue, work, project / "content")
        write_figures(charts, catalogue, work)
        write_diagrams(catalogue, work, project / "site" / "diagrams", cache)
        yield "raw data"
        _copy_scripts(catalogue, work)
        _copy_data(catalogue, work)
        write(work / "static" / "data" / "changes.xml", feed(catalogue))
        write_data_section(catalogue, work)
        copy_releases(catalogue, work / "static" / "releases")
        yield f"{len(charts)} charts"
    write_drawings(charts, work, cache, catalogue.version)
    write_machine_pictures(catalogue, work, cache)
    write(work / "static" / "js" / "vega.js", live_script(cache))


def _write_pages(catalogue: Catalogue, work: Path, content: Path) -> None:
    """Pages with their fragments, and what layouts and scripts read of all data."""
    static, assets = work / "static", work / "assets"
    for path, text in chain(site.content(catalogue), tracer_page.write_plain(content)):
        write(work / "content" / path, text)
    for name, pages in site.number_pages(catalogue):
        write(assets / "numbers" / name, pages)
    for name, text in site.fragment_files(catalogue).items():
        write(assets / "fragments" / name, text)
    quoted = facts(catalogue, asked_ratios(content))
    write(assets / "facts.json", json.dumps(quoted, ensure_ascii=False))
    examples = {name: asdict(found) for name, found in site.citations(catalogue).items()}
    write(assets / "citations.json", json.dumps(examples, ensure_ascii=False))
    write(assets / "labels.json", json.dumps(labels(catalogue), ensure_ascii=False))
    write(assets / "transcripts.json", json.dumps(transcript_values(catalogue), ensure_ascii=False))
    references = [one.model_dump() for one in catalogue.references]
    write(assets / "references.json", json.dumps(references, ensure_ascii=False))
    write(assets / "claims.json", json.dumps(verdicts(catalogue), ensure_ascii=False))
    for one in verdicts(catalogue):
        write(static / "claims" / f"{one['id']}.svg", badge([(one["id"], one["verdict"])]))
    for name, text in script_data(catalogue):
        write((assets if name in OF_LAYOUTS else static) / "data" / name, text)
    for kind in (assets, static):
        write(kind / "data" / "tracer-looks.json", json.dumps(tracer_looks(catalogue)))


def script_data(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Every file that the scripts of pages load, in the order of their pages: its name below `/data/` and its text."""
    machines = subjects(catalogue)
    yield LIST, script_json([machine_values(one) for one in machines])
    yield from guidance_files(catalogue)
    yield from advise_files(catalogue)
    yield from matrix_file(catalogue, machines)
    yield from explore_files(catalogue, machines)
    yield from compare_files(catalogue, machines)


def _copy_scripts(catalogue: Catalogue, work: Path) -> None:
    for one in catalogue.suites:
        source = workload_source(one.folder, one.suite)
        # Another suite's workload lies with the scripts that it belongs to here; a header beside the suites, as there.
        places = {path: f"{one.suite.id}/{path.name}" for path in one.scripts()}
        places |= {source: f"{one.suite.id}/workload/{source.name}"}
        places |= {header: header.name for header in own_headers(source)}
        for path, place in places.items():
            for kind in ("assets", "static"):
                copy(path, work / kind / "scripts" / place)


def _copy_data(catalogue: Catalogue, work: Path) -> None:
    """Only files that were read and checked, each by its known name."""
    data = work / "static" / "data"
    for source in catalogue.sources:
        for name in ("source.toml", "figures.csv"):
            copy(source.folder / name, data / "published" / source.id / name)
    for one in catalogue.everything:
        for path in one.files.content:
            copy(path, data / "results" / one.id / path.name)
