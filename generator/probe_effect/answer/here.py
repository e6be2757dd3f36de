"""What the probes of a script cost on this machine now, measured with the script's own clauses by `calibration/`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probe_effect.stats import mover

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from probe_effect.model import Estimate

ProbeKey = tuple[str, str | None]
"""A probe's attach point as the script has it, and the mechanism by which it fires, None where there is but one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCost:
    """What one event of a probe costs here, by the CPU on which it fires, in ns.

    `note`: what differed between our loop and the script, in a sentence; None where nothing did.
    """

    by_cpu: Mapping[int, Estimate]
    note: str | None = None

    def on(self, cpus: Iterable[int] = ()) -> Estimate:
        """The cost on some CPUs, their mean with an interval that holds all of theirs; of all, where none is known."""
        own = [self.by_cpu[cpu] for cpu in cpus if cpu in self.by_cpu] or list(self.by_cpu.values())
        return mover.spanning(own)


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCosts:
    """Everything that was measured here for one script with one tracer, in `seconds`.

    `calls`: what each other system call pays while the script's probes are attached; None where they are on none.
    `missing`: probes that were not measured, with the reason. `others`: who else traced meanwhile, in words.
    `is_kept`: whether it is from an earlier time since the machine started.
    """

    tracer: str
    costs: Mapping[ProbeKey, HereCost]
    calls: HereCost | None = None
    seconds: float
    missing: Mapping[ProbeKey, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_kept: bool = False
