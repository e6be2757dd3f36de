"""What `probe-effect advise` says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.answer.words import WORDS
from probe_effect.reduce.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.answer.advice import Advice, Advised, Slowed
    from probe_effect.cli.advise_run import Answered

MAY, MAY_NOT, NOT_KNOWN = "Within the budget", "Above the budget", "It cannot be told"


def headline(said: Answered) -> str:
    """The sentence that matters: whether it may run, and what it does to the busiest thread."""
    advice = said.advice
    verdict = {True: MAY, False: MAY_NOT, None: NOT_KNOWN}[advice.within_budget]
    return f"{verdict} of {units.percent(advice.budget_ratio)}: {_why(advice)}"


def _why(advice: Advice) -> str:
    missing = [one.group.attach for one in advice.probes if one.group.rate_hz is None or one.part is None]
    without = f"nothing is known of {', '.join(dict.fromkeys(missing))}" if missing else ""
    if advice.busiest is None:
        fired = any(one.group.rate_hz for one in advice.probes)
        told = "its probes fire where no thread was seen at work" if fired else "none of its probes fired"
        return f"{without or told}."
    told = f"{whom(advice.busiest)} is slowed by {slowdown(advice.busiest)}"
    if not advice.is_whole:
        return f"{told}, and {without}."
    high = advice.busiest.forecast.prediction.slowdown
    is_close = not advice.within_budget and high.value <= advice.budget_ratio
    return f"{told}{', whose upper end is above it' if is_close else ''}."


def whom(one: Slowed) -> str:
    """The thread by name and id; of the one that stands for any, only that."""
    thread = one.thread
    if not thread.tid:
        return thread.name
    of = "" if thread.pid == thread.tid else f" of process {thread.pid}"
    return f"{thread.name} (thread {thread.tid}{of}, busy {units.percent(min(1.0, thread.busy_ratio))} of its time)"


def slowdown(one: Slowed) -> str:
    """By how much a thread is slowed, of the time that it runs."""
    return units.interval(one.forecast.prediction.slowdown, units.SHARE)


def probe_row(one: Advised) -> tuple[str, ...]:
    """A probe in a table: what it is, what it does, how often it fires, what that costs."""
    group, part = one.group, one.part
    return (
        group.attach if group.matched == 1 else f"{group.attach} ({units.count(group.matched)})",
        group.mechanism or group.kind,
        " and ".join(group.actions) or "nothing",
        units.MISSING if group.rate_hz is None else units.stated(group.rate_hz, units.RATE),
        units.MISSING if part is None else units.interval(part.cost, units.DURATION),
        part.basis if part else "not known",
        units.MISSING if one.cpu_s_per_s is None else units.percent(one.cpu_s_per_s.value),
    )


def threshold_row(one: Advised) -> tuple[str, ...]:
    """The rates at which a probe alone slows a busy thread by 1, 5 and 30 %."""
    rates = (one.threshold(percent) for percent in THRESHOLDS)
    return (
        one.group.attach,
        *(units.MISSING if rate is None else units.quantity(rate.value, units.RATE) for rate in rates),
    )


def starting(said: Answered) -> Iterator[tuple[str, str]]:
    """How long it takes to attach, and to stop."""
    if said.starting is None:
        return
    asked = f"{units.count(said.probes)} {'probe' if said.probes == 1 else 'probes'}"
    yield "to attach", f"{units.interval(said.starting.start, units.DURATION)} for {asked}"
    yield "to stop", units.interval(said.starting.stop, units.DURATION)


def counting(said: Answered) -> str:
    """What counting took, and how long it went on."""
    counted = said.counted
    if counted is None:
        return said.not_counted or "nothing was counted: the rates were given"
    took = units.duration(counted.counting_cpu_s * units.NS_PER_SECOND)
    share = units.percent(counted.counting_cpu_s / said.wish.seconds)
    return f"{took} of CPU time in {counted.elapsed_s:.3g} s, {share} of the time asked for"


def assumptions(said: Answered) -> list[str]:
    """What the answer takes for granted, one sentence or more each."""
    advice = said.advice
    parts = [one.part for one in advice.probes if one.part is not None]
    unknown = [
        f"{one.group.attach} has a part that was not understood: {what}"
        for one in advice.probes
        for what in one.group.unknown
    ]
    found = [
        *(one.group.why for one in advice.probes if one.group.why),
        *unknown,
        *(f"{one.group.attach}: {one.part.note}" for one in advice.probes if one.part and one.part.note),
        *(sentences.calls(part.name, part.path) for part in parts if part.path is not None),
        WORDS["single"],
        *([sentences.programs(advice.spread)] if advice.spread else []),
        WORDS["hot"],
    ]
    if said.starting is not None and said.starting.machine != advice.facts.machine:
        found.append(f"The times to attach and to stop are those of {said.starting.machine}.")
    return list(dict.fromkeys(found))
