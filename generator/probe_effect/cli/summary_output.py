"""What `probe-effect summarise` prints: for people, or as JSON."""

from collections.abc import Iterator
from typing import Any

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.tables import show_table
from probe_effect.model import interval_json, spread_json, thresholds_json
from probe_effect.numbers import names
from probe_effect.pages.results import view_of
from probe_effect.reduce.submission import THRESHOLDS, Number, Submission
from probe_effect.store.suite_file import Suite


def as_json(submission: Submission) -> dict[str, Any]:
    """What one submission says; one of counts has null for each time, and keys of its own."""
    is_time = submission.metric == "time"
    return {
        **_named(submission, "id machine suite metric grade grade_reasons noise_floor_ns"),
        "baseline_ns": submission.baseline.value if submission.baseline and is_time else None,
        **({} if is_time else spread_json(submission.baseline, "baseline")),
        "cases": [_number_json(one) for one in submission.numbers],
    }


def _named(one: object, names: str) -> dict[str, Any]:
    """The attributes of these names, as keys."""
    return {name: getattr(one, name) for name in names.split()}


def _number_json(one: Number) -> dict[str, Any]:
    time, own = one.time, one.own_use
    memory = own.memory or time.memory
    return {
        **_named(one, "case tracer level status blocks"),
        "baseline_ns": time.baseline.value if time.baseline else None,
        **interval_json(time.cost, "cost", "ns"),
        **_named(time, "fastest_ns noise_floor_ns"),
        **interval_json(time.slowdown, "slowdown", "ratio"),
        **thresholds_json({percent: one.threshold(percent) for percent in THRESHOLDS}),
        **interval_json(time.attach, "attach", "ns"),
        **interval_json(time.detach, "detach", "ns"),
        **interval_json(own.cpu, "tracer_cpu", "ns"),
        "tracer_rss_bytes": memory.value if memory else None,
        "tracer_calls": own.calls,
        **_named(one.event, "loss_ratio reconciled"),
        **_named(one, "distinguishable grade grade_reasons"),
        "rate_hz": time.rate_hz,
        "far_out_blocks": list(one.outlier_blocks),
        "note": one.note,
        **({} if one.is_time else _count_json(one)),
    }


def _count_json(one: Number) -> dict[str, Any]:
    return {
        **spread_json(one.count.baseline, "baseline"),
        **spread_json(one.count.cost, "cost"),
        **spread_json(one.count.attach, "attach"),
        **spread_json(one.count.detach, "detach"),
        **_named(one.count, "probes mechanism"),
        "faults": one.faults,
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
    if any(one.own_use.cpu for one in submission.numbers):
        return f"grade {submission.grade}{reasons}"
    return f"grade {submission.grade}{reasons}; untraced operation {untraced}, noise floor {floor}"


def _remarks(one: Number) -> Iterator[str]:
    """What keeps a count from being compared, which the note of a time says already; and the note."""
    if not one.is_time:
        yield from (f"not to be compared: {fault}" for fault in one.faults)
    if one.note:
        yield f"{one.status}: {one.note}"
