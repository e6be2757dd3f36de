"""The arithmetic and the words of the pages' scripts, against the examples that ours fulfil too."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from helpers.page_scripts import under_node
from helpers.shared_examples import DATA
from probe_effect.site.pages import instructions
from probe_effect.site.pages.comparison import words_of_outcomes
from probe_effect.store.tables import FORMULA_START

PREDICTED = """
import { given, multiplied } from "./estimates.js";
import { predict } from "./prediction.js";
const taken = found => found && [found.value, found.low, found.high];
console.log(JSON.stringify(asked[0].map(({ probes: [one], stops }) => {
    const cost = one.factor ? multiplied(given(one.cost), given(one.factor)) : given(one.cost);
    const found = predict(cost, one.rate_hz, stops);
    return {
        cost: taken(cost), slowdown: taken(found.slowdown),
        ...Object.fromEntries([...found.thresholds].map(([percent, limit]) => [percent, taken(limit)])),
    };
})));
"""

BANDS = """
import { given } from "./estimates.js";
import { bandsOf } from "./prediction.js";
console.log(JSON.stringify(asked[0].map(({ slowdown }) => bandsOf(given(slowdown)))));
"""

MOVED = """
import { given } from "./estimates.js";
import { moved } from "./prediction.js";
console.log(JSON.stringify(asked[0].map(({ cost, each, measured, calls }) => {
    const found = moved(given(cost), given(each), measured, calls);
    return [found.value, found.low, found.high];
})));
"""

WRITTEN = """
import { interval, middle, quantity, scales, span, stated } from "./units.js";
const ends = (write) => ([value, low, high], scale) => write({ value, low, high }, scale);
const writes = { quantity, stated, interval: ends(interval), middle: ends(middle), span: ends(span) };
console.log(JSON.stringify(asked[0].map(({ write, scale, value }) => writes[write](value, scales[scale]))));
"""

READ = """
import { readRate } from "./units.js";
console.log(JSON.stringify(asked[0].map(({ text }) => readRate(text))));
"""

WORKED_OUT = """
import { difference, given, ratio } from "./estimates.js";
const taken = (found) => found && [found.value, found.low, found.high];
console.log(JSON.stringify(asked[0].map(({ first, second }) =>
    [taken(difference(given(first), given(second))), taken(ratio(given(first), given(second)))])));
"""

DECIDED = """
import { counts, times } from "./comparison.js";
import { given } from "./estimates.js";
const [metric, words, all] = asked;
const side = (one) => ({ ...one, cost: given(one.cost) });
console.log(JSON.stringify(all.map(({ first, second }) => metric === "time"
    ? times(side(first), side(second), null, words) : counts(side(first), side(second), words))));
"""

SAID = """
import { chance, summary } from "./comparison.js";
const [words, all] = asked;
console.log(JSON.stringify(all.map(({ outcomes, side }) => [summary(outcomes, side, words), chance(outcomes, words)])));
"""

SAVED = """
import { csv } from "./table.js";
const [formula, all] = asked;
console.log(JSON.stringify(all.map((records) => csv(records, formula))));
"""

ROUNDED = 1e-6
"""How close what is made of the rounded numbers that the page gets comes to what is made of all their digits."""


def examples(file: str, group: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / file).read_text(encoding="utf-8"))[group]
    return found


def same(found: list[float | None] | None, expected: list[float | None] | None, rel: float = 1e-9) -> bool:
    if found is None or expected is None:
        return found is expected
    pairs = zip(found, expected, strict=True)
    return all(a is b if a is None or b is None else math.isclose(a, b, rel_tol=rel, abs_tol=1e-12) for a, b in pairs)


def test_pages_predict_for_a_busy_thread_what_exact_fractions_say() -> None:
    every = examples("prediction.json", "predictions")
    wanted = [one for one in every if len(one["probes"]) == 1 and one["busy_ratio"] == 1]
    assert len(wanted) > 50
    for example, found in zip(wanted, under_node(PREDICTED, wanted), strict=True):
        expected = example["expected"] | example["expected"]["thresholds"]
        assert [(example, name) for name in found if not same(found[name], expected[name])] == []


def test_pages_find_the_bands_of_a_slowdown_as_the_examples_say() -> None:
    wanted = examples("prediction.json", "bands")
    assert under_node(BANDS, wanted) == [one["expected"] for one in wanted]


def test_pages_move_costs_to_other_numbers_of_system_calls_as_the_examples_say() -> None:
    wanted = examples("prediction.json", "moves")
    found = under_node(MOVED, wanted)
    assert [one for one, ends in zip(wanted, found, strict=True) if not same(ends, one["expected"])] == []


def test_pages_write_their_quantities_as_the_terminal_does() -> None:
    wanted = [one for one in examples("units.json", "written") if one["scale"] not in {"CPUS", "SIZE"}]
    assert len(wanted) >= 200
    assert under_node(WRITTEN, wanted) == [one["text"] for one in wanted]


def test_pages_read_rates_as_the_command_does() -> None:
    wanted = [one for one in examples("units.json", "read") if one["read"] == "rate"]
    assert same(under_node(READ, wanted), [one["value"] for one in wanted])


def test_pages_work_out_differences_and_ratios_as_the_generator_does() -> None:
    wanted = examples("comparison.json", "arithmetic")
    pairs = [
        (one, got)
        for one, got in zip(wanted, under_node(WORKED_OUT, wanted), strict=True)
        if not (same(got[0], one["difference"]) and same(got[1], one["ratio"]))
    ]
    assert pairs == []


@pytest.mark.parametrize(
    ("metric", "group", "words"),
    [
        ("time", "outcomes", words_of_outcomes()),
        ("instructions", "changes", instructions.words_of_outcomes()),
    ],
)
def test_pages_decide_as_the_generator_does(metric: str, group: str, words: object) -> None:
    wanted = examples("comparison.json", group)
    found = under_node(DECIDED, metric, words, wanted)
    assert [(one["outcome"], one["reason"]) for one in found] == [(one["outcome"], one["reason"]) for one in wanted]
    for got, one in zip(found, wanted, strict=True):
        values = [got[name]["value"] if isinstance(got[name], dict) else got[name] for name in ("difference", "ratio")]
        assert same(values, [one["difference"], one["ratio"]], ROUNDED)


def test_pages_sum_up_in_the_words_of_the_generator() -> None:
    wanted = examples("comparison.json", "summaries")
    assert under_node(SAID, words_of_outcomes(), wanted) == [[one["summary"], one["chance"]] for one in wanted]


def test_pages_write_tables_as_the_generator_does() -> None:
    """The files that a reader keeps of a view, with what a spreadsheet would run made harmless."""
    wanted = examples("comparison.json", "tables")
    saved = under_node(SAVED, FORMULA_START.pattern, [one["records"] for one in wanted])
    assert saved == [one["csv"] for one in wanted]
