"""How quantities are written: the one place that chooses units and digits.

Terminal, pages, charts and exports all print through these functions, so that a number looks the same everywhere; the
page's script has the same rules (site/assets/js/units.js), held to them by shared examples. A missing value is written
as an em dash, never as 0.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from probe_effect.model import Estimate

MISSING, MINUS = "—", "\u2212"
GROUP = "\u202f"  # between groups of three digits: a narrow no-break space keeps a number on one line
GAP = "\u00a0"  # between a number and its unit
NS_PER_SECOND = 1e9

MAX_DIGITS = 5  # however narrow an interval: more are not read
MIN_SPREAD_DIGITS = 3  # however wide the range of repeated counts: its ends are runs that were made, and no estimates
STATED_DIGITS = 4  # what is kept of a value that a reader has given
LONG = 1e6  # a figure with seven digits or more: its column has the next unit
LEAST_IN_SPAN = 0.1  # the least low end that is written in the unit of the high one


class Unit(NamedTuple):
    """A unit for values below `below`, which are divided by `scale`; without a name where a column's title has it."""

    below: float
    scale: float
    name: str


class Scale(NamedTuple):
    """The units of a quantity, small ones first, and how many digits it has where no interval decides.

    `is_shared`: whether a column of a table has all its quantities in one of the units, a thousand from each other.
    """

    units: tuple[Unit, ...]
    digits: int
    is_shared: bool = False


class Quantity(str):
    """The text of a value, perhaps with its ends, which a table can have in another unit.

    Attributes:
        values: what its figures say, each in the base unit of the scale; the first decides the unit of a column.
        places: the power of ten of the last digit of each, in `unit`.
        unit: the one that it is written in.
        scale: the one that `unit` is of.
        form: the text around its figures: `{0}{unit} ({1} to {2})`.
    """

    __slots__ = ("form", "places", "scale", "unit", "values")
    values: Sequence[float]
    places: Sequence[int]
    unit: Unit
    scale: Scale
    form: str

    def to(self, unit: Unit) -> "Quantity":
        """The same figures in another unit: the decimal point moves, and nothing is rounded again."""
        by = round(math.log10(self.unit.scale / unit.scale))
        return _made(self.values, [power + by for power in self.places], unit, self.scale, self.form)


def _made(
    values: Sequence[float],
    places: Sequence[int],
    unit: Unit,
    scale: Scale,
    form: str = "{0}{unit}",
    *,
    text: str | None = None,
) -> Quantity:
    """The quantity whose text is that of its figures, unless it is given."""
    figures = (at_place(amount / unit.scale, power) for amount, power in zip(values, places, strict=True))
    made = Quantity(form.format(*figures, unit=_named("", unit)) if text is None else text)
    made.values, made.places, made.unit, made.scale, made.form = values, places, unit, scale, form
    return made


def alone(text: str) -> str:
    """A text without the ends in brackets, which is a quantity still if it was one."""
    if not isinstance(text, Quantity):
        return text.partition(" (")[0]
    return _made(text.values, text.places, text.unit, text.scale, text.form.partition(" (")[0])


def within(text: str, before: str = "", after: str = "") -> str:
    """A text with words around it, which is a quantity still if it was one."""
    around = f"{before}{text}{after}"
    if not isinstance(text, Quantity):
        return around
    return _made(text.values, text.places, text.unit, text.scale, f"{before}{text.form}{after}", text=around)


def in_one_unit(cells: Sequence[object]) -> list[object]:
    """Some cells with all their durations, and all their rates, in one unit: that of the median, as it is written.

    It is the next unit where the largest of them would have seven digits.
    """
    of_scale: dict[Scale, list[Quantity]] = {}
    for cell in cells:
        if isinstance(cell, Quantity) and cell.scale.is_shared:
            of_scale.setdefault(cell.scale, []).append(cell)
    chosen: dict[Scale, Unit] = {}
    for scale, own in of_scale.items():
        ordered = sorted(own, key=lambda cell: abs(cell.values[0]))
        index = scale.units.index(ordered[len(ordered) // 2].unit)
        is_long = abs(ordered[-1].values[0]) >= LONG * scale.units[index].scale
        chosen[scale] = scale.units[min(index + is_long, len(scale.units) - 1)]
    return [
        cell.to(chosen[cell.scale]) if isinstance(cell, Quantity) and cell.scale in chosen else cell for cell in cells
    ]


def _units(names: Sequence[str], step: float = 1e3) -> tuple[Unit, ...]:
    """Units that are a step from each other; each has the values below the next."""
    last = len(names) - 1
    return tuple(
        Unit(math.inf if index == last else step ** (index + 1), step**index, name) for index, name in enumerate(names)
    )


DURATION = Scale((Unit(1e4, 1, "ns"), *_units(("ns", "µs", "ms", "s"))[1:]), 3, is_shared=True)
NANOSECONDS = Scale(_units([""]), 3)  # of a column whose title has the unit
RATE = Scale(_units(("/s", "k/s", "M/s", "G/s")), 2, is_shared=True)
EVENTS = Scale(_units(("events/s", *(f"{prefix}{GAP}events/s" for prefix in "kMG"))), 2)
SHARE = Scale((Unit(math.inf, 0.01, "%"),), 2)
TIMES = Scale(_units(["times"]), 3)
CPUS = Scale(_units(["CPUs"]), 2)
INSTRUCTIONS = Scale(_units([""]), 4)
# Of a whole start or stop, where those of an event are some hundreds.
MANY_INSTRUCTIONS = Scale((Unit(1e6, 1, ""), Unit(1e9, 1e6, "million"), Unit(math.inf, 1e9, "billion")), 3)
SIZE = Scale(_units(("B", "KiB", "MiB", "GiB"), 1 << 10), 3)


def quantity(value: float | None, scale: Scale, digits: int | None = None) -> str:
    """`value` in the unit that its size asks for: `85.2 ns`, `1.2 M/s`, `5.0 %`; a `Quantity` unless it is missing."""
    if value is None:
        return MISSING
    wanted = digits or scale.digits
    return _in(_unit(value, scale, wanted), value, scale, wanted)


def _in(unit: Unit, value: float, scale: Scale, digits: int) -> Quantity:
    power = _significant_place(value / unit.scale, digits)
    return _made([value], [power], unit, scale)


def interval(estimate: Estimate | None, scale: Scale) -> str:
    """`171 ns (165 to 176)`: value and ends in one unit, to the place that the interval supports.

    An end that is not known is left open: `190 k/s (150 or more)`; without both, or without width, the value is
    alone. A line breaks before the bracket and nowhere else. It is a `Quantity` unless it is missing.
    """
    if estimate is None:
        return MISSING
    ends = [bound for bound in estimate[1:] if bound is not None]
    values = [estimate.value, *ends]
    # Half the distance of the ends; of the only end, its distance.
    half_width = (ends[1] - ends[0]) / 2 if len(ends) == 2 else sum(abs(end - estimate.value) for end in ends)
    if not half_width:
        return quantity(estimate.value, scale)
    unit = _unit(estimate.value, scale, scale.digits)
    power = _place(estimate.value / unit.scale, half_width / unit.scale)
    bracket = "{1} to {2}" if len(ends) == 2 else f"{{1}} or {'less' if estimate.low is None else 'more'}"
    form = f"{{0}}{{unit}} ({bracket.replace(' ', GAP)})"
    return _made(values, [power] * len(values), unit, scale, form)


def value(estimate: Estimate | None, scale: Scale) -> str:
    """The value of `interval` alone, to the place that the interval supports; the interval is shown elsewhere."""
    return alone(interval(estimate, scale))


def spread(estimate: Estimate | None, scale: Scale) -> str:
    """`1 924 (1 921 to 1 930)`: the median with the range of the runs, to the place that the range supports.

    A range too narrow to show at that place is left out, and the median has the digits of its scale. A line breaks
    before the bracket and nowhere else.
    """
    if estimate is None:
        return MISSING
    unit = _unit(estimate.value, scale, scale.digits)
    runs = [(estimate.value if amount is None else amount) / unit.scale for amount in estimate]
    if runs[1] != runs[2]:
        power = _place(runs[0], (runs[2] - runs[1]) / 2)
        power = min(power, exponent(max(runs, key=abs)) - MIN_SPREAD_DIGITS + 1)
        median, least, greatest = (at_place(run, power) for run in runs)
        if least != greatest:
            return f"{_named(median, unit)} ({least}{GAP}to{GAP}{greatest})"
    return quantity(estimate.value, scale)


def span(estimate: Estimate, scale: Scale) -> str:
    """`36 to 290 ns`, `0.9 to 12 µs`: both ends with two digits, in one unit unless the low end would be below 0.1.

    Without both ends it is the value.
    """
    if estimate.low is None or estimate.high is None:
        return quantity(estimate.value, scale, 2)
    low, high = (quantity(end, scale, 2) for end in (estimate.low, estimate.high))
    if low == high or not (isinstance(low, Quantity) and isinstance(high, Quantity)):
        return high
    unit, places = high.unit, [*low.to(high.unit).places, *high.places]
    is_one = low.unit == unit or abs(estimate.low) >= LEAST_IN_SPAN * unit.scale
    text = None if is_one else f"{low} to {high}"
    return _made([estimate.low, estimate.high], places, unit, scale, "{0} to {1}{unit}", text=text)


def middle(estimate: Estimate, scale: Scale) -> str:
    """The value beside its `span`: with two digits, in the unit of its high end unless it would be below 0.1 of it."""
    ends = span(estimate, scale)
    if not isinstance(ends, Quantity):
        return quantity(estimate.value, scale, 2)
    is_one = ends == ends.to(ends.unit) or abs(estimate.value) >= LEAST_IN_SPAN * ends.unit.scale
    return _in(ends.unit, estimate.value, scale, 2) if is_one else quantity(estimate.value, scale, 2)


def stated(value: float, scale: Scale) -> str:
    """A value that was given and not measured, without zeros that say nothing: `50 k events/s`, `40 %`."""
    unit = _unit(value, scale, STATED_DIGITS)
    figures = trimmed(value / unit.scale, STATED_DIGITS)
    zeros = len(figures) - len(figures.rstrip("0"))
    power = -len(figures.partition(".")[2]) if "." in figures else zeros
    return _made([value], [power], unit, scale, text=_named(figures, unit))


def duration(value_ns: float | None, digits: int | None = None) -> str:
    """A duration given in ns: `85.2 ns`, `12.3 µs`, `44.3 s`."""
    return quantity(value_ns, DURATION, digits)


def percent(ratio: float | None, digits: int | None = None) -> str:
    """A ratio as per cent: 0.05 reads `5.0 %`."""
    return quantity(ratio, SHARE, digits)


def rate(value_hz: float | None, digits: int | None = None) -> str:
    """Events per second: `17 k/s`, `1.2 M/s`, `740 /s`."""
    return quantity(value_hz, RATE, digits)


def size(value_bytes: float | None) -> str:
    """Bytes in binary units: `23.4 GiB`."""
    return quantity(value_bytes, SIZE)


def count(value: float | None) -> str:
    return MISSING if value is None else at_place(value, 0)


def significant(value: float, digits: int = 3) -> str:
    """`value` to so many significant digits, with grouped thousands and no exponent: `1 090` for 1085.4 with 3."""
    return at_place(value, _significant_place(value, digits))


def _significant_place(value: float, digits: int) -> int:
    """The power of ten of the last of so many significant digits; 0 for 0."""
    if value == 0:
        return 0
    power = exponent(value) - digits + 1
    # Rounding can carry into a new digit (0.9996 -> 1.00), which leaves one place too many.
    return power + int(_steps(value, power) >= 10**digits)


def trimmed(value: float, digits: int = 4) -> str:
    """`value` to `digits` significant digits without zeros that say nothing: `5` for 5.000, `20.8` for 20.80."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def at_place(value: float, power: int) -> str:
    """`value` rounded to a multiple of 10 to the power of `power`, halves away from 0, with grouped thousands."""
    steps = _steps(value, power)
    whole, decimals = divmod(steps, 10 ** max(-power, 0))
    text = f"{whole * 10 ** max(power, 0):,}".replace(",", GROUP)
    if power < 0:
        text += f".{decimals:0{-power}d}"
    return MINUS + text if value < 0 and steps else text


def exponent(value: float) -> int:
    """The power of ten of the first digit: 3 for 1085.4, -2 for 0.05."""
    power = math.floor(math.log10(abs(value)))
    if abs(value) < float(f"1e{power}"):  # a logarithm may be off by its last digit
        return power - 1
    return power + (abs(value) >= float(f"1e{power + 1}"))


def _named(text: str, unit: Unit) -> str:
    return f"{text}{GAP}{unit.name}" if unit.name else text


def _unit(value: float, scale: Scale, digits: int) -> Unit:
    """The unit for a value that is rounded to `digits`: 999.9996 µs is 1 ms, and never 1000 µs."""
    return next(unit for unit in scale.units if abs(value) < unit.below * (1 - 0.5 * 10**-digits))


def _place(value: float, half_width: float) -> int:
    """The power of ten of the last digit that an interval supports.

    Two digits of the half-width where they are from 10 to 35, else one: the rounding rule of the Particle Data
    Group (Review of Particle Physics, introduction, section 5.3).
    """
    first = exponent(half_width)
    power = first - (half_width < 3.55 * float(f"1e{first}"))
    return max(power, exponent(value) - MAX_DIGITS + 1) if value else power


def _steps(value: float, power: int) -> int:
    """How many multiples of 10 to the power of `power`; the same arithmetic as in the page's script."""
    scaled = abs(value) * float(f"1e{-power}") if power <= 0 else abs(value) / float(f"1e{power}")
    return math.floor(scaled + 0.5)
