"""`calibration.csv`: what a script's probes cost in a loop of ours, before the script ran over programs.

It is beside `samples.csv` where a suite ran scripts over real programs. The rows of one script are written at once.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from probe_effect.model import Estimate, Key, Problem
from probe_effect.store.tables import Cell, TableReader, read_columns

ENDS = ("", "low_", "high_")


CALIBRATION_COLUMNS = read_columns("calibration")


class ProbeCalibration(NamedTuple):
    """One row: a probe of a script, in ns; the columns are described in `CALIBRATION_COLUMNS`."""

    case: str
    tracer: str
    level: str | None
    probe: str | None = None
    mechanism: str | None = None
    cost: Estimate | None = None
    call: Estimate | None = None
    note: str | None = None

    @property
    def key(self) -> Key:
        """The case, the tracer, and the level where the script is that of one."""
        return Key(self.case, self.tracer, self.level)

    @property
    def cells(self) -> tuple[object, ...]:
        """As the file has it."""
        figures = (None if end is None else f"{end:.1f}" for end in chain(self.cost or NONE, self.call or NONE))
        return *self[:5], *figures, self.note


NONE = (None, None, None)
WORDS = ("case", "tracer", "level", "probe", "mechanism", "note")


def read_calibration(path: Path, file: str) -> tuple[list[ProbeCalibration], list[Problem]]:
    """The sound rows of a `calibration.csv`, and every problem found in it; nothing where there is no file.

    `file` is the name that problems give, usually relative to the data folder.
    """
    if not os.path.lexists(path):
        return [], []
    reader = TableReader(file, "calibration", CALIBRATION_COLUMNS)
    found = []
    for row in reader.read(path):
        figures = {name: _figures(row.cells, name) for name in ("cost", "call")}
        if fault := _fault(row.cells, figures):
            reader.problems.append(Problem("error", file, row.line, None, "calibration/row", *fault))
            continue
        values: dict[str, Any] = {name: row.cells[name] for name in WORDS}
        values |= {name: Estimate(value, *ends) for name, (value, *ends) in figures.items() if value is not None}
        found.append(ProbeCalibration(**values))
    return found, reader.problems


def _figures(cells: Mapping[str, Cell], name: str) -> list[float | None]:
    """A value and its ends."""
    return [None if (cell := cells[f"{name}_{end}ns"]) is None else float(cell) for end in ENDS]


def _fault(cells: Mapping[str, Cell], figures: Mapping[str, Sequence[float | None]]) -> tuple[str, str] | None:
    """What the cells of a row say that cannot be, and how to mend it."""
    for name, (value, low, high) in figures.items():
        if (low is None) != (high is None) or (value is None and low is not None):
            return f"`{name}_ns` has one part of an interval", "give value, low and high, or leave all empty"
        if value is not None and low is not None and high is not None and not low <= value <= high:
            return f"`{name}_ns` {value:g} is not between {low:g} and {high:g}", "leave the file as the tool wrote it"
    if cells["cost_ns"] is None and cells["note"] is None:
        return "neither a cost nor a note", "say in `note` why there is no cost"
    return None
