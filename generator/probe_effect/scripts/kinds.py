"""The kinds of attach points, in the words of the suites' `probe` keys if there is one."""

import re

from probe_effect.scripts.clauses import provider_of
from probe_effect.scripts.form import Language
from probe_effect.scripts.tables import D_KINDS, HZ, KINDS, MANY, TIMERS, TIMES_PER_S, TRACEPOINTS

NO_EVENTS = frozenset({"begin", "end", "interval"})
"""Kinds that fire when a script starts and stops, or on a clock of their own, and in no traced thread."""


def kind_of(attach: str, language: Language) -> str:
    """The kind of an attach point of a program; `unknown` if its language has no such provider."""
    if language == "d":
        return next((kind for pattern, kind in D_KINDS if re.search(pattern, attach)), "unknown")
    provider = provider_of(attach)
    if provider != "tracepoint":
        return KINDS.get(provider, "unknown")
    return tracepoint_kind(attach.split(":", 1)[1])


def tracepoint_kind(name: str) -> str:
    """The kind of a tracepoint, by its subsystem and name."""
    return next((kind for pattern, kind in TRACEPOINTS if re.search(pattern, name)), "tracepoint")


def timer_hz(attach: str) -> float | None:
    """How often a timer fires on each CPU, events per second; None if its attach point does not say."""
    found = next((match for pattern in TIMERS if (match := re.match(pattern, attach))), None)
    if found is None:
        return None
    unit, number = sorted(found.groups(), key=str.isdigit)
    if unit in HZ:
        return float(number)
    return TIMES_PER_S[unit] / float(number) if unit in TIMES_PER_S and int(number) else None


def matches_many(attach: str) -> bool:
    """Whether an attach point may match any number of functions."""
    return re.search(MANY, attach) is not None
