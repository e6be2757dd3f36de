"""Writes a published source and its entry in the change log, in the form that `source_file` and `changes_file` read."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady
from probe_effect.store.changes_file import CHANGES_FILE
from probe_effect.store.source_file import FIGURE_COLUMNS
from probe_effect.store.tables import csv_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from probe_effect.store.places import DataFolder
    from probe_effect.store.source_file import Figure, SourceFile


def write_source(folder: Path, document: SourceFile, figures: Iterable[Figure]) -> None:
    """Make `folder` with its two files. Raises: HostNotReady when it is there already or cannot be written."""
    rows = [[column.name for column in FIGURE_COLUMNS], *map(_cells, figures)]
    try:
        folder.mkdir(parents=True)
        (folder / "source.toml").write_text("".join(_toml(document)), encoding="utf-8")
        (folder / "figures.csv").write_text("".join(csv_line(row) for row in rows), encoding="utf-8")
    except OSError as error:
        msg = f"{folder}: cannot be written: {error.strerror}"
        raise HostNotReady(msg) from error


def append_added(data: DataFolder, source: str, day: str, why: str) -> None:
    """Append the entry that says that `source` was added on `day`; nothing to a data folder that keeps no log.

    Raises: HostNotReady when it cannot be written.
    """
    if not (data.root / CHANGES_FILE).exists():
        return
    entry = f'\n[[changes]]\ndate = "{day}"\nkind = "added"\nwhat = [{toml_string(source)}]\nwhy = {toml_string(why)}\n'
    try:
        with (data.root / CHANGES_FILE).open("a", encoding="utf-8") as file:
            file.write(entry)
    except OSError as error:
        msg = f"{data.root / CHANGES_FILE}: cannot be written: {error.strerror}"
        raise HostNotReady(msg) from error


def _cells(figure: Figure) -> list[str]:
    values = (getattr(figure, column.name) for column in FIGURE_COLUMNS)
    return [f"{value:f}" if isinstance(value, Decimal) else value or "" for value in values]


def _toml(document: SourceFile) -> Iterator[str]:
    """A line for each key; texts of a list on lines of their own. What only a reader can say is never written."""
    for name, value in document.model_dump(exclude={"findings", "repeated"}).items():
        if isinstance(value, tuple):
            yield f"{name} = [\n{''.join(f'    {toml_string(one)},{chr(10)}' for one in value)}]\n"
        else:
            yield f"{name} = {value if isinstance(value, int) else toml_string(value)}\n"


def toml_string(text: str) -> str:
    """A basic string of TOML, which escapes as JSON does, but for control characters that no text of ours has."""
    return json.dumps(text, ensure_ascii=False)
