"""Grades of the numbers of a submission and of its cases, and the line from a cost to its slowdown.

It stops holding where threads contend, where the tracer competes for the CPU, where events are dropped, and where
caches are cold; METHOD.md says more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.stats.robust import MIN_BLOCKS
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


NESTED = GradeRule("C", "nested", "the machine is believed nested in a virtual machine", above=0)
HOSTED = GradeRule("C", "hosted", "it ran on a hosted runner, whose host and neighbours are not known", above=0)
VIRTUAL = GradeRule("B", "virtual", "the machine is virtual", above=0)
UNDER_LOAD = GradeRule("B", "load_ratio", "more than {} of its CPUs were busy before the run", above=0.5)

OF_SUBMISSION = (
    GradeRule(WORST, "blocks", "fewer than {} blocks: no interval", below=MIN_BLOCKS),
    GradeRule(WORST, "unreconciled_ratio", "in more than {} of its cases the events do not add up", above=0.1),
    NESTED,
    HOSTED,
    GradeRule("C", "floor_ratio", "noise floor above {} of an untraced operation", above=0.02),
    GradeRule("C", "drift_within_ratio", "the machine's speed drifted inside blocks, by more than {}", above=0.02),
    GradeRule("C", "steal_ratio", "the hypervisor took more than {} of the workload's CPU", above=0.01),
    GradeRule("B", "drift_ratio", "the machine's speed drifted during the run, by more than {}", above=0.05),
    VIRTUAL,
    GradeRule("B", "blocks", "fewer than {} blocks", below=20),
    UNDER_LOAD,
)
"""Worst first. On a quiet machine baseline against baseline stays within 2 %; the other limits are ours."""

OF_CASE = (
    GradeRule(WORST, "blocks", "fewer than {} blocks: no interval", below=MIN_BLOCKS),
    GradeRule(WORST, "unreconciled", "its events do not add up within 0.1 %", above=0),
    GradeRule("C", "loss_ratio", "more than {} of its events were lost, and a lost event costs less", above=0.01),
    GradeRule("C", "width_ratio", "its interval reaches further than {} of the cost to each side", above=0.25),
    GradeRule("C", "bad_ratio", "more than {} of its runs did not end well", above=0.1),
    GradeRule("B", "blocks", "fewer than {} blocks", below=20),
    GradeRule("B", "uncounted", "its events were not counted", above=0),
    GradeRule("B", "width_ratio", "its interval reaches further than {} of the cost to each side", above=0.1),
    GradeRule("B", "floor_to_cost_ratio", "the noise floor is above {} of the cost", above=0.1),
    GradeRule("B", "far_out_ratio", "more than {} of its blocks lie far from the others", above=0.1),
)
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


REMEDIES = {
    "blocks": "more blocks: without `--quick`, or with `--blocks`",
    "unreconciled_ratio": "stop what else calls the probed functions, and measure again",
    "nested": None,
    "hosted": None,
    "virtual": None,
    "floor_ratio": "stop what else runs (`probe-effect doctor` names it), and measure again; more blocks help too",
    "drift_within_ratio": "a fixed frequency and mains power: governor `performance`, turbo off",
    "drift_ratio": "a fixed frequency and mains power: governor `performance`, turbo off",
    "steal_ratio": "another hour: other guests of the host took the CPU, which `steal` in `top` shows",
    "load_ratio": "stop what else runs, and measure again",
}
"""Fact of a rule to what would keep it from applying; None where nothing on that machine would."""

NOTHING = "nothing on this machine"


def remedies(reasons: Iterable[str]) -> list[tuple[str, str]]:
    """Each reason with what would better it, as the grades of submissions give them."""
    by_words = {rule.words: REMEDIES[rule.fact] for rule in OF_SUBMISSION}
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
