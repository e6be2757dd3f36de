"""`data/tools/<package>.toml`: the standard tools of a package: what each answers, its probes and actions."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from probe_effect.model import Problem
from probe_effect.store.documents import Document, Slug, Text, read_document
from probe_effect.store.places import DataFolder

EventRate = Annotated[float, Field(gt=0, le=1e10)]

MAX_TOOLS = 200
MAX_GROUPS = 50


class ToolProbes(Document):
    """Attach points of one tool that are of one kind and do the same at each event."""

    attach: tuple[Text, ...] = Field(min_length=1, max_length=200)
    kind: Slug
    actions: tuple[Slug, ...] = Field(min_length=1, max_length=100)
    filter: bool = False
    timing: Literal["start", "end"] | None = None
    unknown: tuple[Text, ...] = Field(default=(), max_length=50)


class StandardTool(Document):
    """One tool."""

    name: Text = Field(max_length=60)
    answers: Text
    event: Text
    tracer: Slug | None = None
    usual_from_hz: EventRate | None = None
    usual_to_hz: EventRate | None = None
    usual_source: Text | None = None
    case: Slug | None = None
    remark: Text | None = None
    probes: tuple[ToolProbes, ...] = Field(default=(), max_length=MAX_GROUPS)

    @model_validator(mode="after")
    def _rate_with_its_source(self) -> Self:
        has_rate = self.usual_from_hz is not None or self.usual_to_hz is not None
        if has_rate != (self.usual_source is not None):
            raise ValueError("a usual rate and `usual_source` come together")
        return self


class ToolPackage(Document):
    """The whole document."""

    schema_version: Literal[1]
    title: Text
    package: Text = Field(max_length=60)
    version: Text = Field(max_length=60)
    where: Text
    tracer: Slug
    stands_in: Text | None = None
    scripts: Text | None = None
    tools: tuple[StandardTool, ...] = Field(min_length=1, max_length=MAX_TOOLS)


def tool_files(data: DataFolder) -> list[Path]:
    """The file of every package, by name."""
    return sorted((data.root / "tools").glob("*.toml"))


def read_tools(path: Path, file: str) -> tuple[ToolPackage | None, list[Problem]]:
    """The package at `path`, or None with every problem found; `file` is the name that problems give."""
    return read_document(path, file, "tools", ToolPackage)


def written(package: ToolPackage) -> str:
    """The document in its one form, as `probe-effect tools --write` leaves it."""
    return "".join(_lines(package.model_dump(exclude_defaults=True), ""))


def _lines(values: Mapping[str, Any], table: str) -> Iterator[str]:
    """Keys first, then tables: keys below a header of TOML belong to it."""
    for name, value in values.items():
        if not _is_tables(value):
            yield f"{name} = {_value(value)}\n"
    for name, value in values.items():
        if _is_tables(value):
            for one in value:
                yield f"\n[[{table}{name}]]\n"
                yield from _lines(one, f"{table}{name}.")


def _is_tables(value: object) -> bool:
    return isinstance(value, tuple) and any(isinstance(one, dict) for one in value)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return json.dumps(str(value), ensure_ascii=False)  # a string of TOML escapes as one of JSON does
