"""What is wanted is what no submission has: a row becomes smaller with each that is added, and leaves with its last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.builders import (
    COUNTED_FOLDER,
    FOLDER,
    changed,
    counted_rows,
    counted_values,
    machine_values,
    many_blocks,
    write_submission,
)
from probe_effect.numbers.catalogue import Catalogue, read_numbers
from probe_effect.numbers.wanted import (
    FEWEST,
    MOST,
    LackingCases,
    SuiteTurn,
    by_want,
    fitted,
    lacking,
    new_here,
    uncounted,
    untimed,
    untimed_kernels,
)
from probe_effect.site.pages import fragments
from probe_effect.store.places import PACKAGED, DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample

BARE_METAL: Mapping[str, object] = {}
GUEST: Mapping[str, object] = {
    "machine__id": "guest-2t-0001",
    "machine__virtualization": "KVM",
    "machine__cpu_model": "AMD EPYC 9",
    "system__kernel_release": "6.18.1",
}
ARM: Mapping[str, object] = {
    "machine__id": "arm-4t-0001",
    "machine__architecture": "aarch64",
    "machine__cpu_model": "Cortex-A76",
}
BARE, GUEST_WITH = "Bare metal, x86-64", "A guest whose kernel has kprobes, fentry and BTF"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder of the real suites, without any submission."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "suites").symlink_to(PACKAGED / "suites")
    return tmp_path / "data"


def rows_of(case: str) -> list[Sample]:
    """Sound rows of one case."""
    return [one if one.arm == "baseline" else replace(one, case=case) for one in many_blocks()]


def send(data: Path, case: str, machine: Mapping[str, object] = BARE_METAL, folder: str = FOLDER) -> None:
    """Add a submission with a sound number of one case."""
    values = machine_values()
    for path, value in machine.items():
        changed(values, path.replace("__", "."), value)
    write_submission(data, rows_of(case), values, folder)


def read(data: Path) -> Catalogue:
    return read_numbers(DataFolder(data))


def row(data: Path, words: str) -> LackingCases:
    return next(one for one in lacking(read(data)) if one.words == words)


def test_a_case_that_spoils_the_machine_it_runs_on_is_wanted_of_none(folder: Path) -> None:
    catalogue = read(folder)
    assert "audit" in {one.suite.id for one in catalogue.suites}
    assert "audit" not in untimed(catalogue)
    assert not any("audit" in one.cases for one in lacking(catalogue))


def test_of_no_submission_every_other_case_is_wanted_on_every_kind(folder: Path) -> None:
    catalogue = read(folder)
    spoiling = {case.id for one in catalogue.suites if one.suite.id == "audit" for case in one.suite.cases}
    assert sum(map(len, untimed(catalogue).values())) == len(catalogue.cases()) - len(spoiling)
    assert row(folder, BARE).number == row(folder, BARE).number_first > 100
    assert {case.id for cases in row(folder, GUEST_WITH).cases.values() for case in cases} >= {"02-kprobe", "19-fentry"}
    assert all(case.needs for cases in row(folder, GUEST_WITH).cases.values() for case in cases)


def test_a_case_leaves_its_row_with_the_submission_that_has_it(folder: Path) -> None:
    before = row(folder, BARE)
    send(folder, "02-kprobe")
    after = row(folder, BARE)
    assert (after.number, after.number_first) == (before.number - 1, before.number_first - 1)
    assert "02-kprobe" not in {case.id for case in untimed(read(folder))["per-event"]}


def test_a_time_of_another_kind_of_machine_is_a_first_one_no_more_and_is_wanted_still(folder: Path) -> None:
    before = row(folder, BARE)
    send(folder, "02-kprobe", GUEST)
    after = row(folder, BARE)
    assert (after.number, after.number_first) == (before.number, before.number_first - 1)


@pytest.mark.parametrize(
    ("words", "machine"),
    [
        ("Bare metal, arm64", ARM),
        pytest.param("A board with an Arm Cortex", ARM, marks=pytest.mark.deep),
        pytest.param("A guest, arm64", {**ARM, "machine__virtualization": "KVM"}, marks=pytest.mark.deep),
        pytest.param(
            "An AMD Ryzen", {"machine__cpu_model": "AMD Ryzen 7 7840U w/ Radeon 780M Graphics"}, marks=pytest.mark.deep
        ),
        ("An Intel Core", {"machine__cpu_model": "Intel(R) Core(TM) Ultra 7 155H"}),
        ("FreeBSD with its DTrace", {"system__os": "FreeBSD 14.4-RELEASE"}),
    ],
)
def test_a_machine_is_known_as_one_of_its_kind(folder: Path, words: str, machine: dict[str, object]) -> None:
    before = row(folder, words).number
    send(folder, "04-tracepoint-entry", machine)
    assert row(folder, words).number == before - 1


def test_a_row_leaves_the_page_with_its_last_case(folder: Path) -> None:
    for cases in row(folder, GUEST_WITH).cases.values():
        for case in cases:
            send(folder, case.id, GUEST, f"2026-11-20-{case.id}")
    assert GUEST_WITH not in {one.words for one in lacking(read(folder))}


def test_a_number_that_is_not_sound_leaves_the_case_wanted(folder: Path) -> None:
    lost = [replace(one, seen=1, lost=900) if one.tracer != "none" else one for one in rows_of("02-kprobe")]
    write_submission(folder, lost)
    assert "02-kprobe" in {case.id for case in untimed(read(folder))["per-event"]}


def test_a_kernel_that_was_counted_is_wanted_until_it_is_timed(folder: Path) -> None:
    write_submission(folder, counted_rows(), counted_values(), COUNTED_FOLDER)
    assert untimed_kernels(read(folder)) == ["6.1"]
    assert "02-kprobe" not in {case.id for case in uncounted(read(folder))["per-event"]}
    send(folder, "02-kprobe", {"system__kernel_release": "6.1.0-40-amd64"})
    assert untimed_kernels(read(folder)) == []


def test_the_page_has_a_row_for_each_kind_and_links_each_case(folder: Path) -> None:
    text = fragments.write_all(read(folder))["wanted.md"]
    assert f"| {BARE} |" in text
    assert "(/costs/02-kprobe/)" in text


# The order


def turn(suite: str, first: int = 0, own: int = 0, block_s: float = 10.0) -> SuiteTurn:
    cases = [f"{suite}-{number}" for number in range(max(first, own))]
    return SuiteTurn(
        suite=suite, cases=9, first=cases[:first], own=cases[:own], block_s=block_s, quick_block_s=block_s / 5
    )


def test_first_times_come_first_then_what_is_new_on_such_a_machine_each_per_minute() -> None:
    turns = [turn("known"), turn("new", own=9), turn("slow", first=2, own=2, block_s=90), turn("fast", first=1, own=1)]
    assert [one.suite for one in by_want(turns)] == ["fast", "slow", "new", "known"]


def test_what_is_new_here_is_told_by_kind_and_by_all(folder: Path) -> None:
    send(folder, "02-kprobe", GUEST)
    kind = ("virtual machine", "x86_64", "AMD EPYC")
    cases = ["02-kprobe", "19-fentry"]
    assert new_here(read(folder), kind, cases) == (["19-fentry"], ["19-fentry"])
    assert new_here(read(folder), ("physical", *kind[1:]), cases) == (["19-fentry"], cases)


def test_a_time_has_as_many_suites_as_fit_and_what_is_left_makes_them_better() -> None:
    turns = [turn("a"), turn("b"), turn("long", block_s=1000)]
    assert [(one.suite, one.blocks) for one in fitted(turns, 200)] == [("a", FEWEST + 6), ("b", FEWEST)]
    assert [one.blocks for one in fitted(turns, 3000)] == [MOST, MOST]
    assert sum(one.takes_s for one in fitted(turns, 300)) <= 300


def test_where_nothing_fits_the_quick_plan_of_the_most_wanted_does_or_nothing() -> None:
    turns = [turn("a"), turn("b", block_s=5)]
    (one,) = fitted(turns, 20)
    assert (one.suite, one.is_quick, one.blocks) == ("a", True, FEWEST)
    assert [one.suite for one in fitted(turns, 8)] == ["b"]
    assert fitted(turns, 3) == []
