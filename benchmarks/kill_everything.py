"""What a killed command leaves: kill -9 at random moments, over measure, try, advise, watch, build and submit.

Usage, as root: PYTHONPATH=generator:tests python -m benchmarks.kill_everything [KILLS [COMMAND...]].
Without words: 11 kills of each of the six, 66 together.

Ten seconds after each kill no process, program in the kernel, probe, lock of git or half of a site may be left, each
row on disk is whole, and the same command, started again, ends well. Prints a line for each command, and its faults;
status 1 where there is one. Needs bpftrace, a C compiler, bpftool, git, and for `build` the part `site`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from builders import PROJECT, write_data
from probe_effect.host import read_text
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.measure.interrupt import leftovers
from probe_effect.tracers.dynamic_events import LISTS, tracefs

PROGRAM = Path(sys.executable).with_name("probe-effect")
SEED = 20261120

KILLS = 11
SETTLE_S = 10.0
STAYS_S = 120.0
COUNTS = "tracepoint:raw_syscalls:sys_enter { @ = count(); }"
BUSY = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"
GOOD_ENDS = {"advise": {0, 1, 3}}
"""Exit statuses of a command that did what it was asked; 0 for all others."""

AUTHOR = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
COMMITTER = {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}


MARK = "KILLED_BY_BENCHMARK"
"""Variable in the environment of all that a command starts, the user's own commands too."""


def marked(mark: str) -> list[str]:
    """The processes of a command that was killed, in words."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(f"process {process.name} ({read_text(process, 'cmdline') or 'ended'})")
        except OSError:
            continue
    return found


def loaded() -> dict[int, set[int]]:
    """Program in the kernel (its id) to the processes that hold it, as bpftool lists them."""
    text = subprocess.run(["bpftool", "--json", "prog", "show"], check=True, capture_output=True).stdout  # noqa: S607
    return {one["id"]: {holder["pid"] for holder in one.get("pids", ())} for one in json.loads(text)}


def attached(before: dict[int, set[int]]) -> list[int]:
    """Programs that are new in the kernel and that no living process holds."""
    return [one for one, holders in loaded().items() if one not in before and not holders]


def probes() -> set[str]:
    """Probes on functions that are defined, and instances, in tracefs."""
    lines = [line for name in LISTS if (file := tracefs() / name).exists() for line in file.read_text().splitlines()]
    return {*lines, *(path.name for path in (tracefs() / "instances").glob("*"))}


@dataclass
class Command:
    """A command that is killed again and again: its words, its folder, where it is started, and what was found."""

    name: str
    words: list[str]
    folder: Path
    cwd: Path
    longest_s: float = 0.0
    killed: int = 0
    ended: int = 0
    faults: list[str] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes]:
        """Begin it."""
        own = {"XDG_CACHE_HOME": str(self.folder / "cache"), MARK: f"{self.name}-{self.killed + self.ended}"}
        environment = os.environ | AUTHOR | COMMITTER | own
        command = [str(PROGRAM), self.name, *self.words]
        return subprocess.Popen(
            command, cwd=self.cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def run(self) -> None:
        """Let it come to its end, and keep how long it took."""
        self.reset()
        began_s = time.monotonic()
        running = self.start()
        said = running.communicate()[1].decode(errors="replace")
        self.longest_s = time.monotonic() - began_s
        if running.returncode not in GOOD_ENDS.get(self.name, {0}):
            self.faults.append(f"ended with status {running.returncode}: {said.strip()[-300:]}")

    def kill(self, after_s: float) -> None:
        """Kill it after a while, and look at what is left."""
        self.reset()
        mark = f"{self.name}-{self.killed + self.ended}"
        running = self.start()
        time.sleep(after_s)
        running.kill()
        running.communicate()
        if running.returncode != -signal.SIGKILL:
            self.ended += 1
            return
        self.killed += 1
        deadline_s = time.monotonic() + SETTLE_S
        while (left := marked(mark)) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        self.faults += [f"left: {one}" for one in left]
        self.faults += [f"left: {one}" for one in self.folder.rglob(".git/**/*.lock")]
        for rows in self.folder.rglob("samples.csv"):
            lines = rows.read_bytes().splitlines(keepends=True)
            torn = [line for line in lines[:-1] if line.count(b",") != lines[0].count(b",")]
            self.faults += [f"{rows}: {len(torn)} rows are torn"] * bool(torn)
        site = self.folder / "site"
        if self.name == "build" and site.is_dir() and not (site / "index.html").is_file():
            self.faults.append(f"{site}: half a site")
        said = [one.what for one in leftovers() if f"-{running.pid}-" in one.what]
        self.faults += [f"left for the next run: {one}" for one in said if "folder" not in one]

    def reset(self) -> None:
        """Have there be something to do again."""
        if self.name == "build":
            shutil.rmtree(self.folder / "site", ignore_errors=True)
        if self.name == "submit":
            git(self.folder, "branch", "--list", "--format=%(refname:short)", "submit/*", deletes=True)


def git(folder: Path, *words: str, deletes: bool = False) -> None:
    """Run git there; with `deletes`, remove the branches that it lists."""
    environment = os.environ | AUTHOR | COMMITTER
    said = subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True)  # noqa: S607
    for branch in said.stdout.split() if deletes else ():
        git(folder, "branch", "-D", branch)


def commands(folder: Path) -> list[Command]:
    """All of them, each in a folder of its own."""
    places = {name: folder / name for name in ("measure", "try", "advise", "watch", "build", "submit")}
    for place in places.values():
        place.mkdir()
    (places["measure"] / "data").mkdir()
    shutil.copytree(PROJECT / "data" / "suites", places["measure"] / "data" / "suites")
    for name in ("build", "submit"):
        write_data(places[name])
    clone = places["submit"]
    git(clone, "init", "--quiet", "--initial-branch=main")
    (clone / "site").mkdir()
    (clone / "site" / "hugo.toml").touch()
    git(clone, "add", "data/suites", "data/published", "site")
    git(clone, "commit", "--quiet", "-m", "The data so far")
    one = ["per-event", "--quick", "--blocks", "2", "--tracer", "bpftrace", "--case", "04-tracepoint-entry"]
    return [
        Command("measure", [*one, "--data", "data"], places["measure"], places["measure"]),
        Command("try", ["-e", COUNTS, "--pairs", "3", "--", "sh", "-c", BUSY], places["try"], places["try"]),
        Command("advise", ["-e", COUNTS, "--seconds", "1"], places["advise"], places["advise"]),
        Command("watch", ["--once", "--seconds", "1"], places["watch"], places["watch"]),
        Command(
            "build",
            ["--data", str(places["build"] / "data"), "--out", str(places["build"] / "site")],
            places["build"],
            PROJECT,
        ),
        Command("submit", ["--no-name", "--yes"], clone, clone),
    ]


def left_in_the_kernel(before: dict[int, set[int]], there: set[str]) -> list[str]:
    """Programs and probes that are new and stay: those of others that trace meanwhile go by themselves."""
    deadline_s = time.monotonic() + STAYS_S
    while (left := [*attached(before), *(probes() - there)]) and time.monotonic() < deadline_s:
        time.sleep(1)
    return [str(one) for one in left]


def main() -> int:
    """Print what was found; 1 when something was lost or left."""
    kills, names = int((sys.argv[1:] or [str(KILLS)])[0]), sys.argv[2:]
    mount_for_our_time()
    chance = random.Random(SEED)  # noqa: S311 (moments, no secrets)
    before, there = loaded(), probes()
    with tempfile.TemporaryDirectory(prefix="kill-everything-") as folder:
        found = [one for one in commands(Path(folder)) if not names or one.name in names]
        for one in found:
            for _ in range(2):  # the first compiles, and reads what is then kept
                one.run()
            while one.killed < kills:
                one.kill(chance.uniform(0, one.longest_s))
            one.run()
            print(f"{one.name}: {one.killed} killed, {one.ended} had ended, {len(one.faults)} faults", flush=True)
            for fault in one.faults:
                print(f"  {fault}", flush=True)
    left = left_in_the_kernel(before, there)
    print(f"killed {sum(one.killed for one in found)} times, {sum(len(one.faults) for one in found)} faults")
    print(f"left in the kernel: {', '.join(left) or 'nothing'}")
    return int(bool(left) or any(one.faults for one in found))


if __name__ == "__main__":
    sys.exit(main())
