"""What became of the data: two Atom feeds (RFC 4287), and releases, which are made once and then only copied.

Ids are UUIDs made from what changed and when, so that they stay when the site moves.
"""

import json
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from probe_effect.compare.kernels import column_of, series, series_changes
from probe_effect.model import UsageError
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.names import AUTHORS, Edition, plain
from probe_effect.numbers.submission import Submission
from probe_effect.site.files import copy, csv_text, rows, whole_tables, write, write_zip
from probe_effect.site.pages import changes_page, kernel_changes
from probe_effect.site.pages.changes_page import entries
from probe_effect.store.places import DataFolder, sha256
from probe_effect.store.release_file import MANIFEST, SUMS, TABLES, VERSION, Manifest, Release, ReleasedFile, data_files

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "probe-effect/data/changes")
SERIES_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "probe-effect/kernels/series")
MOST_ENTRIES = 100  # a feed is read for what is new; the page has all


class FeedItem(NamedTuple):
    """An entry of a feed: `name` is what its id is made from, `path` the page where it leads."""

    name: str
    title: str
    moment: str
    path: str
    category: str
    summary: str


def feed(catalogue: Catalogue) -> str:
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
    for matrix in series(catalogue):
        for change in series_changes(matrix):
            text = kernel_changes.series_sentence(change, matrix)
            moment = max(_ended(side.submission) for side in (change.first, change.second))
            # By what was compared, so that counts that are made again are no news.
            name = " ".join(
                [matrix.architecture, *map(str, (change.second.key, column_of(change.first), column_of(change.second)))]
            )
            address = kernel_changes.series_address(matrix.architecture)
            items.append(FeedItem(name, text, moment, address, "series", text))
    items.sort(key=lambda item: item.moment, reverse=True)
    pages = (kernel_changes.SERIES, kernel_changes.SERIES_FEED)
    return _atom(catalogue.edition, "changes over releases of Linux", SERIES_NAMESPACE, pages, items)


def _atom(edition: Edition, title: str, name: uuid.UUID, pages: tuple[str, str], items: Sequence[FeedItem]) -> str:
    newest = items[:MOST_ENTRIES]
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
        updated=max((item.moment for item in newest), default="1970-01-01T00:00:00Z"),
        author=AUTHORS,
        pages=[_link(edition, path) for path in pages],
        entries=[(item, uuid.uuid5(name, item.name).urn, _link(edition, item.path)) for item in newest],
    )


def _ended(submission: Submission) -> str:
    return submission.document.run.ended or submission.started


def _link(edition: Edition, path: str) -> str:
    """Whole where the site's address is known; else from a feed's own place, which is one folder down."""
    return edition.address(path) if edition.has_address else f"..{path}"


EXPLAINING = ("LICENSE", "README.md", "changes.toml")  # they go into the archive beside the data, if they exist


def make_release(data: DataFolder, catalogue: Catalogue, version: str, date: str) -> Release:
    """Write `data/releases/<version>/` of the day `date` (ISO), whole or not at all.

    Raises: UsageError when `version` is none, or was released before.
    """
    folder = data.root / "releases" / version
    if not VERSION.fullmatch(version):
        msg = f"{version}: is not a version. Expected year and month, such as 2026.11, or 2026.11.2 for a second one."
        raise UsageError(msg)
    if folder.exists():
        raise UsageError(f"{data.relative(folder)}: was released before, and a release stays. Give the next version.")
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
    for name, text in texts.items():
        write(release.folder / name, text)
    top = release.archive.stem
    paths = {f"{top}/data/{name}": data.root / name for name in (*(file.path for file in files), *EXPLAINING)}
    inside: dict[str, bytes | Path] = {name: path for name, path in paths.items() if path.is_file()}
    write_zip(release.archive, inside | {f"{top}/{name}": text.encode() for name, text in texts.items()})
    lines = (f"{sha256(release.folder / name)}  {name}\n" for name in release.names if name != SUMS)
    write(release.folder / SUMS, "".join(lines))
    release.folder.rename(folder)
    return Release(folder, manifest)


def copy_releases(catalogue: Catalogue, target: Path) -> None:
    for release in catalogue.releases:
        for name in release.names:
            copy(release.folder / name, target / release.version / name)
