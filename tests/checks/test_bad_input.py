"""Submissions that say little, nothing or nonsense: a sentence each, never a stack trace, never a made-up interval."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import pytest
from click.testing import CliRunner

from helpers.builders import FOLDER, RowChanges, changed, machine_values, many_blocks, write_data, write_submission
from helpers.written_pages import with_fragments
from probe_effect.cli import commands
from probe_effect.model import BadData, ProbeEffectError
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import site
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from probe_effect.model import Sample

MOST = 2**53
"""The largest whole number that the data format takes."""


def altered(change: Callable[[Sample], Sample], blocks: int = 8) -> list[Sample]:
    return [change(row) for row in many_blocks(blocks, seen=1000)]


def traced(row: Sample, **changes: Unpack[RowChanges]) -> Sample:
    return replace(row, **changes) if row.arm == "traced" else row


SUBMISSIONS = {
    "one block": (many_blocks(1), "too few blocks"),
    "five blocks": (many_blocks(5), "too few blocks"),
    "every run failed": (altered(lambda row: traced(row, status="failed", note="it died")), "it died"),
    "every baseline failed": (
        altered(lambda row: row if row.arm == "traced" else replace(row, status="failed", note="it died")),
        "no block has both",
    ),
    "faster when traced": (many_blocks(8, cost_ns=-20), None),
    "the longest times there are": (altered(lambda row: replace(row, wall_ns=MOST, events=1)), None),
    "the shortest times there are": (altered(lambda row: replace(row, wall_ns=1, events=MOST)), None),
    "from the shortest to the longest": (
        altered(lambda row: replace(row, wall_ns=MOST if row.arm == "traced" else 1, events=1)),
        None,
    ),
    "no rows": ([], None),
}
REFUSED = {
    "no events": (altered(lambda row: traced(row, events=0)), "needs `events` above 0"),
    "no times": (altered(lambda row: replace(row, wall_ns=None)), "needs `wall_ns` or `instructions` above 0"),
}
"""What the format itself does not take."""
TELLS_APART = re.compile(r'(has|have) (higher|lower) overhead|"outcome": "(higher|lower)"')
EACH = [pytest.param(rows, words, id=name) for name, (rows, words) in SUBMISSIONS.items()]


def said(*arguments: str) -> str:
    """What a command prints, or the message with which it ends."""
    try:
        outcome = CliRunner().invoke(commands, arguments, catch_exceptions=False, standalone_mode=False)
    except BadData as error:
        return "\n".join(problem.message for problem in error.problems)
    except ProbeEffectError as error:
        return str(error)
    return outcome.output


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a sound submission, and room for another beside it."""
    return write_data(tmp_path)


@pytest.mark.parametrize(("rows", "words"), EACH)
def test_summarise_says_why_there_is_no_number(data: Path, rows: list[Sample], words: str | None) -> None:
    folder = str(write_submission(data, rows, folder=f"{FOLDER}-2"))
    text = said("summarise", "--data", str(data), folder)
    assert f"{FOLDER}-2" in text
    assert (words or "") in text
    assert "nan" not in text.lower().split()


@pytest.mark.parametrize(("rows", "words"), EACH)
def test_no_interval_is_made_up(data: Path, rows: list[Sample], words: str | None) -> None:
    folder = str(write_submission(data, rows, folder=f"{FOLDER}-2"))
    found = json.loads(said("summarise", "--data", str(data), "--format", "json", folder), parse_constant=pytest.fail)
    for case in found["submissions"][0]["cases"]:
        if words is not None:
            assert case["cost_low_ns"] is None
            assert case["threshold_5_hz"] is None
        assert case["grade"] != "A" or words is None


@pytest.mark.parametrize(("rows", "words"), EACH)
@pytest.mark.parametrize("form", ["text", "json"])
def test_compare_says_what_it_can_and_no_more(data: Path, rows: list[Sample], words: str | None, form: str) -> None:
    good, bad = data / "results" / "test-machine" / FOLDER, write_submission(data, rows, folder=f"{FOLDER}-2")
    text = said("compare", "--data", str(data), "--format", form, str(good), str(bad))
    assert text.strip()
    assert words is None or not TELLS_APART.search(text)


@pytest.mark.parametrize(("rows", "words"), EACH)
def test_predict_answers_or_says_why_not(data: Path, rows: list[Sample], words: str | None) -> None:
    write_submission(data, rows, folder=f"{FOLDER}-2")
    text = said("predict", "--data", str(data), "--rate", "50k", "--case", "02-kprobe", "--machine", "test-machine")
    assert "Kprobe" in text
    assert words is None or "%" in text or "no guidance" in text


@pytest.mark.parametrize(("rows", "words"), EACH)
def test_pages_are_written_all_the_same(data: Path, rows: list[Sample], words: str | None) -> None:
    write_submission(data, rows, folder=f"{FOLDER}-2")
    write_submission(data, rows, changed(machine_values(), "machine.id", "alone"))
    catalogue = read_catalogue(DataFolder(data))
    pages = with_fragments(catalogue)
    assert not [name for name, text in pages.items() if " nan" in text or " inf " in text]
    site.charts(catalogue)
    assert words is None or "machines/alone.md" in pages


@pytest.mark.parametrize(("rows", "words"), [pytest.param(*case, id=name) for name, case in REFUSED.items()])
@pytest.mark.parametrize("command", ["summarise", "compare", "predict"])
def test_what_the_format_does_not_take_is_refused_row_by_row(
    data: Path, rows: list[Sample], words: str, command: str
) -> None:
    good, bad = data / "results" / "test-machine" / FOLDER, write_submission(data, rows, folder=f"{FOLDER}-2")
    arguments = {
        "summarise": [str(bad)],
        "compare": [str(good), str(bad)],
        "predict": ["--rate", "50k", "--case", "02-kprobe"],
    }
    text = said(command, "--data", str(data), *arguments[command])
    assert text.splitlines()
    assert all(words in line for line in text.splitlines())


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-inf", "1e308", "1e999", "-5", "0.5", "9" * 400])
@pytest.mark.parametrize("column", ["events", "wall_ns"])
def test_a_cell_that_is_no_number_is_a_problem_with_its_place(data: Path, column: str, cell: str) -> None:
    folder = write_submission(data, folder=f"{FOLDER}-2")
    header, first, *others = (folder / "samples.csv").read_text(encoding="utf-8").splitlines()
    cells = first.split(",")
    cells[header.split(",").index(column)] = cell
    (folder / "samples.csv").write_text("\n".join([header, ",".join(cells), *others]) + "\n", encoding="utf-8")
    with pytest.raises(BadData) as caught:
        CliRunner().invoke(
            commands, ["summarise", "--data", str(data), str(folder)], catch_exceptions=False, standalone_mode=False
        )
    assert [(problem.line, column in problem.message) for problem in caught.value.problems] == [(2, True)]
