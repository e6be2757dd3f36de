"""The slowdown of a whole work, such as a build: by set of probes or by benchmark, on one machine."""

from collections.abc import Mapping, Sequence

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.submission import THRESHOLDS, Number
from probe_effect.site.charts.dots import DotQuantity
from probe_effect.site.pages import parts
from probe_effect.site.pages.parts import Part
from probe_effect.site.pages.results import cost, view
from probe_effect.site.pages.results.view import CaseResults, NumberColumn, ResultView
from probe_effect.store.suite_file import Suite

MEASURABLE_RATIO = min(THRESHOLDS) / 100  # the slowdown from which on a whole work is called visibly slower


def measured(suite: Suite, catalogue: Catalogue) -> list[Number]:
    """The current numbers of a suite from the machine that ran it last: one, so that a page does not grow."""
    numbers = [
        number
        for case in suite.cases
        for number in catalogue.numbers.of_case(case.id)
        if number.cost and number.is_time
    ]
    newest = max(numbers, key=lambda number: number.submission.started, default=None)
    numbers.sort(key=lambda number: suite.levels.index(number.level) if number.level in suite.levels else 0)
    return [number for number in numbers if newest and number.submission.machine == newest.submission.machine]


def events(number: Number) -> float | None:
    """How many events one operation made, by the tracer's own count; None where that is not known."""
    whole, of_event = number.submission.baseline, number.baseline
    return None if whole is None or of_event is None or not of_event.value else whole.value / of_event.value


def event(number: Number) -> str:
    """The cost of an event; a dash where none was counted, or the work is not slower."""
    return parts.cost(number) if number.distinguishable and number.event.reconciled is not None else units.MISSING


def sentence(numbers: Sequence[Number], titles: Mapping[str, str]) -> str | None:
    """How many slow the work visibly, as far as intervals tell, and which slows it most; None without any."""
    if not numbers:
        return None
    slowdowns = [
        (number, number.time.slowdown) for number in numbers if number.distinguishable and number.time.slowdown
    ]
    visible = [(number, slowdown) for number, slowdown in slowdowns if slowdown.value > MEASURABLE_RATIO]
    what = (
        "pairs of a set of probes and a tracer" if numbers[0].level is None else "sets of a case, a tracer and a level"
    )
    where, share = names.machine_name(numbers[0].submission), units.percent(MEASURABLE_RATIO)
    summary = (
        f"On {where}, {len(numbers)} {what} were measured; "
        f"as far as intervals tell, {len(visible)} of them slow the work by more than {share}."
    )
    if not visible:
        return summary
    most, slowdown = max(visible, key=lambda item: item[1].value)
    longest = units.interval(slowdown, units.SHARE)
    at_level = f" ({names.level(most.level)})" if most.level else ""
    title, tool = titles.get(most.case, most.case), names.tool_with_version(most)
    return f"{summary} The most is {longest}, by “{title}”{at_level} with {tool}."


def said(number: Number) -> str:
    """`the work takes 12 % longer; that is 1.2 µs for each event`, where events were counted."""
    if number.distinguishable is False:
        return f"the work takes {parts.slowdown(number)} longer, which is not distinguishable from 0"
    longer = f"the work takes {parts.slowdown(number)} longer{cost.interval_said(number)}"
    return longer if number.event.reconciled is None else f"{longer}; that is {parts.cost(number)} for each event"


NOTE = (
    "Intervals are 95 % intervals. The cost of an event is the time by which the whole work is longer, over the "
    "events; processes that run side by side share it."
)

EVENT = view.COST._replace(text=event)

COLUMNS = (
    view.LEVELS,
    view.TOOL,
    view.SLOWDOWN,
    view.PROBES._replace(at_levels=False),
    NumberColumn("events-fired", lambda number: units.count(events(number)), at_levels=False),
    EVENT._replace(note=NOTE),
    view.CPU._replace(at_levels=True),
    NumberColumn("tree", lambda number: number.submission.document.run.packages.get("tree", ""), at_levels=False),
    view.GRADE,
)


def of_suite(suite: Suite, catalogue: Catalogue) -> list[Part]:
    numbers = measured(suite, catalogue)
    words = sentence(numbers, catalogue.titles)
    return [words, *VIEW.table(numbers, suite.factor)] if words else []


def sections(of: CaseResults) -> list[Part]:
    return of.table(COLUMNS) if any(number.cost for number in of.measured) else cost.sections(of)


VIEW = ResultView(
    heading="Slowdowns",
    heading_of_machine="What tracing does here",
    main=view.SLOWDOWN,
    columns=COLUMNS,
    guide=(view.SLOWDOWN, EVENT),
    summary={
        "slowdown (95 %)": view.SLOWDOWN,
        "added to one event (95 %)": EVENT,
        "lost": view.LOSS,
        "grade": view.GRADE,
    },
    quantities=view.with_first((view.SLOWDOWN, view.PROBES), view.QUANTITIES),
    rows=cost.ROWS,
    said=said,
    cited=cost.VIEW.cited,
    value=cost.value,
    estimate=lambda number: number.time.slowdown if number.distinguishable and number.leads else None,
    answered="The work takes {} longer",
    most=parts.most_slowdown,
    scale=units.SHARE,
    drawn=DotQuantity(
        "added time, % of the untraced work",
        ("slowdown_percent", "slowdown_low_percent", "slowdown_high_percent"),
        lambda estimate: units.interval(estimate.times(0.01), units.SHARE),
    ),
    sections=sections,
    of_suite=of_suite,
)
