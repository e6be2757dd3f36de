"""The site's reader of scripts and its sums of costs, under node, against the Python ones."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from helpers.page_scripts import under_node
from helpers.script_examples import FILE, reading, texts
from probe_effect.scripts.form import tables

SEED = 20_261_122
PIECES = (
    *"{}[]()/*\"'@$,;:=-+\n\\#&|~",
    *"if else nsecs count() hist( kprobe:f @a[tid] $x == delete(@a[tid]) str(arg0) comm /* */ // self->t 1".split(),
)
STATEMENTS = (
    """
@a[tid] = nsecs;~$x = @a[tid];~@ = hist(nsecs - $x);~delete(@a[tid]);~@b[comm, pid]++;~if (pid) { @ = count(); }
else { printf("%s", str(arg0)); }~else if (1) { @[kstack] = count() }~while ($i < 3) { $i++; }~$s = str(arg1);
@[$s] = sum(1);~@[kstack, ustack] = hist(arg2);~time();~f(1);~@n[tid] = comm;~@[@n[tid], probe] = count();~m();
""".replace("\n", "~")
    .strip("~")
    .split("~")
)

READ = """
import { connect, ScriptError } from "./script-reader.js";
const [tables, texts] = asked;
const read = connect(tables);
const error = ({ line, column, found, expected }) => ({ error: { line, column, found, expected } });
const reading = (text) => {
  try { return { script: read(text) }; } catch (wrong) {
    if (!(wrong instanceof ScriptError)) throw wrong;
    return error(wrong);
  }
};
console.log(JSON.stringify(texts.map(reading)));
"""

COST = """
import { nearest } from "./script-cost.js";
const [data, probes] = asked;
console.log(JSON.stringify(probes.map(({ mechanism, ...probe }) =>
    nearest(data, "", "tool", probe, mechanism))));
"""


def pasted() -> list[str]:
    """Texts of pieces of scripts, in any order."""
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    blocks = ["".join(chance.choices(PIECES, k=chance.randint(1, 30))) for _ in range(1500)]
    written = [" ".join(chance.choices(STATEMENTS, k=chance.randint(1, 9))) for _ in range(1500)]
    pairs = zip(written, reversed(written), strict=True)
    functions = (f"macro m() {{ {one} }} k:f /@a[tid]/ {{ {other} }} ur:a:b {{ {one} }}" for one, other in pairs)
    return [
        *blocks,
        *functions,
        *(f"k:f {{ {one} }}" for one in blocks),
        *(f"perf record {one}" for one in blocks[:300]),
        *(f"py-spy {word} {one}" for word in ("record -p 1", "top", "dump -n") for one in blocks[:300]),
    ]


def test_the_sites_reader_reads_the_shared_examples_as_ours_does() -> None:
    examples = json.loads(FILE.read_text(encoding="utf-8"))["scripts"]
    found = under_node(READ, tables(), [one["text"] for one in examples])
    expected = [{key: value for key, value in one.items() if key != "text"} for one in examples]
    assert found == expected


def test_both_readers_read_and_refuse_any_other_text_alike() -> None:
    found = under_node(READ, tables(), pasted())
    different = [
        (text, ours, theirs)
        for text, theirs in zip(pasted(), found, strict=True)
        if (ours := json.loads(json.dumps(reading(text)))) != theirs
    ]
    assert different == []


def test_most_changed_examples_are_read_alike_too() -> None:
    chance = random.Random(SEED)  # noqa: S311 (likewise)
    cut = [
        text[: chance.randint(0, len(text))] + chance.choice(PIECES) + text[chance.randint(0, len(text)) :]
        for text in texts()
    ]
    found = under_node(READ, tables(), cut)
    assert found == [json.loads(json.dumps(reading(text))) for text in cut]


TABLE = {
    "does_anyway": ["record"],
    "highest": ["print", 500.0, 400.0, 700.0],
    "adds": {
        "nothing": [0.0, 0.0, 0.0],
        "count": [10.0, 8.0, 13.0],
        "filter": [5.0, 4.0, 6.0],
        "print": [500.0, 400.0, 700.0],
    },
    "rows": {
        "kprobe": {
            "nothing": [100.0, 90.0, 120.0, "measured", 0],
            "count": [111.0, 100.0, 130.0, "measured", 0],
            "filter": [104.0, 93.0, 125.0, "composed", 0, 0],
            "print": [600.0, 490.0, 820.0, "composed", 0],
        },
        "uprobe stepped": {
            "nothing": [1000.0, None, None, "estimated", 0],
            "count": [1010.0, None, None, "estimated", 0],
        },
    },
}


def priced(table: dict[str, Any], *probes: dict[str, Any]) -> Any:  # noqa: ANN401 (JSON)
    scope = {"machines": [["one"]], "notes": ["A note."], "tracers": {"tool": table}}
    return under_node(COST, {"scopes": {"": scope}, "words": {}}, probes)


def cost(kind: str, *actions: str, has_filter: bool = False, unknown: tuple[str, ...] = (), mechanism: str = "") -> Any:  # noqa: ANN401 (JSON)
    probe = {"kind": kind, "actions": actions, "has_filter": has_filter, "unknown": unknown, "mechanism": mechanism}
    return priced(TABLE, probe)[0]


@pytest.mark.parametrize(
    ("actions", "value", "low", "high", "basis"),
    [
        (["nothing"], 100, 90, 120, "measured"),
        (["count"], 111, 100, 130, "measured"),
        (["record"], 100, 90, 120, "measured"),
        (["count", "count"], 121, 108, 143, "composed"),
        (["print", "count"], 611, 500, 833, "composed"),
        (["count", "print"], 611, 500, 833, "composed"),
    ],
)
def test_of_all_ways_to_add_the_actions_the_greatest_counts(
    actions: list[str], value: float, low: float, high: float, basis: str
) -> None:
    found = cost("kprobe", *actions)
    assert found["cost"] == {"value": value, "low": low, "high": high}
    assert found["basis"] == basis


def test_an_action_that_was_measured_only_with_its_probe_is_taken_with_it() -> None:
    probe = {"kind": "system-call", "actions": ["print"], "has_filter": False, "unknown": []}
    rows = {"system-call": {"print": [2000.0, 1900.0, 2100.0, "measured", 0]}}
    table: dict[str, Any] = {"does_anyway": [], "highest": None, "adds": {"nothing": [0.0, 0.0, 0.0]}, "rows": rows}
    assert priced(table, probe)[0]["cost"]["value"] == 2000


def test_an_action_that_nobody_measured_is_not_known() -> None:
    assert cost("kprobe", "count", "frobnicate") is None


def test_an_event_behind_a_filter_may_cost_no_more_than_the_filter() -> None:
    found = cost("kprobe", "print", has_filter=True)
    assert found["cost"] == {"value": 605, "low": 93, "high": 826}


def test_what_is_not_understood_is_taken_for_the_most_expensive_action() -> None:
    found = cost("kprobe", "count", unknown=("delete(@x)",))
    assert found["cost"] == {"value": 611, "low": 100, "high": 830}
    assert found["unknown"] == ["delete(@x)"]


def test_a_cost_without_ends_stays_without() -> None:
    found = cost("uprobe", "count", "count", mechanism="stepped")
    assert found["cost"] == {"value": 1020, "low": None, "high": None}
    assert found["basis"] == "estimated"


def test_a_kind_that_nobody_measured_has_no_cost() -> None:
    assert cost("iter", "count") is None
    assert cost("constructor", "count") is None
