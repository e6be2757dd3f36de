"""Counts of two architectures: a matrix for each, what compares, what pages say of both; and of one CPU and two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.builders import copy_suite, counted_rows, counted_values, skipped_row, write_counted_submission, write_data
from helpers.evidence_builder import MACHINE, TRACER, case, evidence, measured, suite
from helpers.number_builder import number, submission
from helpers.written_pages import seen, with_fragments
from probe_effect.compare.comparison import ANOTHER_ARCHITECTURE, compare
from probe_effect.compare.kernels import CountedCase, beside, between_kernels, matrices
from probe_effect.costs.from_counts import calibrations, counted
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.facts import facts
from probe_effect.site.pages.kernels_page import write_all
from probe_effect.store.beside_files import Explanation
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.catalogue import Catalogue

OLD, NEW = "6.1.0-50", "6.12.107+deb13"
CASES = tuple(f"0{place}-{name}" for place, name in ((2, "kprobe"), (3, "kretprobe"), (6, "uprobe"), (7, "uretprobe")))


def count(
    data: Path,
    kernel: str,
    costs: Mapping[str, float],
    *,
    arm64: bool = False,
    cpus: int = 2,
    rows: list[Sample] | None = None,
) -> None:
    """What was counted on a kernel, by case with libbpf."""
    release = f"{kernel}-{'arm64' if arm64 else 'amd64'}"
    values = counted_values(release, f"qemu-{cpus}t-{kernel.replace('.', '-').replace('+', '-')}-{release[-5:]}")
    values["machine"] |= {"architecture": "aarch64" if arm64 else "x86_64", "threads": cpus, "cores": cpus}
    values["run"] |= {"mechanisms": {}}
    made = counted_rows({f"{name} libbpf": cost for name, cost in costs.items()})
    write_counted_submission(data, [*made, *(rows or [])], values)


def read(data: Path) -> Catalogue:
    if not (data / "suites").is_dir():
        copy_suite(data)
    return read_catalogue(DataFolder(data))


def test_each_architecture_has_a_matrix_of_its_own_and_x86_64_comes_first(tmp_path: Path) -> None:
    count(tmp_path, OLD, {"02-kprobe": 900}, arm64=True)
    count(tmp_path, OLD, {"02-kprobe": 300})
    found = matrices(read(tmp_path))
    assert [(one.architecture, one.kernels) for one in found] == [
        ("x86_64", (f"{OLD}-amd64",)),
        ("aarch64", (f"{OLD}-arm64",)),
    ]


def test_where_a_kernel_was_counted_with_one_cpu_and_two_the_two_count(tmp_path: Path) -> None:
    count(tmp_path, OLD, {"04-tracepoint-entry": 550})
    count(tmp_path, OLD, {"04-tracepoint-entry": 1069}, cpus=1)
    count(tmp_path, NEW, {"04-tracepoint-entry": 1100}, cpus=1)
    (found,) = matrices(read(tmp_path))
    cells = found.along_kernels(CountedCase("04-tracepoint-entry", None), "libbpf 1.1")
    assert [one.known_cost.value for one in cells] == [550, 1100]
    assert between_kernels(found) == []


def test_pages_quote_the_counts_that_they_show_and_those_with_one_cpu_by_a_key_of_their_own(tmp_path: Path) -> None:
    count(tmp_path, OLD, {"04-tracepoint-entry": 1069}, cpus=1)
    count(tmp_path, OLD, {"04-tracepoint-entry": 550})
    count(tmp_path, OLD, {"04-tracepoint-entry": 700}, arm64=True)
    found = facts(read(tmp_path))
    key = "6.1.libbpf.04-tracepoint-entry"
    texts = {start: found[f"instructions{start}.{key}"]["text"] for start in ("", ".one-cpu", ".arm64")}
    assert texts == {"": "550", ".one-cpu": "1\u202f069", ".arm64": "700"}


def test_counts_of_two_architectures_are_not_comparable() -> None:
    sides = [
        number(submission(name, metric="instructions", document={"machine__architecture": architecture}), cost)
        for name, architecture, cost in (
            ("a", "x86_64", Estimate(300, 299, 301)),
            ("b", "arm64", Estimate(900, 899, 901)),
        )
    ]
    found = compare(sides[0], sides[1])
    assert (found.outcome, found.reason, found.change_ratio) == ("not comparable", ANOTHER_ARCHITECTURE, None)


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_a_count_of_another_architecture_says_nothing_of_a_machine(architecture: str) -> None:
    other = {"x86_64": "arm64", "aarch64": "amd64"}[architecture]
    both = suite("loops", case("raw", "raw"))
    own = {"machine__architecture": architecture}
    found = evidence((both,), measured("raw", Estimate(100.0, 90.0, 110.0), document=own))
    emulated = submission("emulated", metric="instructions", document={"machine__architecture": other})
    found.counts["raw"] = [number(emulated, Estimate(300.0), "raw", TRACER)]
    assert counted(found, MACHINE, TRACER, both.cases[0]) is None
    assert list(calibrations(found, MACHINE)) == []


def test_a_count_of_the_same_architecture_by_its_other_name_says_it() -> None:
    one = suite("loops", case("raw", "raw"))
    found = evidence((one,), measured("raw", Estimate(100.0, 90.0, 110.0), document={"machine__architecture": "amd64"}))
    for cpus in (1, 2):
        emulated = submission(f"emulated-{cpus}", metric="instructions", document={"machine__threads": cpus})
        found.counts.setdefault("raw", []).append(number(emulated, Estimate(300.0), "raw", TRACER))
    nearest = counted(found, MACHINE, TRACER, one.cases[0])
    assert nearest is not None
    assert nearest.submission.machine == "emulated-2"


def test_cases_of_two_architectures_compare_by_their_share_of_an_untraced_operation_and_by_their_order(
    tmp_path: Path,
) -> None:
    count(tmp_path, NEW, dict(zip(CASES, (300, 600, 900, 1200), strict=True)) | {"19-fentry": 100})
    count(tmp_path, NEW, dict(zip(CASES, (300, 1200, 1800, 2400), strict=True)), arm64=True)
    catalogue = read(tmp_path)
    (found,) = beside(matrices(catalogue))
    assert (found.series, found.tracer, len(found.pairs)) == ("6.12", "libbpf 1.1", 4)
    page = seen(write_all(catalogue)["kernel-architectures.md"])
    said = [line for line in page.splitlines() if line.endswith(".")]
    assert said[0] == "An untraced operation takes 1 500 instructions on x86-64 and 1 500 on arm64."
    assert said[1] == "4 cases were counted on both; the rank correlation of their two orders is 1.00."
    assert "“Kprobe”" not in said[2]
    assert said[-1] == "On Linux 6.12 counted on x86-64 alone: “Fentry”."


def test_architectures_without_a_kernel_and_a_tracer_in_common_stand_beside_nothing(tmp_path: Path) -> None:
    count(tmp_path, OLD, {"02-kprobe": 300})
    count(tmp_path, NEW, {"02-kprobe": 300}, arm64=True)
    assert beside(matrices(read(tmp_path))) == []


@pytest.fixture
def pages(tmp_path: Path) -> dict[str, str]:
    """Fentry on arm64 from the newer kernel on; on x86-64 on both."""
    data = write_data(tmp_path)
    for kernel in (OLD, NEW):
        count(data, kernel, {"02-kprobe": 340, "19-fentry": 100})
    count(data, OLD, {"02-kprobe": 500}, arm64=True, rows=[tried("19-fentry")])
    count(data, NEW, {"02-kprobe": 510, "19-fentry": 140}, arm64=True)
    return with_fragments(read(data))


def tried(case_id: str) -> Sample:
    """The row of a case that the kernel has no means for."""
    return replace(skipped_row(99, case_id, "no trampolines"), block=9, tracer="libbpf")


def test_the_first_page_says_what_a_kprobe_takes_on_arm64_and_since_when_fentry_is_there(
    pages: dict[str, str],
) -> None:
    found = seen(pages["kernel-answers.md"])
    assert "Instructions of one event on x86-64\n6.1\n6.12\nKprobe\n340\n340\nFentry\n" in found
    assert "Instructions of one event on arm64\n6.1\n6.12\nKprobe\n500\n510\nFentry\nskipped\n140\n" in found
    assert "](/kernels/arm64/)" in pages["kernel-answers.md"]
    assert "With libbpf 1.1" in found


def test_each_architecture_has_a_page_of_its_counts(pages: dict[str, str]) -> None:
    assert "Kprobe\n340\n340" in seen(pages["kernels/x86-64.md"])
    arm64 = seen(pages["kernels/arm64.md"])
    assert "Kprobe\n500\n510" in arm64
    assert "“Fentry” with libbpf 1.1 on Linux 6.1: skipped: no trampolines." in arm64


def test_the_page_of_a_case_has_a_table_for_each_architecture(pages: dict[str, str]) -> None:
    found = seen(pages["costs/02-kprobe.md"])
    assert "x86-64\nOn x86-64, Linux" in found
    assert "libbpf 1.1\n500\n510" in found


def test_charts_of_an_architecture_have_names_of_their_own(pages: dict[str, str]) -> None:
    assert '"instructions-per-event-tracers"' in pages["kernels/x86-64.md"]
    assert '"instructions-arm64-per-event-tracers"' in pages["kernels/arm64.md"]


def test_the_largest_change_of_each_cause_is_told_and_the_cause_itself_on_the_page_of_all(tmp_path: Path) -> None:
    count(tmp_path, "5.10.0-32", {"19-fentry": 36, "20-fexit": 59})
    count(tmp_path, OLD, {"19-fentry": 129, "20-fexit": 184})
    copy_suite(tmp_path)
    cause = Explanation(
        id="guards",
        certainty="read",
        cases=("19-fentry", "20-fexit"),
        of="kernel",
        before="5.10",
        since="5.11",
        change="more",
        says="The trampoline calls `migrate_disable()` <first>.",
        references=("linux-x",),
    )
    catalogue = replace(read(tmp_path), explanations=(cause,))
    found = with_fragments(catalogue)
    assert found["kernel-findings.md"].count("(36 to 129). [Cause](/kernels/changes/#guards).") == 1
    every = found["kernels/changes.md"]
    assert every.count(" [1](/kernels/changes/#guards)") == 2
    assert "- [1](#=guards): The trampoline calls `migrate_disable()` &#60;first&#62;." in every
    assert every.count("The trampoline calls") == 1
    assert '{{< reference "linux-x" >}} Read in the source.' in every
