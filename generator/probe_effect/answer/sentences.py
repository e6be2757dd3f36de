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


def headline(found: Forecast) -> str:
    """The sentence that matters: what the probes do to a thread at this rate, on a machine that has a name."""
    load, slowdown = found.load, found.prediction.slowdown
    named = [WORDS[f"is-{part.known_as}"].format(what=part.called) for part in found.parts]
    threads = ("one" if load.threads == 1 else "each") + ("" if load.busy_ratio == 1 else "-waiting")
    if found.printed is not None or len(found.machines) > 1:  # a machine of others has the version in its own name
        tool = names.tracer_name(found.tracer)
    else:
        tool = names.tool(found.tracer, found.parts[0].sources[0].tool_version)
    key = "slows" if found.is_clear else "unclear" if slowdown.high is not None else "unknown"
    return WORDS[key].format(
        rate=_rate(found),
        what=WORDS["with"].join(named),
        tool=tool,
        whom=WORDS[threads].format(threads=units.count(load.threads), busy=units.stated(load.busy_ratio, units.SHARE)),
        where=where(found),
        slowdown=_while_running(found, written(slowdown, units.SHARE, found.machines)),
        most=_while_running(found, units.percent(slowdown.high)),
    )


def _while_running(found: Forecast, slowdown: str) -> str:
    return slowdown if found.load.busy_ratio == 1 else WORDS["running"].format(slowdown=slowdown)


def _rate(found: Forecast) -> str:
    whole = units.stated(found.load.rate_hz, units.EVENTS)
    if len(found.parts) == 1:
        return whole
    parts = ", ".join(
        WORDS["of-whole"].format(rate=units.stated(part.rate_hz, units.RATE), part=part.called) for part in found.parts
    )
    return WORDS["whole"].format(rate=whole, parts=parts)


def written(found: Estimate, scale: units.Scale, machines: Sequence[str] = ()) -> str:
    """A figure with its interval; of several machines their range and the median; from 0 on the high end alone.

    Of a lower bound it is that.
    """
    if found.low is not None and found.high is None:
        return WORDS["at-least"].format(least=units.quantity(max(0.0, found.low), scale, 2))
    text = units.interval(found, scale)
    if len(machines) < 2 and not FROM_ZERO.search(text):
        return text
    if found.high is not None and (found.low is None or found.low <= 0 or len(machines) < 2):
        return WORDS["up-to"].format(most=units.quantity(found.high, scale, 2))
    return WORDS["over-machines"].format(range=units.span(found, scale), median=units.middle(found, scale))


def recommendation(found: Forecast) -> str | None:
    """What to do about this slowdown; None where nobody knows how large it may be."""
    slowdown = found.prediction.slowdown
    return None if slowdown.high is None else prediction.recommendation(slowdown)


def where(found: Forecast) -> str:
    if len(found.machines) > 1:
        return over(found.machines, found.facts.kind)
    if found.printed:
        return WORDS["published-where"].format(hardware=found.printed.hardware, label=found.printed.label)
    return found.facts.name


def over(machines: Sequence[str], kind: str) -> str:
    return WORDS["on-machines"].format(count=len(machines), kind=kind)


def slowdown(found: Forecast) -> str:
    return _figure(found, found.prediction.slowdown, units.SHARE)


def cost(found: Forecast) -> str:
    return _figure(found, found.cost, units.DURATION)


def cpu(found: Forecast) -> str:
    return _figure(found, found.prediction.cpu_s_per_s, units.CPUS)


def _figure(found: Forecast, figure: Estimate, scale: units.Scale) -> str:
    if found.is_clear:
        return written(figure, scale, found.machines)
    return units.MISSING if figure.high is None else f"at most {units.quantity(figure.high, scale)}"


def delay(found: Forecast) -> str:
    late = found.prediction.delay
    if max(late.value, late.high or 0.0) <= 0:
        return WORDS["no-delay"]
    text = units.interval(late, units.SHARE) if len(found.machines) < 2 else written(late, units.SHARE, found.machines)
    return text if found.is_clear else f"at most {units.percent(late.high)}"


def thresholds(found: Forecast) -> list[tuple[str, str]]:
    """`5 % (significant)` and the rate at which slowdown reaches it."""
    rates = found.prediction.thresholds if found.is_clear else {}
    return [
        (f"{percent}{units.GAP}% ({word})", at_rate(rates.get(percent), found.machines))
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


def loss(found: Forecast) -> str:
    if found.loss_ratio is None:
        is_counted = found.is_measured and all(source.event.loss_ratio is not None for source in found.sources)
        return WORDS["unknown-loss" if is_counted else "uncounted-loss"]
    return WORDS["some-loss"].format(loss=units.percent(found.loss_ratio)) if found.loss_ratio else WORDS["no-loss"]


def grade(found: Forecast) -> str:
    """A grade with what kept it from a better one: `C: the machine is nested; fewer than 20 blocks`."""
    letter, reasons = found.grade
    if not letter:
        return WORDS["published-grade"]
    return f"{letter}: {'; '.join(reasons)}" if reasons else letter


def dates(found: Forecast) -> str:
    if found.printed is not None:
        return names.date_words(found.printed.source.document.date)
    return ", ".join(names.date_words(day) for day in sorted({source.submission.date for source in found.sources}))


def span(found: Answer) -> str | None:
    """Over how far the comparable machines differ; None for fewer than two that tell a slowdown."""
    clear = [one.forecast.prediction.slowdown.value for one in found.comparable if one.forecast.is_clear]
    if len(clear) < 2:
        return None
    least, greatest = units.percent(min(clear)), units.percent(max(clear))
    return least if least == greatest else f"{least} to {greatest}"


def assumptions(found: Forecast, known: Tried) -> list[str]:
    """What the answer takes for granted, and what measurements say of that, one sentence or more each."""
    return [
        *([WORDS["range"]] if len(found.machines) > 1 else []),
        *([WORDS["no-interval"]] if found.cost.low is None and found.printed is None else []),
        *dict.fromkeys(_contending(found, part) for part in found.parts),
        *([WORDS["waits"]] if found.load.busy_ratio < 1 else []),
        WORDS["counted"],
        *(calls(part.called, part.path) for part in found.parts if part.path is not None),
        *dict.fromkeys(programs(apart) for apart in found.spreads if apart),
        *([WORDS["switches"]] if known.at_switches else []),
        WORDS["hot"],
        *(
            WORDS["within" if found.event_hz(part) <= part.highest_hz else "beyond"].format(
                what=part.called, highest=units.quantity(part.highest_hz, units.EVENTS)
            )
            for part in found.parts
            if part.highest_hz is not None and part.basis == "measured"
        ),
        line_words(known.line),
        *(_put_together(found, kind, agreement) for kind, agreement in known.combinations),
        *(published(part.called, part.printed) for part in found.parts if part.printed is not None),
        *(_estimated(part, account) for part, account in known.accounts),
        *(prediction.said(part.called, part.hardware) for part in found.parts if part.hardware is not None),
        *dict.fromkeys(part.note for part in found.parts if part.note),
        *(WORDS["red-zone"].format(what=part.called) for part in known.in_red_zone),
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


def _contending(found: Forecast, part: CostRow) -> str:
    threads = found.load.threads
    if threads == 1:
        return WORDS["single"]
    if part.contention is None:
        return WORDS["apart"].format(threads=units.count(threads), what=part.called)
    level, factor = part.contention.threads, units.interval(part.contention.factor, units.TIMES)
    said = WORDS["contend"].format(level=level, what=part.called, factor=factor)
    return said if level == threads else f"{said} {WORDS['nearest'].format(level=level, threads=units.count(threads))}"


def line_words(line: Sequence[RatePoint]) -> str:
    """At which rates the measured slowdown is rate x cost, and what it is where it is not."""
    if not line:
        return WORDS["no-line"]
    said = WORDS["line"].format(
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
    return " ".join([said, *departing])


def is_wide(ratio: Estimate) -> bool:
    """Whether measured over estimated times reach so far that an estimate is its interval rather than its value."""
    low, high = ratio.low or 0.0, ratio.high or 0.0
    return low <= 0 or max(high, 1 / low) > WIDE_RATIO


def published(called: str, found: PublishedCost) -> str:
    """Whose figure the cost of what is called so is, and what it can be taken for."""
    form = WORDS["derived" if found.is_derived else "published"]
    return form.format(what=called, label=found.label, figure=found.figure.what)


def _estimated(part: CostRow, found: Account) -> str:
    number, model = found.counted.number, found.model
    exceptions = WORDS["exceptions"].format(
        breakpoints=units.quantity(model.breakpoint_ns, units.DURATION),
        steps=units.quantity(model.step_ns, units.DURATION),
    )
    said = WORDS["estimated"].format(
        what=part.called,
        instructions=units.count(round(number.known_cost.value)),
        case=quoted(number.title),
        tool=number.tracer,
        kernel=number.submission.document.system.kernel_release,
        each=units.quantity(model.instruction_ns, units.DURATION),
        call=units.quantity(model.call_ns, units.DURATION),
        exceptions=exceptions if any(found.counted.terms[1:]) else "",
    )
    held = WORDS["estimated-ratio"].format(
        count=units.count(found.cases),
        gap=units.GAP,
        low=units.quantity(found.ratio.low or 0.0, units.TIMES),
        high=units.quantity(found.ratio.high or 0.0, units.TIMES),
    )
    wide = [WORDS["estimated-wide"]] if is_wide(found.ratio) else []
    return " ".join([said, held, *wide])


def _put_together(found: Forecast, kind: CompositionKind, agreement: Agreement | None) -> str:
    how = WORDS["add"]
    if kind != "several probes":
        part = next(one for one in found.parts if one.basis == "composed")
        terms = [*(f"+ {quoted(one.title)}" for one in part.added), *(f"− {quoted(one.title)}" for one in part.less)]
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


def way(found: Way) -> tuple[str, str, str]:
    """An alternative by name, its slowdown and cost, and what it needs or does not tell."""
    other, one = found
    name = WORDS["way"].format(what=one.parts[0].called, tool=one.tracer)
    figures = WORDS["way-figures"].format(slowdown=slowdown(one), cost=cost(one))
    losing = [WORDS["way-loss"].format(loss=loss(one))] if one.loss_ratio else []
    return name, figures, " ".join([remarks(other), *losing])


def remarks(found: Alternative) -> str:
    apart = [] if found.comparison.is_paired else [WORDS["way-run"]]
    return " ".join([found.but or WORDS["way-tracer"], *apart])
