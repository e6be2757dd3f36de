"""What the forms of `/advise/` and the home page work with: the reader's tables, and what probes cost on each machine.

A script may do several things at each event, so the page adds: the probe with one action, as it was measured, and what
each further action adds to a probe. Both are those of `answer.cost_of`, and so is what an unknown action is taken for.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.answer.alternatives import Alternative, alternatives
from probe_effect.answer.asking import tool_scripts
from probe_effect.answer.calibrated_proof import times_of_others
from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.depth import READINGS, STOPS, stopped
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.answer.part import PLAIN_ACTION, Part, published
from probe_effect.answer.prediction import MAX_RATE_HZ, MIN_RATE_HZ
from probe_effect.answer.proof import in_programs, program_spread
from probe_effect.answer.question import SAMPLED
from probe_effect.answer.setup import Setup, own_actions, setup
from probe_effect.answer.words import BANDS, WORDS
from probe_effect.exports import script_values
from probe_effect.exports.first_answer import first_answers, note_of
from probe_effect.exports.script_values import Values, script_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.likeness import facts_of_submission
from probe_effect.numbers.names import quoted
from probe_effect.numbers.shown import in_order, shown_machines
from probe_effect.pages import addresses
from probe_effect.reduce.grades import THRESHOLDS
from probe_effect.reduce.submission import Submission
from probe_effect.scripts.form import KINDS, TRACEPOINTS, tables
from probe_effect.toml import beside
from probe_effect.tools.record import known_tool

ADVISING = "advise.json"

FIRST = "first-answer.json"
"""What the layout prints of the forms before their scripts run; nobody loads it."""

USER_PROBES = ("uprobe", "uretprobe")
"""Types of probe whose cost depends on the instruction that they replace."""

MECHANISMS = ("emulated", "stepped", "called")
PROBE_KINDS = tuple(
    dict.fromkeys(
        (*KINDS.values(), *(kind for _, kind in TRACEPOINTS), "system-call", "function-tracer", "function-graph")
    )
)
"""Kinds that the reader of scripts knows."""

SAID = """slows unclear unknown one threshold no-threshold counted hot band bands costs cost-together limits no-limits
up-to least on-machines over-machines range hardware-row switches filtered as-printed another-kind""".split()
"""Keys of the words that the page has in common with `predict` and `advise`."""

ADVISE_WORDS = beside(__file__)
"""The words that only these forms have."""


ends = partial(script_values.ends, digits=6)
"""A value with its ends, in more digits than an answer is written with."""

PROGRAMS = "In {count} real programs it took {least} to {most} longer."


def advise_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON."""
    found = evidence(catalogue)
    apart, far = program_spread(found), times_of_others(found)
    newest = {one.machine: one for one in reversed(in_order(catalogue.numbers))}
    machines = [one for one in shown_machines(catalogue.numbers) if found.by_tracer(one)]
    home = next((one.machine for one in in_order(catalogue.numbers) if one.machine in machines), None)
    standard = tool_scripts(catalogue.tools)
    read = {one for one in found.tracers if (tool := known_tool(one)) and tool.language is not None}
    read |= {one.tracer for one in standard.values()}
    kinds = dict.fromkeys((*PROBE_KINDS, *(probe.kind for one in standard.values() for probe in one.probes)))
    whole = {
        "tables": tables(),
        "words": {key: WORDS[key] for key in SAID} | ADVISE_WORDS,
        "mechanisms": [("", ADVISE_WORDS["first-unknown"]), *((one, WORDS[f"first-{one}"]) for one in MECHANISMS)],
        "programs": {"said": sentences.programs(apart), "ratio": ends(apart.factor)} if apart else None,
        "calibrated_ratio": {"low": far.low, "middle": far.value, "high": far.high} if far else None,
        "thresholds": THRESHOLDS,
        "bands": [asdict(band) for band in BANDS],
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "user_probes": USER_PROBES,
        "tracers": [one for one in found.tracers if one in read],
        "kind": facts_of_submission(newest[home]).kind if home else None,
        "machines": [_machine(found, machine, newest[machine], read, kinds) for machine in machines],
        "printed": _printed(found),
        "programs_of": _programs_of(found),
        "less": _less(found, read),
        "standard": {name: asdict(one) for name, one in standard.items()},
    }
    yield ADVISING, script_json(whole)
    first = first_answers(found, facts_of_submission(newest[home]), whole) if home else {}
    yield FIRST, script_json(first)


def _machine(
    found: Evidence, machine: str, newest: Submission, read: Collection[str], kinds: Collection[str]
) -> Values:
    return {
        "id": machine,
        "label": names.machine_name(newest),
        "href": addresses.machine(machine),
        "kind": facts_of_submission(newest).kind,
        "tracers": {one: _tracer(setup(found, machine, one), kinds) for one in found.by_tracer(machine) if one in read}
        | _stopping(found, machine),
    }


def _stopping(found: Evidence, machine: str) -> dict[str, Values]:
    """The tool that stops a program for each sample, where it was measured, with what a sample costs."""
    parts = {one: part for one in READINGS if (part := stopped(found, machine, one, None, 0.0)) is not None}
    costs = {SAMPLED: {reading: _values(part) for reading, part in parts.items()}}
    tools = [names.tool_with_version(part.added[0]) for part in parts.values()]
    whole: Values = {"own": [], "highest": None, "adds": {}, "costs": costs, "stops": True}
    return {STOPS: whole | {"tool": tools[0]}} if tools else {}


def _tracer(on: Setup, kinds: Iterable[str]) -> Values:
    """Costs of kinds of probes with one action each, and what an action adds; in ns, with a basis and a note."""
    highest = on.differences.highest
    return {
        "tool": names.tool_with_version(next(iter(on.costs.values()))),
        "own": sorted(own_actions(on.tracer)),
        "highest": ends(highest[1].cost) if highest else None,
        "adds": {action: ends(more.cost) for action in on.actions if (more := on.differences.added(action))},
        "costs": {
            f"{kind} {mechanism}" if mechanism else kind: costs
            for kind in kinds
            for mechanism in ((None, *MECHANISMS) if kind in USER_PROBES else (None,))
            if (costs := _costs(on, kind, mechanism))
        },
    }


def _costs(on: Setup, kind: str, mechanism: str | None) -> dict[str, list[Any]]:
    """Action to the cost of the probe with it alone: value, ends, basis, and what else is known of it."""
    parts = {
        action: cost_of(
            on.found, on.machine, on.tracer, kind=kind, mechanism=mechanism, actions=[action] * (action != PLAIN_ACTION)
        )
        for action in on.actions
    }
    return {action: _values(part) for action, part in parts.items() if part is not None and not part.is_bounded}


def _values(part: Part) -> list[Any]:
    """Value, ends, basis; note, cost on hardware, and what system calls pay, without what is missing at the end."""
    path = part.path and [*(ends(part.path.cost) or []), part.path.calls_per_event]
    text = part.hardware.text if part.hardware else None
    more: list[Any] = [note_of(part), text, path]
    while more and more[-1] is None:
        more.pop()
    return [*(ends(part.cost) or []), part.basis, *more]


def _printed(found: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Tool to kind of probe to what others printed: the action, its cost, and whose it is."""
    made: dict[str, dict[str, list[Any]]] = {}
    for key in sorted(key for key in found.printed if key[2] in found.case_of):
        case, one = found.case_of[key[2]], found.printed[key]
        part = published(found, one, key[2])
        values = [*(ends(part.cost) or []), part.basis, sentences.published(part.called, one)]
        made.setdefault(names.tool_of(key[1]), {}).setdefault(case.probe, []).append([case.action, values])
    return made


def _less(found: Evidence, read: Collection[str]) -> dict[str, list[Any]]:
    """Tracer, kind and action to what a comparison finds lower on every machine that measured both, for all such cases.

    Each with its name, the address of its case, and what it needs or does not tell.
    """
    lower: dict[str, list[dict[tuple[str, str], Alternative]]] = {}
    for machine, tracer, case in found.keys:
        one = found.case_of[case]
        if tracer in read and not one.parts:
            known = {other.key[1:]: other for other in alternatives(found, (machine, tracer, case))}
            lower.setdefault(f"{tracer} {one.probe} {one.action}", []).append(known)
    common = {
        key: [one for place, one in sets[0].items() if all(place in each for each in sets)]
        for key, sets in lower.items()
    }
    return {key: [_way(one) for one in some] for key, some in common.items() if some}


def _way(one: Alternative) -> list[str]:
    name = WORDS["way"].format(what=quoted(one.measured.title), tool=one.measured.tracer)
    return [name, addresses.case(one.measured.case), one.but or WORDS["way-tracer"]]


def _programs_of(found: Evidence) -> dict[str, list[Any]]:
    """Tracer, kind and action to the case that has them in real programs: title, address, and by how much it slows."""
    made: dict[str, list[Any]] = {}
    for suite, case in found.cases:
        some = [one for one in in_programs(found, case) if one.slowdown is not None] if suite.has_programs else []
        for tracer in dict.fromkeys(one.tracer for one in some):
            slowed = [one.slowdown.value for one in some if one.tracer == tracer and one.slowdown is not None]
            text = PROGRAMS.format(count=len(slowed), least=units.percent(min(slowed)), most=units.percent(max(slowed)))
            made.setdefault(f"{tracer} {case.probe} {case.action}", [case.title, addresses.case(case.id), text])
    return made
