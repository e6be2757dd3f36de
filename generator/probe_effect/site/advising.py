"""What the forms of `/advise/` and the home page work with: the reader's tables, and the cost tables of each scope.

What they answer before any script runs is made here too: the page's script (`advise.js`) makes the same of the same
costs, and a browser test holds the two to each other. So a reader without scripts has an answer too.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from probe_effect import units
from probe_effect.answer import question, sentences
from probe_effect.answer.advice import Advice, Advised, Thread, advise
from probe_effect.answer.answers import Alternative, alternatives
from probe_effect.answer.prediction import BANDS, MAX_RATE_HZ, MIN_RATE_HZ, WORDS, ThreadLoad, limits, note_of, predict
from probe_effect.answer.proof import event_probes, in_programs, script_of, times_of_others
from probe_effect.answer.spread import STOPPING, Spread, spread_of, spreads
from probe_effect.costs.actions import ALL_CPUS, STOPS, WATCH_PROCESSES
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import NOTES, SAMPLED, CostRow
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.estimates import multiplied
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import quoted, tool_of
from probe_effect.numbers.shown import Facts, facts_of_submission, in_order, shown_machines
from probe_effect.numbers.submission import THRESHOLDS, Number
from probe_effect.records import beside, known_tool
from probe_effect.scripts.form import tables
from probe_effect.scripts.script import read_script
from probe_effect.site.costs import DIGITS, MECHANISMS, USER_PROBES, file_name, scope_tables
from probe_effect.site.pages import addresses
from probe_effect.site.pages.parts import from_to
from probe_effect.site.script_values import Values, ends, script_json

ADVISING = "advise.json"

FIRST = "first-answer.json"  # what the layout prints of the forms before their scripts run; nobody loads it
# Keys of the words that the page has in common with `predict` and `advise`.
SAID = """slows unclear unknown one threshold no-threshold counted hot band bands no-interval costs cost-together limits
no-limits up-to least on-machines over-machines range hardware-row switches switches-unknown filtered
as-printed not-bounded printed-alone""".split()
ADVISE_WORDS = beside(__file__)  # the words that only these forms have


def advise_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    known = evidence(catalogue)
    far = times_of_others(known)
    newest = {one.machine: one for one in reversed(in_order(catalogue.numbers))}
    machines = [one for one in shown_machines(catalogue.numbers) if known.by_tracer(one)]
    home = next((one.machine for one in in_order(catalogue.numbers) if one.machine in machines), None)
    standard = question.tool_scripts(catalogue.tools)
    read = {one for one in known.tracers if (tool := known_tool(one)) and tool.language is not None}
    # Scripts are answered with the plain name of a tool where it was measured, and not with one of its versions.
    read -= {one for one in read if tool_of(one) != one and tool_of(one) in read}
    read |= {one.tracer for one in standard.values()} | {STOPS} | {tool_of(tracer) for _, tracer, _ in known.printed}
    kind = facts_of_submission(newest[home]).kind if home else None
    scopes = {}
    if kind:
        scope = scope_tables(catalogue)[file_name(kind)]
        tables_read = {tracer: table for tracer, table in scope["tracers"].items() if tracer in read}
        scopes[""] = {"machines": scope["machines"], "notes": scope["notes"], "tracers": tables_read}
    whole = {
        "tables": tables(),
        "words": {key: (WORDS | NOTES)[key] for key in SAID} | ADVISE_WORDS,
        "mechanisms": [("", ADVISE_WORDS["first-unknown"]), *((one, WORDS[f"first-{one}"]) for one in MECHANISMS)],
        "programs": {"stopping": STOPPING, "kinds": {kind: _spread(one) for kind, one in spreads(known).items()}},
        "calibrated_ratio": {"low": far.low, "middle": far.value, "high": far.high} if far else None,
        "thresholds": THRESHOLDS,
        "bands": [asdict(band) for band in BANDS],
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "user_probes": USER_PROBES,
        "switched": {"tracers": WATCH_PROCESSES, "spared": ALL_CPUS},
        "tracers": [one for one in known.tracers if one in read],
        "kind": kind,
        "machines": [
            {
                "id": machine,
                "label": names.machine_name(newest[machine]),
                "href": addresses.machine(machine),
                "kind": facts_of_submission(newest[machine]).kind,
            }
            for machine in machines
        ],
        "scopes": scopes,
        "programs_of": _programs_of(known),
        "less": _less(known, read),
        "standard": {name: asdict(one) for name, one in standard.items()},
        "others": {name: words for name in question.OTHER_TOOLS if (words := question.what_is_known(catalogue, name))},
    }
    yield ADVISING, script_json(whole)
    yield FIRST, script_json(first_answers(known, facts_of_submission(newest[home]), whole) if home else {})


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
    ways = {}
    for key, (first, *others) in lower.items():
        if common := [one for way, one in first.items() if all(way in other for other in others)]:
            ways[key] = [
                [
                    WORDS["way"].format(what=quoted(one.measured.title), tool=names.tracer_name(one.measured.tracer)),
                    addresses.case(one.measured.case),
                    one.but or WORDS["way-tracer"],
                ]
                for one in common
            ]
    return ways


def _spread(one: Spread) -> Values:
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


ADVISED = "Print every file that is opened"  # the question whose script is in the field of `/advise/` at first


def first_answers(found: Evidence, home: Facts, data: Mapping[str, Any]) -> Values:
    """What the fields offer, and each form's answer to its first script, for any machine of the home machine's kind.

    `data`: what the page's script works with.
    """
    scripts = {title: script for group in question.QUESTIONS.values() for title, script in group.items()}
    alike = sum(one["kind"] == data["kind"] for one in data["machines"])
    any_machine = data["words"]["any-machine" if alike > 1 else "any-one"].format(kind=data["kind"], count=alike)
    facts = replace(home, machine="")
    return {
        "machines": [("", any_machine), *((one["id"], one["label"]) for one in data["machines"])],
        "questions": [(group, list(own.items())) for group, own in question.QUESTIONS.items()],
        "mechanisms": data["mechanisms"],
        "words": data["words"],
        "home": _answer(found, facts, next(iter(scripts.values())), data),
        "advise": _answer(found, facts, scripts[ADVISED], data),
    }


def _answer(found: Evidence, facts: Facts, text: str, data: Mapping[str, Any]) -> Values:
    script = read_script(text)
    tracer = question.tracer_of(found, script, None)
    busy = Thread(tid=question.ANY_THREAD, pid=question.ANY_THREAD, name="", busy_ratio=1.0)
    options = script.options
    advice = advise(
        found, facts, tracer, question.groups(script), [busy], calls_hz={}, budget_ratio=0.01, options=options
    )
    event, row, answer = advice.one_event, advice.probes[0].part, ""
    if row and event and advice.has_high_end(event) and (verdict := limits(event)):
        is_one = len(row.machines) == 1
        where = names.machine_name(row.sources[0].submission) if is_one else sentences.over(row.machines, data["kind"])
        cost = WORDS["costs"].format(what=data["words"]["whole"], tool=advice.tracer, cost=_each(row), where=where)
        answer = f"{cost} {verdict}"
    # What costs less than a script of one probe with one action, whatever machine it is on.
    groups = [one.group for one in advice.probes]
    is_single = len(groups) == 1 and len(groups[0].actions) == 1
    return {
        "script": text,
        "answer": answer,
        "probes": [_probe(found, advice.tracer, one, data) for one in advice.probes],
        "less": data["less"].get(f"{advice.tracer} {groups[0].kind} {groups[0].actions[0]}", []) if is_single else [],
        "assumed": _assumed(advice, data),
    }


def _each(row: CostRow) -> str:
    return sentences.written(row.cost, units.DURATION, row.machines)


def _probe(found: Evidence, tracer: str, one: Advised, data: Mapping[str, Any]) -> Values:
    group, words = one.group, data["words"]
    times = Counter(action.replace("-", " ") for action in group.actions)
    several = words["several-times"]
    does = [name if count == 1 else several.format(action=name, count=count) for name, count in times.items()]
    filtered = words["behind-filter"] if group.has_filter else ""
    said = []
    if one.part:
        said.append((words["event"], f"{_each(one.part)}, {one.part.basis}"))
        if one.part.hardware:
            said.append((WORDS["hardware-row"], one.part.hardware.text))
        # The rates at which it alone slows a busy thread by so many per cent, as real programs are slowed.
        apart = spread_of(found, tracer, group.kind, group.actions)
        cost = multiplied(one.part.cost, apart.factor) if apart else one.part.cost
        rates = predict(cost, ThreadLoad(rate_hz=1.0)).thresholds
        for percent, word in THRESHOLDS.items():
            at = sentences.at_rate(rates[percent], one.part.machines)
            said.append((f"{percent}{units.GAP}% ({word})", at))
    return {
        "attach": group.attach,
        "does": f"{group.kind.replace('-', ' ')}: {', '.join(does)}{filtered}",
        "has_first": group.kind in data["user_probes"],
        "has_many": group.matched is None,
        "said": said,
    }


def _assumed(advice: Advice, data: Mapping[str, Any]) -> list[str]:
    words, groups = data["words"], [one.group for one in advice.probes]
    said = [
        WORDS["range"],
        *([words["first"]] if any(one.kind in data["user_probes"] for one in groups) else []),
        *(f"{one.group.attach}: {note}" for one in advice.probes if one.part and (note := note_of(one.part))),
        *([words["filtered"]] if any(one.has_filter for one in groups) else []),
        WORDS["counted"],
        WORDS["hot"],
        *map(sentences.programs, advice.spreads),
    ]
    return list(dict.fromkeys(said))
