"""The kernel's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.host import read_text, sysctl

if TYPE_CHECKING:
    from pathlib import Path

CLOCK_FOLDER = "sys/devices/system/clocksource/clocksource0"


def clocksource(root: Path) -> str | None:
    """The kernel's clock source in use: `tsc`, `kvm-clock`, `hpet`."""
    return read_text(root, f"{CLOCK_FOLDER}/current_clocksource") or sysctl("kern.timecounter.hardware")


def offered_clocksources(root: Path) -> frozenset[str]:
    """Every clock source that the kernel has: those of hypervisors give them away."""
    return frozenset((read_text(root, f"{CLOCK_FOLDER}/available_clocksource") or "").split())
