"""Bad submissions as patches of one good one: `submissions/bad-<fault>.toml` says what to change and what is then told.

Each `[[edit]]` has one verb of `EDITS`, and the words that the verb needs.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.builders import changed
from probe_effect.model import Estimate
from probe_effect.store.result_tables import CALIBRATION_COLUMNS, ProbeCalibration, bucket_around
from probe_effect.store.tables import TableWriter, csv_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SUBMISSIONS = Path(__file__).parents[1] / "submissions"
MACHINE, FOLDER, SOURCE = "test-machine", "2026-11-20-calls", "a-talk"
HOME = {
    "submission": Path("results") / MACHINE / FOLDER,
    "tracer": Path("results") / MACHINE / "2026-11-20-watching",
    "source": Path("published") / SOURCE,
}
ORIGIN = {"submission": "good", "tracer": "tracer", "source": "source"}


@dataclass(frozen=True, slots=True)
class Patch:
    """One fault: the edits that make it, and the one problem that is then told."""

    name: str
    base: str
    rule: str
    file: str
    line: int | None
    severity: str
    says: str
    times: int
    """How often it is told, at further lines, where one edit makes several rows wrong."""
    also: tuple[str, ...]
    """Rules of which the same fault is a sign; each is told once, after the first."""
    edits: tuple[Mapping[str, Any], ...]


def patches() -> list[Patch]:
    """Every bad submission, by name."""
    return [_patch(path) for path in sorted(SUBMISSIONS.glob("bad-*.toml"))]


def _patch(path: Path) -> Patch:
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    base = values.get("base", "submission")
    return Patch(
        name=path.stem,
        base=base,
        rule=values["rule"],
        file=values.get("file", "figures.csv" if base == "source" else "samples.csv"),
        line=values.get("line"),
        severity=values.get("severity", "error"),
        says=values["says"],
        times=values.get("times", 1),
        also=tuple(values.get("also", ())),
        edits=tuple(values["edit"]),
    )


def good_data(root: Path) -> Path:
    """A data folder with the good submission, the good source and the suite that they name."""
    data = root / "data"
    shutil.copytree(SUBMISSIONS / "suites", data / "suites")
    for base, home in HOME.items():
        shutil.copytree(SUBMISSIONS / ORIGIN[base], data / home)
    return data


def patched(data: Path, patch: Patch) -> Path:
    """Make the edits of `patch` in a good data folder; the folder that is then bad."""
    folder = data / HOME[patch.base]
    for edit in patch.edits:
        words = dict(edit)
        folder = EDITS[words.pop("do")](folder, **words) or folder
    return folder


def _set(folder: Path, key: str, to: object) -> None:
    """Another value in `machine.json`; the word `null` is JSON's."""
    path = folder / "machine.json"
    values = changed(json.loads(path.read_text(encoding="utf-8")), key, None if to == "null" else to)
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _unset(folder: Path, key: str) -> None:
    path = folder / "machine.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    *parents, last = key.split(".")
    place = values
    for parent in parents:
        place = place[parent]
    del place[last]
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _cells(folder: Path, column: str, to: str, file: str = "samples.csv", **where: object) -> None:
    """Another value in a column: at one `line`, or in every row whose cells are those of `where`."""

    def change(number: int, row: dict[str, str]) -> dict[str, str]:
        return row | {column: to} if _is_meant(number, row, where) else row

    _rewrite(folder / file, change)


def _scale(folder: Path, column: str, by: float, **where: object) -> None:
    """A column multiplied."""

    def change(number: int, row: dict[str, str]) -> dict[str, str]:
        return row | {column: str(round(int(row[column]) * by))} if _is_meant(number, row, where) else row

    _rewrite(folder / "samples.csv", change)


def _drop(folder: Path, **where: object) -> None:
    """Rows taken away."""
    _rewrite(folder / "samples.csv", lambda number, row: None if _is_meant(number, row, where) else row)


def _is_meant(number: int, row: Mapping[str, str], where: Mapping[str, object]) -> bool:
    return all(number == wanted if name == "line" else row[name] == str(wanted) for name, wanted in where.items())


def _rewrite(path: Path, change: Callable[[int, dict[str, str]], dict[str, str] | None]) -> None:
    text = path.read_text(encoding="utf-8")
    rows = [change(number, row) for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2)]
    lines = [csv_line(row.values()) for row in rows if row is not None]
    path.write_text(text.split("\n", 1)[0] + "\n" + "".join(lines), encoding="utf-8")


def _replace(folder: Path, file: str, old: str, new: str) -> None:
    """The first place of a text."""
    path = folder / file
    text = path.read_bytes().decode()
    assert old in text, f"{old!r} is not in {file}"
    path.write_bytes(text.replace(old, new, 1).encode())


def _bytes(folder: Path, file: str, hex: str, at: int = 0) -> None:  # noqa: A002 (the word of the patches)
    """Bytes put in at a place; negative ones count from the end, and `-1` is the end itself."""
    path = folder / file
    text = path.read_bytes()
    place = len(text) + at + 1 if at < 0 else at
    path.write_bytes(text[:place] + bytes.fromhex(hex) + text[place:])


def _cut(folder: Path, file: str, to: int) -> None:
    """A file that ends too early, or as many bytes before its end as `to` is below 0."""
    path = folder / file
    path.write_bytes(path.read_bytes()[:to])


def _write(folder: Path, file: str, text: str = "", times: int = 1, mode: int = 0o644) -> None:
    """A file of this text, so many times over."""
    (folder / file).write_text(text * times, encoding="utf-8")
    (folder / file).chmod(mode)


def _repeat(folder: Path, file: str, times: int) -> None:
    """The last line, so many times more."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    path.write_text(text + text[text.rstrip("\n").rindex("\n") + 1 :] * times, encoding="utf-8")


def _histogram(folder: Path) -> None:
    """A sound `histogram.csv`: in each run all operations but one took the time of the mean, and one twice as long."""
    lines = ["block,position,low_ns,high_ns,operations\n"]
    with (folder / "samples.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["wall_ns"]:
                place, number = (row["block"], row["position"]), int(row["events"])
                time_ns = int(row["wall_ns"]) // number
                for time, operations in ((time_ns, number - 1), (2 * time_ns, 1)):
                    lines.append(csv_line((*place, bucket_around(time)[0], time, operations)))
    (folder / "histogram.csv").write_text("".join(lines), encoding="utf-8")


def _calibration(folder: Path) -> None:
    """A sound `calibration.csv`: a script with its cost, and one that was not timed, with the reason."""
    rows = [
        ProbeCalibration(
            "01-kprobe", "bpftrace", None, "kprobe:f", None, Estimate(200, 180, 220), Estimate(40, 30, 50)
        ),
        ProbeCalibration("02-kretprobe", "bpftrace", None, note="no kprobes here"),
    ]
    with TableWriter(folder / "calibration.csv", CALIBRATION_COLUMNS) as table:
        table.put(row.cells for row in rows)


def _many(folder: Path, number: int) -> None:
    for place in range(number):
        (folder / f"file-{place}.txt").touch()


def _link(folder: Path, file: str, to: str) -> None:
    (folder / file).unlink(missing_ok=True)
    (folder / file).symlink_to(to)


def _pipe(folder: Path, file: str) -> None:
    (folder / file).unlink(missing_ok=True)
    os.mkfifo(folder / file)


def _folder(folder: Path, file: str) -> None:
    (folder / file).unlink(missing_ok=True)
    (folder / file).mkdir()


def _mode(folder: Path, file: str, mode: int) -> None:
    (folder / file).chmod(mode)


def _delete(folder: Path, file: str) -> None:
    (folder / file).unlink()


def _move(folder: Path, to: str) -> Path:
    """The whole folder under another name, relative to where it lies."""
    target = folder.parent / to
    target.parent.mkdir(parents=True, exist_ok=True)
    return folder.rename(target)


def _copy(folder: Path, to: str) -> Path:
    """The same once more, under another name."""
    shutil.copytree(folder, folder.parent / to)
    return folder.parent / to


EDITS: dict[str, Callable[..., Path | None]] = {
    "set": _set,
    "unset": _unset,
    "cells": _cells,
    "scale": _scale,
    "drop": _drop,
    "replace": _replace,
    "bytes": _bytes,
    "cut": _cut,
    "write": _write,
    "repeat": _repeat,
    "histogram": _histogram,
    "calibration": _calibration,
    "many": _many,
    "link": _link,
    "pipe": _pipe,
    "folder": _folder,
    "mode": _mode,
    "delete": _delete,
    "move": _move,
    "copy": _copy,
}
