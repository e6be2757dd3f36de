"""`probe-effect summarise` of counted instructions: a table of their own, and the JSON that programs rely on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helpers.builders import EVENTS, counted_rows, skipped_row, write_counted_submission, write_submission
from probe_effect.cli import commands

if TYPE_CHECKING:
    from pathlib import Path


def summarise(data: Path, *arguments: str) -> str:
    done = CliRunner().invoke(commands, ["summarise", "--data", str(data), *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout.replace("\u00a0", " ").replace("\u202f", " ")


def submissions(data: Path, *folders: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(summarise(data, *map(str, folders), "--format", "json"))["submissions"]
    return found


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A submission with a case that loses events and one that was skipped."""
    rows = [
        replace(row, seen=EVENTS - 30, lost=30) if row.tracer == "libbpf" else row
        for row in [*counted_rows(), replace(skipped_row(9), block=2)]
    ]
    return write_counted_submission(tmp_path, rows)


def test_the_table_has_instructions_and_how_kprobes_were_made(tmp_path: Path, counted: Path) -> None:
    lines = summarise(tmp_path, str(counted)).splitlines()
    (title,) = (line for line in lines if line.startswith("case"))
    assert title.split("  ")[0] == "case"
    for column in ("instructions per event (range)", "untraced", "share added", "lost", "kprobes made by", "blocks"):
        assert column in title
    (row,) = (line.split() for line in lines if line.startswith("02-kprobe"))
    assert " ".join(row) == "02-kprobe bpftrace 640.0 (639.5 to 640.5) 1 500 43 % — ftrace 3"


def test_the_head_names_the_kernel_and_the_untraced_operation(tmp_path: Path, counted: Path) -> None:
    text = summarise(tmp_path, str(counted))
    assert "instructions counted under Linux 6.1.0-50-amd64, no times; untraced operation 1 500\n" in text


def test_cases_that_are_not_to_be_compared_stand_below_with_why(tmp_path: Path, counted: Path) -> None:
    text = summarise(tmp_path, str(counted))
    assert "19-fentry libbpf: not to be compared: it lost 3.0 % of its events" in text
    assert "06-uprobe bpftrace: skipped: this kernel has no uprobes" in text


def test_levels_have_a_column_where_there_are_any(tmp_path: Path) -> None:
    rows = [replace(row, level="4") for row in counted_rows({"02-kprobe bpftrace": 640})]
    text = summarise(tmp_path, str(write_counted_submission(tmp_path, rows)))
    assert "02-kprobe  bpftrace      4" in text


def test_times_and_instructions_given_together_have_a_table_each(tmp_path: Path, counted: Path) -> None:
    timed = write_submission(tmp_path)
    titles = [line for line in summarise(tmp_path, str(timed), str(counted)).splitlines() if line.startswith("case")]
    assert ["cost of one event" in title for title in titles] == [True, False]
    assert ["instructions per event" in title for title in titles] == [False, True]


def test_json_has_the_keys_of_times_with_null_and_those_of_instructions(tmp_path: Path, counted: Path) -> None:
    timed, found = submissions(tmp_path, write_submission(tmp_path), counted)
    spread = {"baseline_instructions", "baseline_least_instructions", "baseline_greatest_instructions"}
    costs = {"cost_instructions", "cost_least_instructions", "cost_greatest_instructions"}
    assert found.keys() - timed.keys() == spread
    assert timed.keys() <= found.keys()
    case, of_times = found["cases"][0], timed["cases"][0]
    ends = ("", "_least", "_greatest")
    starts = {f"{verb}{end}_instructions" for verb in ("attach", "detach") for end in ends}
    assert case.keys() - of_times.keys() == spread | costs | starts | {"probes", "mechanism", "faults"}
    assert of_times.keys() <= case.keys()
    assert {name for name in of_times if name.endswith(("_ns", "_hz"))} <= {
        name for name, value in case.items() if value is None
    }
    assert (found["metric"], found["grade"], found["baseline_instructions"]) == ("instructions", None, 1500)


def test_json_has_the_figures_of_each_case(tmp_path: Path, counted: Path) -> None:
    cases = {(case["case"], case["tracer"]): case for case in submissions(tmp_path, counted)[0]["cases"]}
    kprobe, skipped = cases["02-kprobe", "bpftrace"], cases["06-uprobe", "bpftrace"]
    names = ("cost_instructions", "cost_least_instructions", "cost_greatest_instructions", "mechanism", "faults")
    assert [kprobe[name] for name in names] == [640, 639.5, 640.5, "ftrace", []]
    assert [skipped[name] for name in names] == [None, None, None, None, []]
    assert skipped["note"] == "this kernel has no uprobes"
    assert len(cases["19-fentry", "libbpf"]["faults"]) == 1
