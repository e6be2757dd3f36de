"""Repeated runs of one name: every number a reading of its own, and formulas over all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from probe_effect.importers.files import refuse
from probe_effect.importers.found import MAX_ARMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.importers.found import Reading

MAX_REPEATS = 25
"""Of one name: each is a figure, and one formula names them all."""


@dataclass(slots=True)
class Repeats:
    """Repeated runs of one arm: one reading or several of each, and the time of one operation by each."""

    readings: list[Reading] = field(default_factory=list)
    times: list[str] = field(default_factory=list)

    def add(self, where: str, readings: Sequence[Reading], time: str) -> None:
        """One more run; keys get its number. Raises: UsageError beyond `MAX_REPEATS`."""
        number = len(self.times) + 1
        if number > MAX_REPEATS:
            refuse(where, f"run {number} of one name", f"at most {MAX_REPEATS}", "Import fewer runs.")
        self.readings += [replace(reading, key=f"{reading.key}_{number}") for reading in readings]
        self.times.append(re.sub(r"\{(\w+)\}", rf"{{\1_{number}}}", time))

    def median(self) -> str:
        """The formula of the middle of the runs; of a single one, its own."""
        return f"median({', '.join(self.times)})" if len(self.times) > 1 else self.times[0]

    def fastest(self) -> str | None:
        """The formula of the least of them; None for a single one."""
        return f"min({', '.join(self.times)})" if len(self.times) > 1 else None


def repeats_of(runs: dict[str, Repeats], name: str, where: str) -> Repeats:
    """The runs of one name so far, a fresh start for a new one. Raises: UsageError beyond `MAX_ARMS` names."""
    if name not in runs and len(runs) == MAX_ARMS:
        refuse(where, f"more than {MAX_ARMS} names", "fewer", "Import the file in parts.")
    return runs.setdefault(name, Repeats())


def repeats_text(counts: Iterable[int]) -> str:
    """How often arms were run: `3`, or `1 to 3`."""
    least, most = (found := sorted(counts))[0], found[-1]
    return str(most) if least == most else f"{least} to {most}"
