"""At an edge of a program, a locale, stream or folder that fails, a command says so and never shows a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from helpers.builders import FOLDER, MACHINE, write_data
from helpers.needs import needs
from helpers.tiers import deep_but
from probe_effect.cli import BROKEN_PIPE, commands

if TYPE_CHECKING:
    from collections.abc import Mapping

BEGIN = "import sys; sys.argv[0] = 'probe-effect'; from probe_effect.cli import main; main()"
MAIN = [sys.executable, "-c", BEGIN]
SHELL = "/bin/bash"
PROBE = "tracepoint:syscalls:sys_enter_openat"
SCRIPT = f"{PROBE} {{ @ = count(); }}"
LIGHT = ("check",)
"""Commands of the first tier: what prints much, and soon."""

ARGUMENTS = {
    "advise": ["-e", SCRIPT, "--no-calibrate", "--rate", f"{PROBE}=100"],
    "build": ["--help"],
    "check": ["--data", "DATA"],
    "cite": ["--data", "DATA"],
    "compare": ["SUBMISSION", "SUBMISSION"],
    "dictionary": [],
    "doctor": [],
    "lab": ["--help"],
    "lend": ["--dry-run", "--minutes", "1"],
    "measure": ["per-event", "--dry-run"],
    "predict": ["--case", "06-uprobe", "--tracer", "bpftrace", "--rate", "5000"],
    "release": ["2026.11", "--data", "DATA"],
    "release-notes": ["--help"],
    "review": ["--help"],
    "review-comment": ["SUBMISSION/machine.json"],
    "serve": ["--help"],
    "submit": ["SUBMISSION", "--dry-run", "--data", "DATA"],
    "suites": ["--data", "DATA"],
    "summarise": ["SUBMISSION"],
    "tools": [],
    "transcripts": ["--help"],
    "try": ["-e", SCRIPT, "--pairs", "2", "--", "true"],
    "wanted": ["--data", "DATA"],
    "watch": ["--once", "--seconds", "0.1", "--no-calibrate"],
}
"""What each command is given here: little, so that it prints or refuses soon."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A place where a command runs: what a shell does to its streams, and its environment; None for no variable."""

    shell: str = ""
    environment: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))


EDGES = {
    "an encoding without our signs": Edge(environment={"PYTHONIOENCODING": "latin-1"}),
    "ASCII alone": Edge(environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "standard input closed": Edge("<&-"),
    "standard output closed": Edge(">&-"),
    "standard output full": Edge(">/dev/full"),
    "a pipe that has ended": Edge("| true"),
    "standard error closed": Edge("2>&-"),
    "standard error full": Edge("2>/dev/full"),
    "a cache that is a file": Edge(environment={"XDG_CACHE_HOME": "/dev/null/cache"}),
    "a cache that cannot be written": Edge(environment={"XDG_CACHE_HOME": "/proc/cache"}),
    "no home": Edge(environment={"HOME": None, "XDG_CACHE_HOME": None}),
    "a home that cannot be written": Edge(environment={"HOME": "/proc/home", "XDG_CACHE_HOME": None}),
    "no folder for temporary files": Edge(environment={"TMPDIR": "/proc/tmp"}),
    "no other programs": Edge(environment={"PATH": "/nowhere"}),
    "a terminal that says nonsense": Edge(environment={"TERM": "nonsense", "COLUMNS": "1", "LINES": "x"}),
}
KNOWN_STATUSES = {0, 1, 2, 3}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    data = write_data(tmp_path_factory.mktemp("edges"))
    return {"DATA": str(data), "SUBMISSION": str(data / "results" / MACHINE / FOLDER)}


def run(name: str, edge: Edge, files: Mapping[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    """The command under an edge, in a shell that hands on the status of the command itself."""
    words = list(ARGUMENTS[name])
    for word, path in files.items():
        words = [one.replace(word, path) for one in words]
    environment = {**os.environ, **edge.environment, **more}
    return subprocess.run(
        [SHELL, "-c", f'"$@" {edge.shell}; exit ${{PIPESTATUS[0]}}', "bash", *MAIN, name, *words],
        env={key: value for key, value in environment.items() if value is not None},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=600,
        check=False,
    )


def ours(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command as it is anywhere."""
    whole = {**os.environ, **environment}
    return subprocess.run([*MAIN, *words], env=whole, capture_output=True, encoding="utf-8", timeout=600, check=False)


def ends_in_order(done: subprocess.CompletedProcess[str], edge: Edge) -> None:
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert "Exception ignored" not in said, said
    assert done.returncode in (KNOWN_STATUSES | ({BROKEN_PIPE} if "|" in edge.shell else set())), said


def test_every_command_is_run_here() -> None:
    assert set(ARGUMENTS) == set(commands.commands)


@pytest.mark.parametrize("edge", deep_but(EDGES, ["ASCII alone", "standard output closed", "no home"]))
@pytest.mark.parametrize("name", LIGHT)
def test_a_command_at_an_edge_ends_in_order(files: dict[str, str], name: str, edge: str) -> None:
    ends_in_order(run(name, EDGES[edge], files), EDGES[edge])


@pytest.mark.deep
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", sorted(ARGUMENTS.keys() - set(LIGHT)))
def test_any_command_at_any_edge_ends_in_order(files: dict[str, str], name: str, edge: str) -> None:
    ends_in_order(run(name, EDGES[edge], files), EDGES[edge])


def test_a_full_disk_is_told_and_is_no_success(files: dict[str, str]) -> None:
    done = run("predict", EDGES["standard output full"], files)
    assert (done.returncode, done.stderr) == (1, "error: standard output: No space left on device\n")


def test_a_pipe_that_ends_early_needs_no_word(files: dict[str, str]) -> None:
    done = run("predict", EDGES["a pipe that has ended"], files)
    assert (done.returncode, done.stderr) == (BROKEN_PIPE, "")


@pytest.mark.deep
def test_signs_that_an_encoding_lacks_are_printed_as_the_nearest_ones(files: dict[str, str]) -> None:
    full = ours("cite", "--data", files["DATA"], PYTHONIOENCODING="utf-8").stdout
    plain = ours("cite", "--data", files["DATA"], PYTHONIOENCODING="latin-1").stdout
    assert "“" in full
    assert plain == full.translate({ord("“"): '"', ord("”"): '"', ord("–"): "-"})


def test_json_is_whole_in_any_encoding(files: dict[str, str]) -> None:
    words = ["summarise", files["SUBMISSION"], "--format", "json"]
    plain, full = (ours(*words, PYTHONIOENCODING=encoding) for encoding in ("ascii", "utf-8"))
    assert plain.stdout.isascii()
    assert json.loads(plain.stdout) == json.loads(full.stdout)


def test_a_command_that_is_interrupted_ends_with_130(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    whole = f"from signal import *; signal(SIGINT, default_int_handler); {BEGIN.replace('main()', '')}"
    wait = f"import click; commands.add_command(click.Command('wait', callback=lambda: open({str(pipe)!r}).read()))"
    words = [sys.executable, "-c", f"{whole}\nfrom probe_effect.cli import commands; {wait}\nmain()", "wait"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process, pipe.open("w", encoding="utf-8"):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "stopped")


@pytest.mark.deep
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@needs("cc")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("noexec", "runs no programs (mounted noexec)"),
        ("ro", "Read-only file system"),
        ("uid=65534", "belongs to nobody"),
    ],
)
def test_a_cache_that_cannot_hold_programs_is_named_and_doctor_goes_on(
    tmp_path: Path, options: str, words: str
) -> None:
    mount = f'mount -t tmpfs -o mode=755,{options} none {tmp_path} && exec "$@"'
    apart = ["unshare", "--mount", "sh", "-c", mount, "sh", *MAIN, "doctor"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "COLUMNS": "400"}
    done = subprocess.run(apart, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False)
    assert words in done.stdout
    assert "have XDG_CACHE_HOME name a folder of your own" in done.stdout
    assert (done.returncode, done.stderr) == (3, "")


@needs("git")
def test_git_leaves_the_line_ends_of_the_data_alone_in_a_clone_that_turns_them(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    (first / "samples.csv").write_bytes(b"block,position\n0,0\n")
    (first / ".gitattributes").write_bytes((Path(__file__).parents[2] / ".gitattributes").read_bytes())
    who = "-c user.name=t -c user.email=t@example.org"
    steps = f"git -C {first} init -q; git -C {first} add .; git -C {first} {who} commit -q -m first"
    clone = f"git clone -q -c core.autocrlf=true {first} {second}"
    subprocess.run([SHELL, "-e", "-c", f"{steps}; {clone}"], check=True)
    assert (second / "samples.csv").read_bytes() == b"block,position\n0,0\n"


# Words of others, in any bytes


def test_a_script_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    script = tmp_path / "marked.bt"
    script.write_bytes(b"\xef\xbb\xbf" + SCRIPT.encode())
    done = ours("advise", str(script), "--no-calibrate", "--rate", f"{PROBE}=100")
    assert (done.returncode, "cannot be read" in done.stderr) == (0, False), done.stderr


def tool(folder: Path, name: str, script: bytes) -> str:
    """A PATH on which that tool comes first."""
    (folder / name).write_bytes(b"#!/bin/sh\n" + script)
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.deep
def test_a_tool_whose_version_is_not_utf_8_is_taken(tmp_path: Path) -> None:
    done = ours("doctor", PATH=tool(tmp_path, "perf", b"printf 'perf version 6.1\\351\\n'\n"), COLUMNS="200")
    assert "perf version 6.1\ufffd" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.deep
def test_a_tool_that_does_not_start_is_not_there_and_says_why(tmp_path: Path) -> None:
    path = tool(tmp_path, "bpftrace", b"echo 'bpftrace: libbcc.so.0: cannot open shared object file' >&2; exit 127\n")
    done = ours("measure", "per-event", "--dry-run", "--tracer", "bpftrace", PATH=path)
    assert done.returncode == 3
    assert "does not start (exit 127): bpftrace: libbcc.so.0" in done.stderr
