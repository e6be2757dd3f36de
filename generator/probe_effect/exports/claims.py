"""The verdict of our numbers on each claim of `data/claims.toml`: for `/claims/`, its files and its badges."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from operator import itemgetter

from probe_effect import units
from probe_effect.exports.script_values import Values
from probe_effect.model import Estimate, Metric
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import once
from probe_effect.pages import addresses
from probe_effect.reduce.submission import Number
from probe_effect.reduce.thresholds import slowdown_at
from probe_effect.stats import estimates
from probe_effect.store.beside_files import Claim

SCALES = {"slowdown": units.SHARE, "loss": units.SHARE, "threshold": units.EVENTS, "instructions": units.INSTRUCTIONS}
SCALES |= dict.fromkeys(("times", "ratio", "instructions ratio"), units.TIMES)
SIZES = {"slowdown": 0.01, "loss": 0.01, "start": 1e6, "stop": 1e6}
"""How a quantity is written, if not as a duration, and the unit of `above` and `below`, if not that of our numbers."""

VERDICTS = {("yes",): "holds", ("no",): "does not hold", ("if",): "holds if"}
"""How all numbers of a claim fit, where that is one word, to its verdict."""


@once
def verdicts(catalogue: Catalogue) -> Sequence[Values]:
    """Each claim as the file has it, its verdict, and the least and the greatest number on each side."""
    return [_told(claim, list(_findings(catalogue, claim))) for claim in catalogue.claims]


def _findings(catalogue: Catalogue, claim: Claim) -> Iterator[Values]:
    """Each number with the quantity of a claim; it `fits` if it has an interval, all of it in the claim's range."""
    above, below = (end and end * SIZES.get(claim.quantity, 1) for end in (claim.above, claim.below))
    scale = SCALES.get(claim.quantity, units.DURATION)
    kind: Metric = "instructions" if claim.quantity.startswith("instructions") else "time"
    for one in catalogue.numbers.current(kind):
        is_named = not one.faults and any(fnmatchcase(one.name, key) for key in claim.numbers)
        if is_named and (value := _value(claim, one)) is not None:
            yield {
                "value": value.value,
                "fits": "if" if claim.quantity == "threshold" else _fits(value, above, below),
                "text": units.interval(value, scale) if one.is_time else units.quantity(value.value, scale, 3),
                "of": f"{one.title}, {names.tool_with_version(one)}, {names.machine_name(one.submission)}",
                "href": addresses.number(one),
            }


def _value(claim: Claim, one: Number) -> Estimate | None:
    """In ns, instructions, events per second or a ratio; None where the number has none."""
    if claim.quantity in {"start", "stop"}:
        return one.attach if claim.quantity == "start" else one.detach
    if claim.quantity == "times":
        return one.slowdown and one.slowdown.mapped(lambda more: 1 + more)
    if claim.quantity == "loss":
        return None if one.loss_ratio is None else Estimate(*[one.loss_ratio] * 3)
    if claim.quantity == "threshold" or one.cost is None:
        return one.threshold(claim.below or 1)
    if beside := claim.over or claim.less:
        key, joined = beside.replace("*", one.tracer), estimates.ratio if claim.over else estimates.difference
        others = (other.known_cost for other in one.submission.numbers if other.is_sound and other.name == key)
        return next((joined(one.known_cost, cost) for cost in others), None)
    return one.bounded_cost if claim.rate_hz is None else slowdown_at(one.bounded_cost, claim.rate_hz)


def _fits(value: Estimate, above: float | None, below: float | None) -> str:
    least, most = float("-inf") if above is None else above, float("inf") if below is None else below
    if value.low is None or value.high is None or value.low < least <= value.high or value.low <= most < value.high:
        return "open"
    return "yes" if least <= value.low and value.high <= most else "no"


def _told(claim: Claim, found: Sequence[Values]) -> Values:
    fits, ordered = Counter(one["fits"] for one in found), sorted(found, key=itemgetter("value"))
    sides = ([one for one in ordered if one["fits"] == side] for side in ("if", "yes", "no", "open"))
    return claim.model_dump() | {
        "numbers": ", ".join(claim.numbers),
        "verdict": VERDICTS.get(tuple(fits), "holds if" if fits["yes"] else "cannot be said"),
        "compared": len(found),
        "fitting": fits["yes"] + fits["if"],
        "least": ordered[0]["value"] if found else None,
        "greatest": ordered[-1]["value"] if found else None,
        "day": names.date_words(claim.date),
        "figures": [one for side in sides for one in (*side[:1], *side[1:][-1:])],
    }
