"""What a script's probes cost here, in some seconds: blocks of our loop in turns, with and without them; kept until
the machine starts again.

Every operation takes turns with the others, on each CPU, in random order. A block's CPU time is what counts, so that
another program on the same CPU disturbs little. The blocks without the tracer are from before it was attached and from
after it was gone: where they differ, the interval shows it.
"""

import contextlib
import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from probe_effect.advising.loop import CalibrationLoop, Traced
from probe_effect.advising.moved import PLAIN_CALL, AskedProbe, MovedScript, Operation, moved
from probe_effect.answer.prediction import WORDS
from probe_effect.costs.instructions import mechanism
from probe_effect.costs.map_memory import TracerMemory
from probe_effect.costs.row import NOTES
from probe_effect.costs.table import HereCost, HereCosts, ProbeKey
from probe_effect.host import ROOT, read_text, usable_cpus
from probe_effect.host.compilers import own_cache
from probe_effect.host.this_machine import quotas
from probe_effect.live.attachment import NAMED_OTHERWISE
from probe_effect.live.loaded import OF_PROBES, RunStatistics
from probe_effect.live.places import NotHere, Place, as_bpftrace, places
from probe_effect.model import Estimate, HostNotReady, Key, UsageError
from probe_effect.numbers import estimates
from probe_effect.numbers.index import grouped_by
from probe_effect.scripts.clauses import resolved
from probe_effect.scripts.form import NO_EVENTS, PRINT, Script, ScriptProbe
from probe_effect.scripts.script import read_script
from probe_effect.store.result_tables import ProbeCalibration, as_note
from probe_effect.tracers.protocol import Tracer

Turn = tuple["Operation", int]
"""An operation, and the CPU on which it is done."""

ROUNDS = 12
"""Blocks of each turn with the tracer, and as many without, half of them before and half after.

Of 12 differences the exact 95 % interval excludes the least likely ends (`numbers/estimates.py`); 6 would be the
fewest that have one.
"""

LONGEST_BLOCK_S, SHORTEST_BLOCK_S = 0.02, 0.000_5

TRIAL_TIMES = 300
"""Times that an operation is done to learn how long one takes."""

PRINTED_PAUSE_S = 0.03
"""Of a script that prints, each block is as short as a trial, with a pause after it, so that no buffer is full."""

BUSY_RATIO = 1.25
"""A block that took so much longer than its CPU time shared its CPU with others."""


class Blocks:
    """Blocks of each turn, for `seconds` in all, under so many stack frames."""

    def __init__(
        self, loop: CalibrationLoop, turns: Sequence[Turn], *, frames: int, seconds: float, prints: bool
    ) -> None:
        self.turns = list(turns)
        self._loop, self._frames, self._prints = loop, frames, prints
        self._block_s = min(LONGEST_BLOCK_S, max(SHORTEST_BLOCK_S, seconds / (2 * ROUNDS * len(self.turns))))
        self._stretched: dict[int, list[float]] = {}
        self._random = random.Random()  # noqa: S311 (no secret)
        self._times = dict.fromkeys(self.turns, TRIAL_TIMES)
        for turn in self.turns:
            self.trial(turn)

    def trial(self, turn: Turn) -> None:
        """A short block, which tells how often its operation fits into the others."""
        self._times[turn] = TRIAL_TIMES
        taken_ns = self._block(turn)
        if not (self._prints and turn[0].keys):
            self._times[turn] = max(TRIAL_TIMES, int(self._block_s * 1e9 / max(1.0, taken_ns)))

    def rounds(self, number: int) -> dict[Turn, list[float]]:
        """CPU time of one operation, ns, in so many blocks of each turn, in random order within each round."""
        by_turn: dict[Turn, list[float]] = {turn: [] for turn in self.turns}
        for _ in range(number):
            for turn in self._random.sample(self.turns, len(self.turns)):
                by_turn[turn].append(self._block(turn))
        return by_turn

    def is_shared(self, cpu: int) -> bool:
        return float(np.median(self._stretched.get(cpu, [1.0]))) > BUSY_RATIO

    def _block(self, turn: Turn) -> float:
        operation, cpu = turn
        taken = self._loop.run(operation.name, cpu, self._frames, self._times[turn])
        if self._prints and operation.keys:
            time.sleep(PRINTED_PAUSE_S)
        self._stretched.setdefault(cpu, []).append(taken.wall_ns / max(1, taken.cpu_ns))
        return taken.cpu_ns / self._times[turn]


BLOCK_SHARE = 0.5
"""Share of the time that blocks may take; the rest goes to the tracer's start and end."""

MOST_CPUS = 4

USUAL_FRAMES, USUAL_S = 15, 5.0
"""Frames on the loop's stack where nobody knows how many those of the program have, and how long it may take."""

PLAIN = Operation(f"call_{PLAIN_CALL}", (), 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTask:
    """What is to be timed: the probes of a script, by which tool, on which CPUs, under how many stack frames."""

    script: Script
    probes: Sequence[AskedProbe]
    tool: Tracer
    cpus: Sequence[int] = field(default_factory=lambda: sorted(usable_cpus()))
    frames: int = USUAL_FRAMES
    seconds: float = USUAL_S


Calibrate = Callable[[CalibrationTask], HereCosts]
"""What measures a task, or has it from an earlier time. Raises: HostNotReady."""


def measured(task: CalibrationTask) -> HereCosts:
    """The cost of one event of each probe on each CPU, ns, in about `task.seconds`.

    Raises: HostNotReady without a compiler, without the tracer, or where none of the probes can be timed here.
    """
    if why := task.tool.available():
        raise HostNotReady(why)
    if refusing := [str(warning) for warning in quotas() if warning.measure == "refuses"]:
        raise HostNotReady("; ".join(refusing))
    began_s = time.monotonic()
    tracing = tuple(_tracing_now())
    with CalibrationLoop() as loop:
        try:
            calibration = _costs(task, loop, stand_in=True)
        except HostNotReady:
            if not moved(task.script, task.probes, loop.process).notes:
                raise
            calibration = _costs(task, loop, stand_in=False)  # what stands for arguments may not compile
    return replace(calibration, seconds=time.monotonic() - began_s, others=tracing + calibration.others)


def _costs(task: CalibrationTask, loop: CalibrationLoop, *, stand_in: bool) -> HereCosts:
    """The measured costs of the script; `seconds`, and who else traced, are not filled in."""
    move = partial(moved, task.script, task.probes, loop.process, stand_in=stand_in)
    script = move()
    if not script.operations:
        raise HostNotReady("; ".join(script.missing.values()) or "the script has no probes")
    operations = list(script.operations)
    on_calls = any(operation.name.startswith("call_") for operation in operations)
    if on_calls and all(operation.name != PLAIN.name for operation in operations):
        operations.append(PLAIN)
    cpus = list(task.cpus)[:MOST_CPUS]
    turns = [(operation, cpu) for operation in operations for cpu in cpus]
    seconds = task.seconds * BLOCK_SHARE / (2 if script.has_filter else 1)
    prints = any(PRINT in probe.actions for probe in task.script.probes)
    blocks = Blocks(loop, turns, frames=task.frames, seconds=seconds, prints=prints)
    added, memory = _added(blocks, script, task.tool, loop)
    least = _added(blocks, move(passing=False), task.tool, loop)[0] if script.has_filter else {}
    path = {turn[1]: cost for turn, cost in added.items() if turn[0].name == PLAIN.name}
    costs: dict[ProbeKey, HereCost] = {}
    for operation in script.operations:
        by_cpu = {
            cpu: _event_ns(operation, added[operation, cpu], least.get((operation, cpu)), path.get(cpu))
            for cpu in cpus
            if (operation, cpu) in added
        }
        for key in operation.keys if by_cpu else ():
            notes = [script.notes.get(key), WORDS["timed-together"] if len(operation.keys) > 1 else None]
            notes.append(NOTES["filtered"] if least else None)
            costs[key] = HereCost(by_cpu=by_cpu, note=" ".join(filter(None, notes)) or None)
    silent = {
        key: WORDS["silent"].format(attach=key[0])
        for operation in operations
        for key in operation.keys
        if key not in costs
    }
    shared = [str(cpu) for cpu in cpus if blocks.is_shared(cpu)]
    return HereCosts(
        costs=costs,
        calls=HereCost(by_cpu=path) if PLAIN in operations and path else None,
        seconds=0.0,
        missing=script.missing | silent,
        others=(f"others used CPU {' and '.join(shared)}",) if shared else (),
        memory=None if script.missing or script.notes else memory,  # what stands in for a value has another size
    )


def _added(
    blocks: Blocks, script: MovedScript, tool: Tracer, loop: CalibrationLoop
) -> tuple[dict[Turn, Estimate], TracerMemory | None]:
    """What tracing adds to each operation, ns, on each CPU, and what the tracer takes of memory.

    There is nothing for an operation whose probes did not fire.
    """
    before = blocks.rounds(ROUNDS // 2)
    with Traced(script.text, tool, loop.process) as traced:
        fired = [turn for turn in blocks.turns if turn[0].keys and _fires(traced, blocks, turn)]
        during = blocks.rounds(ROUNDS)
        memory = traced.memory()
        fired = [turn for turn in fired if _fires(traced, blocks, turn)]  # a script may end by itself meanwhile
        traced.stop()
    after = blocks.rounds(ROUNDS - ROUNDS // 2)
    added = {
        turn: estimates.estimate(np.array(during[turn]) - np.array([*before[turn], *after[turn]]))
        for turn in blocks.turns
        if turn in fired or not turn[0].keys
    }
    return added, memory


def _fires(traced: Traced, blocks: Blocks, turn: Turn) -> bool:
    return traced.runs_in(partial(blocks.trial, turn)) >= TRIAL_TIMES


def _tracing_now() -> Iterator[str]:
    """Who else traces this machine, one phrase each: a probe forgotten anywhere makes every event cost more."""
    try:
        with RunStatistics() as statistics:
            all_loaded = statistics.look().found
    except HostNotReady:  # an old kernel does not tell
        return
    for loaded in all_loaded:
        if loaded.sort != "bpf" or loaded.kind in OF_PROBES:
            owners = ", ".join(f"{owner.comm} ({owner.pid})" for owner in loaded.owners)
            yield f"{loaded.kind} {loaded.name}{f' of {owners}' if owners else ''} traced"


def _event_ns(operation: Operation, added: Estimate, least: Estimate | None, path: Estimate | None) -> Estimate:
    """What one event of one of an operation's probes costs, without what its other system calls pay."""
    if operation.calls and path is not None:
        added = estimates.difference(added, path.times(operation.calls))
    if least is not None and added.low is not None and least.low is not None:
        added = added._replace(low=min(added.low, least.low))
    return added.times(1 / (operation.events * len(operation.keys)))


CALLED_OTHERWISE = {call: function for function, call in NAMED_OTHERWISE.items()}
"""System calls to what their tracepoints are called by."""

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
    attaches = [] if probe.kind == "profile" else list(_attaches(script, probe))
    if not attaches:
        why = f"{probe.attach}: nothing here that could be counted answers to it; say how often it fires with --rate"
        return PlacedProbe(index=index, probe=probe, why=why)
    probe_sites, refusals = list[Place](), list[str]()
    for attach in attaches:
        try:
            probe_sites += find(attach, probe.kind, ROOT, pid)
        except NotHere as error:
            refusals.append(str(error))
    return PlacedProbe(
        index=index, probe=probe, places=tuple(probe_sites), why=None if probe_sites else "; ".join(refusals)
    )


def _attaches(script: Script, probe: ScriptProbe) -> Iterator[str]:
    """The attach points of a probe in the words of bpftrace: of a standard tool those that it is known to have.

    strace with a filter of the kernel's (--seccomp-bpf) stops at the calls that it is asked for alone.
    """
    if script.language == "tool":
        yield from map(resolved, probe.attach.partition(": ")[2].split(", "))
    elif script.tracer == "strace-seccomp" and probe.attach.isidentifier() and probe.attach != "all":
        yield f"tracepoint:syscalls:sys_enter_{CALLED_OTHERWISE.get(probe.attach, probe.attach)}"
    elif (attach := as_bpftrace(probe.attach, probe.kind, script.language)) is not None:
        yield attach


def asked(probes: Iterable[PlacedProbe], architecture: str, kernel_release: str) -> Iterator[AskedProbe]:
    """The probes apart by how they fire, on a kernel as `uname` names it."""
    for probe in probes:
        for how, its in by_mechanism(probe.places, architecture, kernel_release).items():
            yield AskedProbe(probe.index, (probe.probe.attach, how), probe.probe.kind, tuple(its))


def by_mechanism(probe_sites: Iterable[Place], architecture: str, kernel_release: str) -> dict[str | None, list[Place]]:
    return grouped_by(probe_sites, lambda probe_site: mechanism_at(probe_site, architecture, kernel_release)) or {
        None: []
    }


def mechanism_at(probe_site: Place, architecture: str, kernel_release: str) -> str | None:
    """How a user probe at a place fires; None of a place in the kernel, and where it is not known."""
    return (
        None
        if probe_site.first_bytes is None
        else mechanism(probe_site.first_bytes.hex(" "), architecture, kernel_release)
    )


def recorded(key: Key, path: Path, tool: Tracer, cpu: int) -> Sequence[ProbeCalibration]:
    """What each probe of the script at `path` costs on a CPU, as rows; one with the reason where nothing was timed."""
    try:
        script = read_script(path.read_text(encoding="utf-8"))
        probes = list(asked(placed(script, None), os.uname().machine, os.uname().release))
        calibration = measured(CalibrationTask(script=script, probes=probes, tool=tool, cpus=[cpu]))
    except (HostNotReady, UsageError) as error:
        return [ProbeCalibration(*key, note=as_note(str(error)))]
    rows = []
    others = f"Meanwhile {' and '.join(calibration.others)}." if calibration.others else None
    for (probe, how), cost in calibration.costs.items():
        note = " ".join(filter(None, [cost.note, others]))
        call = calibration.calls.by_cpu.get(cpu) if calibration.calls else None
        rows.append(ProbeCalibration(*key, probe, how, cost.by_cpu[cpu], call, as_note(note) if note else None))
    return rows + [
        ProbeCalibration(*key, probe, how, note=as_note(why)) for (probe, how), why in calibration.missing.items()
    ]


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
        [(probe.at, probe.key, [probe_site.name for probe_site in probe.places[:1]]) for probe in task.probes],
        task.frames,
        sorted(item for item in os.environ.items() if item[0].startswith("BPFTRACE_")),
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
    calibration = measured(task)
    if calibration.others:  # it can be better the next time
        return calibration
    with contextlib.suppress(OSError):
        path.write_text(json.dumps(_written(calibration)), encoding="utf-8")
    return calibration


def _written(calibration: HereCosts) -> dict[str, Any]:
    return {
        "seconds": calibration.seconds,
        "others": calibration.others,
        "missing": list(calibration.missing.items()),
        "memory": calibration.memory,
        "costs": [(key, list(cost.by_cpu.items()), cost.note) for key, cost in calibration.costs.items()],
        "calls": list(calibration.calls.by_cpu.items()) if calibration.calls else None,
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
        memory=values["memory"] and TracerMemory(*values["memory"]),
    )
