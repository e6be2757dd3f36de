"""The probes of a script on this system, as `calibration` takes them, and what they cost for a suite's record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from probe_effect.answer.first_instruction import mechanism
from probe_effect.answer.here import HereCosts
from probe_effect.calibration.measure import CalibrationTask, measured
from probe_effect.calibration.moved import AskedProbe
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.host import ROOT
from probe_effect.live.places import NotHere, Place, places
from probe_effect.model import Key
from probe_effect.scripts.form import Script, ScriptProbe
from probe_effect.scripts.kinds import NO_EVENTS
from probe_effect.scripts.script import read_script
from probe_effect.store.calibration import ProbeCalibration
from probe_effect.store.samples import as_note
from probe_effect.tracers.protocol import Tracer


def asked(script: Script, pid: int | None = None) -> list[AskedProbe]:
    """The probes of a script of bpftrace that events fire, apart by the mechanism by which they fire here.

    Args:
        script: what was read of it.
        pid: the process in which libraries named without a path are looked for; else the system's own.
    """
    events = ((at, probe) for at, probe in enumerate(script.probes) if probe.kind not in NO_EVENTS)
    return [one for at, probe in events for one in _by_mechanism(at, probe, pid)]


def _by_mechanism(at: int, probe: ScriptProbe, pid: int | None) -> Iterator[AskedProbe]:
    try:
        found = places(probe.attach, probe.kind, ROOT, pid) if probe.hz is None else []
    except NotHere:
        found = []  # `measured` says of a probe without places that it fires nowhere here
    for how, its in by_mechanism(found, _mechanism).items():
        yield AskedProbe(at, (probe.attach, how), probe.kind, tuple(its))


def by_mechanism(found: Iterable[Place], mechanism_at: Callable[[Place], str | None]) -> dict[str | None, list[Place]]:
    """The places of a probe by how it fires there; of none, one way that is not known."""
    made: dict[str | None, list[Place]] = {}
    for place in found:
        made.setdefault(mechanism_at(place), []).append(place)
    return made or {None: []}


def _mechanism(place: Place) -> str | None:
    if place.first_bytes is None:
        return None
    return mechanism(place.first_bytes.hex(" "), os.uname().machine, os.uname().release)


def recorded(key: Key, path: Path, tool: Tracer, cpu: int) -> Sequence[ProbeCalibration]:
    """What each probe of the script at `path` costs on a CPU, as rows; one with the reason where nothing was timed."""
    try:
        script = read_script(path.read_text(encoding="utf-8"))
        found = measured(CalibrationTask(script=script, probes=asked(script), tool=tool, cpus=[cpu]))
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
