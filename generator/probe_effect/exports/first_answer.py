"""The forms of `/advise/` and the home page as they are sent: what they answer before any script runs.

The page's script (`advise.js`) makes the same of the same costs, and a browser test holds the two to each other. So
nothing waits for it, and a reader without scripts has an answer too.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.answer.advice import Advice, Advised, Thread, advise
from probe_effect.answer.asking import ANY_THREAD, QUESTIONS, groups, tracer_of
from probe_effect.answer.prediction import WORDS, ThreadLoad, limits, note_of, predict
from probe_effect.answer.spread import spread_of
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import CostRow
from probe_effect.costs.table import ProbeGroup
from probe_effect.exports.script_values import Values
from probe_effect.numbers import names
from probe_effect.numbers.shown import Facts
from probe_effect.reduce.submission import THRESHOLDS
from probe_effect.scripts.script import read_script
from probe_effect.stats.estimates import multiplied

ADVISED = "Print every file that is opened"
"""The question whose script is in the field of `/advise/` at first."""


def first_answers(found: Evidence, home: Facts, data: Mapping[str, Any]) -> Values:
    """What the fields offer, and each form's answer to its first script, for any machine of the home machine's kind.

    `data`: what the page's script works with.
    """
    scripts = {title: script for group in QUESTIONS.values() for title, script in group.items()}
    alike = sum(one["kind"] == data["kind"] for one in data["machines"])
    any_machine = data["words"]["any-machine" if alike > 1 else "any-one"].format(kind=data["kind"], count=alike)
    facts = replace(home, machine="")
    return {
        "machines": [("", any_machine), *((one["id"], one["label"]) for one in data["machines"])],
        "questions": [(group, list(own.items())) for group, own in QUESTIONS.items()],
        "mechanisms": data["mechanisms"],
        "words": data["words"],
        "home": _answer(found, facts, next(iter(scripts.values())), data),
        "advise": _answer(found, facts, scripts[ADVISED], data),
    }


def _answer(found: Evidence, facts: Facts, text: str, data: Mapping[str, Any]) -> Values:
    script = read_script(text)
    tracer = tracer_of(found, script, None)
    busy = Thread(tid=ANY_THREAD, pid=ANY_THREAD, name="", busy_ratio=1.0)
    options = script.options
    advice = advise(found, facts, tracer, groups(script), [busy], calls_hz={}, budget_ratio=0.01, options=options)
    known = advice.one_event
    verdict = limits(known) if known and advice.has_high_end(known) else ""
    return {
        "script": text,
        "answer": f"{_cost(advice, data)} {verdict}" if verdict else "",
        "probes": [_probe(found, advice.tracer, one, data) for one in advice.probes],
        "less": _less(advice, data),
        "assumed": _assumed(advice, data),
    }


def _cost(advice: Advice, data: Mapping[str, Any]) -> str:
    """What one event of each probe costs, and where."""
    part = advice.probes[0].part
    assert part is not None
    words = {"what": data["words"]["whole"], "tool": advice.tracer, "cost": _each(part)}
    is_one = len(part.machines) == 1
    where = names.machine_name(part.sources[0].submission) if is_one else sentences.over(part.machines, data["kind"])
    return WORDS["costs"].format(**words, where=where)


def _each(part: CostRow) -> str:
    return sentences.written(part.cost, units.DURATION, part.machines)


def _probe(found: Evidence, tracer: str, one: Advised, data: Mapping[str, Any]) -> Values:
    """A probe: what it is and does, which fields it has, and what an event costs."""
    group = one.group
    words = data["words"]
    filtered = words["behind-filter"] if group.has_filter else ""
    said = [(words["event"], f"{_each(one.part)}, {one.part.basis}")] if one.part else []
    if one.part and one.part.hardware:
        said.append((WORDS["hardware-row"], one.part.hardware.text))
    return {
        "attach": group.attach,
        "does": f"{group.kind.replace('-', ' ')}: {_does(group, words)}{filtered}",
        "has_first": group.kind in data["user_probes"],
        "has_many": group.matched is None,
        "said": [*said, *_thresholds(found, tracer, one)],
    }


def _does(group: ProbeGroup, words: Mapping[str, str]) -> str:
    times = Counter(one.replace("-", " ") for one in group.actions)
    several = words["several-times"]
    return ", ".join(one if count == 1 else several.format(action=one, count=count) for one, count in times.items())


def _thresholds(found: Evidence, tracer: str, one: Advised) -> list[tuple[str, str]]:
    """The rates at which it alone slows a busy thread by so many per cent, as real programs are slowed."""
    if one.part is None:
        return []
    apart = spread_of(found, tracer, one.group.kind, one.group.actions)
    cost = multiplied(one.part.cost, apart.factor) if apart else one.part.cost
    rates = predict(cost, ThreadLoad(rate_hz=1.0)).thresholds
    return [
        (f"{percent}{units.GAP}% ({word})", sentences.at_rate(rates[percent], one.part.machines))
        for percent, word in THRESHOLDS.items()
    ]


def _less(advice: Advice, data: Mapping[str, Any]) -> list[Any]:
    """What costs less than a script of one probe with one action, whatever machine it is on."""
    groups_ = [one.group for one in advice.probes]
    if len(groups_) != 1 or len(groups_[0].actions) != 1:
        return []
    found: list[Any] = data["less"].get(f"{advice.tracer} {groups_[0].kind} {groups_[0].actions[0]}", [])
    return found


def _assumed(advice: Advice, data: Mapping[str, Any]) -> list[str]:
    words = data["words"]
    is_user = any(one.group.kind in data["user_probes"] for one in advice.probes)
    known = [(one.group.attach, note_of(one.part)) for one in advice.probes if one.part]
    notes = [f"{attach}: {note}" for attach, note in known if note]
    first = [words["first"]] if is_user else []
    filtered = [words["filtered"]] if any(one.group.has_filter for one in advice.probes) else []
    programs = [sentences.programs(one) for one in advice.spreads]
    return list(dict.fromkeys([WORDS["range"], *first, *notes, *filtered, WORDS["counted"], WORDS["hot"], *programs]))
