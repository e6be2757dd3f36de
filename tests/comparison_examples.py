"""Examples that the Python code and the script of the page `/compare/` must both fulfil: `tests/data/comparison.json`.

To make them anew: `.venv/bin/python tests/comparison_examples.py`.
"""

from __future__ import annotations

import itertools
import json
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from probe_effect import units
from probe_effect.guidance.comparison import Comparison, Measurement, Outcome, compare
from probe_effect.guidance.instruction_change import Counted, change, difference_instructions
from probe_effect.model import CaseSummary, InstructionCase, Interval, Spread
from probe_effect.pages import comparison
from probe_effect.stats import mover
from shared_examples import COSTS, DATA, SEED

if TYPE_CHECKING:
    from probe_effect.guidance.catalogue import CountedSubmission, MeasuredSubmission

FILE = DATA / "comparison.json"
FLOORS_NS = (0.5, 30.0, 2000.0)


def arithmetic() -> list[dict[str, Any]]:
    """Differences and ratios, of every extreme with every other and then at random."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    pairs = [*itertools.product(COSTS, COSTS), *((_at_random(chance), _at_random(chance)) for _ in range(60))]
    return [
        {
            "first": first,
            "second": second,
            "difference": _ends(mover.difference(_interval(first), _interval(second))),
            "ratio": _ends(mover.ratio(_interval(first), _interval(second))),
        }
        for first, second in pairs
    ]


def outcomes() -> list[dict[str, Any]]:
    """Two costs in two submissions against each other, with and without faults."""
    chance = random.Random(SEED)  # noqa: S311 (likewise)
    pairs = [*itertools.product(COSTS, COSTS), *((_at_random(chance), _near(chance)) for _ in range(60))]
    made = []
    for place, (first, second) in enumerate(pairs):
        sides = [
            _side(one, FLOORS_NS[(place + at) % 3], place % 7 != at, f"m/{at}")
            for at, one in enumerate((first, second))
        ]
        found = compare(*(_measurement(side) for side in sides))
        assert found is not None
        made.append({"first": sides[0], "second": sides[1], "outcome": found.outcome, "reason": found.reason})
    return made


def changes() -> list[dict[str, Any]]:
    """Two counts against each other: apart by a lot, by just enough, by too little, and with faults."""
    chance = random.Random(SEED)  # noqa: S311 (likewise)
    factors = (1, 1.0005, 1.005, 1.0101, 1.02, 1.5, 0.98, 0.2, -1)
    made = []
    for place, (count, factor) in enumerate(itertools.product((5.0, 100.0, 640.0, 52_000.0, -3.0, 0.0), factors)):
        faults = ["m/1, t: its events do not add up"] * (place % 11 == 5)
        first = {"cost": _run(count, chance), "untraced": 1500.0, "faults": faults}
        second = {"cost": _run(count * factor, chance), "untraced": 1510.0, "faults": faults}
        found = change(_counted(first), _counted(second))
        expected = {"outcome": found.outcome, "ratio": found.ratio, "difference": difference_instructions(found)}
        made.append({"first": first, "second": second, **expected})
    return made


def summaries() -> list[dict[str, Any]]:
    """What is said of so many outcomes."""
    counts = [(0, 0, 1, 0), (3, 1, 17, 0), (1, 0, 0, 0), (0, 2, 0, 1), (1, 1, 1, 1), (0, 0, 0, 4), (1200, 0, 30, 0)]
    return [
        _summary([name for name, times in zip(comparison.VERBS, one, strict=True) for _ in range(times)])
        for one in counts
    ]


def _summary(names: list[str]) -> dict[str, Any]:
    found = cast("list[Comparison]", [SimpleNamespace(outcome=cast("Outcome", name)) for name in names])
    said = {"summary": comparison.summary(found, "with B"), "chance": comparison.chance(found)}
    return {"outcomes": names, "side": "with B", **said}


def spreads() -> list[dict[str, Any]]:
    """Counts with the range of their runs as `units` writes them."""
    chance = random.Random(SEED)  # noqa: S311 (likewise)
    runs = [_run(10 ** chance.uniform(0, 6), chance) for _ in range(40)]
    found = [
        [1924.0, 1921.0, 1930.0],
        [5.0, 5.0, 5.0],
        [0.0, -1.0, 1.0],
        [99.96, 99.9, 100.2],
        [640.0, 640.0, 640.0001],
        *runs,
    ]
    return [{"value": one, "text": units.spread(Spread(*one), units.INSTRUCTIONS)} for one in found]


def _at_random(chance: random.Random) -> list[float | None]:
    value = chance.choice((1, 1, 1, -1)) * 10 ** chance.uniform(0, 5)
    return [value, value - abs(value) * chance.uniform(0, 0.6), value + abs(value) * chance.uniform(0, 0.6)]


def _near(chance: random.Random) -> list[float | None]:
    value = chance.uniform(50, 500)
    return [value, value - chance.uniform(0, 40), value + chance.uniform(0, 40)]


def _run(middle: float, chance: random.Random) -> list[float]:
    spread = chance.choice((0.0, 0.01, 0.5, 3.0))
    return [middle, middle - spread * chance.random(), middle + spread * chance.random()]


def _side(found: list[float | None], floor_ns: float, is_reconciled: bool, identity: str) -> dict[str, Any]:
    faults = [] if is_reconciled else [f"{identity}, t: its events do not add up"]
    faults += [f"{identity}, t: too few blocks for an interval"] if None in found else []
    return {"cost": found, "floor": floor_ns, "faults": faults}


def _measurement(side: dict[str, Any]) -> Measurement:
    """A cost of which the page would get `side`; its submission is named in the faults that it has."""
    identity = side["faults"][0].partition(",")[0] if side["faults"] else "m/x"
    case = CaseSummary(
        case="c",
        tracer="t",
        level=None,
        status="ok",
        blocks=20,
        cost=_interval(side["cost"]),
        noise_floor_ns=side["floor"],
        reconciled=not any("add up" in fault for fault in side["faults"]),
    )
    summary = SimpleNamespace(id=identity, metric="time")
    return Measurement(cast("MeasuredSubmission", SimpleNamespace(summary=summary)), case)


def _counted(side: dict[str, Any]) -> Counted:
    untraced = Spread(side["untraced"], side["untraced"], side["untraced"])
    case = InstructionCase(
        case="c",
        tracer="t",
        level=None,
        status="ok",
        blocks=3,
        baseline_instructions=untraced,
        cost_instructions=Spread(*side["cost"]),
        faults=tuple(fault.partition(": ")[2] for fault in side["faults"]),
    )
    return Counted(cast("CountedSubmission", SimpleNamespace(summary=SimpleNamespace(id="m/1"))), case)


def _interval(found: list[float | None]) -> Interval:
    value, low, high = found
    assert value is not None
    return Interval(value, low, high)


def _ends(found: Interval | None) -> list[float | None] | None:
    return None if found is None else [found.value, found.low, found.high]


def text() -> str:
    """The whole file, one line for each example."""
    groups: dict[str, Any] = {
        "arithmetic": arithmetic(),
        "outcomes": outcomes(),
        "changes": changes(),
        "summaries": summaries(),
        "spreads": spreads(),
    }
    return "{\n" + ",\n".join(f"{json.dumps(name)}: [\n{_lines(found)}\n]" for name, found in groups.items()) + "\n}\n"


def _lines(found: list[dict[str, Any]]) -> str:
    return ",\n".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in found)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
