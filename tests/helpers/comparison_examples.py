"""Examples that the Python code and the script of the page `/compare/` must both fulfil: `tests/data/comparison.json`.

To make them again: `PYTHONPATH=tests .venv/bin/python -m helpers.comparison_examples`.
"""

from __future__ import annotations

import itertools
import json
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from helpers.number_builder import number, submission
from helpers.shared_examples import COSTS, DATA, SEED
from probe_effect.compare.comparison import OUTCOMES, Comparison, compare
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.site.files import DataTable, Field, TableRow, csv_text
from probe_effect.site.pages import comparison
from probe_effect.site.script_values import compared_values

if TYPE_CHECKING:
    from probe_effect.compare.comparison import Outcome
    from probe_effect.numbers.submission import Number

FILE = DATA / "comparison.json"
FLOORS_NS = (0.5, 30.0, 2000.0)
ADD_UP = ("its events do not add up",)


def arithmetic() -> list[dict[str, Any]]:
    """Differences and ratios, of every extreme with every other and then at random."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    pairs = [*itertools.product(COSTS, COSTS), *((_at_random(chance), _at_random(chance)) for _ in range(60))]
    return [
        {
            "first": first,
            "second": second,
            "difference": _ends(estimates.difference(_interval(first), _interval(second))),
            "ratio": _ends(estimates.ratio(_interval(first), _interval(second))),
        }
        for first, second in pairs
    ]


def outcomes() -> list[dict[str, Any]]:
    """Two times in two submissions against each other, with and without faults."""
    chance = random.Random(SEED)  # noqa: S311 (likewise)
    pairs = [*itertools.product(COSTS, COSTS), *((_at_random(chance), _near(chance)) for _ in range(60))]
    made = []
    for place, ends in enumerate(pairs):
        sides = [
            _time(one, FLOORS_NS[(place + at) % 3], f"m{at}", ADD_UP * (place % 7 == at)) for at, one in enumerate(ends)
        ]
        made.append(_compared(*sides))
    return made


def changes() -> list[dict[str, Any]]:
    """Two counts against each other: apart by a lot, just enough, too little; with faults; of two architectures."""
    chance = random.Random(SEED)  # noqa: S311 (likewise)
    factors = (1, 1.0005, 1.005, 1.0101, 1.02, 1.5, 0.98, 0.2, -1)
    made = []
    for place, (count, factor) in enumerate(itertools.product((5.0, 100.0, 640.0, 52_000.0, -3.0, 0.0), factors)):
        sides = [
            _count(
                _run(value, chance), untraced, f"m{at}", ADD_UP * (place % 11 == 5), "aarch64" * at * (place % 9 == 2)
            )
            for at, (value, untraced) in enumerate(((count, 1500.0), (count * factor, 1510.0)))
        ]
        made.append(_compared(*sides))
    return made


def summaries() -> list[dict[str, Any]]:
    """What is said of so many outcomes."""
    counts = [(0, 0, 1, 0), (3, 1, 17, 0), (1, 0, 0, 0), (0, 2, 0, 1), (1, 1, 1, 1), (0, 0, 0, 4), (1200, 0, 30, 0)]
    return [_summary([name for name, times in zip(OUTCOMES, one, strict=True) for _ in range(times)]) for one in counts]


def _summary(names: list[Outcome]) -> dict[str, Any]:
    found = cast("list[Comparison]", [SimpleNamespace(outcome=name) for name in names])
    said = {"summary": comparison.summary(found, "with B"), "chance": comparison.chance(found)}
    return {"outcomes": names, "side": "with B", **said}


def tables() -> list[dict[str, Any]]:
    """Rows as CSV that no spreadsheet runs."""
    texts = ("=cmd()", "+1", "-1", "@x", "a,b", 'say "no"', "two\nlines", "", "plain", "\tindented", None)
    others = itertools.cycle((-1.5, 2, None, True))
    rows = tuple(TableRow({"text": text, "other": other}) for text, other in zip(texts, others, strict=False))
    table = DataTable("-", (Field("text", "string", "-"), Field("other", "number", "-")), rows)
    return [{"records": list(rows), "csv": csv_text(table)}]


def _at_random(chance: random.Random) -> list[float | None]:
    value = chance.choice((1, 1, 1, -1)) * 10 ** chance.uniform(0, 5)
    return [value, value - abs(value) * chance.uniform(0, 0.6), value + abs(value) * chance.uniform(0, 0.6)]


def _near(chance: random.Random) -> list[float | None]:
    value = chance.uniform(50, 500)
    return [value, value - chance.uniform(0, 40), value + chance.uniform(0, 40)]


def _run(middle: float, chance: random.Random) -> list[float]:
    spread = chance.choice((0.0, 0.01, 0.5, 3.0))
    return [middle, middle - spread * chance.random(), middle + spread * chance.random()]


def _time(ends: list[float | None], floor_ns: float, machine: str, faults: tuple[str, ...]) -> Number:
    return number(submission(machine), _interval(ends), noise_floor_ns=floor_ns, faults=faults)


def _count(ends: list[float], untraced: float, machine: str, faults: tuple[str, ...], architecture: str) -> Number:
    document = {"machine__architecture": architecture or "x86_64"}
    own = submission(machine, metric="instructions", document=document)
    return number(own, Estimate(*ends), baseline=Estimate(untraced, untraced, untraced), faults=faults)


def _compared(first: Number, second: Number) -> dict[str, Any]:
    """Both as the page gets them, and what must come out."""
    found = compare(first, second)
    return {
        "first": compared_values(first),
        "second": compared_values(second),
        "difference": found.difference.value,
        "ratio": found.change_ratio if not first.is_time else found.ratio and found.ratio.value,
        "outcome": found.outcome,
        "reason": found.reason,
    }


def _interval(found: list[float | None]) -> Estimate:
    value, low, high = found
    assert value is not None
    return Estimate(value, low, high)


def _ends(found: Estimate | None) -> list[float | None] | None:
    return None if found is None else [found.value, found.low, found.high]


def text() -> str:
    """The whole file, one line for each example."""
    groups: dict[str, Any] = {
        "arithmetic": arithmetic(),
        "outcomes": outcomes(),
        "changes": changes(),
        "summaries": summaries(),
        "tables": tables(),
    }
    return "{\n" + ",\n".join(f"{json.dumps(name)}: [\n{_lines(found)}\n]" for name, found in groups.items()) + "\n}\n"


def _lines(found: list[dict[str, Any]]) -> str:
    return ",\n".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in found)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
