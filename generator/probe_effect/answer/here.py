"""What a script's probes cost on this machine now, as `calibration/` measures them with the script's own clauses."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from probe_effect.model import Estimate
from probe_effect.stats import estimates

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
