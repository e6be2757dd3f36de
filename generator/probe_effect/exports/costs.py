"""The cost tables as JSON: one file for each machine and kind of machines, for the forms of the site and for others."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from probe_effect.answer.prediction import note_of
from probe_effect.costs.actions import READINGS, STOPS
from probe_effect.costs.evidence import Scope, evidence, whose
from probe_effect.costs.machine import machine_costs, own_actions
from probe_effect.costs.row import SAMPLED, CostRow, RowKey
from probe_effect.costs.table import CostTable
from probe_effect.exports.script_values import Values, ends, script_json
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import once
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.reduce.submission import Submission
from probe_effect.scripts.form import KINDS, TRACEPOINTS

FORMAT = 1
"""The version of the form of these files: it rises where something is taken away or means something else."""

DIGITS = 6
"""More than an answer is written with."""

COLUMNS = ("value_ns", "low_ns", "high_ns", "basis", "machines", "note", "without_hypervisor", "calls")
"""What each place of a row is; those at the end are left out where nothing is known."""

USER_PROBES = ("uprobe", "uretprobe")
"""Types of probe whose cost depends on the instruction that they replace."""

MECHANISMS = ("emulated", "stepped", "called")
PROBE_KINDS = tuple(dict.fromkeys((*KINDS.values(), *(kind for _, kind in TRACEPOINTS), "system-call")))


def file_name(kind: str) -> str:
    """The name that the file of a kind of machines has, without its ending."""
    return re.sub(r"[^a-z0-9]+", "-", kind.lower())


def scopes(catalogue: Catalogue) -> dict[str, tuple[str, Scope]]:
    """The name of each file to what it is of, in words, and its scope: kinds of machines, then each machine."""
    found, newest = evidence(catalogue), dict[str, Submission]()
    for submission in catalogue.numbers.submissions:
        newest.setdefault(submission.machine, submission)
    facts = {machine: facts_of_submission(newest[machine]) for machine in found.machines}
    kinds = {one.kind: whose(found, replace(one, machine="", name="")) for one in facts.values()}
    made = {file_name(kind): (f"any {kind}", scope) for kind, scope in kinds.items()}
    return made | {one: (names.machine_name(newest[one]), whose(found, facts[one], one)) for one in facts}


@once
def scope_tables(catalogue: Catalogue) -> dict[str, Values]:
    """The name of each file to what is in it."""
    return {name: scope_values(catalogue, name, *of) for name, of in scopes(catalogue).items()}


def cost_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON, and the schema of them all."""
    yield "costs/schema.json", Path(__file__).with_suffix(".schema.json").read_text(encoding="utf-8")
    for name, values in scope_tables(catalogue).items():
        yield f"costs/{name}.json", script_json(values)


def scope_values(catalogue: Catalogue, name: str, words: str, scope: Scope) -> Values:
    """The tables of all tracers in a scope. Rows have the places of notes and machines in their lists."""
    found, notes, machines = evidence(catalogue), dict[str, int](), dict[str, int]()
    tracers = dict.fromkeys([*found.tracers, STOPS, *(tool_of(tracer) for _, tracer, _ in found.printed)])
    made = {
        tracer: values
        for tracer in tracers
        if (values := table_values(CostTable(found, scope, tracer), _kinds(catalogue), notes, machines))["rows"]
    }
    head = {"format": FORMAT, "version": catalogue.version, "scope": {"id": name, "name": words}, "unit": "ns an event"}
    sets = [one.split() for one in machines]
    return {**head, "columns": COLUMNS, "machines": sets, "notes": list(notes), "tracers": made}


def _kinds(catalogue: Catalogue) -> Collection[str]:
    """The kinds of probes that scripts and standard tools have."""
    standard = (probe.kind for package in catalogue.tools for tool in package.tools for probe in tool.probes)
    return dict.fromkeys((*PROBE_KINDS, *standard, *(case.probe for case in catalogue.cases() if case.action)))


def table_values(table: CostTable, kinds: Collection[str], notes: dict[str, int], machines: dict[str, int]) -> Values:
    """A table as JSON has it; notes and machines that are new get the next places."""
    actions = READINGS if table.tracer == STOPS else table.actions
    rows: dict[str, dict[str, list[Any]]] = {}
    for kind in (SAMPLED,) if table.tracer == STOPS else filter(table.knows, kinds):
        for mechanism in (None, *MECHANISMS) if kind in USER_PROBES else (None,):
            own = {action: table.row(RowKey(kind, mechanism, action)) for action in actions}
            known = {action: _row(row, notes, machines) for action, row in own.items() if row is not None}
            if known:
                rows[f"{kind} {mechanism}" if mechanism else kind] = known
    highest = table.highest
    return {
        "tool": _tool(table),
        "does_anyway": sorted(own_actions(table.tracer)),
        "stops": table.tracer == STOPS,
        "adds": {action: _ends(added) for action in actions if (added := table.adds(action)) is not None},
        "highest": [highest[0], *_ends(highest[1])] if highest else None,
        "rows": rows,
    }


def _row(row: CostRow, notes: dict[str, int], machines: dict[str, int]) -> list[Any]:
    """The places of `COLUMNS`, without what is missing at the end."""
    note, whose_range = note_of(row), " ".join(row.machines)
    made = [
        *_ends(row.cost),
        row.basis,
        machines.setdefault(whose_range, len(machines)),
        None if note is None else notes.setdefault(note, len(notes)),
        row.hardware.text if row.hardware else None,
        [*_ends(row.path.cost), row.path.calls_per_event] if row.path else None,
    ]
    while made[-1] is None:
        made.pop()
    return made


def _ends(cost: Estimate) -> list[float | None]:
    return ends(cost, DIGITS) or []


def _tool(table: CostTable) -> str:
    """The tracer with its version where it is one machine's; else by its name."""
    known = machine_costs(table.found, table.scope.own[0], table.tracer).costs if table.scope.own else {}
    return names.tool_with_version(next(iter(known.values()))) if known else names.tracer_name(table.tracer)
