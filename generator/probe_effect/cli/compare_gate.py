"""`--fail-above` of `probe-effect compare`: which cases keep a change of a tracer from being let through."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from probe_effect import units
from probe_effect.cli import output
from probe_effect.compare.comparison import grown

if TYPE_CHECKING:
    from probe_effect.cli.compared import Compared
    from probe_effect.compare.comparison import Comparison
    from probe_effect.model import Key


class Failure(NamedTuple):
    """A case that is not let through, and why."""

    key: Key
    reason: str


def failures(found: Compared) -> list[Failure]:
    """Cases that take more by more than the limit, and those without a sound count in B; none without a limit.

    A case that is faulty in A alone is not among them: nobody broke it since.
    """
    if found.fail_above_ratio is None:
        return []
    limit = units.stated(found.fail_above_ratio, units.SHARE)
    faulty = (one.second for one in found.comparisons if one.second.faults)
    return [
        *(Failure(one.second.key, _growth(one, limit)) for one in grown(found.comparisons, found.fail_above_ratio)),
        *(Failure(one.key, f"has no sound count: {'; '.join(one.faults)}") for one in faulty),
        *(Failure(key, f"has no count {found.second_words}: {why}") for key, why in found.absences.items()),
    ]


def show_verdict(found: Compared) -> bool:
    """On stderr each case that fails, and how many do; nothing without a limit. Whether none does."""
    if found.fail_above_ratio is None:
        return True
    for one in found.comparisons:
        if one.first.faults and not one.second.faults:
            output.say(f"not compared: {subject(one.first.key)}: {one.reason}")
    failing = failures(found)
    for key, reason in failing:
        output.say(f"fails: {subject(key)} {reason}")
    number = len(found.comparisons) + len(found.absences)
    looked_at = f"{number} case{'' if number == 1 else 's'} looked at"
    if failing:
        output.say(f"{looked_at}, {len(failing)} not let through; --case and --tracer name those to look at")
    else:
        limit = units.stated(found.fail_above_ratio, units.SHARE)
        output.say(f"{looked_at}, none takes more than {limit} more {found.second_words}")
    return not failing


def subject(key: Key) -> str:
    """A case in a sentence."""
    level = "" if key.level is None else f" at level {key.level}"
    return f"{key.case}{level} with {key.tracer}"


def signed_percent(ratio: float | None) -> str:
    """A change in per cent with its sign, to one decimal: `+5.2 %`."""
    if ratio is None:
        return units.MISSING
    text = units.at_place(100 * ratio, -1)
    sign = "+" if ratio > 0 and text != "0.0" else ""
    return f"{sign}{text}{units.GAP}%"


def _growth(one: Comparison, limit: str) -> str:
    before, after = (units.spread(side.cost, units.INSTRUCTIONS) for side in (one.first, one.second))
    ratio = one.change_ratio
    by = "more, and the cost before was not above 0" if ratio is None else f"{units.percent(ratio, 3)} more"
    return f"takes {by}: {before} before, {after} now (instructions per event; the limit is {limit})"
