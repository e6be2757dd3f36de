"""Series to figures: the printed numbers as they stand, then what follows from them, each with its formula.

Formulas are evaluated here exactly as `check` does, so that what is written is what they give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from probe_effect.errors import UsageError
from probe_effect.importers.numbers import COST_DIGITS, TIME_DIGITS, rounded
from probe_effect.stats.formula import MAX_LENGTH, FormulaError, evaluate
from probe_effect.store.source_file import FIGURE_COLUMNS, UNIT_SCALE, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from fractions import Fraction

    from probe_effect.importers.extracted import Series
    from probe_effect.store.tables import Cell

PRINTED = "Printed figures"
TIMES = "Times"
COST = "Cost"
GRADE = "S"
"""All of the document was read: it is the file."""

MAX_STEM = 48

OTHER_CHARACTERS = 22
"""What an id and its sign in a formula have beside the stem: `operations_25_`, ` / `, and some room."""

MAX_DERIVED = 10**15
"""In the figure's own unit; a larger one does not fit a cell, and shows units mixed up."""


@dataclass(slots=True)
class Figures:
    """The figures of a source as they are made, and their values in base units."""

    rows: list[Figure] = field(default_factory=list)
    values: dict[str, Fraction] = field(default_factory=dict)

    def add(self, figure: Figure) -> str:
        """Add a figure to the rows, and its value to those that formulas use. Returns: its id."""
        self.rows.append(figure)
        self.values[figure.figure] = figure.base_value
        return figure.figure

    def value(self, formula: str) -> Fraction | None:
        """What `formula` gives, in the base unit; None where it divides by 0."""
        try:
            return evaluate(formula, self.values)
        except FormulaError:
            return None

    def derive(self, figure: str, group: str, what: str, unit: str, formula: str, **cells: str | None) -> str:
        """One more figure, from `formula`. Raises: UsageError when that gives nothing that can be."""
        value = self.value(formula)
        in_unit = None if value is None else value / UNIT_SCALE[unit]
        if in_unit is None or abs(in_unit) > MAX_DERIVED:
            shown = "no number" if in_unit is None else f"{float(in_unit):.3g} {unit}"
            msg = f"{what}: {shown}, from {formula}. Expected a number that can be. Look at --baseline and the units."
            raise UsageError(msg)
        written = rounded(in_unit, TIME_DIGITS if group == TIMES else COST_DIGITS)
        return self.add(row(figure, group, what, written, unit, formula=formula, **cells))

    def cost(self, figure: str, what: str, time: str, untraced: str, **cells: str | None) -> str:
        """A cost per event: derived, and with the time that it is added to."""
        self.derive(figure, COST, what, "ns", f"{time} - {untraced}", **cells)
        made = self.rows[-1]
        self.rows[-1] = replace(
            made,
            cost_ns=made.value,
            cost_from="derived",
            baseline_ns=rounded(self.values[untraced], TIME_DIGITS),
            baseline_from="derived",
            baseline_formula=untraced,
        )
        return figure


def row(figure: str, group: str, what: str, value: Decimal, unit: str, **cells: Cell) -> Figure:
    """A figure whose other cells are empty, but for `cells`; its grade says whether it has a formula."""
    grade = f"{GRADE}D" if cells.get("formula") else GRADE
    others: dict[str, Any] = dict.fromkeys(column.name for column in FIGURE_COLUMNS if not column.required) | cells
    return Figure(line=0, figure=figure, group=group, what=what, value=value, unit=unit, grade=grade, **others)


def stems(found: Sequence[Series]) -> dict[str, str]:
    """The name of each series to what its figures' ids end with: small letters, digits and underscores, all different.

    The more ids one formula names, the shorter they are, so that it stays below `MAX_LENGTH`.
    """
    room = min(MAX_STEM, MAX_LENGTH // max(one.time.count("{") for one in found) - OTHER_CHARACTERS)
    given: dict[str, str] = {}
    for one in found:
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", one.name.removeprefix("Benchmark"))
        stem = re.sub(r"[^a-z0-9]+", "_", snake.lower()).strip("_")[:room].strip("_") or "arm"
        taken, number = set(given.values()), 2
        wanted = stem
        while wanted in taken:
            wanted = f"{stem[: room - len(str(number)) - 1]}_{number}"
            number += 1
        given[one.name] = wanted
    return given


def add_printed(figures: Figures, series: Series, stem: str) -> dict[str, str]:
    """The readings of `series` as printed figures; the key of each to its figure's id."""
    flaw = f"No cost is drawn from it: {series.flaw}." if series.flaw else None
    ids = {}
    for one in series.readings:
        what, note = f"{one.what}, {series.name}", " ".join(filter(None, (one.note, flaw))) or None
        cells: dict[str, Cell] = {"printed": one.printed, "spread_ns": one.spread_ns, "note": note}
        ids[one.key] = figures.add(row(f"{one.key}_{stem}", PRINTED, what, one.value, one.unit, **cells))
    return ids
