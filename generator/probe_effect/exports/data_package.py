"""`datapackage.json`: every table that the site publishes, with its bytes, checksum and schema.

Data Package, version 2: https://datapackage.org/standard/data-package/. Paths are relative to its own folder, so it
holds on the site and inside the zip.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probe_effect.exports.dictionary import table_schema
from probe_effect.exports.table import DataTable, forms, schema
from probe_effect.exports.words import LICENCE, WORDS
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.store.dictionary import TABLES
from probe_effect.store.places import sha256
from probe_effect.store.tables import further_column

PROFILES = "https://datapackage.org/profiles/2.0"

Resource = dict[str, Any]


def data_package(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> str:
    """The Data Package of the files in the folder `data`, as JSON; `tables` are by file name without ending."""
    package: dict[str, Any] = {
        "$schema": f"{PROFILES}/datapackage.json",
        "name": "probe-effect",
        "title": WORDS["title"],
        "description": WORDS["summary"],
        "version": catalogue.version,
        "keywords": WORDS["keywords"],
        "licenses": [{"name": LICENCE["name"], "title": LICENCE["title"], "path": LICENCE["url"]}],
        "contributors": [{"title": LICENCE["creator"], "roles": ["creator"]}],
        "resources": [*_whole(tables, data), *_raw(catalogue, data)],
    }
    if catalogue.edition.date:
        package["created"] = f"{catalogue.edition.date}T00:00:00Z"
    return json.dumps(package, indent=1, ensure_ascii=False) + "\n"


def _whole(tables: Mapping[str, DataTable], data: Path) -> Iterator[Resource]:
    """Each whole table in each of its forms; the JSON, which is more than rows, describes its own."""
    for name, table in tables.items():
        for path in forms(name, data):
            ending = path.suffix.removeprefix(".")
            described = {} if ending == "json" else {"type": "table", "schema": schema(table.fields)}
            yield _resource(f"{name}-{ending}", table.title, path, data) | described


def _raw(catalogue: Catalogue, data: Path) -> Iterator[Resource]:
    """The tables of each submission, and the figures of each source with where they are from: the work of others."""
    for one in catalogue.everything:
        title = f"Suite {one.suite} on {names.machine_name(one)}"
        for own in one.files.content:
            if own.name in TABLES:
                path = data / "results" / one.id / own.name
                yield _csv(f"{own.stem}-{one.id.replace('/', '-')}", title, path, data)
    for source in catalogue.sources:
        document = source.document
        path = data / "published" / source.id / "figures.csv"
        origin = [{"title": f"{document.author}: {document.title}"}]
        yield _csv(f"figures-{source.id}", document.title, path, data) | {"sources": origin}


def _csv(name: str, title: str, path: Path, data: Path) -> Resource:
    """A raw file. Its schema is a file of the package too, unless it has fewer columns or more than that describes."""
    columns = {column.name: column for column in TABLES[path.name]}
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    described: str | dict[str, Any] = f"schema/{path.name}.schema.json"
    if header != list(columns):
        described = table_schema(columns.get(name) or further_column(name) for name in header)
    return _resource(name, title, path, data) | {"type": "table", "schema": described}


def _resource(name: str, title: str, path: Path, data: Path) -> Resource:
    ending = path.suffix.removeprefix(".")
    return {
        "$schema": f"{PROFILES}/dataresource.json",
        "name": name,
        "title": title,
        "path": path.relative_to(data).as_posix(),
        "format": ending,
        "mediatype": WORDS["media_types"][ending],
        **({"encoding": "utf-8"} if ending == "csv" else {}),
        "bytes": path.stat().st_size,
        "hash": f"sha256:{sha256(path)}",
    }
