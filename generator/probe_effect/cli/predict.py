"""`probe-effect predict`: what a probe would do to a program, before anybody attaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option
from probe_effect.cli.predict_json import answer_json
from probe_effect.cli.sections import show_section
from probe_effect.errors import UsageError
from probe_effect.guidance import beside, sentences
from probe_effect.guidance.alternatives import ways
from probe_effect.guidance.answers import answer, tried
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.guidance.evidence import evidence
from probe_effect.guidance.likeness import facts_of
from probe_effect.guidance.question import Combination, Question, asked_from, rate_from, share_from
from probe_effect.guidance.words import WORDS
from probe_effect.host import ROOT
from probe_effect.machine.collect import collect_machine
from probe_effect.machine.kernel import kernel_release
from probe_effect.measure.request import unknown

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.guidance.answers import Answer, Forecast, Neighbour
    from probe_effect.guidance.evidence import Evidence


@click.command()
@click.option("--rate", help="Events per second in one thread: 50k, 1.5M, 200.")
@click.option("--case", "cases", multiple=True, metavar="CASE[@RATE]", help="The probe; again for several at once.")
@click.option("--probe", help="A kind of probe, with --action; composed of measured costs where nobody measured it.")
@click.option("--action", help="What that probe does when it fires.")
@click.option("--tracer", help="The tracer. [default: of those that have the case, the one with most cases]")
@click.option("--machine", help="A measured machine. [default: this one, or the nearest to it]")
@click.option("--threads", default=1, show_default=True, help="Threads that fire the probe, each at the rate.")
@click.option("--busy", default="100%", show_default=True, help="Share of its time that a thread uses a CPU.")
@data_option
@output.format_option
@click.pass_context
def predict(context: click.Context, /, data_path: Path | None, form: str, **words: Any) -> None:  # noqa: ANN401 (click's)
    """Say what a probe will do to a thread: its slowdown, with an interval, at a rate of events.

    \b
    Examples: probe-effect predict --rate 50k --case 06-uprobe --tracer bpftrace
              probe-effect predict --rate 50k --case 06-uprobe --case 04-tracepoint-entry@20k
              probe-effect predict --rate 2k --probe uprobe --action count-by-user-stack

    Exit status 1 when nothing was measured that could guide.
    """  # noqa: D301 (click reads the \b)
    found = evidence(read_catalogue(data_folder(data_path)))
    question = _question(words)
    _check_names(found, question)
    here = facts_of(collect_machine(), kernel_release(ROOT))
    said = answer(found, question, here)
    if form == "json":
        output.product_json(answer_json(found, said))
    else:
        _print(found, said, is_named=question.machine is not None)
    context.exit(0 if said.headline else 1)


def _question(words: dict[str, Any]) -> Question:
    """What the command line asks. Raises: UsageError."""
    probe, action, cases = words["probe"], words["action"], words["cases"]
    if (probe is None) != (action is None):
        msg = "--probe and --action belong together: give both, or a measured case with --case"
        raise UsageError(msg)
    if not cases and probe is None:
        msg = "nothing to predict: give a case with --case, such as 06-uprobe; `probe-effect suites` lists them"
        raise UsageError(msg)
    rate_hz = None if words["rate"] is None else rate_from(words["rate"])
    if probe is not None and rate_hz is None:
        msg = f"{probe} with {action}: expected a rate, found none; give --rate 50k"
        raise UsageError(msg)
    return Question(
        probes=tuple(asked_from(case, rate_hz) for case in cases),
        combination=Combination(probe, action, rate_hz) if probe is not None and rate_hz is not None else None,
        tracer=words["tracer"],
        machine=words["machine"],
        threads=words["threads"],
        busy_ratio=share_from(words["busy"]),
    )


def _check_names(found: Evidence, question: Question) -> None:
    """Raises: UsageError with the nearest names for the first that the data does not have."""
    cases = [case for _, case in found.cases()]
    keys = [*found.costs, *found.by_level, *found.refused]
    unknown([one.case for one in question.probes], [case.id for case in cases], "case")
    unknown(filter(None, [question.tracer]), dict.fromkeys(tracer for _, tracer, _ in keys), "tracer")
    unknown(filter(None, [question.machine]), dict.fromkeys(machine for machine, _, _ in keys), "machine")
    if question.combination is not None:
        unknown([question.combination.probe], dict.fromkeys(case.probe for case in cases), "probe")
        unknown([question.combination.action], dict.fromkeys(case.action for case in cases), "action")


def _print(found: Evidence, said: Answer, *, is_named: bool) -> None:
    nearest = said.headline
    if nearest is None:
        output.product(sentences.no_machine(said) + "\n")
        show_section("Measured elsewhere, and not comparable", map(_neighbour, said.neighbours))
        return
    one = nearest.forecast
    output.product(sentences.headline(one) + "\n")
    if len(said.comparable) > 1 and not is_named:
        output.product(beside.alike([other.forecast for other in said.comparable]) + "\n")
    show_section("What it does", _figures(one))
    together = ", all probes together" if len(one.parts) > 1 else ""
    show_section(f"When it begins to matter{together}", sentences.thresholds(one))
    show_section("What would cost less", _ways(found, one))
    show_section("Where this is from", _origin(one, () if is_named else nearest.likeness.reasons))
    title = "Comparable machines"
    span = sentences.span(said)
    show_section(f"{title}: {span}" if span else title, map(_neighbour, said.comparable))
    assumed = sentences.assumptions(one, tried(found, one))
    show_section("Assumed", [("-", text) for text in assumed])


def _figures(one: Forecast) -> list[tuple[str, str]]:
    waiting = [("delay of its work", sentences.delay(one))] if one.load.busy_ratio < 1 else []
    return [("CPU", sentences.cpu(one)), *waiting, ("events lost", sentences.loss(one))]


def _ways(found: Evidence, one: Forecast) -> list[tuple[str, ...]]:
    told = map(beside.way, ways(found, one))
    return [(name, f"{figures} {remarks}") for name, figures, remarks in told] or [(WORDS["no-way"],)]


def _origin(one: Forecast, reasons: tuple[str, ...]) -> list[tuple[str, str]]:
    chosen = [("chosen because", "; ".join(reasons))] if reasons else []
    return [
        ("machine", sentences.where(one)),
        *chosen,
        ("measured on", sentences.dates(one)),
        ("cost of an event", ", ".join(_cost(one))),
        ("grade", sentences.grade(one)),
    ]


def _cost(one: Forecast) -> list[str]:
    written = [units.interval(part.cost, units.DURATION) for part in one.parts]
    return (
        written if len(written) == 1 else [f"{part.name} {text}" for part, text in zip(one.parts, written, strict=True)]
    )


def _neighbour(other: Neighbour) -> tuple[str, str, str]:
    return other.forecast.facts.machine, sentences.slowdown(other.forecast), "; ".join(other.likeness.reasons)
