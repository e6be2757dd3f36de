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


def adds_up(row: Sample) -> bool | None:
    """Whether the events of a run add up; None where they were not counted, or none were made."""
    if row.seen is None or not row.events:
        return None
    return abs(row.seen + (row.lost or 0) - row.events) <= RECONCILE_TOLERANCE * row.events


def reconcile_events(rows: Sequence[Sample]) -> tuple[bool | None, float | None]:
    """Whether the events of every counted run of a case add up, and the share of all events that was lost.

    A run is counted where the tracer said how many events it saw; lost are those that it said it dropped. Both are
    None where no run was counted.

    Args:
        rows: traced and check runs of one case, tracer and level.
    """
    counted = [row for row in rows if adds_up(row) is not None]
    if not counted:
        return None, None
    lost, made = sum(row.lost or 0 for row in counted), sum(row.events or 0 for row in counted)
    return all(adds_up(row) for row in counted), lost / made
