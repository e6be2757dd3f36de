"""What every column and key means, taken from the schema itself: the dictionary cannot differ from the checks."""

import tomllib
from pathlib import Path

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

FORM_RULES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
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
