"""What `/advise/` works with: the tables of the reader of scripts, and on each machine what kinds of probes cost.

A script may do several things at each event, so the page adds: the probe with one action, as it was measured, and what
each further action adds to a probe. Both are those of `answer.cost_of`, and so is what an unknown action is taken for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from probe_effect.answer import hardware, sentences
from probe_effect.answer.actions import MADE_OF, Differences, Sum
from probe_effect.answer.bands import BANDS
from probe_effect.answer.calibrated_proof import times_of_others
from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.answer.nearest import FILTERED, own_actions
from probe_effect.answer.part import PLAIN_ACTION, Part
from probe_effect.answer.prediction import MAX_RATE_HZ, MIN_RATE_HZ
from probe_effect.answer.proof import program_spread
from probe_effect.answer.setup import Setup, setup
from probe_effect.answer.words import WORDS
from probe_effect.exports.guidance_costs import USER_PROBES
from probe_effect.exports.script_values import Values, ends, script_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.kinds import shown_machines
from probe_effect.pages import addresses
from probe_effect.reduce.thresholds import THRESHOLDS
from probe_effect.scripts.tables import KINDS, TRACEPOINTS, tables
from probe_effect.tools.record import known_tool

ADVISING = "advise.json"

MECHANISMS = (None, "emulated", "stepped", "called")
PROBE_KINDS = tuple(
    dict.fromkeys(
        (*KINDS.values(), *(kind for _, kind in TRACEPOINTS), "system-call", "function-tracer", "function-graph")
    )
)
"""Kinds that the reader of scripts knows."""

SAID = "slows unclear unknown one one-waiting running threshold no-threshold hot counted band bands".split()
"""Keys of the words that the page has in common with `predict` and the calculator."""

ADVISE_WORDS = {"filtered": FILTERED} | tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""The words that only this page has."""


def advise_file(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON."""
    found = evidence(catalogue)
    apart, far = program_spread(found), times_of_others(found)
    machines = [one for one in shown_machines(catalogue.numbers) if found.by_tracer(one)]
    whole = {
        "tables": tables(),
        "words": {key: WORDS[key] for key in (*SAID, "hardware-row")} | ADVISE_WORDS,
        "programs": {"said": sentences.programs(apart), "ratio": ends(apart.factor)} if apart else None,
        "calibrated_ratio": {"low": far.low, "middle": far.value, "high": far.high} if far else None,
        "thresholds": THRESHOLDS,
        "bands": [asdict(band) for band in BANDS],
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "user_probes": USER_PROBES,
        "machines": [_machine(found, machine) for machine in machines],
    }
    yield ADVISING, script_json(whole)


def _machine(found: Evidence, machine: str) -> Values:
    tracers = found.by_tracer(machine)
    newest = next(iter(next(iter(tracers.values())).values())).submission
    return {
        "id": machine,
        "where": names.machine_name(newest),
        "href": addresses.machine(machine),
        "tracers": {one: _tracer(setup(found, machine, one)) for one in tracers if _is_read(one)},
    }


def _is_read(tracer: str) -> bool:
    """Whether the reader reads what the tracer runs."""
    tool = known_tool(tracer)
    return tool is not None and tool.language is not None


def _tracer(on: Setup) -> Values:
    """Costs of kinds of probes with one action each, and what an action adds; in ns, with a basis and a note."""
    actions = list(dict.fromkeys((PLAIN_ACTION, *(one.action for one in (*on.fired, *on.counted)), *MADE_OF)))
    highest = on.differences.highest
    return {
        "tool": names.tool_with_version(next(iter(on.costs.values()))),
        "own": sorted(own_actions(on.tracer)),
        "dearest": ends(highest[1].cost) if highest else None,
        "adds": {action: cost for action in actions if (cost := _added(action, on.differences))},
        "costs": {
            f"{kind} {mechanism}" if mechanism else kind: costs
            for kind in PROBE_KINDS
            for mechanism in (MECHANISMS if kind in USER_PROBES else (None,))
            if (costs := _costs(on, kind, mechanism, actions))
        },
    }


def _added(action: str, known: Differences) -> list[float | None] | None:
    """The cost that an action adds to a probe with another action, in ns; None where it is unknown."""
    parts = [known.of(one, PLAIN_ACTION) for one in MADE_OF.get(action, (action,))]
    whole = Sum()
    for part in parts:
        if part is None:
            return None
        whole = whole.plus(part)
    return ends(whole.cost)


def _costs(on: Setup, kind: str, mechanism: str | None, actions: Sequence[str]) -> dict[str, list[Any]]:
    """Action to the cost of the probe with it alone: value, ends, basis, note, and what others measured on hardware."""
    parts = {
        action: cost_of(
            on.found, on.machine, on.tracer, kind=kind, mechanism=mechanism, actions=[action] * (action != PLAIN_ACTION)
        )
        for action in actions
    }
    return {action: _values(part) for action, part in parts.items() if part is not None}


def _values(part: Part) -> list[Any]:
    cost = ends(part.cost) or []
    if part.hardware is None:
        return [*cost, part.basis, *([part.note] if part.note else [])]
    note = " ".join(filter(None, [part.note, hardware.said("this probe", part.hardware)]))
    return [*cost, part.basis, note, part.hardware.text]
