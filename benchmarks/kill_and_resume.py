"""Whether a run that is killed can be continued: kill -9 at ten random moments, --resume after each, real tracers.

Usage, as root: python benchmarks/kill_and_resume.py [SUITE [TRACER...]]. Without names: per-event with bpftrace, quick.

At the end each planned run must have its row, once; no row that was on disk at a kill may have changed; and of the
killed runs no process, program in the kernel, probe or folder may be left. Prints what it found, with the settings of
tracefs that differ; status 1 when one of these does not hold. bpftool (Debian: bpftool) lists what is loaded into the
kernel.
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
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.host import read_text
from probe_effect.measure.bench import plan
from probe_effect.measure.interrupt import leftovers
from probe_effect.processes import STARTED_BY
from probe_effect.store.machine_file import read_machine_file, read_plan_file
from probe_effect.store.places import DataFolder
from probe_effect.store.samples import read_samples
from probe_effect.tracers.dynamic_events import LISTS, tracefs

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe_effect.measure.one_run import PlannedRun
    from probe_effect.store.places import SubmissionFolder

PROJECT = Path(__file__).resolve().parent.parent
PROGRAM = Path(sys.executable).with_name("probe-effect")
KILLS = 10
BLOCKS = 6
SEED = 20261120
SETTINGS = ("tracing_on", "current_tracer", "set_event", "set_event_pid", "buffer_size_kb", "trace_clock")
LONGEST_RUN_S = 1.0
"""A run of a quick suite takes less than that, start and end of the tracer included: so any of its moments is hit."""

GIVE_UP_S = 600.0
SETTLE_S = 5.0
"""Time for programs that were told by the kernel to end in order."""


@dataclass
class Trial:
    """One run, from its beginning over all its kills to its end."""

    data: DataFolder
    suite: str
    tracers: list[str]
    chance: random.Random
    killed: list[int] = field(default_factory=list)
    """Process ids of the runs that were killed."""
    kept: bytes = b""
    """The whole rows that were on disk at the last kill."""
    outlived: list[str] = field(default_factory=list)
    """Names of programs that were still there some seconds after their run was killed: the next run ends them."""
    faults: list[str] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes]:
        """The run, or its continuation where there is one to continue."""
        begin = ["--quick", "--blocks", str(BLOCKS), "--seed", str(SEED)]
        begin += [word for tracer in self.tracers for word in ("--tracer", tracer)]
        command = [str(PROGRAM), "measure", self.suite, "--data", str(self.data.root)]
        command += ["--resume"] if self.is_planned() else begin
        environment = os.environ | {"XDG_CACHE_HOME": str(self.data.root / "cache")}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def place(self) -> SubmissionFolder | None:
        """The submission, once there is one."""
        return next(iter(self.data.submissions()), None)

    def is_planned(self) -> bool:
        """Whether the trials are over, so that the run can be continued."""
        place = self.place()
        return place is not None and place.plan_file.exists()

    def rows(self) -> int:
        """Rows on disk."""
        place = self.place()
        return place.samples.read_bytes().count(b"\n") - 1 if place and place.samples.exists() else -1

    def kill(self, running: subprocess.Popen[bytes], least_rows: int) -> None:
        """Kill the run at a random moment after so many rows, and look at what is on disk."""
        wait_until(lambda: self.rows() >= least_rows or running.poll() is not None)
        time.sleep(self.chance.uniform(0, LONGEST_RUN_S))
        running.kill()
        _, words = running.communicate()
        if running.returncode != -signal.SIGKILL:
            self.faults.append(f"ended with status {running.returncode} before it was killed: {words.decode().strip()}")
        self.killed.append(running.pid)
        self.look()
        self.outlived += self.settle(running.pid)

    def settle(self, pid: int) -> list[str]:
        """Wait a little for the programs that `pid` had started; the names of those that are still there."""
        deadline_s = time.monotonic() + SETTLE_S
        while (left := started_by(pid)) and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return [read_text(process, "comm") or "ended" for process in left]

    def look(self) -> None:
        """Every row that was there before has to be there still, as it was."""
        place = self.place()
        text = place.samples.read_bytes() if place and place.samples.exists() else b""
        if not text.startswith(self.kept):
            self.faults.append(f"rows from before kill {len(self.killed)} have changed")
        self.kept = text[: text.rfind(b"\n") + 1]


def started_by(pid: int) -> list[Path]:
    """What the process `pid` has started, also when it is gone itself: folders in `/proc`."""
    mark = f"{STARTED_BY}={pid}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(process)
        except OSError:
            continue
    return found


def wait_until(proof: Callable[[], bool]) -> None:
    """Return when `proof` holds. Raises: TimeoutError."""
    deadline_s = time.monotonic() + GIVE_UP_S
    while not proof():
        if time.monotonic() > deadline_s:
            raise TimeoutError
        time.sleep(0.005)


def planned_runs(place: SubmissionFolder) -> tuple[PlannedRun, ...]:
    """What the run is to do, from its plan on disk."""
    document, _ = read_plan_file(place.plan_file, "plan.json")
    if document is None:
        raise FileNotFoundError(place.plan_file)
    return plan(document.subjects, BLOCKS, SEED)


def loaded() -> dict[int, set[int]]:
    """Program in the kernel (its id) to the processes that hold it, as bpftool lists them."""
    text = subprocess.run(["bpftool", "--json", "prog", "show"], check=True, capture_output=True).stdout  # noqa: S607
    return {one["id"]: {holder["pid"] for holder in one.get("pids", ())} for one in json.loads(text)}


def probes() -> set[str]:
    """Probes on functions that are defined, and instances, in tracefs."""
    lines = [line for name in LISTS if (file := tracefs() / name).exists() for line in file.read_text().splitlines()]
    return {*lines, *(path.name for path in (tracefs() / "instances").glob("*"))}


def settings() -> dict[str, str | None]:
    """What tools set in tracefs for everybody."""
    return {name: read_text(tracefs(), name) for name in SETTINGS}


def attached(before: dict[int, set[int]]) -> list[int]:
    """Programs that are new in the kernel and that no living process holds."""
    return [one for one, holders in loaded().items() if one not in before and not holders]


def examine(trial: Trial, place: SubmissionFolder, expected: tuple[PlannedRun, ...]) -> None:
    """Compare the rows with the plan, and note what is not as it has to be."""
    samples, problems = read_samples(place.samples, "samples.csv")
    trial.faults += [f"line {problem.line}: {problem.message}" for problem in problems]
    places = [(row.block, row.position, row.case, row.tracer, row.arm) for row in samples]
    wanted = [(run.block, run.position, run.subject.case, run.subject.tracer, run.arm) for run in expected]
    lost, surplus = Counter(wanted) - Counter(places), Counter(places) - Counter(wanted)
    ends = Counter(row.status for row in samples)
    document, _ = read_machine_file(place.machine_file, "machine.json")
    resumed = len(document.run.resumed) if document else 0
    checked = subprocess.run([str(PROGRAM), "check", str(place.folder)], check=False, capture_output=True)
    print(f"rows: {len(samples)} of {len(wanted)} planned, {lost.total()} lost, {surplus.total()} twice or not planned")
    print(f"in the order of the plan: {'yes' if places == wanted else 'no'}; {dict(ends)}")
    print(f"continued {resumed} times; the command check ends with status {checked.returncode}")
    if places != wanted or place.plan_file.exists() or document is None or document.run.ended is None:
        trial.faults.append("the run is not complete")


def main() -> int:
    """Print what was found; 1 when something was lost or left."""
    suite, *tracers = sys.argv[1:] or ["per-event", "bpftrace"]
    before, probes_before, settings_before = loaded(), probes(), settings()
    with tempfile.TemporaryDirectory(prefix="kill-and-resume-") as folder:
        data = DataFolder(Path(folder) / "data")
        shutil.copytree(PROJECT / "data" / "suites", data.root / "suites")
        trial = Trial(data, suite, tracers, random.Random(SEED))  # noqa: S311 (moments, no secrets)
        running = trial.start()
        wait_until(lambda: trial.is_planned() or running.poll() is not None)
        place = trial.place()
        if place is None:
            print((running.communicate()[1]).decode())
            return 3
        expected = planned_runs(place)
        for least_rows in sorted(trial.chance.sample(range(len(expected) - KILLS), KILLS)):
            trial.kill(running, least_rows)
            running = trial.start()
        _, words = running.communicate()
        trial.look()
        examine(trial, place, expected)
    left = [process.name for pid in trial.killed for process in started_by(pid)]
    ours = [one.what for one in leftovers() if any(str(pid) in one.what for pid in trial.killed)]
    new = sorted(probes() - probes_before)
    outlived = ", ".join(f"{name} {times}" for name, times in Counter(trial.outlived).items()) or "none"
    print(f"killed {len(trial.killed)} times; what outlived its run by more than {SETTLE_S:.0f} s: {outlived}")
    print(f"left at the end: {len(left)} processes, {len(attached(before))} programs in the kernel, {len(ours)} others")
    changed = [name for name, value in settings().items() if value != settings_before[name]]
    print(f"settings of tracefs that have changed, by whomever: {', '.join(changed) or 'none'}")
    if new:
        print(f"new in tracefs, by whomever: {', '.join(new)}")
    faults = [*trial.faults, *(f"left: process {pid}" for pid in left), *(f"left: {what}" for what in ours)]
    faults += [f"left: program {one} in the kernel" for one in attached(before)]
    if running.returncode:
        faults.append(f"the last run ended with status {running.returncode}: {words.decode().strip()}")
    for fault in faults:
        print(f"fault: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
