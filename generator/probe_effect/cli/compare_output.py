"""What `probe-effect compare` prints of times: a table and sentences for people, JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from probe_effect import units
from probe_effect.cli import compare_frame, output
from probe_effect.guidance.comparison import counted, expected_by_chance
from probe_effect.pages import comparison, traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.guidance.comparison import Comparison, Measurement


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides by name, `second_words` as a sentence has the second (`on B`), and what was found.

    `of`: whose two tracers are the sides; None where the sides are submissions or machines.
    """

    first: str
    second: str
    second_words: str
    comparisons: tuple[Comparison, ...]
    only_first: tuple[Measurement, ...]
    only_second: tuple[Measurement, ...]
    of: str | None = None

    def differing(self) -> list[tuple[str, str, str]]:
        """What else is not the same on both sides, of what was compared."""
        ours, others = ([pair[side] for pair in self._pairs()] for side in (0, 1))
        return traits.differing(ours, others)

    def _pairs(self) -> list[tuple[Measurement, Measurement]]:
        return [(one.first, one.second) for one in self.comparisons]


def as_json(found: Compared) -> dict[str, Any]:
    """The JSON of `compare`; differences are second less first, ratios second over first; null where there is none."""
    return {
        "first": found.first,
        "second": found.second,
        "of": found.of,
        "metric": "time",
        "comparisons": [_comparison_json(one) for one in found.comparisons],
        "outcomes": counted(found.comparisons),
        "expected_by_chance": expected_by_chance(found.comparisons),
        "differing": [{"what": what, "first": first, "second": second} for what, first, second in found.differing()],
        "only_first": [one.key._asdict() for one in found.only_first],
        "only_second": [one.key._asdict() for one in found.only_second],
    }


def _comparison_json(found: Comparison) -> dict[str, Any]:
    first, second = found.first, found.second
    return {
        "case": first.case.case,
        "level": first.case.level,
        "first_tracer": first.case.tracer,
        "second_tracer": second.case.tracer,
        "first_submission": first.submission.summary.id,
        "second_submission": second.submission.summary.id,
        **output.interval_json(first.case.cost, "first_cost", "ns"),
        **output.interval_json(second.case.cost, "second_cost", "ns"),
        **output.interval_json(found.difference, "difference", "ns"),
        **output.interval_json(found.ratio, "cost", "ratio"),
        "outcome": found.outcome,
        "reason": found.reason,
        "paired": found.is_paired,
    }


def show(found: Compared) -> None:
    """The comparison for people."""
    compare_frame.show(found, _table(found), _sentences(found))


def _sentences(found: Compared) -> Iterator[str]:
    yield comparison.summary(found.comparisons, found.second_words)
    yield comparison.chance(found.comparisons)
    for what, first, second in found.differing():
        if what == "tier":
            yield comparison.TIERS_DIFFER.format(first=first, second=second)
    if found.of is not None:
        paired = sum(one.is_paired for one in found.comparisons)
        yield f"{paired} of {len(found.comparisons)} pairs were measured in the same blocks and share their baselines."
    yield from (
        f"{one.first.case.case}, {one.second.case.tracer}: {one.reason}" for one in found.comparisons if one.reason
    )


def _table(found: Compared) -> Table:
    table = Table(box=None, pad_edge=False)
    labels = list(compare_frame.labels((one.first.key for one in found.comparisons), of_tracers=found.of is not None))
    for title in labels:
        table.add_column(title)
    for title in (f"cost, {found.first}", f"cost, {found.second}", "difference (95 %)", "ratio (95 %)"):
        table.add_column(title, justify="right")
    table.add_column("outcome")
    for one in found.comparisons:
        key = one.first.key._asdict()
        costs = (units.interval(side.case.cost, units.DURATION) for side in (one.first, one.second))
        table.add_row(*(key[label] or "" for label in labels), *costs, *comparison.cells(one))
    return table
