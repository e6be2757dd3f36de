"""Running commands for `scale`: each watched, and a failure told with where, what and what to do."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.honest import PROJECT
from evidence.scale_measured import Timing
from evidence.scale_watch import Watch
from probe_effect.model import ProbeEffectError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.scale_watch import Used

PROGRAM = Path(sys.executable).with_name("probe-effect")
AUTHOR = ("-c", "user.name=Benchmark", "-c", "user.email=benchmark@example.org", "-c", "commit.gpgsign=false")

RUNS = 3
ENOUGH_S = 300.0
"""A command that has taken so long in all is not run again."""

LAST_LINES = 5
"""Of a failed command's words."""

SETTINGS = "PROBE_EFFECT"
"""How variables of the environment begin that change what the program does."""

Said = list[tuple[str, float]]
"""Each line of a program's progress, with the time from its start, s."""


def run(what: str, words: Sequence[str], folder: Path) -> tuple[Used, Said]:
    """What `probe-effect` with `words` used in `folder`, and what it said. Raises: ProbeEffectError when it fails."""
    command = [str(PROGRAM), *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    said: Said = []
    with tempfile.TemporaryFile() as product, Watch() as watch:
        start_s = time.perf_counter()
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=product, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stderr is not None
            said += ((line, time.perf_counter() - start_s) for line in running.stderr)
    if running.returncode:
        raise failure(what, command, folder, running.returncode, "".join(line for line, _ in said))
    return watch.used(), said


def failure(what: str, command: Sequence[str], folder: Path, status: int, words: str) -> ProbeEffectError:
    """The error of a command that did not end well."""
    said = "\n".join(words.strip().splitlines()[-LAST_LINES:]) or "it said nothing"
    msg = (
        f"{what}: `{shlex.join(command)}` in {folder} ended with status {status}, expected 0:\n{said}\n"
        "Run it by hand there; `--keep DIR` keeps the folder."
    )
    return ProbeEffectError(msg)


def timing(what: str, words: Sequence[str], folder: Path) -> Timing:
    """Medians of some runs of a short command. Raises: ProbeEffectError when one fails."""
    used: list[Used] = []
    while len(used) < RUNS and sum(one.seconds for one in used) < ENOUGH_S:
        used.append(run(what, words, folder)[0])
    return Timing(
        seconds=statistics.median(one.seconds for one in used),
        peak_bytes=statistics.median(one.own_peak_bytes for one in used),
        runs=len(used),
    )


def steps(said: Said, whole_s: float) -> tuple[tuple[str, float], ...]:
    """How long each step took that a build has said, s. Steps are indented; how many of something is no part of a name.

    What comes before the first is `start`, what comes after the last `end`.
    """
    names = ["start", *(step_name(line) for line, _ in said)]
    moments_s = [0.0, *(moment_s for _, moment_s in said), whole_s]
    found: dict[str, float] = {}
    for name, (begin_s, end_s) in zip(names, pairwise(moments_s), strict=True):
        found[name] = found.get(name, 0.0) + end_s - begin_s
    return tuple(found.items())


def step_name(line: str) -> str:
    """`charts` for `  12 charts`, `numbers` for `  numbers of 116 submissions` and for how far they are."""
    if not line.startswith(" "):
        return "end"
    name = re.sub(r"^[\d\s]+", "", line).strip()
    return "numbers" if name.startswith(("numbers of", "of ")) else name


def git(folder: Path, *words: str) -> str:
    """What git prints. Raises: ProbeEffectError when it fails."""
    command = ["git", *AUTHOR, *words]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if finished.returncode:
        what = f"git {words[0]}"
        raise failure(what, command, folder, finished.returncode, finished.stderr)
    return finished.stdout


def copy_project(target: Path) -> Path:
    """A copy of the checkout as it is now, without anything built."""
    listed = git(PROJECT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        if (PROJECT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, target / name)
    return target


def revision() -> str:
    """The commit of the checkout, and whether there is more in it than that and the page of results."""
    commit = git(PROJECT, "rev-parse", "--short", "HEAD").strip()
    changed = git(PROJECT, "status", "--porcelain", "--", ".", ":!tests/evidence/RESULTS.md").strip()
    return f"{commit} with changes" if changed else commit
