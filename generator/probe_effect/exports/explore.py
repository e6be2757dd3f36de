"""What the page `/explore/` works with: every current cost as columns, and what its charts and words are made of.

Times and counted instructions are two tables that never meet. The address of a number is that of `pages.addresses`:
`/results/<submission>/<case>/<tracer>[/<level>]/`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probe_effect.charts import theme
from probe_effect.charts.tracer_look import look
from probe_effect.exports.compare_shards import labelled, subjects, view_citation
from probe_effect.guidance import names
from probe_effect.guidance.comparison import Measurement
from probe_effect.guidance.prediction import MAX_RATE_HZ, MIN_RATE_HZ
from probe_effect.pages import explore_page
from probe_effect.pages.results import FIRST_SUITE, reference_submission
from probe_effect.store.tables import FORMULA_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.exports.compare_shards import Machine, One
    from probe_effect.guidance.catalogue import Catalogue
    from probe_effect.model import Metric

DIGITS = 9
"""Of each number: so many that it is written as on every other page."""

LABELS = ("submission", "case", "tracer", "tool", "level")
"""Columns that repeat few values: each number in them is a place in the list of that name."""


@dataclass(frozen=True, slots=True)
class Number:
    """One cost: where it comes from, its ends, and what is to be said with it."""

    labels: tuple[str | None, ...]
    value: float
    low: float | None
    high: float | None
    floor: float | None
    is_clear: bool
    is_sound: bool
    grade: str | None


def explore(catalogue: Catalogue) -> str:
    """The page's data as JSON; values are ns per event, or instructions per event."""
    machines = subjects(catalogue)
    numbers = {metric: _numbers(machines, metric) for metric in ("time", "instructions")}
    lists = {
        label: list(dict.fromkeys(one.labels[place] for found in numbers.values() for one in found))
        for place, label in enumerate(LABELS)
    }
    whole = {
        "version": catalogue.version,
        "cite": view_citation("explore", catalogue.edition),
        "words": explore_page.WORDS | {"formula": FORMULA_START.pattern},
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "suites": _suites(catalogue, numbers.values()),
        "machines": [_machine(one, label) for one, label in labelled(machines)],
        "reference": _reference(catalogue, machines),
        "lists": lists,
        **{metric: _columns(found, lists) for metric, found in numbers.items()},
        "chart": _chart(lists["tracer"]),
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _numbers(machines: Iterable[Machine], metric: Metric) -> list[Number]:
    """The newest cost of each machine, case, tracer and level, by case."""
    found: list[One] = []
    for machine in machines:
        if machine.metric == metric:
            found += {one.key: one for one in reversed(machine.every())}.values()
    return [_number(one) for one in sorted(found, key=lambda one: one.key.order)]


def _number(one: One) -> Number:
    case, submission = one.case, one.submission
    version = submission.document.tools.get(case.tracer)
    labels = (submission.summary.id, case.case, case.tracer, names.tool(case.tracer, version), case.level)
    if isinstance(one, Measurement):
        cost = one.case.cost
        assert cost is not None
        is_sound = one.case.reconciled is not False
        floor, is_clear = one.case.noise_floor_ns, bool(one.case.distinguishable)
        return Number(labels, cost.value, cost.low, cost.high, floor, is_clear, is_sound, one.case.grade)
    count = one.case.cost_instructions
    assert count is not None
    is_sound = not one.case.faults
    return Number(labels, count.median, count.least, count.greatest, None, is_clear=True, is_sound=is_sound, grade=None)


def _columns(found: Sequence[Number], lists: dict[str, list[str | None]]) -> dict[str, list[Any]]:
    """A list for each column, which packs into a third of what an object for each row does."""
    places = {label: {text: place for place, text in enumerate(lists[label])} for label in LABELS}
    return {
        **{label: [places[label][one.labels[at]] for one in found] for at, label in enumerate(LABELS)},
        "value": [_short(one.value) for one in found],
        "low": [_short(one.low) for one in found],
        "high": [_short(one.high) for one in found],
        "floor": [_short(one.floor) for one in found],
        "clear": [int(one.is_clear) for one in found],
        "sound": [int(one.is_sound) for one in found],
        "grade": [one.grade for one in found],
    }


def _suites(catalogue: Catalogue, numbers: Iterable[Sequence[Number]]) -> list[dict[str, Any]]:
    """Suites with the cases that have a number, the first suite first; `factor` names what a level is of."""
    known = {one.labels[LABELS.index("case")] for found in numbers for one in found}
    suites = [
        {
            "id": folder.suite.id,
            "title": folder.suite.title,
            "factor": folder.suite.factor.title if folder.suite.factor else None,
            "cases": [[case.id, case.title] for case in folder.suite.cases if case.id in known],
        }
        for folder in sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)
    ]
    return [suite for suite in suites if suite["cases"]]


def _machine(one: Machine, label: str) -> dict[str, Any]:
    tier = names.tier(one.side.submissions[0].document.machine, one.metric)
    return {"id": one.id, "metric": one.metric, "label": label, "tier": tier}


def _reference(catalogue: Catalogue, machines: Iterable[Machine]) -> dict[str, str]:
    """The machine that each of the two begins with: the home page's, and the newest kernel."""
    reference = reference_submission(catalogue)
    counting = [one.id for one in machines if one.metric == "instructions"]
    times = {"time": reference.summary.machine} if reference else {}
    return times | ({"instructions": counting[-1]} if counting else {})


def _chart(tracers: Iterable[str | None]) -> dict[str, Any]:
    """How all charts of the site look (`charts.theme`), for the one that the page makes."""
    return {
        "schema": theme.SCHEMA,
        "config": theme.config(),
        "widths": theme.WIDTHS,
        "series": theme.SERIES,
        "looks": [(look(tracer).series, look(tracer).form) for tracer in tracers if tracer is not None],
        "shapes": theme.SHAPES,
        "paper": theme.PAPER,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
