"""The machine that this runs on: its facts, and what probes of measured cases cost on it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from probe_effect.answer.question import Question
from probe_effect.answer.spread import spread_of
from probe_effect.calibration.asked import calibrated
from probe_effect.calibration.measure import CalibrationTask
from probe_effect.calibration.moved import AskedProbe
from probe_effect.costs.evidence import Evidence
from probe_effect.errors import HostNotReady
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.live.places import Place
from probe_effect.machine import collect
from probe_effect.model import Estimate, interval_json
from probe_effect.numbers.likeness import Facts, facts_of
from probe_effect.reduce.grades import slowdown_at
from probe_effect.scripts.form import NO_EVENTS
from probe_effect.scripts.script import read_script
from probe_effect.stats import estimates
from probe_effect.stats.estimates import multiplied
from probe_effect.store.machine_file import HOSTED, as_author
from probe_effect.store.suite_file import script_path
from probe_effect.tracers.registry import known_tracers

COMPILE_S = 60.0


def this_machine() -> Facts:
    """The facts of the machine that this runs on by which it is compared with others."""
    system, machine = collect.collect_system(None), collect.collect_machine()
    if os.environ.get("RUNNER_ENVIRONMENT") == "github-hosted":  # docs.github.com, "Variables reference"
        machine = as_author(machine, system, HOSTED)
    return facts_of(machine, system.kernel_release, vulnerabilities=system.vulnerabilities)


def complaint(script: str) -> str | None:
    """Why bpftrace does not compile a script, in its words; None where it does, and where it cannot be asked.

    bpftrace is asked for the compiled program alone, which attaches nothing.
    """
    program = shutil.which("bpftrace")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--emit-elf", str(Path(folder, "program")), "-e", script]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
    is_refused = ended.returncode and "ERROR" in ended.stderr and "root user" not in ended.stderr
    return ended.stderr.strip() if is_refused else None


TOOL = "bpftrace"


class PredictedHere(NamedTuple):
    """The cost of one event of a case, ns, and the slowdown at the rate that was asked for, as a ratio."""

    case: str
    cost: Estimate
    slowdown: Estimate

    def as_json(self) -> dict[str, Any]:
        """As JSON values, with both intervals."""
        return {
            "case": self.case,
            **interval_json(self.cost, "cost", "ns"),
            **interval_json(self.slowdown, "slowdown", "ratio"),
        }


def predicted_here(found: Evidence, question: Question) -> list[PredictedHere]:
    """Each case of a question, measured on this machine now.

    Raises: HostNotReady where a case has no script of bpftrace, or cannot be timed here.
    """
    mount_for_our_time()
    return [_timed(found, asked.case, asked.rate_hz) for asked in question.probes]


def _timed(found: Evidence, case: str, rate_hz: float) -> PredictedHere:
    suite, known = found.of[case]
    path = script_path(found.folders[suite.id], case, TOOL) if suite.id in found.folders else None
    if path is None:
        msg = f"{case}: it has no script of bpftrace, and no other can be timed here"
        raise HostNotReady(msg)
    script = read_script(path.read_text(encoding="utf-8"))
    events = [(at, one) for at, one in enumerate(script.probes) if one.kind not in NO_EVENTS]
    mechanisms = {one.mechanism for (_, tracer, its), one in found.costs.items() if (tracer, its) == (TOOL, case)}
    how = mechanisms.pop() if len(mechanisms) == 1 else None
    task = CalibrationTask(
        script=script,
        probes=[AskedProbe(at, (one.attach, how), one.kind, (_place(one.attach, one.kind),)) for at, one in events],
        tool=known_tracers()[TOOL],
    )
    costs = calibrated(task)
    if costs.missing:
        raise HostNotReady("; ".join(costs.missing.values()))
    cost = estimates.total([one.on({}) for one in costs.costs.values()])
    apart = spread_of(found, TOOL, events[0][1].kind, [known.action])
    return PredictedHere(case, cost, slowdown_at(multiplied(cost, apart.factor) if apart else cost, rate_hz))


def _place(attach: str, kind: str) -> Place:
    """Where a probe of a suite is: a static probe by its name; functions are those of a workload that does not run."""
    return Place(kind=kind, name=attach.partition(":")[2])
