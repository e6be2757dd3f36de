"""The slowdown of a whole work, such as a build: by set of probes, on one machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.pages import wording
from probe_effect.pages.results.cost import COST, QUANTITIES, SLOWDOWN, THRESHOLD_LINES, Timed, interval_said
from probe_effect.pages.results.cost import VIEW as COSTS
from probe_effect.pages.results.view import GRADE, LOSS, PROBES, TOOL, NumberColumn, Range, Section
from probe_effect.reduce.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from probe_effect.model import Estimate
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.pages.results.view import CaseResults
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Factor, Suite

MEASURABLE_RATIO = min(THRESHOLDS) / 100
"""The slowdown from which on a whole work is called visibly slower."""


def measured(suite: Suite, catalogue: Catalogue) -> list[Number]:
    """What is current of a suite on the machine that ran it last: one machine, so that a page does not grow."""
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


EVENTS = NumberColumn("events-fired", lambda one: units.count(events(one)))
CELLS = (SLOWDOWN, PROBES, EVENTS, COST, NumberColumn("tree", tree), GRADE)

NOTE = (
    "Intervals are 95 % intervals. The cost of an event is the time by which the whole work is longer, over the "
    "events; processes that run side by side share it."
)


class Slowdowns(Timed):
    """By how much a whole work is slower, which no rate of events says."""

    heading = "Slowdowns"
    heading_of_machine = "What tracing does here"
    range_label = "Slowdown"
    main = SLOWDOWN
    noted = "cost"
    guide = (SLOWDOWN, COST)
    summary = (
        SLOWDOWN._replace(label="slowdown (95 %)"),
        COST._replace(label="added to one event (95 %)"),
        LOSS._replace(label="lost"),
        GRADE._replace(label="grade"),
    )
    quantities = (
        SLOWDOWN,
        PROBES,
        *(column for column in QUANTITIES if column not in {SLOWDOWN, PROBES, *THRESHOLD_LINES}),
    )
    has_costs = True

    def columns(self, factor: Factor | None) -> tuple[NumberColumn, ...]:  # noqa: ARG002
        """With the probes that each set matched, and the events that it fired."""
        return (TOOL, *CELLS)

    def table(
        self, numbers: Sequence[Number], factor: Factor | None, chart: str | None = None, *, brief: bool = False
    ) -> Section:
        """With what a cost is of processes that run side by side."""
        return replace(super().table(numbers, factor, chart, brief=brief), note=[NOTE])

    def said(self, number: Number) -> str:
        """`the work takes 12 % longer; that is 1.2 µs for each event`."""
        if number.distinguishable is False:
            return super().said(number)
        longer = f"the work takes {wording.slowdown(number)} longer{interval_said(number)}"
        return f"{longer}; that is {wording.cost(number)} for each event"

    def estimates(self, numbers: Iterable[Number]) -> Iterable[tuple[Number, Estimate | None]]:
        """Slowdowns that are a difference."""
        return ((one, one.slowdown) for one in numbers if one.distinguishable)

    def span(self, numbers: Sequence[Number], text: Callable[[float], str] = units.percent) -> Range:
        """In per cent."""
        return super().span(numbers, text)

    def of_suite(self, suite: Suite, catalogue: Catalogue) -> Section | None:
        """All its cases on the machine that ran it last."""
        found = measured(suite, catalogue)
        said = sentence(found, catalogue.titles)
        return replace(self.table(found, None), sentences=[said]) if said else None

    def sections(self, of: CaseResults) -> list[Section]:
        """As others, with the slowdown in place of rates; nothing but why where there is no number."""
        timed = [one for one in of.measured if one.cost]
        if not timed:
            return COSTS.sections(of)
        return [Section(columns=(TOOL, *CELLS), rows=timed, note=[NOTE])]


VIEW = Slowdowns()
