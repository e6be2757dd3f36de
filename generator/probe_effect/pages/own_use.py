"""What the page of a case says where the tracer itself was measured: what it takes by level, and for one thing more."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.times import Axes, Point, times_chart
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.pages import addresses, wording
from probe_effect.stats import mover

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case, Suite


@dataclass(frozen=True, slots=True)
class Growth:
    """What one further thing adds to an operation of a tracer on a machine, from the lowest level to the highest."""

    first: Number
    last: Number
    cpu: Estimate
    """ns."""
    calls: float | None


def growths(measured: Iterable[Number]) -> list[Growth]:
    """That of each tracer on each machine that was measured at two levels or more, in the order of `measured`."""
    groups: dict[tuple[str, str], list[Number]] = {}
    for one in measured:
        if _level(one) is not None and one.tracer_cpu is not None:
            groups.setdefault((one.submission.machine, one.tracer), []).append(one)
    found = (_growth(min(own, key=_at), max(own, key=_at)) for own in groups.values())
    return [one for one in found if one is not None]


def _growth(first: Number, last: Number) -> Growth | None:
    more = _at(last) - _at(first)
    if not more or first.tracer_cpu is None or last.tracer_cpu is None:
        return None
    cpu = mover.difference(last.tracer_cpu, first.tracer_cpu).mapped(lambda value_ns: value_ns / more)
    is_counted = first.tracer_calls is not None and last.tracer_calls is not None
    calls = ((last.tracer_calls or 0) - (first.tracer_calls or 0)) / more if is_counted else None
    return Growth(first, last, cpu, calls)


def sentences(measured: Sequence[Number]) -> Iterator[str]:
    """For each machine what its tools take at the highest level, from the least to the greatest."""
    known = [one for one in measured if one.tracer_cpu is not None and _level(one) is not None]
    for _, group in groupby(known, key=lambda one: one.submission.machine):
        own = list(group)
        top = [one for one in own if _at(one) == max(map(_at, own))]
        ordered = sorted(top, key=lambda one: (one.tracer_cpu or Estimate(0.0)).value)
        ends = [f"{wording.own_use(one)[0]} with {one.tracer}" for one in (ordered[0], ordered[-1])]
        where = f"On {names.machine_label(top[0].submission)}, at level {top[0].level}"
        yield f"{where}, the tool takes {' to '.join(dict.fromkeys(ends))}, of CPU time, for an operation."


def charts(suite: Suite, case: Case, measured: Iterable[Number], labels: Mapping[tuple[str, str], str]) -> list[Chart]:
    """CPU time over levels, where it was measured; `labels`: machine and tracer to the name of their line."""
    points = [
        _point(one, one.tracer_cpu, labels[one.submission.machine, one.tracer])
        for one in measured
        if one.tracer_cpu is not None and one.tracer_cpu.value > 0 and _at(one) > 0
    ]
    if not points or suite.factor is None:
        return []
    sentence = f"CPU time that each tool takes itself for {suite.workload.operation}, with 95 % intervals."
    factor = suite.factor.title
    axes = Axes(
        quantity="cpu",
        number=f"{factor[:1].lower()}{factor[1:]}",
        time="CPU time of the tool, an operation",
        columns=("Tool", f"{factor[:1].upper()}{factor[1:]}", "CPU time"),
    )
    title, page = f"{case.title}: CPU time by level", addresses.case(case.id)
    return [times_chart(f"use-{case.id}", title, sentence, points, axes, page=page)]


def _point(one: Number, cpu: Estimate, label: str) -> Point:
    words = (label, units.count(_at(one)), units.interval(cpu, units.DURATION))
    return Point(label, one.tracer, _at(one), cpu, words)


def _level(one: Number) -> int | None:
    """Its level as a number; None where it is none."""
    return int(one.level) if one.level is not None and one.level.isdecimal() else None


def _at(one: Number) -> int:
    return _level(one) or 0
