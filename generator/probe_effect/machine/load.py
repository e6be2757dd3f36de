"""How busy the machine is."""

from __future__ import annotations

import os


def load_average() -> float | None:
    """One-minute load average."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None
