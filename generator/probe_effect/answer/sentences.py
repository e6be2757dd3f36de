"""An answer in sentences, for the terminal and for pages; the script of the calculator makes the same ones."""

import re
from collections.abc import Sequence

from probe_effect import units
from probe_effect.answer import prediction
from probe_effect.answer.answers import Alternative, Answer, Forecast, Tried, Way
from probe_effect.answer.prediction import WORDS
from probe_effect.answer.spread import Spread
from probe_effect.costs.actions import Agreement, CompositionKind
from probe_effect.costs.evidence import PublishedCost
from probe_effect.costs.from_counts import Account
from probe_effect.costs.row import CostRow, EntryPath, RatePoint
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.names import quoted
from probe_effect.numbers.submission import THRESHOLDS

FROM_ZERO = re.compile(rf"\((?:{units.MINUS}|[0.]+{units.GAP}to)")
"""An interval whose low end is written as 0 or less: only the high end says something."""


WIDE_RATIO = 2.0
"""An estimate that may be wrong by more than this factor is given as an interval rather than a value."""


def headline(forecast: Forecast) -> str:
    """The sentence that matters: what the probes do to a thread at this rate, on a machine that has a name."""
    load, slowdown = forecast.load, forecast.prediction.slowdown
    named = [WORDS[f"is-{part.known_as}"].format(what=part.called) for part in forecast.parts]
    threads = ("one" if load.threads == 1 else "each") + ("" if load.busy_ratio == 1 else "-waiting")
    if (
        forecast.printed is not None or len(forecast.machines) > 1
    ):  # a machine of others has the version in its own name
        tool = names.tracer_name(forecast.tracer)
    else:
        tool = names.tool(forecast.tracer, forecast.parts[0].sources[0].tool_version)
    key = "slows" if forecast.is_clear else "unclear" if slowdown.high is not None else "unknown"
    return WORDS[key].format(
        rate=_rate(forecast),
        what=WORDS["with"].join(named),
        tool=tool,
        whom=WORDS[threads].format(threads=units.count(load.threads), busy=units.stated(load.busy_ratio, units.SHARE)),
        where=where(forecast),
        slowdown=_while_running(forecast, written(slowdown, units.SHARE, forecast.machines)),
        most=_while_running(forecast, units.percent(slowdown.high)),
    )


def _while_running(forecast: Forecast, slowdown: str) -> str:
    return slowdown if forecast.load.busy_ratio == 1 else WORDS["running"].format(slowdown=slowdown)


def _rate(forecast: Forecast) -> str:
    whole = units.stated(forecast.load.rate_hz, units.EVENTS)
    if len(forecast.parts) == 1:
        return whole
    parts = ", ".join(
        WORDS["of-whole"].format(rate=units.stated(part.rate_hz, units.RATE), part=part.called)
        for part in forecast.parts
    )
    return WORDS["whole"].format(rate=whole, parts=parts)


def written(estimate: Estimate, scale: units.Scale, machines: Sequence[str] = ()) -> str:
    """A figure with its interval; of several machines their range and the median; from 0 on the high end alone.

    Of a lower bound it is that.
    """
    if estimate.low is not None and estimate.high is None:
        return WORDS["at-least"].format(least=units.quantity(max(0.0, estimate.low), scale, 2))
    text = units.interval(estimate, scale)
    if len(machines) < 2 and not FROM_ZERO.search(text):
        return text
    if estimate.high is not None and (estimate.low is None or estimate.low <= 0 or len(machines) < 2):
        return WORDS["up-to"].format(most=units.quantity(estimate.high, scale, 2))
    return WORDS["over-machines"].format(range=units.span(estimate, scale), median=units.middle(estimate, scale))


def recommendation(forecast: Forecast) -> str | None:
    """What to do about this slowdown; None where nobody knows how large it may be."""
    slowdown = forecast.prediction.slowdown
    return None if slowdown.high is None else prediction.recommendation(slowdown)


def where(forecast: Forecast) -> str:
    if len(forecast.machines) > 1:
        return over(forecast.machines, forecast.facts.kind)
    if forecast.printed:
        return WORDS["published-where"].format(hardware=forecast.printed.hardware, label=forecast.printed.label)
    return forecast.facts.name


def over(machines: Sequence[str], kind: str) -> str:
    return WORDS["on-machines"].format(count=len(machines), kind=kind)


def slowdown(forecast: Forecast) -> str:
    return _figure(forecast, forecast.prediction.slowdown, units.SHARE)


def cost(forecast: Forecast) -> str:
    return _figure(forecast, forecast.cost, units.DURATION)


def cpu(forecast: Forecast) -> str:
    return _figure(forecast, forecast.prediction.cpu_s_per_s, units.CPUS)


def _figure(forecast: Forecast, figure: Estimate, scale: units.Scale) -> str:
    if forecast.is_clear:
        return written(figure, scale, forecast.machines)
    return units.MISSING if figure.high is None else f"at most {units.quantity(figure.high, scale)}"


def delay(forecast: Forecast) -> str:
    late = forecast.prediction.delay
    if max(late.value, late.high or 0.0) <= 0:
        return WORDS["no-delay"]
    text = (
        units.interval(late, units.SHARE)
        if len(forecast.machines) < 2
        else written(late, units.SHARE, forecast.machines)
    )
    return text if forecast.is_clear else f"at most {units.percent(late.high)}"


def thresholds(forecast: Forecast) -> list[tuple[str, str]]:
    """`5 % (significant)` and the rate at which slowdown reaches it."""
    rates = forecast.prediction.thresholds if forecast.is_clear else {}
    return [
        (f"{percent}{units.GAP}% ({word})", at_rate(rates.get(percent), forecast.machines))
        for percent, word in THRESHOLDS.items()
    ]


def at_rate(rate_hz: Estimate | None, machines: Sequence[str] = ()) -> str:
    """A rate at which a slowdown is reached; where the cost may be 0, only the rate below which it is not."""
    if rate_hz is None:
        return WORDS["no-threshold"]
    text = units.span(rate_hz, units.RATE) if len(machines) > 1 else units.interval(rate_hz, units.RATE)
    if rate_hz.low is not None and (rate_hz.high is None or FROM_ZERO.search(text)):
        return WORDS["least"].format(rate=units.quantity(rate_hz.low, units.RATE))
    return WORDS["threshold"].format(rate=text)


def loss(forecast: Forecast) -> str:
    if forecast.loss_ratio is None:
        is_counted = forecast.is_measured and all(source.event.loss_ratio is not None for source in forecast.sources)
        return WORDS["unknown-loss" if is_counted else "uncounted-loss"]
    return (
        WORDS["some-loss"].format(loss=units.percent(forecast.loss_ratio)) if forecast.loss_ratio else WORDS["no-loss"]
    )


def grade(forecast: Forecast) -> str:
    """A grade with what kept it from a better one: `C: the machine is nested; fewer than 20 blocks`."""
    letter, reasons = forecast.grade
    if not letter:
        return WORDS["published-grade"]
    return f"{letter}: {'; '.join(reasons)}" if reasons else letter


def dates(forecast: Forecast) -> str:
    if forecast.printed is not None:
        return names.date_words(forecast.printed.source.document.date)
    return ", ".join(names.date_words(day) for day in sorted({source.submission.date for source in forecast.sources}))


def span(answer: Answer) -> str | None:
    """Over how far the comparable machines differ; None for fewer than two that tell a slowdown."""
    clear = [
        neighbour.forecast.prediction.slowdown.value for neighbour in answer.comparable if neighbour.forecast.is_clear
    ]
    if len(clear) < 2:
        return None
    least, greatest = units.percent(min(clear)), units.percent(max(clear))
    return least if least == greatest else f"{least} to {greatest}"


def assumptions(forecast: Forecast, verification: Tried) -> list[str]:
    """What the answer takes for granted, and what measurements say of that, one sentence or more each."""
    return [
        *([WORDS["range"]] if len(forecast.machines) > 1 else []),
        *([WORDS["no-interval"]] if forecast.cost.low is None and forecast.printed is None else []),
        *dict.fromkeys(_contending(forecast, part) for part in forecast.parts),
        *([WORDS["waits"]] if forecast.load.busy_ratio < 1 else []),
        WORDS["counted"],
        *(calls(part.called, part.path) for part in forecast.parts if part.path is not None),
        *dict.fromkeys(programs(apart) for apart in forecast.spreads if apart),
        *([WORDS["switches"]] if verification.at_switches else []),
        WORDS["hot"],
        *(
            WORDS["within" if forecast.event_hz(part) <= part.highest_hz else "beyond"].format(
                what=part.called, highest=units.quantity(part.highest_hz, units.EVENTS)
            )
            for part in forecast.parts
            if part.highest_hz is not None and part.basis == "measured"
        ),
        line_words(verification.line),
        *(_put_together(forecast, kind, agreement) for kind, agreement in verification.combinations),
        *(published(part.called, part.printed) for part in forecast.parts if part.printed is not None),
        *(_estimated(part, account) for part, account in verification.accounts),
        *(prediction.said(part.called, part.hardware) for part in forecast.parts if part.hardware is not None),
        *dict.fromkeys(part.note for part in forecast.parts if part.note),
        *(WORDS["red-zone"].format(what=part.called) for part in verification.in_red_zone),
    ]


def calls(called: str, path: EntryPath) -> str:
    """What of the cost of what is called so falls on the system calls of the program."""
    paid = units.interval(path.cost, units.DURATION)
    return WORDS["calls"].format(what=called, path=paid, calls=units.significant(path.calls_per_event, 2))


def programs(apart: Spread) -> str:
    median, low, high = (units.significant(end or 0.0, 2) for end in apart.ratio)
    return WORDS["programs"].format(
        what=WORDS[f"programs-{apart.kind if apart.is_own else 'all'}"],
        low=low,
        high=high,
        median=median,
        where=f"{units.count(apart.machines)} machine{'' if apart.machines == 1 else 's'}",
        pairs=units.count(apart.pairs),
        clear=units.count(apart.clear),
    )


def _contending(forecast: Forecast, part: CostRow) -> str:
    threads = forecast.load.threads
    if threads == 1:
        return WORDS["single"]
    if part.contention is None:
        return WORDS["apart"].format(threads=units.count(threads), what=part.called)
    level, factor = part.contention.threads, units.interval(part.contention.factor, units.TIMES)
    sentence = WORDS["contend"].format(level=level, what=part.called, factor=factor)
    return (
        sentence
        if level == threads
        else f"{sentence} {WORDS['nearest'].format(level=level, threads=units.count(threads))}"
    )


def line_words(line: Sequence[RatePoint]) -> str:
    """At which rates the measured slowdown is rate x cost, and what it is where it is not."""
    if not line:
        return WORDS["no-line"]
    sentence = WORDS["line"].format(
        lowest=units.quantity(line[0].rate_hz, units.EVENTS),
        highest=units.quantity(line[-1].rate_hz, units.EVENTS),
        holding=sum(point.holds for point in line),
        count=len(line),
    )
    departing = [
        WORDS["departs"].format(
            rate=units.quantity(point.rate_hz, units.EVENTS),
            measured=units.interval(point.measured, units.SHARE),
            predicted=units.interval(point.predicted, units.SHARE),
        )
        for point in line
        if not point.holds
    ]
    return " ".join([sentence, *departing])


def is_wide(ratio: Estimate) -> bool:
    """Whether measured over estimated times reach so far that an estimate is its interval rather than its value."""
    low, high = ratio.low or 0.0, ratio.high or 0.0
    return low <= 0 or max(high, 1 / low) > WIDE_RATIO


def published(called: str, published_cost: PublishedCost) -> str:
    """Whose figure the cost of what is called so is, and what it can be taken for."""
    form = WORDS["derived" if published_cost.is_derived else "published"]
    return form.format(what=called, label=published_cost.label, figure=published_cost.figure.what)


def _estimated(part: CostRow, account: Account) -> str:
    number, model = account.counted.number, account.model
    exceptions = WORDS["exceptions"].format(
        breakpoints=units.quantity(model.breakpoint_ns, units.DURATION),
        steps=units.quantity(model.step_ns, units.DURATION),
    )
    sentence = WORDS["estimated"].format(
        what=part.called,
        instructions=units.count(round(number.known_cost.value)),
        case=quoted(number.title),
        tool=number.tracer,
        kernel=number.submission.document.system.kernel_release,
        each=units.quantity(model.instruction_ns, units.DURATION),
        call=units.quantity(model.call_ns, units.DURATION),
        exceptions=exceptions if any(account.counted.terms[1:]) else "",
    )
    held = WORDS["estimated-ratio"].format(
        count=units.count(account.cases),
        gap=units.GAP,
        low=units.quantity(account.ratio.low or 0.0, units.TIMES),
        high=units.quantity(account.ratio.high or 0.0, units.TIMES),
    )
    wide = [WORDS["estimated-wide"]] if is_wide(account.ratio) else []
    return " ".join([sentence, held, *wide])


def _put_together(forecast: Forecast, kind: CompositionKind, agreement: Agreement | None) -> str:
    how = WORDS["add"]
    if kind != "several probes":
        part = next(row for row in forecast.parts if row.basis == "composed")
        terms = [
            *(f"+ {quoted(number.title)}" for number in part.added),
            *(f"− {quoted(number.title)}" for number in part.less),
        ]
        how = WORDS["composed"].format(what=part.called, sum=" ".join(terms).strip(" +"))
    if agreement is None:
        return f"{how} {WORDS['unchecked']}"
    checked = WORDS["checked"].format(
        median=units.quantity(agreement.median_ratio, units.TIMES),
        least=units.quantity(agreement.least_ratio, units.TIMES),
        greatest=units.quantity(agreement.greatest_ratio, units.TIMES),
        holding=agreement.holding,
        count=agreement.count,
    )
    return f"{how} {checked}"


def way(pair: Way) -> tuple[str, str, str]:
    """An alternative by name, its slowdown and cost, and what it needs or does not tell."""
    other, forecast = pair
    name = WORDS["way"].format(what=forecast.parts[0].called, tool=forecast.tracer)
    figures = WORDS["way-figures"].format(slowdown=slowdown(forecast), cost=cost(forecast))
    losing = [WORDS["way-loss"].format(loss=loss(forecast))] if forecast.loss_ratio else []
    return name, figures, " ".join([remarks(other), *losing])


def remarks(alternative: Alternative) -> str:
    apart = [] if alternative.comparison.is_paired else [WORDS["way-run"]]
    return " ".join([alternative.but or WORDS["way-tracer"], *apart])
