"""Costs measured here, kept until the machine starts again, or until kernel, tracer or script change."""

import contextlib
import hashlib
import json
import os
from typing import Any

from probe_effect.answer.here import HereCost, HereCosts
from probe_effect.calibration.measure import CalibrationTask, measured
from probe_effect.compilers import cache_folder
from probe_effect.host import ROOT, read_text
from probe_effect.model import Estimate

BOOT = "proc/sys/kernel/random/boot_id"
"""A number that is another one after each start: proc_sys_kernel(5)."""


def calibrated(task: CalibrationTask) -> HereCosts:
    """What `measured` gives, or gave undisturbed since the machine started, for the same script on all of these CPUs.

    Raises: HostNotReady, as `measured` does.
    """
    # The file, by the hash of all on which the costs depend, but for the CPUs, which are in it.
    made_of = [
        read_text(ROOT, BOOT),
        os.uname().release,
        task.tool.version(),
        task.script.text,
        [(probe.at, probe.key, [place.name for place in probe.places[:1]]) for probe in task.probes],
        task.frames,
    ]
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
    path = cache_folder() / "calibrations" / f"{digest}.json"
    with contextlib.suppress(OSError, ValueError, TypeError, LookupError):  # cut short, or of another version of ours
        kept = _read(json.loads(path.read_bytes()))
        if all(set(task.cpus) <= set(cost.by_cpu) for cost in kept.costs.values()):
            return kept
    found = measured(task)
    if found.others:  # it can be better the next time
        return found
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_written(found)), encoding="utf-8")
    return found


def _written(found: HereCosts) -> dict[str, Any]:
    """As JSON values; keys that are no text become pairs."""
    return {
        "seconds": found.seconds,
        "others": found.others,
        "missing": list(found.missing.items()),
        "costs": [(key, list(one.by_cpu.items()), one.note) for key, one in found.costs.items()],
        "calls": list(found.calls.by_cpu.items()) if found.calls else None,
    }


def _read(values: dict[str, Any]) -> HereCosts:
    def cost(by_cpu: list[tuple[int, list[float]]], note: str | None = None) -> HereCost:
        return HereCost(by_cpu={cpu: Estimate(*ends) for cpu, ends in by_cpu}, note=note)

    return HereCosts(
        seconds=values["seconds"],
        others=tuple(values["others"]),
        missing={tuple(key): why for key, why in values["missing"]},
        costs={tuple(key): cost(by_cpu, note) for key, by_cpu, note in values["costs"]},
        calls=cost(values["calls"]) if values["calls"] is not None else None,
        is_kept=True,
    )
