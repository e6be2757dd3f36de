"""What the page `/explore/` works with: its choices, a file for each of them, and its matrices.

A table is of one tracer, and a cell is one number. Times and counts never share a table, nor do two architectures.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from probe_effect import units
from probe_effect.answer.prediction import MAX_RATE_HZ, MIN_RATE_HZ
from probe_effect.compare.kernels import architecture_order
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.costs.evidence import evidence
from probe_effect.costs.row import calls_of_event
from probe_effect.model import level_order
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import reference_submission
from probe_effect.numbers.submission import Number
from probe_effect.site import script_values
from probe_effect.site.charts import theme
from probe_effect.site.charts.dots import INSTRUCTIONS, NANOSECONDS
from probe_effect.site.charts.theme import look
from probe_effect.site.pages import addresses, comparison, instructions, ladder_page, parts
from probe_effect.site.pages.fragments import first_suite_first
from probe_effect.site.pages.results.cost import COUNTED
from probe_effect.site.pages.results.cost import VIEW as COST
from probe_effect.site.script_values import Values, script_json, short
from probe_effect.store.suite_file import Case
from probe_effect.store.tables import FORMULA_START

FORM = "explore.json"
ALL_SUITES = "all"

_RATIOS = ("slowdown_ratio", "slowdown_low_ratio", "slowdown_high_ratio")
QUANTITIES = {
    "cost": {"title": COST.cited, "axis": NANOSECONDS.title, "columns": NANOSECONDS.columns},
    "slowdown": {"title": "Slowdown of a busy thread at {rate}", "axis": "slowdown, %", "columns": _RATIOS},
    "instructions": {"title": COUNTED.cited, "axis": INSTRUCTIONS.title, "columns": INSTRUCTIONS.columns},
}
"""What the page shows, by its choice: in words, on the axis, and as columns of its files."""


def explore_files(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what the form offers, then the numbers of each machine."""
    yield FORM, script_json(_form(catalogue, machines))
    for one in machines:
        yield f"explore/{one.name}.json", script_json({"machine": one.name, "numbers": _numbers(one)})


def _form(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Values:
    tracers = sorted({number.tracer for one in machines for number in one.numbers.values()})
    # Suites with the cases and levels that have a number, the first suite first.
    levels: dict[str, set[str]] = defaultdict(set)
    for key in (key for machine in machines for key in machine.numbers):
        levels[key.case].update([] if key.level is None else [key.level])
    suites = []
    for suite in (folder.suite for folder in first_suite_first(catalogue)):
        measured = [case.id for case in suite.cases if case.id in levels]
        cases = [[case, catalogue.titles[case], addresses.case(case)] for case in measured]
        known = sorted({level for case in measured for level in levels[case]}, key=level_order)
        suites.append({"id": suite.id, "title": suite.title, "levels": known, "cases": cases})
    return {
        "version": catalogue.version,
        "cite": script_values.view_citation("explore", catalogue.edition),
        "formula": FORMULA_START.pattern,
        "unclear": "{most}".join(parts.UNCLEAR),
        "flag": instructions.FLAG,
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "suites": [suite for suite in suites if suite["cases"]],
        **script_values.choice(machines, catalogue),
        "tracers": tracers,
        "usual": _usual(catalogue, machines),
        "quantities": QUANTITIES,
        "chart": {
            "schema": theme.SCHEMA,
            "config": theme.config(),
            "widths": theme.WIDTHS,
            "series": theme.SERIES,
            "looks": {tracer: (look(tracer).series, look(tracer).form) for tracer in tracers},
            "shapes": theme.SHAPES,
            "paper": theme.PAPER,
        },
    }


def _usual(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> dict[str, dict[str, str]]:
    """For times and for instructions the machine that each suite begins with, and all suites.

    It is the home page's, and the newest kernel of x86-64; of a suite that was not run there, the machine that was
    last.
    """
    reference = reference_submission(catalogue.numbers)
    known = offered(machines, catalogue)
    times = [one for one in known if one.metric == "time"]
    times.sort(key=lambda one: reference is not None and one.name != reference.machine)
    found: dict[str, dict[str, str]] = {"time": {}, "instructions": {}}
    counts = [one for one in reversed(known) if one.metric == "instructions"]
    counts.sort(key=lambda one: architecture_order(one.architecture))
    for one in (*times, *counts):
        for suite in (ALL_SUITES, *(number.submission.suite for number in one.numbers.values())):
            found[one.metric].setdefault(suite, one.name)
    return found


def _numbers(machine: MeasuredMachine) -> list[Values]:
    # Number's id to its place among the tracers that have its case and level there; counts have none.
    groups = grouped_by(machine.numbers.values(), lambda one: (one.case, one.level))
    places = {key: place for some in groups.values() for key, place in comparison.places(some).items()}
    return [
        script_values.number_values(one)
        | {
            "tracer": one.tracer,
            "tool": names.tool_with_version(one),
            "submission": one.submission.id,
            "floor": short(one.time.noise_floor_ns),
            "clear": one.distinguishable is True or not one.is_time,
            "sound": one.leads,
            "grade": one.grade,
            "place": places.get(one.id),
            "text": ladder_page.flagged(one),
        }
        for one in machine.numbers.values()
    ]


MATRIX = "matrix.json"

STEPS = (30, 100, 300, 1_000, 3_000, 10_000)
"""The cost at which each colour but the first begins, in ns or in instructions: about half a power of ten apart."""

PER = {"raw-tracepoint": "per call"}  # type of probe to what is its event, where its name does not say so


def matrix_file(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what costs each colour is for, and the matrices of times and counts."""
    kinds = grouped_by(offered(machines, catalogue), lambda one: one.architecture if one.metric != "time" else "")
    between = [f"{units.count(low)} to {units.count(high)}" for low, high in pairwise(STEPS)]
    steps = [f"below {units.count(STEPS[0])}", *between, f"{units.count(STEPS[-1])} or more"]
    matrices = [_matrix(catalogue, kind, some) for kind, some in kinds.items()]
    yield MATRIX, script_json({"steps": steps, "matrices": matrices})


def _matrix(catalogue: Catalogue, architecture: str, machines: Sequence[MeasuredMachine]) -> Values:
    """The columns and tables of one kind of machines; `architecture` is that of counts, empty for times.

    The tracer with most numbers has the first table.
    """
    word, columns = names.architecture(architecture), [one.name for one in machines]
    numbers = (one for machine in machines for one in machine.numbers.values() if one.level is None)
    tracers = sorted(grouped_by(numbers, lambda one: one.tracer).values(), key=len, reverse=True)
    return {
        "metric": machines[0].metric,
        "id": word or "machines",
        "of": "kernel" if word else "machine",
        "unit": f"instructions, {word}" if word else "ns",
        "columns": [
            {key: values[key] for key in ("id", "label", "href")}
            for values in map(script_values.machine_values, machines)
        ],
        "tables": [_table(catalogue, columns, own) for own in tracers],
    }


def _table(catalogue: Catalogue, columns: Sequence[str], numbers: Sequence[Number]) -> Values:
    """The rows of one tracer, suite by suite; a cell is None where nothing was measured."""
    cells = {(one.case, one.submission.machine): _cell(one) for one in numbers}
    measured = {case for case, _ in cells}
    suites = []
    for folder in first_suite_first(catalogue):
        rows = [
            {
                "title": _title(catalogue, case),
                "href": addresses.case(case.id),
                "cells": [cells.get((case.id, column)) for column in columns],
            }
            for case in folder.suite.cases
            if case.id in measured
        ]
        if rows:
            suites.append({"title": folder.suite.title, "rows": rows})
    tools = dict.fromkeys(names.tool_with_version(one) for one in numbers)
    return {"id": numbers[0].tracer, "tool": ", ".join(tools), "suites": suites}


def _title(catalogue: Catalogue, case: Case) -> str:
    """The name of a case, with what its cost is of where that is no single event."""
    calls = calls_of_event(evidence(catalogue), case.id)
    of_loop = "per iteration" if case.counted_by == "nothing" else None
    per = f"per iteration of {calls} system calls" if calls else PER.get(case.probe, of_loop)
    return f"{case.title}, {per}" if per else case.title


def _cell(one: Number) -> Values:
    """The text of a number, the address of its page, and its colour; None for what is unclear or flagged."""
    cost, most = one.known_cost, one.bounded_cost.high
    colour: str | None = f"heat-{bisect(STEPS, cost.value)}"
    if not one.is_time:
        text = units.count(cost.value)
    elif one.is_clear or most is None:
        text = units.value(cost, units.NANOSECONDS)
    else:
        text, colour = f"≤ {units.significant(most, 2)}", None
    return {
        "text": text if one.leads else f"{text} {instructions.FLAG}",
        "href": addresses.number(one, "cost" if one.is_time else "instructions"),
        "colour": colour if one.leads else None,
    }
