"""The published figures that were read in commit messages, issues, documents and mails.

All numbers below were typed by hand from those texts.
"""

import csv
import tomllib
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"

# How much of each source was read: source, `read`, `grade`.
READ = {
    "async-profiler-14-overhead": ("excerpt", "X"),
    "bcc-1317-detach": ("excerpt", "X"),
    "bcc-200-attach": ("excerpt", "X"),
    "beyla-3099-documents": ("file", "F"),
    "bpftrace-1298-count": ("excerpt", "X"),
    "bpftrace-3053-attach": ("excerpt", "X"),
    "cook-2020-seccomp-benchmark": ("excerpt", "X"),
    "docker-python-366-dtrace": ("excerpt", "X"),
    "falco-1404-dd": ("excerpt", "X"),
    "gorman-2017-audit-clock": ("excerpt", "X"),
    "kepler-1685-switch": ("excerpt", "X"),
    "nakryiko-2020-test-overhead": ("excerpt", "X"),
    "nakryiko-2024-uprobe-lookup": ("excerpt", "X"),
    "neuling-2010-audit": ("excerpt", "X"),
    "node-6432-probes": ("excerpt", "X"),
    "obi-1025-redis": ("excerpt", "X"),
    "olsa-2022-kprobe-multi": ("full", "S"),
    "olsa-2026-tracing-multi": ("excerpt", "X"),
    "opentelemetry-2026-memory-profiling": ("file", "F"),
    "pep-831-frame-pointers": ("file", "F"),
    "rocm-8907-lttng": ("excerpt", "X"),
    "rutland-2023-ftrace-ops": ("excerpt", "X"),
    "seastar-3449-lttng": ("excerpt", "X"),
    "srinivasa-2008-kretprobe-locks": ("excerpt", "X"),
    "starovoitov-2016-tracepoint-kprobe": ("full", "S"),
    "starovoitov-2019-bpf-stats": ("full", "S"),
    "tetragon-3428": ("excerpt", "X"),
    "valkey-3269-lttng": ("excerpt", "X"),
    "wuqiang-2023-objpool": ("excerpt", "X"),
    "xu-2025-ring-buffer-producers": ("excerpt", "X"),
}

# Source, figure, as printed, value, unit.
PRINTED = [
    ("async-profiler-14-overhead", "rate_during", "1001", "1001", "hz"),
    ("async-profiler-14-overhead", "fp_most", "< 0.3%", "0.3", "percent"),
    ("bcc-1317-detach", "real_8cpu", "0m40.703s", "40.703", "s"),
    ("bcc-200-attach", "stop_b", "75 sec", "75", "s"),
    ("beyla-3099-documents", "claim_request", "500ns", "500", "ns"),
    ("beyla-3099-documents", "cpu_otel", "1.5%", "1.5", "percent"),
    ("bpftrace-1298-count", "cycles_after", "3,324,209,184,058", "3324209184058", "count"),
    ("bpftrace-3053-attach", "attach", "~17 seconds", "17", "s"),
    ("cook-2020-seccomp-benchmark", "total_full_4", "73781673412", "73781673412", "ns"),
    ("cook-2020-seccomp-benchmark", "cost_full_3", "82 ns", "82", "ns"),
    ("docker-python-366-dtrace", "affected", "26", "26", "count"),
    ("falco-1404-dd", "time_with", "261.711 s", "261.711", "s"),
    ("obi-1025-redis", "cpu_with", "47.1%", "47.1", "percent"),
    ("tetragon-3428", "cpu", "about 400%", "400", "percent"),
    ("gorman-2017-audit-clock", "sysbench", "11.5%", "11.5", "percent"),
    ("kepler-1685-switch", "each_sampled_2", "433.609", "433.609", "ns"),
    ("nakryiko-2020-test-overhead", "bench_kretprobe", "2.625 ± 0.052M/s", "2625000", "hz"),
    ("nakryiko-2020-test-overhead", "self_fexit", "4010K events per sec", "4010000", "hz"),
    ("nakryiko-2024-uprobe-lookup", "total_5", "11.036 ± 0.013M/s", "11036000", "hz"),
    ("neuling-2010-audit", "cycles", "668.09 cycles", "668.09", "count"),
    ("node-6432-probes", "share", "over 10%", "10", "percent"),
    ("olsa-2022-kprobe-multi", "detach", "0.373s", "0.373", "s"),
    ("olsa-2026-tracing-multi", "attach", "1.295s", "1.295", "s"),
    ("opentelemetry-2026-memory-profiling", "time_100", "1,068 µs", "1068", "us"),
    ("pep-831-frame-pointers", "epyc", "1.8%", "1.8", "percent"),
    ("pep-831-frame-pointers", "data_dwarf", "306.5 MB", "306.5", "MB"),
    ("rocm-8907-lttng", "hsa_rocprof", "125.991×", "125.991", "ratio"),
    ("rutland-2023-ftrace-ops", "total_irrelevant", "1693042ns", "1693042", "ns"),
    ("seastar-3449-lttng", "dormant", "~3 ns", "3", "ns"),
    ("srinivasa-2008-kretprobe-locks", "sys_unpatched", "3m17.430s", "197.430", "s"),
    ("starovoitov-2016-tracepoint-kprobe", "kprobe_urandom", "279k", "279000", "hz"),
    ("starovoitov-2019-bpf-stats", "added", "~20 nsec", "20", "ns"),
    ("valkey-3269-lttng", "b_main_off_set", "77327.55", "77327.55", "hz"),
    ("valkey-3269-lttng", "a_pct_main_off_get", "−2.1%", "-2.1", "percent"),
    ("wuqiang-2023-objpool", "freelist_128", "9931051", "9931051", "count"),
    ("wuqiang-2023-objpool", "native_96", "2615754135", "2615754135", "count"),
    ("xu-2025-ring-buffer-producers", "v2_24", "2.545 ± 0.021M/s", "2545000", "hz"),
]

# Worked out by hand from the printed ones.
DERIVED = [
    ("cook-2020-seccomp-benchmark", "each_native", 638.88),
    ("falco-1404-dd", "cost", 144.895e9 / 209_715_200),
    ("obi-1025-redis", "cost", 1e6 * (0.471 / 9654 - 0.279 / 9813)),
    ("nakryiko-2020-test-overhead", "cost_bench_kprobe", 1e3 / 3.673 - 1e3 / 4.622),
    ("olsa-2026-tracing-multi", "attach_each", 1.295e6 / 51_186),
    ("starovoitov-2016-tracepoint-kprobe", "cost_kprobe_urandom", 1e9 / 279e3 - 1e9 / 300e3),
    ("wuqiang-2023-objpool", "cost_freelist_1", 1e10 / 24_150_045 - 1e10 / 41_186_213),
    ("xu-2025-ring-buffer-producers", "time_52", 52e3 / 3.463),
]

Row = dict[str, str]


def rows(source: str) -> dict[str, Row]:
    with (DATA / "published" / source / "figures.csv").open(encoding="utf-8", newline="") as file:
        return {row["figure"]: row for row in csv.DictReader(file)}


def description(source: str) -> dict[str, Any]:
    return tomllib.loads((DATA / "published" / source / "source.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("source", "figure", "printed", "value", "unit"), PRINTED)
def test_a_figure_is_as_its_text_prints_it(source: str, figure: str, printed: str, value: str, unit: str) -> None:
    row = rows(source)[figure]
    assert (row["printed"], row["value"], row["unit"]) == (printed, value, unit)


@pytest.mark.parametrize(("source", "figure", "expected"), DERIVED)
def test_a_figure_that_we_derived_is_what_the_printed_ones_give(source: str, figure: str, expected: float) -> None:
    row = rows(source)[figure]
    assert float(row["value"]) == pytest.approx(expected, rel=0.005)
    assert (row["printed"], row["grade"][-1]) == ("", "D")


@pytest.mark.parametrize("source", READ)
def test_a_source_says_how_much_of_it_was_read(source: str) -> None:
    found, (read, grade) = description(source), READ[source]
    assert (found["read"], found["grade"]) == (read, grade)
    assert found["remarks"][0].startswith("Only an excerpt") == (read == "excerpt")


@pytest.mark.parametrize("source", READ)
def test_a_figure_of_a_text_has_its_grade(source: str) -> None:
    _, grade = READ[source]
    of_the_issue = {"request"} if source == "beyla-3099-documents" else set()
    assert {row["grade"] for name, row in rows(source).items() if name not in of_the_issue} <= {grade, f"{grade}D"}


@pytest.mark.parametrize("source", READ)
def test_a_text_can_be_found_again(source: str) -> None:
    where = description(source)["where"]
    assert any(
        mark in where
        for mark in ("git.kernel.org/torvalds/c/", "github.com/", "mail-archive", "/archives/", "at commit")
    )


def test_a_figure_is_next_to_a_case_that_there_is() -> None:
    suites = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (DATA / "suites").glob("*/suite.toml"))
    known = {case["id"] for suite in suites for case in suite["cases"]}
    named = {row["case"] for source in READ for row in rows(source).values()} - {""}
    assert named
    assert named <= known
