"""Everything that the site publishes as data beside its raw files, in the order in which one needs the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.checks.run import ALL_RULES
from probe_effect.exports.data_folder import (
    FORMS,
    SUMS,
    ZIP,
    copy_suites,
    describe,
    write_archive,
    write_sums,
    write_tables,
)
from probe_effect.exports.data_readme import columns
from probe_effect.exports.dataset import dataset
from probe_effect.exports.page_data import page_tables, rows, write_page_data
from probe_effect.exports.query import write_query
from probe_effect.pages.markdown import render
from probe_effect.store.dictionary import FORM_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from probe_effect.exports.table import Table
    from probe_effect.numbers.catalogue import Catalogue

FURTHER = {
    "datapackage.json": "All tables and their columns, for programs",
    "DICTIONARY.md": "What columns and keys mean",
    SUMS: "Checksums of all data files of the site",
    "LICENSE": "Terms",
}
"""File name to what it is."""


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
    copy_suites(catalogue.suites, data)
    tables = write_tables(catalogue, found, data)
    describe(catalogue, tables, data)
    write_archive(tables, data)
    write_sums(tables, static)
    (assets / "data" / "page-files.json").write_text(index, encoding="utf-8")
    (assets / "data" / "dataset.json").write_text(dataset(catalogue, tables, data), encoding="utf-8")
    downloads = render("fragments/downloads.md.j2", downloads=_downloads(tables, data))
    rules = render("fragments/rules.md.j2", rules=ALL_RULES, of_files=FORM_RULES)
    (assets / "fragments" / "downloads.md").write_text(downloads, encoding="utf-8")
    (assets / "fragments" / "query.md").write_text(write_query(data), encoding="utf-8")
    (assets / "fragments" / "rules.md").write_text(rules, encoding="utf-8")
    (assets / "fragments" / "table-columns.md").write_text(columns(tables), encoding="utf-8")


def _downloads(tables: Mapping[str, Table], data: Path) -> Iterator[Download]:
    yield Download("Everything", None, _sizes([data / ZIP]))
    for name, table in tables.items():
        forms = (data / f"{name}.{ending}" for ending in FORMS)
        yield Download(table.title, table.size, _sizes(forms))
    for name, what in FURTHER.items():
        yield Download(what, None, _sizes([data / name]))


def _sizes(paths: Iterable[Path]) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in paths if path.is_file()}
