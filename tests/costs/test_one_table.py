"""The page's script and the commands add the same rows: over the tables that the site publishes, whatever is asked."""

from __future__ import annotations

import math
import random
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import PROJECT
from helpers.cost_invariants import ACTIONS, KINDS, MECHANISMS, OF_USER, Asked, Said, pairs, violations
from helpers.page_scripts import under_node
from probe_effect.costs.evidence import Scope, evidence_of
from probe_effect.costs.table import CostTable, ProbeGroup, event
from probe_effect.model import Estimate
from probe_effect.site.costs import cost_files, scope_tables, scopes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

SEED, COUNT, NEAR = 20_261_127, 500, 1e-4
Question = tuple[str, str, Asked]
"""A scope, a tracer and a probe."""

ANSWERED = """
import { nearest } from "./script-cost.js";
const [scopes, questions] = asked;
console.log(JSON.stringify(questions.map(([scope, tracer, probe, mechanism]) => {
  const found = nearest({ scopes, words: {} }, scope, tracer, probe, mechanism);
  return found && [found.cost.value, found.cost.low, found.cost.high, found.basis];
})));
"""


@pytest.fixture(scope="module")
def published(catalogue: Catalogue) -> dict[str, Any]:
    return scope_tables(catalogue)


def in_script(published: dict[str, Any], asked: Sequence[Question]) -> list[Said | None]:
    """What the page's script answers."""
    probes = [
        (scope, tracer, {**one._asdict(), "unknown": one.unknown}, one.mechanism or "") for scope, tracer, one in asked
    ]
    return [one and Said(Estimate(*one[:3]), one[3]) for one in under_node(ANSWERED, published, probes)]


def drawn(published: dict[str, Any]) -> list[Question]:
    chance = random.Random(SEED)  # noqa: S311 (examples, not secrets)
    made = []
    for _ in range(COUNT):
        scope = chance.choice(list(published))
        kind = chance.choice(KINDS)
        actions = tuple(chance.sample(ACTIONS, chance.choice((0, 1, 1, 2, 3))))
        mechanism = chance.choice((None, *MECHANISMS[:3])) if kind in OF_USER else None
        unknown = ("frobnicate(1)",) * (chance.random() < 0.2)
        asked = Asked(kind, mechanism, actions, has_filter=chance.random() < 0.3, unknown=unknown)
        made.append((scope, chance.choice(["bpftrace", *published[scope]["tracers"]]), asked))
    return made


def is_same(one: Said | None, other: Said | None) -> bool:
    if one is None or other is None:
        return one is other
    ends = zip(one.cost, other.cost, strict=True)
    return one.basis == other.basis and all(
        a is b if a is None or b is None else math.isclose(a, b, rel_tol=NEAR, abs_tol=0.01) for a, b in ends
    )


def test_five_hundred_probes_cost_the_same_in_the_pages_script(catalogue: Catalogue, published: dict[str, Any]) -> None:
    found, known = evidence_of(catalogue), scopes(catalogue)
    tables = {name: scope for name, (_, scope) in known.items()}

    def ours(scope: Scope, tracer: str, asked: Asked) -> Said | None:
        values = {key: value for key, value in asked._asdict().items() if key != "threads"}
        row = event(CostTable(found, scope, tracer), ProbeGroup(attach="probe", **values))
        return Said(row.cost, row.basis) if row else None

    some = drawn(published)
    wrong = [
        (question, one, theirs)
        for question, theirs in zip(some, in_script(published, some), strict=True)
        if not is_same(one := ours(tables[question[0]], *question[1:]), theirs)
    ]
    assert wrong == []


@pytest.mark.deep
def test_the_lines_that_the_page_shows_add_what_the_commands_add(
    catalogue: Catalogue, published: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "costs").mkdir()
    for name, text in cost_files(catalogue):
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = (PROJECT / "content" / "data" / "_index.md").read_text(encoding="utf-8")
    _, lines = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(lines.splitlines()) <= 15
    ran = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    kind, *_ = published
    asked = Asked("tracepoint-entry", None, ("count", "print"))
    (said,) = in_script(published, [(kind, "bpftrace", asked)])
    assert said is not None
    assert ran.stdout.startswith(f"{said.cost.value:.0f} ns ({said.cost.low:.0f} to {said.cost.high:.0f}), ")


@pytest.mark.deep
def test_more_work_never_costs_less_in_the_pages_script(published: dict[str, Any]) -> None:
    every = dict.fromkeys(one for _, *both in pairs() for one in both)
    some = [one for one in every if one.threads == 1 and one.frames is None and one.mechanism not in MECHANISMS[3:]]
    count = 0
    for scope, values in published.items():
        for tracer in values["tracers"]:
            said = dict(zip(some, in_script({scope: values}, [(scope, tracer, one) for one in some]), strict=True))
            swept, wrong = violations(said.get)
            count += swept
            assert wrong == [], (scope, tracer)
    assert count > 10_000
