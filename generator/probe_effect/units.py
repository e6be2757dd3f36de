"""How quantities are written: the one place that chooses units and digits.

Terminal, pages and charts all print through these functions, so that a number looks the same everywhere.
A missing value is written as an em dash, never as 0.
"""

from __future__ import annotations

import math

MISSING = "—"

# Thin groups of three digits; a narrow no-break space keeps a number on one line.
GROUP = "\u202f"

NS_PER_SECOND = 1e9
NS_PER_MS = 1e6


def significant(value: float, digits: int = 3) -> str:
    """`value` rounded to `digits` significant digits, with grouped thousands and no exponent.

    Args:
        value: any finite float, dimensionless here; the caller adds the unit.
        digits: how many significant digits carry meaning, at least 1.
    Returns: `1 090` for 1085.4 with 3 digits, `0.0573` for 0.05732.
    """
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    # Rounding can carry into a new digit (0.9996 -> 1.00), which leaves one decimal too many.
    if rounded != 0:
        decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    text = f"{rounded:,.{max(decimals, 0)}f}".replace(",", GROUP)
    return text.replace("-", "\u2212")


def trimmed(value: float, digits: int = 4) -> str:
    """`value` to `digits` significant digits without zeros that say nothing: `5` for 5.000, `20.8` for 20.80."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def date_words(date: str) -> str:
    """An ISO date as prose has it: `19 May 2023`, `May 2023`, `2023`; anything else as it is."""
    names = "January February March April May June July August September October November December".split()
    parts = date.split("-")
    if not all(part.isdigit() for part in parts):
        return date
    words = [parts[0], *(names[int(month) - 1] for month in parts[1:2]), *(str(int(day)) for day in parts[2:3])]
    return "\u00a0".join(reversed(words))


def duration(value_ns: float | None, digits: int = 3) -> str:
    """A duration given in ns, in the unit its size asks for: `85.2 ns`, `1.09 µs`, `44.3 s`."""
    if value_ns is None:
        return MISSING
    for limit, scale, unit in ((1e4, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if abs(value_ns) < limit * (1 - 0.5 * 10**-digits):  # so that 999.9996 µs is not written as 1000 µs
            return f"{significant(value_ns / scale, digits)}\u00a0{unit}"
    return f"{significant(value_ns / NS_PER_SECOND, digits)}\u00a0s"


def nanoseconds(value_ns: float | None, digits: int = 3) -> str:
    """A cost in ns whatever its size, so that the rows of a table compare at a glance."""
    return MISSING if value_ns is None else f"{significant(value_ns, digits)}\u00a0ns"


def milliseconds(value_ms: float | None, digits: int = 3) -> str:
    """A time in ms: starts and stops of tools."""
    return MISSING if value_ms is None else f"{significant(value_ms, digits)}\u00a0ms"


def percent(ratio: float | None, digits: int = 2) -> str:
    """A ratio as per cent: 0.05 reads `5.0 %`."""
    return MISSING if ratio is None else f"{significant(ratio * 100, digits)}\u00a0%"


def rate(value_hz: float | None, digits: int = 2) -> str:
    """Events per second, short: `17 k/s`, `1.2 M/s`, `740 /s`."""
    if value_hz is None:
        return MISSING
    for limit, scale, unit in ((1e3, 1, "/s"), (1e6, 1e3, "k/s"), (1e9, 1e6, "M/s")):
        if abs(value_hz) < limit * (1 - 0.5 * 10**-digits):
            return f"{significant(value_hz / scale, digits)}\u00a0{unit}"
    return f"{significant(value_hz / 1e9, digits)}\u00a0G/s"


def count(value: float | None) -> str:
    """A whole number with grouped thousands."""
    return MISSING if value is None else f"{round(value):,}".replace(",", GROUP)


def size(value_bytes: float | None) -> str:
    """Bytes in binary units: `23.4 GiB`."""
    if value_bytes is None:
        return MISSING
    for limit, unit in ((1 << 10, "B"), (1 << 20, "KiB"), (1 << 30, "MiB")):
        if value_bytes < limit:
            return f"{significant(value_bytes / (limit >> 10), 3)}\u00a0{unit}"
    return f"{significant(value_bytes / (1 << 30), 3)}\u00a0GiB"


def digits_for(value: float, low: float, high: float) -> int:
    """Significant digits that an interval supports: the last one is a tenth of its half-width or more, 2 to 4."""
    half_width = abs(high - low) / 2
    if value == 0 or half_width == 0:
        return 3
    return min(4, max(2, math.floor(math.log10(abs(value))) - math.floor(math.log10(half_width)) + 2))
