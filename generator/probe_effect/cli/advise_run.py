"""What `probe-effect advise` does: read the script, find its probes, count how often they fire, and answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.answer.advice import Advice, Thread, advise
from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.evidence import evidence
from probe_effect.answer.starting import Starting, starting
from probe_effect.cli import output
from probe_effect.cli.advise_json import advice_json
from probe_effect.cli.advise_output import show
from probe_effect.cli.advise_probes import (
    ANY,
    CALLS,
    called_elsewhere,
    countables,
    fires_itself,
    groups,
    mechanisms,
    wanted,
)
from probe_effect.cli.this_machine import machine_for, measured_machines, this_machine
from probe_effect.errors import HostNotReady, UsageError, unknown
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.live.count import count
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.scripts.changed import cheaper
from probe_effect.scripts.script import read_script

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from probe_effect.answer.evidence import Evidence
    from probe_effect.cli.advise_probes import Wanted
    from probe_effect.live.count import Counted, Kind, Target
    from probe_effect.numbers.likeness import Facts, Likeness
    from probe_effect.scripts.changed import Change
    from probe_effect.scripts.script import Script
    from probe_effect.store.places import DataFolder

COUNTING_TRACERS = ("libbpf", "bpftrace")
"""Whose plain probes stand for those that count: they run a BPF program of a few instructions."""

PLAIN: dict[Kind, str] = {"tracepoint": "tracepoint-entry"}
"""What is counted to the kind of probe whose cost it has; every other kind has its own."""

UNKNOWN_NS = 10_000.0
"""What a probe is taken to cost, by itself, whose cost nobody measured: a stepped user probe of a nested machine."""

COMPILE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What was asked: a script, whose events are counted and for how long, and what may be lost to it."""

    text: str
    target: Target
    seconds: float
    budget_ratio: float
    rates_hz: Mapping[str, float] = field(default_factory=dict)
    tracer: str | None = None
    machine: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """All that is shown: the advice, the script, what was counted, and where and how long it would take to attach."""

    wish: Wish
    script: Script
    advice: Advice
    chosen: Likeness
    counted: Counted | None
    not_counted: str | None
    starting: Starting | None
    probes: int
    cheaper: tuple[Change, ...]
    fires_itself: tuple[str, ...]
    elsewhere: tuple[tuple[str, str], ...]
    """Probes on functions that never fired, and the same function in another file of the process."""


def run(wish: Wish, data: DataFolder, output_format: str) -> bool | None:
    """Print the answer; whether the script stays within the budget, None where that cannot be told.

    Raises: UsageError for a script that cannot be read or compiled, and for names that the data does not have;
        HostNotReady where no measured machine may be compared with this one.
    """
    mount_for_our_time()
    said = answered(wish, data)
    if output_format == "json":
        output.product_json(advice_json(said))
    else:
        show(said)
    return said.advice.within_budget


def answered(wish: Wish, data: DataFolder) -> Answered:
    """The whole answer."""
    script = read_script(wish.text)
    catalogue = read_numbers(data)
    found = evidence(catalogue)
    here = this_machine()
    tracer = _tracer(found, script, wish.tracer)
    probes = wanted(script, wish.target.pid)
    _compiled(script, probes)
    chosen = machine_for(found, tracer, here, groups(probes, None, {}, here), wish.machine)
    counted, refused = (None, None) if wish.rates_hz else _counted(found, chosen.machine, wish, probes, here)
    advice = advise(
        found,
        measured_machines(found)[chosen.machine],
        tracer,
        groups(probes, counted, wish.rates_hz, here),
        _threads(counted, wish.rates_hz),
        calls_hz=_calls(counted),
        budget_ratio=wish.budget_ratio,
    )
    number = sum(max(1, len(one.places)) for one in probes)
    machines = [chosen.machine, *(one for one in found.machines if one != chosen.machine)]
    kind = probes[0].probe.kind if probes else "tracepoint"
    return Answered(
        wish=wish,
        script=script,
        advice=advice,
        chosen=chosen,
        counted=counted,
        not_counted=refused,
        starting=starting(catalogue, machines, tracer, kind, number),
        probes=number,
        cheaper=tuple(cheaper(script)),
        fires_itself=tuple(one.probe.attach for one in probes if fires_itself(one, script)),
        elsewhere=tuple(called_elsewhere(probes, counted, wish.target.pid)),
    )


def _tracer(found: Evidence, script: Script, named: str | None) -> str:
    """The tracer that runs the script, of those that were measured. Raises: UsageError, HostNotReady."""
    if named is not None:
        unknown([named], found.tracers, "tracer")
        return named
    usual = script.tracer
    fitting = [one for one in found.tracers if one == usual or one.startswith(f"{usual}-")]
    if not fitting:
        measured = ", ".join(found.tracers) or "nothing yet; measure this machine with `probe-effect measure`"
        msg = f"nobody measured {usual}, which the script is for; measured: {measured}"
        raise HostNotReady(msg)
    return usual if usual in fitting else fitting[0]


def _compiled(script: Script, probes: Sequence[Wanted]) -> None:
    """Raise UsageError, with bpftrace's words, for a script that it does not compile.

    It is asked for the compiled program alone, which attaches nothing. It refuses a script with a probe that is not
    here too, and that is told apart.
    """
    program = shutil.which("bpftrace")
    if script.language != "bpftrace" or program is None or any(one.why for one in probes):
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--emit-elf", str(Path(folder, "program")), "-e", script.text]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return
    if ended.returncode and "ERROR" in ended.stderr and "root user" not in ended.stderr:
        msg = f"the script does not compile; bpftrace says:\n{ended.stderr.strip()}"
        raise UsageError(msg)


def _counted(
    found: Evidence, machine: str, wish: Wish, probes: Sequence[Wanted], here: Facts
) -> tuple[Counted | None, str | None]:
    """What was counted, or why nothing could be."""
    asked = countables(probes)
    if not asked:
        return None, "none of its probes can be counted here"
    kinds = {one.kind for one in asked}
    costs = {kind: _plain_ns(found, machine, kind, mechanisms(probes, here)) for kind in kinds}
    number = sum(len(one.places) for one in probes)
    what = "1 probe" if number == 1 else f"{units.count(number)} probes"
    if number:
        output.say(f"counting how often {what} would fire, for {wish.seconds:g} s at most")
    try:
        return count(
            asked,
            wish.target,
            seconds=wish.seconds,
            budget_ratio=wish.budget_ratio,
            probe_cost_ns=costs,
        ), None
    except HostNotReady as error:
        return None, str(error)


def _plain_ns(found: Evidence, machine: str, kind: Kind, ways: Collection[str | None]) -> float:
    """What a probe costs that runs a program of a few instructions, at the dearest of the ways in which it fires."""
    asked = PLAIN.get(kind, kind)
    for tracer in COUNTING_TRACERS:
        parts = [cost_of(found, machine, tracer, kind=asked, mechanism=way) for way in ways or {None}]
        known = [part.cost.value for part in parts if part is not None]
        if known:
            return max(known)
    return UNKNOWN_NS


def _threads(counted: Counted | None, given_hz: Mapping[str, float]) -> list[Thread]:
    """The threads that were watched; where rates are given, one that is busy all the time stands for any."""
    if given_hz:
        return [Thread(tid=ANY, pid=ANY, name="a busy thread", busy_ratio=1.0)]
    if counted is None:
        return []
    return [
        Thread(tid=one.tid, pid=one.pid, name=one.comm, busy_ratio=one.cpu_s / counted.threads_s)
        for one in counted.threads
        if one.pid != os.getpid()
    ]


def _calls(counted: Counted | None) -> dict[int, float]:
    """Thread to its system calls per second."""
    rates = () if counted is None else counted.rates
    return next((dict(one.thread_hz) for one in rates if one.probe == CALLS), {})
