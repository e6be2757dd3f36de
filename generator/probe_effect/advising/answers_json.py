"""The JSON of `probe-effect advise`, whose keys `json_keys.toml` describes."""

from dataclasses import asdict
from typing import Any

from probe_effect.advising import script_words
from probe_effect.advising.script_answer import ScriptAnswer
from probe_effect.answer.advice import Advised
from probe_effect.costs.event import HereCosts
from probe_effect.model import Estimate, interval_json, thresholds_json
from probe_effect.reduce.grades import THRESHOLDS
from probe_effect.units import NS_PER_SECOND


def advice_json(answer: ScriptAnswer) -> dict[str, Any]:
    """An answer as JSON values."""
    advice, counted, starting = answer.advice, answer.counted, answer.starting
    busiest, recommendation = advice.busiest, script_words.recommendation(advice)
    return {
        "probes": [_probe_json(one) for one in advice.probes],
        "busiest_thread": {
            **interval_json(advice.slowdown_of(busiest), "slowdown", "ratio"),
            **(asdict(busiest.thread) if busiest else dict.fromkeys(("tid", "pid", "name", "busy_ratio"))),
        },
        "whole": advice.whole and interval_json(advice.whole.forecast.prediction.slowdown, "slowdown", "ratio"),
        "threads": [
            {**interval_json(one.forecast.prediction.slowdown, "slowdown", "ratio"), **asdict(one.thread)}
            for one in advice.threads[: script_words.MOST_THREADS]
        ],
        **interval_json(advice.cpu_s_per_s, "cpu", "s_per_s"),
        "recommendation": recommendation,
        "deed": recommendation,
        "limits": script_words.limits(advice),
        "loss_ratio": busiest.forecast.loss_ratio if busiest else None,
        "counting_cost_ratio": counted.counting_cpu_s / counted.elapsed_s if counted and counted.elapsed_s else None,
        "counted_s": counted.elapsed_s if counted else None,
        "not_counted": answer.not_counted,
        **interval_json(_seconds(starting.start) if starting else None, "attach", "s"),
        **interval_json(_seconds(starting.stop) if starting else None, "stop", "s"),
        "machine": advice.machine,
        "calibration": _calibration_json(answer.calibration) if answer.calibration else None,
        "tracer": advice.tracer,
        "language": answer.script.language,
        "elsewhere": [{"probe": probe, "instead": instead} for probe, instead in answer.elsewhere],
        "cheaper": [{"what": what, "script": script} for what, script in answer.cheaper],
        "assumptions": script_words.assumptions(answer),
        "budget_ratio": advice.budget_ratio,
        "within_budget": advice.within_budget,
    }


def _probe_json(one: Advised) -> dict[str, Any]:
    group, part = one.group, one.part
    return {
        "probe": group.attach,
        "kind": group.kind,
        "matched": group.matched,
        "first_bytes": group.first_bytes,
        "mechanism": group.mechanism,
        "action": "+".join(group.actions),
        "case": part.name if part and part.basis == "measured" else None,
        "basis": part.basis if part else None,
        "machine": one.likeness.machine if one.likeness else None,
        "machines": list(part.machines) if part else [],
        "rate_hz": group.rate_hz,
        "rate_low_hz": group.rate_low_hz,
        "rate_high_hz": group.rate_high_hz,
        "busiest_hz": group.busiest_hz,
        **interval_json(part.cost if part else None, "cost", "ns"),
        **interval_json(one.cpu_s_per_s, "cpu", "s_per_s"),
        **thresholds_json({percent: one.threshold(percent) for percent in THRESHOLDS}),
        "unknown": list(group.unknown),
        "note": " ".join(filter(None, [group.why, part.note if part else None, one.remedy])) or None,
    }


def _calibration_json(here: HereCosts) -> dict[str, Any]:
    return {
        "seconds": here.seconds,
        "others": list(here.others),
        "is_kept": here.is_kept,
        "missing": [{"probe": probe, "mechanism": how, "why": why} for (probe, how), why in here.missing.items()],
    }


def _seconds(time: Estimate) -> Estimate:
    return time.mapped(lambda ns: ns / NS_PER_SECOND)
