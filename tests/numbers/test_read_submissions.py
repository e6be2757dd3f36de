"""Submissions as they are read: what is kept of them is used only for just the files that it was made from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helpers.builders import FOLDER, MACHINE, changed, machine_values, many_blocks, write_samples, write_submission
from probe_effect.model import BadData, Key, Problem
from probe_effect.numbers import catalogue
from probe_effect.numbers.catalogue import content_digest, read_submission, read_submissions
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import read_samples

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from probe_effect.numbers.submission import Submission

KPROBE = Key("02-kprobe", "bpftrace")


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    """Two submissions, and a place where what is made of them is kept."""
    root = tmp_path / "data"
    write_submission(root)
    write_submission(root, many_blocks(cost_ns=70), folder="2026-11-21-per-event")
    return DataFolder(root, Kept(tmp_path / "kept"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose rows were read."""
    found: list[str] = []

    def read(path: Path, file: str) -> object:
        found.append(path.parent.name)
        return read_samples(path, file)

    monkeypatch.setattr(catalogue, "read_samples", read)
    return found


def read(data: DataFolder) -> list[Submission]:
    """All of them. A problem is a failure."""
    problems: list[Problem] = []
    found = read_submissions(data.submissions(), data, problems)
    assert problems == []
    return found


def rewrite(path: Path, cost_ns: float) -> None:
    """Other rows in the place of those that were there."""
    path.unlink()
    write_samples(path, many_blocks(cost_ns=cost_ns))


def costs(found: Iterable[Submission]) -> list[float]:
    return [one.numbers[0].known_cost.value for one in found]


def test_rows_are_read_once(data: DataFolder, asked: list[str]) -> None:
    assert costs(read(data)) == costs(read(data)) == [50, 70]
    assert asked == [FOLDER, "2026-11-21-per-event"]


def test_without_a_place_to_keep_anything_rows_are_read_each_time(data: DataFolder, asked: list[str]) -> None:
    nowhere = DataFolder(data.root)
    assert costs(read(nowhere)) == costs(read(nowhere)) == [50, 70]
    assert len(asked) == 4


def test_changed_rows_are_read_anew_and_only_they(data: DataFolder, asked: list[str]) -> None:
    read(data)
    asked.clear()
    rewrite(data.results / MACHINE / FOLDER / "samples.csv", 60)
    assert costs(read(data)) == [60, 70]
    assert asked == [FOLDER]


def test_a_changed_machine_file_is_read_anew(data: DataFolder) -> None:
    assert {one.numbers[0].tool_version for one in read(data)} == {"v0.23"}
    path = data.results / MACHINE / FOLDER / "machine.json"
    path.write_text(json.dumps(changed(machine_values(), "tools.bpftrace", "v9")), encoding="utf-8")
    assert [one.numbers[0].tool_version for one in read(data)] == ["v9", "v0.23"]


def test_the_same_files_in_another_folder_are_another_submission(data: DataFolder) -> None:
    read(data)
    (data.results / MACHINE / FOLDER).rename(data.results / MACHINE / "2026-11-22-per-event")
    assert [one.id for one in read(data)] == [f"{MACHINE}/2026-11-21-per-event", f"{MACHINE}/2026-11-22-per-event"]


def test_another_version_of_the_code_reads_everything_anew(
    data: DataFolder, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(data)
    asked.clear()
    monkeypatch.setattr(catalogue, "code", lambda: "another version")
    assert costs(read(data)) == [50, 70]
    assert len(asked) == 2


def test_one_that_is_withdrawn_or_added_does_not_read_the_others_again(data: DataFolder, asked: list[str]) -> None:
    read(data)
    asked.clear()
    write_submission(data.root, many_blocks(cost_ns=90), folder="2026-11-22-per-event")
    assert costs(read(data)) == [50, 70, 90]
    assert asked == ["2026-11-22-per-event"]


# Unsound ones


def test_an_unsound_one_is_told_each_time_and_takes_nothing_from_the_others(data: DataFolder) -> None:
    (data.results / MACHINE / FOLDER / "samples.csv").write_text("no columns\n", encoding="utf-8")
    for _ in range(2):
        problems: list[Problem] = []
        assert costs(read_submissions(data.submissions(), data, problems)) == [70]
        assert {problem.file for problem in problems} == {f"data/results/{MACHINE}/{FOLDER}/samples.csv"}


def test_one_without_its_files_is_told_each_time(data: DataFolder) -> None:
    read(data)
    (data.results / MACHINE / FOLDER / "machine.json").unlink()
    for _ in range(2):
        problems: list[Problem] = []
        assert read_submission(data.submissions()[0], data, problems) is None
        assert problems


def test_files_that_cannot_be_read_have_no_digest(data: DataFolder) -> None:
    files = data.submissions()[0]
    assert content_digest(files) is not None
    files.samples.unlink()
    assert content_digest(files) is None
    files.samples.mkdir()
    assert content_digest(files) is None
    assert content_digest(SubmissionFolder(data.root / "nothing")) is None


# Blocks


def traced(one: Submission) -> set[float | None]:
    """The traced runs of all blocks, ns: 100 without a tracer, and what it costs."""
    return {block.traced for block in one.blocks[KPROBE].blocks}


def empty(data: DataFolder) -> None:
    """Lose all that is kept."""
    assert data.kept.folder is not None
    for path in [path for path in data.kept.folder.rglob("*") if path.is_file()]:
        path.unlink()


def test_blocks_are_kept_apart_and_read_when_they_are_asked_for(data: DataFolder, asked: list[str]) -> None:
    read(data)
    asked.clear()
    assert [traced(one) for one in read(data)] == [{150.0}, {170.0}]
    assert asked == []


def test_blocks_that_are_lost_are_made_from_the_rows_again_and_kept(data: DataFolder, asked: list[str]) -> None:
    first = read(data)[0]
    empty(data)
    asked.clear()
    assert [traced(first) for _ in range(2)] == [{150.0}] * 2
    assert asked == [FOLDER]


def test_blocks_of_rows_that_changed_meanwhile_are_not_kept_as_those_of_before(data: DataFolder) -> None:
    first, path = read(data)[0], data.results / MACHINE / FOLDER / "samples.csv"
    before = path.read_bytes()
    empty(data)
    rewrite(path, 60)
    assert traced(first) == {160.0}
    path.write_bytes(before)
    assert costs(read(data)) == [50, 70]
    assert [traced(one) for one in read(data)] == [{150.0}, {170.0}]


def test_blocks_of_files_that_became_unsound_are_a_problem_and_no_crash(data: DataFolder) -> None:
    first = read(data)[0]
    empty(data)
    first.files.samples.write_text("no columns\n", encoding="utf-8")
    with pytest.raises(BadData):
        _ = first.blocks
