"""The result of a trial in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.stats.signed_rank import MIN_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Estimate
    from probe_effect.trial.effect import TrialResult


def sentences(result: TrialResult) -> Iterator[str]:
    """What each script does to the command, and which of two costs less."""
    for script in result.settings.scripts:
        pairs = result.pairs(script.label)
        yield f"{script.label} is {script.name.strip()}"
        yield f"{said(result.ratio(script.label), f'CPU time with {script.label}')} ({pairs} pairs.)"
        yield said(result.ratio(script.label, time="wall_ns"), f"Wall time with {script.label}")
        if (predicted := result.predicted.get(script.label)) is not None:
            value = f"{units.interval(predicted.slowdown, units.SHARE)} more, {predicted.basis or 'no probe fired'}"
            yield f"advise said: {value if predicted.slowdown else f'not known: {predicted.why}'}"
    if len(result.settings.scripts) > 1:
        yield said(result.ratio("B", "A"), "CPU time with B, beside that with A")


def said(ratio: Estimate | None, what: str) -> str:
    """By how much a time differs, or that no difference was seen and how large one could be."""
    if ratio is None:
        return f"{what}: no pair is complete."
    value = units.interval(ratio, units.SHARE)
    if ratio.low is None or ratio.high is None:
        return f"{what}: {value} more so far; an interval needs {MIN_BLOCKS} pairs."
    if ratio.low <= 0 <= ratio.high:
        most = units.percent(max(0.0, ratio.high))
        return f"{what}: no difference was seen ({value}); as much as {most} more could hide."
    return f"{what}: {value} {'more' if ratio.value > 0 else 'more, so it is less'}."


def rows(result: TrialResult) -> Iterator[tuple[str, ...]]:
    """Of each kind of run: medians of CPU, wall and the tracer's CPU time; events that fired, and the most lost."""
    for label in (None, *(script.label for script in result.settings.scripts)):
        times = (result.typical_ns(label, field) for field in ("cpu_ns", "wall_ns", "tracer_cpu_ns"))
        counts = (max(result.of(label, field), default=None) for field in ("events", "lost"))
        yield (label or "no script", *map(units.duration, times), *map(units.count, counts))
