"""Examples that the Python code and the page's scripts must both fulfil, as two JSON files in `tests/data`.

`prediction.json`: what an oracle of its own works out in exact fractions. `units.json`: how `probe_effect.units` writes
and `probe_effect.answer.question` reads. To make them again:
`PYTHONPATH=tests .venv/bin/python -m helpers.shared_examples`.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probe_effect import units
from probe_effect.answer.question import rate_from, share_from
from probe_effect.model import Estimate, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(__file__).parents[1] / "data"
SEED = 20_111_217
NS = 10**9
MOST_STOPPED = 0.96

Number = Fraction | None
Ends = tuple[Fraction, Number, Number]
"""A value, its low and its high end."""

COSTS: tuple[list[float | None], ...] = (
    [0.0, 0.0, 0.0],
    [10967.0, 10673.0, 11492.0],
    [0.02, -0.16, 0.31],
    [-5.8, -25.8, 10.9],
    [-9.0, -12.0, -6.0],
    [500.0, None, None],
    [-3.0, None, None],
    [500.0, 450.0, None],
    [500.0, None, 550.0],
    [1e12, 1e11, 1e13],
    [1e-6, 1e-7, 1e-5],
)
RATES = (0.0, 1e-6, 1.0, 740.0, 5e4, 1e6, 1e9, 1e12)
THREADS = (1, 2, 64, 1_000_000)
BUSY = (0.01, 0.4, 0.999, 1.0)


def predictions() -> list[dict[str, Any]]:
    """Inputs, first every extreme once and then at random, with what must come out."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    inputs = [*_extremes(), *(_at_random(chance) for _ in range(200))]
    inputs += [one | {"stops": True} for one in (*_extremes(), *(_at_random(chance) for _ in range(50)))]
    return [one | {"expected": oracle(one)} for one in inputs]


def _extremes() -> Iterator[dict[str, Any]]:
    pairs = itertools.product(COSTS, RATES)
    settings = itertools.cycle(itertools.product(THREADS, BUSY))
    for (cost, rate_hz), (threads, busy) in zip(pairs, settings, strict=False):
        yield {"probes": [{"cost": cost, "factor": None, "rate_hz": rate_hz}], "threads": threads, "busy_ratio": busy}


def _at_random(chance: random.Random) -> dict[str, Any]:
    return {
        "probes": [_probe(chance) for _ in range(chance.choice((1, 1, 2, 3, 5)))],
        "threads": chance.choice((1, 2, 3, 16, chance.randint(1, 1_000_000))),
        "busy_ratio": chance.choice((1.0, 0.01, round(chance.uniform(0.01, 1), 3))),
    }


def _probe(chance: random.Random) -> dict[str, Any]:
    value = chance.choice((1, 1, 1, -1)) * 10 ** chance.uniform(-3, 7)
    width = abs(value) * chance.choice((0.01, 0.1, 2))
    cost = [value, value - width * chance.random(), value + width * chance.random()]
    factor = chance.choice((None, None, [1.5, 1.25, 2.0], [1.1, 0.9, 1.3], [3.0, None, None]))
    rate_hz = chance.choice((0.0, 10 ** chance.uniform(-3, 9), 10 ** chance.uniform(2, 6)))
    return {"cost": chance.choice((cost, cost, cost, [value, None, None])), "factor": factor, "rate_hz": rate_hz}


def oracle(one: dict[str, Any]) -> dict[str, Any]:
    """What the probes of one input do, in exact fractions."""
    probes = [(_product(probe["cost"], probe["factor"]), Fraction(probe["rate_hz"])) for probe in one["probes"]]
    rate_hz, cost = sum((rate for _, rate in probes), Fraction(0)), _mean_cost(probes)
    threads, busy = Fraction(one["threads"]), Fraction(one["busy_ratio"])
    idle = 1 - busy

    stops = one.get("stops", False)

    def used(cost_ns: Fraction) -> Fraction:
        share = rate_hz * cost_ns / NS / busy
        stopped = min(share, Fraction(MOST_STOPPED))
        return busy * (stopped / (1 - stopped) if stops else share)

    def stretched(cost_ns: Fraction) -> Fraction:
        return max(Fraction(0), used(cost_ns) - idle)

    return {
        "rate_hz": float(rate_hz),
        "cost": _floats(cost),
        "slowdown": _floats(_each(cost, lambda ns: used(ns) / busy)),
        "delay": _floats(_each(cost, stretched)),
        "cpu_s_per_s": _floats(_each(cost, lambda ns: threads * used(ns) / (1 + stretched(ns)))),
        "event_hz": _floats(
            _swapped(_each(cost, lambda ns: threads * rate_hz / (1 + (0 if stops else stretched(ns)))))
        ),
        "thresholds": {str(percent): _threshold(cost, busy, percent, stops=stops) for percent in (1, 5, 30)},
    }


def _product(cost: list[float | None], factor: list[float | None] | None) -> Ends:
    value, low, high = (None if end is None else Fraction(end) for end in cost)
    assert value is not None
    if factor is None:
        return value, low, high
    by, by_low, by_high = (None if end is None else Fraction(end) for end in factor)
    assert by is not None
    if low is None or high is None or by_low is None or by_high is None:
        return value * by, None, None
    corners = [low * by_low, low * by_high, high * by_low, high * by_high]
    return value * by, min(corners), max(corners)


def _mean_cost(probes: list[tuple[Ends, Fraction]]) -> Ends:
    """Weighted by rate; of probes that never fire, the plain mean."""
    if len(probes) == 1:
        return probes[0][0]
    whole = sum((rate for _, rate in probes), Fraction(0))
    shares = [rate / whole if whole else Fraction(1, len(probes)) for _, rate in probes]
    value = sum((cost[0] * share for (cost, _), share in zip(probes, shares, strict=True)), Fraction(0))
    if any(None in cost for cost, _ in probes):
        return value, None, None
    low, high = (
        sum(((cost[end] or Fraction(0)) * share for (cost, _), share in zip(probes, shares, strict=True)), Fraction(0))
        for end in (1, 2)
    )
    return value, low, high


def _threshold(cost: Ends, busy: Fraction, percent: int, *, stops: bool) -> list[float | None] | None:
    value, low, high = cost
    budget = Fraction(percent, 100 + percent * stops) * NS * busy
    if value <= 0:
        return None
    low_hz, high_hz = (budget / end if end is not None and end > 0 else None for end in (high, low))
    return _floats((budget / value, low_hz, high_hz))


def _each(ends: Ends, change: Callable[[Fraction], Fraction]) -> Ends:
    value, low, high = ends
    return change(value), None if low is None else change(low), None if high is None else change(high)


def _swapped(ends: Ends) -> Ends:
    value, low, high = ends
    return value, high, low


def _floats(ends: Ends) -> list[float | None]:
    return [None if end is None else float(end) for end in ends]


def bands() -> list[dict[str, Any]]:
    """Slowdowns, and the bands of their ends: 0 below 1 %, then 1, 2, and 3 from 30 %."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    ratios = (-0.02, 0.0, 0.00999, 0.01, 0.03, 0.05, 0.29999, 0.3, 7.0)
    given = [[value, None, None] for value in ratios]
    given += [[mid, low, high] for low, mid, high in itertools.combinations(ratios, 3)]
    given += [sorted_ends([10 ** chance.uniform(-4, 1) for _ in range(3)]) for _ in range(30)]
    return [
        {"slowdown": ends, "expected": [_band(ends[0] if end is None else end) for end in ends[1:]]} for ends in given
    ]


def sorted_ends(drawn: list[float]) -> list[float | None]:
    """A value with an end on each side."""
    low, value, high = sorted(drawn)
    return [value, low, high]


def _band(ratio: float | None) -> int:
    assert ratio is not None
    return sum(ratio >= limit for limit in (0.01, 0.05, 0.3))


def losses() -> list[dict[str, Any]]:
    """Shares of events lost: a tracer keeps as many a second as it kept when it lost some."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    shares = (0.0, 0.0004, 0.4, 0.99, 1.0)
    rows = itertools.product((0.0, 100.0, 1e6, 10 ** chance.uniform(3, 6)), (100.0, 99_220.9, 1e9), shares)
    return [
        {"event_hz": event, "highest_hz": highest, "loss_ratio": share, "expected": _loss(event, highest, share)}
        for event, highest, share in rows
    ]


def _loss(event_hz: float, highest_hz: float, loss_ratio: float) -> float | None:
    kept = (1 - Fraction(loss_ratio)) * Fraction(highest_hz)
    if Fraction(event_hz) <= kept:
        return 0.0
    return float(1 - kept / Fraction(event_hz)) if loss_ratio else None


def moves() -> list[dict[str, Any]]:
    """Costs with as many system calls for an event as in a program, and not as in a loop."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    each: list[list[float | None]] = [[40.0, 35.0, 45.0], [22.5, -3.0, 60.0], [30.0, None, None], [0.0, 0.0, 0.0]]
    rows = itertools.product(COSTS, each, (1.0, 2.0), (0.0, 1.0, 2.0, 7.5, 10 ** chance.uniform(1, 4)))
    return [
        {
            "cost": cost,
            "each": call,
            "measured": measured,
            "calls": calls,
            "expected": _moved(cost, call, calls - measured),
        }
        for cost, call, measured, calls in rows
    ]


def _moved(cost: list[float | None], each: list[float | None], more: float) -> list[float | None]:
    value, low, high = cost
    call, call_low, call_high = each
    assert value is not None
    assert call is not None
    whole = float(Fraction(value) + Fraction(call) * Fraction(more))
    if low is None or high is None or call_low is None or call_high is None:
        return [whole, None, None]
    if more >= 0:
        return [
            whole,
            *(float(Fraction(a) + Fraction(b) * Fraction(more)) for a, b in ((low, call_low), (high, call_high))),
        ]
    down = math.hypot(value - low, -more * (call_high - call))
    up = math.hypot(high - value, -more * (call - call_low))
    return [whole, whole - down, whole + up]


SCALES = ("DURATION", "RATE", "EVENTS", "SHARE", "TIMES", "CPUS", "SIZE")
VALUES = (0.0, 5.0, -2.5, 9.996, 99.95, 994.0, 996.0, 999_999.0, 1085.4, 0.05732, 0.0009996, 1e15, 123_456_789.0)
ROUNDED = (2.5, 0.125, 1234.5, 99_995.0, 0.99965)
"""Halves, which are rounded away from 0 whatever the language's own rule."""


def written() -> list[dict[str, Any]]:
    """Numbers and intervals as `units` writes them."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    made = [_quantity(value, scale) for scale in SCALES for value in (*VALUES, *ROUNDED)]
    made += [_interval(found, scale) for scale in SCALES for found in _intervals(chance)]
    made += [_span(found, scale) for scale in SCALES for found in _intervals(chance)]
    made += [_span(found, scale, "middle") for scale in SCALES for found in _intervals(chance)]
    made += [_span(Estimate(value, 36.0, 21e3), "DURATION", "middle") for value in (9300.0, 2100.0, 900.0)]
    made += [_stated(value, scale) for scale in ("EVENTS", "RATE", "SHARE") for value in (*RATES[1:], 0.4, 12_345.6)]
    return made


def _intervals(chance: random.Random) -> Iterator[Estimate]:
    yield from (Estimate(591.0, 577.0, 604.0), Estimate(5.0, -100.0, 100.0), Estimate(5.0, 5.0, 5.0), Estimate(0.0))
    yield from (Estimate(500.0, 400.0, 1200.0), Estimate(9_000.0, 860.0, 17e3), Estimate(0.0, -2e4, 2e4))
    yield from (Estimate(190e3, 150e3, None), Estimate(190.0, None, 210.0), Estimate(0.0, -1.0, 1.0))
    for _ in range(12):
        value = chance.choice((1, -1)) * 10 ** chance.uniform(-4, 10)
        width = abs(value) * 10 ** chance.uniform(-7, 0.5)
        yield Estimate(value, value - width * chance.random(), value + width * chance.random())


def _quantity(value: float, scale: str) -> dict[str, Any]:
    return {"write": "quantity", "scale": scale, "value": value, "text": units.quantity(value, getattr(units, scale))}


def _stated(value: float, scale: str) -> dict[str, Any]:
    return {"write": "stated", "scale": scale, "value": value, "text": units.stated(value, getattr(units, scale))}


def _interval(found: Estimate, scale: str) -> dict[str, Any]:
    ends = [found.value, found.low, found.high]
    return {"write": "interval", "scale": scale, "value": ends, "text": units.interval(found, getattr(units, scale))}


def _span(found: Estimate, scale: str, write: str = "span") -> dict[str, Any]:
    ends = [found.value, found.low, found.high]
    return {"write": write, "scale": scale, "value": ends, "text": getattr(units, write)(found, getattr(units, scale))}


RATE_TEXTS = (
    "50k 1.5M 200 1e5 50_000 2G 0 0.5 20k/s 3K 1_0.5e-3k -5 5m 1e 1e100 1e99 k 1__0 _1 .5 5. 50,000 1,5k ٣ 5kk".split()
)
SHARE_TEXTS = "40% 0.4 1 100% 100.1% 1.5 0 0% 40 -1 .4 5 % x 0.0001 33.3%".split()


def read() -> list[dict[str, Any]]:
    """What people type, and the value; null for what is refused."""
    spaced = ["300 000", "300\u202f000", "1,500,000", "1,500.5k", "30,00", "3000,000", "300\u00a0k", "3 00"]
    spaced += ["50.000", "1.500/s", "0.125", "50.000k", "50.0000", "1,500.250"]
    texts = [*RATE_TEXTS, *spaced, "", " 50k ", "50 k", "50 k/s", "5 0k"]
    rates = [{"read": "rate", "text": text, "value": _value(rate_from, text)} for text in texts]
    return rates + [
        {"read": "share", "text": text, "value": _value(share_from, text)} for text in [*SHARE_TEXTS, "40 %"]
    ]


def _value(reader: Callable[[str], float], text: str) -> float | None:
    try:
        return reader(text)
    except UsageError:
        return None


def files() -> dict[str, str]:
    """File name to its text."""
    whole = {
        "prediction.json": {"predictions": predictions(), "losses": losses(), "moves": moves(), "bands": bands()},
        "units.json": {"written": written(), "read": read()},
    }
    return {name: _json(value) for name, value in whole.items()}


def _json(groups: dict[str, list[dict[str, Any]]]) -> str:
    """One line for each example, so that a change shows which."""
    parts = []
    for name, examples in groups.items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in examples)
        parts.append(f"{json.dumps(name)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    for file, text in files().items():
        (DATA / file).write_text(text, encoding="utf-8")
