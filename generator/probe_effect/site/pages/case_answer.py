"""What the page of a case begins with: its answer over all machines, or estimates from counted instructions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.answers import rows_of
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.sentences import is_wide
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.from_counts import CALL_INSTRUCTIONS, Models, models
from probe_effect.costs.instructions import mechanism_of
from probe_effect.costs.row import CostRow, calls_of_event
from probe_effect.costs.table import of_machine
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.charts.dots import Dot, dot_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import addresses, links
from probe_effect.site.pages.parts import Part, Pieces, Table, columns
from probe_effect.site.pages.results.view import CaseResults, ResultView
from probe_effect.site.pages.text import escape, link, listed, say, together

MARK = "≈"  # the sign before every estimated cost, as the dagger is the sign behind every published one

MOST_LINES = 12  # estimates of one case on its page


class EstimateRow(NamedTuple):
    """The estimated cost of a case with a tracer on one machine, and what it is from."""

    part: CostRow
    tracer: str

    @property
    def submission(self) -> Submission:
        """A run of the machine that says how long instructions take."""
        return self.part.calibrated[0].submission

    @property
    def cost(self) -> Pieces:
        return Pieces([f"{MARK} ", units.interval(self.part.cost, units.DURATION)])


def of_case(evidence: Evidence, case_id: str, machines: Collection[str]) -> list[EstimateRow]:
    """The estimates of a case on those machines that measured it with no tracer; none where nobody counted it."""
    if not evidence.counts_of(case_id):
        return []
    question = Question(probes=(ProbeQuestion(case_id, 0.0),))
    return [
        EstimateRow(part, tracer)
        for machine in evidence.machines
        if machine in machines and not evidence.with_tracers(machine, case_id)
        for tracer in evidence.by_tracer(machine)
        for part in rows_of(of_machine(evidence, machine, tracer), question)
        if part.basis == "estimated"
    ]


def cell(evidence: Evidence, case_id: str, machines: Collection[str], otherwise: str) -> Pieces:
    """The estimates on some machines in one cell: from the lowest low end to the highest high end; else `otherwise`."""
    lines = of_case(evidence, case_id, machines)
    ends = [end for row in lines for end in (row.part.cost.low, row.part.cost.high) if end is not None]
    if not ends:
        return Pieces([otherwise])
    return Pieces([f"{MARK} ", units.duration(max(0.0, min(ends))), " to ", units.duration(max(ends)), " (estimated)"])


def write(evidence: Evidence) -> Iterator[Part]:
    """How estimates are made: the times of each machine, and the errors of cases left out."""
    fitted = models(evidence)
    if not fitted.by_machine:
        yield say("Nothing is estimated: that takes cases which have both a count and a time.")
        return
    yield say(
        "Where a machine could not time a probe, its cost is estimated from the instructions that an event adds, "
        "[counted in emulated machines](/kernels/). Each counts with the time that an instruction takes on that "
        "machine.\nA return, and a call through a register, counts as {} instructions: most kernels guard both against "
        "Spectre, so that the CPU mispredicts them.\nEach exception has a time of its own.\nThe times are fitted, "
        "machine by machine, to the cases that have both a count and a time.",
        1 + CALL_INSTRUCTIONS,
    )
    yield (
        "Emulated machines run without mitigations of CPU vulnerabilities, so no count contains one. The measured "
        "times contain them, so the fitted times spread their cost over instructions, returns and calls."
    )
    yield say(
        "How many of these an event makes is [recorded](/kernels/) for some cases; the others take it from those of "
        "the same probe or action, or else from the average.\nThe count of an event that is printed becomes no time: "
        "the reader that it counts works on another CPU of a real machine."
    )
    heads = columns("machine", "instruction-time", "call-time", "breakpoint-time", "step-time", "calibrations")
    rows: list[Sequence[object]] = []
    for machine, model in fitted.by_machine.items():
        name = names.machine_name(evidence.costs[fitted.calibrated(machine, "")[0]].submission)
        times = map(units.duration, (model.instruction_ns, model.call_ns, model.breakpoint_ns, model.step_ns))
        rows.append((name, *times, len(model.calibrations)))
    yield Table(heads, rows)
    yield _left_out(fitted, evidence.titles)
    rows = []
    for kind, ratios in sorted((kind, ratios) for kind, ratios in fitted.left_out.items() if isinstance(kind, str)):
        own = fitted.ratios.get(kind)
        interval = _times(own.low, own.high) if own else "that of all"
        rows.append((kind, len(ratios), _times(min(ratios), max(ratios)), interval))
    yield Table(columns("probe", "left-out", "left-out-ratio", "estimate-interval"), rows)
    where = "wherever it is shown, and is ranked with no measured cost"
    yield say("An estimate has the mark {} and the word “estimated” {}.", MARK, where)


def _left_out(fitted: Models, titles: Mapping[str, str]) -> Markup:
    sentences: list[str] = []
    for has_exceptions, which in ((False, "without any exception"), (True, "with an exception")):
        if ratio := fitted.ratios.get(has_exceptions):
            ratios, low, high = fitted.left_out[has_exceptions], ratio.low or 0.0, ratio.high or 0.0
            inside = sum(low <= quotient <= high for quotient in ratios)
            median = units.quantity(ratio.value, units.TIMES)
            text = "Of {} cases {}, left out with their kind, {} took {} what was estimated; the median is {}.{}"
            wide = " It is wider than a factor of two: take the interval, and not the value." if is_wide(ratio) else ""
            sentences.append(say(text, len(ratios), which, inside, _times(low, high), median, wide))
    sentences.append(
        "An estimate has the interval of its own kind of probe in this table, or else that of all cases with an "
        "exception, or of all without."
    )
    calibrations = (
        calibration for model in fitted.by_machine.values() for calibration in model.calibrations if calibration.ratio
    )
    if most := max(calibrations, key=lambda calibration: calibration.ratio or 0.0, default=None):
        case, times = links.case(most.case, titles.get(most.case, most.case)), units.quantity(most.ratio, units.TIMES)
        text = "The greatest ratio is that of {} with {}, which took {} what was estimated."
        sentences.append(say(text, case, most.tracer, times))
    return together(
        "To see how good an estimate is, each kind of probe is left out in turn, and its cases are estimated from all "
        "others.",
        *sentences,
    )


def _times(least: float | None, greatest: float | None) -> str:
    return f"{units.quantity(least, units.TIMES)} to {units.quantity(greatest, units.TIMES)}"


def answer(view: ResultView, of: CaseResults, estimated: Sequence[EstimateRow]) -> Markup:
    """The first sentences: the range over machines and tracers, or the most, an estimate, or why there is none."""
    calls = calls_of_event(of.found, of.case.id)
    plain = "One operation" if of.case.probe.startswith("silent") else "One event"  # such a probe has no event
    answered = view.answered.replace("One event", f"One iteration of {calls} system calls" if calls else plain)
    before, after = answered.split("{}")
    sound = [number for number in of.measured if number.is_known and not number.faults]
    estimates = [(number, estimate.value) for number in sound if (estimate := view.estimate(number))]
    clear = [(number, value) for number, value in estimates if value > 0 or view.scale is units.SHARE]
    bounded = [(number, most) for number in sound if (most := view.most(number)) is not None]
    ends = [end for row in estimated for end in (row.part.cost.low, row.part.cost.high) if end is not None]
    if clear:
        numbers = [number for number, _ in sorted(clear, key=itemgetter(1))]
        span = _linked(_span([value for _, value in clear], view.scale), numbers[0], numbers[-1])
        rates = [rate.value for number in numbers if (rate := number.threshold(5))]
        # Where an event has a rate that a reader chooses.
        has_rate = rates and of.suite.result_type.guides and not of.suite.factor
        slows = f" A busy thread slows by 5\u00a0% at {_span(rates, units.EVENTS)}." if has_rate else ""
        return say("{}**{}**{}{}{}", before, span, after, f" {_where(numbers)}.", slows)
    if bounded:
        at_most = f"at most {units.quantity(max(most for _, most in bounded), view.scale, 2)}"
        end = f" {_where([number for number, _ in bounded])}: it is not distinguishable from 0."
        return say("{}**{}**{}{}", before, at_most, after, end)
    if ends:
        machines = f"{len({row.submission.machine for row in estimated})} machines, none of which has timed it"
        end = f", as estimated from counted instructions for {machines}."
        return say("{}**{}**{}{}", before, f"{MARK} {_span(ends, view.scale)}", after, end)
    lossy = sorted(
        (number for number in sound if number.cost and number.has_losses), key=lambda number: number.known_cost.value
    )
    if lossy and of.suite.result_type.guides:
        span = _linked(_span([number.known_cost.value for number in lossy], view.scale), lossy[0], lossy[-1])
        end = f" {_where(lossy)}, with losses: a lost event costs less than one that is kept."
        return say("{}{}{}{}", before, span, after, end)
    few = "too few blocks for an interval"
    reasons = dict.fromkeys(number.note or "; ".join(number.faults) or few for number in of.measured)
    return escape(f"There is no answer yet: {'; '.join(reasons)}." if reasons else "")


def _span(values: Sequence[float], scale: units.Scale) -> str:
    return units.span(Estimate(values[0], min(values), max(values)) if len(values) > 1 else Estimate(values[0]), scale)


def _linked(span: str, least: Number, most: Number) -> Markup:
    """`36 to 290 ns`, each end with its link to its number, where it is cited and made again."""
    ends = zip(span.split(" to "), (least, most), strict=False)
    return listed((link(text, addresses.number(number)) for text, number in ends), " to ")


def _where(measured: Sequence[Number]) -> str:
    """`on 6 virtual machines with 7 tracers`; one of either by its name."""
    machines = list({number.submission.machine: number.submission for number in measured}.values())
    tracers = {number.tracer: names.tool_with_version(number) for number in measured}
    label = names.machine_name(machines[0]) if len(machines) == 1 else names.several(machines)
    return f"on {label} with {next(iter(tracers.values())) if len(tracers) == 1 else f'{len(tracers)} tracers'}"


def machines_chart(view: ResultView, of: CaseResults) -> list[Chart]:
    """Machines by tracers, a dot for each number that is distinguishable from 0; none of levels, or of a single dot."""
    sound = ((number, view.estimate(number)) for number in of.measured if not number.faults)
    drawn = [(number, value) for number, value in sound if value is not None and value.value > 0]
    if view.drawn is None or of.suite.factor or len(drawn) < 2:
        return []
    unit = view.scale.units[0].scale
    dots = [
        Dot(
            names.machine_name(number.submission),
            names.tracer_name(number.tracer),
            value.times(1 / unit),
            number.tracer,
        )
        for number, value in drawn
    ]
    costs, where = _span([value.value for _, value in drawn], view.scale), _where([number for number, _ in drawn])
    sentence = "Each dot is a tracer on a machine, with the interval of its next run, where its cost is clear."
    # What decides the cost of the case: how its probe fires, and how many calls an event is.
    mechanisms = {mechanism_of(of.case, number) for number in of.measured} if "uprobe" in of.case.needs else set()
    how = mechanisms.pop() if len(mechanisms) == 1 else None
    calls = calls_of_event(of.found, of.case.id)
    titled = ", ".join(filter(None, (of.case.title, how, f"{calls} calls" if calls else None)))
    title, name, page = f"{titled}: {costs} {where}", f"machines-{of.case.id}", addresses.case(of.case.id)
    return [dot_chart(view.drawn, name, title, sentence, dots, page=page)]
