"""What is given for an answer: the question, and what was measured here before it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from probe_effect.errors import UsageError
from probe_effect.model import Estimate
from probe_effect.stats import estimates

GROUPED = r"[0-9]{1,3}(?:[, \u00a0\u202f][0-9]{3})+"
"""A number as people type it or copy it from these pages: `300,000`, `300 000`."""

RATE = re.compile(rf"((?:{GROUPED}|[0-9]+(?:_[0-9]+)*)(?:\.[0-9]+)?(?:e[+-]?[0-9]{{1,2}})?)[ \u00a0]?([kKMG]?)(?:/s)?")
PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
SAMPLED = "profile"
"""The probe of a profiler: a timer, whose events are samples."""

SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(%?)")


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """A case, and how many of its events happen per second in each thread."""

    case: str
    rate_hz: float


@dataclass(frozen=True, slots=True)
class Combination:
    """A kind of probe with an action, and how many events happen per second in each thread.

    `mechanism`: what the kernel does at the probe, such as `stepped` for a user probe; `frames`: how deep the stack is
    that a sample finds. None where nobody says.
    """

    probe: str
    action: str
    rate_hz: float
    mechanism: str | None = None
    frames: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Cases or one combination; None for a tracer or a machine that guidance is to choose.

    `calls_hz`: system calls of each thread per second, traced or not; None where the asker does not know.
    """

    probes: tuple[ProbeQuestion, ...] = ()
    combination: Combination | None = None
    tracer: str | None = None
    machine: str | None = None
    threads: int = 1
    busy_ratio: float = 1.0
    calls_hz: float | None = None


def rate_from(text: str) -> float:
    """Events per second as people write them: `50k`, `1.5M`, `200`, `1e5`, `50_000`, `300,000`. Raises: UsageError."""
    found = RATE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"rate {text!r}: expected events per second, such as 50k, 1.5M, 200, 1e5 or 50_000")
    return float(re.sub(r"[_, \u00a0\u202f]", "", found[1])) * PREFIXES[found[2]]


def share_from(text: str) -> float:
    """A share of time as a ratio: `40%` and `0.4` are 0.4. Raises: UsageError, for a bare number above 1 too."""
    found = SHARE.fullmatch(text.strip())
    value = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0 < value <= 1:
        raise UsageError(f"share {text!r}: expected more than 0 % and at most 100 %, such as 40% or 0.4")
    return value


def asked_from(text: str, rate_hz: float | None) -> ProbeQuestion:
    """A case with its own rate after `@`, or else with `rate_hz`. Raises: UsageError where neither is given."""
    case, has_own, own = text.partition("@")
    if has_own:
        return ProbeQuestion(case, rate_from(own))
    if rate_hz is None:
        msg = f"case {case}: expected a rate, found none; give --rate 50k, or the case's own: --case {case}@50k"
        raise UsageError(msg)
    return ProbeQuestion(case, rate_hz)


ProbeKey = tuple[str, str | None]
"""A probe's attach point as the script has it, and the mechanism by which it fires, None where there is but one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCost:
    """What one event of a probe costs here, by the CPU on which it fires, in ns.

    `note`: what differed between our loop and the script, in a sentence; None where nothing did.
    """

    by_cpu: Mapping[int, Estimate]
    note: str | None = None

    def on(self, events: Mapping[int, float]) -> Estimate:
        """The cost of an event of which so many happened on each CPU; where none of those was timed, of any CPU.

        The same probe may cost twice as much on one CPU as on another, so the interval holds the costs of all.
        """
        own = {cpu: self.by_cpu[cpu] for cpu, number in events.items() if number and cpu in self.by_cpu}
        if not own:
            return estimates.spanning(list(self.by_cpu.values()))
        whole = sum(events[cpu] for cpu in own)
        parts = estimates.total([cost.times(events[cpu] / whole) for cpu, cost in own.items()])
        return parts._replace(
            low=min(filter(None, [parts.low, *(cost.value for cost in own.values())]), default=None),
            high=max(filter(None, [parts.high, *(cost.value for cost in own.values())]), default=None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCosts:
    """Everything that was measured here for one script with one tracer, in `seconds`.

    `calls`: what each other system call pays while the script's probes are attached; None where they are on none.
    `missing`: probes that were not measured, with the reason. `others`: what others did meanwhile, in words.
    `is_kept`: whether it is from an earlier time since the machine started.
    """

    costs: Mapping[ProbeKey, HereCost]
    calls: HereCost | None = None
    seconds: float
    missing: Mapping[ProbeKey, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_kept: bool = False
