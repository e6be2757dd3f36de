"""Numbers of foreign files: read within bounds, written as our tables want them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from probe_effect.importers.files import refuse
from probe_effect.store.source_file import UNIT_SCALE
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from fractions import Fraction

NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?")
"""Bounded before it is read: an exponent of nine digits would take all memory once it is written out."""

MOST = 10**15
"""In the base unit, ns or events/s: 11 days, and more events than any machine makes."""

DECIMALS = 12
"""What a cell of `figures.csv` holds."""

COST_DIGITS = 4
TIME_DIGITS = 6
"""Costs are differences of times: these keep enough for that."""


def measured(text: str, unit: str, where: str, least: Decimal = Decimal(0), scale: int = 1) -> Decimal:
    """The number in `text`, times `scale`, of `unit`. Raises: UsageError unless it is one from `least` to `MOST`."""
    if not NUMBER.fullmatch(text):
        do = "Mend the file, or leave that row out."
        refuse(where, f"`{printable(text)}`", "a plain number, not below 0", do)
    value = Decimal(text) * scale
    if value * int(UNIT_SCALE[unit]) > MOST or value < least:
        expected = f"at least {least} and at most {MOST / int(UNIT_SCALE[unit]):g} {unit}"
        refuse(where, f"{printable(text)}", expected, "Mend the file, or leave that row out.")
    return plain(value)


def plain(value: Decimal) -> Decimal:
    """`value` without an exponent, to as many decimals as a cell holds, without zeros at its end."""
    text = f"{value:.{DECIMALS}f}"
    return Decimal(text.rstrip("0").rstrip("."))


def rounded(value: Fraction, digits: int) -> Decimal:
    """`value` to `digits` significant digits, but whole numbers in full: what we write of what we derive."""
    exponent = len(str(int(abs(value)))) - 1 if abs(value) >= 1 else _below_one(value)
    places = min(max(digits - 1 - exponent, 0), DECIMALS)
    return Decimal(round(value * 10**places)).scaleb(-places)


def _below_one(value: Fraction) -> int:
    """The power of ten of the first digit of a number below 1; that of the last decimal for 0."""
    return next((-place for place in range(1, DECIMALS) if abs(value) * 10**place >= 1), -DECIMALS)
