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


def as_json(compared: Compared) -> dict[str, Any]:
    """The JSON of `compare`; differences are second less first, ratios second over first; null where there is none.

    `change_ratio`, of counts, is the ratio less 1: 0.02 is 2 % more.
    """
    comparisons = compared.comparisons
    failing = (
        []
        if compared.is_time
        else [failure.key._asdict() | {"reason": failure.reason} for failure in failures(compared)]
    )
    return {
        "first": compared.first,
        "second": compared.second,
        "of": compared.of,
        "metric": "time" if compared.is_time else "instructions",
        "comparisons": [_comparison_json(pair) for pair in comparisons],
        "outcomes": outcomes(comparisons),
        **({"expected_by_chance": expected_by_chance(comparisons)} if compared.is_time else {}),
        "differing": [
            dict(zip(("what", "first", "second"), difference, strict=True)) for difference in compared.differing()
        ],
        "only_first": [key._asdict() for key in compared.absences],
        "only_second": [key._asdict() for key in compared.only_second],
        **({} if compared.is_time else {"fail_above_ratio": compared.fail_above_ratio, "failures": failing}),
    }


def _comparison_json(pair: Comparison) -> dict[str, Any]:
    first, second = pair.first, pair.second
    sides = {
        "case": first.case,
        "level": first.level,
        "first_tracer": first.tracer,
        "second_tracer": second.tracer,
        "first_submission": first.submission.id,
        "second_submission": second.submission.id,
    }
    verdict = {"outcome": pair.outcome, "reason": pair.reason}
    if first.is_time:
        return {
            **sides,
            **interval_json(first.cost, "first_cost", "ns"),
            **interval_json(second.cost, "second_cost", "ns"),
            **interval_json(pair.difference, "difference", "ns"),
            **interval_json(pair.ratio, "cost", "ratio"),
            **verdict,
            "paired": pair.is_paired,
        }
    functions = instructions.functions(first, second).items()
    return {
        **sides,
        **spread_json(first.cost, "first_cost"),
        **spread_json(second.cost, "second_cost"),
        "change_ratio": pair.change_ratio,
        "is_clear": pair.is_clear,
        **verdict,
        "functions": [
            {"function": name, "first": first_count, "second": other} for name, (first_count, other) in functions
        ],
    }


def show(compared: Compared, *, paths: bool = False) -> None:
    has_levels = any(pair.first.level is not None for pair in compared.comparisons)
    labels = ["case", *(["level"] if has_levels else []), *(["tracer"] if compared.of is None else [])]
    rows = []
    for pair in compared.comparisons:
        costs = (pair.first.cost, pair.second.cost)
        if compared.is_time:
            figures = [*(units.interval(cost, units.DURATION) for cost in costs), *comparison.cells(pair)[:2]]
        else:
            figures = [*(units.spread(cost, units.INSTRUCTIONS) for cost in costs), signed_percent(pair.change_ratio)]
        rows.append([*(pair.first.key._asdict()[label] or "" for label in labels), *figures, pair.outcome])
    titles = (
        (f"cost, {compared.first}", f"cost, {compared.second}", "difference (95 %)", "ratio (95 %)")
        if compared.is_time
        else (f"instructions per event, {compared.first}", compared.second, "change")
    )
    show_table(labels, titles, rows, remarks=["outcome"])
    output.product("")
    for sentence in _of_times(compared) if compared.is_time else _of_counts(compared):
        output.product(sentence)
    output.product("")
    differing = ((what, " | ".join(side or "not known" for side in sides)) for what, *sides in compared.differing())
    show_section(f"What differs: {compared.first} | {compared.second}", differing)
    for pair in compared.comparisons if paths else ():
        functions = instructions.functions(pair.first, pair.second).items()
        rows_of_functions = [(name, f"{first} | {second}, {second - first:+}") for name, (first, second) in functions]
        title = f"{subject(pair.second.key)}: instructions of one event, {compared.first} | {compared.second}"
        show_section(title, rows_of_functions or [("functions", "the same, or not recorded")])
    show_section(f"Only {compared.first}", tracers_by_case(compared.absences))
    show_section(f"Only {compared.second}", tracers_by_case(compared.only_second))


def show_verdict(all_compared: Compared) -> bool:
    """On stderr each case that fails, and how many do; nothing without a limit. Whether none does."""
    if all_compared.fail_above_ratio is None:
        return True
    for pair in all_compared.comparisons:
        if pair.first.faults and not pair.second.faults:
            output.say(f"not compared: {subject(pair.first.key)}: {pair.reason}")
    failing = failures(all_compared)
    for key, reason in failing:
        output.say(f"fails: {subject(key)} {reason}")
        compared = (pair for pair in all_compared.comparisons if pair.second.key == key)
        if grown := next((instructions.changed(pair.first, pair.second) for pair in compared), ""):
            output.say(f"  in one event: {grown}")
    number = len(all_compared.comparisons) + len(all_compared.absences)
    looked_at = f"{number} case{'' if number == 1 else 's'} looked at"
    if failing:
        output.say(f"{looked_at}, {len(failing)} not let through; --case and --tracer name those to look at")
    else:
        limit = units.stated(all_compared.fail_above_ratio, units.SHARE)
        output.say(f"{looked_at}, none takes more than {limit} more {all_compared.second_words}")
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


def _of_times(compared: Compared) -> Iterator[str]:
    yield comparison.summary(compared.comparisons, compared.second_words)
    yield comparison.chance(compared.comparisons)
    for what, first, second in compared.differing():
        if what == "tier":
            yield comparison.WORDS["tiers"].format(first=first, second=second)
    if compared.of is not None:
        paired = sum(pair.is_paired for pair in compared.comparisons)
        pairs = len(compared.comparisons)
        yield f"{paired} of {pairs} pairs were measured in the same blocks and share their baselines."
    yield from (
        f"{pair.first.case}, {pair.second.tracer}: {pair.reason}" for pair in compared.comparisons if pair.reason
    )


def _of_counts(compared: Compared) -> Iterator[str]:
    counts, second_words = outcomes(compared.comparisons), compared.second_words
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
    yield f"Of {len(compared.comparisons)} case{'' if len(compared.comparisons) == 1 else 's'}, {listed(parts)}."
    if named := largest(compared.comparisons, MOST_NAMED):
        changes = ", ".join(f"{subject(pair.second.key)} {signed_percent(pair.change_ratio)}" for pair in named)
        yield f"The largest: {changes}."
    for pair in compared.comparisons:
        if pair.reason:
            yield f"{subject(pair.second.key)}: {pair.reason}"
        before, after = pair.first.count.mechanism, pair.second.count.mechanism
        if before is not None and after is not None and before != after:
            yield f"{subject(pair.second.key)}: the kernel made its kprobes by {before}, then by {after}"


def summary_json(submission: Submission) -> dict[str, Any]:
    """What one submission says; one of counts has null for each time, and keys of its own."""
    is_time = submission.metric == "time"
    return {
        **_named(submission, "id machine suite metric grade grade_reasons noise_floor_ns equal_runs_ns"),
        "baseline_ns": submission.baseline.value if submission.baseline and is_time else None,
        **({} if is_time else spread_json(submission.baseline, "baseline")),
        "cases": [_number_json(number) for number in submission.numbers],
    }


def _named(value: object, names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names.split()}


def _number_json(number: Number) -> dict[str, Any]:
    time, own, count = number.time, number.own_use, number.count
    memory = own.memory or time.memory
    of_counts = {
        **spread_json(count.baseline, "baseline"),
        **spread_json(count.cost, "cost"),
        **spread_json(count.attach, "attach"),
        **spread_json(count.detach, "detach"),
        **_named(count, "probes mechanism"),
        "faults": number.faults,
    }
    return {
        **_named(number, "case tracer level status blocks"),
        "baseline_ns": time.baseline.value if time.baseline else None,
        **interval_json(time.cost, "cost", "ns"),
        **_named(time, "fastest_ns noise_floor_ns"),
        **interval_json(time.slowdown, "slowdown", "ratio"),
        **thresholds_json({percent: number.threshold(percent) for percent in THRESHOLDS}),
        **interval_json(time.attach, "attach", "ns"),
        **interval_json(time.detach, "detach", "ns"),
        **interval_json(own.cpu, "tracer_cpu", "ns"),
        "tracer_rss_bytes": memory.value if memory else None,
        "tracer_calls": own.calls,
        **_named(number.event, "loss_ratio reconciled"),
        **_named(number, "distinguishable grade grade_reasons"),
        "rate_hz": time.rate_hz,
        "far_out_blocks": list(number.outlier_blocks),
        "note": number.note,
        **({} if number.is_time else of_counts),
    }


def show_summary(submission: Submission, suite: Suite | None) -> None:
    """The table on stdout, then what must be known before a number is used; `suite` is as it is today."""
    output.product(f"{submission.id}: {names.machine_name(submission)}")
    output.product(f"{_head(submission)}\n")
    has_levels = any(number.level for number in submission.numbers)
    columns = view_of(suite, submission.metric).summary
    rows = (
        [
            number.case,
            number.tracer,
            *([number.level or ""] * has_levels),
            *(column.words(number) for column in columns.values()),
        ]
        for number in submission.numbers
        if number.is_known
    )
    show_table(("case", "tracer"), [*(["level"] * has_levels), *columns], rows)
    for number in submission.numbers:
        level = "" if number.level is None else f" at level {number.level}"
        # What keeps a count from being compared, which the note of a time says already; and the note.
        remarks = [] if number.is_time else [f"not to be compared: {fault}" for fault in number.faults]
        for remark in [*remarks, *([f"{number.status}: {number.note}"] if number.note else [])]:
            output.product(f"{number.case} {number.tracer}{level}: {remark}")


def _head(submission: Submission) -> str:
    if submission.metric == "instructions":
        untraced = units.spread(submission.baseline, units.INSTRUCTIONS)
        kernel = submission.document.system.kernel_release
        return f"instructions counted under Linux {kernel}, no times; untraced operation {untraced}"
    reasons = f" ({'; '.join(submission.grade_reasons)})" if submission.grade_reasons else ""
    untraced = units.duration(submission.baseline.value if submission.baseline else None)
    floor, apart = (units.duration(time_ns, 2) for time_ns in (submission.noise_floor_ns, submission.equal_runs_ns))
    if any(number.own_use.cpu for number in submission.numbers):
        return f"grade {submission.grade}{reasons}"
    noise = f"noise floor {floor}, two equal runs within {apart}"
    return f"grade {submission.grade}{reasons}; untraced operation {untraced}, {noise}"
