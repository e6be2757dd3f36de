"""One probe of an answer, with its cost and what that rests on: on one machine, or over all machines of a kind.

Machines of one name differ several times in what a probe costs. So an answer for a machine that nobody measured is the
range over those like it, from the least low end to the greatest high end, with the median machine's value. The page's
scripts make the same range (site/assets/js/script-cost.js).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from probe_effect.answer.added import Contention, EntryPath
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.published import PublishedCost
from probe_effect.model import Estimate
from probe_effect.numbers.names import quoted
from probe_effect.reduce.submission import Number
from probe_effect.stats import estimates

PLAIN_ACTION = "nothing"
"""The action of cases whose cost is that of the probe alone."""

Basis = Literal["calibrated", "measured", "composed", "estimated", "published"]
"""What a cost rests on: a calibration on this machine (`HereCosts`), one measurement of the data, several, counted
instructions, or others' figures. No two are ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One probe of a question on one machine.

    `name`: its case, or its probe and action in words; `title` is what the case is called. `cost`: ns an event, with
    contention in it and with what the system calls pay that one event comes with; `path` tells how many those are,
    where it is known. It is that of the measurements `added`, less those of `less`: of one measurement alone where
    `basis` is `measured`. Where it is `estimated`, the estimate from the instructions of `counted` is added,
    by the model of `calibrated`, which are cases with a count and a time. Where it is `published`, it is what others
    `printed`. `hardware`: what others measured without the hypervisor that the cost includes (`printed_times`). `note`:
    what was assumed to get there, in sentences. `machines`: those whose range the cost is, the median one first, whose
    part it is otherwise; empty of one machine's cost (`over_machines`). `is_bounded`: whether an action of which
    nothing tells is taken for the most expensive one. `stops`: whether the tool stops the program by its own clock.
    """

    name: str
    title: str | None = None
    rate_hz: float = 0.0
    basis: Basis
    added: tuple[Number, ...] = ()
    less: tuple[Number, ...] = ()
    counted: Number | None = None
    calibrated: tuple[Number, ...] = ()
    printed: PublishedCost | None = None
    cost: Estimate
    is_clear: bool
    contention: Contention | None = None
    path: EntryPath | None = None
    hardware: PublishedCost | None = None
    note: str | None = None
    machines: tuple[str, ...] = ()
    is_bounded: bool = False
    stops: bool = False

    @property
    def called(self) -> str:
        """What a sentence calls it."""
        return self.name if self.title is None else quoted(self.title)

    @property
    def known_as(self) -> str:
        """Its basis; `derived` of a published one that was worked out from what was printed."""
        return "derived" if self.printed is not None and self.printed.is_derived else self.basis

    @property
    def sources(self) -> tuple[Number, ...]:
        """Every measurement of time that its cost is from."""
        return self.added + self.less + self.calibrated

    @property
    def cases(self) -> list[str]:
        """Ids of the cases that its cost is from; of an estimate the counted one first, and none that calibrate."""
        if self.printed is not None:
            return [self.name]
        counted = [] if self.counted is None else [self.counted]
        return [one.case for one in (*counted, *self.added, *self.less)]

    @property
    def is_measured(self) -> bool:
        """Whether it is from measured times of the data, and from nothing else."""
        return self.basis in ("measured", "composed")

    @property
    def highest_hz(self) -> float | None:
        """The highest rate of events at which all that it consists of was measured; None of an estimate."""
        if not self.is_measured:
            return None
        rates = [one.rate_hz for one in self.sources if one.rate_hz is not None]
        return min(rates) if len(rates) == len(self.sources) else None


def published(found: Evidence, printed: PublishedCost, case: str, rate_hz: float = 0.0) -> Part:
    """A printed cost as the part of an answer."""
    return Part(
        name=case,
        title=found.titles.get(case),
        rate_hz=rate_hz,
        basis="published",
        printed=printed,
        cost=printed.cost,
        is_clear=True,
    )


def over_machines(known: Iterable[tuple[str, Part]]) -> Part | None:
    """One part for those of several machines, each with its name; None without any.

    First come costs of which every action is known there, and not taken for the most expensive one. Of these, what was
    timed comes before what is estimated, and a cost with an interval before one without. The rest of the part is that
    of the median machine, which is the first of its `machines`.
    """
    every = list(known)
    every = [one for one in every if not one[1].is_bounded] or every
    timed = [one for one in every if one[1].basis != "estimated"] or every
    told = [one for one in timed if one[1].cost.low is not None and one[1].cost.high is not None] or timed
    ordered = sorted(told, key=lambda one: (one[1].cost.value, one[0]))
    if not ordered:
        return None
    machine, part = ordered[(len(ordered) - 1) // 2]
    parts = [one for _, one in ordered]
    paths = [one.path.cost for one in parts if one.path is not None]
    return replace(
        part,
        cost=_range([one.cost for one in parts], part.cost),
        is_clear=all(one.is_clear for one in parts),
        path=part.path and replace(part.path, cost=_range(paths, part.path.cost)),
        machines=(machine, *sorted(one for one, _ in ordered if one != machine)),
    )


def _range(costs: list[Estimate], median: Estimate) -> Estimate:
    """From the least low end to the greatest high end."""
    return estimates.spanning(costs)._replace(value=median.value)
