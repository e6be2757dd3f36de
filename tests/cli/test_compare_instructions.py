"""`probe-effect compare` of counted instructions, and its gate, as people, programs and CI meet them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from helpers.builders import (
    COUNTED_COSTS,
    COUNTED_FOLDER,
    EVENTS,
    MACHINE,
    counted_rows,
    counted_values,
    skipped_row,
    write_counted_submission,
    write_submission,
)
from probe_effect.cli import commands
from probe_effect.cli.compare_output import signed_percent
from probe_effect.model import ProbeEffectError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from probe_effect.model import Sample

OLD, NEW = "qemu-tcg-old", "qemu-tcg-new"
FIRST, SECOND = (f"{machine}/{COUNTED_FOLDER}" for machine in (OLD, NEW))

GREW = COUNTED_COSTS | {"02-kprobe bpftrace": 672.0}
"""One case takes 5 % more."""


def submit(data: Path, machine: str, costs: Mapping[str, float], **changes: str) -> None:
    """A submission of `costs`; `changes` are those of how kprobes were made and of the kernel."""
    values = counted_values(changes.get("kernel", "6.1.0-50-amd64"), machine)
    values["run"]["mechanisms"] = {"02-kprobe bpftrace": changes.get("mechanism", "ftrace")}
    write_counted_submission(data, counted_rows(costs), values)


def submit_rows(data: Path, machine: str, rows: list[Sample]) -> None:
    write_counted_submission(data, rows, counted_values(machine=machine))


def losing(case: str, rows: list[Sample]) -> list[Sample]:
    """`rows` in which that case loses one event in ten."""
    return [replace(row, seen=EVENTS * 9 // 10, lost=EVENTS // 10) if row.case == case else row for row in rows]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A data folder with two submissions, of which the second takes 5 % more for one case."""
    submit(tmp_path, OLD, COUNTED_COSTS)
    submit(tmp_path, NEW, GREW, kernel="6.12.1-amd64", mechanism="jump")
    return tmp_path


def run(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(commands, ["compare", "--data", str(data), *arguments], catch_exceptions=False)


def said(result: Result) -> str:
    return result.stdout.replace("\u00a0", " ").replace("\u2212", "-").replace("\u202f", " ")


def complained(result: Result) -> str:
    return result.stderr.replace("\u00a0", " ").replace("\u202f", " ")


def compare_json(data: Path, *arguments: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(run(data, *arguments, "--format", "json").stdout)
    return value


def test_the_table_says_what_takes_more_and_by_how_much(two: Path) -> None:
    text = said(run(two, FIRST, SECOND))
    (row,) = (line for line in text.splitlines() if line.startswith("02-kprobe  bpftrace"))
    assert row.split()[-1] == "higher"
    assert all(part in row for part in ("640.0 (639.5 to 640.5)", "672.0 (671.5 to 672.5)", "+5.0 %"))
    assert f"Of 3 cases, 1 takes more instructions in {SECOND} and 2 show no difference." in text
    assert "The largest: 02-kprobe with bpftrace +5.0 %." in text


def test_swapping_the_two_says_fewer_instead(two: Path) -> None:
    there, back = compare_json(two, FIRST, SECOND), compare_json(two, SECOND, FIRST)
    assert (there["comparisons"][0]["outcome"], back["comparisons"][0]["outcome"]) == ("higher", "lower")
    ratios = [found["comparisons"][0]["change_ratio"] for found in (there, back)]
    assert (1 + ratios[0]) * (1 + ratios[1]) == pytest.approx(1)
    assert "1 takes fewer instructions" in said(run(two, SECOND, FIRST))


def test_json_has_the_keys_that_programs_rely_on(two: Path) -> None:
    found = compare_json(two, FIRST, SECOND)
    assert found.keys() == {
        *("first", "second", "of", "metric", "comparisons", "outcomes", "differing", "only_first", "only_second"),
        *("fail_above_ratio", "failures"),
    }
    assert found["comparisons"][0].keys() == {
        *("case", "level", "first_tracer", "second_tracer", "first_submission", "second_submission"),
        *(f"{side}_cost{end}_instructions" for side in ("first", "second") for end in ("", "_least", "_greatest")),
        *("change_ratio", "is_clear", "outcome", "reason", "functions"),
    }
    assert (found["metric"], found["fail_above_ratio"], found["failures"]) == ("instructions", None, [])
    assert found["outcomes"] == {"higher": 1, "lower": 0, "no difference": 2, "not comparable": 0}


def test_what_differs_besides_is_listed(two: Path) -> None:
    found = {one["what"]: (one["first"], one["second"]) for one in compare_json(two, FIRST, SECOND)["differing"]}
    assert found["kernel"] == ("6.1.0-50-amd64", "6.12.1-amd64")
    assert found.keys() == {"machine", "kernel", "package of kernel"}


def test_kprobes_that_the_kernel_made_in_another_way_are_told(two: Path) -> None:
    assert "02-kprobe with bpftrace: the kernel made its kprobes by ftrace, then by jump" in said(run(two, OLD, NEW))


def test_machines_are_compared_by_their_ids(two: Path) -> None:
    found = compare_json(two, OLD, NEW)
    assert (found["first"], found["second"]) == (OLD, NEW)
    assert f"1 takes more instructions on {NEW}" in said(run(two, OLD, NEW))


def test_two_tracers_of_one_submission_are_compared(two: Path) -> None:
    text = said(run(two, FIRST, "--tracers", "bpftrace", "libbpf"))
    assert "Of 1 case, 1 takes fewer instructions with libbpf." in text
    (found,) = compare_json(two, FIRST, "--tracers", "bpftrace", "libbpf")["comparisons"]
    assert (found["case"], found["change_ratio"]) == ("19-fentry", pytest.approx(95 / 110 - 1))


def test_submissions_of_one_name_are_called_by_their_folders(tmp_path: Path) -> None:
    for place, costs in (("base", COUNTED_COSTS), ("head", GREW)):
        write_counted_submission(tmp_path / place, counted_rows(costs), counted_values(machine=OLD))
    folders = [str(tmp_path / place / "results" / FIRST) for place in ("base", "head")]
    found = compare_json(tmp_path, *folders)
    assert [found["first"], found["second"]] == folders


def test_a_faulty_case_is_named_and_not_compared(tmp_path: Path) -> None:
    submit(tmp_path, OLD, COUNTED_COSTS)
    submit_rows(tmp_path, NEW, losing("02-kprobe", counted_rows(GREW)))
    found = compare_json(tmp_path, FIRST, SECOND)["comparisons"][0]
    assert (found["outcome"], found["change_ratio"]) == ("not comparable", None)
    assert "it lost 10 % of its events" in said(run(tmp_path, FIRST, SECOND))


def test_only_the_cases_asked_for_are_compared(two: Path) -> None:
    found = compare_json(two, FIRST, SECOND, "--case", "19-fentry", "--tracer", "libbpf")
    assert [(one["case"], one["first_tracer"]) for one in found["comparisons"]] == [("19-fentry", "libbpf")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param((FIRST, FIRST), "the same twice", id="one submission twice"),
        pytest.param((FIRST, SECOND, "--case", "02-kprob"), "did you mean 02-kprobe?", id="case misspelt"),
        pytest.param((FIRST, "--tracers", "libbpf", "libbpf"), "the same tracer twice", id="one tracer twice"),
        pytest.param(
            (FIRST, "--tracers", "libbpf", "bpftrac"), "did you mean bpftrace or libbpf?", id="tracer misspelt"
        ),
    ],
)
def test_wrong_usage_is_refused(two: Path, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        run(two, *arguments)


def test_without_a_common_case_the_message_says_what_each_has(two: Path) -> None:
    submit(two, "qemu-tcg-other", {"06-uprobe bpftrace": 3000})
    with pytest.raises(ProbeEffectError, match=r"qemu-tcg-other: 06-uprobe \(bpftrace\)"):
        run(two, OLD, "qemu-tcg-other")


# The gate


@pytest.mark.parametrize(
    ("limit", "status"),
    [("2%", 1), ("2", 1), ("4.9 %", 1), ("0.5%", 1), ("0", 1), ("5%", 0), ("10%", 0)],
)
def test_growth_above_the_limit_ends_with_1_and_other_growth_with_0(two: Path, limit: str, status: int) -> None:
    assert run(two, FIRST, SECOND, "--fail-above", limit).exit_code == status


def test_each_case_that_grew_is_named_with_its_figures(two: Path) -> None:
    text = complained(run(two, FIRST, SECOND, "--fail-above", "2%"))
    assert "fails: 02-kprobe with bpftrace takes 5.00 % more: 640.0 (639.5 to 640.5) before" in text
    assert "the limit is 2 %" in text
    assert "3 cases looked at, 1 not let through" in text


def test_a_gate_that_lets_everything_through_says_at_what_it_looked(two: Path) -> None:
    text = complained(run(two, FIRST, SECOND, "--fail-above", "10%"))
    assert text == f"3 cases looked at, none takes more than 10 % more in {SECOND}\n"


def test_fewer_instructions_are_let_through(two: Path) -> None:
    assert run(two, SECOND, FIRST, "--fail-above", "0.5%").exit_code == 0


def test_without_a_limit_growth_is_no_failure(two: Path) -> None:
    result = run(two, FIRST, SECOND)
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_limit_finer_than_what_repeats_decides_what_counts_as_more(tmp_path: Path) -> None:
    submit(tmp_path, OLD, {"02-kprobe bpftrace": 2000})
    submit(tmp_path, NEW, {"02-kprobe bpftrace": 2014})
    found = compare_json(tmp_path, FIRST, SECOND)
    assert found["comparisons"][0]["outcome"] == "no difference"
    result = run(tmp_path, FIRST, SECOND, "--fail-above", "0.5%", "--format", "json")
    assert (json.loads(result.stdout)["comparisons"][0]["outcome"], result.exit_code) == ("higher", 1)


def test_a_case_that_was_not_measured_again_is_not_let_through(tmp_path: Path) -> None:
    submit(tmp_path, OLD, COUNTED_COSTS)
    submit(tmp_path, NEW, {"19-fentry bpftrace": 110, "19-fentry libbpf": 95})
    result = run(tmp_path, FIRST, SECOND, "--fail-above", "2%")
    assert result.exit_code == 1
    assert f"fails: 02-kprobe with bpftrace has no count in {SECOND}: it was not measured" in complained(result)
    assert run(tmp_path, FIRST, SECOND, "--fail-above", "2%", "--case", "19-fentry").exit_code == 0


def test_a_case_that_failed_says_why_it_is_not_let_through(tmp_path: Path) -> None:
    submit(tmp_path, OLD, {"06-uprobe bpftrace": 3000, "19-fentry bpftrace": 110})
    submit_rows(tmp_path, NEW, [*counted_rows({"19-fentry bpftrace": 110}), replace(skipped_row(9), block=2)])
    result = run(tmp_path, FIRST, SECOND, "--fail-above", "2%")
    assert result.exit_code == 1
    assert "06-uprobe with bpftrace has no count" in complained(result)
    assert "skipped: this kernel has no uprobes" in complained(result)


def test_a_case_that_loses_events_now_is_not_let_through(tmp_path: Path) -> None:
    submit(tmp_path, OLD, COUNTED_COSTS)
    submit_rows(tmp_path, NEW, losing("02-kprobe", counted_rows(COUNTED_COSTS)))
    result = run(tmp_path, FIRST, SECOND, "--fail-above", "2%")
    assert result.exit_code == 1
    assert "fails: 02-kprobe with bpftrace has no sound count: it lost 10 % of its events" in complained(result)
    assert run(tmp_path, FIRST, SECOND, "--fail-above", "2%", "--case", "19-fentry").exit_code == 0


def test_a_case_that_only_lost_events_before_is_told_and_let_through(tmp_path: Path) -> None:
    submit_rows(tmp_path, OLD, losing("02-kprobe", counted_rows(COUNTED_COSTS)))
    submit(tmp_path, NEW, COUNTED_COSTS)
    result = run(tmp_path, FIRST, SECOND, "--fail-above", "2%")
    assert result.exit_code == 0
    assert "not compared: 02-kprobe with bpftrace" in complained(result)


def test_json_names_what_was_not_let_through(two: Path) -> None:
    found = compare_json(two, FIRST, SECOND, "--fail-above", "2%")
    assert found["fail_above_ratio"] == 0.02
    (failure,) = found["failures"]
    assert (failure["case"], failure["tracer"], failure["level"]) == ("02-kprobe", "bpftrace", None)
    assert "5.00" in failure["reason"]


def test_tracers_of_one_submission_have_a_gate_too(two: Path) -> None:
    arguments = (FIRST, "--tracers", "libbpf", "bpftrace", "--fail-above", "2%")
    result = run(two, *arguments)
    assert result.exit_code == 1
    assert "fails: 19-fentry with bpftrace takes 15.8 % more" in complained(result)


@pytest.mark.parametrize("limit", ["-2%", "two", "2%%", "nan", "inf", "1e3", "", "%", "2,5", "٢"])
def test_what_is_no_percentage_is_wrong_usage(two: Path, limit: str) -> None:
    result = CliRunner().invoke(commands, ["compare", "--data", str(two), FIRST, SECOND, f"--fail-above={limit}"])
    assert result.exit_code == 2
    assert "is not a percentage. Expected one such as 2%, 2 or 0.5%." in result.stderr


def test_times_have_no_gate_and_the_message_says_why(tmp_path: Path) -> None:
    for number in ("1", "2"):
        write_submission(tmp_path, folder=f"2026-11-20-per-event-{number}")
    names = [f"{MACHINE}/2026-11-20-per-event-{number}" for number in ("1", "2")]
    with pytest.raises(UsageError, match="these are times, which do not repeat closely enough") as caught:
        run(tmp_path, *names, "--fail-above", "2%")
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        (0.0523, "+5.2"),
        (-0.0523, "\u22125.2"),
        (0.0004, "0.0"),
        (-0.0004, "0.0"),
        (0.0, "0.0"),
        (12.3456, "+1\u202f234.6"),
    ],
)
def test_a_change_is_written_with_its_sign(ratio: float, shown: str) -> None:
    assert signed_percent(ratio) == f"{shown}\u00a0%"


def test_a_change_without_a_ratio_is_a_dash() -> None:
    assert signed_percent(None) == "—"
