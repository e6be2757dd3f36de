"""From the blocks of a submission that counts instructions to its numbers: instructions per event, and their range.

Counts of an emulated machine hardly vary, so that the median of the blocks and their range say more than an interval
would (METHOD.md, "Instructions"). Times and instructions never share a table.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate, Key, Sample
from probe_effect.reduce.blocks import BlockTable
from probe_effect.reduce.rows import ADD_UP, bad_runs, known, middle, reconcile_events
from probe_effect.reduce.submission import Number, Submission

MAX_LOSS_RATIO = 0.001
"""Above this share of lost events a count is that of a tracer that drops: a dropped event takes fewer instructions.

The same 0.1 % within which events must add up (METHOD.md, "Do the events add up?").
"""


def count_number(
    submission: Submission, key: Key, rows: Sequence[Sample], table: BlockTable, mechanism: str | None
) -> Number:
    """Instructions of one case, tracer and level, and what is known of them.

    It is made of its traced and check rows, and of the table of its blocks, of which one at least is usable.
    `mechanism` is how the kernel made its kprobes.
    """
    counts = [(block.traced, float(np.mean(block.untraced))) for block in table.usable() if block.traced is not None]
    reconciled, loss_ratio = reconcile_events(rows)
    traced = [row for row in rows if row.arm == "traced"]
    return Number(
        submission=submission,
        **key._asdict(),
        status="ok",
        blocks=len(counts),
        baseline=median_and_range(untraced / table.events for _, untraced in counts),
        cost=median_and_range((traced - untraced) / table.events for traced, untraced in counts),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        mechanism=mechanism,
        attach=median_and_range(known(row.attach_instructions for row in traced)),
        detach=median_and_range(known(row.detach_instructions for row in traced)),
        probes=middle(row.probes for row in traced),
        faults=tuple(_faults(loss_ratio, reconciled=reconciled)),
        note=bad_runs(rows),
    )


def median_and_range(counts: Iterable[float]) -> Estimate | None:
    """The middle of repeated counts with the least and the greatest of them; None of nothing."""
    known = list(counts)
    return Estimate(float(np.median(known)), min(known), max(known)) if known else None


def _faults(loss_ratio: float | None, *, reconciled: bool | None) -> Iterator[str]:
    if loss_ratio is not None and loss_ratio > MAX_LOSS_RATIO:
        yield f"it lost {units.percent(loss_ratio)} of its events, and a lost event takes fewer instructions"
    if reconciled is False:
        yield ADD_UP
