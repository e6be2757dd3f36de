"""A workload is compiled once, waits for its go, times its loop, and says so when it cannot."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.needs import needs
from probe_effect.host.workloads import (
    NOT_PINNED,
    WorkloadFailed,
    WorkloadProcess,
    WorkloadTask,
    build,
    clock_read_ns,
    parse,
)
from probe_effect.model import HostNotReady, ProbeEffectError

HERE = Path(__file__).parents[1]
SOURCE = HERE.parent / "data" / "suites" / "per-event" / "workload" / "dd-loop.c"
LONG_S = 30.0
AT_ONCE_S = 0.2

needs_cc = needs("cc")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{HERE / 'fakes' / 'bin'}:{os.environ['PATH']}")


def load(cache: Path, operations: int, cpu: int = NOT_PINNED) -> WorkloadTask:
    """So many operations of the real loop, built in `cache`."""
    return WorkloadTask(program=build(SOURCE, cache).path, operations=operations, cpu=cpu)


@needs_cc
def test_the_loop_performs_what_it_is_asked_and_times_itself(tmp_path: Path) -> None:
    workload = WorkloadProcess(load(tmp_path, operations=5000))
    run = workload.go(LONG_S)
    workload.end()
    assert run.operations == 5000
    assert run.wall_ns > 0
    assert run.user_ns + run.sys_ns > 0


@needs_cc
def test_a_clock_read_has_a_cost(tmp_path: Path) -> None:
    cost_ns = clock_read_ns(build(SOURCE, tmp_path).path, NOT_PINNED)
    assert cost_ns is not None
    assert cost_ns > 0


@needs_cc
def test_a_loop_that_cannot_be_pinned_is_quoted(tmp_path: Path) -> None:
    workload = WorkloadProcess(load(tmp_path, operations=10, cpu=1023))
    with pytest.raises(WorkloadFailed, match="sched_setaffinity"):
        workload.go(LONG_S)
    workload.end()


@needs_cc
def test_a_loop_that_does_not_end_in_time_is_ended(tmp_path: Path) -> None:
    workload = WorkloadProcess(load(tmp_path, operations=2**40))
    with pytest.raises(WorkloadFailed, match="had not ended"):
        workload.go(AT_ONCE_S)
    workload.end()


@pytest.mark.usefixtures("fakes")
def test_a_source_is_compiled_once_and_again_when_it_changes(tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text("int main;", encoding="utf-8")
    first = build(source, tmp_path)
    made = first.path.stat().st_mtime_ns
    assert build(source, tmp_path) == first
    assert first.path.stat().st_mtime_ns == made
    source.write_text("int other;", encoding="utf-8")
    assert build(source, tmp_path).path != first.path
    assert first.compiler == "fake-cc 1.0 -O2 -std=c11 -Wall -Wextra"


@pytest.mark.usefixtures("fakes")
def test_a_source_is_compiled_again_when_a_header_of_ours_changes(tmp_path: Path) -> None:
    source, header = tmp_path / "suite" / "workload" / "loop.c", tmp_path / "loop.h"
    source.parent.mkdir(parents=True)
    source.write_text('#include "../../loop.h"\nint main;', encoding="utf-8")
    header.write_text("int first;", encoding="utf-8")
    first = build(source, tmp_path)
    header.write_text("int second;", encoding="utf-8")
    assert build(source, tmp_path).path != first.path


def test_cpu_time_is_the_workloads_own_word_where_another_process_did_the_work() -> None:
    workload = WorkloadProcess(WorkloadTask(program=HERE / "fakes" / "workload", operations=10_000_000, cpu=NOT_PINNED))
    run = workload.go(LONG_S)
    workload.end()
    assert (run.user_ns, run.sys_ns) == (10_000_000_000, 0)  # ten seconds, of which the fake itself used none


def test_the_level_stands_before_the_variant_which_the_baseline_lacks() -> None:
    level = WorkloadTask(program=Path("loop"), operations=5, cpu=1, level="0")
    assert level.words() == ("loop", "5", "1", "0")
    assert replace(level, variant="usdt").words() == ("loop", "5", "1", "0", "usdt")
    assert replace(level, level=None, variant="usdt").words() == ("loop", "5", "1", "usdt")


@pytest.mark.usefixtures("fakes")
def test_a_compiler_that_refuses_is_quoted(tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text("refuse-me", encoding="utf-8")
    with pytest.raises(ProbeEffectError, match="the fake compiler refuses"):
        build(source, tmp_path)


def test_without_a_compiler_the_host_is_not_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostNotReady, match="apt install gcc"):
        build(SOURCE, tmp_path)


@pytest.mark.parametrize("text", ["", "hello", "[]", '{"operations": 5}', '{"operations": "x", "wall_ns": 1}'])
def test_other_output_than_the_one_line_is_refused(text: str) -> None:
    with pytest.raises(WorkloadFailed, match="expected one line of JSON"):
        parse(text)
