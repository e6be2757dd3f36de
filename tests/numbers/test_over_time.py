"""A machine over time: its runs against the runs before, and what else had changed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import changed, machine_values, many_blocks, write_data, write_submission
from probe_effect.compare.subjects import RunChange, histories
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import machine_page
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.submission import Submission

HEADING = "## Over time"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def run_on(data: Path, day: str, cost_ns: float, folder: str = "", **changes: object) -> None:
    """A run of that day, beside the one that `data` has of 20 November; `changes` by dotted path with `__`."""
    values: dict[str, Any] = changed(machine_values(), "run.started", f"{day}T10:00:00Z")
    for path, value in changes.items():
        changed(values, path.replace("__", "."), value)
    write_submission(data, many_blocks(cost_ns=cost_ns), values, folder or f"{day}-per-event")


def read(data: Path) -> tuple[Catalogue, list[Submission]]:
    catalogue = read_catalogue(DataFolder(data))
    (submissions,) = catalogue.numbers.machines().values()
    return catalogue, submissions


def section(data: Path) -> str:
    catalogue, submissions = read(data)
    _, _, text = machine_page.write(submissions, catalogue).partition(HEADING)
    return " ".join(text.split())


def test_a_machine_that_ran_each_suite_once_says_nothing_of_time(data: Path) -> None:
    catalogue, submissions = read(data)
    assert histories(submissions, None) == {}
    assert HEADING not in machine_page.write(submissions, catalogue)
    assert machine_page.charts_over_time(catalogue, submissions[0].machine) == {}


def test_the_same_cost_again_is_said_to_be_no_difference(data: Path) -> None:
    _, (only,) = read(data)
    (known,) = {one.cost.value for one in only.numbers if one.cost}
    run_on(data, "2027-02-20", known)
    said = section(data)
    assert "2 runs, 20 November 2026 to 20 February 2027" in said
    assert "**Kernel, microcode, tool and suite stayed the same.** Of 1 comparison, 1 shows no difference." in said
    assert "The largest changes" not in said


def test_a_changed_cost_is_told_with_its_interval_and_the_days_of_both_runs(data: Path) -> None:
    run_on(data, "2027-02-20", 5_000)
    said = section(data)
    assert "1 has higher overhead in the later run" in said
    assert "in the run of 20 February 2027 than in the run of 20 November 2026: difference" in said.replace(
        "&#58;", ":"
    )


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("tools", {"bpftrace": "v0.24"}, "The version of bpftrace “v0.23” became “v0.24”."),
        ("run__suite_version", 2, "The version of the suite “1” became “2”."),
        ("machine__microcode", "0x2", "The microcode “0x1” became “0x2”."),
        ("system__kernel_release", "6.13.0-amd64", "The kernel “6.12.1-amd64” became “6.13.0-amd64”."),
    ],
)
def test_what_changed_meanwhile_is_named_and_its_differences_are_not_the_machines(
    data: Path,
    path: str,
    value: Any,  # noqa: ANN401
    words: str,
) -> None:
    run_on(data, "2027-02-20", 5_000, **{path: value})
    said = section(data)
    assert f"**{words}** Of 1 comparison, 1 has higher overhead in the later run." in said
    assert "stayed the same" not in said
    assert "The largest changes" not in said


def test_each_run_is_set_against_the_newest_before_it(data: Path) -> None:
    run_on(data, "2027-02-20", 5_000)
    run_on(data, "2027-05-20", 5_000, tools={"bpftrace": "v0.24"})
    run_on(data, "2027-08-20", 5_000, tools={"bpftrace": "v0.24"})
    _, submissions = read(data)
    found = histories(submissions, None)["per-event"]
    assert [one.date for one in found.runs] == ["2026-11-20", "2027-02-20", "2027-05-20", "2027-08-20"]
    assert [one.outcome for one in found.alike] == ["higher", "no difference"]
    assert list(found.changed) == [(RunChange("the version of bpftrace", "v0.23", "v0.24"),)]


def test_the_chart_has_a_line_at_no_change_and_the_newest_runs(data: Path) -> None:
    for month in ("2026-12", "2027-01", "2027-02", "2027-03", "2027-04", "2027-05"):
        run_on(data, f"{month}-20", 5_000)
    catalogue, submissions = read(data)
    (chart,) = machine_page.charts_over_time(catalogue, submissions[0].machine).values()
    assert set(chart.specs) == {"wide", "narrow"}
    assert len({row["series"] for row in chart.rows}) == machine_page.MOST_RUNS
    assert {row["ratio"] for row in chart.rows} == {1.0}
    lines = [layer for layer in chart.specs["wide"]["layer"] if layer.get("data", {}).get("values") == [{"at": 1.0}]]
    assert len(lines) == 1
    assert chart.name in section(data)


def test_two_runs_of_one_day_are_told_apart_by_their_time(data: Path) -> None:
    run_on(data, "2026-11-20", 5_000, "2026-11-20-per-event-2", run__started="2026-11-20T17:30:00Z")
    catalogue, submissions = read(data)
    (chart,) = machine_page.charts_over_time(catalogue, submissions[0].machine).values()
    assert [row["series"] for row in chart.rows] == ["20\u00a0November\u00a02026, 17:30 UTC"]
    assert "2 runs, all on 20 November 2026" in section(data)


def of_fleet(kind: str = "project") -> dict[str, str]:
    return {"tool": "probe-effect 0.1.0", "kind": kind, "fleet_name": "thinkpad-x1"}


def sections(data: Path) -> dict[str, str]:
    """Machine id to what its page says of it over time."""
    catalogue = read_catalogue(DataFolder(data))
    machines = catalogue.numbers.machines()
    pages = {machine: machine_page.write(runs, catalogue) for machine, runs in machines.items()}
    return {machine: " ".join(text.partition(HEADING)[2].split()) for machine, text in pages.items()}


NEW_KERNEL = {"machine__id": "test-machine-2", "system__kernel_release": "6.13.0-amd64"}
DAYS = ("2027-02-20", "2027-05-20")


def test_a_machine_of_the_fleet_is_the_same_with_another_kernel(data: Path) -> None:
    run_on(data, DAYS[0], 5_000, provenance=of_fleet())
    run_on(data, DAYS[1], 6_000, provenance=of_fleet(), **NEW_KERNEL)
    said = sections(data)
    for one in said.values():
        assert "**The kernel “6.12.1-amd64” became “6.13.0-amd64”.** Of 1 comparison, 1 has higher overhead" in one
    assert "[Example, machine](/machines/test-machine/), 6.12.1-amd64." in said["test-machine-2"]
    assert "[Example, 2](/machines/test-machine-2/), 6.13.0-amd64." in said["test-machine"]
    catalogue = read_catalogue(DataFolder(data))
    first, second = (machine_page.charts_over_time(catalogue, machine) for machine in said)
    assert first == second  # one chart, which both pages show


@pytest.mark.parametrize("provenance", [of_fleet("third-party"), {"tool": "probe-effect 0.1.0", "kind": "project"}])
def test_no_other_machine_is_taken_for_the_same_however_alike(data: Path, provenance: dict[str, str]) -> None:
    run_on(data, DAYS[0], 5_000, machine__id="test-machine-1", provenance=provenance)
    run_on(data, DAYS[1], 6_000, provenance=provenance, **NEW_KERNEL)
    assert list(sections(data).values()) == ["", "", ""]
