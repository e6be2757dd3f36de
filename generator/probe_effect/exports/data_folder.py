"""The site's `/data/`: raw files, whole tables, what describes them, all of it as one zip, and checksums.

It is laid out as `data/` is in the repository, so that paths hold in both and inside the zip.
"""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

from probe_effect.exports.archive import write_zip
from probe_effect.exports.data_package import data_package
from probe_effect.exports.data_readme import columns, readme
from probe_effect.exports.dictionary import written_files
from probe_effect.exports.page_data import TITLES, about, whole_tables
from probe_effect.exports.parquet import write_parquet, write_samples
from probe_effect.exports.table import csv_text, json_text
from probe_effect.store.suite_file import own_headers, suite_file, workload_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from probe_effect.exports.page_data import Rows
    from probe_effect.exports.table import Table
    from probe_effect.numbers.catalogue import Catalogue, SuiteFolder

ZIP, SUMS = "probe-effect.zip", "SHA256SUMS"

FORMS = ("csv", "json", "parquet")
"""The endings that a whole table may have."""

FOLDERS = ("published", "results", "schema", "suites")
DESCRIPTIONS = {"README.md", "DICTIONARY.md", "LICENSE", "changes.xml", "datapackage.json"}


def write_tables(catalogue: Catalogue, found: Rows, data: Path) -> dict[str, Table]:
    """Write every whole table into the folder `data`: CSV, JSON and Parquet; runs as Parquet, because each submission
    has its own as CSV.

    Returns: file name without its ending, to the table.
    """
    tables = whole_tables(found)
    for name, table in tables.items():
        (data / f"{name}.csv").write_text(csv_text(table), encoding="utf-8")
        text = json_text(table, about(catalogue, "/data/"))
        (data / f"{name}.json").write_text(text, encoding="utf-8")
    for name, table in tables.items():
        write_parquet(table, data / f"{name}.parquet", catalogue.version)
    return tables | {"samples": write_samples(catalogue, data / "samples.parquet", catalogue.version)}


def describe(catalogue: Catalogue, tables: dict[str, Table], data: Path) -> None:
    """Write what explains the files of the folder `data`: about, dictionary, schemas, licence, Data Package."""
    for name, text in written_files().items():
        path = data / {"README.md": "DICTIONARY.md"}.get(name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with (data / "DICTIONARY.md").open("a", encoding="utf-8") as dictionary:
        dictionary.write(f"\n# The whole tables\n\n{columns(tables)}")
    (data / "README.md").write_text(readme(catalogue), encoding="utf-8")
    (data / "datapackage.json").write_text(data_package(catalogue, tables, data), encoding="utf-8")


def copy_suites(suites: Iterable[SuiteFolder], data: Path) -> None:
    """Copy each suite with its scripts, its workload and what that includes, as they lie under `data/suites`."""
    for one in suites:
        root = one.folder.parent.resolve()
        source = workload_source(one.folder, one.suite)
        for path in (suite_file(one.folder), *one.scripts(), source, *own_headers(source)):
            target = data / "suites" / path.resolve().relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def write_archive(tables: Iterable[str], data: Path) -> None:
    """Pack the data files of the folder `data` into one zip in it.

    Args:
        tables: the names of the whole tables in it, without ending.
    """
    paths = _data_files(tables, data)
    write_zip(data / ZIP, {f"probe-effect/{path.relative_to(data).as_posix()}": path for path in paths})


def write_sums(tables: Iterable[str], static: Path) -> None:
    """Write the checksums of the zip, of what is in it, and of the data files beside pages, relative to `/data/`.

    `sha256sum --check` reads them.
    """
    data = static / "data"
    files = [data / ZIP, *_data_files(tables, data)]
    lines = [f"{sha256(path)}  {path.relative_to(data).as_posix()}\n" for path in files]
    lines += [f"{sha256(path)}  ../{path.relative_to(static).as_posix()}\n" for path in _beside_pages(static)]
    (data / SUMS).write_text("".join(lines), encoding="utf-8")


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _data_files(tables: Iterable[str], data: Path) -> list[Path]:
    """Raw files, whole tables and what describes them. What pages need for themselves may lie beside them."""
    names = {f"{name}.{ending}" for name in tables for ending in FORMS}
    top = [path for path in data.iterdir() if path.name in names | DESCRIPTIONS]
    return sorted([*top, *(path for folder in FOLDERS for path in _files(data / folder))])


def _files(folder: Path) -> list[Path]:
    return sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix())


def _beside_pages(static: Path) -> Iterator[Path]:
    """The data files that lie beside pages and charts."""
    names = {f"{name}.{ending}" for name in TITLES for ending in ("csv", "json")}
    return (path for path in _files(static) if path.name in names and static / "data" not in path.parents)
