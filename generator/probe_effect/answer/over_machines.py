"""What something costs on a kind of machine: the range over all machines of the kind that know it.

Machines of one name differ several times in what a probe costs. So an answer for a machine that nobody measured is the
range over those like it, from the least low end to the greatest high end, with the median machine's value. The page's
scripts make the same range (site/assets/js/script-cost.js).
"""

from collections.abc import Iterable
from dataclasses import replace

from probe_effect.answer.part import Part
from probe_effect.model import Estimate
from probe_effect.stats import estimates

MachinePart = tuple[str, Part]
"""A machine, and the cost of a probe there."""


def over_machines(known: Iterable[MachinePart]) -> Part | None:
    """One part for those of several machines; None without any.

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
