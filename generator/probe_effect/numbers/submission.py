"""A submission and its numbers, with their grades: what one run of a suite on one machine says, of times or counts.

The line from a cost to its slowdown stops holding where threads contend, where the tracer competes for the CPU, where
events are dropped, and where caches are cold; /method/ says more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from probe_effect import units
from probe_effect.model import BadData, Estimate, Key, Metric, Status
from probe_effect.numbers.rows import BlockTable, Tail
from probe_effect.records import beside
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.result_tables import ProbeCalibration, read_calibration
from probe_effect.units import NS_PER_SECOND

GradeFacts = dict[str, float | None]
"""What rules look at: a count, a ratio, or 1 for yes and 0 for no; None is not known."""

BEST, WORST = "A", "D"


@dataclass(frozen=True, slots=True)
class GradeRule:
    """What has a `fact` below `below`, or above `above`, is graded no better than `cap`; `{}` is the limit."""

    cap: str
    fact: str
    reason: str
    below: float | None = None
    above: float | None = None

    def applies(self, facts: Mapping[str, float | None]) -> bool:
        """Whether the rule applies to these facts; never to one that is not known."""
        value = facts.get(self.fact)
        if value is None:
            return False
        return (self.below is not None and value < self.below) or (self.above is not None and value > self.above)

    @property
    def words(self) -> str:
        limit = self.below or self.above or 0.0
        is_share = self.fact.endswith("_ratio")
        return self.reason.format(f"{units.trimmed(limit * 100)}{units.GAP}%" if is_share else units.count(limit))


RULES = beside(__file__, "grades")
OF_SUBMISSION, OF_CASE = (tuple(GradeRule(**rule) for rule in RULES[name]) for name in ("submission", "case"))
"""Worst first. A case is graded no better than its submission."""


def grade(rules: Sequence[GradeRule], facts: Mapping[str, float | None]) -> tuple[str, tuple[str, ...]]:
    """(A to D, the reasons that kept it from a better one); of two rules on one fact the worse one speaks."""
    applying: dict[str, GradeRule] = {}
    for rule in rules:
        if rule.applies(facts):
            applying.setdefault(rule.fact, rule)
    return worst(rule.cap for rule in applying.values()), tuple(rule.words for rule in applying.values())


def worst(grades: Iterable[str]) -> str:
    """The worst of some grades; A without any."""
    return max(grades, default=BEST)


def remedies(reasons: Iterable[str]) -> list[tuple[str, str]]:
    """Each reason with what would better it, as the grades of submissions give them."""
    by_words = {rule.words: RULES["remedies"].get(rule.fact) for rule in OF_SUBMISSION}
    return [(reason, by_words.get(reason) or "nothing on this machine") for reason in reasons]


THRESHOLDS = {1: "measurable", 5: "significant", 30: "expensive"}
"""Per cent of slowdown to its word, after the talk of 2023 (source `piotrowski-2023-tracing-overhead`)."""


def slowdown_at(cost: Estimate, rate_hz: float) -> Estimate:
    """Slowdown of a CPU-bound thread by a cost in ns per event, as a ratio; `rate_hz` is of untraced running time."""
    return cost.times(rate_hz / NS_PER_SECOND)


def threshold(cost: Estimate, percent: float, *, stops: bool = False) -> Estimate | None:
    """The rate in events/s at which slowdown reaches `percent`; None for a cost that is not above 0.

    A cost whose interval touches 0 has no upper end. `stops`: as `ThreadLoad` has it.
    """
    if cost.value <= 0:
        return None
    budget = percent / (100 + percent * stops) * NS_PER_SECOND
    return Estimate(
        budget / cost.value,
        budget / cost.high if cost.high is not None and cost.high > 0 else None,
        budget / cost.low if cost.low is not None and cost.low > 0 else None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Submission:
    """One suite, run once on one machine. Two submissions are the same only if they are one object.

    `started`: ISO 8601, UTC. `architecture`: by its one name, `x86_64` or `aarch64`. `microarchitecture`: the CPU's
    core; in a catalogue by any run of the machine, since early ones did not record it. `noise_floor_ns`: what the
    median of all blocks can resolve, an event. `equal_runs_ns`: what two single baseline runs of a block differ by in
    95 % of the pairs. `baseline`: an untraced operation, of the first level. `sound`: case to the tracers whose number
    without a level is sound. `tails`: how long single operations took, where each was timed. `digest`: of the files
    that it was made from. `titles`: case id to its name. `shares_end`: whether another machine's id ends as its own.

    `make_cases`, `read_document` and `read_blocks` are asked by the properties of these names.
    """

    files: SubmissionFolder
    machine: str
    suite: str
    metric: Metric
    started: str
    rows: int
    architecture: str
    microarchitecture: str | None = None
    grade: str | None = None
    grade_reasons: tuple[str, ...] = ()
    noise_floor_ns: float | None = None
    equal_runs_ns: float | None = None
    baseline: Estimate | None = None
    sound: Mapping[str, Sequence[str]] = field(repr=False)
    tails: Mapping[Key, Tail] = field(default_factory=dict, repr=False)
    make_cases: "Callable[[Submission], Mapping[str, Sequence[Number]]]" = field(repr=False)
    read_document: Callable[[SubmissionFolder], MachineFile] = field(repr=False)
    read_blocks: Callable[[], Mapping[Key, BlockTable]] = field(repr=False)
    digest: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)
    shares_end: bool = False

    @property
    def id(self) -> str:
        """`<machine>/<date>-<suite>`."""
        return self.files.id

    @property
    def date(self) -> str:
        return self.started[:10]

    @cached_property
    def cases(self) -> "Mapping[str, Sequence[Number]]":
        """Case to its numbers, by tracer and level."""
        return self.make_cases(self)

    @property
    def numbers(self) -> "tuple[Number, ...]":
        return tuple(number for numbers in self.cases.values() for number in numbers)

    @cached_property
    def document(self) -> MachineFile:
        """The facts of machine and run. Raises: BadData where the file has become unsound."""
        return self.read_document(self.files)

    @cached_property
    def calibration(self) -> Mapping[Key, Sequence[ProbeCalibration]]:
        """The rows of each script's cost in a loop of ours. Raises: BadData where the file is unsound."""
        rows, problems = read_calibration(self.files.calibration, self.id)
        if problems:
            raise BadData(problems)
        return {key: tuple(row for row in rows if row.key == key) for key in dict.fromkeys(row.key for row in rows)}

    @property
    def blocks(self) -> Mapping[Key, BlockTable]:
        """The blocks of each number: read again for each call, unless they were just made."""
        return self.read_blocks()


MAX_LOSS_RATIO = 0.001
"""Above this share of lost events a number is that of a tracer that drops: a lost event costs less than a kept one.

The same 0.1 % within which events must add up (/method/runs/#do-the-events-add-up).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventResult:
    """What a tracer adds to an event and to a run, in ns or in instructions.

    `cost`: what an event adds. `baseline`: the untraced work for an event. `attach` and `detach` are of a run, and
    `probes` those that the tracer says it attached in the median run.
    """

    cost: Estimate | None = None
    baseline: Estimate | None = None
    loss_ratio: float | None = None
    reconciled: bool | None = None
    attach: Estimate | None = None
    detach: Estimate | None = None
    probes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeResult(EventResult):
    """What a tracer adds in ns, and what it takes.

    `cpu` is the CPU time of the tracer for a run in ns, `memory` the most that it had in bytes, and `rate_hz` the
    highest rate of events while traced. `event_bytes` is what it writes for an event.
    """

    noise_floor_ns: float | None = None
    fastest_ns: float | None = None
    slowdown: Estimate | None = None
    cpu: Estimate | None = None
    memory: Estimate | None = None
    rate_hz: float | None = None
    event_bytes: float | None = None

    @property
    def distinguishable(self) -> bool | None:
        """Whether its interval excludes 0, and it exceeds the noise floor; None where one of both is missing."""
        cost, floor_ns = self.cost, self.noise_floor_ns
        if cost is None or cost.low is None or cost.high is None or floor_ns is None:
            return None
        return (cost.low > 0 or cost.high < 0) and abs(cost.value) > floor_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsResult(EventResult):
    """What a tracer adds in instructions; `mechanism` is how the kernel made its kprobes."""

    mechanism: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnUse:
    """What the tracer itself takes: CPU time in ns and system calls for an operation, and the most memory in bytes."""

    cpu: Estimate | None = None
    memory: Estimate | None = None
    calls: float | None = None


NO_EVENT, NO_TIME, NO_COUNT, NO_USE = EventResult(), TimeResult(), InstructionsResult(), OwnUse()
"""What is known of a number of another kind, or of none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Number:
    """What one submission says about one case, tracer and level: a time, a count, or what the tracer itself takes.

    `result` is None where no block has both a traced run and a baseline. `faults`: why it is neither ranked nor
    compared nor used for guidance. `outlier_blocks` are those whose difference is far from the others'; they are kept.
    """

    submission: Submission = field(repr=False)
    key: Key
    status: Status = "ok"
    blocks: int
    result: EventResult | OwnUse | None = None
    outlier_blocks: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    note: str | None = None
    grade: str | None = None
    grade_reasons: tuple[str, ...] = ()

    @property
    def case(self) -> str:
        return self.key.case

    @property
    def tracer(self) -> str:
        return self.key.tracer

    @property
    def level(self) -> str | None:
        return self.key.level

    @property
    def event(self) -> EventResult:
        """What the tracer adds, in ns or in instructions as its submission has it."""
        return self.result if isinstance(self.result, EventResult) else NO_EVENT

    @property
    def time(self) -> TimeResult:
        """What the tracer adds in ns, and takes."""
        return self.result if isinstance(self.result, TimeResult) else NO_TIME

    @property
    def count(self) -> InstructionsResult:
        return self.result if isinstance(self.result, InstructionsResult) else NO_COUNT

    @property
    def own_use(self) -> OwnUse:
        """What the tracer itself takes, where that is what was measured."""
        return self.result if isinstance(self.result, OwnUse) else NO_USE

    @property
    def cost(self) -> Estimate | None:
        return self.event.cost

    @property
    def baseline(self) -> Estimate | None:
        return self.event.baseline

    @property
    def id(self) -> str:
        """`<machine>/<folder>/<case>/<tracer>[/<level>]`, which is the end of its address too."""
        return "/".join([self.submission.id, self.case, self.tracer, *([] if self.level is None else [self.level])])

    @property
    def name(self) -> str:
        """`<tracer>.<case>`, with `@<level>` where it has one."""
        return f"{self.tracer}.{self.case}" + (f"@{self.level}" if self.level is not None else "")

    @property
    def title(self) -> str:
        """The name of its case; the id where no suite has the case."""
        return self.submission.titles.get(self.case, self.case)

    @property
    def is_time(self) -> bool:
        return self.submission.metric == "time"

    @property
    def is_known(self) -> bool:
        """Whether anything was measured: a cost, or what the tracer itself takes."""
        return self.cost is not None or self.own_use.cpu is not None

    @property
    def is_sound(self) -> bool:
        """Whether it is a number that may stand for its case: there is one, and nothing is wrong with it."""
        return self.cost is not None and not self.faults

    @property
    def has_losses(self) -> bool:
        """Whether the tracer lost so many events that the cost is not that of a kept event."""
        return (self.event.loss_ratio or 0.0) > MAX_LOSS_RATIO

    @property
    def leads(self) -> bool:
        """Whether it may make a range, a headline, a verdict or a model: it is sound, and hardly any event was lost."""
        return self.is_sound and not self.has_losses

    @property
    def known_cost(self) -> Estimate:
        """Its cost. Raises: ValueError where it has none."""
        if self.cost is None:
            raise ValueError(f"{self.id} has no cost")
        return self.cost

    @property
    def distinguishable(self) -> bool | None:
        """Whether a time is a difference at all; None where that is not known, and for counts, which hardly vary."""
        return self.time.distinguishable

    @property
    def is_clear(self) -> bool:
        """Whether it is a cost at all, and not noise."""
        return self.distinguishable is not False and self.known_cost.value > 0

    @property
    def bounded_cost(self) -> Estimate:
        """The cost; where it is not clear, with its high end raised to the noise floor: it may be as much."""
        cost, floor_ns = self.known_cost, self.time.noise_floor_ns
        if self.is_clear or floor_ns is None or cost.high is None:
            return cost
        return Estimate(cost.value, cost.low, max(cost.high, floor_ns))

    @property
    def added_ratio(self) -> float | None:
        """What an event adds over the untraced work for it; None where either is not known."""
        return None if self.cost is None or self.baseline is None else self.cost.value / self.baseline.value

    @property
    def trust(self) -> tuple[str, tuple[str, ...]]:
        """(A to D, the reasons that kept it from a better grade): its own, or else its submission's."""
        rated = self.submission if self.grade is None else self
        return rated.grade or "", rated.grade_reasons

    @property
    def tool_version(self) -> str | None:
        return self.submission.document.tools.get(self.tracer)

    def threshold(self, percent: float) -> Estimate | None:
        """The rate, events/s, at which a busy thread is `percent` slower; None where it is no clear, sound cost."""
        return threshold(self.cost, percent) if self.cost and self.distinguishable and not self.faults else None
