"""Every command that a message tells the reader to type is run as it stands, in the reader's own shell."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.project import wait_until
from helpers.needs import lacking
from probe_effect.host import typed
from probe_effect.tracers.attaching import Strace

PROGRAM = Path(sys.executable).with_name("probe-effect")
LONG_S = 600.0
"""For a program that is compiled and tried first, on however busy a machine."""

CASE = ("per-event", "--tracer", "strace", "--case", "22-system-call", "--quick", "--anyway")
"""Whatever else traces: other tests do, and the kernel counts their events wherever they fire."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, cache_with_kept: Path) -> Path:
    """A folder outside any checkout."""
    if reason := lacking(["cc"]) or Strace().available():
        pytest.skip(reason)
    (home := tmp_path_factory.mktemp("a reader's folder")).joinpath("cache").symlink_to(cache_with_kept)
    return home


def environment(home: Path) -> dict[str, str]:
    """Where the program is found by its name, as after `uv tool install`."""
    programs = home / "bin"
    if not programs.is_dir():
        programs.mkdir()
        (programs / PROGRAM.name).symlink_to(PROGRAM)
    ours = {"PATH": f"{programs}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(home / "cache"), "COLUMNS": "200"}
    return {**os.environ, **ours}


def shell(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """What a line does that is typed in that folder."""
    command = ["/bin/sh", "-c", line]
    return subprocess.run(command, cwd=home, env=environment(home), capture_output=True, text=True, check=False)


def said(text: str, words: str) -> str:
    """The command behind these words in a message."""
    found = re.search(rf"^ *{re.escape(words)}: *\n? *(.+)$", text, re.MULTILINE)
    assert found is not None, text
    return found[1]


def stopped_after_a_row(line: str, home: Path) -> str:
    """What a measurement says that is interrupted when it has written a row."""
    before = rows(home)
    command = ["/bin/sh", "-c", f"exec {line}"]
    with subprocess.Popen(command, cwd=home, env=environment(home), stderr=subprocess.PIPE, text=True) as running:
        wait_until(lambda: rows(home) > before or running.poll() is not None, LONG_S)
        running.send_signal(signal.SIGINT)
        _, text = running.communicate()
    assert running.returncode == 130, text
    return text


def rows(home: Path) -> int:
    """Lines of the files that were written there."""
    # os.walk passes over a folder that is gone by the time it is read, which Path.glob does not before Python 3.13.
    folders = [Path(folder) for folder, _, files in os.walk(home / "my results") if "samples.csv" in files]
    return sum((folder / "samples.csv").read_bytes().count(b"\n") for folder in folders)


@pytest.mark.deep
@pytest.mark.xdist_group("typed")
def test_a_run_that_was_stopped_goes_on_by_its_message_and_so_do_all_that_follow(home: Path) -> None:
    stopped = stopped_after_a_row(f"probe-effect measure {' '.join(CASE)} --blocks 400 --out 'my results'", home)
    later = shell(f"probe-effect measure {' '.join(CASE)} --blocks 1 --out 'my results'", home)
    assert said(later.stderr, "to go on with it") == said(stopped, "to go on")

    # The plan is long: it is stopped once more, which says the same.
    again = said(stopped, "to go on")
    assert said(stopped_after_a_row(again, home), "to go on") == again

    read = shell(said(later.stderr, "to read it"), home)
    assert (read.returncode, "22-system-call" in read.stdout) == (0, True), read.stderr
    sent = shell(f"{said(later.stderr, 'to publish it')} --no-name --yes", home)
    assert sent.returncode == 0, sent.stderr
    assert (home / "probe-effect-submission").is_dir()


@pytest.mark.deep
@pytest.mark.xdist_group("typed")
@pytest.mark.parametrize(
    "purpose", ["measure what the site lacks most, in your time", "see that plan without measuring"]
)
def test_what_doctor_says_to_do_is_a_command_that_is_understood(home: Path, purpose: str) -> None:
    line = said(shell("probe-effect doctor", home).stdout, purpose)
    planned = shell(line if line.endswith("--dry-run") else f"{line} --dry-run", home)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout


def test_a_command_names_the_program_by_the_path_that_it_was_called_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/probe-effect", "doctor"])
    assert typed("measure", "--out", "a b") == ".venv/bin/probe-effect measure --out 'a b'"
    monkeypatch.setattr("sys.argv", ["/usr/bin/pytest"])
    assert typed("doctor") == "probe-effect doctor"
