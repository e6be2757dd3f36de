"""How machines, tools and dates are called in prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import changed, copy_suite, machine_document, machine_values, write_submission
from helpers.evidence_builder import case, suite
from helpers.number_builder import submission
from probe_effect import units
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


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


def test_a_version_that_only_an_id_tells_is_written_as_one() -> None:
    named = [names.tracer_name(one) for one in ("dtrace-2-0-7", "perf-stat", "bpftrace")]
    assert named == ["dtrace 2.0.7", "perf-stat", "bpftrace"]


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


def test_the_facts_of_a_machine_are_what_decides_its_times() -> None:
    assert names.machine_facts(machine_document()) == "Example CPU 9000, 8 CPUs, Linux 6.12"
    nameless = machine_document(machine__cpu_model=None, machine__virtualization="KVM")
    assert names.machine_facts(nameless) == "x86-64, 8 CPUs, KVM, Linux 6.12"


KVM = "machine__virtualization"


@pytest.mark.parametrize(
    ("machine", "model", "core", "more", "name"),
    [
        ("amd-epyc-2t-kvm-4247", "AMD EPYC", "Zen 5", {KVM: "KVM"}, "EPYC Zen 5 guest, 4247"),
        ("amd-epyc-2t-kvm-2922", "AMD EPYC", None, {KVM: "KVM"}, "EPYC guest, 2922"),
        ("amd-epyc-64t-1a2b", "AMD EPYC 9354 32-Core Processor", "Zen 4", {}, "EPYC Zen 4, 1a2b"),
        ("x-0b2a", "Intel(R) Xeon(R) Processor @ 2.80GHz", "Skylake", {KVM: "KVM"}, "Xeon Skylake guest, 0b2a"),
        ("arm-77aa", "Neoverse-N1", "Neoverse-N1", {}, "Neoverse-N1, 77aa"),
        ("unknown-1a2b", None, None, {}, "x86-64, 1a2b"),
        ("amd-1a2b", "AMD", None, {}, "AMD, 1a2b"),
    ],
)
def test_a_machine_has_one_short_name(
    machine: str, model: str | None, core: str | None, more: dict[str, str], name: str
) -> None:
    document = {"machine__cpu_model": model, "machine__microarchitecture": core, **more}
    assert names.machine_name(submission(machine, document=document)) == name


@pytest.mark.parametrize(
    ("architecture", "release", "name"),
    [
        ("x86_64", "6.12.107+deb13-amd64", "Linux 6.12.107, emulated, 1c23"),
        ("aarch64", "6.1.0-50-arm64", "Linux 6.1.0-50 arm64, emulated, 1c23"),
        ("x86_64", "7.0-rc1", "Linux 7.0-rc1, emulated, 1c23"),
    ],
)
def test_an_emulated_machine_is_called_by_its_kernel(architecture: str, release: str, name: str) -> None:
    document = {"machine__architecture": architecture, "system__kernel_release": release}
    assert names.machine_name(submission("qemu-1c23", metric="instructions", document=document)) == name


def test_a_core_that_one_run_recorded_is_in_the_name_of_the_machine_for_all_its_runs(tmp_path: Path) -> None:
    early = changed(machine_values(), "machine.cpu_model", "AMD EPYC")
    late = changed(early, "machine.microarchitecture", "Zen 4")
    for values, day in ((early, "2026-11-20"), (late, "2026-11-21")):
        write_submission(tmp_path, None, changed(values, "run.started", f"{day}T10:00:00Z"), f"{day}-tiny")
    copy_suite(tmp_path)
    found = read_catalogue(DataFolder(tmp_path)).timed
    assert [names.machine_name(one) for one in found] == ["EPYC Zen 4, machine"] * 2


def test_two_machines_whose_ids_end_alike_have_the_whole_ids_in_their_names(tmp_path: Path) -> None:
    for machine in ("amd-epyc-2t-4247", "amd-epyc-8t-4247"):
        write_submission(tmp_path, None, changed(machine_values(), "machine.id", machine))
    copy_suite(tmp_path)
    found = read_catalogue(DataFolder(tmp_path)).timed
    assert [names.machine_name(one) for one in found] == ["Example, amd-epyc-2t-4247", "Example, amd-epyc-8t-4247"]


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
