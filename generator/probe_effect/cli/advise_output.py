"""The answer of `probe-effect advise`, in sections for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.cli import advise_words, output
from probe_effect.reduce.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from probe_effect.answer.advice import Slowed
    from probe_effect.cli.advise_run import Answered


def show(said: Answered) -> None:
    """The answer on stdout."""
    from probe_effect.cli.tables import show_section, show_table

    advice = said.advice
    output.product(advise_words.headline(said) + "\n")
    if deed := advise_words.deed(advice):
        output.product(deed + "\n")
    labels = ("probe", "kind", "action")
    values = ("events/s", "cost of an event (95 %)", "basis", "CPU")
    show_table(labels, values, map(advise_words.probe_row, advice.probes))
    output.product("")
    show_section("What never fired may be called elsewhere", said.elsewhere)
    show_section("Threads that pay most", [_thread(one) for one in advice.threads[: advise_words.MOST_THREADS]])
    show_section("What it does", _figures(said))
    alone = " alone" if len(advice.probes) > 1 else ""
    output.product(f"When a probe{alone} begins to matter to a busy thread, events/s:")
    titles = [f"{percent}{units.GAP}%" for percent in THRESHOLDS]
    show_table(("probe",), titles, map(advise_words.threshold_row, advice.probes))
    output.product("")
    show_section("What would cost less", [row for change in said.cheaper for row in _change(*change)])
    show_section("Where this is from", _origin(said))
    show_section("Assumed", [("-", text) for text in advise_words.assumptions(said)])


def _change(what: str, script: str | None) -> list[tuple[str, str]]:
    """A sentence, and the changed script below it."""
    return [("-", what)] + ([("", script)] if script else [])


def _thread(one: Slowed) -> tuple[str, str]:
    return advise_words.slowdown(one), advise_words.whom(one)


def _figures(said: Answered) -> list[tuple[str, str]]:
    advice = said.advice
    lost = [("events lost", sentences.loss(advice.busiest.forecast))] if advice.busiest else []
    cpu = [] if advice.cpu_s_per_s is None else [("CPUs taken", units.interval(advice.cpu_s_per_s, units.CPUS))]
    return [*cpu, *lost, *advise_words.starting(said)]


def _origin(said: Answered) -> list[tuple[str, str]]:
    return [
        ("machine", f"{said.advice.facts.machine}: {'; '.join(said.chosen.reasons)}"),
        ("tracer", said.advice.tracer),
        ("counting took", advise_words.counting(said)),
    ]
