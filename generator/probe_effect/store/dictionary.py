"""What every column and key means, and the schema of each document, which cannot differ from what the checks read."""

from typing import Any

from pydantic import BaseModel

from probe_effect.records import beside
from probe_effect.store.beside_files import FIGURE_COLUMNS
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.result_tables import CALIBRATION_COLUMNS, HISTOGRAM_COLUMNS, PATH_COLUMNS, SAMPLE_COLUMNS

TABLES = {
    "samples.csv": SAMPLE_COLUMNS,
    "histogram.csv": HISTOGRAM_COLUMNS,
    "calibration.csv": CALIBRATION_COLUMNS,
    "paths.csv": PATH_COLUMNS,
    "figures.csv": FIGURE_COLUMNS,
}

FORM_RULES: dict[str, str] = beside(__file__)
"""What reading a file demands of it, by the last part of a problem's rule."""

KEYS: dict[str, dict[str, str]] = beside(__file__, "keys")
"""What each key of a document says, by the name of the model that has it."""


def document_keys(model: type[BaseModel] = MachineFile, prefix: str = "") -> dict[str, str]:
    """Each key of a document by its path (`machine.cpu_model`), after `prefix`, to what it says."""
    keys: dict[str, str] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys |= document_keys(kind, f"{prefix}{name}.")
        elif said := KEYS.get(model.__name__, {}).get(name):
            keys[f"{prefix}{name}"] = said
    return keys


def document_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a document, in which each key has its description."""
    schema = model.model_json_schema()
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        for key, said in KEYS.get(name, {}).items():
            own = part["properties"][key] | {"description": said}
            part["properties"][key] = dict(sorted(own.items()))
    return schema
