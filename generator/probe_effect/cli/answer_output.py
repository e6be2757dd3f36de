"""What `probe-effect predict` and `advise` print: for people, or as JSON (its keys are in `advising/json_keys.toml`).

What is of `advise` alone is imported where that is shown: it takes all that touches the running system.
"""

import dataclasses
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from probe_effect import units
from probe_effect.answer import prediction, sentences
from probe_effect.answer.answers import Answer, Forecast, Neighbour, Way, answer, tried, ways
from probe_effect.answer.prediction import WORDS
from probe_effect.answer.question import Question
from probe_effect.cli import output
from probe_effect.cli.output import show_section, show_table, show_text
from probe_effect.costs.evidence import Evidence, evidence_of
from probe_effect.costs.row import SAMPLED, CostRow
from probe_effect.host import this_machine
from probe_effect.model import Estimate, interval_json, thresholds_json, unknown
from probe_effect.numbers.catalogue import read_numbers, read_sources
from probe_effect.numbers.shown import Facts, facts_of_machine
from probe_effect.numbers.submission import THRESHOLDS
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.advising.script_answer import ScriptAnswer

ORIGIN = {
    "measured": "measured on",
    "composed": "measured on",
    "estimated": "calibrated on",
    "published": "printed on",
}
"""What a cost rests on, to how the day of that is called."""

MOST_NEIGHBOURS = 10
"""The answer is for reading: a hundred machines would push the assumptions off the screen."""


def show_prediction(question: Question, data: DataFolder, output_format: str, *, is_here: bool = False) -> bool:
    """Print the answer; whether it is of machines that can be compared with the asker's.

    Raises: UsageError; HostNotReady where nothing can be timed here.
    """
    costs, answer = _answer(question, data, facts_of_machine(*this_machine.collect_named()))
    timed = []
    if is_here:
        from probe_effect.advising.here import predicted_here

        timed = predicted_here(costs, question)
    if output_format == "json":
        here = {"here": [predicted.as_json() for predicted in timed]} if is_here else {}
        output.product_json(_answer_json(costs, answer) | here)
    else:
        for predicted in timed:
            cost = units.interval(predicted.cost, units.DURATION)
            slowdown = units.interval(predicted.slowdown, units.SHARE)
            output.product(WORDS["here"].format(case=predicted.case, cost=cost, slowdown=slowdown) + "\n")
        _show(costs, answer, is_named=question.machine is not None)
    return answer.headline.likeness.comparable


def _show(costs: Evidence, answer: Answer, *, is_named: bool) -> None:
    forecast, reasons = answer.headline.forecast, answer.headline.likeness.reasons
    is_one = len(forecast.parts) == 1
    output.product(sentences.headline(forecast) + "\n")
    if recommendation := sentences.recommendation(forecast):
        output.product(recommendation + "\n")
    waiting = [("delay of its work", sentences.delay(forecast))] if forecast.load.busy_ratio < 1 else []
    rows = [("CPU", sentences.cpu(forecast)), *waiting, ("events lost", sentences.loss(forecast))]
    rows += [prediction.row(part.hardware, forecast.load) for part in forecast.parts if part.hardware and is_one]
    show_section("What it does", rows)
    together = "" if is_one else ", all probes together"
    show_section(f"When it begins to matter{together}", sentences.thresholds(forecast))
    told = map(sentences.way, ways(costs, forecast))
    less = [(name, f"{figures} {remarks}") for name, figures, remarks in told]
    show_section("What would cost less", less or [(WORDS["no-way"],)])
    names = ["" if is_one else f"{part.name} " for part in forecast.parts]
    own = (name + units.interval(part.cost, units.DURATION) for name, part in zip(names, forecast.parts, strict=True))
    origin = [
        ("machine", sentences.where(forecast)),
        *([("chosen because", "; ".join(reasons))] if reasons and not is_named else []),
        (ORIGIN[forecast.parts[0].basis], sentences.dates(forecast)),
        ("cost of an event", ", ".join(own)),
        ("grade", sentences.grade(forecast)),
    ]
    show_section("Where this is from", origin)
    alike = [] if forecast.printed else answer.comparable
    neighbours = [
        (
            sentences.where(neighbour.forecast),
            sentences.slowdown(neighbour.forecast),
            "; ".join(neighbour.likeness.reasons),
        )
        for neighbour in alike[:MOST_NEIGHBOURS]
    ]
    if more := len(alike) - len(neighbours):
        neighbours.append((f"and {more} more", "", "--format json has all"))
    span = sentences.span(answer)
    show_section("Comparable machines" + (f": {span}" if span else ""), neighbours)
    show_section("Assumed", [("-", text) for text in sentences.assumptions(forecast, tried(costs, forecast))])


def _answer(question: Question, data: DataFolder, here: Facts) -> tuple[Evidence, Answer]:
    """What was measured, and the answer that it gives. Raises: UsageError for a name that the data does not have."""
    costs = evidence_of(read_numbers(data), partial(read_sources, data))
    _check_names(costs, question)
    return costs, answer(costs, question, here)


def _check_names(costs: Evidence, question: Question) -> None:
    cases = [case for _, case in costs.cases]
    unknown([probe.case for probe in question.probes], [case.id for case in cases], "case")
    for index, name, kind in ((1, question.tracer, "tracer"), (0, question.machine, "machine")):
        if name is not None and not any(key[index] == name for key in costs.keys):
            keys = [*costs.costs, *costs.by_level, *costs.refused]
            unknown([name], dict.fromkeys(key[index] for key in [*keys, *costs.printed]), kind)
    if question.combination is not None:
        unknown([question.combination.probe], dict.fromkeys(case.probe for case in cases), "probe")
        unknown([question.combination.action], dict.fromkeys(case.action for case in cases), "action")


def _answer_json(evidence_of: Evidence, answer: Answer) -> dict[str, Any]:
    forecast = answer.headline.forecast
    values = _forecast_json(evidence_of, forecast)
    is_composed = any(part.basis == "composed" for part in forecast.parts)
    is_sampled = any(evidence_of.case_of[number.case].probe == SAMPLED for number in forecast.sources)
    are_cases = all(part.name in evidence_of.case_of for part in forecast.parts)
    return {
        "rate_hz": forecast.load.rate_hz,
        **interval_json(forecast.cost if is_sampled else None, "per_sample", "ns"),
        "case": "+".join(part.name for part in forecast.parts) if are_cases else None,
        "tracer": forecast.tracer,
        "threads": forecast.load.threads,
        "busy_ratio": forecast.load.busy_ratio,
        **values,
        "composed": is_composed,
        "comparable": [_neighbour_json(neighbour) for neighbour in answer.comparable],
        "others": [_neighbour_json(neighbour) for neighbour in answer.neighbours if not neighbour.likeness.comparable],
    }


def _forecast_json(costs: Evidence, forecast: Forecast) -> dict[str, Any]:
    letter, reasons = forecast.grade
    verification, whole = tried(costs, forecast), forecast.prediction
    return {
        "machine": forecast.facts.machine,
        "tier": forecast.facts.tier,
        "dates": [forecast.printed.source.document.date]
        if forecast.printed
        else sorted({source.submission.date for source in forecast.sources}),
        **_limited_json(whole.slowdown, "slowdown", "ratio", is_clear=forecast.is_clear),
        **_limited_json(whole.cpu_s_per_s, "cpu", "s_per_s", is_clear=forecast.is_clear),
        **_limited_json(whole.delay, "delay", "ratio", is_clear=forecast.is_clear),
        **interval_json(whole.event_hz if forecast.is_clear else None, "event", "hz"),
        **thresholds_json({percent: rate if forecast.is_clear else None for percent, rate in whole.thresholds.items()}),
        "distinguishable": _distinguishable(forecast),
        "loss_ratio": forecast.loss_ratio,
        "grade": letter or None,
        "grade_reasons": list(reasons),
        "probes": [_part_json(part) for part in forecast.parts],
        "sentence": sentences.headline(forecast),
        "recommendation": sentences.recommendation(forecast),
        **interval_json(next((apart.ratio for apart in forecast.spreads if apart), None), "programs", "ratio"),
        "assumptions": sentences.assumptions(forecast, verification),
        "line": [
            {
                "rate_hz": point.rate_hz,
                **interval_json(point.measured, "measured", "ratio"),
                **interval_json(point.predicted, "predicted", "ratio"),
                "holds": point.holds,
            }
            for point in verification.line
        ],
        "combinations": [
            {"kind": kind, **dataclasses.asdict(agreement)}
            for kind, agreement in verification.combinations
            if agreement
        ],
        "alternatives": [_way_json(way) for way in ways(costs, forecast)],
    }


def _way_json(way: Way) -> dict[str, Any]:
    other, forecast = way
    _, tracer, case = other.key
    return {
        "case": case,
        "tracer": tracer,
        **_limited_json(forecast.cost, "cost", "ns", is_clear=forecast.is_clear),
        **_limited_json(forecast.prediction.slowdown, "slowdown", "ratio", is_clear=forecast.is_clear),
        "distinguishable": _distinguishable(forecast),
        **interval_json(other.comparison.difference, "difference", "ns"),
        "paired": other.comparison.is_paired,
        "loss_ratio": forecast.loss_ratio,
        "but": other.but,
    }


def _limited_json(value: Estimate, name: str, unit: str, *, is_clear: bool) -> dict[str, float | None]:
    """An interval; of a difference that is not distinguishable from 0, only the high end."""
    written = interval_json(value, name, unit)
    kept = written.keys() if is_clear else {f"{name}_high_{unit}"}
    return {key: number if key in kept else None for key, number in written.items()}


def _distinguishable(forecast: Forecast) -> bool | None:
    return None if forecast.cost.low is None else forecast.is_clear


def _part_json(part: CostRow) -> dict[str, Any]:
    return {
        "name": part.name,
        "rate_hz": part.rate_hz,
        **interval_json(part.cost, "cost", "ns"),
        "basis": part.basis,
        "composed": part.basis == "composed",
        "calls_per_event": part.path.calls_per_event if part.path else None,
        **interval_json(part.path.cost if part.path else None, "call_cost", "ns"),
        "cases": part.cases,
        "note": part.note,
    }


def _neighbour_json(other: Neighbour) -> dict[str, Any]:
    forecast = other.forecast
    return {
        "machine": forecast.facts.machine,
        "tier": forecast.facts.tier,
        **_limited_json(forecast.prediction.slowdown, "slowdown", "ratio", is_clear=forecast.is_clear),
        "distinguishable": _distinguishable(forecast),
        "reasons": list(other.likeness.reasons),
    }


def show_advice(answer: "ScriptAnswer") -> None:
    from probe_effect.advising import script_report

    advice = answer.advice
    show_text(script_report.headline(answer) + "\n")
    if recommendation := script_report.recommendation(advice) or script_report.limits(advice):
        show_text(recommendation + "\n")
    values = ("events/s", "cost of an event", "basis", "CPU")
    show_table(("probe", "kind", "action"), values, map(script_report.probe_row, advice.probes))
    output.product("")
    show_section("What never fired may be called elsewhere", answer.elsewhere)
    threads = advice.threads[: script_report.MOST_THREADS]
    show_section(
        "Threads that pay most", [(script_report.slowdown(slowed), script_report.whom(slowed)) for slowed in threads]
    )
    cpu = [] if advice.cpu_s_per_s is None else [("CPUs taken", sentences.written(advice.cpu_s_per_s, units.CPUS))]
    lost = [("events lost", sentences.loss(advice.busiest.forecast))] if advice.busiest else []
    memory = ("memory", script_report.memory(answer))
    show_section("What it does", [*cpu, *lost, memory, *script_report.starting(answer)])
    alone = " alone" if len(advice.probes) > 1 else ""
    output.product(f"When a probe{alone} begins to matter to a busy thread, events/s:")
    titles = [f"{percent}{units.GAP}%" for percent in THRESHOLDS]
    show_table(("probe",), titles, map(script_report.threshold_row, advice.probes))
    output.product("")
    less = (((("-", what), ("", script)) if script else (("-", what),)) for what, script in answer.cheaper)
    show_section("What would cost less", chain.from_iterable(less))
    width = script_report.width(advice)
    origin = [
        *script_report.origin(answer),
        *([("width", width)] if width else []),
        ("tracer", advice.tracer),
        ("counting took", script_report.counting(answer)),
    ]
    show_section("Where this is from", origin)
    show_section("Assumed", [("-", text) for text in script_report.assumptions(answer)])
