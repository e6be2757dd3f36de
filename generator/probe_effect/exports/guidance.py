"""What the calculator of the home page works with: every cost that guides, and the words that it fills in.

The words are those of the command `predict` (`guidance.words`), so the page says what the terminal says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from probe_effect.guidance import names, sentences
from probe_effect.guidance.alternatives import alternatives
from probe_effect.guidance.evidence import evidence
from probe_effect.guidance.levels import contention, line
from probe_effect.guidance.prediction import MAX_RATE_HZ, MAX_THREADS, MIN_RATE_HZ
from probe_effect.guidance.slowdown import THRESHOLDS
from probe_effect.guidance.words import WORDS
from probe_effect.pages.results import FIRST_SUITE

if TYPE_CHECKING:
    from probe_effect.guidance.catalogue import Catalogue
    from probe_effect.guidance.evidence import Evidence, Key, Measured
    from probe_effect.model import Interval

DIGITS = 9
"""Of each number that the page gets: more than any interval supports, and a third less to load than all."""


def guidance(catalogue: Catalogue) -> str:
    """The calculator's data as JSON: words, limits, suites with their cases, machines, notes, and every cost."""
    found = evidence(catalogue)
    keys = _in_order(found)
    notes = list(dict.fromkeys(other.but for _, case in found.cases() for other in case.instead))
    whole = {
        "words": WORDS,
        "thresholds": THRESHOLDS,
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ], "threads": MAX_THREADS},
        "suites": _suites(found),
        "machines": {one.facts.machine: _machine(one) for one in reversed(found.costs.values())},
        "notes": notes,
        "costs": [_cost(found, key, found.costs[key]) | {"ways": _ways(found, key, keys, notes)} for key in keys],
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _in_order(found: Evidence) -> list[Key]:
    """The keys of all costs as the page offers them: tracers with most cases first, and the first suite first."""
    cases = {case.id for suite, case in found.cases() if suite.id == FIRST_SUITE}
    tracers = found.tracers()
    return sorted(found.costs, key=lambda key: (tracers.index(key[1]), key[2] not in cases))


def _suites(found: Evidence) -> list[dict[str, Any]]:
    """Suites with the cases that have a cost, each by its id, title, probe and action; the first suite first."""
    measured = {case for _, _, case in found.costs}
    suites = [
        {
            "title": suite.title,
            "cases": [[case.id, case.title, case.probe, case.action] for case in suite.cases if case.id in measured],
        }
        for suite in sorted(found.suites, key=lambda suite: suite.id != FIRST_SUITE)
    ]
    return [suite for suite in suites if suite["cases"]]


def _machine(one: Measured) -> dict[str, str]:
    facts = one.facts
    return {
        "where": sentences.place(facts, one.submission.document),
        "tier": facts.tier,
        "architecture": facts.architecture,
    }


def _cost(found: Evidence, key: Key, one: Measured) -> dict[str, Any]:
    """One cost and what is known of it; `rate` in events/s, `loss` as a ratio, both at the rate that was measured."""
    machine, tracer, case = key
    letter, reasons = one.grade
    factors = contention(found, machine, tracer, case)
    return {
        "case": case,
        "tracer": tracer,
        "machine": machine,
        "tool": names.tool(tracer, one.tool_version),
        "cost": _ends(one.bounded),
        "clear": one.is_clear,
        "rate": _short(one.case.rate_hz),
        "loss": _short(one.case.loss_ratio),
        "grade": sentences.graded(letter, reasons),
        "date": names.date_words(one.date),
        "line": sentences.line_words(line(found, machine, tracer, case)),
        "contention": [[factor.threads, _ends(factor.factor)] for factor in factors],
    }


def _ways(found: Evidence, key: Key, keys: list[Key], notes: list[str]) -> list[list[int]]:
    """What costs less: the place of its cost, that of its note or -1, and 1 where both were in the same blocks."""
    return [
        [keys.index(one.key), notes.index(one.but) if one.but else -1, int(one.comparison.is_paired)]
        for one in alternatives(found, key)
    ]


def _ends(found: Interval) -> list[float | None]:
    return [_short(end) for end in (found.value, found.low, found.high)]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
