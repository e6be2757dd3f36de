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
from probe_effect.costs.evidence import Evidence, evidence_of
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
    evidence = evidence_of(catalogue)
    far = times_of_others(evidence)
    newest = {submission.machine: submission for submission in reversed(in_order(catalogue.numbers))}
    machines = [machine_id for machine_id in shown_machines(catalogue.numbers) if evidence.by_tracer(machine_id)]
    home = next(
        (submission.machine for submission in in_order(catalogue.numbers) if submission.machine in machines), None
    )
    standard = question.tool_scripts(catalogue.tools)
    read = {
        tracer_id for tracer_id in evidence.tracers if (tool := known_tool(tracer_id)) and tool.language is not None
    }
    # Scripts are answered with the plain name of a tool where it was measured, and not with one of its versions.
    read -= {tracer_id for tracer_id in read if tool_of(tracer_id) != tracer_id and tool_of(tracer_id) in read}
    read |= (
        {script.tracer for script in standard.values()}
        | {STOPS}
        | {tool_of(tracer) for _, tracer, _ in evidence.printed}
    )
    kind = facts_of_submission(newest[home]).kind if home else None
    scopes = {}
    if kind:
        scope = scope_tables(catalogue)[file_name(kind)]
        tables_read = {tracer: table for tracer, table in scope["tracers"].items() if tracer in read}
        scopes[""] = {"machines": scope["machines"], "notes": scope["notes"], "tracers": tables_read}
    whole = {
        "tables": tables(),
        "words": {key: (WORDS | NOTES)[key] for key in SAID} | ADVISE_WORDS,
        "mechanisms": [
            ("", ADVISE_WORDS["first-unknown"]),
            *((mechanism, WORDS[f"first-{mechanism}"]) for mechanism in MECHANISMS),
        ],
        "programs": {
            "stopping": STOPPING,
            "kinds": {kind: _spread(spread) for kind, spread in spreads(evidence).items()},
        },
        "calibrated_ratio": {"low": far.low, "middle": far.value, "high": far.high} if far else None,
        "thresholds": THRESHOLDS,
        "bands": [asdict(band) for band in BANDS],
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "user_probes": USER_PROBES,
        "switched": {"tracers": WATCH_PROCESSES, "spared": ALL_CPUS},
        "tracers": [tracer_id for tracer_id in evidence.tracers if tracer_id in read],
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
        "programs_of": _programs_of(evidence),
        "less": _less(evidence, read),
        "standard": {name: asdict(script) for name, script in standard.items()},
        "others": {name: words for name in question.OTHER_TOOLS if (words := question.what_is_known(catalogue, name))},
    }
    yield ADVISING, script_json(whole)
    yield FIRST, script_json(first_answers(evidence, facts_of_submission(newest[home]), whole) if home else {})


def _less(evidence: Evidence, read: Collection[str]) -> dict[str, list[Any]]:
    """Tracer, kind and action to what a comparison finds lower on every machine that measured both, for all such cases.

    Each with its name, the address of its case, and what it needs or does not tell.
    """
    lower: dict[str, list[dict[tuple[str, str], Alternative]]] = {}
    for machine, tracer, case in evidence.keys:
        measured_case = evidence.case_of[case]
        if tracer in read and not measured_case.parts:
            by_way = {other.key[1:]: other for other in alternatives(evidence, (machine, tracer, case))}
            lower.setdefault(f"{tracer} {measured_case.probe} {measured_case.action}", []).append(by_way)
    ways = {}
    for key, (first, *others) in lower.items():
        if common := [alternative for way, alternative in first.items() if all(way in other for other in others)]:
            ways[key] = [
                [
                    WORDS["way"].format(what=quoted(way.measured.title), tool=names.tracer_name(way.measured.tracer)),
                    addresses.case(way.measured.case),
                    way.but or WORDS["way-tracer"],
                ]
                for way in common
            ]
    return ways


def _spread(spread: Spread) -> Values:
    counts = {key: getattr(spread, key) for key in ("measured", "pairs", "clear", "machines")}
    words, factor, ratio = sentences.programs(spread), ends(spread.factor, DIGITS), ends(spread.ratio, DIGITS)
    return {"said": words, "factor": factor, "ratio": ratio, **counts}


def _programs_of(evidence: Evidence) -> dict[str, list[Any]]:
    """Tracer, attach point and action to the case that has them in real programs: its title, address, and slowdowns.

    Samplers have their kind of probe for the attach point.
    """
    made: dict[str, list[Any]] = {}
    for suite, case in evidence.cases:
        fires = suite.has_programs and case.counted_by != "nothing"
        some = (
            [number for number in in_programs(evidence, case) if number.leads and number.time.slowdown] if fires else []
        )
        for tracer, own in grouped_by(some, lambda number: number.tracer).items():
            script = script_of(evidence, suite, own[0])
            for probe in event_probes(script, case)[0] if script else ():
                attach_point, rate_hz = (SAMPLED, probe.hz) if probe.kind == SAMPLED else (probe.attach, None)
                entry = [case.title, addresses.case(case.id), programs_said(own, rate_hz)]
                for action in probe.actions:
                    made.setdefault(f"{tracer} {attach_point} {action}", entry)
    return made


def programs_said(some: Sequence[Number], rate_hz: float | None) -> str:
    """By how much some programs were slowed, and at which rates; a slowdown that is not clear has no figure."""
    rates = [units.NS_PER_SECOND / number.baseline.value for number in some if number.baseline]
    programs, machines = len({number.level for number in some}), len({number.submission.machine for number in some})
    slowed = [number.time.slowdown.value for number in some if number.time.slowdown and number.is_clear]
    key = "programs-slowed" if len(slowed) == len(some) else "programs-some" if slowed else "programs-not-slowed"
    sentence: str = ADVISE_WORDS[key].format(
        programs=f"{units.count(programs)} real program{'' if programs == 1 else 's'}"
        + (f" on {units.count(machines)} machines" if machines > 1 else ""),
        rates=from_to(rates, lambda hz, digits: units.quantity(hz, units.EVENTS, digits))
        if rate_hz is None
        else f"{units.count(round(rate_hz))} samples a second",
        clear=f"{units.count(len(slowed))} of {units.count(len(some))}",
        slowdowns=from_to(slowed, units.percent) if slowed else "",
    )
    return sentence


ADVISED = "Print every file that is opened"  # the question whose script is in the field of `/advise/` at first


def first_answers(evidence: Evidence, home: Facts, data: Mapping[str, Any]) -> Values:
    """What the fields offer, and each form's answer to its first script, for any machine of the home machine's kind.

    `data`: what the page's script works with.
    """
    scripts = {title: script for group in question.QUESTIONS.values() for title, script in group.items()}
    alike = sum(machine["kind"] == data["kind"] for machine in data["machines"])
    any_machine = data["words"]["any-machine" if alike > 1 else "any-one"].format(kind=data["kind"], count=alike)
    facts = replace(home, machine="")
    return {
        "machines": [("", any_machine), *((machine["id"], machine["label"]) for machine in data["machines"])],
        "questions": [(group, list(own.items())) for group, own in question.QUESTIONS.items()],
        "mechanisms": data["mechanisms"],
        "words": data["words"],
        "home": _answer(evidence, facts, next(iter(scripts.values())), data),
        "advise": _answer(evidence, facts, scripts[ADVISED], data),
    }


def _answer(evidence: Evidence, facts: Facts, text: str, data: Mapping[str, Any]) -> Values:
    script = read_script(text)
    tracer = question.tracer_of(evidence, script, None)
    busy = Thread(tid=question.ANY_THREAD, pid=question.ANY_THREAD, name="", busy_ratio=1.0)
    options = script.options
    advice = advise(
        evidence, facts, tracer, question.groups(script), [busy], calls_hz={}, budget_ratio=0.01, options=options
    )
    event, row, answer = advice.one_event, advice.probes[0].part, ""
    if row and event and advice.has_high_end(event) and (verdict := limits(event)):
        is_one = len(row.machines) == 1
        where = names.machine_name(row.sources[0].submission) if is_one else sentences.over(row.machines, data["kind"])
        cost = WORDS["costs"].format(what=data["words"]["whole"], tool=advice.tracer, cost=_each(row), where=where)
        answer = f"{cost} {verdict}"
    # What costs less than a script of one probe with one action, whatever machine it is on.
    groups = [probe.group for probe in advice.probes]
    is_single = len(groups) == 1 and len(groups[0].actions) == 1
    return {
        "script": text,
        "answer": answer,
        "probes": [_probe(evidence, advice.tracer, probe, data) for probe in advice.probes],
        "less": data["less"].get(f"{advice.tracer} {groups[0].kind} {groups[0].actions[0]}", []) if is_single else [],
        "assumed": _assumed(advice, data),
    }


def _each(row: CostRow) -> str:
    return sentences.written(row.cost, units.DURATION, row.machines)


def _probe(evidence: Evidence, tracer: str, probe: Advised, data: Mapping[str, Any]) -> Values:
    group, words = probe.group, data["words"]
    times = Counter(action.replace("-", " ") for action in group.actions)
    several = words["several-times"]
    does = [name if count == 1 else several.format(action=name, count=count) for name, count in times.items()]
    filtered = words["behind-filter"] if group.has_filter else ""
    rows = []
    if probe.part:
        rows.append((words["event"], f"{_each(probe.part)}, {probe.part.basis}"))
        if probe.part.hardware:
            rows.append((WORDS["hardware-row"], probe.part.hardware.text))
        # The rates at which it alone slows a busy thread by so many per cent, as real programs are slowed.
        apart = spread_of(evidence, tracer, group.kind, group.actions)
        cost = multiplied(probe.part.cost, apart.factor) if apart else probe.part.cost
        rates = predict(cost, ThreadLoad(rate_hz=1.0)).thresholds
        for percent, word in THRESHOLDS.items():
            at = sentences.at_rate(rates[percent], probe.part.machines)
            rows.append((f"{percent}{units.GAP}% ({word})", at))
    return {
        "attach": group.attach,
        "does": f"{group.kind.replace('-', ' ')}: {', '.join(does)}{filtered}",
        "has_first": group.kind in data["user_probes"],
        "has_many": group.matched is None,
        "said": rows,
    }


def _assumed(advice: Advice, data: Mapping[str, Any]) -> list[str]:
    words, groups = data["words"], [probe.group for probe in advice.probes]
    assumptions = [
        WORDS["range"],
        *([words["first"]] if any(group.kind in data["user_probes"] for group in groups) else []),
        *(f"{probe.group.attach}: {note}" for probe in advice.probes if probe.part and (note := note_of(probe.part))),
        *([words["filtered"]] if any(group.has_filter for group in groups) else []),
        WORDS["counted"],
        WORDS["hot"],
        *map(sentences.programs, advice.spreads),
    ]
    return list(dict.fromkeys(assumptions))
