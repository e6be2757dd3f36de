"""tail-loop: every operation is in the bucket of its time, and the longest is known to the nanosecond."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.needs import needs
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadTask, build, parse
from probe_effect.model import Bucket
from probe_effect.store.result_tables import bucket_around

SOURCE = Path(__file__).parents[2] / "data" / "suites" / "tail" / "workload" / "tail-loop.c"
LONG_S = 30.0
PIPE_BYTES = 65536

pytestmark = needs("cc")

HARNESS = """
#define main workload
#include "{source}"
#undef main
#include <inttypes.h>

int main(int argc, char **argv)
{{
	uint64_t time_ns;

	(void)workload;
	if (argc > 1 && strcmp(argv[1], "all") == 0) {{
		for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
			printf("%" PRIu64 " %" PRIu64 "\\n", low_of(bucket), high_of(bucket));
		return 0;
	}}
	while (scanf("%" SCNu64, &time_ns) == 1)
		count_time(time_ns);
	if (argc > 1 && strcmp(argv[1], "full") == 0)
		for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
			counts[bucket] = INT64_MAX;
	print_histogram();
	return 0;
}}
"""
"""The workload's own functions, asked about times that we choose."""


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harness")
    (folder / "harness.c").write_text(HARNESS.format(source=SOURCE), encoding="utf-8")
    return build(folder / "harness.c", folder).path


def asked(harness: Path, *arguments: str, times_ns: list[int] | None = None) -> str:
    text = "\n".join(map(str, times_ns or []))
    return subprocess.run([harness, *arguments], input=text, capture_output=True, text=True, check=True).stdout


def counted(harness: Path, times_ns: list[int]) -> list[Bucket]:
    return [Bucket(*one) for one in json.loads(asked(harness, times_ns=times_ns))["histogram"]]


def test_buckets_leave_no_time_out_up_to_the_last_that_64_bits_hold(harness: Path) -> None:
    every = [tuple(map(int, line.split())) for line in asked(harness, "all").splitlines()]
    assert every[0] == (0, 0)
    assert every[-1][1] == 2**64 - 1
    assert all(after[0] == before[1] + 1 for before, after in pairwise(every))
    assert all(bucket_around(time_ns) == one for one in every for time_ns in one)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5000), min_size=1, max_size=200))
def test_each_time_is_counted_in_its_bucket_and_the_longest_ends_the_last(harness: Path, times_ns: list[int]) -> None:
    found = counted(harness, times_ns)
    for low_ns, high_ns, number in found:
        assert number == sum(low_ns <= time_ns <= high_ns for time_ns in times_ns)
    assert sum(one.operations for one in found) == len(times_ns)
    assert found[-1].high_ns == max(times_ns)


def test_all_buckets_together_fit_into_a_pipe_that_nobody_reads_yet(harness: Path) -> None:
    line = asked(harness, "full", times_ns=[2**64 - 1])
    assert len(line) + 160 < PIPE_BYTES  # with the line before it
    assert len(json.loads(line)["histogram"]) == len(asked(harness, "all").splitlines())


def test_a_run_has_all_its_operations_in_buckets(program: Path) -> None:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=20_000, cpu=NOT_PINNED))
    try:
        run = workload.go(LONG_S)
    finally:
        workload.end()
    assert sum(one.operations for one in run.histogram) == run.operations == 20_000
    assert sum(one.low_ns * one.operations for one in run.histogram) <= run.wall_ns
    assert run.histogram[-1].high_ns < run.wall_ns


LINE = '{"operations": 10, "wall_ns": 9000, "user_ns": 1, "sys_ns": 1}\n'


def test_a_second_line_is_the_histogram_of_the_run() -> None:
    assert parse(LINE).histogram == ()
    assert parse(f'{LINE}{{"histogram": [[0, 0, 1], [300, 303, 9]]}}\n').histogram == (
        Bucket(0, 0, 1),
        Bucket(300, 303, 9),
    )


@pytest.mark.parametrize(
    ("second", "words"),
    [
        pytest.param("hello", "expected a histogram", id="no JSON"),
        pytest.param("[]", "expected a histogram", id="no object"),
        pytest.param('{"histogram": 5}', "expected a histogram", id="no list"),
        pytest.param('{"histogram": [5]}', "expected a histogram", id="no buckets"),
        pytest.param('{"histogram": [[1, 2]]}', "expected a histogram", id="two numbers"),
        pytest.param('{"histogram": [[1, 2, "many"]]}', "expected a histogram", id="a word"),
        pytest.param('{"histogram": [[1, 2, Infinity]]}', "expected a histogram", id="without end"),
        pytest.param("[" * 60_000, "expected a histogram", id="nested deep"),
        pytest.param('{"histogram": [[5, 4, 10]]}', "10 operations of 5 to 4 ns", id="ends before it begins"),
        pytest.param('{"histogram": [[4, 5, 0]]}', "0 operations of 4 to 5 ns", id="empty"),
        pytest.param('{"histogram": [[4, 5, 5], [5, 6, 5]]}', "5 to 6 ns after 5 ns", id="overlap"),
        pytest.param('{"histogram": [[4, 5, 9]]}', "has 9 operations, expected 10", id="one missing"),
        pytest.param('{"histogram": []}', "has 0 operations, expected 10", id="nothing in it"),
    ],
)
def test_a_histogram_that_cannot_be_is_refused(second: str, words: str) -> None:
    with pytest.raises(WorkloadFailed, match=words):
        parse(f"{LINE}{second}\n")
