"""What was measured of a case on all machines, in one cell: a number, or the least and the greatest of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.pages import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from probe_effect.model import Estimate
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.pages.addresses import Quantity
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case, Suite


@dataclass(frozen=True, slots=True)
class End:
    """One number as it stands in a cell, and whose it is."""

    number: Number
    quantity: Quantity
    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """One number, or the least and the greatest of `count`; without any, `words` say why."""

    ends: tuple[End, ...] = ()
    count: int = 0
    words: str = ""


def measured_range(catalogue: Catalogue, suite: Suite, case: Case) -> Range:
    """What is current of a case; costs that are no difference stand alone or not at all."""
    found = catalogue.numbers.of_case(case.id)
    timed = [one for one in found if one.is_known]
    if not timed:
        return Range(words=found[0].status if found else _not_yet(catalogue, case))
    if suite.measures == "tracer":
        return _range("tracer-cpu", [(one, one.tracer_cpu) for one in timed])
    if suite.measures == "start":
        return _range("start", [(one, one.attach) for one in timed])
    if suite.measures == "slowdown":
        slower = [(one, one.slowdown) for one in timed if one.distinguishable]
        return _range("slowdown", slower, units.percent)
    clear = [(one, one.cost) for one in timed if one.distinguishable]
    if len(timed) == 1 or not clear:
        return Range((End(timed[0], "cost", wording.cost(timed[0])),), 1)
    return _range("cost", clear)


def _not_yet(catalogue: Catalogue, case: Case) -> str:
    """Why nobody ran a case: perhaps no machine could."""
    machines = (runs[0].document.machine for runs in catalogue.numbers.machines().values())
    if not case.architectures or any(case.is_of(machine.architecture) for machine in machines):
        return "not yet"
    return f"no {' or '.join(map(names.architecture, case.architectures))} machine timed yet"


def _range(
    quantity: Quantity,
    found: Iterable[tuple[Number, Estimate | None]],
    text: Callable[[float], str] = units.duration,
) -> Range:
    known = sorted(((one, interval.value) for one, interval in found if interval is not None), key=lambda end: end[1])
    if not known:
        return Range(words=units.MISSING)
    ends = (End(number, quantity, text(value)) for number, value in (known[0], *known[1:][-1:]))
    return Range(tuple(ends), len(known))
