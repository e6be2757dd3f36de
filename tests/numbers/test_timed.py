"""Published times of arm64 beside counts of the same probes: which go together, and what is said of them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA, copy_suite, counted_rows, counted_values, write_counted_submission
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages.kernels_page import CASES, SOURCE, timed_kernels, write_all
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STEPPING, EMULATING = "6.12.107+deb13-arm64", "7.3.4+deb13-arm64"
FIRST = {
    "user-loop:nop": "1f 20 03 d5",
    "user-loop:prologue": "fd 7b bf a9",
    "user-loop:ret_only": "c0 03 5f d6",
}
COUNTS = {"nop": 900.0, "push": 1000.0, "ret": 500.0}


def counted(data: Path, kernel: str, costs: Mapping[str, float] = COUNTS, architecture: str = "aarch64") -> None:
    """Entries of functions that begin with each instruction, counted with libbpf."""
    values = counted_values(
        kernel, f"qemu-{kernel.partition('+')[0].replace('.', '-')}-{architecture.replace('_', '-')}"
    )
    values["machine"]["architecture"] = architecture
    values["run"] |= {"suite": "user-probes", "functions": FIRST, "mechanisms": {}}
    rows = counted_rows({f"{CASES[f'uprobe_{word}']} libbpf": cost for word, cost in costs.items()})
    write_counted_submission(data, rows, values, "2026-11-21-user-probes")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The suite and the source, with no counts yet."""
    copy_suite(tmp_path)
    for name in ("suites/user-probes", f"published/{SOURCE}"):
        shutil.copytree(REAL_DATA / name, tmp_path / name)
    return tmp_path


def fragment(data: Path) -> str:
    return write_all(read_catalogue(DataFolder(data)))["kernel-published-times.md"].strip()


def test_without_counts_of_arm64_there_is_nothing_to_show(published: Path) -> None:
    counted(published, "6.12.107+deb13-amd64", architecture="x86_64")
    assert fragment(published) == ""


def test_times_before_the_patch_go_with_a_kernel_that_steps_and_those_with_it_with_one_that_emulates(
    published: Path,
) -> None:
    for kernel in (STEPPING, EMULATING):
        counted(published, kernel)
    before, after = timed_kernels(read_catalogue(DataFolder(published)))
    assert (before.kernel, after.kernel) == (STEPPING, EMULATING)
    assert [round(one.time_ns) for one in before.pairs] == [1092, 1101, 539]
    assert [round(one.time_ns) for one in after.pairs] == [537, 544]


def test_of_several_kernels_the_nearest_to_the_patch_stand_for_before_and_after(published: Path) -> None:
    for kernel in ("6.1.0-50-arm64", STEPPING, "6.16.1+deb13-arm64", EMULATING):
        counted(published, kernel)
    assert [one.kernel for one in timed_kernels(read_catalogue(DataFolder(published)))] == [
        STEPPING,
        "6.16.1+deb13-arm64",
    ]


def test_a_time_of_a_push_that_no_released_kernel_emulates_goes_with_no_count(published: Path) -> None:
    counted(published, EMULATING)
    (after,) = timed_kernels(read_catalogue(DataFolder(published)))
    assert CASES["uprobe_push"] not in {one.count.case for one in after.pairs}


def test_the_ratio_is_of_the_printed_time_to_the_counted_instructions(published: Path) -> None:
    counted(published, STEPPING)
    (before,) = timed_kernels(read_catalogue(DataFolder(published)))
    assert before.pairs[0].ns_per_instruction == pytest.approx(1091.7 / 900, rel=1e-3)
    assert "| 1.21\N{NO-BREAK SPACE}ns |" in fragment(published)


def test_the_order_of_each_two_cases_is_counted(published: Path) -> None:
    counted(published, STEPPING, COUNTS | {"ret": 950.0})
    assert "Of 3 pairs of cases, 2 have the same order by time and by count" in fragment(published)


def test_too_few_cases_for_a_model_are_told(published: Path) -> None:
    counted(published, STEPPING)
    assert "3 cases have a time and a count, and a model of time is fitted from 10 on" in fragment(published)
