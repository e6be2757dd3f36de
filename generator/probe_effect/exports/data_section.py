"""Everything that the site publishes as data beside its raw files, in the order in which one needs the other."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq

from probe_effect import units
from probe_effect.checks.registry import ALL_RULES
from probe_effect.exports import data_folder
from probe_effect.exports.data_folder import ZIP
from probe_effect.exports.files import LICENCE, WORDS, DataTable, Field, forms, write
from probe_effect.exports.page_data import page_tables, rows, write_page_data
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages.markdown import render
from probe_effect.store.dictionary import FORM_RULES
from probe_effect.store.places import sha256

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
