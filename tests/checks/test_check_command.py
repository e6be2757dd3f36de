"""`probe-effect check`: its formats, its exit status, and what `--fix` fixes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.submission_patches import HOME, good_data
from helpers.tiers import deep_but
from probe_effect.cli import commands
from probe_effect.intake.report import annotate
from probe_effect.model import Problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

ADDRESS_SPACE_BYTES = 1536 * 2**20
"""Of a whole process, of which the interpreter and numpy reserve most without using it."""

LONGEST_S = 120
"""An end for a check that hangs, on however busy a machine."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder in which nothing is wrong."""
    return good_data(tmp_path)


@pytest.fixture
def folder(data: Path) -> Path:
    """The submission in it."""
    return data / HOME["submission"]


def run(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        commands, ["check", "--data", str(data), *arguments, str(data / "results")], catch_exceptions=False
    )


def test_nothing_wrong_is_status_0(data: Path) -> None:
    outcome = run(data)
    assert (outcome.exit_code, outcome.stdout) == (0, "0 errors, 0 warnings\n")


# Annotations


def problem(
    message: str = "is wrong", file: str = "data/a.csv", line: int | None = 3, hint: str = "mend it"
) -> Problem:
    return Problem("error", file, line, None, "row-order", message, hint)


def annotation(*problems: Problem) -> str:
    """The one line that they make."""
    (line,) = annotate(problems)
    return line


def test_an_annotation_names_the_place_the_rule_and_the_mend() -> None:
    assert annotation(problem()) == "::error file=data/a.csv,line=3,title=row-order::is wrong%0Amend it"


def test_what_has_no_line_is_annotated_without_one() -> None:
    assert annotation(problem(line=None)) == "::error file=data/a.csv,title=row-order::is wrong%0Amend it"


def test_a_message_cannot_begin_another_command() -> None:
    text = annotation(problem("100 %\n::stop-commands::x\r::error::y"))
    assert "\n" not in text
    assert "\r" not in text
    assert text.endswith("::100 %25%0A::stop-commands::x%0D::error::y%0Amend it")


def test_a_file_name_cannot_add_a_property() -> None:
    text = annotation(problem(file="data/a,line=9::b%.csv"))
    assert text.startswith("::error file=data/a%2Cline=9%3A%3Bb%25.csv,".replace("%3B", "%3A"))


def test_one_fault_of_many_rows_is_one_annotation_with_its_first_lines() -> None:
    text = annotation(*(problem(f"is {line}", line=line) for line in range(3, 41)))
    assert "is 3 (and 37 more like it, in lines 4, 5, 6, 7, 8, ..)" in text


def test_the_same_fault_of_another_file_or_another_rule_has_its_own() -> None:
    others = (problem(file="data/b.csv"), replace(problem(), rule="dates"), replace(problem(), severity="warning"))
    assert len(list(annotate([problem(), *others]))) == 4


def test_errors_come_before_warnings_and_what_github_would_drop_is_counted() -> None:
    warnings = [replace(problem(file=f"data/{place}.csv"), severity="warning") for place in range(38)]
    lines = list(annotate([*warnings, problem()]))
    assert [line.split(" ")[0] for line in lines] == ["::error", *["::warning"] * 10]
    assert lines[-1] == "::warning title=and more::29 more warnings of other rules or files: see the log"


def test_as_many_as_github_shows_are_all_shown() -> None:
    assert "see the log" not in "".join(annotate(problem(file=f"data/{place}.csv") for place in range(10)))


def test_a_workflow_sees_each_problem_on_a_line_of_its_own(data: Path, folder: Path) -> None:
    (folder / "notes.txt").touch()
    (folder / "samples.csv").chmod(0o755)
    outcome = run(data, "--format", "github")
    *commands_, summary = outcome.stdout.splitlines()
    assert [re.match(r"::error file=([^,]*),title=known-files::", line) is not None for line in commands_] == [True] * 2
    assert summary == "2 errors, 0 warnings"
    assert outcome.exit_code == 1


# Fixing


def spoil(folder: Path) -> None:
    """Everything that can be fixed, at once."""
    rows, machine = folder / "samples.csv", folder / "machine.json"
    rows.write_bytes(b"\xef\xbb\xbf" + rows.read_bytes().replace(b"\n", b"\r\n"))
    machine.write_bytes(b"\xef\xbb\xbf" + machine.read_bytes().replace(b",\n", b",  \r\n").rstrip(b"\n"))
    rows.chmod(0o755)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mode) for path in folder.iterdir()}


def test_fix_makes_a_spoilt_submission_what_it_was(data: Path, folder: Path) -> None:
    before = contents(folder)
    spoil(folder)
    assert run(data).exit_code == 1
    assert run(data, "--fix").exit_code == 0
    assert contents(folder) == before


def test_fix_says_what_it_did(data: Path, folder: Path) -> None:
    spoil(folder)
    said = {
        (one["file"].rpartition("/")[2], one["what"])
        for one in json.loads(run(data, "--fix", "--format", "json").stdout)["mended"]
    }
    assert said == {
        ("samples.csv", "is no longer executable"),
        ("samples.csv", "has no byte order mark any more"),
        ("samples.csv", "ends its lines with LF"),
        ("machine.json", "has no byte order mark any more"),
        ("machine.json", "ends its lines with LF"),
        ("machine.json", "has no blanks at the ends of lines"),
        ("machine.json", "ends with a line feed"),
    }


SAVED: dict[str, Callable[[bytes], bytes]] = {
    "by a German spreadsheet": lambda rows: rows.replace(b",", b";"),
    "as text with tabs": lambda rows: rows.replace(b",", b"\t"),
    "with a line for Excel": lambda rows: b"sep=;\r\n" + rows.replace(b",", b";").replace(b"\n", b"\r\n"),
    "with a line for Excel alone": lambda rows: b"sep=,\n" + rows,
    "with blank rows": lambda rows: rows.replace(b"\n", b"\n,,,,\n\n") + b",,,\n",
    "with line ends of an old Mac": lambda rows: rows.replace(b"\n", b"\r"),
    "before a power cut": lambda rows: rows + b"\0" * 40,
}


@pytest.mark.parametrize("how", SAVED)
def test_fix_mends_what_another_program_saved(data: Path, folder: Path, how: str) -> None:
    before = contents(folder)
    (folder / "samples.csv").write_bytes(SAVED[how](before["samples.csv"][0]))
    assert run(data).exit_code == 1
    assert run(data, "--fix").exit_code == 0
    assert contents(folder) == before


def test_fix_makes_no_torn_line_whole(data: Path, folder: Path) -> None:
    rows = folder / "samples.csv"
    torn = rows.read_bytes()[:-5]
    rows.write_bytes(torn.replace(b",", b";") + b"\0" * 9)
    assert run(data, "--fix").exit_code == 1
    assert rows.read_bytes() == torn


def test_fix_has_nothing_to_do_a_second_time(data: Path, folder: Path) -> None:
    spoil(folder)
    run(data, "--fix")
    after = contents(folder)
    assert json.loads(run(data, "--fix", "--format", "json").stdout)["mended"] == []
    assert contents(folder) == after


def test_without_fix_no_file_is_touched(data: Path, folder: Path) -> None:
    spoil(folder)
    before = contents(folder)
    run(data)
    assert contents(folder) == before


def test_fix_leaves_values_and_a_torn_line_alone(data: Path, folder: Path) -> None:
    rows = folder / "samples.csv"
    rows.write_bytes(rows.read_bytes().replace(b"ok,,", b"ok,  ,", 1)[:-5])
    before = rows.read_bytes()
    assert run(data, "--fix").exit_code == 1
    assert rows.read_bytes() == before


def test_fix_follows_no_link(data: Path, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_bytes(b"a\r\n")
    outside.chmod(0o755)
    (folder / "samples.csv").unlink()
    (folder / "samples.csv").symlink_to(outside)
    run(data, "--fix")
    assert (outside.read_bytes(), outside.stat().st_mode & 0o777) == (b"a\r\n", 0o755)


# Hostile input


def many_rows(folder: Path) -> None:
    row = "0,0,baseline,none,baseline,,1,,,1,,,,,,,,,ok,,\n"
    header = (folder / "samples.csv").read_text(encoding="utf-8").split("\n", 1)[0]
    with (folder / "samples.csv").open("w", encoding="utf-8") as file:
        file.write(f"{header}\n")
        for _ in range(100):
            file.write(row * 100_000)


def many_columns(folder: Path) -> None:
    names = ",".join(f"a{place}" for place in range(550_000))
    (folder / "samples.csv").write_text(f"{names}\n{',' * 549_999}\n", encoding="utf-8")


def many_blocks_of_their_own(folder: Path) -> None:
    header = (folder / "samples.csv").read_text(encoding="utf-8").split("\n", 1)[0]
    rows = (f"{block},0,baseline,none,baseline,,1,,,1,,,,,,,,,ok,,\n" for block in range(90_000))
    (folder / "samples.csv").write_text(f"{header}\n{''.join(rows)}", encoding="utf-8")


def many_faulty_keys(folder: Path) -> None:
    values = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    values["run"]["command"] = [1] * 80_000
    (folder / "machine.json").write_text(json.dumps(values), encoding="utf-8")


def deep_folders(folder: Path) -> None:
    """Deeper than Python's own recursion goes; made without ever naming the whole path."""
    script = "import os\nfor _ in range(1500):\n os.mkdir('a')\n os.chdir('a')\n"
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)


HOSTILE: dict[Callable[[Path], None], str] = {
    many_rows: "samples/size",
    many_columns: "samples/header",
    many_blocks_of_their_own: "run-size",
    many_faulty_keys: "machine/string-type",
    deep_folders: "known-files",
}

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from probe_effect.cli import main
sys.argv[:2] = ["probe-effect"]
main()
"""


@pytest.mark.parametrize("make", deep_but(HOSTILE, [many_columns, deep_folders]), ids=lambda make: make.__name__)
def test_hostile_input_ends_in_a_problem_within_its_memory(
    data: Path, folder: Path, make: Callable[[Path], None]
) -> None:
    make(folder)
    words = ["check", "--format", "json", "--data", str(data), str(folder)]
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, str(ADDRESS_SPACE_BYTES), *words],
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    subprocess.run(["rm", "-rf", str(folder)], check=True)  # noqa: S607 (Python's own cannot go that deep)
    assert ended.returncode == 1, ended.stderr
    assert HOSTILE[make] in {problem["rule"] for problem in json.loads(ended.stdout)["problems"]}
