"""Do the events add up? What a tracer saw and lost, against what the workload made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Sample

RECONCILE_TOLERANCE = 0.001
"""Events seen and lost must add up to those made within 0.1 %: more is another process, fewer is silent loss."""

ADD_UP = "its events do not add up"
"""What is wrong with a number whose events do not."""


def reconcile_events(rows: Sequence[Sample]) -> tuple[bool | None, float | None]:
    """Whether the events of every counted run of a case add up, and the share of all events that was lost.

    A run is counted where the tracer said how many events it saw; lost are those that it said it dropped. Both are
    None where no run was counted.

    Args:
        rows: traced and check runs of one case, tracer and level.
    """
    counted = [(row.events, row.seen, row.lost or 0) for row in rows if row.events and row.seen is not None]
    if not counted:
        return None, None
    whole = all(abs(seen + lost - events) <= RECONCILE_TOLERANCE * events for events, seen, lost in counted)
    return whole, sum(lost for _, _, lost in counted) / sum(events for events, _, _ in counted)
