"""The fragment that sets published times of arm64 beside counts of the same probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.answer.from_counts import FEWEST_POINTS
from probe_effect.answer.timed import timed_kernels
from probe_effect.compare.kernels import kernel_names
from probe_effect.numbers.published import DERIVED_MARK
from probe_effect.pages.markdown import render
from probe_effect.stats.correlation import MIN_PAIRS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.timed import TimedKernel
    from probe_effect.numbers.catalogue import Catalogue

FRAGMENT = "kernel-published-times.md"


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown; empty before anything of arm64 was counted."""
    found = timed_kernels(catalogue)
    kernels = kernel_names(one.kernel for one in found)
    text = render(
        "fragments/kernel-published-times.md.j2",
        found=found,
        kernels=kernels,
        titles=catalogue.titles,
        order=order,
        mark=DERIVED_MARK,
        why_no_model=why_no_model(found),
    )
    return {FRAGMENT: text}


def order(one: TimedKernel) -> str:
    """Whether times and counts put the cases in one order, pair by pair."""
    alike, every = one.alike()
    if not every:
        return "One case has no order."
    few = f"; a rank correlation takes {MIN_PAIRS} cases" if len(one.pairs) < MIN_PAIRS else ""
    return f"Of {units.count(every)} pairs of cases, {units.count(alike)} lie in one order by time and by count{few}."


def why_no_model(found: Sequence[TimedKernel]) -> str | None:
    """That too few cases have both for a model of time; None where there are enough."""
    cases = {pair.count.case for one in found for pair in one.pairs}
    if not found or len(cases) >= FEWEST_POINTS:
        return None
    return (
        f"{len(cases)} cases have a time and a count, and a model of time is fitted from {FEWEST_POINTS} on, "
        "so none is fitted for arm64."
    )
