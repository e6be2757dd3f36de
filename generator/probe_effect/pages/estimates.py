"""What pages show where no time was measured: estimates from counted instructions, and how good they are."""

from collections.abc import Collection
from dataclasses import dataclass

from probe_effect import units
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.from_counts import CALL_INSTRUCTIONS, Models, models
from probe_effect.answer.grounds import is_wide
from probe_effect.answer.part import Part
from probe_effect.answer.parts import parts
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.numbers import names
from probe_effect.pages.markdown import render
from probe_effect.reduce.submission import Submission

MARK = "≈"
"""The sign before every estimated cost, as the dagger is the sign behind every published one."""

MOST_LINES = 12
"""Estimates of one case on its page."""


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """The estimated cost of a case with a tracer on one machine, and what it is from."""

    part: Part
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
        for part in parts(found, question, machine, tracer)
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
        sentences=[_sentence(fitted, has_exceptions=one) for one in (False, True) if one in fitted.ratios],
        kinds={kind: ratios for kind, ratios in fitted.left_out.items() if isinstance(kind, str)},
        intervals=fitted.ratios,
        left_out=[one for model in fitted.by_machine.values() for one in model.calibrations if one.ratio is not None],
        titles=found.titles,
        per_call=1 + CALL_INSTRUCTIONS,
        mark=MARK,
    )


def _sentence(fitted: Models, *, has_exceptions: bool) -> str:
    """How far cases of one sort, left out, lie from their estimates."""
    ratio, left_out = fitted.ratios[has_exceptions], fitted.left_out[has_exceptions]
    low, high = ratio.low or 0.0, ratio.high or 0.0
    held = sum(low <= one <= high for one in left_out)
    which = "with an exception" if has_exceptions else "without any exception"
    said = (
        f"Of {len(left_out)} cases {which}, left out with their kind, {held} took {units.quantity(low, units.TIMES)} "
        f"to {units.quantity(high, units.TIMES)} what was estimated; the median is "
        f"{units.quantity(ratio.value, units.TIMES)}."
    )
    wide = " It is wider than a factor of two: take the interval, and not the value." if is_wide(ratio) else ""
    return f"{said}{wide}"
