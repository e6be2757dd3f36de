"""What every column and key means, taken from the schema itself: the dictionary cannot differ from the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from probe_effect.store.machine_file import MachineFile
from probe_effect.store.samples import SAMPLE_COLUMNS
from probe_effect.store.source_file import FIGURE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = {"samples.csv": SAMPLE_COLUMNS, "figures.csv": FIGURE_COLUMNS}


def document_keys() -> dict[str, str]:
    """Each key of `machine.json` by its path (`machine.cpu_model`), to what it holds."""
    return dict(_keys(MachineFile, ""))


def _keys(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, f"{prefix}{name}.")
        elif field.description:
            yield f"{prefix}{name}", field.description
