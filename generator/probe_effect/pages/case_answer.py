"""What the page of a case begins with: its answer over all machines in a sentence, and machines by tracers as dots."""

from collections.abc import Sequence
from operator import itemgetter

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.entry_path import calls_of_event
from probe_effect.charts.dots import Dot, dot_chart
from probe_effect.charts.theme import Chart
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.pages import addresses
from probe_effect.pages.estimates import MARK, EstimateRow
from probe_effect.pages.results.view import CaseResults, ResultView
from probe_effect.reduce.submission import Number

BOLD = Markup("**")
NO_INTERVAL = "too few blocks for an interval"


def answer(view: ResultView, of: CaseResults, estimated: Sequence[EstimateRow]) -> list[str]:
    """The pieces of the first sentences: the range over machines and tracers, or the most, an estimate, or why none."""
    calls = calls_of_event(of.found, of.case.id)
    said = view.answered.replace("One event", f"One iteration of {calls} system calls") if calls else view.answered
    before, after = said.split("{}")
    sound = [one for one in of.measured if one.is_known and not one.faults]
    estimates = [(one, found.value) for one in sound if (found := view.estimate(one))]
    clear = [(one, value) for one, value in estimates if value > 0 or view.is_signed]
    bounded = [(one, most) for one in sound if (most := view.most(one)) is not None]
    ends = [end for one in estimated for end in (one.part.cost.low, one.part.cost.high) if end is not None]
    if clear:
        numbers = [one for one, _ in sorted(clear, key=itemgetter(1))]
        span = _linked(_span([value for _, value in clear], view.scale), numbers[0], numbers[-1])
        return [before, BOLD, span, BOLD, after, f" {_where(numbers)}.", *_rates(of, numbers)]
    if bounded:
        most, place = max(most for _, most in bounded), _where([one for one, _ in bounded])
        value = f"at most {units.quantity(most, view.scale, 2)}"
        return [before, BOLD, value, BOLD, after, f" {place}: it is not distinguishable from 0."]
    if ends:
        machines = f"{len({one.submission.machine for one in estimated})} machines, none of which has timed it"
        value = f"{MARK} {_span(ends, view.scale)}"
        return [before, BOLD, value, BOLD, after, f", as estimated from counted instructions for {machines}."]
    reasons = list(dict.fromkeys(one.note or "; ".join(one.faults) or NO_INTERVAL for one in of.measured))
    return [f"There is no answer yet: {'; '.join(reasons)}."] if reasons else []


def _span(values: Sequence[float], scale: units.Scale) -> str:
    return units.span(Estimate(values[0], min(values), max(values)) if len(values) > 1 else Estimate(values[0]), scale)


def _linked(span: str, least: Number, most: Number) -> Markup:
    """`36 to 290 ns`, each end with its link to its number, where it is cited and made again."""
    ends = zip(span.split(" to "), (least, most), strict=False)
    return Markup(" to ").join(Markup("[{}]({})").format(text, addresses.number(one)) for text, one in ends)


def _where(measured: Sequence[Number]) -> str:
    """`on 6 virtual machines with 7 tracers`; one of either by its name."""
    machines = list({one.submission.machine: one.submission for one in measured}.values())
    tracers = {one.tracer: names.tool_with_version(one) for one in measured}
    place = names.machine_name(machines[0]) if len(machines) == 1 else names.several(machines)
    return f"on {place} with {next(iter(tracers.values())) if len(tracers) == 1 else f'{len(tracers)} tracers'}"


def _rates(of: CaseResults, measured: Sequence[Number]) -> list[str]:
    """At which rates a busy thread slows by 5 %, where an event has a rate that a reader chooses."""
    rates = [rate.value for one in measured if (rate := one.threshold(5))]
    is_rate = rates and of.suite.result_type.guides and not of.suite.factor
    return [f" A busy thread slows by 5\u00a0% at {_span(rates, units.EVENTS)}."] if is_rate else []


def machines_chart(view: ResultView, of: CaseResults) -> list[Chart]:
    """Machines by tracers, a dot for each number that is distinguishable from 0; none of levels, or of a single dot."""
    found = [(one, view.estimate(one)) for one in of.measured if not one.faults]
    drawn = [(one, value) for one, value in found if value is not None and value.value > 0]
    if view.drawn is None or of.suite.factor or len(drawn) < 2:
        return []
    unit = view.scale.units[0].scale
    dots = [
        Dot(names.machine_name(one.submission), names.tracer_name(one.tracer), value.times(1 / unit), one.tracer)
        for one, value in drawn
    ]
    costs, place = _span([value.value for _, value in drawn], view.scale), _where([one for one, _ in drawn])
    sentence = "Each dot is a tracer on a machine, with its 95 % interval; what is not distinguishable from 0 has none."
    title, name, page = f"{of.case.title}: {costs} {place}", f"machines-{of.case.id}", addresses.case(of.case.id)
    return [dot_chart(view.drawn, name, title, sentence, dots, page=page)]
