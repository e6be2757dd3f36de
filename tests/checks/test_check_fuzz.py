"""Spoilt submissions, in four ways: whatever their files hold, `check` answers with problems, never with an error."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.submission_patches import HOME, SUBMISSIONS, good_data
from probe_effect.checks.run import check
from probe_effect.store.places import DataFolder
from probe_effect.store.result_tables import SAMPLE_COLUMNS
from probe_effect.store.tables import csv_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.model import Problem

ROWS = (SUBMISSIONS / "good" / "samples.csv").read_bytes()
MACHINE = (SUBMISSIONS / "good" / "machine.json").read_bytes()
NAMES = tuple(column.name for column in SAMPLE_COLUMNS)
GOOD = list(csv.reader(io.StringIO(ROWS.decode())))[1:]
TABLE = [list(NAMES), *([*row, *[""] * (len(NAMES) - len(row))] for row in GOOD)]
"""The good rows, with every column that a file may do without."""

BITS = st.binary(max_size=6) | st.sampled_from(
    [
        b"\r\n",
        b"\0",
        b'"',
        b",",
        b"\n",
        b"\xff",
        b"\xef\xbb\xbf",
        b"{",
        b"[" * 30,
        b"\\ud800",
        b"1e999",
        b"-",
        b"\xe2\x80\xae",
    ]
)
WORDS = "0 1 -1 1e308 NaN ok skipped baseline traced check none bpftrace 01-kprobe 03-uprobe 4 200 =1 a,b".split()
ODD = ["", "9" * 18, "9" * 40, "\u202e", "\x00", "x" * 1001, 'a"b', "a\nb"]
CELLS = st.sampled_from([*WORDS, *ODD]) | st.text(max_size=8) | st.integers(-(10**20), 10**20).map(str)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(max_size=12)
    | st.sampled_from(
        ["time", "instructions", "2026-02-30T10:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "../x"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose submission every example writes anew."""
    return good_data(tmp_path_factory.mktemp("fuzz"))


def spoilt(data: Path, rows: bytes = ROWS, machine: bytes = MACHINE) -> list[Problem]:
    folder = data / HOME["submission"]
    (folder / "samples.csv").write_bytes(rows)
    (folder / "machine.json").write_bytes(machine)
    return check([folder], DataFolder(data))


def are_sound(problems: list[Problem]) -> bool:
    """Each problem is one line that a person can read, at a line that a file can have."""
    return all(
        "\n" not in one.message and one.message and one.hint and one.rule and (one.line is None or one.line >= 1)
        for one in problems
    )


@st.composite
def with_other_bytes(draw: st.DrawFn, text: bytes) -> bytes:
    """`text` with some bytes cut out and others put in, at a few places."""
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(BITS) + text[place + draw(st.integers(0, 40)) :]
    return text


@given(rows=with_other_bytes(ROWS), machine=st.just(MACHINE) | with_other_bytes(MACHINE))
def test_other_bytes_are_told_or_taken(data: Path, rows: bytes, machine: bytes) -> None:
    assert are_sound(spoilt(data, rows, machine))


@given(st.lists(st.tuples(st.integers(1, len(TABLE) - 1), st.sampled_from(NAMES), CELLS), min_size=1, max_size=6))
def test_other_cells_are_told_or_taken(data: Path, cells: list[tuple[int, str, str]]) -> None:
    table = [list(row) for row in TABLE]
    for line, name, text in cells:
        table[line][NAMES.index(name)] = text
    rows = "".join(csv_line(row) for row in table)
    assert are_sound(spoilt(data, rows.encode("utf-8", "surrogatepass")))


@given(
    st.permutations(range(len(TABLE[0]))) | st.lists(st.integers(0, len(TABLE[0]) - 1), max_size=25),
    st.lists(st.integers(0, len(TABLE) - 1), min_size=1, max_size=45),
)
def test_other_columns_and_rows_are_told_or_taken(data: Path, columns: list[int], lines: list[int]) -> None:
    rows = "".join(csv_line([TABLE[line][place] for place in columns]) for line in (0, *lines))
    assert are_sound(spoilt(data, rows.encode()))


def paths(value: object, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key of a document."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield (*before, key)
            yield from paths(child, (*before, key))


DOCUMENT = json.loads(MACHINE)
KEYS = sorted(paths(DOCUMENT))


@given(st.lists(st.tuples(st.sampled_from(KEYS), VALUES, st.booleans()), min_size=1, max_size=4))
def test_other_values_are_told_or_taken(data: Path, changes: list[tuple[tuple[str, ...], Any, bool]]) -> None:
    document = json.loads(MACHINE)
    for (*parents, last), value, is_gone in changes:
        place = document
        for parent in parents:
            place = place.get(parent) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place.pop(last, None)
            place |= {} if is_gone else {last: value}
    assert are_sound(spoilt(data, machine=json.dumps(document, indent=2).encode()))
