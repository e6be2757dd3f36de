"""What `probe-effect predict` prints: for people, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.advising.prediction import answer_json, predicted, this_machine
from probe_effect.answer import alternatives, prediction, sentences
from probe_effect.answer.alternatives import ways
from probe_effect.answer.answers import Answer, Forecast, Neighbour, tried
from probe_effect.answer.prediction import WORDS
from probe_effect.cli import output
from probe_effect.cli.tables import show_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.advising.here import PredictedHere
    from probe_effect.answer.question import Question
    from probe_effect.costs.evidence import Evidence
    from probe_effect.store.places import DataFolder

ORIGIN = {
    "measured": "measured on",
    "composed": "measured on",
    "estimated": "calibrated on",
    "published": "printed on",
}
"""What a cost rests on, to how the day of that is called."""

MOST_NEIGHBOURS = 10
"""The answer is for reading: a hundred machines would push the assumptions off the screen."""


def run(question: Question, data: DataFolder, output_format: str, *, is_here: bool = False) -> bool:
    """Print the answer; whether it is of machines that can be compared with the asker's.

    Raises: UsageError; HostNotReady where nothing can be timed here.
    """
    costs, said = predicted(question, data, this_machine())
    timed = _timed_here(costs, question) if is_here else []
    if output_format == "json":
        here = {"here": [one.as_json() for one in timed]} if is_here else {}
        output.product_json(answer_json(costs, said) | here)
    else:
        for one in timed:
            cost, slowdown = units.interval(one.cost, units.DURATION), units.interval(one.slowdown, units.SHARE)
            output.product(WORDS["here"].format(case=one.case, cost=cost, slowdown=slowdown) + "\n")
        _print(costs, said, is_named=question.machine is not None)
    return said.headline.likeness.comparable


def _timed_here(costs: Evidence, question: Question) -> Sequence[PredictedHere]:
    """What the question's case costs here now: what times it is loaded for that alone."""
    from probe_effect.advising.here import predicted_here

    return predicted_here(costs, question)


def _print(found: Evidence, said: Answer, *, is_named: bool) -> None:
    nearest, one = said.headline, said.headline.forecast
    output.product(sentences.headline(one) + "\n")
    if recommendation := sentences.recommendation(one):
        output.product(recommendation + "\n")
    waiting = [("delay of its work", sentences.delay(one))] if one.load.busy_ratio < 1 else []
    rows = [("CPU", sentences.cpu(one)), *waiting, ("events lost", sentences.loss(one))]
    rows += [prediction.row(part.hardware, one.load) for part in one.parts if part.hardware and len(one.parts) == 1]
    show_section("What it does", rows)
    together = ", all probes together" if len(one.parts) > 1 else ""
    show_section(f"When it begins to matter{together}", sentences.thresholds(one))
    less = [(name, f"{figures} {remarks}") for name, figures, remarks in map(alternatives.way, ways(found, one))]
    show_section("What would cost less", less or [(WORDS["no-way"],)])
    show_section("Where this is from", _origin(one, () if is_named else nearest.likeness.reasons))
    title = "Comparable machines"
    span = sentences.span(said)
    alike = [] if one.printed else said.comparable
    show_section(f"{title}: {span}" if span else title, _neighbours(alike))
    assumed = sentences.assumptions(one, tried(found, one))
    show_section("Assumed", [("-", text) for text in assumed])


def _origin(one: Forecast, reasons: tuple[str, ...]) -> list[tuple[str, str]]:
    chosen = [("chosen because", "; ".join(reasons))] if reasons else []
    names = [f"{part.name} " if len(one.parts) > 1 else "" for part in one.parts]
    costs = [name + units.interval(part.cost, units.DURATION) for name, part in zip(names, one.parts, strict=True)]
    return [
        ("machine", sentences.where(one)),
        *chosen,
        (ORIGIN[one.parts[0].basis], sentences.dates(one)),
        ("cost of an event", ", ".join(costs)),
        ("grade", sentences.grade(one)),
    ]


def _neighbours(others: Sequence[Neighbour]) -> list[tuple[str, ...]]:
    """Those most like the asker's machine, and how many more there are."""
    rows: list[tuple[str, ...]] = [
        (sentences.where(one.forecast), sentences.slowdown(one.forecast), "; ".join(one.likeness.reasons))
        for one in others[:MOST_NEIGHBOURS]
    ]
    more = len(others) - len(rows)
    return [*rows, (f"and {more} more", "", "--format json has all")] if more else rows
