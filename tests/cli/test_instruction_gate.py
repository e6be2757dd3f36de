"""The example workflow for people who ship tracing scripts: what it runs exists, and nobody else's words run in it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from helpers.builders import PROJECT
from probe_effect.cli import commands
from probe_effect.guests.debian import ARCHITECTURES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKFLOW = PROJECT / ".github" / "examples" / "instruction-gate.yml"
TEXT = WORKFLOW.read_text(encoding="utf-8")
VALUES: dict[str, Any] = yaml.safe_load(TEXT)
JOB, COMMENT = VALUES["jobs"].values()
STEPS: list[dict[str, Any]] = JOB["steps"]
SHELL = {">", ">>", "2>&1", "|", "&&", ";"}


def command_lines() -> Iterator[list[str]]:
    """The words after `probe-effect` of every line that runs it, for each architecture."""
    text = "\n".join(step.get("run", "") for step in STEPS).replace("\\\n", " ").replace("|\n", "| ")
    for architecture in JOB["strategy"]["matrix"]["architecture"]:
        for line in text.replace("$ARCHITECTURE", architecture).splitlines():
            words = shlex.split(line)
            if words[:1] == ["probe-effect"]:
                yield list(takewhile(lambda word: word not in SHELL, words[1:]))


LINES = list(command_lines())


def test_it_measures_both_states_and_compares_them_on_every_architecture() -> None:
    assert [words[0] for words in LINES] == ["measure", "measure", "summarise", "compare"] * len(ARCHITECTURES)
    named = [words[words.index("--arch") + 1] for words in LINES if words[0] == "measure"]
    assert named == [name for name in ARCHITECTURES for _ in ("base", "head")]


def test_a_change_on_one_architecture_hides_none_on_the_other() -> None:
    assert JOB["strategy"]["fail-fast"] is False
    [kept] = [step["with"]["name"] for step in STEPS if "/upload-artifact@" in step.get("uses", "")]
    assert "matrix.architecture" in kept  # each has its own


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words)) for words in LINES])
def test_every_command_line_is_one_that_the_program_takes(words: list[str]) -> None:
    with click.Context(commands) as context:
        command = commands.get_command(context, words[0])
        assert command is not None
        assert command.make_context(words[0], words[1:], parent=context).params


def test_no_expression_stands_where_a_shell_would_run_it() -> None:
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_actions_are_pinned_by_their_full_hash_with_the_version_beside_it() -> None:
    used = re.findall(r"uses: (.*)", TEXT)
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[0-9.]+", one)] == []


def test_the_job_that_runs_what_is_proposed_may_read_the_repository_and_nothing_else() -> None:
    assert VALUES["permissions"] == {}
    assert JOB["permissions"] == {"contents": "read"}
    checkouts = [step["with"] for step in STEPS if step.get("uses", "").startswith("actions/checkout")]
    assert [one["persist-credentials"] for one in checkouts] == [False, False]


def test_what_was_found_is_commented_by_a_job_that_runs_nothing_of_the_pull_request(tmp_path: Path) -> None:
    assert COMMENT["permissions"] == {"pull-requests": "write"}
    fetch, comment = COMMENT["steps"]
    assert "actions/download-artifact" in fetch["uses"]
    for name in ARCHITECTURES:
        (found := tmp_path / "found" / f"instruction-gate-{name}").mkdir(parents=True)
        (found / "compare.txt").write_text(f"fails on {name}\n  in one event: kprobe_ftrace_handler +87\n")
    (gh := tmp_path / "gh").write_text('#!/bin/sh\necho "$@" >> said\n[ "$4" != --edit-last ]\n')
    gh.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PULL_REQUEST": "7"}
    subprocess.run(["/bin/bash", "-e", "-c", comment["run"]], cwd=tmp_path, env=environment, check=True)
    # No comment was there to be edited, so a new one is made.
    assert (tmp_path / "said").read_text() == (
        "pr comment 7 --edit-last --body-file comment.md\npr comment 7 --body-file comment.md\n"
    )
    assert "### Instructions per event, arm64\n\n    fails on arm64\n" in (tmp_path / "comment.md").read_text()
