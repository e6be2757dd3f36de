"""What `probe-effect advise`, `predict` and `summarise` print: for people, or as JSON."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from probe_effect import units
from probe_effect.advising import script_words
from probe_effect.advising.here import predicted_here, this_machine
from probe_effect.advising.prediction import answer_json, predicted
from probe_effect.advising.script_answer import ScriptAnswer
from probe_effect.answer import alternatives, printed_times, sentences
from probe_effect.answer.alternatives import ways
from probe_effect.answer.answers import Answer, Forecast, Neighbour, tried
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.question import Question
from probe_effect.answer.words import WORDS
from probe_effect.cli import output
from probe_effect.cli.tables import show_section, show_table, show_text
from probe_effect.model import interval_json, spread_json, thresholds_json
from probe_effect.numbers import names
from probe_effect.pages.results import view_of
from probe_effect.reduce.grades import THRESHOLDS
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import Suite


def show(answer: ScriptAnswer) -> None:
    """Print the answer on stdout."""
    advice = answer.advice
    show_text(script_words.headline(answer) + "\n")
    if recommendation := script_words.recommendation(advice) or script_words.limits(advice):
        show_text(recommendation + "\n")
    labels = ("probe", "kind", "action")
    values = ("events/s", "cost of an event", "basis", "CPU")
    show_table(labels, values, map(script_words.probe_row, advice.probes))
    output.product("")
    show_section("What never fired may be called elsewhere", answer.elsewhere)
    threads = advice.threads[: script_words.MOST_THREADS]
    show_section("Threads that pay most", [(script_words.slowdown(one), script_words.whom(one)) for one in threads])
    cpu = [] if advice.cpu_s_per_s is None else [("CPUs taken", units.interval(advice.cpu_s_per_s, units.CPUS))]
    lost = [("events lost", sentences.loss(advice.busiest.forecast))] if advice.busiest else []
    show_section("What it does", [*cpu, *lost, *script_words.starting(answer)])
    alone = " alone" if len(advice.probes) > 1 else ""
    output.product(f"When a probe{alone} begins to matter to a busy thread, events/s:")
    titles = [f"{percent}{units.GAP}%" for percent in THRESHOLDS]
    show_table(("probe",), titles, map(script_words.threshold_row, advice.probes))
    output.product("")
    changes = ([("-", what), *([("", script)] if script else [])] for what, script in answer.cheaper)
    show_section("What would cost less", chain.from_iterable(changes))
    origin = [*script_words.origin(answer), ("tracer", advice.tracer), ("counting took", script_words.counting(answer))]
    show_section("Where this is from", origin)
    show_section("Assumed", [("-", text) for text in script_words.assumptions(answer)])


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
    """Print the answer; whether there is guidance. Raises: UsageError; HostNotReady where nothing can be timed here."""
    costs, said = predicted(question, data, this_machine())
    timed = predicted_here(costs, question) if is_here else []
    if output_format == "json":
        here = {"here": [one.as_json() for one in timed]} if is_here else {}
        output.product_json(answer_json(costs, said) | here)
    else:
        for one in timed:
            cost, slowdown = units.interval(one.cost, units.DURATION), units.interval(one.slowdown, units.SHARE)
            output.product(WORDS["here"].format(case=one.case, cost=cost, slowdown=slowdown) + "\n")
        _print(costs, said, is_named=question.machine is not None)
    return said.headline is not None


def _print(found: Evidence, said: Answer, *, is_named: bool) -> None:
    nearest = said.headline
    if nearest is None:
        output.product(sentences.no_machine(said) + "\n")
        show_section("Measured elsewhere, and not comparable", _neighbours(said.neighbours))
        return
    one = nearest.forecast
    output.product(sentences.headline(one) + "\n")
    if recommendation := sentences.recommendation(one):
        output.product(recommendation + "\n")
    waiting = [("delay of its work", sentences.delay(one))] if one.load.busy_ratio < 1 else []
    rows = [("CPU", sentences.cpu(one)), *waiting, ("events lost", sentences.loss(one))]
    rows += [printed_times.row(part.hardware, one.load) for part in one.parts if part.hardware and len(one.parts) == 1]
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


def as_json(submission: Submission) -> dict[str, Any]:
    """What one submission says; one of counts has null for each time, and keys of its own."""
    is_time = submission.metric == "time"
    return {
        **_named(submission, "id machine suite metric grade grade_reasons noise_floor_ns"),
        "baseline_ns": submission.baseline.value if submission.baseline and is_time else None,
        **({} if is_time else spread_json(submission.baseline, "baseline")),
        "cases": [_number_json(one) for one in submission.numbers],
    }


def _named(one: Submission | Number, names: str) -> dict[str, Any]:
    """The attributes of these names, as keys."""
    return {name: getattr(one, name) for name in names.split()}


def _number_json(one: Number) -> dict[str, Any]:
    cost_ns, baseline_ns = (one.cost, one.baseline) if one.is_time else (None, None)
    return {
        **_named(one, "case tracer level status blocks"),
        "baseline_ns": baseline_ns.value if baseline_ns else None,
        **interval_json(cost_ns, "cost", "ns"),
        **_named(one, "fastest_ns noise_floor_ns"),
        **interval_json(one.slowdown, "slowdown", "ratio"),
        **thresholds_json({percent: one.threshold(percent) for percent in THRESHOLDS}),
        **interval_json(one.attach if one.is_time else None, "attach", "ns"),
        **interval_json(one.detach if one.is_time else None, "detach", "ns"),
        **interval_json(one.tracer_cpu, "tracer_cpu", "ns"),
        "tracer_rss_bytes": one.memory.value if one.memory else None,
        **_named(one, "tracer_calls loss_ratio reconciled distinguishable grade grade_reasons rate_hz"),
        "far_out_blocks": list(one.outlier_blocks),
        "note": one.note,
        **({} if one.is_time else _count_json(one)),
    }


def _count_json(one: Number) -> dict[str, Any]:
    return {
        **spread_json(one.baseline, "baseline"),
        **spread_json(one.cost, "cost"),
        **spread_json(one.attach, "attach"),
        **spread_json(one.detach, "detach"),
        **_named(one, "probes mechanism faults"),
    }


def show_summary(submission: Submission, suite: Suite | None) -> None:
    """The table on stdout, then what must be known before a number is used; `suite` is as it is today."""
    output.product(f"{submission.id}: {names.machine_name(submission)}")
    output.product(f"{_head(submission)}\n")
    has_levels = any(one.level for one in submission.numbers)
    shown = view_of(suite, submission.metric).summary
    cells = shown.values()
    rows = (
        [
            one.case,
            one.tracer,
            *([one.level or ""] if has_levels else []),
            *(column.words(one) for column in cells),
        ]
        for one in submission.numbers
        if one.is_known
    )
    show_table(("case", "tracer"), [*(["level"] if has_levels else []), *shown], rows)
    for one in submission.numbers:
        level = "" if one.level is None else f" at level {one.level}"
        for remark in _remarks(one):
            output.product(f"{one.case} {one.tracer}{level}: {remark}")


def _head(submission: Submission) -> str:
    if submission.metric == "instructions":
        untraced = units.spread(submission.baseline, units.INSTRUCTIONS)
        kernel = submission.document.system.kernel_release
        return f"instructions counted under Linux {kernel}, no times; untraced operation {untraced}"
    reasons = f" ({'; '.join(submission.grade_reasons)})" if submission.grade_reasons else ""
    untraced = units.duration(submission.baseline.value if submission.baseline else None)
    floor = units.duration(submission.noise_floor_ns, 2)
    if any(one.tracer_cpu for one in submission.numbers):
        return f"grade {submission.grade}{reasons}"
    return f"grade {submission.grade}{reasons}; untraced operation {untraced}, noise floor {floor}"


def _remarks(one: Number) -> Iterator[str]:
    """What keeps a count from being compared, which the note of a time says already; and the note."""
    if not one.is_time:
        yield from (f"not to be compared: {fault}" for fault in one.faults)
    if one.note:
        yield f"{one.status}: {one.note}"
