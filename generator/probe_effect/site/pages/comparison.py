"""Every sentence and row that says higher overhead, lower overhead or no difference; and published costs beside ours.

Each is made from a `Comparison`, in words that swap with its sides, and with the interval.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from probe_effect import units
from probe_effect.compare import comparison
from probe_effect.compare.agreement import CountedOrder, Order, Pairing
from probe_effect.compare.comparison import Comparison, expected_by_chance, outcomes, ranked
from probe_effect.model import Estimate
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import at_level, machine_name, tracer_name
from probe_effect.numbers.published import DERIVED_MARK, PUBLISHED_MARK
from probe_effect.numbers.submission import Number, Submission
from probe_effect.numbers.trends import MIN_PAIRS, Correlation
from probe_effect.records import beside
from probe_effect.site.pages import instructions
from probe_effect.site.pages.parts import Pieces
from probe_effect.store.beside_files import Figure

WORDS: dict[str, Any] = beside(__file__, "outcomes")["time"]  # the parts of these sentences, by name


def between_submissions(pair: Comparison, called: Callable[[Submission], str] = attrgetter("id")) -> str:
    """The sentence on one case and tracer in two submissions, each as a page calls it."""
    first, second = (called(number.submission) for number in (pair.first, pair.second))
    subject = f"{instructions.subject(pair.second)} with {tracer_name(pair.second.tracer)}"
    return sentence(pair, subject, "in", first, second)


def sentence(pair: Comparison, subject: str, preposition: str, first: str, second: str) -> str:
    """`subject` has higher overhead `preposition` `second` than with `first`, by how much, and how sure that is."""
    if pair.reason:
        return f"{subject} is not comparable between {first} and {second}: {pair.reason}."
    difference = units.interval(pair.difference, units.DURATION)
    if pair.outcome == "no difference":
        return f"{subject} shows no difference between {first} and {second}: {difference}."
    times = f", {units.interval(pair.ratio, units.TIMES)} the cost" if pair.ratio else ""
    outcome = WORDS["outcomes"][pair.outcome][0]
    return f"{subject} {outcome} {preposition} {second} than {preposition} {first}: difference {difference}{times}."


def cells(pair: Comparison) -> tuple[str, str, str]:
    ratio = units.interval(pair.ratio, units.TIMES)
    return units.interval(pair.difference, units.DURATION), ratio, pair.outcome


def summary(comparisons: Sequence[Comparison], second: str) -> str:
    """`Of 21 comparisons, 3 have higher overhead on B, 1 has lower overhead and 17 show no difference.`

    `second` says where: `on B`.
    """
    words, is_said = [], False
    for outcome, times in outcomes(comparisons).items():
        if times:
            # The first outcome that has a side names that side.
            has_side = outcome in WORDS["sided"]
            side = f" {second}" if has_side and not is_said else ""
            words.append(f"{units.count(times)} {WORDS['outcomes'][outcome][times != 1]}{side}")
            is_said = is_said or has_side
    counted, listed = _number(len(comparisons), "counted"), instructions.listed(words) if words else ""
    return str(WORDS["summary"].format(count=counted, outcomes=listed))


def chance(comparisons: Sequence[Comparison]) -> str:
    able = _number(len(comparisons) - outcomes(comparisons)["not comparable"], "able")
    expected = units.significant(expected_by_chance(comparisons), 2)
    return str(WORDS["chance"].format(count=able, expected=expected))


def words_of_outcomes() -> dict[str, object]:
    return WORDS | {"by_chance_ratio": comparison.BY_CHANCE_RATIO, "too_few": comparison.TOO_FEW_COMMON}


def ranking(measurements: Iterable[Number], where: str) -> str | None:
    """Which tracer has the lowest overhead for a case on a machine, as far as intervals tell; None for fewer than 2."""
    ranks = ranked(measurements)
    if len(ranks) < 2:
        return None
    first = [tracer_name(number.tracer) for number, rank in ranks if rank.first == 1]
    last = [tracer_name(number.tracer) for number, rank in ranks if rank.last == len(ranks)]
    if len(first) == len(ranks):
        return f"On {where} the {len(ranks)} tracers show no difference: all their intervals overlap."
    lowest, highest = (
        f"{own[0]} has" if len(own) == 1 else f"one of {instructions.listed(own)} (their intervals overlap) has"
        for own in (first, last)
    )
    return f"Of the {len(ranks)} tracers on {where}, {lowest} the lowest overhead, and {highest} the highest."


def places(measurements: Iterable[Number]) -> dict[str, str]:
    """Number's id to the place, or the places, that it may hold; without those not ranked."""
    ranks = ranked(measurements)
    if len(ranks) < 2:
        return {}
    return {number.id: " to ".join(map(str, dict.fromkeys((rank.first, rank.last)))) for number, rank in ranks}


def place_of(number: Number) -> str:
    return f"{machine_name(number.submission)}{at_level(number.level)}"


def _number(count: int, noun: str) -> str:
    return f"{units.count(count)} {WORDS[noun][count != 1]}"


def published_range(figures: Sequence[Figure]) -> Pieces:
    """The least and the greatest cost of `figures`, each with the mark of what it is."""
    ordered = sorted(
        (figure for figure in figures if figure.cost_ns is not None), key=lambda figure: float(figure.cost_ns or 0)
    )
    ends = [ordered[0]] if ordered[0].cost_ns == ordered[-1].cost_ns else [ordered[0], ordered[-1]]
    marks = [DERIVED_MARK if figure.cost_from == "derived" else PUBLISHED_MARK for figure in ends]
    costs = (units.duration(float(figure.cost_ns or 0)) for figure in ends)
    return Pieces.joined(map(Pieces, zip(costs, marks, strict=True)), " to ")


def ratios(pairings: Iterable[Pairing]) -> dict[tuple[str, str], str]:
    """Source and figure to the least and the greatest ratio of what was measured here, with how many those are."""
    by_figure = {}
    for key, own in grouped_by(pairings, lambda pairing: (pairing.source.id, pairing.figure.figure)).items():
        values = [pairing.ratio.value for pairing in own]
        span = units.span(Estimate(values[0], min(values), max(values)), units.TIMES)
        by_figure[key] = units.interval(own[0].ratio, units.TIMES) if len(own) == 1 else f"{span} ({len(own)})"
    return by_figure


def extent(orders: Sequence[Order]) -> str:
    """How many of the published costs could be measured at all, over the platforms and machines of `orders`."""
    most = max(orders, key=lambda order: len(order.pairings))
    ends = dict.fromkeys((min(len(order.pairings) for order in orders), len(most.pairings)))
    here = f"{' to '.join(map(str, ends))} were measured here"
    return f"Of the {most.published} costs above 0 that it prints for a platform, {here}."


def rank_correlation(order: Order | CountedOrder) -> str:
    """Kendall's tau with its interval, or why it has none."""
    if order.correlation is None:
        return "no order to compare"
    text = tau(order.correlation)
    if order.correlation.low is not None:
        return text
    if len(order.pairings) < MIN_PAIRS:
        return f"{text}; {len(order.pairings)} rows: too few for an interval, which needs {MIN_PAIRS}"
    return f"{text}; no interval, because every pair is in one order"


def correlations(orders: Iterable[Order]) -> str:
    """The least and the greatest tau of some orders, and how many have one."""
    taus = [order.correlation.tau for order in orders if order.correlation]
    ends = dict.fromkeys(str(units.at_place(end, -2)) for end in (min(taus), max(taus))) if taus else ()
    return f"{' to '.join(ends)} ({len(taus)})"


def tau(correlation: Correlation) -> str:
    value, low, high = (
        end if end is None else units.at_place(end, -2) for end in (correlation.tau, correlation.low, correlation.high)
    )
    return f"{value} ({low} to {high})" if low and high else f"{value}"


def chance_of_order(order: Order | CountedOrder) -> str:
    """How likely so much order would be if the two lists had nothing to do with each other."""
    return units.percent(order.correlation.p_value if order.correlation else None)
