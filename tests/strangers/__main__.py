"""Runs a fast part of the tests as each stranger, in a clean clone: PYTHONPATH=tests python -m strangers [NAME ..]."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from strangers.settings import NOT_HERE, STRANGERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strangers.settings import Stranger

PROJECT = Path(__file__).resolve().parents[2]

GUIDE = "cli/test_transcripts.py::test_a_command_of_the_guide_still_prints_what_it_is_there_for"
TESTS = (
    "cli/test_doctor.py",
    "advising/test_identities.py",
    "host/test_machine.py",
    "measure/test_measure_command.py",
    "cli/test_predict_command.py",
    "host/test_processes.py",
    "advising/test_watch.py",
    f"{GUIDE}[mechanism-of-a-user-probe]",
    f"{GUIDE}[may-strace-look]",
)
"""Those that ask most of the system and of the user, and take least."""

CHOSEN = ("--deep", "-m", "not tracer", "-k", "not what_the_guide_asks and not submits_beside")
"""Without those that count in the kernel, where rows would see each other, and what takes longest."""

AT_ONCE = 2
"""Each row needs one CPU."""


@dataclass(frozen=True, slots=True)
class Row:
    """How the tests went as a stranger."""

    name: str
    command: str
    output: str
    status: int
    seconds: float

    @property
    def is_red(self) -> bool:
        """Whether anything failed."""
        return self.status not in {0, NOT_HERE}

    @property
    def counts(self) -> list[str]:
        """How many tests passed, failed and were skipped, by pytest's last line; what keeps us from being there."""
        last = self.output.rstrip().rpartition("\n")[2]
        if self.status == NOT_HERE:
            return [f"not possible here: {last}", "", ""]
        numbers = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", last)}
        failed = numbers.get("failed", 0) + numbers.get("error", 0)
        return [str(number) for number in (numbers.get("passed", 0), failed, numbers.get("skipped", 0))]


def main(names: Sequence[str]) -> int:
    """Be the strangers of these names, or all, and print the table; whether any test failed."""
    begun = time.monotonic()
    console = Console(highlight=False, soft_wrap=True)
    tests = [*CHOSEN, *(f"tests/{one}" for one in TESTS)]
    with tempfile.TemporaryDirectory(prefix="strangers-") as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        tree = clean_tree(Path(folder))
        chosen = [one for one in STRANGERS if not names or one.name in names]
        rows = list(pool.map(lambda one: run(one, tree, tests), chosen))
    show(rows, console)
    console.print(f"{time.monotonic() - begun:.0f} s")
    return any(row.is_red for row in rows)


def clean_tree(folder: Path) -> Path:
    """A clone of the last commit in `folder`, open to all, with compiled modules and the numbers of its data kept."""
    folder.chmod(0o755)
    tree = folder / "probe effect"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{PROJECT}", tree], check=True)  # noqa: S607
    compiles = [sys.executable, "-m", "compileall", "-q", "-j", str(AT_ONCE), "generator", "tests"]
    reads = [sys.executable, "-c", "from probe_effect.cli import main; main()", "cite"]
    paths = {"PYTHONPATH": str(tree / "generator")}
    for command in (compiles, reads):
        subprocess.run(command, cwd=tree, env=os.environ | paths, stdout=subprocess.DEVNULL, check=True)
    return tree


def run(stranger: Stranger, tree: Path, tests: Sequence[str]) -> Row:
    """The tests as a stranger runs them in `tree`."""
    with tempfile.TemporaryDirectory(prefix="home-", dir=tree.parent) as home:
        Path(home).chmod(0o1777)
        own = {"HOME": home, "TMPDIR": home, "PYTHONPATH": str(tree / "generator"), **stranger.environment}
        inherited = {"PATH": os.environ["PATH"]}  # not CI, where nothing may be missing: here it is, by intent
        command = stranger.command([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])
        begun = time.monotonic()
        done = subprocess.run(
            command,
            cwd=tree,
            env=inherited | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        seconds = time.monotonic() - begun
    settings = (f"{name}={value}" for name, value in own.items())
    words = shlex.join(["env", "--chdir", str(tree), *settings, *command])
    return Row(stranger.name, words, done.stdout, done.returncode, seconds)


def show(rows: Sequence[Row], console: Console) -> None:
    """Each row that failed with its command and its output, and the table."""
    table = Table("stranger", "passed", "failed", "skipped", "s")
    for row in rows:
        if row.is_red:
            console.print(f"\n{row.name}\n{row.command}\n{row.output}", markup=False)
        table.add_row(row.name, *row.counts, f"{row.seconds:.1f}")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
