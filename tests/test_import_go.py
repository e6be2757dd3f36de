"""The text of `go test -bench`: repeated lines, names with and without GOMAXPROCS, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import PROJECT
from import_builders import figures_by_id, is_read_or_refused, source_of
from probe_effect.errors import UsageError
from probe_effect.importers.extracted import MAX_REPEATS
from probe_effect.importers.files import GivenFile, read_given
from probe_effect.importers.go_bench import read_go_bench

RECORDED = PROJECT / "tests" / "data" / "import"
UNTRACED = "BenchmarkGetpidWithoutAnyProbes/getpid"
TRACEPOINT = "BenchmarkGetpidTracepointWithNoMap/getpid"


def bench(*lines: str) -> GivenFile:
    return GivenFile("bench.txt", "\n".join(lines))


def test_repeated_lines_are_repeated_runs_of_one_benchmark() -> None:
    extracted = read_go_bench([read_given(RECORDED / "go-bench.txt")])
    assert [one.name for one in extracted.series][:2] == [UNTRACED, TRACEPOINT]
    assert [one.printed for one in extracted.series[0].readings] == ["336.3 ns/op", "362.1 ns/op", "440.8 ns/op"]
    assert extracted.series[0].readings[0].note == "987493 operations in this run."
    assert extracted.facts["repeats"] == "3"
    assert extracted.facts["hardware"] == "AMD EPYC"
    assert extracted.facts["os"] == "linux amd64"
    assert "GOMAXPROCS 2" in extracted.facts["method"]


def test_the_cost_is_between_the_medians_of_the_runs() -> None:
    source = source_of(
        read_go_bench([read_given(RECORDED / "go-bench.txt")]), UNTRACED, cases={TRACEPOINT: "04-tracepoint-entry"}
    )
    cost = figures_by_id(source)["cost_getpid_tracepoint_with_no_map_getpid"]
    assert cost.cost_ns == Decimal("864.4") - Decimal("362.1")
    assert cost.baseline_ns == Decimal("362.1")
    assert cost.case == "04-tracepoint-entry"
    fastest = figures_by_id(source)["fastest_cost_getpid_tracepoint_with_no_map_getpid"]
    assert fastest.value == Decimal("553.5") - Decimal("336.3")


def test_a_single_run_is_its_own_time() -> None:
    source = source_of(read_go_bench([read_given(RECORDED / "go-bench-one-cpu.txt")]), UNTRACED)
    figures = figures_by_id(source)
    assert set(figures) == {
        "ns_1_getpid_without_any_probes_getpid",
        "ns_1_getpid_tracepoint_with_simple_map_getpid",
        "cost_getpid_tracepoint_with_simple_map_getpid",
        "slowdown_getpid_tracepoint_with_simple_map_getpid",
    }
    assert figures["cost_getpid_tracepoint_with_simple_map_getpid"].value == Decimal(2241)


def test_a_failed_test_run_is_told() -> None:
    extracted = read_go_bench([read_given(RECORDED / "go-bench-failed.txt")])
    assert len(extracted.series) == 3
    assert extracted.remarks == ("The test run reports a failure, so benchmarks may be missing.",)


def test_the_end_of_a_name_is_only_cut_when_all_names_share_it() -> None:
    apart = read_go_bench([bench("BenchmarkRead/size-16 10 5 ns/op", "BenchmarkRead/size-32 10 5 ns/op")])
    assert [one.name for one in apart.series] == ["BenchmarkRead/size-16", "BenchmarkRead/size-32"]
    alike = read_go_bench([bench("BenchmarkRead/size-16-8 10 5 ns/op", "BenchmarkWrite-8 10 5 ns/op")])
    assert [one.name for one in alike.series] == ["BenchmarkRead/size-16", "BenchmarkWrite"]


def test_a_loop_that_was_optimised_away_gives_no_cost() -> None:
    extracted = read_go_bench([bench("BenchmarkBase 10 5 ns/op", "BenchmarkGone 1000000000 0.0000 ns/op")])
    source = source_of(extracted, baseline="BenchmarkBase")
    assert [figure.figure for figure in source.figures] == ["ns_1_base", "ns_1_gone"]


def test_lines_of_several_files_are_joined() -> None:
    file = bench("BenchmarkRead 10 5 ns/op")
    assert len(read_go_bench([file, file]).series[0].readings) == 2


def test_the_baseline_is_named_as_the_file_names_it() -> None:
    extracted = read_go_bench([read_given(RECORDED / "go-bench.txt")])
    with pytest.raises(UsageError, match=rf"--baseline: `none` is not in the files.*`{UNTRACED}`"):
        source_of(extracted, baseline="none")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "no such line", id="nothing"),
        pytest.param("BenchmarkRead 10 5 MB/s", "no such line", id="no time"),
        pytest.param("BenchmarkRead 10 1e308 ns/op", "bench.txt:1: `1e308`", id="huge"),
        pytest.param("ok\nBenchmarkRead 10 -5 ns/op", "bench.txt:2: `-5`", id="negative"),
        pytest.param("BenchmarkRead 10 NaN ns/op", "bench.txt:1: `NaN`", id="NaN"),
        pytest.param("BenchmarkRead 10 0 ns/op", "no time above 0", id="no time at all"),
        pytest.param("BenchmarkRead 10 5 ns/op\n" * (MAX_REPEATS + 1), f"run {MAX_REPEATS + 1}", id="too many runs"),
        pytest.param("".join(f"Benchmark{n} 1 5 ns/op\n" for n in range(300)), "more than 200 names", id="many names"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        source_of(read_go_bench([GivenFile("bench.txt", text)]))
    assert says in str(caught.value)
    assert "Expected " in str(caught.value)


NAMES = st.from_regex(r"\ABenchmark\S{0,40}\Z")
NUMBERS = st.floats().map(str) | st.decimals().map(str) | st.integers(0, 10**20).map(str)


@settings(max_examples=300)
@given(st.lists(st.tuples(NAMES, NUMBERS, NUMBERS), max_size=6), st.text(max_size=40))
def test_any_text_is_read_or_refused(lines: list[tuple[str, str, str]], rest: str) -> None:
    text = rest + "\n" + "\n".join(f"{name} {count} {time} ns/op" for name, count, time in lines)

    def read() -> None:
        extracted = read_go_bench([GivenFile("bench.txt", text)])
        source_of(extracted, baseline=extracted.series[0].name)

    assert is_read_or_refused(read)
