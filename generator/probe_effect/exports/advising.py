"""What the forms of `/advise/` and the home page work with: the reader's tables, and the cost tables of each scope."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.answer.alternatives import Alternative, alternatives
from probe_effect.answer.asking import tool_scripts
from probe_effect.answer.prediction import BANDS, MAX_RATE_HZ, MIN_RATE_HZ, WORDS
from probe_effect.answer.proof import event_probes, in_programs, script_of, times_of_others
from probe_effect.answer.spread import STOPPING, Spread, spreads
from probe_effect.costs.actions import ALL_CPUS, STOPS, WATCHES_PROCESSES
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import NOTES, SAMPLED
from probe_effect.exports.costs import DIGITS, MECHANISMS, USER_PROBES, file_name, scope_tables
from probe_effect.exports.first_answer import first_answers
from probe_effect.exports.script_values import Values, ends, script_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import quoted, tool_of
from probe_effect.numbers.shown import facts_of_submission, in_order, shown_machines
from probe_effect.pages import addresses
from probe_effect.pages.wording import from_to
from probe_effect.reduce.submission import THRESHOLDS, Number, Submission
from probe_effect.scripts.form import tables
from probe_effect.toml import beside
from probe_effect.tools import known_tool

ADVISING = "advise.json"

FIRST = "first-answer.json"
"""What the layout prints of the forms before their scripts run; nobody loads it."""

SAID = """slows unclear unknown one threshold no-threshold counted hot band bands costs cost-together limits no-limits
up-to least on-machines over-machines range hardware-row switches switches-unknown filtered as-printed""".split()
"""Keys of the words that the page has in common with `predict` and `advise`."""

ADVISE_WORDS = beside(__file__)
"""The words that only these forms have."""


def advise_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON."""
    found = evidence(catalogue)
    far = times_of_others(found)
    newest = {one.machine: one for one in reversed(in_order(catalogue.numbers))}
    machines = [one for one in shown_machines(catalogue.numbers) if found.by_tracer(one)]
    home = next((one.machine for one in in_order(catalogue.numbers) if one.machine in machines), None)
    standard = tool_scripts(catalogue.tools)
    read = {one for one in found.tracers if (tool := known_tool(one)) and tool.language is not None}
    # Scripts are answered with the plain name of a tool where it was measured, and not with one of its versions.
    read -= {one for one in read if tool_of(one) != one and tool_of(one) in read}
    read |= {one.tracer for one in standard.values()} | {STOPS} | {tool_of(tracer) for _, tracer, _ in found.printed}
    kind = facts_of_submission(newest[home]).kind if home else None
    whole = {
        "tables": tables(),
        "words": {key: (WORDS | NOTES)[key] for key in SAID} | ADVISE_WORDS,
        "mechanisms": [("", ADVISE_WORDS["first-unknown"]), *((one, WORDS[f"first-{one}"]) for one in MECHANISMS)],
        "programs": {"stopping": STOPPING, "kinds": {kind: _spread(one) for kind, one in spreads(found).items()}},
        "calibrated_ratio": {"low": far.low, "middle": far.value, "high": far.high} if far else None,
        "thresholds": THRESHOLDS,
        "bands": [asdict(band) for band in BANDS],
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "user_probes": USER_PROBES,
        "switched": {"tracer": WATCHES_PROCESSES, "spared": ALL_CPUS},
        "tracers": [one for one in found.tracers if one in read],
        "kind": kind,
        "machines": [_machine(newest[machine]) for machine in machines],
        "scopes": {"": _read_by(scope_tables(catalogue)[file_name(kind)], read)} if kind else {},
        "programs_of": _programs_of(found),
        "less": _less(found, read),
        "standard": {name: asdict(one) for name, one in standard.items()},
    }
    yield ADVISING, script_json(whole)
    first = first_answers(found, facts_of_submission(newest[home]), whole) if home else {}
    yield FIRST, script_json(first)


def _machine(newest: Submission) -> Values:
    label, kind = names.machine_name(newest), facts_of_submission(newest).kind
    return {"id": newest.machine, "label": label, "href": addresses.machine(newest.machine), "kind": kind}


def _read_by(scope: Values, tracers: Collection[str]) -> Values:
    """The tables of a scope whose tracers run scripts that the page reads."""
    return {key: scope[key] for key in ("machines", "notes")} | {
        "tracers": {tracer: table for tracer, table in scope["tracers"].items() if tracer in tracers}
    }


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


def _spread(one: Spread) -> Values:
    """A row of the table of real programs: in words, what a cost is multiplied with, and what it is from."""
    counts = {key: getattr(one, key) for key in ("measured", "pairs", "clear", "machines")}
    words, factor, ratio = sentences.programs(one), ends(one.factor, DIGITS), ends(one.ratio, DIGITS)
    return {"said": words, "factor": factor, "ratio": ratio, **counts}


def _programs_of(found: Evidence) -> dict[str, list[Any]]:
    """Tracer, attach point and action to the case that has them in real programs: its title, address, and slowdowns.

    Samplers have their kind of probe for the attach point.
    """
    made: dict[str, list[Any]] = {}
    for suite, case in found.cases:
        fires = suite.has_programs and case.counted_by != "nothing"
        some = [one for one in in_programs(found, case) if one.leads and one.time.slowdown] if fires else []
        for tracer, own in grouped_by(some, lambda one: one.tracer).items():
            script = script_of(found, suite, own[0])
            for probe in event_probes(script, case)[0] if script else ():
                place, rate_hz = (SAMPLED, probe.hz) if probe.kind == SAMPLED else (probe.attach, None)
                said = [case.title, addresses.case(case.id), programs_said(own, rate_hz)]
                for action in probe.actions:
                    made.setdefault(f"{tracer} {place} {action}", said)
    return made


def programs_said(some: Sequence[Number], rate_hz: float | None) -> str:
    """By how much some programs were slowed, and at which rates; a slowdown that is not clear has no figure."""
    rates = [units.NS_PER_SECOND / one.baseline.value for one in some if one.baseline]
    programs, machines = len({one.level for one in some}), len({one.submission.machine for one in some})
    slowed = [one.time.slowdown.value for one in some if one.time.slowdown and one.is_clear]
    key = "programs-slowed" if len(slowed) == len(some) else "programs-some" if slowed else "programs-not-slowed"
    said: str = ADVISE_WORDS[key].format(
        programs=f"{units.count(programs)} real program{'' if programs == 1 else 's'}"
        + (f" on {units.count(machines)} machines" if machines > 1 else ""),
        rates=from_to(rates, lambda hz, digits: units.quantity(hz, units.EVENTS, digits))
        if rate_hz is None
        else f"{units.count(round(rate_hz))} samples a second",
        clear=f"{units.count(len(slowed))} of {units.count(len(some))}",
        slowdowns=from_to(slowed, units.percent) if slowed else "",
    )
    return said
