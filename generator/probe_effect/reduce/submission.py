"""A submission and its numbers, with their grades: what one run of a suite on one machine says, of times or counts.

Grades of the numbers of a submission and of its cases, and the line from a cost to its slowdown.

It stops holding where threads contend, where the tracer competes for the CPU, where events are dropped, and where
caches are cold; METHOD.md says more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from probe_effect import units
from probe_effect.errors import BadData
from probe_effect.model import Estimate, Key, Metric, Status
from probe_effect.reduce.rows import BlockTable, Tail
from probe_effect.store.further_tables import ProbeCalibration, read_calibration
from probe_effect.store.machine_file import MachineFile, canonical_architecture, read_machine_file
from probe_effect.store.places import SubmissionFolder
from probe_effect.toml import beside
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
        """Its reason with the limit filled in."""
        limit = self.below or self.above or 0.0
        is_share = self.fact.endswith("_ratio")
        return self.reason.format(f"{units.trimmed(limit * 100)}{units.GAP}%" if is_share else units.count(limit))


RULES = beside(__file__, "grades")
OF_SUBMISSION, OF_CASE = (tuple(GradeRule(**one) for one in RULES[name]) for name in ("submission", "case"))
"""Worst first. A case is graded no better than its submission."""


def grade(rules: Sequence[GradeRule], facts: Mapping[str, float | None]) -> tuple[str, tuple[str, ...]]:
    """(A to D, the reasons that kept it from a better one); of two rules on one fact the worse one speaks."""
    found: dict[str, GradeRule] = {}
    for rule in rules:
        if rule.applies(facts):
            found.setdefault(rule.fact, rule)
    return worst(rule.cap for rule in found.values()), tuple(rule.words for rule in found.values())


def ratio(part: float | None, whole: float | None) -> float | None:
    """A fact that is a part of something; None where either is not known."""
    return None if part is None or not whole else part / whole


def half_width(found: Estimate | None) -> float | None:
    """How far an interval reaches to each side; None without one."""
    return None if found is None or found.low is None or found.high is None else (found.high - found.low) / 2


def worst(grades: Iterable[str]) -> str:
    """The worst of some grades; A without any."""
    return max(grades, default=BEST)


NOTHING = "nothing on this machine"


def remedies(reasons: Iterable[str]) -> list[tuple[str, str]]:
    """Each reason with what would better it, as the grades of submissions give them."""
    by_words = {rule.words: RULES["remedies"].get(rule.fact) for rule in OF_SUBMISSION}
    return [(reason, by_words.get(reason) or NOTHING) for reason in reasons]


THRESHOLDS = {1: "measurable", 5: "significant", 30: "expensive"}
"""Per cent of slowdown to its word, after the talk of 2023 (source `piotrowski-2023-tracing-overhead`)."""


def slowdown_at(cost: Estimate, rate_hz: float) -> Estimate:
    """Slowdown of a CPU-bound thread in which `rate_hz` events fire per second, as a ratio (0.05 = 5 % slower).

    The cost is in ns per event, the rate in events per second of untraced running time.
    """
    return cost.times(rate_hz / NS_PER_SECOND)


def threshold(cost: Estimate, percent: float, *, stops: bool = False) -> Estimate | None:
    """The rate in events/s at which slowdown reaches `percent`; None for a cost that is not above 0.

    A cost whose interval touches 0 has no upper end: no rate would be too high. `stops`: as `ThreadLoad` has it.
    """
    if cost.value <= 0:
        return None
    budget = percent / (100 + percent * stops) * NS_PER_SECOND
    return Estimate(
        budget / cost.value,
        budget / cost.high if cost.high is not None and cost.high > 0 else None,
        budget / cost.low if cost.low is not None and cost.low > 0 else None,
    )


@dataclass(kw_only=True, eq=False)
class Submission:
    """One suite, run once on one machine.

    `baseline` is one untraced operation, of the first level where there are several. Only times have a grade and a
    noise floor. Two submissions are the same only if they are one object. Set once, where it is made (`reduce.reduce`).
    """

    files: SubmissionFolder
    machine: str
    suite: str
    metric: Metric
    started: str
    """When it began, ISO 8601, UTC."""
    rows: int
    digest: str | None = None
    """Of the files that it was made from; None where it was made from something else."""
    grade: str | None = None
    grade_reasons: tuple[str, ...] = ()
    noise_floor_ns: float | None = None
    baseline: Estimate | None = None
    cases: "Mapping[str, Sequence[Number]]" = field(default_factory=dict, repr=False)
    """Case to its numbers, by tracer and level."""
    tails: Mapping[Key, Tail] = field(default_factory=dict, repr=False)
    """How long single operations took, where they were timed one by one; of the baselines of a level too."""
    read_blocks: Callable[[], Mapping[Key, BlockTable]] | None = field(default=None, repr=False)
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Case id to its name, as the catalogue that read it has them (`numbers.names.titles`)."""
    of_machine: "Sequence[Submission]" = field(default=(), repr=False)
    """All of its machine, as that catalogue has them; empty for one that was read alone."""
    shares_end: bool = False
    """Whether the id of another machine ends as its own does (`numbers.names.short_id`)."""

    @property
    def id(self) -> str:
        """`<machine>/<date>-<suite>`."""
        return self.files.id

    @property
    def date(self) -> str:
        """The day of the run, as ISO has it."""
        return self.started[:10]

    @property
    def numbers(self) -> "tuple[Number, ...]":
        """All its numbers, by case, tracer and level."""
        return tuple(one for numbers in self.cases.values() for one in numbers)

    @numbers.setter
    def numbers(self, every: "Iterable[Number]") -> None:
        cases: dict[str, list[Number]] = {}
        for one in every:
            cases.setdefault(one.case, []).append(one)
        self.cases = cases
        self.__dict__.pop("sound", None)

    @cached_property
    def sound(self) -> Mapping[str, Sequence[str]]:
        """Case to the tracers whose number without a level is sound; without cases of none."""
        sound: dict[str, list[str]] = {}
        for one in self.numbers:
            if one.is_sound and one.level is None:
                sound.setdefault(one.case, []).append(one.tracer)
        return sound

    @cached_property
    def document(self) -> MachineFile:
        """What its machine was. Raises: BadData where the file has become unsound."""
        document, problems = read_machine_file(self.files.machine_file, self.id)
        if document is None:
            raise BadData(problems)
        return document

    @cached_property
    def calibration(self) -> Mapping[Key, Sequence[ProbeCalibration]]:
        """What its scripts cost in a loop of ours: the rows of each. Raises: BadData where the file is unsound."""
        rows, problems = read_calibration(self.files.calibration, self.id)
        if problems:
            raise BadData(problems)
        return {key: tuple(row for row in rows if row.key == key) for key in dict.fromkeys(row.key for row in rows)}

    @cached_property
    def architecture(self) -> str:
        """The instruction set that it ran on, by its one name: `x86_64`, `aarch64`. Raises: as `document`."""
        return canonical_architecture(self.document.machine.architecture)

    @property
    def microarchitecture(self) -> str | None:
        """The name of the CPU's core by any run of the machine, since early ones did not record it; None: unknown."""
        known = (one.document.machine.microarchitecture for one in (self, *self.of_machine))
        return next(filter(None, known), None)

    @property
    def blocks(self) -> Mapping[Key, BlockTable]:
        """The blocks that each of its numbers is made of: read again for each call, unless they were just made."""
        assert self.read_blocks is not None
        return self.read_blocks()


MAX_LOSS_RATIO = 0.001
"""Above this share of lost events a number is that of a tracer that drops: a lost event costs less than a kept one.

The same 0.1 % within which events must add up (METHOD.md, "Do the events add up?").
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Number:
    """What one submission says about one case, tracer and level; in ns or in instructions, as its submission has it.

    `cost`: what an event adds; None where no block has both a traced run and a baseline. `baseline`: the untraced work
    for an event. `faults`: why it is neither ranked nor compared nor used for guidance. `attach` and `detach` are of a
    run, in ns or in instructions too, and `probes` those that the tracer says it attached in the median run. Only times
    have the CPU time of the tracer for a run in ns, `cpu`, its largest memory in bytes, `memory`, and the highest rate
    of events while traced, `rate_hz`. `event_bytes` is what it writes for an event. `outlier_blocks`,
    of times too, are those whose difference is far from the others'; they are kept all the same. `mechanism`: how the
    kernel made the kprobes of a count. Where the tracer itself was measured there is no cost, but its CPU time in
    `tracer_cpu` and its system calls in `tracer_calls`, both for an operation.
    """

    submission: Submission = field(repr=False)
    case: str
    tracer: str
    level: str | None
    status: Status = "ok"
    blocks: int
    cost: Estimate | None = None
    baseline: Estimate | None = None
    loss_ratio: float | None = None
    reconciled: bool | None = None
    faults: tuple[str, ...] = ()
    note: str | None = None
    grade: str | None = None
    grade_reasons: tuple[str, ...] = ()
    noise_floor_ns: float | None = None
    fastest_ns: float | None = None
    slowdown: Estimate | None = None
    attach: Estimate | None = None
    detach: Estimate | None = None
    cpu: Estimate | None = None
    memory: Estimate | None = None
    probes: int | None = None
    rate_hz: float | None = None
    event_bytes: float | None = None
    outlier_blocks: tuple[int, ...] = ()
    mechanism: str | None = None
    tracer_cpu: Estimate | None = None
    tracer_calls: float | None = None

    @property
    def key(self) -> Key:
        """Which case, tracer and level it is of."""
        return Key(self.case, self.tracer, self.level)

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
        """Whether it is in ns, and not in instructions."""
        return self.submission.metric == "time"

    @property
    def is_known(self) -> bool:
        """Whether anything was measured: a cost, or what the tracer itself takes."""
        return self.cost is not None or self.tracer_cpu is not None

    @property
    def is_sound(self) -> bool:
        """Whether it is a number that may stand for its case: there is one, and nothing is wrong with it."""
        return self.cost is not None and not self.faults

    @property
    def has_losses(self) -> bool:
        """Whether the tracer lost so many events that the cost is not that of a kept event."""
        return (self.loss_ratio or 0.0) > MAX_LOSS_RATIO

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
        """Whether a time is a difference at all: its interval excludes 0, and it exceeds the noise floor.

        None without an interval or a noise floor, and for counts, which hardly vary.
        """
        cost, floor_ns = self.cost, self.noise_floor_ns
        if cost is None or cost.low is None or cost.high is None or floor_ns is None:
            return None
        return (cost.low > 0 or cost.high < 0) and abs(cost.value) > floor_ns

    @property
    def is_clear(self) -> bool:
        """Whether it is a cost at all, and not noise."""
        return self.distinguishable is not False and self.known_cost.value > 0

    @property
    def bounded_cost(self) -> Estimate:
        """The cost; where it is not clear, with its high end raised to the noise floor: it may be as much."""
        cost, floor_ns = self.known_cost, self.noise_floor_ns
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
        if self.grade is None:
            return self.submission.grade or "", self.submission.grade_reasons
        return self.grade, self.grade_reasons

    @property
    def tool_version(self) -> str | None:
        """What the tracer printed as its version."""
        return self.submission.document.tools.get(self.tracer)

    def threshold(self, percent: float) -> Estimate | None:
        """The rate, events/s, at which a busy thread is `percent` slower; None where it is no clear, sound cost."""
        return threshold(self.cost, percent) if self.cost and self.distinguishable and not self.faults else None
