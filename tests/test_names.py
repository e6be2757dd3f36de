"""How machines, tools and dates are called in prose."""

from __future__ import annotations

import pytest

from builders import machine_document
from evidence_builder import case, suite
from probe_effect import units
from probe_effect.numbers import names


@pytest.mark.parametrize(
    ("name", "version", "called"),
    [
        ("bpftrace", "bpftrace v0.17.0", "bpftrace 0.17.0"),
        ("bpftrace-0-23-2", "bpftrace v0.23.2", "bpftrace 0.23.2"),
        ("dtrace-2-0-7", "dtrace: D 2.0.7", "dtrace 2.0.7"),
        ("perf-stat", "perf version 6.1.176", "perf-stat 6.1.176"),
        ("strace", "strace -- version 6.1", "strace 6.1"),
        ("trace-cmd", "trace-cmd version 3.1.6 (not-a-git-repo)", "trace-cmd 3.1.6"),
        ("libbpf", "libbpf v1.1, Debian clang version 14.0.6", "libbpf 1.1"),
        ("ftrace", "Linux 6.18.44-fc-v669", "ftrace"),
        ("mine", "newest", "newest"),
        ("dormant", None, "dormant"),
    ],
)
def test_a_tool_is_called_by_its_name_and_the_number_of_its_version(
    name: str, version: str | None, called: str
) -> None:
    assert names.tool(name, version) == called


def test_a_case_is_called_by_its_title_and_by_that_of_its_suite_where_another_case_has_the_title() -> None:
    suites = [
        suite("first", case("01-control", title="Control"), case("02-kprobe", title="Kprobe"), title="What costs"),
        suite("second", case("01-other-control", title="Control"), title="What else"),
    ]
    assert names.titles(suites) == {
        "01-control": "Control (What costs)",
        "02-kprobe": "Kprobe",
        "01-other-control": "Control (What else)",
    }


def test_a_machine_is_called_by_what_decides_its_times() -> None:
    assert names.machine_name(machine_document()) == "Example CPU 9000, 8 CPUs, Linux 6.12"
    nameless = machine_document(machine__cpu_model=None, machine__virtualization="KVM")
    assert names.machine_name(nameless) == "x86-64, 8 CPUs, KVM, Linux 6.12"


@pytest.mark.parametrize(
    ("machine", "word"),
    [("x86_64", "x86-64"), ("amd64", "x86-64"), ("aarch64", "arm64"), ("arm64", "arm64"), ("riscv64", "riscv64")],
)
def test_an_architecture_has_one_name_whatever_the_kernel_calls_it(machine: str, word: str) -> None:
    assert names.architecture(machine) == word


@pytest.mark.parametrize(
    ("release", "series"), [("6.18.44-fc-v669", "6.18"), ("6.12.1-amd64", "6.12"), ("7.0", "7.0"), ("14-RELEASE", "14")]
)
def test_a_kernels_series_is_its_first_two_numbers(release: str, series: str) -> None:
    assert names.release_series(release) == series


@pytest.mark.parametrize(
    ("date", "words"),
    [("2023-05-19", "19 May 2023"), ("2023-12", "December 2023"), ("2023", "2023"), ("not stated", "not stated")],
)
def test_dates_read_as_prose(date: str, words: str) -> None:
    assert names.date_words(date).replace(units.GAP, " ") == words
