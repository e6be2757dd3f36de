"""Each rule for data: a good folder passes, a bad one is told with file, line, rule and how to mend it."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from helpers.builders import (
    COUNTED_FOLDER,
    COUNTED_MACHINE,
    FIGURES,
    FINDING,
    FOLDER,
    PROJECT,
    baseline_row,
    changed,
    counted_rows,
    machine_values,
    many_blocks,
    rules,
    skipped_row,
    source_toml,
    traced_row,
    write_counted_submission,
    write_source,
    write_submission,
)
from probe_effect.checks.rule import Rule
from probe_effect.checks.run import ALL_RULES, SIGNS, check, check_all
from probe_effect.model import UsageError
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Problem, Sample, Status

SUBMISSION = f"results/test-machine/{FOLDER}"
CHECKS = PROJECT / "generator" / "probe_effect" / "checks"
COUNTED = f"results/{COUNTED_MACHINE}/{COUNTED_FOLDER}"


def problems(data: Path, *folders: Path) -> list[Problem]:
    return check(folders or [data], DataFolder(data))


def test_a_sound_folder_has_no_problem(data: Path) -> None:
    assert problems(data) == []


def test_a_case_that_failed_twice_was_given_up_and_needs_no_further_rows(data: Path) -> None:
    shutil.rmtree(data / "results")
    failed: dict[int, Status] = {1: "failed", 2: "timeout"}
    rows = [
        replace(row, status=failed[row.block], note="no tracer", wall_ns=None, seen=None, lost=None)
        if row.arm == "traced" and row.block in failed
        else row
        for row in many_blocks()
        if row.arm == "baseline" or row.block <= max(failed)
    ]
    write_submission(data, rows)
    assert "plan-complete" not in rules(problems(data))
    shutil.rmtree(data / "results")
    write_submission(data, [row for row in rows if row.block != 1 or row.arm == "baseline"])
    assert "plan-complete" in rules(problems(data))


def test_the_real_data_folder_has_no_error_and_no_sign_of_forgery(real_data: DataFolder) -> None:
    found = check_all(real_data)
    assert [one for one in found if one.severity == "error"] == []
    assert {one.rule for one in found} & SIGNS.keys() == set()


def test_every_rule_has_a_name_a_sentence_and_two_examples() -> None:
    every = [rule for rules_of in ALL_RULES.values() for rule in rules_of]
    assert all(re.fullmatch("[a-z-]+", rule.id) and rule.text.endswith(".") for rule in every)
    assert all(rule.good and rule.bad and rule.good != rule.bad for rule in every)


def test_no_two_rules_of_the_same_things_have_one_name() -> None:
    assert all(len({rule.id for rule in of}) == len(of) for of in ALL_RULES.values())


def test_every_rule_there_is_is_run() -> None:
    modules = [import_module(f"probe_effect.checks.{path.stem}") for path in sorted(CHECKS.glob("[!_]*.py"))]
    values = [one for module in modules for one in vars(module).values()]
    values += [one for several in values if isinstance(several, tuple) for one in several]
    there = {id(one) for one in values if isinstance(one, Rule)}
    assert there <= {id(rule) for rules_of in ALL_RULES.values() for rule in rules_of}


def only_rule(data: Path, rule: str, file: str, line: int | None, words: str) -> Problem:
    """The one problem of `data`, which is of that rule and at that place."""
    found = problems(data)
    assert rules(found) == {rule}, found
    problem = found[0]
    assert (problem.file, problem.line) == (f"data/{file}", line)
    assert words in problem.message
    assert problem.hint
    return problem


# Files


@pytest.mark.parametrize(
    "folder", [pytest.param(SUBMISSION, id="submission"), pytest.param("published/a-talk", id="source")]
)
def test_a_file_that_the_format_does_not_name_is_told(data: Path, folder: str) -> None:
    (data / folder / "notes.txt").write_text("hello", encoding="utf-8")
    only_rule(data, "known-files", f"{folder}/notes.txt", None, "is not a file of this folder")


def test_hidden_files_and_folders_are_told_too(data: Path) -> None:
    (data / SUBMISSION / ".hidden").write_text("", encoding="utf-8")
    (data / SUBMISSION / "more").mkdir()
    assert len(problems(data)) == 2


def test_an_executable_file_is_told(data: Path) -> None:
    (data / SUBMISSION / "samples.csv").chmod(0o755)
    only_rule(data, "known-files", f"{SUBMISSION}/samples.csv", None, "is executable")


def test_a_link_is_told_and_not_read(data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("secret words", encoding="utf-8")
    (data / SUBMISSION / "histogram.csv").symlink_to(tmp_path / "elsewhere")
    only_rule(data, "histogram/file", f"{SUBMISSION}/histogram.csv", None, "not a regular file")


def test_a_link_in_the_place_of_samples_shows_nothing_of_its_target(data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("secret words", encoding="utf-8")
    (data / SUBMISSION / "samples.csv").unlink()
    (data / SUBMISSION / "samples.csv").symlink_to(tmp_path / "elsewhere")
    problem = only_rule(data, "samples/file", f"{SUBMISSION}/samples.csv", None, "not a regular file")
    assert "secret" not in problem.message


def test_a_file_name_made_to_deceive_a_terminal_is_shown_as_escapes(data: Path) -> None:
    (data / SUBMISSION / "\x1b[31m\u202e").write_text("", encoding="utf-8")
    (problem,) = problems(data)
    assert problem.file.isprintable()
    assert "\\x1b[31m\\u202e" in problem.file


# Submissions


def resubmit(data: Path, samples: list[Sample] | None = None, folder: str = FOLDER, **changes: object) -> None:
    """Put another submission in the place of the sound one."""
    values = machine_values()
    if samples:
        changed(values, "run.blocks", max(row.block for row in samples) + 1)
    for path, value in changes.items():
        changed(values, path.replace("__", "."), value)
    for file in (data / SUBMISSION).iterdir():
        file.unlink()
    (data / SUBMISSION).rmdir()
    write_submission(data, samples, values, folder)


def resubmit_counted(data: Path, **changes: object) -> None:
    """Put a submission of counted instructions in the place of the sound one, its traced rows changed."""
    shutil.rmtree(data / "results")
    rows = counted_rows({"02-kprobe bpftrace": 640})
    changed_rows = [replace(row, **changes) for row in rows if row.arm == "traced"]  # type: ignore[arg-type]
    sound = [row for row in rows if row.arm == "baseline"]
    write_counted_submission(data, sorted([*sound, *changed_rows], key=lambda row: (row.block, row.position)))


def test_a_submission_of_counted_instructions_has_no_problem(data: Path) -> None:
    resubmit_counted(data)
    assert problems(data) == []


@pytest.mark.parametrize("name", ["wall_ns", "user_ns", "tracer_cpu_ns", "attach_ns"])
def test_a_time_in_a_row_of_counted_instructions_is_told(data: Path, name: str) -> None:
    resubmit_counted(data, **{name: 5000})
    assert len(problems(data)) == 3
    found = problems(data)[0]
    assert (found.rule, found.file, found.line) == ("metric", f"data/{COUNTED}/samples.csv", 3)
    assert f"a row with {name}" in found.message


def test_a_run_that_was_timed_where_instructions_are_counted_is_told(data: Path) -> None:
    resubmit_counted(data, instructions=None, wall_ns=5000)
    found = [one.message for one in problems(data) if one.line == 3]
    assert found == [
        "metric `instructions`, but a row with wall_ns",
        "metric `instructions`, but an `ok` run without `instructions`",
    ]


def test_a_run_that_failed_needs_no_instructions(data: Path) -> None:
    resubmit_counted(data, instructions=None, status="failed", note="it died")
    assert problems(data) == []


def test_a_run_that_was_counted_where_times_are_taken_is_told(data: Path) -> None:
    samples = many_blocks()
    samples[1] = replace(samples[1], wall_ns=None, instructions=5000)
    resubmit(data, samples)
    only_rule(data, "metric", f"{SUBMISSION}/samples.csv", 3, "metric `time`, but an `ok` run without `wall_ns`")


def test_a_timed_run_may_have_its_instructions_counted_too(data: Path) -> None:
    resubmit(data, [replace(row, instructions=5000) for row in many_blocks()])
    assert problems(data) == []


def test_events_of_counted_runs_that_do_not_add_up_are_told(data: Path) -> None:
    resubmit_counted(data, seen=900)
    assert [(one.rule, one.severity) for one in problems(data)] == [("reconciled", "warning")] * 3


@pytest.mark.parametrize(
    "name",
    [
        "Intel(R) Xeon(R) Processor @ 2.50GHz",
        "Intel(R) Core(TM) i7-8700K CPU @3.70GHz",
        "AMD Ryzen 7 5800X 8-Core Processor",
        "QEMU TCG CPU version 2.5+",
        "implementer 0x41 part 0xd0c",
        "SiFive,u74-mc [rv64imafdc]",
        "POWER9 (architected), altivec supported",
        "ZHAOXIN KaiXian KX-6640MA@2.2+GHz",
    ],
)
def test_a_name_that_a_cpu_really_has_is_plain(data: Path, name: str) -> None:
    resubmit(data, machine__cpu_model=name)
    assert [one for one in problems(data) if one.rule == "plain-names"] == []


@pytest.mark.parametrize(
    "name", ["<b>Xeon", "Xeon @ada", "Xeon @2cool", "[Xeon](//a.b)", "[Xeon][1]", "https://a.b", "WWW.a.b", "`Xeon`"]
)
def test_a_name_that_a_page_would_act_upon_is_none(data: Path, name: str) -> None:
    resubmit(data, machine__cpu_model=name)
    assert "plain-names" in {one.rule for one in problems(data)}


@pytest.mark.parametrize("folder", [FOLDER, f"{FOLDER}-2", f"{FOLDER}-13"])
def test_a_folder_may_carry_the_number_of_a_repeated_run(data: Path, folder: str) -> None:
    resubmit(data, folder=folder)
    assert problems(data) == []


@pytest.mark.parametrize(
    "folder", ["2026-11-21-per-event", "2026-11-20-sweep", f"{FOLDER}-0", f"{FOLDER}-x", f"{FOLDER}-", f"x{FOLDER}"]
)
def test_a_folder_named_otherwise_than_its_run_is_told(data: Path, folder: str) -> None:
    resubmit(data, folder=folder)
    only_rule(data, "folder-name", f"results/test-machine/{folder}/machine.json", None, "holds a run of 2026-11-20")


def test_a_submission_in_another_machines_folder_is_told(data: Path) -> None:
    (data / "results" / "test-machine").rename(data / "results" / "other-machine")
    file = f"results/other-machine/{FOLDER}/machine.json"
    problem = only_rule(data, "folder-name", file, None, "machine.id `test-machine`")
    assert "data/results/test-machine/" in problem.hint


def test_a_run_of_an_unknown_suite_is_told(data: Path) -> None:
    resubmit(data, folder="2026-11-20-sweep", run__suite="sweep")
    only_rule(data, "known-cases", "results/test-machine/2026-11-20-sweep/machine.json", None, "`sweep` is not known")


def test_a_case_that_its_suite_does_not_have_is_told_with_its_line(data: Path) -> None:
    rows = many_blocks(6)
    rows[4] = replace(rows[4], case="99-else")
    resubmit(data, rows)
    only_rule(data, "known-cases", f"{SUBMISSION}/samples.csv", 6, "`99-else`")


def test_a_case_of_another_architecture_is_told_and_nobody_misses_it(data: Path) -> None:
    rows = many_blocks(6)
    name = next(row.case for row in rows if row.arm == "traced")
    suite = data / "suites" / "per-event" / "suite.toml"
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace(f'id = "{name}"', f'id = "{name}"\narchitectures = ["aarch64"]'), encoding="utf-8")
    resubmit(data, rows)
    words = f"case `{name}` is not of the machine's architecture, `x86_64`"
    assert {("known-cases", words)} == {(one.rule, one.message) for one in problems(data) if name in one.message}
    resubmit(data, [row for row in rows if row.case != name])
    assert [one for one in problems(data) if name in one.message] == []


def test_rows_out_of_order_are_told_with_the_line_that_comes_too_late(data: Path) -> None:
    rows = many_blocks(6)
    rows[1], rows[2] = rows[2], rows[1]
    resubmit(data, rows)
    only_rule(data, "row-order", f"{SUBMISSION}/samples.csv", 4, "block 0, position 1")


def test_a_block_with_one_baseline_is_told(data: Path) -> None:
    resubmit(data, [row for row in many_blocks(6) if (row.block, row.position) != (3, 2)])
    only_rule(data, "row-order", f"{SUBMISSION}/samples.csv", None, "block 3 has 1 baseline runs")


def at_levels(data: Path, *levels: str) -> None:
    """Have the suite of the submission vary something."""
    suite = data / "suites" / "per-event" / "suite.toml"
    factor = f'[factor]\nname = "work"\ntitle = "Work"\nunit = "turns"\nlevels = {list(levels)}\n\n'
    text = suite.read_text(encoding="utf-8").replace("[[cases]]", f"{factor}[[cases]]", 1)
    suite.write_text(text, encoding="utf-8")


def test_rows_at_the_levels_of_their_suite_are_sound(data: Path) -> None:
    at_levels(data, "low", "high")
    low = [replace(row, level="low") for row in many_blocks(6)]
    high = [replace(row, level="high", position=row.position + 3) for row in many_blocks(6)]
    resubmit(data, sorted([*low, *high], key=lambda row: (row.block, row.position)))
    assert problems(data) == []


def test_a_level_that_its_suite_does_not_have_is_told_with_its_line(data: Path) -> None:
    rows = many_blocks(6)
    rows[4] = replace(rows[4], level="high")
    resubmit(data, rows)
    assert ("known-cases", 6) in {(one.rule, one.line) for one in problems(data)}


def test_a_row_without_a_level_is_told_where_its_suite_has_some(data: Path) -> None:
    at_levels(data, "low")
    rows = [replace(row, level="low") for row in many_blocks(6)]
    rows[4] = replace(rows[4], level=None)
    resubmit(data, rows)
    assert "no level in a row of suite `per-event`" in {one.message for one in problems(data)}


def test_a_block_with_one_baseline_of_a_level_is_told_with_the_level(data: Path) -> None:
    at_levels(data, "low", "high")
    low = [replace(row, level="low") for row in many_blocks(6)]
    high = [replace(row, level="high", position=row.position + 3) for row in many_blocks(6)]
    rows = sorted([*low, *high], key=lambda row: (row.block, row.position))
    resubmit(data, [row for row in rows if (row.block, row.position) != (3, 5)])
    only_rule(data, "row-order", f"{SUBMISSION}/samples.csv", None, "block 3 has 1 baseline runs at level `high`")


def test_a_block_without_timed_runs_needs_no_baselines(data: Path) -> None:
    failed = traced_row(6, 0, 150, status="failed", note="it died")
    resubmit(data, [*many_blocks(6), replace(failed, wall_ns=None)])
    assert problems(data) == []


@pytest.mark.parametrize(
    ("seen", "lost", "told"),
    [
        pytest.param(1000, None, False, id="whole"),
        pytest.param(999, 0, False, id="within tolerance"),
        pytest.param(998, 0, True, id="missing"),
        pytest.param(1002, 0, True, id="too many"),
        pytest.param(600, 400, False, id="lost ones count"),
        pytest.param(None, None, False, id="not counted"),
    ],
)
def test_events_that_do_not_add_up_are_a_warning_with_its_line(
    data: Path, seen: int | None, lost: int | None, told: bool
) -> None:
    rows = [baseline_row(0, 0), traced_row(0, 1, 150, seen=seen, lost=lost), baseline_row(0, 2)]
    resubmit(data, rows)
    if not told:
        assert problems(data) == []
        return
    problem = only_rule(data, "reconciled", f"{SUBMISSION}/samples.csv", 3, f"{seen} seen")
    assert problem.severity == "warning"


# Sources


def test_a_source_folder_whose_name_is_no_id_is_told(data: Path) -> None:
    write_source(data, name='x" onclick="y')
    found = problems(data)
    assert rules(found) == {"folder-name"}
    assert found[0].file.endswith("source.toml")


def with_figure(data: Path, changed_figure: str, **cells: str) -> None:
    """Write the source again with `cells` of one figure changed."""
    rows = [dict(row) | (cells if row["figure"] == changed_figure else {}) for row in FIGURES]
    write_source(data, rows, name="b-talk")


LINES = {row["figure"]: line for line, row in enumerate(FIGURES, start=2)}


@pytest.mark.parametrize(
    ("figure", "cells", "words"),
    [
        pytest.param("plain", {"printed": ""}, "neither printed nor derived", id="a number from nowhere"),
        pytest.param("cost", {"value": "1001"}, "its formula gives 1000", id="value of our own is wrong"),
        pytest.param("cost", {"cost_ns": "999"}, "cost_ns is 999", id="derived cost is wrong"),
        pytest.param("cost", {"cost_from": ""}, "cost_ns and cost_from", id="cost without its origin"),
        pytest.param("cost", {"cost_ns": ""}, "cost_ns and cost_from", id="origin without a cost"),
        pytest.param("cost", {"baseline_ns": "5"}, "baseline_ns and baseline_from", id="baseline without its origin"),
        pytest.param(
            "cost", {"baseline_ns": "5", "baseline_from": "derived"}, "without baseline_formula", id="baseline by magic"
        ),
        pytest.param(
            "cost",
            {"baseline_ns": "5", "baseline_from": "derived", "baseline_formula": "plain / calls"},
            "baseline_ns is 5",
            id="derived baseline is wrong",
        ),
        pytest.param("cost", {"formula": "traced - speed"}, "`speed`", id="unknown figure"),
        pytest.param("cost", {"formula": "traced / (calls - calls)"}, "divides by zero", id="division by zero"),
        pytest.param("cost", {"formula": "__import__('os')"}, "may not hold", id="code"),
        pytest.param("cost", {"formula": "*".join(["traced"] * 90)}, "larger than", id="number beyond all"),
        pytest.param("cost", {"formula": "1e999"}, "may not hold", id="infinite"),
        pytest.param("traced", {"figure": "plain"}, "two figures `plain`", id="repeated id"),
    ],
)
def test_a_figure_that_does_not_follow_is_told_with_its_line(
    data: Path, figure: str, cells: dict[str, str], words: str
) -> None:
    with_figure(data, figure, **cells)
    found = [one for one in problems(data) if one.rule == "derived-figures" and one.line == LINES[figure]]
    assert any(words in one.message for one in found), found
    assert all(one.file == "data/published/b-talk/figures.csv" and one.hint for one in found)


def test_a_printed_figure_may_differ_from_its_formula(data: Path) -> None:
    """That is a finding about the source, not a fault of ours."""
    with_figure(data, "printed_cost", value="2600", printed="2600 us", cost_ns="2600000")
    assert problems(data) == []


@pytest.mark.parametrize(
    ("findings", "changes", "words"),
    [
        pytest.param([FINDING | {"agrees_if": "cost == 1000"}], {}, "agrees with itself", id="no contradiction"),
        pytest.param([FINDING | {"sentence": "At {speed}."}], {}, "`{speed}`", id="unknown figure in a finding"),
        pytest.param([FINDING | {"agrees_if": "cost"}], {}, "is not one comparison", id="no comparison"),
        pytest.param([FINDING | {"agrees_if": "1 / 0 < cost"}], {}, "divides by zero", id="division by zero"),
        pytest.param([FINDING | {"agrees_if": "1e999 < cost"}], {}, "may not hold", id="infinite"),
        pytest.param([], {"summary": "It costs {speed}."}, "`{speed}`", id="unknown figure in the summary"),
    ],
)
def test_a_finding_that_does_not_stand_is_told(
    data: Path, findings: list[dict[str, str]], changes: dict[str, str], words: str
) -> None:
    (data / "published" / "a-talk" / "source.toml").write_text(source_toml(findings, **changes), encoding="utf-8")
    only_rule(data, "standing-findings", "published/a-talk/source.toml", None, words)


# Suites


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        pytest.param(["workload/dd-loop.c"], "workload/dd-loop.c is missing", id="workload"),
        pytest.param(
            ["16-timing.bt", "16-timing.d", "16-timing.linux.d"], "case `16-timing` has no script", id="script"
        ),
        pytest.param(["02-kprobe.check.bt"], "a twin that is missing", id="counting twin"),
        pytest.param(["02-kprobe.check.linux.d"], "a twin that is missing on Linux", id="counting twin for Linux"),
        pytest.param(
            ["09-map.d"], "`09-map.linux.d` is the form for Linux of a script that is missing", id="plain form"
        ),
    ],
)
def test_a_file_that_a_suite_names_and_lacks_is_told(data: Path, gone: list[str], words: str) -> None:
    for name in gone:
        (data / "suites" / "per-event" / name).unlink()
    only_rule(data, "suite-scripts", "suites/per-event/suite.toml", None, words)


@pytest.mark.parametrize(
    "reference",
    [
        'like = "99-else"',
        'like = "01-control"',
        'parts = ["02-kprobe", "99-else"]',
        'composed = { probe = "02-kprobe", action = "09-map", plain = "99-else" }',
    ],
    ids=["like", "itself", "parts", "composed"],
)
def test_a_reference_to_a_case_that_is_none_is_told(data: Path, reference: str) -> None:
    suite = data / "suites" / "per-event" / "suite.toml"
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace('id = "01-control"\n', f'id = "01-control"\n{reference}\n'), encoding="utf-8")
    only_rule(data, "suite-scripts", "suites/per-event/suite.toml", None, "case `01-control` refers to")


def test_a_case_id_that_another_suite_has_too_is_told(data: Path) -> None:
    shutil.copytree(data / "suites" / "per-event", data / "suites" / "second")
    text = (data / "suites" / "second" / "suite.toml").read_text(encoding="utf-8")
    text = text.replace('id = "per-event"', 'id = "second"', 1).replace('"01-', '"x01-')
    (data / "suites" / "second" / "suite.toml").write_text(text, encoding="utf-8")
    found = {one.message for one in problems(data) if one.rule == "unique-cases"}
    assert "case `04-tracepoint-entry` is in suite `second` too" in found
    assert not any("01-control" in message for message in found)


def test_a_run_that_is_not_complete_is_told_how_to_go_on(data: Path) -> None:
    (folder,) = (data / "results").glob("*/*")
    (folder / "plan.json").write_text("{}", encoding="utf-8")
    only_rule(data, "known-files", f"{folder.relative_to(data)}/plan.json", None, "not complete")


def test_a_suite_in_a_folder_of_another_name_is_told(data: Path) -> None:
    (data / "suites" / "per-event").rename(data / "suites" / "else")
    found = [one for one in problems(data) if one.rule == "suite-scripts"]
    assert [one.message for one in found] == ["id `per-event` in folder `else`"]


# Running them


def test_files_that_cannot_be_read_are_told_with_what_the_folder_holds(data: Path) -> None:
    (data / SUBMISSION / "machine.json").write_text("{", encoding="utf-8")
    (data / SUBMISSION / "samples.csv").write_text("block\n", encoding="utf-8")
    (data / SUBMISSION / "extra").write_text("", encoding="utf-8")
    assert rules(problems(data)) == {"machine/syntax", "samples/header", "known-files"}


def test_a_submission_without_its_machine_file_is_told(data: Path) -> None:
    (data / SUBMISSION / "machine.json").unlink()
    only_rule(data, "machine/file", f"{SUBMISSION}/machine.json", None, "cannot be read")


def test_one_submission_can_be_checked_alone(data: Path) -> None:
    (data / "published" / "a-talk" / "source.toml").write_text("x", encoding="utf-8")
    assert problems(data, data / SUBMISSION) == []
    assert rules(problems(data, data / "published")) == {"source/syntax"}


def test_a_folder_without_data_is_wrong_usage(data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no submission"):
        problems(data, tmp_path / "empty")


def test_a_submission_outside_the_data_folder_is_named_from_beside_it(data: Path, tmp_path: Path) -> None:
    folder = write_submission(tmp_path / "elsewhere", [skipped_row(0, case="99-else")])
    (problem,) = problems(data, folder)
    assert problem.file == str((folder / "samples.csv").relative_to(tmp_path))


def test_a_folder_that_is_a_link_is_told(data: Path) -> None:
    submission = next((data / "results").glob("*/*"))
    (data / "results" / "elsewhere").mkdir()
    (data / "results" / "elsewhere" / submission.name).symlink_to(submission)
    problems = check([data / "results"], DataFolder(data))
    assert [(problem.rule, problem.message) for problem in problems] == [("known-files", "is a link to a folder")]
