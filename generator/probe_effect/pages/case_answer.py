"""What the page of a case begins with: its answer over all machines, or estimates from counted instructions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import itemgetter

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.answers import rows_of
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.sentences import is_wide
from probe_effect.charts.dots import Dot, dot_chart
from probe_effect.charts.theme import Chart
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.from_counts import CALL_INSTRUCTIONS, models
from probe_effect.costs.row import CostRow, calls_of_event
from probe_effect.costs.table import of_machine
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.pages import addresses
from probe_effect.pages.markdown import render
from probe_effect.pages.results.view import CaseResults, ResultView
from probe_effect.reduce.submission import Number, Submission

MARK = "≈"
"""The sign before every estimated cost, as the dagger is the sign behind every published one."""

MOST_LINES = 12
"""Estimates of one case on its page."""


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """The estimated cost of a case with a tracer on one machine, and what it is from."""

    part: CostRow
    tracer: str

    @property
    def submission(self) -> Submission:
        """A run of the machine that says how long instructions take."""
        return self.part.calibrated[0].submission

    @property
    def text(self) -> str:
        """The cost with its interval, marked."""
        return f"{MARK} {units.interval(self.part.cost, units.DURATION)}"


def of_case(found: Evidence, case_id: str, machines: Collection[str]) -> list[EstimateRow]:
    """The estimates of a case on those machines that measured it with no tracer; none where nobody counted it."""
    if not found.counts.get(case_id):
        return []
    question = Question(probes=(ProbeQuestion(case_id, 0.0),))
    return [
        EstimateRow(part, tracer)
        for machine in found.machines
        if machine in machines and not found.with_tracers(machine, case_id)
        for tracer in found.by_tracer(machine)
        for part in rows_of(of_machine(found, machine, tracer), question)
        if part.basis == "estimated"
    ]


def cell(found: Evidence, case_id: str, machines: Collection[str], otherwise: str) -> str:
    """The estimates on some machines in one cell: from the lowest low end to the highest high end; else `otherwise`."""
    lines = of_case(found, case_id, machines)
    ends = [end for one in lines for end in (one.part.cost.low, one.part.cost.high) if end is not None]
    if not ends:
        return otherwise
    return f"{MARK} {units.duration(max(0.0, min(ends)))} to {units.duration(max(ends))} (estimated)"


def write(found: Evidence) -> str:
    """The fragment that says how estimates are made: the times of each machine, and the errors of cases left out."""
    fitted = models(found)
    return render(
        "fragments/estimates.md.j2",
        models={
            names.machine_name(found.costs[fitted.calibrated(machine, "")[0]].submission): model
            for machine, model in fitted.by_machine.items()
        },
        kinds={kind: ratios for kind, ratios in fitted.left_out.items() if isinstance(kind, str)},
        intervals=fitted.ratios,
        errors=fitted.left_out,
        is_wide=is_wide,
        left_out=[one for model in fitted.by_machine.values() for one in model.calibrations if one.ratio is not None],
        titles=found.titles,
        per_call=1 + CALL_INSTRUCTIONS,
        mark=MARK,
    )


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
    lossy = sorted((one for one in sound if one.cost and one.has_losses), key=lambda one: one.known_cost.value)
    if lossy and of.suite.result_type.guides:
        span = _linked(_span([one.known_cost.value for one in lossy], view.scale), lossy[0], lossy[-1])
        return [before, span, after, f" {_where(lossy)}, with losses: a lost event costs less than one that is kept."]
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
    sentence = "Each dot is a tracer on a machine, with its 95 % interval; what is not clear, or lost events, has none."
    title, name, page = f"{of.case.title}: {costs} {place}", f"machines-{of.case.id}", addresses.case(of.case.id)
    return [dot_chart(view.drawn, name, title, sentence, dots, page=page)]
