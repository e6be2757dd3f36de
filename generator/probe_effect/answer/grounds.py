"""What an answer's costs rest on that are no plain measurements, in sentences."""

from probe_effect import units
from probe_effect.answer import printed_times
from probe_effect.answer.answers import Forecast, Tried
from probe_effect.answer.composition import Agreement, CompositionKind
from probe_effect.answer.from_counts import Account
from probe_effect.answer.part import Part
from probe_effect.answer.published import PublishedCost
from probe_effect.answer.words import WORDS
from probe_effect.model import Estimate
from probe_effect.numbers.names import quoted

WIDE_RATIO = 2.0
"""An estimate that may be wrong by more than this factor is given as an interval rather than a value."""


def grounds(found: Forecast, known: Tried) -> list[str]:
    """What costs rest on that are no plain measurements: compositions, estimates, others' figures; and the red zone."""
    return [
        *(f"{_put_together(found, kind)} {_agreement(one)}" for kind, one in known.combinations),
        *(published(part.called, part.printed) for part in found.parts if part.printed is not None),
        *(estimated(part, account) for part, account in known.accounts),
        *(printed_times.said(part.called, part.hardware) for part in found.parts if part.hardware is not None),
        *dict.fromkeys(part.note for part in found.parts if part.note),
        *(WORDS["red-zone"].format(what=part.called) for part in known.in_red_zone),
    ]


def is_wide(ratio: Estimate) -> bool:
    """Whether measured over estimated times reach so far that an estimate is its interval rather than its value."""
    low, high = ratio.low or 0.0, ratio.high or 0.0
    return low <= 0 or max(high, 1 / low) > WIDE_RATIO


def published(called: str, found: PublishedCost) -> str:
    """Whose figure the cost of what is called so is, and what it can be taken for."""
    words = WORDS["derived" if found.is_derived else "published"]
    return words.format(what=called, label=found.label, figure=found.figure.what)


def estimated(part: Part, found: Account) -> str:
    """How the cost of a part came from its instructions, and how well that does for what was measured."""
    number, model = found.counted.number, found.model
    low, high = found.ratio.low or 0.0, found.ratio.high or 0.0
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
        low=units.quantity(low, units.TIMES),
        high=units.quantity(high, units.TIMES),
    )
    wide = [WORDS["estimated-wide"]] if is_wide(found.ratio) else []
    return " ".join([said, held, *wide])


def _put_together(found: Forecast, kind: CompositionKind) -> str:
    """How costs were put together."""
    if kind == "several probes":
        return WORDS["add"]
    part = next(one for one in found.parts if one.basis == "composed")
    added, less = (
        " ".join(f"{sign} {quoted(one.title)}" for one in some) for sign, some in (("+", part.added), ("−", part.less))
    )
    return WORDS["composed"].format(what=part.called, sum=f"{added} {less}".strip(" +"))


def _agreement(known: Agreement | None) -> str:
    if known is None:
        return WORDS["unchecked"]
    return WORDS["checked"].format(
        median=units.quantity(known.median_ratio, units.TIMES),
        least=units.quantity(known.least_ratio, units.TIMES),
        greatest=units.quantity(known.greatest_ratio, units.TIMES),
        holding=known.holding,
        count=known.count,
    )
