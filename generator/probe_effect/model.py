"""The values that every layer speaks, frozen and checked once at the edge, and every error that a caller acts on.

`cli` alone turns errors into output and an exit status. A message says, in this order: where, what was found, what was
expected, what to do next.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]
Arm = Literal["baseline", "traced", "check"]
Status = Literal["ok", "failed", "timeout", "skipped"]
FAILURES = ("failed", "timeout")

# Failed runs of a case after which its other runs are not made: each can take minutes. (Not the baseline.)
GIVE_UP_AFTER = 2
Metric = Literal["time", "instructions"]
AgreementVerdict = Literal["agrees", "close", "differs"]

Need = Literal[
    "kprobe",
    "uprobe",
    "uprobe-nop10",
    "tracepoint",
    "fentry",
    "raw-tracepoint",
    "kprobe-multi",
    "kprobe-session",
    "uprobe-multi",
    "lsm",
    "breakpoint",
    "function-tracer",
    "function-graph",
    "seccomp",
    "delay-accounting",
    "schedstats",
]
"""What a kernel may offer to tracers, and some kernels do not."""

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


class Bucket(NamedTuple):
    """How many operations of a run took from `low_ns` to `high_ns`, both included."""

    low_ns: int
    high_ns: int
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One timed run: a row of `samples.csv`. The columns are described in `store.result_tables`.

    `histogram` is no column: where operations were timed one by one, it is in `histogram.csv`.
    """

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
    probes: int | None = None
    attach_instructions: int | None = None
    detach_instructions: int | None = None
    histogram: tuple[Bucket, ...] = ()


class Key(NamedTuple):
    """What is measured: a case with a tracer, at a level of the suite's factor where it has one."""

    case: str
    tracer: str
    level: str | None = None

    @property
    def order(self) -> tuple[str, str, tuple[float, str]]:
        return self.case, self.tracer, level_order(self.level)

    @property
    def is_baseline(self) -> bool:
        return self.tracer == NO_TRACER


def level_order(level: str | None) -> tuple[float, str]:
    """The key that sorts levels: numbers by their size, other words after them."""
    text = level or ""
    return (float(text) if text.isdecimal() else math.inf, text)


NUMBER = re.compile(r"[0-9]{1,9}")  # longer ones in parts: no release has any, and a hostile one must not take long


@cache
def release_numbers(release: str) -> tuple[int, ...]:
    """The numbers of a release or version, by which 5.10 comes after 5.9: `(6, 12, 107, 13)` of `6.12.107+deb13`."""
    return tuple(map(int, NUMBER.findall(release)))


@cache
def series_of(release: str) -> tuple[int, int]:
    """The first two numbers of a release or version, `(0, 23)` of `bpftrace v0.23.2`; 0 for one that it has not."""
    major, minor, *_ = (*release_numbers(release), 0, 0)
    return major, minor


NOP10_CALLED_SINCE = (7, 2)
"""The first Linux on which a uprobe makes a call of a nop of ten bytes on x86-64, and no more of one of five.

Mainline has it since 7.3 (554ba38456da, merged on 18 August 2026, after 7.2). Of the stable kernels, tried in emulated
machines, 7.1.13, the last 7.1, refuses a probe on the one of ten, and 7.2.6 has it; 7.2 itself does not.
"""

FIRST_RELEASE: dict[Need, tuple[int, int]] = {
    "uprobe": (3, 5),
    "fentry": (5, 5),
    "kprobe-multi": (5, 18),
    "uprobe-multi": (6, 6),
    "kprobe-session": (6, 10),
    "lsm": (5, 7),
    "uprobe-nop10": NOP10_CALLED_SINCE,
}


class Estimate(NamedTuple):
    """A value with its ends: of a time the 95 % interval, of a count the range of its blocks.

    `low` and `high` are None where there is no interval, because too few blocks carry one or none was made.
    """

    value: float
    low: float | None = None
    high: float | None = None

    def mapped(self, change: Callable[[float], float]) -> "Estimate":
        """`change` of the value and of each end, in their places."""
        low, high = (None if end is None else change(end) for end in (self.low, self.high))
        return Estimate(change(self.value), low, high)

    def times(self, factor: float) -> "Estimate":
        """Value and ends multiplied by a factor that is not below 0."""
        return self.mapped(lambda value: value * factor)


def interval_json(
    value: Estimate | None, name: str, unit: str, ends: Sequence[str] = ("", "_low", "_high")
) -> dict[str, float | None]:
    """An estimate as three keys, of name x `x_unit`, `x_low_unit` and `x_high_unit`; null where there is none."""
    return {f"{name}{end}_{unit}": bound for end, bound in zip(ends, value or (None, None, None), strict=True)}


def thresholds_json(rates: Mapping[int, Estimate | None]) -> dict[str, float | None]:
    """Per cents, to rates at which a thread slows by so much, as three keys each: `threshold_5_hz` with its ends."""
    made: dict[str, float | None] = {}
    for percent, rate in rates.items():
        made |= interval_json(rate, f"threshold_{percent}", "hz")
    return made


def spread_json(value: Estimate | None, name: str) -> dict[str, float | None]:
    """A count as three keys, of name x `x_instructions`, and so with `_least` and `_greatest`; null where none is."""
    return interval_json(value, name, "instructions", ("", "_least", "_greatest"))


INTERRUPTED = 130  # the exit status of a command that was asked to stop: what a shell says of SIGINT


class ProbeEffectError(Exception):
    """A failure with a message for the user."""

    exit_status = 1


class UsageError(ProbeEffectError):
    """The command was called wrongly: unknown suite, case, tracer or folder."""

    exit_status = 2


class HostNotReady(ProbeEffectError):
    """This host cannot do it: not root, no compiler, no tracer."""

    exit_status = 3


class BadData(ProbeEffectError):
    """Files under `data/` break a rule; `problems` holds every one found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        noun = "problem" if len(self.problems) == 1 else "problems"
        super().__init__(f"{len(self.problems)} {noun} in the data")


def unknown(names: Iterable[str], all_names: Iterable[str], kind: str) -> None:
    """Raise UsageError, with the nearest of the `all_names` names, for the first name that is none of them."""
    all_names = list(all_names)
    for name in names:
        if name not in all_names:
            near = difflib.get_close_matches(name, all_names, n=3, cutoff=0.4)
            advice = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(all_names) or 'none'}"
            raise UsageError(f"{name}: no such {kind}; {advice}")
