"""Attach points of each tool in the words that bpftrace has for them."""

from __future__ import annotations

import pytest

from probe_effect.live.places import as_bpftrace, parts
from probe_effect.scripts.script import Language, read_script


@pytest.mark.parametrize(
    ("script", "language", "found"),
    [
        ("uprobe:libc:malloc { @ = count(); }", "bpftrace", "uprobe:libc:malloc"),
        ("syscall::read:entry { @ = count(); }", "d", "tracepoint:syscalls:sys_enter_read"),
        ("syscall:::entry { @ = count(); }", "d", "tracepoint:raw_syscalls:sys_enter"),
        ("syscall::read:return { @ = count(); }", "d", "tracepoint:syscalls:sys_exit_read"),
        ("fbt::vfs_read:entry { @ = count(); }", "d", "kprobe:vfs_read"),
        ("fbt::vfs_read:return { @ = count(); }", "d", "kretprobe:vfs_read"),
        ("pid$target:libc:malloc:return { @ = count(); }", "d", "uretprobe:libc:malloc"),
        ("sched:::on-cpu { @ = count(); }", "d", "tracepoint:sched:sched_switch"),
        ("python$target:::function-entry { @ = count(); }", "d", "usdt::python:function__entry"),
        ("strace -f -e trace=read -p 3", "strace", "tracepoint:raw_syscalls:sys_enter"),
        ("perf trace -p 3", "perf", "tracepoint:raw_syscalls:sys_enter"),
        ("perf record -e sched:sched_switch -a", "perf", "tracepoint:sched:sched_switch"),
        ("perf stat -e page-faults -p 3", "perf", "software:page-faults:"),
        ("trace-cmd record -e sched:sched_switch", "ftrace", "tracepoint:sched:sched_switch"),
    ],
)
def test_every_tools_attach_points_have_a_word_of_bpftraces(script: str, language: Language, found: str) -> None:
    read = read_script(script)
    assert read.language == language
    (probe,) = read.probes
    assert as_bpftrace(probe.attach, probe.kind, language) == found


@pytest.mark.parametrize("attach", ["mdb:::x", "tick-1s", "lockstat:::adaptive-block"])
def test_what_nothing_here_answers_to_has_none(attach: str) -> None:
    assert as_bpftrace(attach, "unknown", "d") is None


@pytest.mark.parametrize(
    ("attach", "found"),
    [
        ("uprobe:/bin/a:main", ["uprobe", "/bin/a", "main"]),
        ('uprobe:/bin/a:cpp:"a::b(int)"', ["uprobe", "/bin/a", "cpp", '"a::b(int)"']),
        ("usdt:/bin/a::probe", ["usdt", "/bin/a", "", "probe"]),
    ],
)
def test_colons_between_quotation_marks_divide_nothing(attach: str, found: list[str]) -> None:
    assert parts(attach) == found
