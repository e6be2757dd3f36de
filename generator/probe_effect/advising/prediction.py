"""The answer to a question of `probe-effect predict`, and its JSON, whose keys `json_keys.toml` describes."""

import dataclasses
from functools import partial
from typing import Any

from probe_effect.answer import sentences
from probe_effect.answer.answers import Answer, Forecast, Neighbour, Way, answer, tried, ways
from probe_effect.answer.question import Question
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import SAMPLED, CostRow
from probe_effect.model import Estimate, interval_json, thresholds_json, unknown
from probe_effect.numbers.catalogue import read_numbers, read_sources
from probe_effect.numbers.shown import Facts
from probe_effect.store.places import DataFolder


def predicted(question: Question, data: DataFolder, here: Facts) -> tuple[Evidence, Answer]:
    """What was measured, and the answer that it gives. Raises: UsageError for a name that the data does not have."""
    costs = evidence(read_numbers(data), partial(read_sources, data))
    _check_names(costs, question)
    return costs, answer(costs, question, here)


def _check_names(costs: Evidence, question: Question) -> None:
    cases = [case for _, case in costs.cases]
    unknown([one.case for one in question.probes], [case.id for case in cases], "case")
    for place, name, kind in ((1, question.tracer, "tracer"), (0, question.machine, "machine")):
        if name is not None and not any(key[place] == name for key in costs.keys):
            keys = [*costs.costs, *costs.by_level, *costs.refused]
            unknown([name], dict.fromkeys(key[place] for key in [*keys, *costs.printed]), kind)
    if question.combination is not None:
        unknown([question.combination.probe], dict.fromkeys(case.probe for case in cases), "probe")
        unknown([question.combination.action], dict.fromkeys(case.action for case in cases), "action")


def answer_json(found: Evidence, said: Answer) -> dict[str, Any]:
    forecast = said.headline.forecast
    values = _forecast_json(found, forecast)
    is_composed = any(part.basis == "composed" for part in forecast.parts)
    is_sampled = any(found.case_of[one.case].probe == SAMPLED for one in forecast.sources)
    are_cases = all(part.name in found.case_of for part in forecast.parts)
    return {
        "rate_hz": forecast.load.rate_hz,
        **interval_json(forecast.cost if is_sampled else None, "per_sample", "ns"),
        "case": "+".join(part.name for part in forecast.parts) if are_cases else None,
        "tracer": forecast.tracer,
        "threads": forecast.load.threads,
        "busy_ratio": forecast.load.busy_ratio,
        **values,
        "composed": is_composed,
        "comparable": [_neighbour_json(one) for one in said.comparable],
        "others": [_neighbour_json(one) for one in said.neighbours if not one.likeness.comparable],
    }


def _forecast_json(found: Evidence, one: Forecast) -> dict[str, Any]:
    letter, reasons = one.grade
    known, prediction = tried(found, one), one.prediction
    return {
        "machine": one.facts.machine,
        "tier": one.facts.tier,
        "dates": [one.printed.source.document.date]
        if one.printed
        else sorted({source.submission.date for source in one.sources}),
        **_limited_json(prediction.slowdown, "slowdown", "ratio", is_clear=one.is_clear),
        **_limited_json(prediction.cpu_s_per_s, "cpu", "s_per_s", is_clear=one.is_clear),
        **_limited_json(prediction.delay, "delay", "ratio", is_clear=one.is_clear),
        **interval_json(prediction.event_hz if one.is_clear else None, "event", "hz"),
        **thresholds_json({percent: rate if one.is_clear else None for percent, rate in prediction.thresholds.items()}),
        "distinguishable": _distinguishable(one),
        "loss_ratio": one.loss_ratio,
        "grade": letter or None,
        "grade_reasons": list(reasons),
        "probes": [_part_json(part) for part in one.parts],
        "sentence": sentences.headline(one),
        "recommendation": sentences.recommendation(one),
        **interval_json(next((apart.ratio for apart in one.spreads if apart), None), "programs", "ratio"),
        "assumptions": sentences.assumptions(one, known),
        "line": [
            {
                "rate_hz": point.rate_hz,
                **interval_json(point.measured, "measured", "ratio"),
                **interval_json(point.predicted, "predicted", "ratio"),
                "holds": point.holds,
            }
            for point in known.line
        ],
        "combinations": [
            {"kind": kind, **dataclasses.asdict(agreement)} for kind, agreement in known.combinations if agreement
        ],
        "alternatives": [_way_json(way) for way in ways(found, one)],
    }


def _way_json(way: Way) -> dict[str, Any]:
    other, one = way
    _, tracer, case = other.key
    return {
        "case": case,
        "tracer": tracer,
        **_limited_json(one.cost, "cost", "ns", is_clear=one.is_clear),
        **_limited_json(one.prediction.slowdown, "slowdown", "ratio", is_clear=one.is_clear),
        "distinguishable": _distinguishable(one),
        **interval_json(other.comparison.difference, "difference", "ns"),
        "paired": other.comparison.is_paired,
        "loss_ratio": one.loss_ratio,
        "but": other.but,
    }


def _limited_json(value: Estimate, name: str, unit: str, *, is_clear: bool) -> dict[str, float | None]:
    """An interval; of a difference that is not distinguishable from 0, only the high end."""
    written = interval_json(value, name, unit)
    kept = written.keys() if is_clear else {f"{name}_high_{unit}"}
    return {key: number if key in kept else None for key, number in written.items()}


def _distinguishable(one: Forecast) -> bool | None:
    return None if one.cost.low is None else one.is_clear


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
    one = other.forecast
    return {
        "machine": one.facts.machine,
        "tier": one.facts.tier,
        **_limited_json(one.prediction.slowdown, "slowdown", "ratio", is_clear=one.is_clear),
        "distinguishable": _distinguishable(one),
        "reasons": list(other.likeness.reasons),
    }
