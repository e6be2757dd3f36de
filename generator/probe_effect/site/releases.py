"""The section `/data/`, and what became of the data: two Atom feeds (RFC 4287), and releases.

The section has the whole tables with what explains them, the tables beside pages, and how to ask for more. A release is
made once and then only copied. Ids are UUIDs made from what changed and when, so that they stay when the site moves.
"""

import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pyarrow.parquet as pq
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probe_effect import units
from probe_effect.checks.run import ALL_RULES
from probe_effect.compare.kernels import column_of, series, series_changes
from probe_effect.model import UsageError
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.names import AUTHORS, Edition, plain
from probe_effect.numbers.submission import Submission
from probe_effect.site import data_folder
from probe_effect.site.data_folder import ZIP
from probe_effect.site.files import (
    LICENCE,
    WORDS,
    DataTable,
    Field,
    copy,
    csv_text,
    forms,
    page_tables,
    rows,
    whole_tables,
    write,
    write_page_data,
    write_zip,
)
from probe_effect.site.pages import changes_page, kernel_changes
from probe_effect.site.pages.changes_page import entries
from probe_effect.site.pages.parts import Code, Heading, Link, Part, Table, column, fragment, of_data
from probe_effect.site.pages.text import link, listed, say
from probe_effect.store.dictionary import FORM_RULES
from probe_effect.store.places import DataFolder, sha256
from probe_effect.store.release_file import MANIFEST, SUMS, TABLES, VERSION, Manifest, Release, ReleasedFile, data_files

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "probe-effect/data/changes")
SERIES_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "probe-effect/kernels/series")
MOST_ENTRIES = 100
"""A feed is read for what is new; the page has all."""


class FeedItem(NamedTuple):
    """An entry of a feed: `name` is what its id is made from, and `path` the page where it leads."""

    name: str
    title: str
    moment: str
    path: str
    category: str
    summary: str


def feed(catalogue: Catalogue) -> str:
    """The newest changes of the data, each leading to the page of what changed."""
    items = [
        FeedItem(
            entry.id,
            changes_page.heading(entry),
            # When it was run, to the second; the day's beginning for what was written by hand.
            f"{entry.date}T00:00:00Z" if entry.submission is None else _ended(entry.submission),
            changes_page.address(entry.what[0]) if len(entry.what) == 1 else changes_page.PAGE,
            entry.kind,
            changes_page.sentence(entry) or changes_page.heading(entry),
        )
        for entry in entries(catalogue)
    ]
    return _atom(catalogue.edition, "changes of the data", NAMESPACE, (changes_page.PAGE, changes_page.FEED), items)


def series_feed(catalogue: Catalogue) -> str:
    """The changes of the series over releases of Linux, those that were counted last first."""
    items = []
    for found in series(catalogue):
        for one in series_changes(found):
            text = kernel_changes.series_sentence(one, found)
            moment = max(_ended(side.submission) for side in (one.first, one.second))
            # By what was compared, so that counts that are made again are no news.
            name = " ".join(
                [found.architecture, *map(str, (one.second.key, column_of(one.first), column_of(one.second)))]
            )
            items.append(FeedItem(name, text, moment, kernel_changes.SERIES, "series", text))
    items.sort(key=lambda item: item.moment, reverse=True)
    pages = (kernel_changes.SERIES, kernel_changes.SERIES_FEED)
    return _atom(catalogue.edition, "changes over releases of Linux", SERIES_NAMESPACE, pages, items)


def _atom(edition: Edition, title: str, name: uuid.UUID, pages: tuple[str, str], items: Sequence[FeedItem]) -> str:
    """A feed by what it has, its id, its page and its own address."""
    found = items[:MOST_ENTRIES]
    # `plain`: without the characters that XML cannot hold.
    templates = Environment(
        loader=PackageLoader("probe_effect", "site"),
        autoescape=True,
        finalize=plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("feed.xml.j2").render(
        title=title,
        id=name.urn,
        updated=max((item.moment for item in found), default="1970-01-01T00:00:00Z"),
        author=AUTHORS,
        pages=[_link(edition, path) for path in pages],
        entries=[(item, uuid.uuid5(name, item.name).urn, _link(edition, item.path)) for item in found],
    )


def _ended(one: Submission) -> str:
    return one.document.run.ended or one.started


def _link(edition: Edition, path: str) -> str:
    """Whole where the site's address is known; else from a feed's own place, which is one folder down."""
    return edition.address(path) if "://" in edition.site else f"..{path}"


EXPLAINING = ("LICENSE", "README.md", "changes.toml")
"""The files that go into the archive beside the data, as far as they exist."""


def make_release(data: DataFolder, catalogue: Catalogue, version: str, date: str) -> Release:
    """Write `data/releases/<version>/` of the day `date` (ISO), whole or not at all.

    Raises: UsageError when `version` is none, or was released before.
    """
    folder = _free_folder(data, version)
    files = tuple(
        ReleasedFile(path=name, bytes=path.stat().st_size, sha256=sha256(path)) for name, path in data_files(data)
    )
    manifest = Manifest(schema_version=1, version=version, date=date, data_version=catalogue.version, files=files)
    release = Release(folder.with_name(f".{version}"), manifest)
    shutil.rmtree(release.folder, ignore_errors=True)
    # The files beside the archive and in it, by name: every number as of then, and what the archive holds.
    tables = whole_tables(rows(catalogue))
    texts = {name: csv_text(tables[name.removesuffix(".csv")]) for name in TABLES}
    texts[MANIFEST] = json.dumps(manifest.model_dump(), indent=1) + "\n"
    beside = {name: text.encode() for name, text in texts.items()}
    for name, content in beside.items():
        write(release.folder / name, content)
    top = release.archive.stem
    names = [*(one.path for one in release.document.files), *EXPLAINING]
    paths = {f"{top}/data/{name}": data.root / name for name in names}
    inside = {name: path for name, path in paths.items() if path.is_file()}
    write_zip(release.archive, inside | {f"{top}/{name}": content for name, content in beside.items()})
    lines = (f"{sha256(release.folder / name)}  {name}\n" for name in release.names if name != SUMS)
    write(release.folder / SUMS, "".join(lines))
    release.folder.rename(folder)
    return Release(folder, manifest)


def copy_releases(catalogue: Catalogue, target: Path) -> None:
    """Copy every release's files, as they were made, to `target/<version>/`."""
    for release in catalogue.releases:
        for name in release.names:
            copy(release.folder / name, target / release.version / name)


def _free_folder(data: DataFolder, version: str) -> Path:
    folder = data.root / "releases" / version
    if not VERSION.fullmatch(version):
        msg = f"{version}: is not a version. Expected year and month, such as 2026.11, or 2026.11.2 for a second one."
        raise UsageError(msg)
    if folder.exists():
        raise UsageError(f"{data.relative(folder)}: was released before, and a release stays. Give the next version.")
    return folder


MOST_ROWS = 20
"""The limit of `QUERY`."""

QUERY = WORDS["query"]
"""What one tracepoint costs with each tracer, over all machines of a tier: names of files are relative to `/data/`."""


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
    fragments: dict[str, Iterable[Part]] = {
        "downloads": [_downloads(tables, data)],
        "query": [Code(QUERY.strip(), "sql"), _answer(data)],
        "rules": rule_parts(),
        "table-columns": data_folder.column_parts(tables),
    }
    for name, parts in fragments.items():
        write(assets / "fragments" / f"{name}.md", fragment(parts))


def _downloads(tables: Mapping[str, DataTable], data: Path) -> Table:
    """A row for each thing to download: what it is, its rows, and its file in each form with the size of it."""
    found: list[tuple[str, int | None, list[Path]]] = [("Everything", None, [data / ZIP])]
    found += [(table.title, table.size, forms(name, data)) for name, table in tables.items()]
    found += [(what, None, [data / name]) for name, what in WORDS["further"].items()]
    rows = [
        (title, "" if size is None else units.count(size), listed(_file(path) for path in paths))
        for title, size, paths in found
    ]
    return Table([column("file-what"), column("rows"), column("files")], rows)


def _file(path: Path) -> Markup:
    return say("{} ({})", link(path.name, f"/data/{path.name}"), units.size(path.stat().st_size))


def rule_parts() -> Iterator[Part]:
    """What `check` demands: a table for what each rule is of."""
    heads = [column(name) for name in ("check-rule", "demand", "good-example", "bad-example")]
    for of, group in ALL_RULES.items():
        yield Heading(f"Of {of}", 3)
        has_places = of not in {"a published source", "the files of a data folder"}
        yield Table(
            heads,
            [
                (Link(one.id, f"#=rule.{one.id}") if has_places else one.id, *map(_bare, (one.text, one.good, one.bad)))
                for one in group
            ],
        )
    yield Heading("Of every file", 3)
    yield Table(heads[:2], [(name, _bare(text)) for name, text in FORM_RULES.items()])


def _bare(text: str) -> str:
    return text.replace("`", "")


def _answer(data: Path) -> Part:
    """The rows that `QUERY` gives, asked of the very file that is published.

    Without an engine for SQL, which a build would need for nothing else; a test has DuckDB answer it too.
    """
    clear = [("case", "=", "04-tracepoint-entry"), ("current", "=", True), ("distinguishable", "=", True)]
    costs: dict[tuple[str, str], list[float]] = {}
    for row in pq.read_table(data / "costs.parquet", filters=clear).to_pylist():
        if row["reconciled"] is not False:
            costs.setdefault((row["tier"], row["tracer"]), []).append(row["cost_ns"])
    if not costs:
        return "Nothing that it asks for has been measured yet."
    rows = sorted(
        ((tier, median(found), tracer, found) for (tier, tracer), found in costs.items()), key=itemgetter(0, 1, 2)
    )
    heads = [column("kind", "Tier"), column("tracer"), *map(of_data, ("Machines", "Least", "Median", "Greatest"))]
    return Table(
        heads,
        [
            (tier, tracer, units.count(len(found)), *map(units.duration, (min(found), middle, max(found))))
            for tier, middle, tracer, found in rows[:MOST_ROWS]
        ],
    )


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
        "distribution": [
            {
                "@type": "DataDownload",
                "name": path.name,
                "encodingFormat": WORDS["media_types"][path.suffix.removeprefix(".")],
                "contentUrl": f"/data/{path.name}",
                "contentSize": units.size(path.stat().st_size).replace(units.GAP, " "),
                "sha256": sha256(path),
            }
            for path in (data / ZIP, *whole)
        ],
    }
    return json.dumps({key: value for key, value in described.items() if value != ""}, ensure_ascii=False)


def _variables(fields: Iterable[Field]) -> list[dict[str, str]]:
    """Each quantity that has a unit, once."""
    found = {field.name: field for field in fields if field.unit}
    return [
        {"@type": "PropertyValue", "name": name, "unitText": field.unit or "", "description": field.text}
        for name, field in found.items()
    ]
