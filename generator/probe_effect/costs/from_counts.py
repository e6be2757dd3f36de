"""From counted instructions to time: what a probe costs on a machine that could not time it (/method/estimates/).

Instructions, breakpoints and single steps each take a time of their own on each machine. The times are fitted by least
squares of the logarithms, so that an error of a tenth weighs as much for any probe. Gauss and Newton's steps are taken
in the logarithms of the terms, which keeps them above 0. Each kind of probe is left out in turn, and its measured over
estimated times give estimates their interval.

Emulated machines run without mitigations, and measured times contain them, so an estimate spreads their cost over all
instructions. The count of an event that is printed includes the tracer's reader, which on hardware works beside the
program on another CPU, and lacks what it takes to wake the reader.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from probe_effect.costs.evidence import CostKey, Evidence
from probe_effect.costs.instructions import Array, RecordedClasses, classes_of, exceptions_of, mechanism_of, recorded
from probe_effect.costs.row import SAMPLED
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.index import once
from probe_effect.numbers.shown import release_distance
from probe_effect.numbers.submission import Number
from probe_effect.store.result_tables import Classes
from probe_effect.store.suite_file import Case

FEWEST_POINTS = 10
"""Of fewer cases three terms would be a drawing of them."""

HELD_RATIO = 0.95
"""The share of cases left out that the interval of an estimate contains, at least."""

STEPS, LONGEST_STEP, SHORTEST_STEP = 50, 1.0, 1e-9
LEAST_TERM_NS = 1e-6

CALL_INSTRUCTIONS = 20
"""As many plain instructions a return takes longer, or a call or jump to an address in a register or in memory.

A kernel guards them against Spectre by making the CPU mispredict them (retpolines, return thunks). That takes 10 to 20
cycles (https://en.wikipedia.org/wiki/Branch_predictor), in which a kernel executes about as many instructions.
"""

UNTIMED_PROBES, UNTIMED_ACTIONS = {SAMPLED, "audit"}, {"print"}
"""Counts of which no time is made: a sample is an interrupt above all, and no machine has timed auditing. Of an event
that is printed the tracer's reader is counted too, which on hardware runs beside it on another CPU.
"""


@dataclass(frozen=True, slots=True)
class EventCount:
    """What one event of a kind of probe adds: instructions, counted by `number`, and exceptions.

    `calls`: returns, and calls through a register, among the instructions. `faults`: exceptions that the action raises.
    """

    kind: str
    number: Number
    breakpoints: int
    steps: int
    calls: float = 0.0
    faults: float = 0.0

    @property
    def terms(self) -> tuple[float, float, float]:
        """How often an event spends each time of the model; a fault takes the time of a breakpoint."""
        instructions = self.number.known_cost.value + CALL_INSTRUCTIONS * self.calls
        return instructions, self.breakpoints + self.faults, self.steps

    @property
    def has_exceptions(self) -> bool:
        return self.breakpoints + self.steps > 0


class TimedCount(NamedTuple):
    """A case that has a count and a time, as a model is fitted to it."""

    counted: EventCount
    timed: Number


class Calibration(NamedTuple):
    """A case that a model was fitted to; `ratio`: its time over what the model without its kind of probe estimates."""

    kind: str
    tracer: str
    case: str
    has_exceptions: bool
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Model:
    """What instructions and exceptions cost on one machine, ns, and the cases that say so."""

    instruction_ns: float
    breakpoint_ns: float
    step_ns: float
    calibrations: tuple[Calibration, ...]

    @property
    def call_ns(self) -> float:
        """The time of a return, or of a call through a register."""
        return self.instruction_ns * (1 + CALL_INSTRUCTIONS)

    def cost_ns(self, counted: EventCount) -> float:
        return float(np.dot(counted.terms, (self.instruction_ns, self.breakpoint_ns, self.step_ns)))


class Account(NamedTuple):
    """How a count became a time: by which times of the machine, and how far cases left out lie from that.

    `ratio`: their measured over their estimated time, with the ends that an estimate takes; of so many `cases`.
    """

    counted: EventCount
    model: Model
    ratio: Estimate
    cases: int


@dataclass(frozen=True)
class Models:
    """The model of each machine that has one, and how far those left out lie from it over all machines."""

    by_machine: dict[str, Model]

    @cached_property
    def ratios(self) -> dict[str | bool, Estimate]:
        """Measured over estimated time of cases left out, by `left_out`'s keys; without those of too few cases."""
        return {key: _held(ratios) for key, ratios in self.left_out.items() if len(ratios) >= FEWEST_POINTS}

    def account(self, machine: str, counted: EventCount) -> Account | None:
        """How a count becomes a time on a machine; None where it has no model."""
        key = counted.kind if counted.kind in self.ratios else counted.has_exceptions
        model, ratio = self.by_machine.get(machine), self.ratios.get(key)
        if model is None or ratio is None:
            return None
        return Account(counted, model, ratio, len(self.left_out[key]))

    def cost(self, machine: str, counted: EventCount) -> Estimate | None:
        """What an event costs on a machine, ns, with the interval of those left out; None without a model."""
        account = self.account(machine, counted)
        return account and _reaching(account.ratio).times(account.model.cost_ns(counted))

    def held(self, kind: str, *, has_exceptions: bool) -> Estimate | None:
        """An estimate of a kind of probe with its interval, over its value; None where too few were left out."""
        ratio = self.ratios.get(kind) or self.ratios.get(has_exceptions)
        return ratio and _reaching(ratio)

    @cached_property
    def left_out(self) -> dict[str | bool, list[float]]:
        """Measured over estimated time of every case that was left out: by kind of probe, and by exceptions or none."""
        ratios: dict[str | bool, list[float]] = defaultdict(list)
        for calibration in (calibration for model in self.by_machine.values() for calibration in model.calibrations):
            if calibration.ratio is not None:
                ratios[calibration.kind].append(calibration.ratio)
                ratios[calibration.has_exceptions].append(calibration.ratio)
        return ratios

    def calibrated(self, machine: str, tracer: str) -> list[CostKey]:
        """Which costs say how long instructions take on a machine: those of a tracer, or else all."""
        model = self.by_machine.get(machine)
        every = [(machine, calibration.tracer, calibration.case) for calibration in model.calibrations] if model else []
        return [key for key in every if key[1] == tracer] or every


def _reaching(ratio: Estimate) -> Estimate:
    """An estimate of 1 with the interval that ratios of cases left out give it."""
    return Estimate(1.0, min(1.0, ratio.low or 0.0), max(1.0, ratio.high or 0.0))


@once
def models(evidence: Evidence) -> Models:
    """The models of all machines with enough cases that have a count and a time, kept from run to run."""
    by_machine = {}
    for machine, (instruction_ns, breakpoint_ns, step_ns), fitted in _kept(evidence)[1]:
        calibrations = tuple(map(Calibration._make, fitted))
        by_machine[machine] = Model(instruction_ns, breakpoint_ns, step_ns, calibrations)
    return Models(by_machine)


@once
def _kept(evidence: Evidence) -> tuple[list[RecordedClasses], list[Any]]:
    """What was recorded of counts, and what was fitted with it."""
    paths, fitted = json.loads(evidence.keep("costs", lambda: _fitted_to(evidence)))
    return list(map(RecordedClasses._make, paths)), fitted


def judged(evidence: Evidence, machine: str) -> list[Calibration]:
    """The calibrations of a machine, each estimated from its other kinds of probe; none where they make no model."""
    points = list(calibrations(evidence, machine, _kept(evidence)[0]))
    return _model(points)[1] if len(points) >= FEWEST_POINTS else []


def _fitted_to(evidence: Evidence) -> bytes:
    """What was recorded, and each machine that has a model, with its times and its calibrations, as JSON."""
    records = list(recorded(evidence))
    every = {machine: list(calibrations(evidence, machine, records)) for machine in evidence.machines}
    made = [(machine, *_model(points)) for machine, points in every.items() if len(points) >= FEWEST_POINTS]
    return json.dumps((records, made)).encode()


def counted(evidence: Evidence, machine: str, tracer: str, case: Case) -> Number | None:
    """The count of a case with a tracer, or another version of it, on the kernel nearest to a machine's.

    Only one of the machine's architecture, for an instruction of another is not the same work. None for a machine
    without a cost, and for a probe whose count can become no time.
    """
    key = next(iter(evidence.keys_of(machine)), None)
    if key is None or case.probe in UNTIMED_PROBES or case.action in UNTIMED_ACTIONS:
        return None
    here = evidence.costs[key].submission
    return _nearest_count(evidence, case.id, tracer, here.architecture, here.document.system.kernel_release)


@once
def _nearest_count(evidence: Evidence, case: str, tracer: str, architecture: str, release: str) -> Number | None:
    """The best count: of the tracer rather than another version of it, then on the nearest kernel, then with most CPUs.

    Where a workload has CPU 0, as with one CPU, the kernel may do more there.
    """

    def order(number: Number) -> tuple[object, ...]:
        document = number.submission.document
        distance = release_distance(release, document.system.kernel_release)
        return number.tracer != tracer, distance, -document.machine.threads, number.id

    tool = names.tool_of(tracer)
    counts = (number for number in evidence.counts_of(case) if number.submission.architecture == architecture)
    return min((number for number in counts if names.tool_of(number.tracer) == tool), key=order, default=None)


@once
def counted_as(evidence: Evidence, case: Case, number: Number, mechanism: str | None = None) -> EventCount:
    """A count with the classes of its instructions, and the exceptions of its probe or of one made by `mechanism`."""
    return _event(_kept(evidence)[0], case, number, mechanism)


def _event(records: Sequence[RecordedClasses], case: Case, number: Number, mechanism: str | None = None) -> EventCount:
    classes = Classes(*classes_of(records, case, number))
    calls = classes.indirect + classes.returns
    return EventCount(case.probe, number, *exceptions_of(case, number, mechanism), calls=calls, faults=classes.traps)


def calibrations(evidence: Evidence, machine: str, records: Sequence[RecordedClasses] = ()) -> Iterator[TimedCount]:
    """Each clear cost with an interval that was counted too, where the probe was made the same way."""
    for tracer, costs in evidence.by_tracer(machine).items():
        for case_id, timed in costs.items():
            case = evidence.case_of[case_id]
            is_sure = timed.is_clear and timed.leads and timed.known_cost.low is not None
            if case.parts or case.counted_by == "nothing" or not is_sure:
                continue
            count = counted(evidence, machine, tracer, case)
            if count is not None and count.known_cost.value > 0 and _is_same_work(case, count, timed):
                yield TimedCount(_event(records, case, count), timed)


def _is_same_work(case: Case, count: Number, timed: Number) -> bool:
    """Whether a count and a time are of probes that were made the same way, and did the same work.

    What the CPU changes: /findings/on-one-cpu-bpftraces-tracepoints-cost-twice-as-much/.
    """
    on_first_cpu = {number.submission.document.run.workload_cpu == 0 for number in (count, timed)}
    differs_by_cpu = names.tool_of(timed.tracer) in case.sampled_on_cpu_0
    return mechanism_of(case, count) == mechanism_of(case, timed) and not (differs_by_cpu and len(on_first_cpu) > 1)


def _model(points: Sequence[TimedCount]) -> tuple[list[float], list[Calibration]]:
    """The times fitted to all points, and each point with its ratio where it was left out with its kind."""
    kinds = sorted({point.counted.kind for point in points})
    terms = np.array([point.counted.terms for point in points], dtype=float)
    measured = np.array([point.timed.known_cost.value for point in points])
    of_kind = {kind: np.array([point.counted.kind == kind for point in points]) for kind in kinds}
    without = {kind: fitted(terms[~own], measured[~own]) for kind, own in of_kind.items()}
    judged = []
    for counted, timed in points:
        own, times = np.array(counted.terms), without[counted.kind]
        # The others may tell nothing of an exception that this one has.
        is_told = not np.any((own > 0) & (times <= LEAST_TERM_NS))
        ratio = timed.known_cost.value / float(own @ times) if is_told else None
        judged.append(Calibration(counted.kind, timed.tracer, timed.case, counted.has_exceptions, ratio))
    return list(map(float, fitted(terms, measured))), judged


def fitted(terms: Array, measured: Array) -> Array:
    """ns for each of the terms (`EventCount.terms`) of points measured in ns; the least where no point has it."""
    # The start: least squares of relative errors, which is linear in the terms.
    times = np.linalg.lstsq(terms / measured[:, None], np.ones(len(measured)), rcond=None)[0]
    for _ in range(STEPS):
        times = np.maximum(times, LEAST_TERM_NS)
        estimated = terms @ times
        slopes = terms * times / estimated[:, None]
        step = np.linalg.lstsq(slopes, np.log(measured / estimated), rcond=None)[0]
        times = times * np.exp(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
        if np.all(np.abs(step) < SHORTEST_STEP):
            break
    return np.where(terms.any(axis=0), np.maximum(times, LEAST_TERM_NS), LEAST_TERM_NS)


def _held(ratios: Sequence[float]) -> Estimate:
    """The median of the ratios, and ends between which `HELD_RATIO` of them are."""
    tail = (1 - HELD_RATIO) / 2
    low, high = np.quantile(ratios, tail, method="lower"), np.quantile(ratios, 1 - tail, method="higher")
    return Estimate(float(np.median(ratios)), float(low), float(high))
