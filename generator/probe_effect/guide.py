"""Running a command of the guide as a reader would, and keeping what it printed."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT
from probe_effect.host.kernel import tracefs_missing
from probe_effect.processes import Child, end_process
from probe_effect.store.tables import FORBIDDEN_TEXT
from probe_effect.store.transcripts import MOST_COLUMNS, MOST_LINES, ROOT_NEED, TRACEFS_NEED, Transcript
from probe_effect.tracers.proc import may_trace

PACKAGE = Path(__file__).parent
WORK_PREFIX = "transcript-"

LIMIT_S = 180.0
"""A command ends by itself within 20 s; on a busy machine it may take longer."""

CALLED_WRONGLY = frozenset({2, 126, 127})
"""Exit statuses by which shells and most commands say so; others may be the answer, as those of `timeout` are."""

OWN = "probe-effect"
OWN_PROGRAM = """#!/bin/sh
exec '{python}' -P -c 'import sys; sys.argv[0] = "probe-effect"; from probe_effect.cli import main; main()' "$@"
"""

COLUMNS = "100"
"""The width of the terminal that a command is told; a table may be a little wider."""

SAYS_NOTHING = "couldn't set RLIMIT_MEMLOCK for bpftrace"
"""bpftrace 0.17 prints it where it may not raise a limit, which kernels since 5.11 no longer ask of BPF."""


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What a command printed, line by line, and how it ended; None where it had to be ended."""

    output: tuple[str, ...]
    exit_status: int | None


def unmet(transcript: Transcript) -> list[str]:
    """The needs of the command that this machine does not meet."""
    return [need for need in transcript.needs if not _is_met(need)]


def run(transcript: Transcript) -> CommandOutput:
    """Run it in a folder of its own, with what it wants beside it; all that was started is ended."""
    with _folder() as folder, _beside(transcript, folder) as pid, (folder / "output").open("w+b") as file:
        child = _start(transcript.run, folder, pid, file.fileno())
        try:
            ended = child.wait(LIMIT_S)
        finally:
            child.end()
            _end_strays(folder)
        file.seek(0)
        text = file.read().decode("utf-8", errors="replace")
    lines = [line.expandtabs().rstrip() for line in text.splitlines() if SAYS_NOTHING not in line]
    return CommandOutput(tuple("\n".join(lines).strip("\n").split("\n")), ended.exit_status if ended else None)


def _end_strays(folder: Path) -> None:
    """End what is left of a command in other groups of processes: `timeout` and the jobs of a shell have their own."""
    for work in ROOT.glob("proc/[0-9]*/cwd"):
        with suppress(OSError):  # another user's, or gone
            if work.readlink().is_relative_to(folder):
                end_process(int(work.parent.name))


def version(command: str) -> str | None:
    """The first line with a digit of what a command says of its version; None where it says none."""
    for option in ("--version", "-V", "-v"):
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run([command, option], capture_output=True, text=True, timeout=10, check=False)
            lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
            found = next((line for line in lines if any(map(str.isdigit, line))), None)
            if done.returncode == 0 and found:
                return found
    return None


def faults(transcript: Transcript, printed: CommandOutput) -> list[str]:
    """Why an output cannot be shown, in words; empty where it can."""
    found = [f"does not show {pattern}" for pattern in transcript.missing_from(printed.output)]
    if printed.exit_status is None:
        found.append(f"did not end within {LIMIT_S:.0f} s")
    if printed.exit_status in CALLED_WRONGLY:
        found.append(f"ended with exit status {printed.exit_status}, as a command does that was called wrongly")
    if len(printed.output) > MOST_LINES:
        found.append(f"prints {len(printed.output)} lines; expected at most {MOST_LINES}")
    if (widest := max(map(len, printed.output))) > MOST_COLUMNS:
        found.append(f"prints a line of {widest} columns; expected at most {MOST_COLUMNS}")
    if any(map(FORBIDDEN_TEXT.search, printed.output)):
        found.append("prints control characters")
    for place in (str(PACKAGE.parents[1]), sys.prefix, WORK_PREFIX):
        found += [f"prints `{place}`, a path of this machine"] * any(place in line for line in printed.output)
    return found


def _is_met(need: str) -> bool:
    if need == ROOT_NEED:  # that may trace: root of a container is root of little
        return os.geteuid() == 0 and may_trace(ROOT) and tracefs_missing(ROOT) is None
    if need == TRACEFS_NEED:
        return tracefs_missing(ROOT) is None
    return need == OWN or shutil.which(need) is not None


@contextmanager
def _folder() -> Iterator[Path]:
    """An empty folder, and on the path the program that is running."""
    with tempfile.TemporaryDirectory(prefix=WORK_PREFIX) as name:
        folder = Path(name)
        own = folder / "bin" / OWN
        own.parent.mkdir()
        own.write_text(OWN_PROGRAM.format(python=sys.executable), encoding="utf-8")
        own.chmod(0o755)
        (folder / "work").mkdir()
        yield folder


@contextmanager
def _beside(transcript: Transcript, folder: Path) -> Iterator[int | None]:
    """The process id of what runs meanwhile; None where nothing does."""
    if transcript.beside is None:
        yield None
        return
    child = _start(transcript.beside, folder, None, subprocess.DEVNULL)
    try:
        yield child.pid
    finally:
        child.end()


def _start(command: str, folder: Path, pid: int | None, output: int) -> Child:
    environment = {
        "COLUMNS": COLUMNS,
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH")))),
        "TERM": "dumb",
        **({} if pid is None else {"PID": str(pid)}),
    }
    return Child(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        folder=folder / "work",
        environment=environment,
        is_ours=False,
    )
