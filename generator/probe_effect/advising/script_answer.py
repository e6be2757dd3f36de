"""May a script run here? Read it, find its probes on this system, count how often they fire, and answer."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from probe_effect import units
from probe_effect.advising.here import (
    ANY,
    CALLS,
    called_elsewhere,
    complaint,
    countables,
    events_by_cpu,
    fires_itself,
    groups,
)
from probe_effect.answer.advice import Advice, Thread, advise
from probe_effect.answer.asking import tool_script, tracer_of
from probe_effect.answer.prediction import Starting, starting
from probe_effect.calibration.measure import (
    USUAL_FRAMES,
    Calibrate,
    CalibrationTask,
    FindPlaces,
    PlacedProbe,
    asked,
    placed,
)
from probe_effect.costs.evidence import evidence, machines_for
from probe_effect.costs.instructions import writes_red_zone
from probe_effect.costs.table import HereCosts
from probe_effect.errors import HostNotReady, UsageError, unknown
from probe_effect.host import usable_cpus
from probe_effect.live.count import CountResult, Target, count
from probe_effect.live.places import places
from probe_effect.numbers.catalogue import read_numbers, read_sources
from probe_effect.numbers.shown import Facts
from probe_effect.scripts.changed import CheaperScript, cheaper
from probe_effect.scripts.form import BY_USER_STACK
from probe_effect.scripts.script import Script, read_script
from probe_effect.store.places import DataFolder
from probe_effect.tracers.tool import known_tracers

USUAL_S, COMMAND_S = 2.0, 60.0
"""How long is counted where nobody says: of a command until it ends, but no longer than the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSystem:
    """What this machine is, where probes match on it, how often they fire, and what bpftrace says of a script.

    `calibrate` measures what the probes of a task cost here, on the CPUs on which they fire; None where nothing is to
    be measured. `tell` is told, in a sentence, what takes long.
    """

    facts: Facts
    places: FindPlaces = places
    count: Callable[..., CountResult] = count
    complaint: Callable[[str], str | None] = complaint
    calibrate: Calibrate | None = None
    tell: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptQuestion:
    """A script, whose events are counted and for how long, how much slower a thread may get, how deep a stack is."""

    text: str
    target: Target
    seconds: float
    budget_ratio: float
    rates_hz: Mapping[str, float] = field(default_factory=dict)
    tracer: str | None = None
    machine: str | None = None
    frames: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAnswer:
    """The advice, with the script, what was counted and measured here, and how long it would take to attach."""

    question: ScriptQuestion
    script: Script
    advice: Advice
    counted: CountResult | None
    not_counted: str | None
    calibration: HereCosts | None
    not_calibrated: str | None
    starting: Starting | None
    probes: int
    cheaper: tuple[CheaperScript, ...]
    fires_itself: tuple[str, ...]
    in_red_zone: tuple[str, ...]
    elsewhere: tuple[tuple[str, str], ...]
    """Probes on functions that never fired, and the same function in another file of the process."""


def answer_script(question: ScriptQuestion, data: DataFolder, system: RunningSystem) -> ScriptAnswer:
    """Whether a script may run on a system, by the costs in `data`, with all that the answer is from.

    Raises: UsageError for a script that cannot be read or compiled, and for names that the data does not have.
    """
    catalogue = read_numbers(data)
    script = tool_script(question.text, catalogue.tools) or read_script(question.text)
    costs, here = evidence(catalogue, partial(read_sources, data)), system.facts
    tracer = tracer_of(costs, script, question.tracer)
    probes = placed(script, question.target.pid, system.places)
    _check_compiles(script, probes, system)
    if question.machine is not None:
        unknown([question.machine], costs.machines, "machine")
    machines = [one.machine for one in machines_for(costs, here, question.machine)]
    counted, refusal = _counted(question, probes, system)
    calibration, not_calibrated = None, None
    if question.machine is None:
        calibration, not_calibrated = _calibrated(script, probes, tracer, counted, system)
    advice = advise(
        costs,
        here,
        tracer,
        [replace(one, frames=question.frames) for one in groups(probes, counted, question.rates_hz, here)],
        _threads(counted, question.rates_hz),
        calls_hz=_calls(counted),
        whole=_whole(question.target, counted),
        budget_ratio=question.budget_ratio,
        here=calibration,
        machine=question.machine,
        options=script.options,
    )
    number = sum(max(1, len(probe.places)) for probe in probes)
    kind = probes[0].probe.kind if probes else "tracepoint"
    return ScriptAnswer(
        question=question,
        script=script,
        advice=advice,
        counted=counted,
        not_counted=refusal,
        calibration=calibration,
        not_calibrated=not_calibrated,
        starting=starting(catalogue, machines, tracer, kind, number),
        probes=number,
        cheaper=tuple(cheaper(script)),
        fires_itself=tuple(one.probe.attach for one in probes if fires_itself(one, script)),
        in_red_zone=tuple(
            one.group.attach for one in advice.probes if writes_red_zone(one.group.mechanism, here.kernel_release)
        ),
        elsewhere=tuple(called_elsewhere(probes, counted, question.target.pid)),
    )


def _check_compiles(script: Script, probes: Sequence[PlacedProbe], system: RunningSystem) -> None:
    """Raise UsageError, with bpftrace's words, for a script that it does not compile.

    bpftrace also refuses a script with a probe that is not here, of which the answer says so.
    """
    if script.language != "bpftrace" or any(probe.why for probe in probes):
        return
    if words := system.complaint(script.text):
        msg = f"the script does not compile; bpftrace says:\n{words}"
        raise UsageError(msg)


def _counted(
    question: ScriptQuestion, probes: Sequence[PlacedProbe], system: RunningSystem
) -> tuple[CountResult | None, str | None]:
    """What was counted, or why nothing could be; neither where the rates are given."""
    if question.rates_hz:
        return None, None
    asked = countables(probes, system.facts)
    if not asked:
        return None, "none of its probes can be counted here"
    number = sum(len(one.places) for one in probes)
    what = "1 probe" if number == 1 else f"{units.count(number)} probes"
    if number:
        system.tell(f"counting how often {what} would fire, for {question.seconds:g} s at most")
    try:
        return system.count(
            asked,
            question.target,
            seconds=question.seconds,
            budget_ratio=question.budget_ratio,
            stacks=any(BY_USER_STACK in probe.probe.actions for probe in probes),
        ), None
    except HostNotReady as error:
        return None, str(error)


def _calibrated(
    script: Script, probes: Sequence[PlacedProbe], tracer: str, counted: CountResult | None, system: RunningSystem
) -> tuple[HereCosts | None, str | None]:
    """What was measured here, or why nothing could be; neither where nothing is to be."""
    if system.calibrate is None:
        return None, None
    tool = known_tracers().get(script.tracer if tracer.startswith(script.tracer) else tracer)
    if tool is None:
        return None, f"{tracer} is no tool that can be started here"
    cpus = events_by_cpu(one for one in (counted.rates if counted else ()) if one.probe != CALLS)
    task = CalibrationTask(
        script=script,
        probes=list(asked(probes, system.facts.architecture, system.facts.kernel_release)),
        tool=tool,
        cpus=list(cpus) or sorted(usable_cpus()),
        frames=round((counted and counted.frames) or USUAL_FRAMES),
    )
    system.tell(f"measuring what its probes cost here, for {task.seconds:g} s at most")
    try:
        return system.calibrate(task), None
    except HostNotReady as error:
        return None, str(error)


def _threads(counted: CountResult | None, given_hz: Mapping[str, float]) -> list[Thread]:
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


def _whole(target: Target, counted: CountResult | None) -> Thread | None:
    """All threads of a command together; None of another target, and where no clock tells their CPU time."""
    if not target.command or counted is None or not counted.target_cpu_s:
        return None
    busy_ratio = counted.target_cpu_s / counted.elapsed_s
    return Thread(tid=ANY, pid=ANY, name="the command, with its children,", busy_ratio=busy_ratio)


def _calls(counted: CountResult | None) -> dict[int, float]:
    """Thread to its system calls per second."""
    rates = () if counted is None else counted.rates
    return next((dict(one.thread_hz) for one in rates if one.probe == CALLS), {})
