"""`probe-effect compare` as people and programs meet it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helpers.builders import MACHINE, block_rows, machine_values, many_blocks, traced_row, write_submission
from probe_effect.cli import commands
from probe_effect.model import BadData, ProbeEffectError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample

FIRST, SECOND = f"{MACHINE}/2026-11-01-per-event", f"{MACHINE}/2026-11-02-per-event"

COMPARISON_KEYS = {
    "case",
    "level",
    "first_tracer",
    "second_tracer",
    "first_submission",
    "second_submission",
    *(f"{side}_cost{end}_ns" for side in ("first", "second") for end in ("", "_low", "_high")),
    *(f"difference{end}_ns" for end in ("", "_low", "_high")),
    *(f"cost{end}_ratio" for end in ("", "_low", "_high")),
    "outcome",
    "reason",
    "paired",
}


def submit(data: Path, day: int, samples: list[Sample], **changes: object) -> Path:
    """A submission of that day; `changes` by dotted path with `__` for the dot."""
    values = machine_values()
    values["run"]["started"] = f"2026-11-{day:02d}T10:00:00Z"
    for path, value in changes.items():
        part, name = path.split("__")
        values[part][name] = value
    return write_submission(data, samples, values, f"2026-11-{day:02d}-per-event")


def with_both(first_ns: float, second_ns: float) -> list[Sample]:
    """Eight blocks with two tracers."""
    rows: list[Sample] = []
    for block in range(8):
        own = [row for row in block_rows(block, first_ns) if row.position < 2]
        rows += [*own, traced_row(block, 3, 100 + second_ns, tracer="libbpf")]
        rows += [row for row in block_rows(block) if row.position == 2]
    return sorted(rows, key=lambda row: (row.block, row.position))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A data folder with two submissions, of which the second costs 30 ns more."""
    submit(tmp_path, 1, many_blocks(cost_ns=50))
    submit(tmp_path, 2, many_blocks(cost_ns=80))
    return tmp_path


def compare(data: Path, *arguments: str) -> str:
    """What the command prints on stdout."""
    done = CliRunner().invoke(commands, ["compare", "--data", str(data), *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output.replace("\u00a0", " ")


def compare_json(data: Path, *arguments: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(compare(data, *arguments, "--format", "json"))
    return value


def refused(data: Path, kind: type[ProbeEffectError], *arguments: str) -> str:
    """The message with which the command refuses."""
    with pytest.raises(kind) as caught:
        CliRunner().invoke(commands, ["compare", "--data", str(data), *arguments], catch_exceptions=False)
    return str(caught.value)


def test_the_table_says_what_has_higher_overhead_by_how_much_and_what_it_comes_to(two: Path) -> None:
    said = compare(two, FIRST, SECOND)
    assert "50.0 ns" in said
    assert "1.60 times" in said
    assert f"Of 1 comparison, 1 has higher overhead in {SECOND}." in said
    assert "at most about 0.050 would come out unequal by chance" in said


def test_swapping_the_two_says_lower_instead(two: Path) -> None:
    there, back = compare_json(two, FIRST, SECOND), compare_json(two, SECOND, FIRST)
    assert (there["comparisons"][0]["outcome"], back["comparisons"][0]["outcome"]) == ("higher", "lower")
    assert there["comparisons"][0]["difference_ns"] == -back["comparisons"][0]["difference_ns"] == 30


def test_json_has_the_keys_that_programs_rely_on(two: Path) -> None:
    found = compare_json(two, FIRST, SECOND)
    assert found.keys() == {
        "first",
        "second",
        "of",
        "metric",
        "comparisons",
        "outcomes",
        "expected_by_chance",
        "differing",
        "only_first",
        "only_second",
    }
    assert found["comparisons"][0].keys() == COMPARISON_KEYS
    assert found["outcomes"] == {"higher": 1, "lower": 0, "no difference": 0, "not comparable": 0}


def test_json_has_null_where_an_end_is_not_known(tmp_path: Path) -> None:
    submit(tmp_path, 1, many_blocks(3))
    submit(tmp_path, 2, many_blocks(3, cost_ns=80))
    (found,) = compare_json(tmp_path, FIRST, SECOND)["comparisons"]
    assert (found["outcome"], found["difference_ns"], found["difference_low_ns"]) == ("not comparable", 30, None)
    assert "too few blocks" in compare(tmp_path, FIRST, SECOND)


def test_what_differs_besides_is_listed(tmp_path: Path) -> None:
    submit(tmp_path, 1, many_blocks())
    submit(tmp_path, 2, many_blocks(), system__kernel_release="6.18.1", run__suite_version=2)
    found = {one["what"]: (one["first"], one["second"]) for one in compare_json(tmp_path, FIRST, SECOND)["differing"]}
    assert found == {
        "kernel": ("6.12.1-amd64", "6.18.1"),
        "suite": ("per-event, version 1", "per-event, version 2"),
        "date": ("2026-11-01", "2026-11-02"),
    }
    assert "6.12.1-amd64 | 6.18.1" in compare(tmp_path, FIRST, SECOND)


def test_different_tiers_are_compared_and_said(tmp_path: Path) -> None:
    submit(tmp_path, 1, many_blocks())
    submit(tmp_path, 2, many_blocks(), machine__virtualization="kvm")
    assert "of different tiers, physical and virtual machine" in compare(tmp_path, FIRST, SECOND)


def test_what_only_one_side_has_is_listed(two: Path) -> None:
    submit(two, 3, with_both(50, 30))
    found = compare_json(two, FIRST, f"{MACHINE}/2026-11-03-per-event")
    assert found["only_second"] == [{"case": "02-kprobe", "tracer": "libbpf", "level": None}]
    assert found["only_first"] == []


def test_a_machine_is_its_newest_measurements(two: Path) -> None:
    submit(two, 9, many_blocks(cost_ns=90), machine__id="other-machine")
    for name in (MACHINE, str(two / "results" / MACHINE)):
        (found,) = compare_json(two, name, "other-machine")["comparisons"]
        assert (found["first_cost_ns"], found["second_cost_ns"]) == (80, 90)
        assert found["first_submission"] == SECOND


def test_two_tracers_of_a_submission_are_compared_in_their_blocks(tmp_path: Path) -> None:
    submit(tmp_path, 1, with_both(50, 30))
    (found,) = compare_json(tmp_path, FIRST, "--tracers", "bpftrace", "libbpf")["comparisons"]
    assert (found["outcome"], found["difference_ns"], found["paired"]) == ("lower", -20, True)
    said = compare(tmp_path, FIRST, "--tracers", "bpftrace", "libbpf")
    assert "Of 1 comparison, 1 has lower overhead with libbpf." in said
    assert "1 of 1 pairs were measured in the same blocks" in said


def test_only_the_cases_and_tracers_asked_for_are_compared(tmp_path: Path) -> None:
    submit(tmp_path, 1, with_both(50, 30))
    submit(tmp_path, 2, with_both(50, 30))
    found = compare_json(tmp_path, FIRST, SECOND, "--case", "02-kprobe", "--tracer", "libbpf")
    assert [one["first_tracer"] for one in found["comparisons"]] == ["libbpf"]


# Refused


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param([FIRST], "expected A and B, or A and `--tracers T U`", id="one side"),
        pytest.param([FIRST, SECOND, "--tracers", "a", "b"], "expected A and B, or A and", id="both ways"),
        pytest.param([FIRST, FIRST], "the same twice", id="one submission twice"),
        pytest.param([FIRST, "nowhere"], "nowhere: neither the folder of a submission nor a machine", id="unknown"),
        pytest.param([FIRST, SECOND, "--case", "02-kprob"], "did you mean 02-kprobe?", id="case misspelt"),
        pytest.param([FIRST, SECOND, "--tracer", "bpftrac"], "did you mean bpftrace?", id="tracer misspelt"),
        pytest.param([FIRST, "--tracers", "bpftrace", "bpftrace"], "the same tracer twice", id="one tracer twice"),
        pytest.param([FIRST, "--tracers", "bpftrace", "bpftrac"], "did you mean bpftrace?", id="second misspelt"),
    ],
)
def test_wrong_usage_is_refused_with_what_was_expected(two: Path, arguments: list[str], words: str) -> None:
    assert words in refused(two, UsageError, *arguments)


def test_times_against_instruction_counts_are_refused(two: Path) -> None:
    submit(two, 3, many_blocks(), run__metric="instructions")
    said = refused(two, UsageError, FIRST, f"{MACHINE}/2026-11-03-per-event")
    assert "time against instructions" in said
    assert "never compared" in said


def test_without_a_common_case_the_message_says_what_each_has(two: Path) -> None:
    submit(two, 3, many_blocks(tracer="libbpf"))
    said = refused(two, ProbeEffectError, FIRST, f"{MACHINE}/2026-11-03-per-event")
    assert f"{FIRST}: 02-kprobe (bpftrace)." in said
    assert f"{MACHINE}/2026-11-03-per-event: 02-kprobe (libbpf)." in said


def test_without_a_case_that_has_both_tracers_the_message_says_what_each_has(two: Path) -> None:
    rows = [row if row.arm == "baseline" else replace(row, case="03-kretprobe") for row in many_blocks(tracer="libbpf")]
    submit(two, 3, rows)
    said = refused(two, ProbeEffectError, MACHINE, "--tracers", "bpftrace", "libbpf")
    assert (
        said == f"{MACHINE}: no case with both tracers. bpftrace: 02-kprobe (bpftrace). libbpf: 03-kretprobe (libbpf)."
    )


def test_a_broken_submission_is_shown_with_its_problems(two: Path) -> None:
    (two / "results" / FIRST / "machine.json").write_text("{", encoding="utf-8")
    with pytest.raises(BadData) as caught:
        CliRunner().invoke(commands, ["compare", "--data", str(two), FIRST, SECOND], catch_exceptions=False)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (1, 2)
