"""The table of `held_out.py`, and which targets its rows meet."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from probe_effect import units
from probe_effect.model import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

SEEN_RATIO = 0.02
"""Of programs slowed by less, nothing is asked but that the answer comes: runs of a program differ by as much."""

MOST_WIDTH, MOST_ANSWER_S = 2.0, 10.0
HEAD = (
    "program.script",
    "measured (95 %)",
    "predicted (interval)",
    "answer holds",
    "by hand",
    "basis",
    "events/s",
    "answered in",
)

Row = dict[str, Any]


def slowdown_of(row: Row) -> Estimate:
    """The measured slowdown with its 95 % interval, as ratios."""
    found = row["measured"]
    return Estimate(*(found[f"slowdown{end}_ratio"] for end in ("", "_low", "_high")))


def verdict(row: Row, key: str) -> str | None:
    """Where the measured slowdown is: inside, above or below the predicted interval; None where that has an end alone.

    A slowdown whose own interval reaches into the predicted one cannot be told from it.
    """
    _, low, high = row[key]
    measured = slowdown_of(row)
    if low is None or high is None:
        return None
    if low <= measured.value <= high:
        return "inside"
    if measured.low is None or measured.high is None or (measured.low <= high and measured.high >= low):
        return "not told apart"
    return "above" if measured.value > high else "below"


def table(rows: Sequence[Row]) -> str:
    """All rows in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", f"|:--|{'--:|' * 2}:--|--:|:--|{'--:|' * 2}"]
    return "\n".join([*lines, *(f"| {' | '.join(_cells(row))} |" for row in rows)])


def _cells(row: Row) -> list[str]:
    rates = [probe["rate_hz"] for probe in row["probes"]]
    rate = None if None in rates else sum(rates)
    return [
        row["id"],
        units.interval(slowdown_of(row), units.SHARE),
        _share(row["predicted"]),
        verdict(row, "predicted") or units.MISSING,
        units.MISSING if row["by_hand"] is None else units.percent(row["by_hand"]),
        ", ".join(dict.fromkeys(probe["basis"] or "not known" for probe in row["probes"])),
        units.MISSING if rate is None else units.quantity(rate, units.RATE),
        f"{row['answer_s']:.1f} s",
    ]


def _share(ends: Sequence[float | None]) -> str:
    value, low, high = ends
    return units.MISSING if value is None else units.interval(Estimate(value, low, high), units.SHARE)


def summary(rows: Sequence[Row]) -> str:
    """The targets, one line each, for all processes and for the busiest thread."""
    slowed = [row for row in rows if slowdown_of(row).value > SEEN_RATIO]
    quick = sum(row["answer_s"] <= MOST_ANSWER_S for row in rows)
    return "\n".join(
        [
            f"{len(slowed)} of {len(rows)} are slowed by more than {units.percent(SEEN_RATIO)}.",
            f"{quick} of {len(rows)} answers came within {MOST_ANSWER_S:g} s.\n",
            f"- {targets(slowed, 'predicted')}",
            f"- By hand: {_by_hand(slowed)}",
        ]
    )


def targets(rows: Sequence[Row], key: str) -> str:
    """What the targets are about, in words: intervals, median of measured to predicted, greatest over the upper end."""
    answered = [row for row in rows if verdict(row, key) is not None]
    if not answered:
        return f"no slowdown of {len(rows)} is known."
    verdicts = Counter(verdict(row, key) for row in answered)
    narrow = sum(0 < row[key][2] <= MOST_WIDTH * row[key][1] for row in answered)
    ratios = [slowdown_of(row).value / row[key][0] for row in answered if row[key][0] > 0]
    over = max((slowdown_of(row).value / row[key][2] for row in answered if row[key][2] > 0), default=0.0)
    return (
        f"{verdicts['inside']} of {len(rows)} inside the interval, {verdicts['not told apart']} not told apart, "
        f"{verdicts['above']} above, {verdicts['below']} below (target 80 % not outside); "
        f"{len(rows) - len(answered)} without an upper end; "
        f"median of measured to predicted {_median(ratios)} (0.8 to 1.25); "
        f"greatest measured over an upper end {over:.2f} (1.5); "
        f"{narrow} of {len(answered)} intervals no wider than a factor of {MOST_WIDTH:g} (75 %)."
    )


def _by_hand(rows: Sequence[Row]) -> str:
    ratios = [slowdown_of(row).value / row["by_hand"] for row in rows if row["by_hand"]]
    return f"{len(ratios)} of {len(rows)} can be found; median of measured to found {_median(ratios)}."


def _median(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f}" if ratios else units.MISSING
