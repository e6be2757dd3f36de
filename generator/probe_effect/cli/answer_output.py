"""What `probe-effect predict` prints: for people, or as JSON."""

from probe_effect import units
from probe_effect.advising.prediction import answer_json, predicted
from probe_effect.answer import prediction, sentences
from probe_effect.answer.answers import Answer, tried, ways
from probe_effect.answer.prediction import WORDS
from probe_effect.answer.question import Question
from probe_effect.cli import output
from probe_effect.cli.output import show_section
from probe_effect.costs.evidence import Evidence
from probe_effect.host import this_machine
from probe_effect.numbers.shown import facts_of_machine
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
    costs, said = predicted(question, data, facts_of_machine(*this_machine.collect_named()))
    timed = []
    if is_here:
        from probe_effect.advising.here import predicted_here

        timed = predicted_here(costs, question)
    if output_format == "json":
        here = {"here": [one.as_json() for one in timed]} if is_here else {}
        output.product_json(answer_json(costs, said) | here)
    else:
        for one in timed:
            cost, slowdown = units.interval(one.cost, units.DURATION), units.interval(one.slowdown, units.SHARE)
            output.product(WORDS["here"].format(case=one.case, cost=cost, slowdown=slowdown) + "\n")
        _print(costs, said, is_named=question.machine is not None)
    return said.headline.likeness.comparable


def _print(costs: Evidence, said: Answer, *, is_named: bool) -> None:
    forecast, reasons = said.headline.forecast, said.headline.likeness.reasons
    is_one = len(forecast.parts) == 1
    output.product(sentences.headline(forecast) + "\n")
    if recommendation := sentences.recommendation(forecast):
        output.product(recommendation + "\n")
    waiting = [("delay of its work", sentences.delay(forecast))] if forecast.load.busy_ratio < 1 else []
    rows = [("CPU", sentences.cpu(forecast)), *waiting, ("events lost", sentences.loss(forecast))]
    rows += [prediction.row(part.hardware, forecast.load) for part in forecast.parts if part.hardware and is_one]
    show_section("What it does", rows)
    together = "" if is_one else ", all probes together"
    show_section(f"When it begins to matter{together}", sentences.thresholds(forecast))
    told = map(sentences.way, ways(costs, forecast))
    less = [(name, f"{figures} {remarks}") for name, figures, remarks in told]
    show_section("What would cost less", less or [(WORDS["no-way"],)])
    names = ["" if is_one else f"{part.name} " for part in forecast.parts]
    own = (name + units.interval(part.cost, units.DURATION) for name, part in zip(names, forecast.parts, strict=True))
    origin = [
        ("machine", sentences.where(forecast)),
        *([("chosen because", "; ".join(reasons))] if reasons and not is_named else []),
        (ORIGIN[forecast.parts[0].basis], sentences.dates(forecast)),
        ("cost of an event", ", ".join(own)),
        ("grade", sentences.grade(forecast)),
    ]
    show_section("Where this is from", origin)
    alike = [] if forecast.printed else said.comparable
    neighbours = [
        (sentences.where(one.forecast), sentences.slowdown(one.forecast), "; ".join(one.likeness.reasons))
        for one in alike[:MOST_NEIGHBOURS]
    ]
    if more := len(alike) - len(neighbours):
        neighbours.append((f"and {more} more", "", "--format json has all"))
    span = sentences.span(said)
    show_section("Comparable machines" + (f": {span}" if span else ""), neighbours)
    show_section("Assumed", [("-", text) for text in sentences.assumptions(forecast, tried(costs, forecast))])
