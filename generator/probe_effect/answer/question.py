"""What is asked: cases or one probe, how often they fire, and of whom."""

import re
from dataclasses import dataclass

from probe_effect.errors import UsageError

GROUPED = r"[0-9]{1,3}(?:[, \u00a0\u202f][0-9]{3})+"
"""A number as people type it or copy it from these pages: `300,000`, `300 000`."""

RATE = re.compile(rf"((?:{GROUPED}|[0-9]+(?:_[0-9]+)*)(?:\.[0-9]+)?(?:e[+-]?[0-9]{{1,2}})?)[ \u00a0]?([kKMG]?)(?:/s)?")
PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
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
