"""`paths.csv`: the tree of one event as it was recorded, and what is no tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probe_effect.model import Key
from probe_effect.store.result_tables import PATH_COLUMNS, USER, Classes, EventPath, add_paths, added, read_paths

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from probe_effect.store.result_tables import Stack

HEADER = ",".join(column.name for column in PATH_COLUMNS)
KEY = Key("02-kprobe", "libbpf")
FUNCTIONS = st.sampled_from(["do_syscall_64", "ksys_read", "vfs_read", "(BPF program)"])


def event(stacks: Mapping[Stack, int], key: Key = KEY, **changes: object) -> EventPath:
    """An event with so many instructions in each stack."""
    values: dict[str, object] = {"alike": 9, "recorded": 10, "counted": 100.5, "beside": {"update_curr": 0.25}}
    classes = {stack: Classes(number) for stack, number in stacks.items()}
    return EventPath(key, classes, **(values | changes))  # type: ignore[arg-type]


def written(folder: Path, *rows: str) -> Path:
    path = folder / "paths.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_what_was_recorded_is_read_back(tmp_path: Path) -> None:
    whole = event({(USER,): 31, (USER, "ksys_read"): 48, (USER, "ksys_read", "vfs_read"): 76, (USER, "ksys_write"): 5})
    add_paths(tmp_path / "paths.csv", [whole])
    assert read_paths(tmp_path / "paths.csv", "paths.csv") == ([whole], [])


@settings(max_examples=20)  # each is synced to disk
@given(st.dictionaries(st.lists(FUNCTIONS, max_size=5).map(tuple), st.integers(1, 10**6), max_size=12))
def test_any_tree_is_read_back_with_its_sums(
    tmp_path_factory: pytest.TempPathFactory, own: dict[tuple[str, ...], int]
) -> None:
    callers = {(USER, *stack[:depth]): 0 for stack in own for depth in range(len(stack) + 1)}
    whole = event({(USER,): 1} | callers | {(USER, *stack): number for stack, number in own.items()})
    path = tmp_path_factory.mktemp("paths") / "paths.csv"
    add_paths(path, [whole])
    (found,), problems = read_paths(path, "paths.csv")
    assert not problems
    assert found.stacks == whole.stacks
    assert found.total == whole.total


def test_a_key_that_the_file_has_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "paths.csv"
    first, second = event({(USER,): 1}), event({(USER,): 2}, Key("06-uprobe", "libbpf"))
    add_paths(path, [first])
    add_paths(path, [event({(USER,): 99}), second])
    assert read_paths(path, "paths.csv")[0] == [first, second]


def test_what_an_event_adds_is_traced_less_untraced_and_leaves_out_what_is_the_same() -> None:
    untraced = event({(USER,): 31, (USER, "ksys_read"): 48, (USER, "gone"): 7}, Key("baseline", "none"))
    traced = event({(USER,): 31, (USER, "ksys_read"): 50, (USER, "ksys_read", "(BPF program)"): 7})
    assert {stack: one.instructions for stack, one in added(traced, untraced).items()} == {
        (USER, "ksys_read"): 2,
        (USER, "ksys_read", "(BPF program)"): 7,
        (USER, "gone"): -7,
    }


FIRST = "02-kprobe,libbpf,,0,(user space),31,0,0,0,0,0,0,9,10,100.5,"


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([FIRST, "02-kprobe,libbpf,,2,vfs_read,1,0,0,0,0,0,0,,,,"], "paths/tree"),
        ([FIRST, "02-kprobe,libbpf,,0,vfs_read,1,0,0,0,0,0,0,,,,"], "paths/tree"),
        (["02-kprobe,libbpf,,1,vfs_read,1,0,0,0,0,0,0,9,10,1,"], "paths/tree"),
        (["02-kprobe,libbpf,,0,(user space),1,0,0,0,0,0,0,,10,1,"], "paths/event"),
        ([FIRST, "02-kprobe,libbpf,,1,vfs_read,-1,0,0,0,0,0,0,,,,"], "paths/cell"),
        ([FIRST, "02-kprobe,libbpf,,1,=cmd(),1,0,0,0,0,0,0,,,,"], "paths/cell"),
    ],
)
def test_rows_that_are_no_event_are_refused_with_their_place(tmp_path: Path, rows: list[str], rule: str) -> None:
    found, problems = read_paths(written(tmp_path, *rows), "paths.csv")
    assert found == []
    assert [(one.rule, one.line) for one in problems] == [(rule, len(rows) + 1)]


def test_without_a_file_there_are_no_events(tmp_path: Path) -> None:
    assert read_paths(tmp_path / "paths.csv", "paths.csv") == ([], [])
