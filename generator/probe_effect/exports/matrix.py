"""The matrices of `/explore/`: what an event costs in each case, on each machine in ns, on each kernel in instructions.

A table is of one tracer, and a cell is one number. Times and counts never share a table, nor do two architectures.
"""

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from probe_effect import units
from probe_effect.answer.entry_path import calls_of_event
from probe_effect.answer.evidence import evidence
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.exports.script_values import Values, machine_values, script_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import grouped_by
from probe_effect.pages import addresses, instructions
from probe_effect.pages.fragments import first_suite_first
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Case

MATRIX = "matrix.json"

STEPS = (30, 100, 300, 1_000, 3_000, 10_000)
"""The cost at which each colour but the first begins, in ns or in instructions: about half a power of ten apart."""

PER = {"raw-tracepoint": "per call"}
"""Type of probe to what is its event, where its name does not say so."""


def matrix_file(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what costs each colour is for, and the matrices of times and counts."""
    kinds = grouped_by(offered(machines, catalogue), lambda one: one.architecture if one.metric != "time" else "")
    found = [_matrix(catalogue, kind, some) for kind, some in kinds.items()]
    yield MATRIX, script_json({"steps": _steps(), "matrices": found})


def _steps() -> list[str]:
    between = (f"{units.count(low)} to {units.count(high)}" for low, high in pairwise(STEPS))
    return [f"below {units.count(STEPS[0])}", *between, f"{units.count(STEPS[-1])} or more"]


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
        "columns": [{key: values[key] for key in ("id", "label", "href")} for values in map(machine_values, machines)],
        "tables": [_table(catalogue, columns, own) for own in tracers],
    }


def _table(catalogue: Catalogue, columns: Sequence[str], numbers: Sequence[Number]) -> Values:
    """The rows of one tracer, suite by suite; a cell is None where nothing was measured."""
    cells = {(one.case, one.submission.machine): _cell(one) for one in numbers}
    measured = {case for case, _ in cells}
    suites = [
        {
            "title": folder.suite.title,
            "rows": [
                {
                    "title": _title(catalogue, case),
                    "href": addresses.case(case.id),
                    "cells": [cells.get((case.id, column)) for column in columns],
                }
                for case in folder.suite.cases
                if case.id in measured
            ],
        }
        for folder in first_suite_first(catalogue)
    ]
    tools = dict.fromkeys(names.tool_with_version(one) for one in numbers)
    return {"id": numbers[0].tracer, "tool": ", ".join(tools), "suites": [one for one in suites if one["rows"]]}


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
        text, colour = f"at most {units.significant(most, 2)}", None
    return {
        "text": f"{text} {instructions.FLAG}" if one.faults else text,
        "href": addresses.number(one, "cost" if one.is_time else "instructions"),
        "colour": None if one.faults else colour,
    }
