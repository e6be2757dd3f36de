"""What suites say whose result is the slowdown of a whole work, such as a build: by set of probes, on one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.reduce.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Suite

MEASURABLE_RATIO = min(THRESHOLDS) / 100
"""The slowdown from which on a whole work is called visibly slower."""


def measured(suite: Suite, catalogue: Catalogue) -> list[Number]:
    """What is current of a suite on the machine that ran it last: one machine, so that a page does not grow."""
    if suite.measures != "slowdown":
        return []
    found = [one for case in suite.cases for one in catalogue.numbers.of_case(case.id) if one.cost and one.is_time]
    newest = max(found, key=lambda one: one.submission.started, default=None)
    return [one for one in found if newest and one.submission.machine == newest.submission.machine]


def events(one: Number) -> float | None:
    """How many events one operation made, by the tracer's own count; None where that is not known."""
    whole, of_event = one.submission.baseline, one.baseline
    return None if whole is None or of_event is None or not of_event.value else whole.value / of_event.value


def tree(one: Number) -> str:
    """What was built, as the run recorded it; empty where it did not."""
    return one.submission.document.run.packages.get("tree", "")


def sentence(found: Sequence[Number], titles: Mapping[str, str]) -> str | None:
    """How many slow the work visibly, as far as intervals tell, and which slows it most; None without any."""
    if not found:
        return None
    known = [(one, one.slowdown) for one in found if one.distinguishable and one.slowdown]
    visible = [(one, slowdown) for one, slowdown in known if slowdown.value > MEASURABLE_RATIO]
    where, share = names.machine_label(found[0].submission), units.percent(MEASURABLE_RATIO)
    said = (
        f"On {where}, {len(found)} pairs of a set of probes and a tracer were measured; "
        f"as far as intervals tell, {len(visible)} of them slow the work by more than {share}."
    )
    if not visible:
        return said
    most, slowdown = max(visible, key=lambda item: item[1].value)
    longest = units.interval(slowdown, units.SHARE)
    return (
        f"{said} The most is {longest}, by “{titles.get(most.case, most.case)}” with {names.tool_with_version(most)}."
    )
