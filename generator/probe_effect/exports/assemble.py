"""The work folder: pages, fragments, charts, scripts and data as Hugo takes them, and as `/data/` publishes them.

`content/` and `assets/` are read by Hugo; `static/` is published as it is. Raw rows are files of the site itself, so
that a number leads to its rows wherever the site is served.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq

from probe_effect import units
from probe_effect.charts.draw import badge, live_script, site_card
from probe_effect.checks.run import ALL_RULES
from probe_effect.compare.subjects import subjects
from probe_effect.errors import ProbeEffectError
from probe_effect.exports import data_folder
from probe_effect.exports.advising import ADVISING, FIRST, advise_files
from probe_effect.exports.costs import cost_files
from probe_effect.exports.data_folder import ZIP
from probe_effect.exports.explore import FORM, MATRIX, explore_files, matrix_file
from probe_effect.exports.facts import asked_for, facts, verdicts
from probe_effect.exports.figures import (
    machine_cards,
    write_diagrams,
    write_drawings,
    write_figures,
    write_machine_pictures,
)
from probe_effect.exports.files import LICENCE, WORDS, DataTable, Field, copy, forms, write
from probe_effect.exports.labels import labels, tracer_looks, transcript_values
from probe_effect.exports.page_data import page_tables, rows, write_page_data
from probe_effect.exports.releases import copy_releases, feed, series_feed
from probe_effect.exports.script_values import INDEX, compare_files, guidance_files, machine_values, script_json
from probe_effect.exports.workers import drawing
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import site, tracer_page
from probe_effect.pages.markdown import render
from probe_effect.store.dictionary import FORM_RULES
from probe_effect.store.kept import Kept
from probe_effect.store.places import own_headers, sha256
from probe_effect.store.suite_file import workload_source

QUERY = WORDS["query"]
"""What one tracepoint costs with each tracer, over all machines of a tier: names of files are relative to `/data/`."""


@dataclass(frozen=True, slots=True)
class Download:
    """One thing to download in one form or several: the name of each file, to its bytes."""

    title: str
    rows: int | None
    files: Mapping[str, int]


def write_data_section(catalogue: Catalogue, work: Path) -> None:
    """Write the data files beside pages and those of `/data/` into the work folder; raw files are there already."""
    static, assets = work / "static", work / "assets"
    data, found = static / "data", rows(catalogue)
    index = write_page_data(page_tables(catalogue, found), catalogue, static)
    data_folder.copy_suites(catalogue.suites, data)
    tables = data_folder.write_tables(catalogue, found, data)
    data_folder.describe(catalogue, tables, data)
    data_folder.write_archive(tables, data)
    data_folder.write_sums(tables, static)
    write(assets / "data" / "page-files.json", index)
    write(assets / "data" / "dataset.json", dataset(catalogue, tables, data))
    fragments = {
        "downloads": render("fragments/downloads.md.j2", downloads=list(_downloads(tables, data))),
        "query": render("fragments/query.md.j2", query=QUERY.strip(), rows=_answer(data)),
        "rules": render("fragments/rules.md.j2", rules=ALL_RULES, of_files=FORM_RULES),
        "table-columns": data_folder.columns(tables),
    }
    for name, text in fragments.items():
        write(assets / "fragments" / f"{name}.md", text)


def _downloads(tables: Mapping[str, DataTable], data: Path) -> Iterator[Download]:
    yield Download("Everything", None, _sizes([data / data_folder.ZIP]))
    for name, table in tables.items():
        yield Download(table.title, table.size, _sizes(forms(name, data)))
    for name, what in WORDS["further"].items():
        yield Download(what, None, _sizes([data / name]))


def _sizes(paths: Iterable[Path]) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in paths}


def _answer(data: Path) -> list[tuple[str, ...]]:
    """The rows that `QUERY` gives as words, asked of the very file that is published.

    Without an engine for SQL, which a build would need for nothing else; a test has DuckDB answer it too.
    """
    clear = [("case", "=", "04-tracepoint-entry"), ("current", "=", True), ("distinguishable", "=", True)]
    costs: dict[tuple[str, str], list[float]] = {}
    for row in pq.read_table(data / "costs.parquet", filters=clear).to_pylist():
        if row["reconciled"] is not False:
            costs.setdefault((row["tier"], row["tracer"]), []).append(row["cost_ns"])
    rows = sorted(
        ((tier, median(found), tracer, found) for (tier, tracer), found in costs.items()), key=itemgetter(0, 1, 2)
    )
    return [
        (tier, tracer, units.count(len(found)), *map(units.duration, (min(found), middle, max(found))))
        for tier, middle, tracer, found in rows[:20]
    ]


def dataset(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> str:
    """The data set as search engines know it, with its downloads in `data`, as JSON; only layouts know addresses.

    https://schema.org/Dataset, and Google: https://developers.google.com/search/docs/appearance/structured-data/dataset
    """
    whole = (path for name in tables for path in forms(name, data))
    days = sorted(one.date for one in catalogue.active)
    described = {
        "@type": "Dataset",
        "name": WORDS["title"],
        "description": WORDS["summary"],
        "license": LICENCE["url"],
        "creator": {"@type": "Organization", "name": LICENCE["creator"]},
        "version": catalogue.version,
        "dateModified": catalogue.edition.date,
        "temporalCoverage": f"{days[0]}/{days[-1]}" if days else "",
        "keywords": WORDS["keywords"],
        "measurementTechnique": WORDS["technique"],
        "variableMeasured": _variables(field for name in ("costs", "counts") for field in tables[name].fields),
        "isAccessibleForFree": True,
        "distribution": [_download(path) for path in (data / ZIP, *whole)],
    }
    return json.dumps({key: value for key, value in described.items() if value != ""}, ensure_ascii=False)


def _variables(fields: Iterable[Field]) -> list[dict[str, str]]:
    """Each quantity that has a unit, once."""
    found = {field.name: field for field in fields if field.unit}
    return [
        {"@type": "PropertyValue", "name": name, "unitText": field.unit or "", "description": field.text}
        for name, field in found.items()
    ]


def _download(path: Path) -> dict[str, str]:
    return {
        "@type": "DataDownload",
        "name": path.name,
        "encodingFormat": WORDS["media_types"][path.suffix.removeprefix(".")],
        "contentUrl": f"/data/{path.name}",
        "contentSize": units.size(path.stat().st_size).replace(units.GAP, " "),
        "sha256": sha256(path),
    }


FOLDERS = ("static", "assets", "content")
"""The parts of the work folder, rebuilt from nothing each time; what others refer to comes first."""

ADDRESSES = "addresses.txt"
"""In the work folder: where each page is to be that comes from data."""

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
        write(work / "static" / "kernels" / "series.xml", series_feed(catalogue))
        write_data_section(catalogue, work)
        copy_releases(catalogue, work / "static" / "releases")
        yield f"{len(charts)} charts"
    write_drawings(charts, work, cache, catalogue.version)
    write_machine_pictures(catalogue, work, cache)
    write(work / "static" / "js" / "vega.js", live_script(cache))


def _write_pages(catalogue: Catalogue, work: Path, content: Path) -> None:
    """Pages with their fragments, and what layouts and scripts read of all data."""
    static, assets = work / "static", work / "assets"
    addresses = []
    for path, text in chain(site.content(catalogue), tracer_page.write_plain(content)):
        write(work / "content" / path, text)
        addresses.append(path.removesuffix(".md"))
        if (content / path).exists():
            addresses.append(addresses[-1])
    for name, pages in site.number_pages(catalogue):
        write(assets / "numbers" / name, pages)
        addresses += [f"results/{page['path']}" for page in json.loads(pages)]
    if twice := [address for address, times in Counter(addresses).items() if times > 1]:
        raise ProbeEffectError(f"/{twice[0]}/: two pages have this address. Give one of them another id under data/.")
    write(work / ADDRESSES, "".join(f"{address}\n" for address in addresses))
    for name, text in site.fragment_files(catalogue).items():
        write(assets / "fragments" / name, text)
    quoted = facts(catalogue, asked_for(content))
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
    yield from cost_files(catalogue)
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
