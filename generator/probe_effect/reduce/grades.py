"""Grades of the numbers of a submission and of its cases, and the line from a cost to its slowdown.

It stops holding where threads contend, where the tracer competes for the CPU, where events are dropped, and where
caches are cold; METHOD.md says more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.model import Estimate
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


RULES = beside(__file__)
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
