"""Running a workload: started early, told to go when the tracer is live, timed by itself."""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.errors import ProbeEffectError
from probe_effect.processes import Child

if TYPE_CHECKING:
    from pathlib import Path

NOT_PINNED = -1
CLOCK_READS = 200_000
CLOCK_RUNS = 7


class WorkloadFailed(ProbeEffectError):
    """The workload ended badly or not at all; the row says so in its own words."""


@dataclass(frozen=True, slots=True)
class Run:
    """One timed run: the loop's time by the workload's own clock, the process's CPU time by the kernel's."""

    operations: int
    wall_ns: int
    user_ns: int
    sys_ns: int


class Workload:
    """A workload that waits for its `go`. Always `end` it."""

    def __init__(self, program: Path, operations: int, cpu: int) -> None:
        self._operations = operations
        command = [str(program), str(operations), str(cpu)]
        self._child = Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def go(self, timeout_s: float) -> Run:
        """Let it run, and hand back its times. Raises: WorkloadFailed."""
        self._child.tell("g")
        ended = self._child.wait(timeout_s)
        if ended is None:
            msg = f"the workload had not ended after {timeout_s:.0f} s"
            raise WorkloadFailed(msg)
        out, err = self._child.output()
        if ended.exit_status != 0:
            msg = f"the workload ended with status {ended.exit_status}: {err.strip()}"
            raise WorkloadFailed(msg)
        operations, wall_ns = parse(out)
        if operations != self._operations:
            msg = f"the workload performed {operations} operations, expected {self._operations}"
            raise WorkloadFailed(msg)
        return Run(operations, wall_ns, ended.user_ns, ended.sys_ns)

    def end(self) -> None:
        """Make sure that it has ended."""
        self._child.end()


def parse(text: str) -> tuple[int, int]:
    """(operations, wall_ns) of the workload's one line of JSON. Raises: WorkloadFailed."""
    try:
        line = json.loads(text)
        return int(line["operations"]), int(line["wall_ns"])
    except (ValueError, KeyError, TypeError) as error:
        msg = f"the workload printed {text[:100]!r}, expected one line of JSON with operations and wall_ns"
        raise WorkloadFailed(msg) from error


def clock_read_ns(program: Path, cpu: int) -> float | None:
    """Median time of one monotonic clock read, ns; None when the program cannot say."""
    times = []
    for _ in range(CLOCK_RUNS):
        command = [str(program), "--clock", str(CLOCK_READS), str(cpu)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != 0:
            return None
        reads, wall_ns = parse(run.stdout)
        times.append(wall_ns / reads)
    return round(statistics.median(times), 2)
