"""What `probe-effect compare` prints of counted instructions: a table and sentences for people, JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from probe_effect import units
from probe_effect.cli import compare_frame, output
from probe_effect.cli.compare_gate import failures, signed_percent, subject
from probe_effect.guidance.instruction_change import cost, largest, outcomes
from probe_effect.pages import traits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from probe_effect.guidance.instruction_change import Change, ChangeOutcome, Counted
    from probe_effect.guidance.rows import CaseKey

MOST_NAMED = 3
"""Largest changes that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsCompared:
    """Two sides by name, `second_words` as a sentence has the second (`on B`), and what was found.

    `absences`: why the second side has no count of each of `only_first`. `of`: whose two tracers are the sides; None
    where the sides are submissions or machines. `fail_above_ratio`: the growth that is not let through, if any.
    """

    first: str
    second: str
    second_words: str
    changes: tuple[Change, ...]
    only_first: tuple[Counted, ...]
    only_second: tuple[Counted, ...]
    absences: Mapping[CaseKey, str]
    of: str | None = None
    fail_above_ratio: float | None = None

    def differing(self) -> list[tuple[str, str, str]]:
        """What else is not the same on both sides, of what was compared; empty where it is not known."""
        return traits.differing((one.first for one in self.changes), (one.second for one in self.changes))


def as_json(found: CountsCompared) -> dict[str, Any]:
    """The JSON of `compare` for instructions; ratios are second over first, less 1; null where there is none."""
    return {
        "first": found.first,
        "second": found.second,
        "of": found.of,
        "metric": "instructions",
        "comparisons": [_change_json(one) for one in found.changes],
        "outcomes": outcomes(found.changes),
        "differing": [{"what": what, "first": first, "second": second} for what, first, second in found.differing()],
        "only_first": [one.key._asdict() for one in found.only_first],
        "only_second": [one.key._asdict() for one in found.only_second],
        "fail_above_ratio": found.fail_above_ratio,
        "failures": [one.key._asdict() | {"reason": one.reason} for one in failures(found)],
    }


def _change_json(found: Change) -> dict[str, Any]:
    first, second = found.first, found.second
    return {
        "case": first.case.case,
        "level": first.case.level,
        "first_tracer": first.case.tracer,
        "second_tracer": second.case.tracer,
        "first_submission": first.submission.summary.id,
        "second_submission": second.submission.summary.id,
        **output.spread_json(first.case.cost_instructions, "first_cost", "instructions"),
        **output.spread_json(second.case.cost_instructions, "second_cost", "instructions"),
        "change_ratio": found.ratio,
        "is_clear": found.is_clear,
        "outcome": found.outcome,
        "reason": found.reason,
    }


def show(found: CountsCompared) -> None:
    """The comparison for people."""
    compare_frame.show(found, _table(found), _sentences(found))


def _table(found: CountsCompared) -> Table:
    table = Table(box=None, pad_edge=False)
    labels = list(compare_frame.labels((one.first.key for one in found.changes), of_tracers=found.of is not None))
    for title in labels:
        table.add_column(title)
    for title in (f"instructions per event, {found.first}", found.second, "change"):
        table.add_column(title, justify="right")
    table.add_column("outcome")
    for one in found.changes:
        key = one.first.key._asdict()
        counts = (units.spread(cost(side), units.INSTRUCTIONS) for side in (one.first, one.second))
        table.add_row(*(key[label] or "" for label in labels), *counts, signed_percent(one.ratio), one.outcome)
    return table


def _sentences(found: CountsCompared) -> Iterator[str]:
    *parts, last = _counted(outcomes(found.changes), found.second_words)
    words = f"{', '.join(parts)} and {last}" if parts else last
    yield f"Of {len(found.changes)} case{'' if len(found.changes) == 1 else 's'}, {words}."
    if named := largest(found.changes, MOST_NAMED):
        changes = ", ".join(f"{subject(one.second.key)} {signed_percent(one.ratio)}" for one in named)
        yield f"The largest: {changes}."
    for one in found.changes:
        yield from _remarks(one)


def _counted(counts: Mapping[ChangeOutcome, int], second_words: str) -> Iterator[str]:
    """Each outcome that came out; the first that takes a side says which side it speaks of."""
    words = {
        "more": ("takes", "take", f"more instructions {second_words}"),
        "fewer": ("takes", "take", "fewer" if counts["more"] else f"fewer instructions {second_words}"),
        "no change": ("shows", "show", "no change"),
        "not comparable": ("is", "are", "not comparable"),
    }
    for outcome, times in counts.items():
        if times:
            one, several, what = words[outcome]
            yield f"{times} {one if times == 1 else several} {what}"


def _remarks(found: Change) -> Iterator[str]:
    """Why two counts were not compared, and whether the kernel made their kprobes in another way."""
    if found.reason:
        yield f"{subject(found.second.key)}: {found.reason}"
    ways = [one.case.mechanism for one in (found.first, found.second)]
    if None not in ways and ways[0] != ways[1]:
        yield f"{subject(found.second.key)}: the kernel made its kprobes by {ways[0]}, then by {ways[1]}"
