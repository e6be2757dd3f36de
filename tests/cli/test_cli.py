"""The command line as people and programs meet it: exit status, text, JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner

from helpers.builders import FOLDER, PROJECT, changed, machine_values, many_blocks, skipped_row, write_submission
from probe_effect import __version__
from probe_effect.cli import commands, main
from probe_effect.cli.output import product_json

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = Path(sys.executable).with_name("probe-effect")
SUBMISSION = f"results/test-machine/{FOLDER}"

COMMANDS = [pytest.param(name, id=name) for name in sorted(commands.commands)]

SUMMARY_KEYS = "id machine suite metric grade noise_floor_ns cases".split()
CASE_KEYS = (
    "case tracer level status blocks baseline_ns cost_ns cost_low_ns cost_high_ns fastest_ns slowdown_ratio "
    "slowdown_low_ratio slowdown_high_ratio threshold_1_hz threshold_5_hz threshold_30_hz loss_ratio reconciled grade "
    "note"
).split()
PROBLEM_KEYS = ["severity", "file", "line", "column", "rule", "message", "hint"]


NO_COLOUR = {"NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
COLOUR = re.compile(r"\x1b\[([0-9;]*;)?[39][0-9]")
"""Bold is no colour; 30 to 37, 38, 90 to 97 are."""


@dataclass(frozen=True)
class Answer:
    """What the program did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Its product, as a program reads it."""
        value: dict[str, Any] = json.loads(self.out)
        return value


def run(*arguments: str | Path, folder: Path = PROJECT) -> Answer:
    """What the program's entry point does in `folder`, without a process of its own."""
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
    ):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        patch.setattr("sys.argv", [PROGRAM.name, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return Answer(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def start(*arguments: str | Path, folder: Path = PROJECT, environment: Mapping[str, str] | None = None) -> Answer:
    """What the installed program does in `folder`, as a process of its own."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "COLUMNS": "200", **(environment or {})},
    )
    assert "Traceback" not in done.stderr
    return Answer(done.returncode, done.stdout, done.stderr)


# Help


def test_the_program_says_what_it_does_and_which_exit_status_means_what() -> None:
    answer = start("--help")
    assert answer.status == 0
    statuses = "0 fine, 1 problems found, 2 wrong usage, 3 this host cannot do it, 130 interrupted"
    assert f"Exit status: {statuses}." in answer.out
    for command in commands.commands:
        assert re.search(rf"^  {command} ", answer.out, re.MULTILINE)
    listed = answer.out.partition("\nAsk:\n")[2]
    assert re.findall(r"^(\S.*):$", listed, re.MULTILINE) == ["Measure", "Publish", "Keep up"]
    assert "..." not in listed


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_says_what_it_does(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # click keeps the option as it was in the first call, which in another test may have been one without the group.
    monkeypatch.setattr(commands.get_command(click.Context(commands), command), "_help_option", None, raising=False)
    long, short = (CliRunner().invoke(commands, [command, ask], prog_name="probe-effect") for ask in ("--help", "-h"))
    assert long.exit_code == 0
    assert long.output.startswith(f"Usage: probe-effect {command} ")
    assert long.output.splitlines()[2].strip()[0].isupper()
    assert "\\b" not in long.output
    assert short.output == long.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_says_what_it_is_for(command: str) -> None:
    read = commands.get_command(click.Context(commands), command)
    assert read is not None
    options = [one for one in read.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []


@pytest.mark.parametrize("command", ["check", "summarise"])
def test_commands_that_take_folders_show_an_example(command: str) -> None:
    shown = CliRunner().invoke(commands, [command, "--help"]).output
    assert re.search(rf"^  Example: probe-effect {command} data/results/", shown, re.MULTILINE)


def test_the_version_is_the_packages() -> None:
    assert start("--version").out == f"probe-effect, version {__version__}\n"


def test_help_and_nothing_are_not_the_same() -> None:
    answer = start()
    assert answer.status == 2
    assert "Usage: probe-effect" in answer.out + answer.err


# Wrong usage


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["nonsense"], id="unknown command"),
        pytest.param(["check", "--nonsense"], id="unknown option"),
        pytest.param(["check", "--format", "xml"], id="unknown format"),
        pytest.param(["summarise"], id="missing folder"),
        pytest.param(["check", "/nowhere"], id="folder that is not there"),
        pytest.param(["summarise", "/nowhere"], id="submission that is not there"),
        pytest.param(["check", "--data", "/nowhere"], id="data folder that is not there"),
        pytest.param(["suites", "--data", "/nowhere"], id="likewise for suites"),
        pytest.param(["build", "--data", "/nowhere"], id="likewise for build"),
    ],
)
def test_wrong_usage_ends_with_two_and_a_word_on_stderr(arguments: list[str]) -> None:
    answer = run(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.strip()


def test_outside_a_checkout_the_message_says_what_to_do(tmp_path: Path) -> None:
    answer = run("check", folder=tmp_path)
    assert answer.status == 2
    assert "not inside a Probe Effect checkout" in answer.err
    assert "clone" in answer.err


# check


def test_check_of_sound_data_ends_with_zero(data: Path) -> None:
    answer = start("check", "--data", data)
    assert (answer.status, answer.out, answer.err) == (0, "0 errors, 0 warnings\n", "")


def test_check_of_bad_data_ends_with_one_and_names_place_rule_and_mend(data: Path) -> None:
    (data / SUBMISSION / "samples.csv").write_text("block\n", encoding="utf-8")
    (data / "published" / "a-talk" / "source.toml").write_text("title =\n", encoding="utf-8")
    answer = run("check", "--data", data)
    assert answer.status == 1
    assert re.search(r"^data/published/a-talk/source\.toml:1:8: error: .+ \[source/syntax\]$", answer.err, re.MULTILINE)
    assert f"data/{SUBMISSION}/samples.csv:1: error: column `case` is missing [samples/header]\n    " in answer.err
    assert re.fullmatch(r"[0-9]+ errors, 0 warnings\n", answer.out)


def test_warnings_alone_do_not_fail_a_check(data: Path) -> None:
    write_submission(data, many_blocks(1, seen=1), changed(machine_values(), "run.blocks", 1), folder=f"{FOLDER}-2")
    answer = run("check", "--data", data)
    assert (answer.status, answer.out) == (0, "0 errors, 1 warnings\n")
    assert f"{FOLDER}-2/samples.csv:3: warning: 02-kprobe: 1000 events made, 1 seen, 0 lost [reconciled]" in answer.err


def test_check_as_json_has_the_keys_that_programs_rely_on(data: Path) -> None:
    (data / "published" / "a-talk" / "source.toml").write_text("title =\n", encoding="utf-8")
    answer = run("check", "--data", data, "--format", "json")
    (problem,) = answer.json["problems"]
    assert answer.status == 1
    assert list(problem) == PROBLEM_KEYS
    assert (problem["severity"], problem["line"], problem["column"]) == ("error", 1, 8)


def test_check_of_sound_data_as_json_is_an_empty_list(data: Path) -> None:
    answer = run("check", "--data", data, "--format", "json")
    assert (answer.status, answer.json) == (0, {"problems": []})


def test_one_folder_can_be_checked_alone(data: Path) -> None:
    (data / "published" / "a-talk" / "source.toml").write_text("title =\n", encoding="utf-8")
    assert run("check", "--data", data, data / SUBMISSION).status == 0
    assert run("check", "--data", data, data / "published").status == 1


def test_a_hostile_file_name_cannot_speak_to_the_terminal(data: Path) -> None:
    (data / SUBMISSION / "\x1b[2Jgone").write_text("", encoding="utf-8")
    answer = run("check", "--data", data)
    assert answer.status == 1
    assert "\x1b" not in answer.err


def test_square_brackets_in_data_are_not_styles(data: Path) -> None:
    (data / SUBMISSION / "[bold red]x").write_text("", encoding="utf-8")
    assert "[bold red]x" in run("check", "--data", data).err


# summarise


def test_summarise_as_json_has_the_keys_that_programs_rely_on(data: Path) -> None:
    answer = run("summarise", "--data", data, "--format", "json", data / SUBMISSION)
    assert answer.status == 0
    (submission,) = answer.json["submissions"]
    assert set(SUMMARY_KEYS) <= submission.keys()
    measured, skipped = submission["cases"]
    assert set(CASE_KEYS) <= measured.keys()
    assert measured.keys() == skipped.keys()


def test_summarise_as_json_gives_costs_in_plain_units_and_null_where_there_is_none(data: Path) -> None:
    (submission,) = run("summarise", "--data", data, "--format", "json", data / SUBMISSION).json["submissions"]
    assert submission["id"] == f"test-machine/{FOLDER}"
    assert (submission["machine"], submission["suite"], submission["metric"]) == ("test-machine", "per-event", "time")
    measured, skipped = submission["cases"]
    assert (measured["cost_ns"], measured["cost_low_ns"], measured["cost_high_ns"]) == (50.0, 50.0, 50.0)
    assert measured["slowdown_ratio"] == pytest.approx(0.5)
    assert measured["threshold_5_hz"] == pytest.approx(1e6)
    assert (skipped["status"], skipped["cost_ns"], skipped["note"]) == ("skipped", None, skipped_row(0).note)


def test_json_is_the_same_where_another_cpu_or_count_of_threads_gives_other_last_digits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def printed(ratio: float) -> str:
        product_json({"times": [1_764_362_125.25, ratio], "count": 2**62, "nothing": None})
        return capsys.readouterr().out

    seen = printed(0.09514054126093673)
    assert seen == printed(0.09514054126093677) != printed(0.09514054127)
    assert json.loads(seen) == {"times": [1_764_362_125.25, 0.0951405412609], "count": 2**62, "nothing": None}


def test_summarise_in_words_shows_costs_and_why_a_case_has_none(data: Path) -> None:
    answer = run("summarise", "--data", data, data / SUBMISSION)
    assert answer.status == 0
    text = answer.out.replace("\u00a0", " ")
    assert f"test-machine/{FOLDER}: Example, machine" in text
    assert re.search(r"02-kprobe +bpftrace +50\.0 ns +50 %", text)
    assert "06-uprobe bpftrace: skipped: this kernel has no uprobes" in text


def test_summarise_of_several_folders_gives_all(data: Path) -> None:
    other = write_submission(data, many_blocks(6), folder=f"{FOLDER}-2")
    answer = run("summarise", "--data", data, "--format", "json", data / SUBMISSION, other)
    assert [one["id"] for one in answer.json["submissions"]] == [f"test-machine/{FOLDER}", f"test-machine/{FOLDER}-2"]


def test_summarise_of_bad_data_ends_with_one_and_its_problems(data: Path) -> None:
    (data / SUBMISSION / "machine.json").write_text("{", encoding="utf-8")
    answer = run("summarise", "--data", data, data / SUBMISSION)
    assert (answer.status, answer.out) == (1, "")
    assert "machine.json:1:2: error: " in answer.err
    assert "error: 1 problem in the data" in answer.err


# suites


@pytest.fixture(scope="module")
def suites() -> tuple[Answer, list[dict[str, Any]]]:
    """The suites in words and the cases as JSON; each asks all tracers of this machine."""
    return start("suites", environment=NO_COLOUR), run("suites", "--format", "json").json["cases"]


def test_suites_lists_every_case_and_tracer_and_whether_it_can_run(suites: tuple[Answer, list[dict[str, Any]]]) -> None:
    _, cases = suites
    assert {(one["suite"], one["case"]) for one in cases} >= {
        ("per-event", "01-control"),
        ("per-event", "18-per-event"),
    }
    assert {"suite", "case", "tracer", "missing"} <= cases[0].keys()


def test_suites_in_words_is_a_table(suites: tuple[Answer, list[dict[str, Any]]]) -> None:
    answer, _ = suites
    assert answer.status == 0
    assert not COLOUR.search(answer.out)
    assert click.unstyle(answer.out).split("\n")[0].split() == ["suite", "case", "tracer", "can", "run", "here"]
    assert "per-event" in answer.out


def test_suites_in_words_says_a_reason_once_however_many_rows_have_it(
    suites: tuple[Answer, list[dict[str, Any]]],
) -> None:
    answer, cases = suites
    table, _, reasons = click.unstyle(answer.out).partition("Why not")
    missing = {one["missing"] for one in cases} - {None}
    assert len(re.findall(r"^ *\[\d+\]", reasons, re.MULTILINE)) == len(missing)
    assert set(re.findall(r"no \[(\d+)\]", table)) == {str(number) for number in range(1, len(missing) + 1)}


# build and measure refuse early


def test_build_of_bad_data_ends_with_one_and_leaves_the_previous_site(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("before", encoding="utf-8")
    (data / SUBMISSION / "machine.json").write_text("{", encoding="utf-8")
    answer = run("build", "--data", data, "--out", out)
    assert answer.status == 1
    assert "machine.json:1:2: error: " in answer.err
    assert (out / "index.html").read_text(encoding="utf-8") == "before"


# Terminals


@pytest.mark.parametrize(
    "arguments",
    [["check", "/nowhere"], ["--help"], ["summarise"]],
    ids=["error", "help", "usage"],
)
def test_no_colour_means_no_colour(arguments: list[str]) -> None:
    answer = start(*arguments, environment=NO_COLOUR)
    assert not COLOUR.search(answer.out + answer.err)


def test_output_to_a_program_has_no_terminal_codes_at_all(data: Path) -> None:
    answer = start("summarise", "--data", data, data / SUBMISSION, environment={"TERM": "xterm-256color"})
    assert "\x1b" not in answer.out + answer.err
