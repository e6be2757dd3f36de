"""The answer of `probe-effect advise` in sentences, and as JSON, whose keys `json_keys.toml` describes."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from probe_effect import units
from probe_effect.advising.script_answer import ScriptAnswer
from probe_effect.answer import prediction, sentences
from probe_effect.answer.advice import Advice, Advised, Slowed
from probe_effect.answer.prediction import WORDS
from probe_effect.costs.table import ProbeGroup
from probe_effect.model import Estimate, interval_json, thresholds_json
from probe_effect.numbers.submission import THRESHOLDS
from probe_effect.units import NS_PER_SECOND

MOST_THREADS = 5
"""Of those that pay, so many are named."""

VERDICTS = {
    True: "Within the budget of {budget}",
    False: "Above the budget of {budget}",
    None: "It is not known whether it stays within {budget}",
}


def headline(answer: ScriptAnswer) -> str:
    """The sentence that matters: whether it may run, and what it does to the command or to the busiest thread."""
    advice = answer.advice
    budget = units.stated(advice.budget_ratio, units.SHARE)
    verdict = VERDICTS[advice.within_budget].format(budget=budget)
    return f"{verdict}: {'; '.join([*_told(advice), *_missing(advice)])}."


def recommendation(advice: Advice) -> str | None:
    """What to do about the slowdown; None where that of some probe is not known.

    A lower bound says something only where it is in the worst band already.
    """
    if advice.slowdown is None or not advice.is_whole:
        return None
    is_worst = advice.slowdown.low is not None and prediction.places(advice.slowdown)[0] == len(prediction.BANDS) - 1
    return prediction.recommendation(advice.slowdown) if is_worst or advice.has_high_end(advice.slowdown) else None


def limits(advice: Advice) -> str | None:
    """What to do where it is not known how often the probes fire; None where a cost or a number of probes is not.

    Nor of cycles and the like: a busy CPU has billions a second, so a limit in cycles would be read as one of samples.
    """
    is_bounded = all(probe.group.matched is not None and probe.group.kind != "hardware" for probe in advice.probes)
    is_told = advice.one_event and is_bounded and advice.has_high_end(advice.one_event)
    return prediction.limits(advice.one_event) if advice.one_event and is_told else None


def _told(advice: Advice) -> list[str]:
    if advice.headline is not None:
        told = f"{whom(advice.headline)} is slowed by {slowdown(advice.headline)}"
        high = advice.headline.forecast.prediction.slowdown
        if advice.is_lower_bound:
            return [told, WORDS["not-counted"]]
        is_close = advice.within_budget is False and high.value <= advice.budget_ratio
        return [f"{told}, whose upper end is above it" if is_close else told]
    if any(probe.group.rate_hz for probe in advice.probes):
        return ["its probes fired, but no thread was seen running where they fire"]
    return ["none of its probes fired"] if advice.is_whole else []


def _missing(advice: Advice) -> list[str]:
    rates = dict.fromkeys(probe.group.attach for probe in advice.probes if probe.group.rate_hz is None)
    costs = dict.fromkeys(probe.group.attach for probe in advice.probes if probe.part is None)
    many = dict.fromkeys(probe.group.attach for probe in advice.probes if probe.group.matched is None)
    phrases = [f"how often {', '.join(rates)} fires is not known; --rate tells it"] if rates else []
    phrases += [f"how many functions {', '.join(many)} matches is not known"] if many else []
    phrases += [_end(WORDS["switches-unknown"])] if advice.is_switched else []
    phrases += (
        [_end(WORDS["not-bounded"].format(what=", ".join(advice.not_understood)))] if advice.not_understood else []
    )
    phrases += [_end(WORDS["printed-alone"])] if advice.is_printed else []
    remedies = dict.fromkeys(probe.remedy for probe in advice.probes if probe.remedy)
    return phrases + (
        [f"nothing tells what {', '.join(costs)} costs; {', '.join(map(str, remedies))}"] if costs else []
    )


def _end(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:].rstrip(".")


def whom(slowed_thread: Slowed) -> str:
    thread = slowed_thread.thread
    if not thread.tid:
        return thread.name
    of = "" if thread.pid == thread.tid else f" of process {thread.pid}"
    return f"{thread.name} (thread {thread.tid}{of}, busy {units.percent(min(1.0, thread.busy_ratio))} of its time)"


def slowdown(slowed_thread: Slowed) -> str:
    return sentences.written(slowed_thread.forecast.prediction.slowdown, units.SHARE, slowed_thread.forecast.machines)


def probe_row(probe: Advised) -> tuple[str, ...]:
    group, part = probe.group, probe.part
    return (
        group.attach if group.matched in {None, 1} else f"{group.attach} ({units.count(group.matched)})",
        group.mechanism or group.kind,
        " and ".join(group.actions) or "nothing",
        _rate(group),
        units.MISSING if part is None else sentences.written(part.cost, units.DURATION, part.machines),
        basis(probe),
        units.MISSING if probe.cpu_s_per_s is None else units.percent(probe.cpu_s_per_s.value),
    )


def _rate(group: ProbeGroup) -> str:
    if group.rate_hz is None:
        return units.MISSING
    told = units.stated(group.rate_hz, units.RATE)
    return WORDS["at-least"].format(least=told) if group.is_lower_bound else told


def basis(probe: Advised) -> str:
    """Where its cost is from: `measured here`, `this machine`, `6 machines`, or the short name of another."""
    if probe.part is None:
        return "not known"
    if len(probe.part.machines) > 1:
        return f"{len(probe.part.machines)} machines"
    if probe.likeness is None:
        return "measured here" if probe.part.basis == "calibrated" else probe.part.basis
    return "this machine" if probe.likeness.is_same else probe.likeness.name


def origin(answer: ScriptAnswer) -> Iterator[tuple[str, str]]:
    """What the costs are from: the calibration, and each machine with what it has in common with this one."""
    parts = [probe.part for probe in answer.advice.probes if probe.part]
    costs = [units.interval(part.cost, units.DURATION) for part in parts if part.basis == "calibrated"]
    if answer.calibration and costs:
        when = "earlier, " if answer.calibration.is_kept else ""
        yield "costs", f"measured here {when}in {answer.calibration.seconds:.2g} s: {', '.join(costs)} an event"
    several = dict.fromkeys(
        probe.part.machines for probe in answer.advice.probes if probe.part and len(probe.part.machines) > 1
    )
    yield from (("machines", ", ".join(some)) for some in several)
    single = (probe.likeness for probe in answer.advice.probes if probe.part and len(probe.part.machines) < 2)
    for likeness in dict.fromkeys(single):
        if likeness is not None:
            yield "machine", f"{likeness.name}: {'; '.join(likeness.reasons)}"


def width(advice: Advice) -> str | None:
    """Upper over lower end of what the interval of the slowdown is made of, the widest first.

    They are of the probe that takes most CPU time; None where it has no interval, or nothing was counted.
    """
    probe = next((probe for probe in advice.probes if probe.part is not None and probe.group.rate_hz), None)
    if probe is None or probe.part is None or advice.is_lower_bound:
        return None
    rate = Estimate(probe.group.rate_hz or 0.0, probe.group.rate_low_hz, probe.group.rate_high_hz)
    programs = max((apart.factor for apart in advice.spreads), key=lambda factor: factor.high or 0.0, default=None)
    parts = {"cost of an event": probe.part.cost, "rate": rate, "real programs": programs}
    ratios = {
        name: estimate.high / estimate.low if estimate.low > 0 else math.inf
        for name, estimate in parts.items()
        if estimate is not None and estimate.low is not None and estimate.high is not None
    }
    widest = sorted(ratios, key=lambda name: -ratios[name])
    told = (f"{name} {units.quantity(ratios[name], units.TIMES, 2)}" for name in widest if ratios[name] < math.inf)
    open_ended = (f"{name} from 0" for name in widest if ratios[name] == math.inf)
    return f"upper over lower end: {', '.join([*open_ended, *told])} ({probe.group.attach})" if ratios else None


def threshold_row(probe: Advised) -> tuple[str, ...]:
    """The rates at which a probe alone slows a busy thread by 1, 5 and 30 %."""
    rates = (probe.threshold(percent) for percent in THRESHOLDS)
    return (
        probe.group.attach,
        *(units.MISSING if rate is None else units.quantity(rate.value, units.RATE) for rate in rates),
    )


def starting(answer: ScriptAnswer) -> Iterator[tuple[str, str]]:
    if answer.starting is None:
        return
    asked = f"{units.count(answer.probes)} {'probe' if answer.probes == 1 else 'probes'}"
    yield "to attach", f"{units.interval(answer.starting.start, units.DURATION)} for {asked}"
    yield "to stop", units.interval(answer.starting.stop, units.DURATION)


def memory(answer: ScriptAnswer) -> str:
    """What the tracer's maps and buffers take here, and where that is from."""
    maps_bytes, buffers_bytes, is_measured = answer.memory
    parts = [
        f"{what} {'not known' if size is None else units.size(size)}"
        for what, size in (("maps", maps_bytes), ("buffers", buffers_bytes))
    ]
    where = "read while it was measured here" if is_measured else "by its defaults"
    if maps_bytes is buffers_bytes is None:
        return "not known"
    return f"{', '.join(parts)}, beside its process; {where}"


def counting(answer: ScriptAnswer) -> str:
    counted = answer.counted
    if counted is None:
        return answer.not_counted or "nothing was counted: the rates were given"
    took = units.duration(counted.counting_cpu_s * units.NS_PER_SECOND)
    share = units.percent(counted.counting_cpu_s / counted.elapsed_s) if counted.elapsed_s else units.MISSING
    return f"{took} of CPU time in {counted.elapsed_s:.3g} s, {share} of that time"


def assumptions(answer: ScriptAnswer) -> list[str]:
    advice = answer.advice
    parts = [probe.part for probe in advice.probes if probe.part is not None]
    unknown = [
        f"{probe.group.attach} has a part that was not understood: {what}"
        for probe in advice.probes
        for what in probe.group.unknown
    ]
    here = answer.calibration
    all_assumptions = [
        *([f"Nothing was measured here: {answer.not_calibrated}"] if answer.not_calibrated else []),
        *(f"{attach} was not measured here: {why}" for (attach, _), why in (here.missing if here else {}).items()),
        *(f"While it was measured here, {other}, so it is less certain." for other in (here.others if here else ())),
        *(
            group.why if group.why.startswith(group.attach) else f"{group.attach}: {group.why}"
            for group in (probe.group for probe in advice.probes)
            if group.why
        ),
        *unknown,
        *(
            WORDS["fires-everywhere"].format(attach=attach, rate=units.stated(hz, units.RATE))
            for attach, hz in answer.elsewhere_hz.items()
        ),
        *(WORDS["written-again"].format(attach=attach) for attach in answer.fires_itself),
        *(WORDS["red-zone"].format(what=attach) for attach in answer.in_red_zone),
        *(f"{probe.group.attach}: {probe.part.note}" for probe in advice.probes if probe.part and probe.part.note),
        *(
            f"{probe.group.attach}: nobody measured it whole on {probe.likeness.name}: its cost is {probe.part.basis}."
            for probe in advice.probes
            if probe.part and probe.likeness and probe.part.basis != "measured"
        ),
        *(prediction.said(part.called, part.hardware) for part in parts if part.hardware is not None),
        *(sentences.published(part.called, part.printed) for part in parts if part.printed is not None),
        *(sentences.calls(part.called, part.path) for part in parts if part.path is not None),
        WORDS["single"],
        *map(sentences.programs, advice.spreads),
        *([WORDS["switches"]] if advice.is_switched else []),
        WORDS["hot"],
        *(
            [WORDS["stacks"]]
            if any("stack" in action for probe in advice.probes for action in probe.group.actions)
            else []
        ),
    ]
    if answer.starting is not None and answer.starting.machine != advice.machine:
        all_assumptions.append(f"The times to attach and to stop are those of {answer.starting.machine}.")
    return list(dict.fromkeys(all_assumptions))


def advice_json(answer: ScriptAnswer) -> dict[str, Any]:
    advice, counted, here, starting = answer.advice, answer.counted, answer.calibration, answer.starting
    busiest = advice.busiest
    return {
        "probes": [_probe_json(advised_probe) for advised_probe in advice.probes],
        "busiest_thread": {
            **interval_json(advice.slowdown_of(busiest), "slowdown", "ratio"),
            **(asdict(busiest.thread) if busiest else dict.fromkeys(("tid", "pid", "name", "busy_ratio"))),
        },
        "whole": advice.whole and interval_json(advice.whole.forecast.prediction.slowdown, "slowdown", "ratio"),
        "threads": [
            {
                **interval_json(slowed_thread.forecast.prediction.slowdown, "slowdown", "ratio"),
                **asdict(slowed_thread.thread),
            }
            for slowed_thread in advice.threads[:MOST_THREADS]
        ],
        **interval_json(advice.cpu_s_per_s, "cpu", "s_per_s"),
        "recommendation": recommendation(advice),
        "limits": limits(advice),
        "loss_ratio": busiest.forecast.loss_ratio if busiest else None,
        "counting_cost_ratio": counted.counting_cpu_s / counted.elapsed_s if counted and counted.elapsed_s else None,
        "counted_s": counted.elapsed_s if counted else None,
        "not_counted": answer.not_counted,
        **interval_json(_seconds(starting.start) if starting else None, "attach", "s"),
        **interval_json(_seconds(starting.stop) if starting else None, "stop", "s"),
        "memory": answer.memory._asdict(),
        "machine": advice.machine,
        "calibration": here
        and {
            "seconds": here.seconds,
            "others": list(here.others),
            "is_kept": here.is_kept,
            "missing": [{"probe": probe, "mechanism": how, "why": why} for (probe, how), why in here.missing.items()],
        },
        "tracer": advice.tracer,
        "language": answer.script.language,
        "elsewhere": [{"probe": probe, "instead": instead} for probe, instead in answer.elsewhere],
        "cheaper": [{"what": what, "script": script} for what, script in answer.cheaper],
        "assumptions": assumptions(answer),
        "budget_ratio": advice.budget_ratio,
        "within_budget": advice.within_budget,
    }


def _probe_json(probe: Advised) -> dict[str, Any]:
    group, part = probe.group, probe.part
    return {
        "probe": group.attach,
        "kind": group.kind,
        "matched": group.matched,
        "first_bytes": group.first_bytes,
        "mechanism": group.mechanism,
        "action": "+".join(group.actions),
        "case": part.name if part and part.basis == "measured" else None,
        "basis": part.basis if part else None,
        "machine": probe.likeness.machine if probe.likeness else None,
        "machines": list(part.machines) if part else [],
        "rate_hz": group.rate_hz,
        "rate_low_hz": group.rate_low_hz,
        "rate_high_hz": group.rate_high_hz,
        "busiest_hz": group.busiest_hz,
        **interval_json(part.cost if part else None, "cost", "ns"),
        **interval_json(probe.cpu_s_per_s, "cpu", "s_per_s"),
        **thresholds_json({percent: probe.threshold(percent) for percent in THRESHOLDS}),
        "unknown": list(group.unknown),
        "note": " ".join(filter(None, [group.why, part.note if part else None, probe.remedy])) or None,
    }


def _seconds(time: Estimate) -> Estimate:
    return time.mapped(lambda ns: ns / NS_PER_SECOND)
