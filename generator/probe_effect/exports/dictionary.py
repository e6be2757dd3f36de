"""The data format in writing, made from the schema that also checks it: `data/README.md` and `data/schema/`.

Table Schema: https://datapackage.org/standard/table-schema/ (version 2). JSON Schema: draft 2020-12, by pydantic.
"""

import json
from collections.abc import Iterable
from typing import Any

from probe_effect.checks.registry import ALL_RULES
from probe_effect.exports.files import LICENCE, WORDS, plain
from probe_effect.store.beside_files import ChangesFile, ClaimsFile, ExplanationsFile, ReferencesFile
from probe_effect.store.dictionary import FORM_RULES, KEYS, TABLES, document_keys, document_schema
from probe_effect.store.documents import Document
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.release_file import Manifest
from probe_effect.store.source_file import SourceFile
from probe_effect.store.suite_file import Suite
from probe_effect.store.tables import Column
from probe_effect.store.tools_file import ToolPackage
from probe_effect.store.transcripts import Recorded, TranscriptFile

DOCUMENTS: dict[str, type[Document]] = {
    "machine.json": MachineFile,
    "source.toml": SourceFile,
    "suite.toml": Suite,
    "changes.toml": ChangesFile,
    "manifest.json": Manifest,
    "tools.toml": ToolPackage,
    "transcripts.toml": TranscriptFile,
    "recorded.json": Recorded,
    "references.toml": ReferencesFile,
    "explanations.toml": ExplanationsFile,
    "claims.toml": ClaimsFile,
}


def written_files() -> dict[str, str]:
    """Every file of the format in the repository: path under `data/`, to its text."""
    schemas = {f"schema/{name}.schema.json": document_schema(model) for name, model in DOCUMENTS.items()}
    schemas |= {f"schema/{name}.schema.json": table_schema(columns) for name, columns in TABLES.items()}
    texts = {"README.md": readme(), "LICENSE": LICENCE["text"]}
    return texts | {path: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for path, schema in schemas.items()}


def table_schema(columns: Iterable[Column]) -> dict[str, Any]:
    """A Frictionless Table Schema of the columns; an empty cell is a missing value."""
    return {"fields": [_field(column) for column in columns], "missingValues": [""]}


def _field(column: Column) -> dict[str, Any]:
    limits: dict[str, Any] = {"required": True} if column.required else {}
    if column.choices:
        limits["enum"] = list(column.choices)
    if column.pattern:
        limits["pattern"] = column.pattern
    if column.kind != "string" and column.minimum is not None:
        limits["minimum"] = column.minimum
    field: dict[str, Any] = {"name": column.name, "type": column.kind, "description": column.text}
    return field | ({"constraints": limits} if limits else {})


def readme() -> str:
    """The dictionary: what lies where, what every column and key means, and every rule."""
    return plain(
        "dictionary.md.j2",
        repository=WORDS["repository"],
        tables=TABLES,
        machine=document_keys(),
        source=document_keys(SourceFile),
        keys=KEYS,
        demanded=ALL_RULES,
        of_files=FORM_RULES,
    )
