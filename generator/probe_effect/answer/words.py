"""The words of an answer, and what to do about a slowdown: the bands between its thresholds.

The page's scripts find the band of a slowdown by the same rule (`site/assets/js/prediction.js`), and take the words
from the data.
"""

from dataclasses import dataclass
from itertools import pairwise

from probe_effect.model import Estimate
from probe_effect.reduce.grades import THRESHOLDS, threshold
from probe_effect.stats.robust import MIN_BLOCKS
from probe_effect.toml import beside
from probe_effect.units import GAP, RATE, quantity

WORDS: dict[str, str] = beside(__file__)
"""Sentences and their parts, by key, with named places."""

WORDS["no-interval"] = WORDS["no-interval"].format(blocks=MIN_BLOCKS)


@dataclass(frozen=True, slots=True)
class Band:
    """A range of slowdowns in words, such as `1 to 5 %`, and what to do in it."""

    range: str
    recommendation: str


def _ranges() -> list[str]:
    first, *_, last = limits = list(THRESHOLDS)
    between = [f"{low} to {high}{GAP}%" for low, high in pairwise(limits)]
    return [f"below {first}{GAP}%", *between, f"above {last}{GAP}%"]


BANDS = tuple(Band(words, WORDS[f"do-in-{place}"]) for place, words in enumerate(_ranges()))


def place(slowdown_ratio: float) -> int:
    """The index in `BANDS` of the band that a slowdown is in; at a threshold, the upper one."""
    return sum(slowdown_ratio >= percent / 100 for percent in THRESHOLDS)


def places(slowdown: Estimate) -> tuple[int, int]:
    """The band of the low end and that of the high end; an end that is not known is taken for the value."""
    low, high = (slowdown.value if end is None else end for end in (slowdown.low, slowdown.high))
    return place(low), place(high)


def recommendation(slowdown: Estimate) -> str:
    """What to do, in one sentence: `Below 1 %: go ahead.` Of an interval over several bands it is that of the worst."""
    low, high = places(slowdown)
    best, worst = BANDS[low], BANDS[high]
    words = {"best": best.range, "worst": worst.range, "recommendation": worst.recommendation}
    said = WORDS["band" if best is worst else "bands"].format(**words)
    return said[0].upper() + said[1:]


def limits(cost: Estimate) -> str:
    """What to do where nobody says how often: `Up to 5.5 k/s: go ahead. Above 170 k/s: take an alternative.`

    Both ends are rates of events at which the high end of the slowdown comes to a threshold. `cost`: ns an event.
    """
    highest = Estimate(cost.value if cost.high is None else cost.high)
    first, *_, last = (threshold(highest, percent) for percent in THRESHOLDS)
    if first is None or last is None:
        return WORDS["no-limits"]
    rates = {"go": quantity(first.value, RATE), "stop": quantity(last.value, RATE)}
    return WORDS["limits"].format(best=BANDS[0].recommendation, worst=BANDS[-1].recommendation, **rates)
