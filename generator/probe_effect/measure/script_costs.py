"""What the scripts of a suite cost in a loop of ours, before they run over programs; written to `calibration.csv`."""

from __future__ import annotations

from probe_effect.measure.bench import Bench, Progress
from probe_effect.measure.one_run import PlannedRun
from probe_effect.measure.request import Work
from probe_effect.measure.submission import OpenSubmission
from probe_effect.model import Key
from probe_effect.store.calibration import CALIBRATION_COLUMNS, read_calibration
from probe_effect.store.plan_file import PlanFile
from probe_effect.store.table_writer import TableWriter

LANGUAGE = "bpftrace"
"""The tool whose scripts can be moved into the loop."""


def calibrate_scripts(bench: Bench, opened: OpenSubmission) -> None:
    """Time each script of the plan that has no row yet, where a suite runs scripts over programs.

    Raises: HostNotReady when a row cannot be written.
    """
    calibrate, path = bench.settings.calibrate, opened.place.calibration
    scripts = _scripts(bench.work, opened.plan)
    if calibrate is None or not scripts:
        return
    with TableWriter(path, CALIBRATION_COLUMNS) as table:  # opened before it is read: it cuts off a torn row
        done = {row.key for row in read_calibration(path, str(path))[0]}
        for place, key in enumerate(scripts):
            if key not in done:
                planned = PlannedRun(0, 0, key, "traced")
                blocks = bench.settings.blocks
                bench.tell(Progress(phase="scripts", planned=planned, blocks=blocks, done=place, total=len(scripts)))
                rows = calibrate(key, bench.work.script(key), bench.work.tracers[key.tracer], bench.cpu)
                table.put(row.cells for row in rows)


def _scripts(work: Work, plan: PlanFile) -> list[Key]:
    """Each script of the plan once, by its case and tracer, and by its level where the level has one of its own."""
    planned = [Key(one.case, one.tracer, one.level) for one in plan.subjects if one.operations is not None]
    own = [key for key in planned if work.suite.has_programs and work.tracers[key.tracer].tool == LANGUAGE]
    return list(dict.fromkeys(key._replace(level=None) if work.script(key).stem == key.case else key for key in own))
