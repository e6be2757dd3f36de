"""The values that every layer speaks: frozen, checked once at the edge, without behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
Arm = Literal["baseline", "traced", "check"]
Status = Literal["ok", "failed", "timeout", "skipped"]
Metric = Literal["time", "instructions"]
Verdict = Literal["agrees", "close", "differs"]

NO_TRACER = "none"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file. Lines and columns count from 1; None where they have no meaning."""

    severity: Severity
    file: str
    line: int | None
    column: int | None
    rule: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One timed run: a row of `samples.csv`. The columns are described in `store.samples`."""

    block: int
    position: int
    case: str
    tracer: str
    arm: Arm
    level: str | None = None
    events: int | None = None
    seen: int | None = None
    lost: int | None = None
    wall_ns: int | None = None
    user_ns: int | None = None
    sys_ns: int | None = None
    instructions: int | None = None
    tracer_cpu_ns: int | None = None
    tracer_rss_bytes: int | None = None
    output_bytes: int | None = None
    attach_ns: int | None = None
    detach_ns: int | None = None
    status: Status = "ok"
    note: str | None = None
    operations: int | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its 95 % interval; `low` and `high` are None when too few blocks carry one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """What one submission says about one case, tracer and level. Times in ns per event, rates in events/s.

    `attach` and `detach` are ns per run; `rate_hz` is the highest rate of events while traced; `far_out_blocks`
    are those whose difference lies far from the others', which are kept all the same.
    """

    case: str
    tracer: str
    level: str | None
    status: Status
    blocks: int
    baseline_ns: float | None = None
    noise_floor_ns: float | None = None
    cost: Interval | None = None
    fastest_ns: float | None = None
    slowdown: Interval | None = None
    threshold_1: Interval | None = None
    threshold_5: Interval | None = None
    threshold_30: Interval | None = None
    attach: Interval | None = None
    detach: Interval | None = None
    rate_hz: float | None = None
    loss_ratio: float | None = None
    reconciled: bool | None = None
    distinguishable: bool | None = None
    far_out_blocks: tuple[int, ...] = ()
    grade: str | None = None
    grade_reasons: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionSummary:
    """What one submission says: its cases, and how little of a difference it could have seen."""

    id: str
    machine: str
    suite: str
    metric: Metric
    grade: str
    grade_reasons: tuple[str, ...]
    noise_floor_ns: float | None
    baseline_ns: float | None
    cases: tuple[CaseSummary, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of repeated runs, with the least and the greatest of them."""

    median: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionCase:
    """What one submission says about one case, tracer and level in instructions per event, counted and not timed.

    `faults` are the reasons why it is not to be ranked or compared; empty for a sound one.
    """

    case: str
    tracer: str
    level: str | None
    status: Status
    blocks: int
    baseline_instructions: Spread | None = None
    cost_instructions: Spread | None = None
    loss_ratio: float | None = None
    reconciled: bool | None = None
    mechanism: str | None = None
    faults: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionSummary:
    """What one submission of counted instructions says; `baseline_instructions` are those of an untraced operation."""

    id: str
    machine: str
    suite: str
    baseline_instructions: Spread | None
    cases: tuple[InstructionCase, ...]
