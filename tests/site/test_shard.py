"""What depends on one submission alone may be made in any order and twice: a build that finds it makes less."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import (
    changed,
    copy_suite,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_submission,
)
from helpers.written_pages import written
from probe_effect.numbers import catalogue
from probe_effect.numbers.catalogue import is_kept, read_catalogue
from probe_effect.site import assemble
from probe_effect.site.assemble import FEWEST, Shard, make_shard, make_shards
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    """As many machines as are shared out, one of them emulated."""
    root = tmp_path / "data"
    copy_suite(root)
    write_counted_submission(root)
    for place in range(FEWEST):
        values = changed(machine_values(), "machine.id", f"machine-{place}")
        write_submission(root, many_blocks(cost_ns=50 + place), values)
    return DataFolder(root, Kept(tmp_path / "kept"))


def all_kept(data: DataFolder) -> bool:
    return all(is_kept(files, data.kept) for files in data.submissions())


@given(st.text(min_size=1).filter(lambda name: "/" not in name and "\0" not in name), st.integers(1, 50))
def test_a_machine_belongs_to_one_shard_with_all_its_submissions(machine: str, of: int) -> None:
    folders = [SubmissionFolder(Path("results") / machine / name) for name in ("a", "b")]
    having = [[Shard(number, of).has(files) for number in range(1, of + 1)] for files in folders]
    assert having[0] == having[1]
    assert sum(having[0]) == 1


def test_shards_in_any_order_and_twice_make_what_a_build_would(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = written(read_catalogue(DataFolder(data.root)))
    shards = [Shard(number, 3) for number in range(1, 4)] * 2
    random.Random(7).shuffle(shards)  # noqa: S311 (an order, not a secret)
    assert sum(make_shard(data, one) for one in shards) == 2 * len(data.submissions())
    assert all_kept(data)
    monkeypatch.setattr(catalogue, "read_samples", lambda *_: pytest.fail("the rows were read again"))
    assert written(read_catalogue(data)) == alone


def test_what_is_unsound_is_left_to_whoever_reads_it_next(data: DataFolder) -> None:
    (data.submissions()[0].folder / "samples.csv").write_text("no columns\n", encoding="utf-8")
    make_shard(data, Shard(1, 1))
    assert [is_kept(files, data.kept) for files in data.submissions()] == [False, *[True] * FEWEST]


def test_an_unsound_change_log_is_left_to_whoever_reads_it_next(data: DataFolder) -> None:
    (data.root / "changes.toml").write_text("what\n", encoding="utf-8")
    assert make_shard(data, Shard(1, 1)) == len(data.submissions())
    assert all_kept(data)


@pytest.mark.deep
def test_several_processes_shard_what_is_new_and_say_how_far_they_are(data: DataFolder) -> None:
    said = list(make_shards(data, workers=2))
    assert said[0] == f"numbers of {FEWEST + 1} submissions, 2 at a time"
    assert said[-1] == f"{FEWEST + 1} of {FEWEST + 1}"
    assert all_kept(data)
    assert list(make_shards(data, workers=2)) == []


@pytest.mark.parametrize("reason", ["one worker", "nowhere to keep", "little to do"])
def test_no_process_is_started_where_it_would_not_help(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(assemble, "processes", lambda *_, **__: pytest.fail("a process was started"))
    if reason == "little to do":
        make_shard(data, Shard(1, 1))
    where = DataFolder(data.root) if reason == "nowhere to keep" else data
    assert list(make_shards(where, workers=1 if reason == "one worker" else 2)) == []
