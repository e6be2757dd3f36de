"""The matrix of counted instructions: its order, the newest count of each cell, and what counts as a change."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import REAL_DATA, copy_suite, counted_rows, counted_values, write_counted_submission
from probe_effect.compare.kernels import (
    SERIES,
    CountedCase,
    KernelColumn,
    between_kernels,
    between_versions,
    column_of,
    kernel_names,
    matrices,
    matrices_of_case,
    release_order,
    series,
    series_changes,
)
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from probe_effect.compare.comparison import Comparison
    from probe_effect.compare.kernels import Matrix
    from probe_effect.model import Sample

OLD, NEW, NEWEST = "5.10.0-39-amd64", "6.1.0-50-amd64", "6.12.107+deb13-amd64"
KPROBE = CountedCase("02-kprobe", None)
BPFTRACE = "bpftrace 0.17.0"


def counted(
    data: Path,
    kernel: str,
    costs: Mapping[str, float],
    *,
    tools: Mapping[str, str] | None = None,
    rows: Sequence[Sample] | None = None,
    started: str = "2026-11-21T10:00:00Z",
    machine: str | None = None,
    suite: str = "per-event",
) -> None:
    """A submission in which each case and tracer takes so many instructions on `kernel`."""
    values = counted_values(kernel, machine or f"qemu-{len(list((data / 'results').glob('*')))}")
    values["run"] |= {"started": started, "ended": None, "suite": suite}
    values["tools"] |= dict(tools or {})
    folder = f"{started[:10]}-{suite}"
    write_counted_submission(data, counted_rows(costs) if rows is None else rows, values, folder)


def losing() -> list[Sample]:
    """Rows in which a tracer lost 40 % of its events."""
    rows = counted_rows({"02-kprobe bpftrace": 400})
    return [row if row.arm == "baseline" else replace(row, seen=600, lost=400) for row in rows]


def found_in(data: Path) -> Matrix:
    if not (data / "suites").is_dir():
        copy_suite(data)
    (found,) = matrices(read_catalogue(DataFolder(data)))
    return found


def ends(changes: Sequence[Comparison]) -> list[tuple[float, float]]:
    """The medians of both sides of each change."""
    return [(one.first.known_cost.value, one.second.known_cost.value) for one in changes]


def test_nothing_counted_makes_no_matrix(tmp_path: Path) -> None:
    copy_suite(tmp_path)
    assert matrices(read_catalogue(DataFolder(tmp_path))) == []


def test_kernels_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for kernel in (NEWEST, "7.3.4-amd64", OLD, NEW):
        counted(tmp_path, kernel, {"02-kprobe bpftrace": 640})
    assert found_in(tmp_path).kernels == (OLD, NEW, NEWEST, "7.3.4-amd64")


def test_rows_stand_in_the_order_of_the_suite(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"19-fentry bpftrace": 100, "02-kprobe bpftrace": 640})
    assert [row.case for row in found_in(tmp_path).rows] == ["02-kprobe", "19-fentry"]


def test_the_tool_with_most_cases_comes_first_and_its_versions_by_number(tmp_path: Path) -> None:
    tools = {"bpftrace": "v0.23.2", "bpftrace-0-9": "v0.9"}
    cases = ("02-kprobe bpftrace", "02-kprobe bpftrace-0-9", "19-fentry bpftrace", "02-kprobe libbpf")
    counted(tmp_path, NEW, dict.fromkeys(cases, 100.0), tools=tools)
    assert found_in(tmp_path).tracers == ("bpftrace 0.9", "bpftrace 0.23.2", "libbpf 1.1")


def test_one_version_under_two_ids_is_one_tracer(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe bpftrace-0-23-2": 640}, tools={"bpftrace-0-23-2": "bpftrace v0.23.2"})
    counted(tmp_path, NEWEST, {"02-kprobe bpftrace": 320}, tools={"bpftrace": "bpftrace v0.23.2"})
    found = found_in(tmp_path)
    assert found.tracers == ("bpftrace 0.23.2",)
    assert ends(between_kernels(found)) == [(640, 320)]


def test_a_tracer_that_is_part_of_the_kernel_is_the_same_on_every_kernel(tmp_path: Path) -> None:
    for kernel, count in ((NEW, 640), (NEWEST, 320)):
        counted(tmp_path, kernel, {"02-kprobe ftrace": count}, tools={"ftrace": f"Linux {kernel}"})
    found = found_in(tmp_path)
    assert found.tracers == ("ftrace",)
    assert ends(between_kernels(found)) == [(640, 320)]


def test_the_newest_count_of_a_cell_stands_for_it(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe bpftrace": 640, "19-fentry bpftrace": 100}, machine="a")
    counted(tmp_path, NEW, {"02-kprobe bpftrace": 320}, started="2026-12-01T10:00:00Z", machine="a")
    found = found_in(tmp_path)
    newest, only = (found.cell(row, NEW, BPFTRACE) for row in found.rows)
    assert newest is not None
    assert newest.known_cost.value == 320
    assert only is not None
    assert only.known_cost.value == 100


def test_a_newer_count_that_is_flagged_does_not_take_the_place_of_a_sound_one(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe bpftrace": 640}, machine="a")
    counted(tmp_path, NEW, {}, rows=losing(), started="2026-12-01T10:00:00Z", machine="a")
    current = found_in(tmp_path).cell(KPROBE, NEW, BPFTRACE)
    assert current is not None
    assert (current.known_cost.value, current.is_sound) == (640, True)


def test_a_cell_that_nobody_ran_is_empty(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe bpftrace": 640})
    assert found_in(tmp_path).cell(KPROBE, OLD, BPFTRACE) is None


def test_a_count_is_set_against_the_kernel_before_of_the_same_tracer(tmp_path: Path) -> None:
    counted(tmp_path, OLD, {"02-kprobe bpftrace": 640, "02-kprobe libbpf": 500})
    counted(tmp_path, NEW, {"02-kprobe libbpf": 600})
    counted(tmp_path, NEWEST, {"02-kprobe bpftrace": 320, "02-kprobe libbpf": 600})
    changes = between_kernels(found_in(tmp_path))
    assert [(*pair, one.outcome) for pair, one in zip(ends(changes), changes, strict=True)] == [
        (640, 320, "lower"),
        (500, 600, "higher"),
        (600, 600, "no difference"),
    ]


def test_a_count_is_set_against_the_older_version_of_the_same_tool(tmp_path: Path) -> None:
    tools = {"bpftrace": "bpftrace v0.17.0", "bpftrace-0-23-2": "bpftrace v0.23.2"}
    costs = {"02-kprobe bpftrace": 640, "02-kprobe bpftrace-0-23-2": 600, "02-kprobe libbpf": 500}
    counted(tmp_path, NEW, costs, tools=tools)
    assert ends(between_versions(found_in(tmp_path))) == [(640, 600)]


def test_a_flagged_count_is_shown_and_never_compared(tmp_path: Path) -> None:
    counted(tmp_path, OLD, {"02-kprobe bpftrace": 640})
    counted(tmp_path, NEW, {}, rows=losing())
    counted(tmp_path, NEWEST, {"02-kprobe bpftrace": 320})
    found = found_in(tmp_path)
    flagged = found.cell(KPROBE, NEW, BPFTRACE)
    assert flagged is not None
    assert flagged.faults
    assert not flagged.is_sound
    assert ends(between_kernels(found)) == [(640, 320)]


def test_a_case_without_events_is_never_compared(tmp_path: Path) -> None:
    for kernel, count in ((OLD, 10), (NEW, 900)):
        counted(tmp_path, kernel, {"01-control bpftrace": count})
    found = found_in(tmp_path)
    assert found.rows == (CountedCase("01-control", None),)
    assert found.events() == ()
    assert between_kernels(found) == []


def test_the_matrix_of_a_case_holds_that_case_only(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe bpftrace": 640, "19-fentry bpftrace": 100})
    copy_suite(tmp_path)
    catalogue = read_catalogue(DataFolder(tmp_path))
    (found,) = matrices_of_case(catalogue, catalogue.suites[0].suite, "19-fentry")
    assert found.rows == (CountedCase("19-fentry", None),)


def test_every_cell_is_that_of_its_row_and_column(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe bpftrace": 640, "19-fentry libbpf": 100})
    found = found_in(tmp_path)
    assert [(one.case, column_of(one)) for one in found.all()] == [
        ("02-kprobe", KernelColumn(NEW, BPFTRACE)),
        ("19-fentry", KernelColumn(NEW, "libbpf 1.1")),
    ]


@pytest.mark.parametrize(
    ("releases", "names"),
    [
        ([OLD, NEW], ["Linux 5.10", "Linux 6.1"]),
        (["6.1.0-49-amd64", NEW], ["Linux 6.1.0-49", "Linux 6.1.0-50"]),
        (["7.3.4+deb13-amd64", "7.3.4+deb14-amd64"], ["Linux 7.3.4+deb13-amd64", "Linux 7.3.4+deb14-amd64"]),
        ([OLD, OLD], ["Linux 5.10"]),
        (["-odd"], ["Linux -odd"]),
    ],
)
def test_kernels_of_one_series_have_as_much_of_the_release_as_no_other_has(
    releases: list[str], names: list[str]
) -> None:
    assert list(kernel_names(releases).values()) == names


@given(st.lists(st.text(min_size=1), unique=True))
def test_any_text_has_a_name_of_its_own_and_a_place_among_releases(releases: list[str]) -> None:
    assert len(sorted(releases, key=release_order)) == len(releases)
    assert len(set(kernel_names(releases).values())) == len(releases)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 999), st.integers(0, 999))))
def test_releases_are_ordered_by_their_numbers(releases: list[tuple[int, int, int]]) -> None:
    texts = sorted((".".join(map(str, release)) for release in releases), key=release_order)
    assert texts == [".".join(map(str, release)) for release in sorted(releases)]


def narrowly_counted(data: Path, kernel: str, costs: Mapping[str, float]) -> None:
    """A submission of some cases of the suite alone."""
    values = counted_values(kernel, f"qemu-{len(list((data / 'results').glob('*')))}")
    values["run"]["command"] += ["--case", "02-kprobe"]
    write_counted_submission(data, counted_rows(costs), values, "2026-11-21-per-event")


def test_a_kernel_of_which_only_some_cases_were_counted_is_in_the_series_alone(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe libbpf": 640})
    narrowly_counted(tmp_path, NEWEST, {"02-kprobe libbpf": 640})
    assert found_in(tmp_path).kernels == (NEW,)
    (found,) = series(read_catalogue(DataFolder(tmp_path)))
    assert found.kernels == (NEW, NEWEST)


def test_a_series_has_the_cells_that_are_chosen_and_no_others(tmp_path: Path) -> None:
    counted(tmp_path, NEW, {"02-kprobe libbpf": 640, "01-control libbpf": 1, "02-kprobe ftrace": 300})
    copy_suite(tmp_path)
    (found,) = series(read_catalogue(DataFolder(tmp_path)))
    assert [(row.case, column.tracer.partition(",")[0]) for row, column in found.cells] == [("02-kprobe", "libbpf 1.1")]


@pytest.mark.parametrize("suite", SERIES)
def test_the_series_names_cases_of_the_suite_that_libbpf_or_bpftrace_has(suite: str) -> None:
    folder = REAL_DATA / "suites" / suite
    ends_of = {"libbpf": ".bpf.c", "bpftrace": ".bt"}
    wanted = [f"{case}{ends_of[name.split()[0]]}" for name, cases in SERIES[suite].items() for case in cases]
    assert [name for name in wanted if not (folder / name).is_file()] == []


def test_every_suite_of_the_series_has_the_releases_of_all_so_that_each_is_called_the_same(tmp_path: Path) -> None:
    shutil.copytree(REAL_DATA / "suites", tmp_path / "suites")
    for kernel in (OLD, NEWEST):
        counted(tmp_path, kernel, {"02-kprobe libbpf": 640})
    for kernel in (NEW, NEWEST):
        counted(tmp_path, kernel, {"02-uprobe-nop1 libbpf": 1000}, suite="user-probes")
    found = series(read_catalogue(DataFolder(tmp_path)))
    assert [(one.suite.id, one.kernels) for one in found] == [
        ("per-event", (OLD, NEW, NEWEST)),
        ("user-probes", (OLD, NEW, NEWEST)),
    ]


@pytest.mark.parametrize(
    ("count", "told"),
    [
        pytest.param(660, [(640, 660)], id="three per cent more"),
        pytest.param(620, [(640, 620)], id="three per cent fewer"),
        pytest.param(650, [], id="one and a half per cent"),
        pytest.param(640, [], id="the same"),
    ],
)
def test_a_series_tells_a_change_above_two_per_cent_between_neighbours(
    tmp_path: Path, count: float, told: list[tuple[float, float]]
) -> None:
    copy_suite(tmp_path)
    counted(tmp_path, NEW, {"02-kprobe libbpf": 640})
    narrowly_counted(tmp_path, NEWEST, {"02-kprobe libbpf": count})
    (found,) = series(read_catalogue(DataFolder(tmp_path)))
    assert ends(series_changes(found)) == told


def test_the_series_tells_the_newest_release_first_and_there_the_largest_change(tmp_path: Path) -> None:
    copy_suite(tmp_path)
    for kernel, kprobe, fentry in ((OLD, 640, 100), (NEW, 700, 100), (NEWEST, 735, 200)):
        counted(tmp_path, kernel, {"02-kprobe libbpf": kprobe, "19-fentry libbpf": fentry})
    (found,) = series(read_catalogue(DataFolder(tmp_path)))
    assert ends(series_changes(found)) == [(100, 200), (700, 735), (640, 700)]
