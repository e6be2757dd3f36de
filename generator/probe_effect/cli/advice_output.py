"""What `probe-effect advise` prints."""

from itertools import chain

from probe_effect import units
from probe_effect.advising import script_report
from probe_effect.advising.script_answer import ScriptAnswer
from probe_effect.answer import sentences
from probe_effect.cli import output
from probe_effect.cli.output import show_section, show_table, show_text
from probe_effect.numbers.submission import THRESHOLDS


def show(answer: ScriptAnswer) -> None:
    advice = answer.advice
    show_text(script_report.headline(answer) + "\n")
    if recommendation := script_report.recommendation(advice) or script_report.limits(advice):
        show_text(recommendation + "\n")
    values = ("events/s", "cost of an event", "basis", "CPU")
    show_table(("probe", "kind", "action"), values, map(script_report.probe_row, advice.probes))
    output.product("")
    show_section("What never fired may be called elsewhere", answer.elsewhere)
    threads = advice.threads[: script_report.MOST_THREADS]
    show_section("Threads that pay most", [(script_report.slowdown(one), script_report.whom(one)) for one in threads])
    cpu = [] if advice.cpu_s_per_s is None else [("CPUs taken", sentences.written(advice.cpu_s_per_s, units.CPUS))]
    lost = [("events lost", sentences.loss(advice.busiest.forecast))] if advice.busiest else []
    memory = ("memory", script_report.memory(answer))
    show_section("What it does", [*cpu, *lost, memory, *script_report.starting(answer)])
    alone = " alone" if len(advice.probes) > 1 else ""
    output.product(f"When a probe{alone} begins to matter to a busy thread, events/s:")
    titles = [f"{percent}{units.GAP}%" for percent in THRESHOLDS]
    show_table(("probe",), titles, map(script_report.threshold_row, advice.probes))
    output.product("")
    less = (((("-", what), ("", script)) if script else (("-", what),)) for what, script in answer.cheaper)
    show_section("What would cost less", chain.from_iterable(less))
    width = script_report.width(advice)
    origin = [
        *script_report.origin(answer),
        *([("width", width)] if width else []),
        ("tracer", advice.tracer),
        ("counting took", script_report.counting(answer)),
    ]
    show_section("Where this is from", origin)
    show_section("Assumed", [("-", text) for text in script_report.assumptions(answer)])
