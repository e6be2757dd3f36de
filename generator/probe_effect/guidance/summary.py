"""From the rows of a submission to its summary: cost with interval, slowdown, thresholds, loss, grade."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.guidance.grades import Facts, grade
from probe_effect.guidance.slowdown import threshold
from probe_effect.model import CaseSummary, Interval, SubmissionSummary
from probe_effect.stats.signed_rank import MIN_BLOCKS, estimate, noise_floor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.model import Sample, Status
    from probe_effect.store.machine_file import MachineFile

RECONCILE_TOLERANCE = 0.001
"""Events seen and lost must add up to those made within 0.1 %: more is another process, fewer is silent loss."""

CaseKey = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The untraced runs of a submission: ns per operation of each, by block."""

    by_block: dict[int, list[float]]

    @property
    def all_ns(self) -> list[float]:
        """Every baseline run."""
        return [value for values in self.by_block.values() for value in values]

    @property
    def median_ns(self) -> float | None:
        """The middle of every baseline run; None without any."""
        return float(np.median(self.all_ns)) if self.by_block else None

    def floor_ns(self) -> float | None:
        """Noise floor from the first two baselines of each block (see `stats.signed_rank.noise_floor`)."""
        pairs = [values[0] - values[1] for values in self.by_block.values() if len(values) > 1]
        return noise_floor(np.array(pairs, dtype=np.float64))


def summarise(identity: str, document: MachineFile, samples: Sequence[Sample]) -> SubmissionSummary:
    """Everything that the rows of one submission say.

    Args:
        identity: `<machine>/<date>-<suite>`.
        samples: its rows in the order run; unsound ones already left out.
    """
    baseline = _baseline(samples)
    floor_ns = baseline.floor_ns()
    cases = tuple(
        _summarise_case(key, rows, baseline, floor_ns, document.run.metric) for key, rows in _by_case(samples).items()
    )
    letter, reasons = grade(_facts(document, baseline, floor_ns, cases))
    return SubmissionSummary(
        id=identity,
        machine=document.machine.id,
        suite=document.run.suite,
        metric=document.run.metric,
        grade=letter,
        grade_reasons=reasons,
        noise_floor_ns=floor_ns,
        baseline_ns=baseline.median_ns,
        cases=cases,
    )


def _facts(document: MachineFile, baseline: Baseline, floor_ns: float | None, cases: Sequence[CaseSummary]) -> Facts:
    return Facts(
        blocks=len(baseline.by_block),
        virtualization=document.machine.virtualization,
        nested=document.machine.nested,
        baseline_ns=baseline.median_ns,
        noise_floor_ns=floor_ns,
        unreconciled=sum(case.reconciled is False for case in cases),
    )


def _baseline(samples: Iterable[Sample]) -> Baseline:
    by_block: dict[int, list[float]] = defaultdict(list)
    for sample in samples:
        if sample.arm == "baseline" and (wall_ns := _wall_per_operation(sample)) is not None:
            by_block[sample.block].append(wall_ns)
    return Baseline(dict(by_block))


def _wall_per_operation(sample: Sample) -> float | None:
    """ns per operation of one run; None for a run that did not end well.

    Per operation, because runs of different cases may be of different lengths; the timed loop has no fixed part.
    """
    operations = sample.operations or sample.events
    if sample.status != "ok" or not operations or not sample.wall_ns:
        return None
    return sample.wall_ns / operations


def _events_per_operation(rows: Iterable[Sample]) -> float:
    """How many events one operation makes for the probe of a case: 2 for a probe on every system call of dd."""
    return next((row.events / row.operations for row in rows if row.events and row.operations), 1.0)


def _by_case(samples: Iterable[Sample]) -> dict[CaseKey, list[Sample]]:
    """Traced and check rows by case, in the order of case ids."""
    groups: dict[CaseKey, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm != "baseline":
            groups[sample.case, sample.tracer, sample.level].append(sample)
    return dict(sorted(groups.items(), key=lambda item: (item[0][0], item[0][1], item[0][2] or "")))


def _summarise_case(
    key: CaseKey, rows: Sequence[Sample], baseline: Baseline, floor_ns: float | None, metric: str
) -> CaseSummary:
    case, tracer, level = key
    timed = [row for row in rows if row.arm == "traced"]
    traced = {row.block: wall_ns for row in timed if (wall_ns := _wall_per_operation(row)) is not None}
    blocks = sorted(traced.keys() & baseline.by_block.keys())
    if not blocks or metric != "time":
        return _unmeasured(key, rows)
    events = _events_per_operation(rows)
    traced_ns = np.array([traced[block] for block in blocks]) / events
    baseline_ns = np.array([np.mean(baseline.by_block[block]) for block in blocks]) / events
    cost = estimate(traced_ns - baseline_ns)
    reconciled, loss_ratio = _account(rows)
    floor_ns = None if floor_ns is None else floor_ns / events
    clear = _is_distinguishable(cost, floor_ns)
    guides = clear and reconciled is not False
    return CaseSummary(
        case=case,
        tracer=tracer,
        level=level,
        status="ok",
        blocks=len(blocks),
        baseline_ns=float(np.median(baseline.all_ns)) / events,
        noise_floor_ns=floor_ns,
        cost=cost,
        fastest_ns=float(traced_ns.min()) - min(baseline.all_ns) / events,
        slowdown=estimate(traced_ns / baseline_ns - 1),
        threshold_1=threshold(cost, 1) if guides else None,
        threshold_5=threshold(cost, 5) if guides else None,
        threshold_30=threshold(cost, 30) if guides else None,
        attach=_own_time([row.attach_ns for row in timed]),
        detach=_own_time([row.detach_ns for row in timed]),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        distinguishable=clear,
        grade=None,
        note=_note(rows, cost, floor_ns, reconciled),
    )


def _own_time(times_ns: Iterable[int | None]) -> Interval | None:
    """The tracer's own start or stop over the runs, ns; None when no run has it."""
    known_ns = [time_ns for time_ns in times_ns if time_ns is not None]
    return estimate(np.array(known_ns, dtype=np.float64)) if known_ns else None


def _unmeasured(key: CaseKey, rows: Sequence[Sample]) -> CaseSummary:
    """A case without one usable block: skipped, failed or timed out, with the first reason given."""
    status: Status = next((row.status for row in rows if row.status != "ok"), "failed")
    note = next((row.note for row in rows if row.note), "no block has both a traced run and a baseline")
    return CaseSummary(case=key[0], tracer=key[1], level=key[2], status=status, blocks=0, note=note)


def _account(rows: Sequence[Sample]) -> tuple[bool | None, float | None]:
    """(whether all counted runs reconcile, share of events lost); None where nothing was counted."""
    counted = [(row.events, row.seen, row.lost or 0) for row in rows if row.events and row.seen is not None]
    if not counted:
        return None, None
    whole = all(
        abs(seen + lost - events) <= RECONCILE_TOLERANCE * events for events, seen, lost in counted if seen is not None
    )
    return whole, sum(lost for _, _, lost in counted) / sum(events for events, _, _ in counted)


def _is_distinguishable(cost: Interval, floor_ns: float | None) -> bool | None:
    """Whether the cost is a difference at all: its interval leaves out 0 and it exceeds the noise floor."""
    if cost.low is None or cost.high is None or floor_ns is None:
        return None
    return (cost.low > 0 or cost.high < 0) and abs(cost.value) > floor_ns


def _note(rows: Sequence[Sample], cost: Interval, floor_ns: float | None, reconciled: bool | None) -> str | None:  # noqa: FBT001
    """What a reader must know before using the number."""
    notes = []
    if cost.low is None:
        notes.append(f"too few blocks: an interval needs {MIN_BLOCKS}")
    elif floor_ns is None:
        notes.append(f"no noise floor: it needs {MIN_BLOCKS} blocks with two baselines")
    if reconciled is False:
        notes.append("events do not add up: left out of guidance")
    if bad := [row for row in rows if row.status != "ok"]:
        notes.append(f"{len(bad)} of {len(rows)} runs did not end well: {bad[0].note}")
    return "; ".join(notes) or None
