"""What of a script could be changed so that it costs less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.script_examples import texts
from probe_effect.scripts.clauses import CheaperScript, cheaper
from probe_effect.scripts.script import read_script
from scripts.test_scripts import SCRIPTS, read_or_refused

if TYPE_CHECKING:
    from pathlib import Path


def changes(text: str) -> list[CheaperScript]:
    return cheaper(read_script(text))


def changed(text: str) -> list[str]:
    return [one.text for one in changes(text) if one.text is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('t:a:b /pid == 1/ { printf("%d %s\\n", pid, comm); }', "t:a:b /pid == 1/ { @[pid, comm] = count(); }"),
        ('t:a:b { time(); printf("%s\\n", str(args->p)) }', "t:a:b { @[str(args->p)] = count(); }"),
        ('t:a:b { printf("%d %s", elapsed / 1e6, comm); }', "t:a:b { @[comm] = count(); }"),
        ('t:a:b { printf("hit\\n"); }', "t:a:b { @ = count(); }"),
        ("t:a:b { print(comm); }", "t:a:b { @[comm] = count(); }"),
    ],
)
def test_a_line_for_each_event_becomes_a_count_with_the_same_key(text: str, expected: str) -> None:
    assert changed(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        'BEGIN { printf("x"); }',
        'i:s:1 { printf("x"); }',
        "i:s:1 { print(@) }",
        't:a:b { $x = 1; printf("%d", $x); }',
        't:a:b { printf("x"); @ = count(); }',
        "t:a:b { }",
        "t:a:b { print(@x); }",
    ],
)
def test_lines_that_no_event_prints_or_that_need_more_than_a_count_stay(text: str) -> None:
    assert changed(text) == []


def test_a_wrapper_of_a_system_call_becomes_its_tracepoint() -> None:
    text = "u:libc:read { @ = count() } ur:/lib/x86_64-linux-gnu/libc.so.6:__read { @r = count() }"
    entry, leave = "tracepoint:syscalls:sys_enter_read", "tracepoint:syscalls:sys_exit_read"
    assert changed(text) == [f"{entry} {{ @ = count() }} {leave} {{ @r = count() }}"]


def test_a_change_is_only_named_where_arguments_are_used() -> None:
    (change,) = changes("u:libc:read { @ = sum(arg2) }")
    assert change.text is None
    assert "arguments have other names" in change.description


def test_a_kprobe_becomes_a_trampoline_unless_it_is_within_a_function() -> None:
    assert changed("k:vfs_read { @[pid] = count() }") == ["kfunc:vfs_read { @[pid] = count() }"]
    assert changed("k:vfs_read+4 { @[pid] = count() }") == []
    assert changed("k:vfs_* { @[pid] = count() }") == []


def test_every_system_call_is_cheaper_by_the_raw_tracepoint() -> None:
    assert changed("t:raw_syscalls:sys_enter { @[comm] = count() }") == [
        "rawtracepoint:sys_enter { @[comm] = count() }"
    ]


def test_strace_is_given_a_filter_where_it_can_use_one() -> None:
    assert changed("strace -f -e read ls") == ["strace --seccomp-bpf -f -e read ls"]
    assert changed("strace -e read -p 1") == []
    assert changed("strace -f ls") == []


def test_changes_with_a_text_come_first() -> None:
    texts_first = [one.text is None for one in changes("k:f { @[kstack] = count() }")]
    assert texts_first == [False, True]


@pytest.mark.parametrize("number", range(len(texts())))
def test_every_changed_text_can_be_read_and_has_as_many_probes(number: int) -> None:
    found = read_or_refused(texts()[number])
    if not isinstance(found, Exception):
        for change in changed(found.text):
            assert len(read_script(change).probes) == len(found.probes)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_changes_of_our_own_scripts_can_be_read(path: Path) -> None:
    for change in changed(path.read_text(encoding="utf-8")):
        assert read_script(change).probes
