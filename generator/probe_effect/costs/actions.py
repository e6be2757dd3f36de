"""What actions add to a probe, what a stack adds by its depth, and costs put together of measured ones.

An action's cost is the difference of two cases on one place, with one tracer on one machine. A sample's is a line
over the frames that are walked.

Costs that nobody measured are put together in two ways, and checked where somebody did measure: several probes at once,
whose costs add; and a probe with an action that was measured on another probe. Its cost is cost(probe) + cost(action) -
cost(plain), `plain` being that other probe with an action that does nothing.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from probe_effect import units
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import NOTES, PLAIN_ACTION, CostRow, at_levels
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.submission import Number
from probe_effect.numbers.trends import StraightLine, straight_line
from probe_effect.store.suite_file import Case

SAME_ACTION = dict.fromkeys(("filter-rejects", "filter-by-pid", "filter-by-name", "filter-by-cgroup"), "filter")
"""A suite's action to the word by which it is asked for: all look at one value, and do nothing more."""

MADE_OF = {
    "histogram-of-time": ("count-by-pid", "histogram"),
    "count-by-pid-and-name": ("count-by-pid", "count-by-name"),
}
"""Actions that are made of others where nobody measured them whole. What ends a timed pair, on one probe, looks the
beginning up under a key and puts the time into a histogram. Two keys cost at most what each of them does."""


@dataclass(frozen=True, slots=True)
class Fired:
    """A case that fires, one probe with one action, and its number, a time or a count."""

    suite: str
    case: Case
    number: Number
    mechanism: str | None

    @property
    def action(self) -> str:
        """The action, in the word by which questions name it."""
        return SAME_ACTION.get(self.case.action, self.case.action)


class Sum(NamedTuple):
    """Costs added, costs taken away, and what that comes to in ns an event; `suites` are those that they are of."""

    added: tuple[Number, ...] = ()
    less: tuple[Number, ...] = ()
    cost: Estimate = Estimate(0.0, 0.0, 0.0)
    suites: frozenset[str] = frozenset()

    def plus(self, other: "Sum") -> "Sum":
        cost = estimates.total([self.cost, other.cost])
        return Sum(self.added + other.added, self.less + other.less, cost, self.suites | other.suites)

    @property
    def terms(self) -> tuple[int, int]:
        """The number of measurements in the sum, and of their suites."""
        return len(self.added) + len(self.less), len(self.suites)

    @property
    def width_ns(self) -> float:
        """The width of the interval; infinite where there is none."""
        low, high = self.cost.low, self.cost.high
        return math.inf if low is None or high is None else high - low


def _narrowest(sums: Iterable[Sum]) -> Sum | None:
    """The sum of the fewest terms, and of these the one with the narrowest interval."""
    return min(sums, key=lambda total: (total.terms, total.width_ns), default=None)


class Differences:
    """What each action costs more than each other on one probe, with one tracer on one machine."""

    def __init__(self, fired: Sequence[Fired]) -> None:
        def place(fired_case: Fired) -> tuple[object, ...]:  # cases on one place differ in their action alone
            return fired_case.suite, fired_case.case.probe, fired_case.case.functions

        places = grouped_by(fired, place)
        measured: dict[str, dict[str, list[Sum]]] = defaultdict(lambda: defaultdict(list))
        for fired_case in fired:
            for other in places[place(fired_case)]:
                if fired_case.action != other.action:
                    cost = estimates.difference(fired_case.number.known_cost, other.number.known_cost)
                    made = Sum((fired_case.number,), (other.number,), cost, frozenset({fired_case.suite}))
                    measured[fired_case.action][other.action].append(made)
        self._measured = {
            action: {other: _narrowest(sums) for other, sums in its.items()} for action, its in measured.items()
        }
        self._known: dict[tuple[str, str], Sum | None] = {}

    def of(self, action: str, other: str) -> Sum | None:
        """The narrowest measured difference of two actions, ns an event, over a third one where no place has both."""
        if action == other:
            return Sum()
        differences = self._measured.get(action, {})
        if other in differences:
            return differences[other]
        if (action, other) not in self._known:
            rest = ((more, self._measured[third].get(other)) for third, more in differences.items())
            self._known[action, other] = _narrowest(
                difference.plus(more) for difference, more in rest if difference and more
            )
        return self._known[action, other]

    def instead(self, parts: Sequence[str], action: str) -> Sum | None:
        """What the actions `parts` cost more than another one in whose place they are; None where nothing tells it."""
        whole = Sum()
        for part in parts:
            more = self.of(part, action)
            if more is None:
                return None
            whole, action = whole.plus(more), PLAIN_ACTION
        return whole

    def added(self, action: str) -> Sum | None:
        """What an action adds to a plain probe, ns an event; None where nothing tells it."""
        return self.instead(MADE_OF.get(action, (action,)), PLAIN_ACTION)


FRAMES = "frames"
"""The factor of a suite that varies the depth of the stack that a sample finds."""

WALKED = 127
"""Frames that the kernel walks at most: the default of kernel.perf_event_max_stack (PERF_MAX_STACK_DEPTH in
include/uapi/linux/perf_event.h). A user's stack and the kernel's share them."""

WATCH_PROCESSES = ("perf-record", "perf-stat")
"""The tools whose events may belong to a process, and are then stopped and started at each of its context switches."""

STOPS = "py-spy"
"""The tool that stops the program while it reads a stack, which is wall time. Its samples are in cases of the suite
`language-profilers`. Where nobody says how deep the stack is, it is as deep as in the loop of the suite `sampling`."""
STOPPED, NOT_STOPPED, USUAL_FRAMES = "02-stopped-often", "03-not-stopped", 30
READINGS = ("record-stack", "record-stack-once", "record-stack-native", "record-stack-running")


@dataclass(frozen=True, slots=True)
class SampleLaw:
    """The cost of a sample, ns, as `line` over the frames walked, and as measured at each depth.

    `sizes`: what the tool writes for a sample at each depth, bytes; None where it writes none.
    """

    line: StraightLine
    measured: Mapping[int, Estimate]
    sizes: Mapping[int, float | None]

    def at(self, frames: int) -> Estimate:
        return self.line.at(min(frames, WALKED))

    def frames(self, size_bytes: float | None) -> int | None:
        """The depth of stacks whose samples take so many bytes; None where sizes do not tell depths."""
        sizes = [size for size in self.sizes.values() if size is not None]
        if size_bytes is None or len(sizes) < len(self.sizes) or not np.all(np.diff(sizes) > 1):
            return None
        return round(float(np.interp(size_bytes, sizes, [min(frames, WALKED) for frames in self.sizes])))

    @property
    def residuals(self) -> dict[int, float]:
        """Depth to measured less fitted, over fitted, as a ratio."""
        return {frames: estimate.value / self.at(frames).value - 1 for frames, estimate in self.measured.items()}


ALL_CPUS = ("-a", "--all-cpus", "-C", "--cpu")
"""Their options that watch CPUs, whose events no switch stops."""


def may_pay_at_switches(tracer: str, options: Iterable[str] = ()) -> bool:
    """Whether the events of a tool with these options may belong to processes, which pays at each context switch."""
    return tool_of(tracer) in WATCH_PROCESSES and not any(option.split(" ")[0] in ALL_CPUS for option in options)


@once
def sample_law(evidence: Evidence, machine: str, tracer: str, case: str) -> SampleLaw | None:
    """The law of a sample's case with a tracer on a machine; None where no suite varied the depth of the stack."""
    levels = at_levels(evidence, (machine, tracer, case), lambda factor: factor.name == FRAMES)
    sound = sorted((int(level), number) for level, number in levels.items() if level.isdigit() and number.leads)
    measured = {frames: number.known_cost for frames, number in sound}
    line = straight_line([(min(frames, WALKED), cost) for frames, cost in measured.items()])
    return SampleLaw(line, measured, {frames: number.time.event_bytes for frames, number in sound}) if line else None


def in_program(evidence: Evidence, measured: Number, cost: Number) -> Estimate:
    """The cost of a sample at the depth that those of a program have by their size; that of `cost` where none tells."""
    law = sample_law(evidence, measured.submission.machine, measured.tracer, cost.case)
    frames = law.frames(measured.time.event_bytes) if law else None
    return cost.known_cost if law is None or frames is None else law.at(frames)


def stopped(evidence: Evidence, machine: str, reading: str, frames: int | None) -> CostRow | None:
    """A sample of py-spy that reads so many frames of Python; None where nobody measured two depths on the machine."""
    case = NOT_STOPPED if reading == READINGS[-1] else STOPPED
    levels = evidence.of_work.get((machine, STOPS, case), {}) if reading in READINGS else {}
    depths = sorted((int(name[7:]), number) for name, number in levels.items() if name.startswith("python-"))
    if len(depths) < 2:
        return None
    (shallow, least), (deep, most) = depths[0], depths[-1]
    frames = max(shallow, frames or USUAL_FRAMES)
    share = (min(frames, deep) - shallow) / (deep - shallow)
    cost = estimates.total([least.bounded_cost.times(1 - share), most.bounded_cost.times(share)])
    return CostRow(
        name=case,
        title=evidence.titles.get(case),
        basis="measured",
        added=(least, most),
        cost=(Estimate(cost.value) if reading.endswith("native") else cost).times(max(1.0, frames / deep)),
        is_clear=least.is_clear and most.is_clear,
        note=NOTES[reading].format(frames=units.count(frames), shallow=shallow, deep=deep),
        stops=True,
    )


def at_depth(evidence: Evidence, machine: str, tracer: str, part: CostRow, frames: int | None) -> CostRow:
    """The part of a sample at the depth that is asked for, where it is one measured cost whose law is known."""
    if frames is None or not part.is_measured or len(part.added) != 1 or part.less:
        return part
    law = sample_law(evidence, machine, tracer, part.added[0].case)
    if law is None:
        return replace(part, note=NOTES["no-depth"].format(frames=units.count(frames)))
    note = NOTES["depth"].format(frames=units.count(frames), walked=units.count(WALKED))
    return replace(part, cost=law.at(frames), note=note)


CompositionKind = Literal["several probes", "probe and action"]


class Checked(NamedTuple):
    """A combination that was measured, beside what its parts predict; both in ns an operation.

    `ratio`: measured over predicted, None where the prediction may be 0. `holds`: whether the two intervals overlap.
    """

    case: str
    tracer: str
    kind: CompositionKind
    predicted: Estimate
    measured: Estimate
    ratio: Estimate | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `count` combinations `holding` agree within the intervals; the ratios are measured over predicted."""

    count: int
    holding: int
    median_ratio: float
    least_ratio: float
    greatest_ratio: float


def composed(probe: Estimate, action: Estimate, plain: Estimate) -> Estimate:
    """The cost of `probe` with the action of `action`: cost(probe) + cost(action) - cost(plain), ns.

    The interval is rather too wide than too narrow for costs of one submission, which share their baselines.
    """
    return estimates.total([probe, estimates.difference(action, plain)])


@once
def checked(evidence: Evidence, machine: str) -> Sequence[Checked]:
    """Every combination that was measured on `machine` together with its parts, with the same tracer and intervals."""
    made = []
    for tracer, numbers in evidence.by_tracer(machine).items():
        # An operation is what a case and its parts have in common: each may make several events of it.
        costs = {
            case: number.known_cost.times(evidence.case_of[case].events_per_operation)
            for case, number in numbers.items()
            if number.leads
        }
        for case, measured in costs.items():
            for kind, predicted in _predicted(evidence.case_of[case], costs):
                ratio, holds = estimates.ratio(measured, predicted), estimates.overlap(measured, predicted)
                if holds is not None:
                    made.append(Checked(case, tracer, kind, predicted, measured, ratio, holds))
    return made


def agreement(checks: Sequence[Checked], kind: CompositionKind) -> Agreement | None:
    """What the checks of one kind say together; None where there are none."""
    of_kind = [check for check in checks if check.kind == kind]
    ratios = [check.ratio.value for check in of_kind if check.ratio is not None]
    if not ratios:
        return None
    holding = sum(check.holds for check in of_kind)
    return Agreement(len(of_kind), holding, statistics.median(ratios), min(ratios), max(ratios))


def _predicted(case: Case, costs: dict[str, Estimate]) -> Iterator[tuple[CompositionKind, Estimate]]:
    """What the parts of a combination say of it, where all were measured."""
    if case.parts and costs.keys() >= set(case.parts):
        yield "several probes", estimates.total([costs[part] for part in case.parts])
    names = case.composed
    if names and costs.keys() >= {names.probe, names.action, names.plain}:
        yield "probe and action", composed(costs[names.probe], costs[names.action], costs[names.plain])
