"""What the repetitions of `against_hyperfine` come to: spread, width and coverage, and their ratios."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evidence.hyperfine_contest import Outcome, Outcomes

OURS = "ours"
ESTIMATES: Mapping[str, tuple[str, Callable[[Outcome], Estimate]]] = {
    OURS: ("ours", lambda outcome: outcome.cost),
    "hyperfine, mean": ("hyperfine", lambda outcome: outcome.cost),
    "hyperfine, minimum": ("hyperfine", lambda outcome: Estimate(outcome.fastest_ns)),
    "ours, fastest": ("ours", lambda outcome: Estimate(outcome.fastest_ns)),
}
"""Name of an estimate to the method that makes it, and where it stands in an outcome."""


def plain(value: float | None) -> str:
    """A number without a unit."""
    return units.MISSING if value is None else units.significant(value)


SHOWN: Mapping[str, tuple[str, Callable[[float | None], str]]] = {
    "median_ns": ("estimates, median", units.duration),
    "sd_ns": ("estimates, standard deviation", units.duration),
    "range_ns": ("estimates, largest less smallest", units.duration),
    "width_ns": ("interval, median width", units.duration),
    "covers_all_ratio": ("interval holds the median of both methods", units.percent),
    "covers_own_ratio": ("interval holds the median of its own", units.percent),
    "covers_zero_ratio": ("interval holds 0", units.percent),
    "seconds": ("time of a repetition, mean, s", plain),
    "rounds": ("blocks, or runs of each arm, mean", plain),
    "repetitions": ("repetitions", units.count),
}
"""Figure to its title and its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the repetitions of one estimate come to. None: it has no interval."""

    median_ns: float
    sd_ns: float
    range_ns: float
    """Largest estimate less the smallest."""
    width_ns: float | None
    """Median width of the intervals."""
    covers_all_ratio: float | None
    """Share of the intervals that hold the median of all estimates of both methods (ours, and hyperfine's mean)."""
    covers_own_ratio: float | None
    """Share that hold the median of this estimate, which leaves out a shift between the methods."""
    covers_zero_ratio: float | None
    """Share that hold 0, which is the truth for the control and for nothing else."""
    seconds: float
    rounds: float
    repetitions: int


def all_figures(outcomes: Outcomes) -> dict[str, Figures]:
    """Name of an estimate to its figures. Raises: statistics.StatisticsError below two repetitions of a method."""
    all_ns = statistics.median(outcome.cost.value for made in outcomes.values() for outcome in made)
    return {
        name: _figures([estimate(outcome) for outcome in outcomes[method]], outcomes[method], all_ns)
        for name, (method, estimate) in ESTIMATES.items()
    }


def _figures(found: Sequence[Estimate], outcomes: Sequence[Outcome], all_ns: float) -> Figures:
    values_ns = [interval.value for interval in found]
    bounds = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    own_ns = statistics.median(values_ns)
    return Figures(
        median_ns=own_ns,
        sd_ns=statistics.stdev(values_ns),
        range_ns=max(values_ns) - min(values_ns),
        width_ns=statistics.median(high - low for low, high in bounds) if bounds else None,
        covers_all_ratio=_covering(bounds, all_ns),
        covers_own_ratio=_covering(bounds, own_ns),
        covers_zero_ratio=_covering(bounds, 0.0),
        seconds=statistics.fmean(outcome.seconds for outcome in outcomes),
        rounds=statistics.fmean(outcome.rounds for outcome in outcomes),
        repetitions=len(found),
    )


def _covering(bounds: Sequence[tuple[float, float]], value: float) -> float | None:
    return statistics.fmean(low <= value <= high for low, high in bounds) if bounds else None


def ratios(ours: Figures, theirs: Figures) -> dict[str, float | None]:
    """Ours over theirs, figure by figure; None where theirs is 0 or absent.

    Not of the estimates themselves, which may be about 0.
    """
    theirs_by_name = asdict(theirs)
    return {
        name: mine / other if mine is not None and (other := theirs_by_name[name]) else None
        for name, mine in asdict(ours).items()
        if name != "median_ns"
    }


def chance_ratio(repetitions: int) -> float:
    """How far from 1 chance alone takes a ratio of two standard deviations, in 95 of 100 benchmarks; or its inverse.

    By the F distribution, which assumes normal estimates; drawn, because its quantiles need more than numpy.
    """
    freedom = repetitions - 1
    draws = np.random.default_rng(1).f(freedom, freedom, 1_000_000)
    return float(np.sqrt(np.quantile(draws, 0.975)))


def table(outcomes: Outcomes) -> str:
    """One case and condition as a Markdown table."""
    by_name = all_figures(outcomes)
    ours, fastest = by_name.pop(OURS), by_name.pop("ours, fastest")
    header = ["", OURS, *(title for name in by_name for title in (name, "ours / that")), "ours, fastest"]
    lines = [header, [":--", *["--:"] * (len(header) - 1)]]
    for key, (title, shown) in SHOWN.items():
        beside = [
            cell for one in by_name.values() for cell in (shown(getattr(one, key)), plain(ratios(ours, one).get(key)))
        ]
        lines.append([title, shown(getattr(ours, key)), *beside, shown(getattr(fastest, key))])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def case_document(outcomes: Outcomes) -> dict[str, object]:
    """One case and condition for programs."""
    by_name = all_figures(outcomes)
    return {
        "figures": {name: asdict(one) for name, one in by_name.items()},
        "ratios": {name: ratios(by_name[OURS], one) for name, one in by_name.items() if name != OURS},
        "outcomes": {method: [asdict(one) for one in made] for method, made in outcomes.items()},
    }
