"""What `probe-effect compare` and `summarise` print: for people, for programs, and the verdict of a gate."""

from collections.abc import Iterator
from typing import Any

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.output import show_section, show_table
from probe_effect.compare.compared import Compared, failures, tracers_by_case
from probe_effect.compare.comparison import Comparison, Outcome, expected_by_chance, largest, outcomes
from probe_effect.model import Key, interval_json, spread_json, thresholds_json
from probe_effect.numbers import names
from probe_effect.numbers.submission import THRESHOLDS, Number, Submission
from probe_effect.site.pages import comparison, instructions
from probe_effect.site.pages.instructions import listed
from probe_effect.site.pages.results import view_of
from probe_effect.store.suite_file import Suite

MOST_NAMED = 3
"""Largest changes that a sentence names."""


def as_json(found: Compared) -> dict[str, Any]:
    """The JSON of `compare`; differences are second less first, ratios second over first; null where there is none.

    `change_ratio`, of counts, is the ratio less 1: 0.02 is 2 % more.
    """
    comparisons = found.comparisons
    failing = [] if found.is_time else [one.key._asdict() | {"reason": one.reason} for one in failures(found)]
    return {
        "first": found.first,
        "second": found.second,
        "of": found.of,
        "metric": "time" if found.is_time else "instructions",
        "comparisons": [_comparison_json(one) for one in comparisons],
        "outcomes": outcomes(comparisons),
        **({"expected_by_chance": expected_by_chance(comparisons)} if found.is_time else {}),
        "differing": [dict(zip(("what", "first", "second"), one, strict=True)) for one in found.differing()],
        "only_first": [key._asdict() for key in found.absences],
        "only_second": [key._asdict() for key in found.only_second],
        **({} if found.is_time else {"fail_above_ratio": found.fail_above_ratio, "failures": failing}),
    }


def _comparison_json(found: Comparison) -> dict[str, Any]:
    first, second = found.first, found.second
    sides = {
        "case": first.case,
        "level": first.level,
        "first_tracer": first.tracer,
        "second_tracer": second.tracer,
        "first_submission": first.submission.id,
        "second_submission": second.submission.id,
    }
    verdict = {"outcome": found.outcome, "reason": found.reason}
    if first.is_time:
        return {
            **sides,
            **interval_json(first.cost, "first_cost", "ns"),
            **interval_json(second.cost, "second_cost", "ns"),
            **interval_json(found.difference, "difference", "ns"),
            **interval_json(found.ratio, "cost", "ratio"),
            **verdict,
            "paired": found.is_paired,
        }
    functions = instructions.functions(first, second).items()
    return {
        **sides,
        **spread_json(first.cost, "first_cost"),
        **spread_json(second.cost, "second_cost"),
        "change_ratio": found.change_ratio,
        "is_clear": found.is_clear,
        **verdict,
        "functions": [{"function": name, "first": one, "second": other} for name, (one, other) in functions],
    }


def show(found: Compared, *, paths: bool = False) -> None:
    has_levels = any(one.first.level is not None for one in found.comparisons)
    labels = ["case", *(["level"] if has_levels else []), *(["tracer"] if found.of is None else [])]
    rows = []
    for one in found.comparisons:
        costs = (one.first.cost, one.second.cost)
        if found.is_time:
            figures = [*(units.interval(cost, units.DURATION) for cost in costs), *comparison.cells(one)[:2]]
        else:
            figures = [*(units.spread(cost, units.INSTRUCTIONS) for cost in costs), signed_percent(one.change_ratio)]
        rows.append([*(one.first.key._asdict()[label] or "" for label in labels), *figures, one.outcome])
    titles = (
        (f"cost, {found.first}", f"cost, {found.second}", "difference (95 %)", "ratio (95 %)")
        if found.is_time
        else (f"instructions per event, {found.first}", found.second, "change")
    )
    show_table(labels, titles, rows, remarks=["outcome"])
    output.product("")
    for sentence in _of_times(found) if found.is_time else _of_counts(found):
        output.product(sentence)
    output.product("")
    differing = ((what, " | ".join(side or "not known" for side in sides)) for what, *sides in found.differing())
    show_section(f"What differs: {found.first} | {found.second}", differing)
    for one in found.comparisons if paths else ():
        functions = instructions.functions(one.first, one.second).items()
        rows_of_functions = [(name, f"{first} | {second}, {second - first:+}") for name, (first, second) in functions]
        title = f"{subject(one.second.key)}: instructions of one event, {found.first} | {found.second}"
        show_section(title, rows_of_functions or [("functions", "the same, or not recorded")])
    show_section(f"Only {found.first}", tracers_by_case(found.absences))
    show_section(f"Only {found.second}", tracers_by_case(found.only_second))


def show_verdict(found: Compared) -> bool:
    """On stderr each case that fails, and how many do; nothing without a limit. Whether none does."""
    if found.fail_above_ratio is None:
        return True
    for one in found.comparisons:
        if one.first.faults and not one.second.faults:
            output.say(f"not compared: {subject(one.first.key)}: {one.reason}")
    failing = failures(found)
    for key, reason in failing:
        output.say(f"fails: {subject(key)} {reason}")
        compared = (one for one in found.comparisons if one.second.key == key)
        if grown := next((instructions.changed(one.first, one.second) for one in compared), ""):
            output.say(f"  in one event: {grown}")
    number = len(found.comparisons) + len(found.absences)
    looked_at = f"{number} case{'' if number == 1 else 's'} looked at"
    if failing:
        output.say(f"{looked_at}, {len(failing)} not let through; --case and --tracer name those to look at")
    else:
        limit = units.stated(found.fail_above_ratio, units.SHARE)
        output.say(f"{looked_at}, none takes more than {limit} more {found.second_words}")
    return not failing


def subject(key: Key) -> str:
    level = "" if key.level is None else f" at level {key.level}"
    return f"{key.case}{level} with {key.tracer}"


def signed_percent(ratio: float | None) -> str:
    """A change in per cent with its sign, to one decimal: `+5.2 %`."""
    if ratio is None:
        return units.MISSING
    text = units.at_place(100 * ratio, -1)
    sign = "+" if ratio > 0 and text != "0.0" else ""
    return f"{sign}{text}{units.GAP}%"


def _of_times(found: Compared) -> Iterator[str]:
    yield comparison.summary(found.comparisons, found.second_words)
    yield comparison.chance(found.comparisons)
    for what, first, second in found.differing():
        if what == "tier":
            yield comparison.WORDS["tiers"].format(first=first, second=second)
    if found.of is not None:
        paired = sum(one.is_paired for one in found.comparisons)
        yield f"{paired} of {len(found.comparisons)} pairs were measured in the same blocks and share their baselines."
    yield from (f"{one.first.case}, {one.second.tracer}: {one.reason}" for one in found.comparisons if one.reason)


def _of_counts(found: Compared) -> Iterator[str]:
    counts, second_words = outcomes(found.comparisons), found.second_words
    # The first outcome that takes a side says which side it speaks of.
    words: dict[Outcome, tuple[str, str, str]] = {
        "higher": ("takes", "take", f"more instructions {second_words}"),
        "lower": ("takes", "take", "fewer" if counts["higher"] else f"fewer instructions {second_words}"),
        "no difference": ("shows", "show", "no difference"),
        "not comparable": ("is", "are", "not comparable"),
    }
    parts = []
    for outcome, times in counts.items():
        one_does, several_do, what = words[outcome]
        parts += [f"{times} {one_does if times == 1 else several_do} {what}"] if times else []
    yield f"Of {len(found.comparisons)} case{'' if len(found.comparisons) == 1 else 's'}, {listed(parts)}."
    if named := largest(found.comparisons, MOST_NAMED):
        changes = ", ".join(f"{subject(one.second.key)} {signed_percent(one.change_ratio)}" for one in named)
        yield f"The largest: {changes}."
    for one in found.comparisons:
        if one.reason:
            yield f"{subject(one.second.key)}: {one.reason}"
        before, after = one.first.count.mechanism, one.second.count.mechanism
        if before is not None and after is not None and before != after:
            yield f"{subject(one.second.key)}: the kernel made its kprobes by {before}, then by {after}"


def summary_json(submission: Submission) -> dict[str, Any]:
    """What one submission says; one of counts has null for each time, and keys of its own."""
    is_time = submission.metric == "time"
    return {
        **_named(submission, "id machine suite metric grade grade_reasons noise_floor_ns equal_runs_ns"),
        "baseline_ns": submission.baseline.value if submission.baseline and is_time else None,
        **({} if is_time else spread_json(submission.baseline, "baseline")),
        "cases": [_number_json(one) for one in submission.numbers],
    }


def _named(value: object, names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names.split()}


def _number_json(one: Number) -> dict[str, Any]:
    time, own, count = one.time, one.own_use, one.count
    memory = own.memory or time.memory
    of_counts = {
        **spread_json(count.baseline, "baseline"),
        **spread_json(count.cost, "cost"),
        **spread_json(count.attach, "attach"),
        **spread_json(count.detach, "detach"),
        **_named(count, "probes mechanism"),
        "faults": one.faults,
    }
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
        **({} if one.is_time else of_counts),
    }


def show_summary(submission: Submission, suite: Suite | None) -> None:
    """The table on stdout, then what must be known before a number is used; `suite` is as it is today."""
    output.product(f"{submission.id}: {names.machine_name(submission)}")
    output.product(f"{_head(submission)}\n")
    has_levels = any(one.level for one in submission.numbers)
    columns = view_of(suite, submission.metric).summary
    rows = (
        [one.case, one.tracer, *([one.level or ""] * has_levels), *(column.words(one) for column in columns.values())]
        for one in submission.numbers
        if one.is_known
    )
    show_table(("case", "tracer"), [*(["level"] * has_levels), *columns], rows)
    for one in submission.numbers:
        level = "" if one.level is None else f" at level {one.level}"
        # What keeps a count from being compared, which the note of a time says already; and the note.
        remarks = [] if one.is_time else [f"not to be compared: {fault}" for fault in one.faults]
        for remark in [*remarks, *([f"{one.status}: {one.note}"] if one.note else [])]:
            output.product(f"{one.case} {one.tracer}{level}: {remark}")


def _head(submission: Submission) -> str:
    if submission.metric == "instructions":
        untraced = units.spread(submission.baseline, units.INSTRUCTIONS)
        kernel = submission.document.system.kernel_release
        return f"instructions counted under Linux {kernel}, no times; untraced operation {untraced}"
    reasons = f" ({'; '.join(submission.grade_reasons)})" if submission.grade_reasons else ""
    untraced = units.duration(submission.baseline.value if submission.baseline else None)
    floor, apart = (units.duration(one, 2) for one in (submission.noise_floor_ns, submission.equal_runs_ns))
    if any(one.own_use.cpu for one in submission.numbers):
        return f"grade {submission.grade}{reasons}"
    noise = f"noise floor {floor}, two equal runs within {apart}"
    return f"grade {submission.grade}{reasons}; untraced operation {untraced}, {noise}"
