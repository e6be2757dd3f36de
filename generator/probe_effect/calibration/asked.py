"""The probes of a script and what they cost here, kept until the machine starts again."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe_effect.calibration.measure import CalibrationTask, measured
from probe_effect.calibration.moved import AskedProbe
from probe_effect.compilers import own_cache
from probe_effect.costs.event import HereCost, HereCosts
from probe_effect.costs.first_instruction import mechanism
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.host import ROOT, read_text
from probe_effect.live.attach_points import as_bpftrace
from probe_effect.live.places import NotHere, Place, places
from probe_effect.model import Estimate, Key
from probe_effect.numbers.index import grouped_by
from probe_effect.scripts.form import NO_EVENTS, Script, ScriptProbe
from probe_effect.scripts.script import read_script
from probe_effect.store.further_tables import ProbeCalibration
from probe_effect.store.samples import as_note
from probe_effect.tracers.protocol import Tracer

FindPlaces = Callable[[str, str, Path, int | None], Sequence[Place]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedProbe:
    """A probe of the script, and its places here; without any, the reason why."""

    index: int
    """Which of the script's probes it is, from 0: two may be written alike."""
    probe: ScriptProbe
    places: tuple[Place, ...] = ()
    why: str | None = None

    def counted_name(self, at: Place | None) -> str:
        """What one of its places is called while it is counted."""
        return f"{self.index} {self.probe.attach}" + (f" {at.name} {at.path or ''} {at.offset}" if at else "")


def placed(script: Script, pid: int | None, find: FindPlaces = places) -> list[PlacedProbe]:
    """The probes of a script that events fire, each with its places on this system.

    `pid`: the process in which libraries named without a path are looked for; else the system's own. `find` finds the
    places that an attach point matches.
    """
    events = [(index, probe) for index, probe in enumerate(script.probes) if probe.kind not in NO_EVENTS]
    return [_placed(script, index, probe, pid, find) for index, probe in events]


def _placed(script: Script, index: int, probe: ScriptProbe, pid: int | None, find: FindPlaces) -> PlacedProbe:
    if probe.hz is not None:
        return PlacedProbe(index=index, probe=probe)
    attach = None if probe.kind == "profile" else as_bpftrace(probe.attach, probe.kind, script.language)
    if attach is None:
        why = f"{probe.attach}: nothing here that could be counted answers to it; say how often it fires with --rate"
        return PlacedProbe(index=index, probe=probe, why=why)
    try:
        return PlacedProbe(index=index, probe=probe, places=tuple(find(attach, probe.kind, ROOT, pid)))
    except NotHere as error:
        return PlacedProbe(index=index, probe=probe, why=str(error))


def asked(probes: Iterable[PlacedProbe], architecture: str, kernel_release: str) -> Iterator[AskedProbe]:
    """The probes apart by how they fire, on a kernel as `uname` names it."""
    for one in probes:
        for how, its in by_mechanism(one.places, architecture, kernel_release).items():
            yield AskedProbe(one.index, (one.probe.attach, how), one.probe.kind, tuple(its))


def by_mechanism(found: Iterable[Place], architecture: str, kernel_release: str) -> dict[str | None, list[Place]]:
    """The places of a probe by how it fires there; of none, one way that is not known."""
    return grouped_by(found, lambda place: mechanism_at(place, architecture, kernel_release)) or {None: []}


def mechanism_at(place: Place, architecture: str, kernel_release: str) -> str | None:
    """How a user probe at a place fires; None of a place in the kernel, and where it is not known."""
    return None if place.first_bytes is None else mechanism(place.first_bytes.hex(" "), architecture, kernel_release)


def recorded(key: Key, path: Path, tool: Tracer, cpu: int) -> Sequence[ProbeCalibration]:
    """What each probe of the script at `path` costs on a CPU, as rows; one with the reason where nothing was timed."""
    try:
        script = read_script(path.read_text(encoding="utf-8"))
        probes = list(asked(placed(script, None), os.uname().machine, os.uname().release))
        found = measured(CalibrationTask(script=script, probes=probes, tool=tool, cpus=[cpu]))
    except (HostNotReady, UsageError) as error:
        return [ProbeCalibration(*key, note=as_note(str(error)))]
    return list(_rows(key, found, cpu))


def _rows(key: Key, found: HereCosts, cpu: int) -> Iterator[ProbeCalibration]:
    others = f"Meanwhile {' and '.join(found.others)}." if found.others else None
    for (probe, how), cost in found.costs.items():
        note = " ".join(filter(None, [cost.note, others]))
        call = found.calls.by_cpu.get(cpu) if found.calls else None
        yield ProbeCalibration(*key, probe, how, cost.by_cpu[cpu], call, as_note(note) if note else None)
    for (probe, how), why in found.missing.items():
        yield ProbeCalibration(*key, probe, how, note=as_note(why))


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
    try:
        path = own_cache("calibrations") / f"{digest}.json"
    except HostNotReady:
        return measured(task)
    with contextlib.suppress(OSError, ValueError, TypeError, LookupError):  # cut short, or of another version of ours
        kept = _read(json.loads(path.read_bytes()))
        if all(set(task.cpus) <= set(cost.by_cpu) for cost in kept.costs.values()):
            return kept
    found = measured(task)
    if found.others:  # it can be better the next time
        return found
    with contextlib.suppress(OSError):
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
