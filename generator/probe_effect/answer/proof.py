"""Does the number hold? What tracing does to real programs, beside three predictions: rate x cost, from the text of
the script, and from its cost in a loop of ours on the same machine.

The rate of a program's events is known from the run itself: those that the tracer saw, over the untraced time of a
round. The cost of an event is from another suite, measured in a tight loop on the same machine with the same tracer.
That of a probe on system calls comes with as many of them as in the program. A script over a program at work is
predicted from its text, read as `probe-effect advise` reads it, or from its time in a loop (`calibration.csv`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

import numpy as np

from probe_effect.costs.actions import in_program
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.instructions import mechanism_of
from probe_effect.costs.row import SAMPLED, WIDEST_RATIO, CostRow, EntryPath, RatePoint, entry_path, point
from probe_effect.costs.table import ProbeGroup, event, of_machine, with_calls
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.numbers.estimates import INTERVAL_WIDTHS, MeasuredRatio
from probe_effect.numbers.index import once
from probe_effect.numbers.submission import Number
from probe_effect.numbers.trends import Correlation, kendall
from probe_effect.records import known_tool
from probe_effect.scripts.form import NO_EVENTS, PRINT
from probe_effect.scripts.script import Script, ScriptProbe, read_script
from probe_effect.store.result_tables import ProbeCalibration
from probe_effect.store.suite_file import Case, Suite, script_path

VISIBLE_RATIO = 0.01
"""A slowdown from which on it is asked whether the prediction is near: below, noise is as large as the thing itself."""

NEAR_RATIO = 0.25
"""How far a measured slowdown may lie from the predicted one, as a share of the prediction, and be called near."""

LEAST_RATE_HZ = 10.0
"""A program at work makes more events than that; a tracer that saw fewer did not see the program."""


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """One program under one probe: what was measured, and both slowdowns.

    `point` has what the model predicts, `plain` what rate x cost alone would have.
    """

    measured: Number
    point: RatePoint
    plain: RatePoint

    @property
    def ratio(self) -> float | None:
        """Measured over predicted slowdown; None where nothing is predicted."""
        return self.point.measured.value / self.point.predicted.value if self.point.predicted.value > 0 else None

    @property
    def is_visible(self) -> bool:
        """Whether the measured slowdown is no noise, and large enough to ask how near the prediction is."""
        return self.measured.is_clear and self.point.measured.value > VISIBLE_RATIO

    @property
    def is_near(self) -> bool:
        return self.ratio is not None and abs(self.ratio - 1) <= NEAR_RATIO

    @property
    def measured_ratio(self) -> MeasuredRatio | None:
        """Measured over predicted slowdown with its standard error, clear or not; None where nothing is predicted.

        The error has that of the prediction in it, and no slowdown of a program is known to less than 1 %.
        """
        if self.ratio is None:
            return None
        predicted = self.point.predicted.value
        own, of_cost = _width(self.point.measured), _width(self.point.predicted)
        return MeasuredRatio(self.ratio, max(VISIBLE_RATIO, (own**2 + of_cost**2) ** 0.5 / INTERVAL_WIDTHS) / predicted)

    @property
    def is_telling(self) -> bool:
        """Whether the measured slowdown is known to within the predicted one on either side, whatever it is."""
        return max(VISIBLE_RATIO, _width(self.point.measured) / 2) <= self.point.predicted.value


@dataclass(frozen=True, slots=True)
class Agreed:
    """What some pairs come to: how many, how many are visible, and of these the share that is near.

    `middle_ratio` is the median of measured over predicted slowdown of the visible ones, and `meet_ratio` the share of
    them whose intervals overlap; None of nothing.
    """

    pairs: int
    visible: int
    near_ratio: float | None
    middle_ratio: float | None
    meet_ratio: float | None


def in_programs(evidence: Evidence, case: Case) -> Iterator[Number]:
    """A case of a suite of programs in each of them, machine by machine and tracer by tracer."""
    for by_tracer in evidence.levels_of(case.id).values():
        for levels in by_tracer.values():
            yield from levels.values()


def pair_of(measured: Number, predicted: Estimate, plain: Estimate) -> ProgramPair | None:
    """The pair, by two costs of an event; None where a slowdown has no interval, or the tracer missed the program."""
    by_model, by_cost = point(measured, predicted), point(measured, plain)
    if by_model is None or by_cost is None or by_cost.rate_hz < LEAST_RATE_HZ:
        return None
    return ProgramPair(measured, by_model, by_cost)


def of_like(evidence: Evidence, suite: Suite, case: Case, measured: Number) -> tuple[Estimate, Estimate] | None:
    """What an event should cost in a program by the case that it is like, ns, and in the loop; None without the cost.

    A sample is taken by its depth; of probes on system calls, all calls pay.
    """
    cost = evidence.costs.get((measured.submission.machine, measured.tracer, case.like or ""))
    if cost is None or cost.has_losses:
        return None
    if case.probe == SAMPLED:
        return in_program(evidence, measured, cost), cost.known_cost
    path = entry_path(evidence, (measured.submission.machine, measured.tracer, cost.case))
    calls = calls_per_event(evidence, suite, measured) if case.silent else 0.0
    moved = cost.known_cost if path is None or calls is None else path.moved(cost.known_cost, calls)
    return moved, cost.known_cost


def calls_per_event(evidence: Evidence, suite: Suite, measured: Number) -> float | None:
    """System calls that a program makes for each of its events; None where nobody counted them."""
    calls = suite.workload.system_calls
    by_tracer = evidence.levels_of(calls).get(measured.submission.machine, {}) if isinstance(calls, str) else {}
    number = next((levels[level] for levels in by_tracer.values() if (level := measured.level or "") in levels), None)
    if number is None or number.baseline is None or measured.baseline is None or not number.baseline.value:
        return None
    return measured.baseline.value / number.baseline.value  # both are the untraced time of a round, over its events


def verdict(some: Sequence[ProgramPair]) -> Agreed:
    visible = [pair for pair in some if pair.is_visible]
    ratios = [pair.ratio for pair in visible if pair.ratio is not None]
    return Agreed(
        pairs=len(some),
        visible=len(visible),
        near_ratio=share(pair.is_near for pair in visible),
        middle_ratio=median(ratios) if ratios else None,
        meet_ratio=share(pair.point.holds for pair in visible),
    )


def share(answers: Iterable[bool]) -> float | None:
    all_answers = list(answers)
    return sum(all_answers) / len(all_answers) if all_answers else None


def _width(estimate: Estimate) -> float:
    return 0.0 if estimate.low is None or estimate.high is None else estimate.high - estimate.low


PROGRAMMED = ("bpftrace", "d")
"""The languages of programs; every other is one of command lines, of which a suite has the words after the command."""


def order(some: Sequence[ProgramPair]) -> Correlation | None:
    """How well the order of the predicted slowdowns is that of the measured ones (Kendall's tau); None of too few.

    Only pairs that are distinguishable from 0: the order of the others is noise.
    """
    visible = [pair.point for pair in some if pair.is_visible]
    return kendall(
        np.array([rate_point.predicted.value for rate_point in visible]),
        np.array([rate_point.measured.value for rate_point in visible]),
    )


def of_script(evidence: Evidence, suite: Suite, case: Case, measured: Number) -> tuple[Estimate, Estimate] | None:
    """What one event costs in a program, ns, and without its other system calls, by its script or command line alone.

    None where the machine's costs with that tracer do not tell it.
    """
    script, machine = script_of(evidence, suite, measured), measured.submission.machine
    parts = _parts(evidence, machine, script, case, measured) if script else []
    if not parts or not all(part.leads for part in parts):
        return None
    return _of_one_event(with_calls(parts, calls_per_event(evidence, suite, measured))), _of_one_event(parts)


def event_probes(script: Script, case: Case) -> tuple[list[ScriptProbe], float]:
    """The probes that events fire, and how often each fires for one event that the script counts.

    Of a pair that times something both ends fire for each event; other probes share the events between them. Where
    lines are counted, only probes that print share them, and each other probe is taken to fire once for each line.
    """
    probes = [probe for probe in script.probes if probe.kind not in NO_EVENTS]
    counting = [probe for probe in probes if case.counted_by != "lines" or PRINT in probe.actions]
    return probes, 1.0 if any(probe.timing for probe in probes) else 1 / max(1, len(counting))


def script_of(evidence: Evidence, suite: Suite, measured: Number) -> Script | None:
    """The script, or the command line, that ran over a program; None of a tool of which none is here or can be read."""
    tool, folder = known_tool(measured.tracer), evidence.folders.get(suite.id)
    if folder is None or tool is None or tool.language is None:
        return None
    path = script_path(folder, measured.case, tool.name, level=measured.level)
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    if tool.language in PROGRAMMED:
        return read_script(text)
    words = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    cpu = " 0" if words.endswith("-C") else ""  # as the process, it is named when the tool is started
    return read_script(f"{tool.commands[0]} -p 1 {words}{cpu}")


def _parts(evidence: Evidence, machine: str, script: Script, case: Case, measured: Number) -> list[CostRow]:
    probes, share = event_probes(script, case)
    is_timed = any(probe.timing for probe in probes)
    table, mechanism = of_machine(evidence, machine, measured.tracer), mechanism_of(case, measured)
    parts = []
    for probe in probes:
        has_filter = probe.has_filter and not is_timed
        group = replace(ProbeGroup.of(probe), mechanism=mechanism, has_filter=has_filter, rate_hz=share)
        if (part := event(table, group)) is None:
            return []
        parts.append(part)
    return parts


def _of_one_event(parts: Sequence[CostRow]) -> Estimate:
    return estimates.total([part.cost.times(part.rate_hz) for part in parts])


FEWEST_TIMES = 10
"""Of fewer, how far costs of other machines are says too little."""

ON_CALL = re.compile(r"tracepoint:(?:raw_)?syscalls:sys_(?:enter|exit)([\w*]*)")
"""Attach points on system calls, with the name of the call."""


@once
def calibrated_pairs(evidence: Evidence) -> Sequence[ProgramPair]:
    """Every script over a program that was timed in a loop before its runs."""
    return [
        pair
        for suite, case in evidence.cases
        if suite.has_programs
        for number in in_programs(evidence, case)
        if (pair := _calibrated_pair(evidence, suite, case, number)) is not None
    ]


def times_of_others(evidence: Evidence) -> Estimate | None:
    """How far slowdowns by costs timed beside the programs are from those by costs of other machines, as a ratio.

    The median of all scripts, programs and other machines, and ends between which four in five are; None of too few. A
    prediction so wide that `advise` would pass over its cost is no answer, and does not count.
    """
    times = [times for pair in calibrated_pairs(evidence) for times in _times(evidence, pair)]
    if len(times) < FEWEST_TIMES:
        return None
    tenths = quantiles(times, n=10, method="inclusive")
    return Estimate(median(times), tenths[0], tenths[-1])


def _times(evidence: Evidence, pair: ProgramPair) -> Iterator[float]:
    measured, own = pair.measured, pair.measured.submission.machine
    suite, case = evidence.of[measured.case]
    script = script_of(evidence, suite, measured)
    for machine in evidence.machines:
        parts = _parts(evidence, machine, script, case, measured) if script and machine != own else []
        other = point(measured, _of_one_event(parts)) if parts else None
        if other and (other.predicted.high or 0.0) < WIDEST_RATIO * (other.predicted.low or 0.0):
            yield pair.plain.predicted.value / other.predicted.value


def _calibrated_pair(evidence: Evidence, suite: Suite, case: Case, measured: Number) -> ProgramPair | None:
    rows = measured.submission.calibration
    own = rows.get(measured.key) or rows.get(measured.key._replace(level=None)) or ()
    script = script_of(evidence, suite, measured) if own else None
    if script is None:
        return None
    probes, share = event_probes(script, case)
    costs = [cost for probe in probes if (cost := _cost(probe, own)) is not None]
    if not costs or len(costs) < len(probes):
        return None
    plain = estimates.total([cost.times(share) for cost in costs])
    call, calls = own[0].call, calls_per_event(evidence, suite, measured)
    if call is None or calls is None:
        return pair_of(measured, plain, plain)
    # The costs of all probes include a system call each, but both ends of one call have it together.
    own_calls = len({on_call[1] for probe in probes if (on_call := ON_CALL.fullmatch(probe.attach))})
    return pair_of(measured, EntryPath(call, measured, own_calls * share).moved(plain, calls), plain)


def _cost(probe: ScriptProbe, rows: Sequence[ProbeCalibration]) -> Estimate | None:
    """What one event costs, ns; of a probe that fires in several ways, what stands for any of them."""
    costs = [row.cost for row in rows if row.probe == probe.attach and row.cost is not None]
    return estimates.spanning(costs) if costs else None
