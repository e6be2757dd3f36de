"""From the rows of a submission that counts instructions to its summary: instructions per event, and their spread.

Counts of an emulated machine hardly vary, so that the median of the blocks and their range say more than an interval
would (METHOD.md, "Instructions"). Times and instructions never share a table: these are types of their own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from probe_effect import units
from probe_effect.guidance.rows import CaseKey, by_case, events_per_operation, level_order
from probe_effect.guidance.summary import account
from probe_effect.model import InstructionCase, InstructionSummary, Spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from probe_effect.model import Sample, Status
    from probe_effect.store.machine_file import MachineFile

MAX_LOSS_RATIO = 0.001
"""Above this share of lost events a count is that of a tracer that drops: a dropped event takes fewer instructions.

The same 0.1 % within which events must add up (METHOD.md, "Do the events add up?").
"""


def summarise_instructions(identity: str, document: MachineFile, samples: Sequence[Sample]) -> InstructionSummary:
    """Everything that the rows of one submission say.

    Where its suite has a factor, its untraced operation is that of the first level.

    Args:
        identity: `<machine>/<date>-<suite>`.
        samples: its rows in the order run; unsound ones already left out.
    """
    untraced = _untraced(samples)
    mechanisms = document.run.mechanisms
    return InstructionSummary(
        id=identity,
        machine=document.machine.id,
        suite=document.run.suite,
        baseline_instructions=_spread(next(iter(untraced.values()), {}).values()),
        cases=tuple(
            _case(key, rows, untraced.get(key.level, {}), mechanisms.get(f"{key.case} {key.tracer}"))
            for key, rows in by_case(samples).items()
        ),
    )


def per_operation(sample: Sample) -> float | None:
    """Instructions per operation of one run; None for a run that did not end well."""
    operations = sample.operations or sample.events
    if sample.status != "ok" or not operations or not sample.instructions:
        return None
    return sample.instructions / operations


def added_ratio(case: InstructionCase) -> float | None:
    """Instructions that an event adds over those of the untraced work for it; None where either is not known."""
    cost, untraced = case.cost_instructions, case.baseline_instructions
    return None if cost is None or untraced is None else cost.median / untraced.median


def _untraced(samples: Iterable[Sample]) -> dict[str | None, dict[int, float]]:
    """Level to block to the mean of its baselines, instructions per operation; in the order of levels."""
    found: dict[tuple[str | None, int], list[float]] = defaultdict(list)
    for sample in samples:
        if sample.arm == "baseline" and (count := per_operation(sample)) is not None:
            found[sample.level, sample.block].append(count)
    levels: dict[str | None, dict[int, float]] = defaultdict(dict)
    for level, block in sorted(found, key=lambda place: level_order(place[0])):
        levels[level][block] = float(np.mean(found[level, block]))
    return dict(levels)


def _case(
    key: CaseKey, rows: Sequence[Sample], untraced: Mapping[int, float], mechanism: str | None
) -> InstructionCase:
    traced = {row.block: count for row in rows if row.arm == "traced" and (count := per_operation(row)) is not None}
    blocks = sorted(traced.keys() & untraced.keys())
    if not blocks:
        return _uncounted(key, rows)
    events = events_per_operation(rows)
    reconciled, loss_ratio = account(rows)
    return InstructionCase(
        case=key.case,
        tracer=key.tracer,
        level=key.level,
        status="ok",
        blocks=len(blocks),
        baseline_instructions=_spread(untraced[block] / events for block in blocks),
        cost_instructions=_spread((traced[block] - untraced[block]) / events for block in blocks),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        mechanism=mechanism,
        faults=tuple(_faults(loss_ratio, reconciled=reconciled)),
        note=_note(rows),
    )


def _uncounted(key: CaseKey, rows: Sequence[Sample]) -> InstructionCase:
    """A case without one usable block: skipped, failed or timed out, with the first reason given."""
    status: Status = next((row.status for row in rows if row.status != "ok"), "failed")
    note = next((row.note for row in rows if row.note), "no block has both a traced run and a baseline")
    return InstructionCase(case=key.case, tracer=key.tracer, level=key.level, status=status, blocks=0, note=note)


def _faults(loss_ratio: float | None, *, reconciled: bool | None) -> Iterator[str]:
    if loss_ratio is not None and loss_ratio > MAX_LOSS_RATIO:
        yield f"it lost {units.percent(loss_ratio)} of its events, and a lost event takes fewer instructions"
    if reconciled is False:
        yield "its events do not add up"


def _note(rows: Sequence[Sample]) -> str | None:
    """How many runs did not end well, and why the first did not; None where all did."""
    bad = [row for row in rows if row.status != "ok"]
    return f"{len(bad)} of {len(rows)} runs did not end well: {bad[0].note}" if bad else None


def _spread(counts: Iterable[float]) -> Spread | None:
    """Median and range; None of nothing."""
    known = list(counts)
    return Spread(float(np.median(known)), min(known), max(known)) if known else None
