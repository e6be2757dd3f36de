"""What contributors read: its commands are ones that the program takes, and its examples are sound."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING

import click
import pytest

from helpers.builders import PROJECT
from helpers.contributor import COLUMNS, Way, fitted, steps, walked
from probe_effect.cli import commands
from probe_effect.store.beside_files import ChangesFile

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {name: (PROJECT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", ".github/RUNNERS.md")}
TARGETS = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def blocks(language: str) -> list[str]:
    return [
        one
        for text in PAGES.values()
        for one in re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


COMMANDS = [line[2:] for block in blocks("") for line in block.splitlines() if line.startswith("$ ")]
INLINE = [
    one for text in PAGES.values() for one in re.findall(r"`((?:sudo )?(?:\.venv/bin/)?probe-effect [^`]+)`", text)
]


@pytest.mark.parametrize(
    "is_clone",
    [pytest.param(False, marks=pytest.mark.deep, id="without a clone"), pytest.param(True, id="in a clone")],
)
@pytest.mark.deep
def test_every_command_of_the_way_runs_as_it_stands_and_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_with_kept: Path, is_clone: bool
) -> None:
    way = Way(tmp_path, monkeypatch, is_clone=is_clone, is_fake=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_with_kept))
    assert steps(PAGES["CONTRIBUTING.md"], is_clone=is_clone)
    walked(PAGES["CONTRIBUTING.md"], way, is_clone=is_clone)


def test_a_line_that_is_shown_and_not_printed_is_found_and_so_is_one_that_is_printed_and_not_shown() -> None:
    assert fitted(["a 1", "..", "c 1"], ["a 2", "b 2", "c 2"]) == ["a 2", "..", "c 2"]
    for shown in (["a", "x"], ["a"], ["b"], ["a", "c"]):
        with pytest.raises(ValueError, match="printed"):
            fitted(shown, ["a", "b", "c"])


def test_what_the_page_shows_fits_80_columns() -> None:
    shown = [
        line for each in (False, True) for one in steps(PAGES["CONTRIBUTING.md"], is_clone=each) for line in one.shown
    ]
    assert [line for line in shown if len(line) > COLUMNS] == []


@pytest.mark.parametrize("line", [one for one in (*COMMANDS, *INLINE) if "probe-effect" in one])
def test_every_command_is_one_that_the_program_takes(line: str) -> None:
    words = shlex.split(re.split(r"probe-effect\)? ", line, maxsplit=1)[1])
    with click.Context(commands) as context:
        command = commands.get_command(context, words[0])
        assert command is not None
        if len(words) > 1:
            assert command.make_context(words[0], words[1:], parent=context).params


def test_every_target_of_make_is_there() -> None:
    named = {one for text in PAGES.values() for one in re.findall(r"`(?:\$ )?make ([a-z-]+)`", text)}
    assert named
    assert named <= TARGETS


def test_the_entries_of_the_change_log_are_sound() -> None:
    [block] = blocks("toml")
    found = ChangesFile.model_validate({"schema_version": 1, **tomllib.loads(block)}, strict=False)
    assert [one.kind for one in found.changes] == ["withdrawn", "corrected"]


def test_the_example_of_a_fleet_has_the_form_of_ours() -> None:
    [block] = blocks("json")
    ours = json.loads((PROJECT / ".github" / "fleet.json").read_text(encoding="utf-8"))
    example = json.loads(block)
    assert set(example) == set(ours)
    assert f"--name {example['machines'][0]} --labels {example['machines'][0]}" in PAGES[".github/RUNNERS.md"]


def test_what_the_runners_page_says_of_workflows_is_so() -> None:
    named = set(re.findall(r"`([a-z-]+\.yml)`", PAGES[".github/RUNNERS.md"]))
    assert [name for name in named if not (PROJECT / ".github" / "workflows" / name).is_file()] == []
    said = re.search(r"\*Settings, Environments\*: (.*)", PAGES[".github/RUNNERS.md"])
    assert said
    used = set()
    for path in (PROJECT / ".github" / "workflows").glob("*.yml"):
        used |= set(
            re.findall(r"^    environment:(?:\n      name:)? ([\w-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        )
    assert used == set(re.findall(r"`([\w-]+)`", said[1]))


def test_a_clone_that_turns_line_ends_has_the_data_as_they_are(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)  # noqa: S607

    (tmp_path / "ours").mkdir()
    shutil.copy(PROJECT / ".gitattributes", tmp_path / "ours")
    (tmp_path / "ours" / "samples.csv").write_bytes(b"case,block\na,1\n")
    git("init", "ours")
    git("-C", "ours", "add", ".")
    git("-C", "ours", "commit", "-m", "Add samples")
    git("clone", "-c", "core.autocrlf=true", "ours", "clone")
    assert (tmp_path / "clone" / "samples.csv").read_bytes() == b"case,block\na,1\n"
