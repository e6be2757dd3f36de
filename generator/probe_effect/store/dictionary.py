"""What every column and key means, taken from the schema itself: the dictionary cannot differ from the checks."""

from __future__ import annotations

from pydantic import BaseModel

from probe_effect.store.calibration import CALIBRATION_COLUMNS
from probe_effect.store.histogram import HISTOGRAM_COLUMNS
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.samples import SAMPLE_COLUMNS
from probe_effect.store.source_file import FIGURE_COLUMNS

TABLES = {
    "samples.csv": SAMPLE_COLUMNS,
    "histogram.csv": HISTOGRAM_COLUMNS,
    "calibration.csv": CALIBRATION_COLUMNS,
    "figures.csv": FIGURE_COLUMNS,
}

FORM_RULES = {
    "file": "It is there, and it is a regular file: no link, pipe or device.",
    "size": "At most 5 MiB for a table, 256 KiB for a document.",
    "encoding": "UTF-8 without a byte order mark.",
    "line-ends": "Lines of a table end with LF, the last one too; no carriage return, no NUL.",
    "csv": "A table is CSV as RFC 4180 has it.",
    "header": "A table begins with the names of its columns, each once; further ones in small letters, digits and _.",
    "cells": "Every row has as many cells as the header.",
    "cell": "Each cell is of its column's kind, and is no text that a spreadsheet would run.",
    "place": "Each run has a block and position of its own.",
    "row": "The cells of a row agree: an `ok` run has events and a time or a count, any other a note.",
    "syntax": "A document is JSON or TOML; no key twice, no NaN, nothing nested deeper than 20.",
    "<kind of fault>": "Each key of a document is known and there, and its value is as its table above says.",
}
"""What reading a file demands of it, by the last part of a problem's rule."""


def document_keys(model: type[BaseModel] = MachineFile, prefix: str = "") -> dict[str, str]:
    """Each key of a document by its path (`machine.cpu_model`), after `prefix`, to what it holds."""
    keys: dict[str, str] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys |= document_keys(kind, f"{prefix}{name}.")
        elif field.description:
            keys[f"{prefix}{name}"] = field.description
    return keys
