"""Runs the workflows by act and prints how each went: PYTHONPATH=tests python -m workflow_runs [CASE ..]."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from workflow_runs import act
from workflow_runs.cases import CASES, NOT_RUN
from workflow_runs.hub import new_hub

KEPT = Path("build", "workflows")
"""Where the log of each run goes."""


def main(names: list[str]) -> int:
    """Run the cases of these names, or all; whether any had a fault."""
    table = Table("workflow", "of", "jobs", "s", "outcome")
    begun, faults = time.monotonic(), 0
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="workflows-") as folder, new_hub(Path(folder)) as hub:
        for case in CASES:
            for one in case(hub) if not names or case.__name__ in names else ():
                log = KEPT / f"{one.run.number}-{one.workflow}.log"
                log.write_text(one.run.log, encoding="utf-8")
                jobs = ", ".join(f"{job.rpartition('/')[2]}: {result}" for job, result in one.run.jobs)
                as_meant = f"fails at: {', '.join(one.run.failed)}" if one.run.failed else "passed"
                said = f"{'; '.join(one.faults)} ({log})" if one.faults else as_meant
                table.add_row(one.workflow, one.what, jobs, f"{one.run.seconds:.0f}", said)
                faults += bool(one.faults)
    console = Console()
    console.width = max(console.width, 140)
    console.print(table)
    for name, what in NOT_RUN.items():
        console.print(f"not run: {name}, {what}")
    left = act.left_behind()
    console.print(f"{time.monotonic() - begun:.0f} s, {faults} not as they must be, {len(left)} processes left")
    return bool(faults or left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
