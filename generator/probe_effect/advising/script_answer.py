"""May a script run here? Read it, find its probes on this system, count how often they fire, and answer."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from probe_effect import units
from probe_effect.advising import calibrate, here
from probe_effect.advising.calibrate import Calibrate, CalibrationTask, FindPlaces, PlacedProbe
from probe_effect.advising.here import CALLS
from probe_effect.answer.advice import Advice, Thread, advise
from probe_effect.answer.prediction import WORDS, Starting, starting
from probe_effect.answer.question import ANY_THREAD, tool_script, tracer_of, what_is_known
from probe_effect.costs.evidence import evidence_of, machines_for
from probe_effect.costs.instructions import writes_red_zone
from probe_effect.costs.map_memory import TracerMemory, by_law
from probe_effect.costs.table import STARTS, HereCost, HereCosts, ProbeGroup
from probe_effect.host import usable_cpus
from probe_effect.live.attachment import IN_FILES
from probe_effect.live.count import Countable, CountResult, Target, count
from probe_effect.live.kernel_calls import possible_cpus
from probe_effect.live.places import places
from probe_effect.model import Estimate, HostNotReady, UsageError, series_of, unknown
from probe_effect.numbers.catalogue import read_numbers, read_packages, read_sources
from probe_effect.numbers.shown import Facts
from probe_effect.scripts.clauses import CheaperScript, cheaper
from probe_effect.scripts.commands import command_name, watched_by_tool
from probe_effect.scripts.form import BY_USER_STACK, shortened
from probe_effect.scripts.script import Script, read_script
from probe_effect.store.places import DataFolder
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.tool import known_tracer

USUAL_S, COMMAND_S = 2.0, 60.0
"""How long is counted where nobody says: of a command until it ends, but no longer than the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSystem:
    """What this machine is, where probes match on it, how often they fire, and what bpftrace says of a script.

    `calibrate` measures what the probes of a task cost here, on the CPUs on which they fire; None where nothing is to
    be measured. `start_cost` measures what a probe in a file adds to each start of a program, ns. `tell` is told, in a
    sentence, what takes long.
    """

    facts: Facts
    places: FindPlaces = places
    count: Callable[..., CountResult] = count
    complaint: Callable[[str], str | None] = here.complaint
    calibrate: Calibrate | None = None
    start_cost: Callable[[Path], Estimate | None] = here.start_cost
    tell: Callable[[str], None] = lambda _: None
    bpftrace_version: Callable[[], str | None] = Bpftrace().version


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
    memory: TracerMemory
    probes: int
    cheaper: tuple[CheaperScript, ...]
    fires_itself: tuple[str, ...]
    in_red_zone: tuple[str, ...]
    elsewhere: tuple[tuple[str, str], ...]
    """Probes on functions that never fired, and the same function in another file of the process."""
    elsewhere_hz: Mapping[str, float]
    """Attach points that fire in other processes than the one that was named, to how often they do there, events/s."""


def answer_script(question: ScriptQuestion, data: DataFolder, system: RunningSystem) -> ScriptAnswer:
    """Whether a script may run on a system, by the costs in `data`, with all that the answer is from.

    Raises: UsageError for a script that cannot be read or compiled, and for names that the data does not have.
    """
    catalogue = read_numbers(data)
    script = tool_script(question.text, read_packages(data))
    if script is None and (sentence := what_is_known(catalogue, command_name(question.text))):
        raise UsageError(sentence)
    script = script or read_script(question.text)
    costs, facts = evidence_of(catalogue, partial(read_sources, data)), system.facts
    tracer = tracer_of(costs, script, question.tracer)
    question = _aimed(question, script, system)
    probes = calibrate.placed(script, question.target.pid, system.places)
    _check_compiles(script, probes, system)
    if question.machine is not None:
        unknown([question.machine], costs.machines, "machine")
    machines = [likeness.machine for likeness in machines_for(costs, facts, question.machine)]
    counted, refusal = _counted(question, probes, system)
    calibration, not_calibrated = None, None
    if question.machine is None:
        calibration, not_calibrated = _calibrated(script, probes, tracer, counted, system)
    events = [
        replace(group, frames=question.frames) for group in here.groups(probes, counted, question.rates_hz, facts)
    ]
    rates = () if counted is None else counted.rates
    measured_here, started = calibration, None if counted is None else here.starts(counted)
    if started is not None and (added := _start_added(probes, started, system)) is not None:
        events.append(started)
        own = HereCosts(costs={}, seconds=0.0) if calibration is None else calibration
        measured_here = replace(own, costs={**own.costs, (STARTS, None): HereCost(by_cpu={0: added}, note=START_NOTE)})
    advice = advise(
        costs,
        facts,
        tracer,
        events,
        _threads(counted, question.rates_hz),
        calls_hz=next((dict(rate.thread_hz) for rate in rates if rate.probe == CALLS), {}),
        whole=_whole(question.target, counted),
        budget_ratio=question.budget_ratio,
        here=measured_here,
        machine=question.machine,
        options=script.options,
    )
    if counted is not None:
        advice = advice.on_cpus(os.cpu_count() or 1)
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
        memory=(calibration and calibration.memory) or _memory(question, tracer, system),
        probes=number,
        cheaper=tuple(cheaper(script)),
        fires_itself=tuple(
            placed_probe.probe.attach for placed_probe in probes if here.fires_itself(placed_probe, script)
        ),
        in_red_zone=tuple(
            advised_probe.group.attach
            for advised_probe in advice.probes
            if writes_red_zone(advised_probe.group.mechanism, facts.kernel_release)
        ),
        elsewhere=tuple(here.called_elsewhere(probes, counted, question.target.pid)),
        elsewhere_hz=_elsewhere_hz(probes, counted, question.target),
    )


OWN_PROCESS_SINCE = "0.20"
"""bpftrace whose `-p` sets user probes in that process alone (`bpftrace-pid-user-probes` of the references)."""


def _aimed(question: ScriptQuestion, script: Script, system: RunningSystem) -> ScriptQuestion:
    """The question, of whom the tool's own options have it watch, where the asker names nobody.

    Raises: UsageError for a command behind the tool, which is not started here, and for a process that is no number.
    """
    target = question.target
    version = system.bpftrace_version() if script.language == "bpftrace" else None
    is_everywhere = version is not None and (0, 0) < series_of(version) < series_of(OWN_PROCESS_SINCE)
    if target.pid is not None:
        return replace(question, target=replace(target, everywhere=is_everywhere))
    if not target.is_machine or question.rates_hz or script.language == "tool":
        return question
    watched = watched_by_tool(question.text)
    if watched.command is not None:
        msg = (
            f"this tracer watches only the command behind it, `{shortened(watched.command)}`, which is not started "
            "here: give the command behind --, so that it is run and counted, or --rate"
        )
        raise UsageError(msg)
    if watched.pid is None:
        return question
    if not watched.pid.isascii() or not watched.pid.isdigit():
        msg = f"the tracer is to watch process “{shortened(watched.pid)}”: expected one id, in digits, or --pid"
        raise UsageError(msg)
    return replace(question, target=Target(pid=int(watched.pid), follows=watched.follows, everywhere=is_everywhere))


def _elsewhere_hz(probes: Sequence[PlacedProbe], counted: CountResult | None, target: Target) -> dict[str, float]:
    """Attach point of each user probe that is set in all processes, to how often it fires in others, events/s."""
    if counted is None or not target.everywhere:
        return {}
    rates = {rate.probe: rate.elsewhere_events / rate.seconds for rate in counted.rates if rate.seconds}
    return {
        probe.probe.attach: sum(rates.get(probe.counted_name(probe_site), 0.0) for probe_site in probe.places)
        for probe in probes
        if probe.probe.kind in IN_FILES
    }


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
    if question.rates_hz:
        return None, None
    wanted = here.countables(probes, system.facts)
    if not wanted:
        return None, "none of its probes can be counted here"
    if question.target.pid is None and question.machine is None and system.calibrate and _file_of_all(probes):
        wanted.append(Countable(probe=STARTS, kind="tracepoint", name="sched:sched_process_exec"))
    number = sum(len(placed_probe.places) for placed_probe in probes)
    what = "1 probe" if number == 1 else f"{units.count(number)} probes"
    if number:
        system.tell(f"counting how often {what} would fire, for {question.seconds:g} s at most")
    try:
        return system.count(
            wanted,
            question.target,
            seconds=question.seconds,
            budget_ratio=question.budget_ratio,
            stacks=any(BY_USER_STACK in probe.probe.actions for probe in probes),
        ), None
    except HostNotReady as error:
        return None, str(error)


LEAST_STARTS_HZ = 5.0
"""Fewer starts of programs a second cost too little to be measured."""

START_NOTE = "A user probe makes each start of a program take longer, though no event fires for it."


def _file_of_all(probes: Sequence[PlacedProbe]) -> Path | None:
    return here.mapped_by_all(
        probe_site.path for probe in probes if probe.probe.kind in IN_FILES for probe_site in probe.places
    )


def _start_added(probes: Sequence[PlacedProbe], started: ProbeGroup, system: RunningSystem) -> Estimate | None:
    """What the probes add to each start of a program, ns; None where that matters to nothing, or cannot be measured."""
    path = _file_of_all(probes)
    if path is None or (started.rate_hz or 0.0) < LEAST_STARTS_HZ:
        return None
    system.tell(f"measuring what a probe in {path.name} adds to each start of a program")
    try:
        return system.start_cost(path)
    except (OSError, HostNotReady) as error:
        system.tell(f"that could not be measured, and is not in the answer: {error}")
        return None


def _calibrated(
    script: Script, probes: Sequence[PlacedProbe], tracer: str, counted: CountResult | None, system: RunningSystem
) -> tuple[HereCosts | None, str | None]:
    if system.calibrate is None:
        return None, None
    tool = known_tracer(script.tracer if tracer.startswith(script.tracer) else tracer)
    if tool is None:
        return None, f"{tracer} is no tool that can be started here"
    if tool.tool != "bpftrace" or script.language != "bpftrace":
        return None, WORDS["other-language"].format(tracer=script.tracer)
    cpus = here.events_by_cpu(rate for rate in (counted.rates if counted else ()) if rate.probe not in {CALLS, STARTS})
    task = CalibrationTask(
        script=script,
        probes=list(calibrate.asked(probes, system.facts.architecture, system.facts.kernel_release)),
        tool=tool,
        cpus=list(cpus) or sorted(usable_cpus()),
        frames=round((counted and counted.frames) or calibrate.USUAL_FRAMES),
    )
    system.tell(f"measuring what its probes cost here, for {task.seconds:g} s at most")
    try:
        return system.calibrate(task), None
    except HostNotReady as error:
        return None, str(error)


def _memory(question: ScriptQuestion, tracer: str, system: RunningSystem) -> TracerMemory:
    """What the tracer would take, by its defaults and our environment."""
    command = " ".join([question.text, *os.environ])
    version = system.bpftrace_version() if tracer == "bpftrace" else None
    cpus = possible_cpus() if tracer == "lttng-ust" else os.sysconf("SC_NPROCESSORS_ONLN")
    return by_law(tracer, command, version, cpus, os.sysconf("SC_PAGE_SIZE"))


def _threads(counted: CountResult | None, given_hz: Mapping[str, float]) -> list[Thread]:
    """The threads that were watched; where rates are given, one that is busy all the time stands for any."""
    if given_hz:
        return [Thread(tid=ANY_THREAD, pid=ANY_THREAD, name="a busy thread", busy_ratio=1.0)]
    if counted is None:
        return []
    return [
        Thread(tid=thread.tid, pid=thread.pid, name=thread.comm, busy_ratio=thread.cpu_s / counted.threads_s)
        for thread in counted.threads
        if thread.pid != os.getpid()
    ]


def _whole(target: Target, counted: CountResult | None) -> Thread | None:
    """All threads of a command together; None of another target, and where no clock tells their CPU time."""
    if not target.command or counted is None or not counted.busy_ratio:
        return None
    return Thread(tid=ANY_THREAD, pid=ANY_THREAD, name="the command, with its children,", busy_ratio=counted.busy_ratio)
