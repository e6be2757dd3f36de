"""Every run of a suite, from what can be measured of it and a seed."""

from collections.abc import Sequence

from probe_effect.measure.one_run import PlannedRun
from probe_effect.model import Key
from probe_effect.stats.run_order import blocks_in_order
from probe_effect.store.samples import PlannedSubject


def plan(subjects: Sequence[PlannedSubject], blocks: int, seed: int) -> tuple[PlannedRun, ...]:
    """Every run of a suite, in order (`stats/run_order.py`). The same arguments give the same plan."""
    measured = [_subject(one) for one in subjects if one.operations is not None]
    left_out = [_subject(one) for one in subjects if one.operations is None]
    counted = [_subject(one) for one in subjects if one.is_counted_apart]
    return tuple(
        PlannedRun(block, place, subject, arm)
        for block, order in enumerate(blocks_in_order(measured, left_out, counted, blocks, seed))
        for place, (subject, arm) in enumerate(order)
    )


def _subject(planned: PlannedSubject) -> Key:
    return Key(planned.case, planned.tracer, planned.level)
