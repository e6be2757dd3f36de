"""The data format in writing, made from the schema that also checks it: `data/README.md` and `data/schema/`.

Table Schema: https://datapackage.org/standard/table-schema/ (version 2). JSON Schema: draft 2020-12, by pydantic.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from probe_effect.checks.registry import ALL_RULES
from probe_effect.exports.words import LICENCE, WORDS
from probe_effect.store.changes_file import Change, ChangesFile
from probe_effect.store.claims_file import Claim, ClaimsFile
from probe_effect.store.dictionary import FORM_RULES, KEYS, TABLES, document_keys, document_schema
from probe_effect.store.documents import Document
from probe_effect.store.explanations_file import Explanation, ExplanationsFile
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.references_file import Reference, ReferencesFile
from probe_effect.store.release_file import Manifest
from probe_effect.store.source_file import Finding, Repetition, SourceFile
from probe_effect.store.suite_file import Suite
from probe_effect.store.tables import Column
from probe_effect.store.tools_file import StandardTool, ToolPackage, ToolProbes
from probe_effect.store.transcripts import Recorded, Transcript, TranscriptFile

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

HEADS: dict[type[Document], tuple[str, ...]] = {
    Finding: ("Each `[[findings]]`:",),
    Repetition: ("Each `[[repeated]]`:",),
    Change: ("## changes.toml", "Each `[[changes]]`; append one, and never change an old one."),
    Manifest: ("## manifest.json of a release",),
    ToolPackage: ("## tools/<package>.toml",),
    StandardTool: ("Each `[[tools]]`:",),
    ToolProbes: ("Each `[[tools.probes]]`:",),
    Transcript: ("## transcripts/<chapter>.toml", "Each `[[transcript]]`:"),
    Recorded: ("## transcripts/recorded/<id>.json",),
    Reference: ("## references.toml", "Each `[[reference]]`, sorted by `id`:"),
    Explanation: ("## explanations.toml", "Each `[[explanation]]`, sorted by `id`:"),
    Claim: ("## claims.toml", "Each `[[claim]]`, sorted by `id`:"),
}
"""The documents whose keys have a table of their own, and the lines above it."""


def written_files() -> dict[str, str]:
    """Every file of the format in the repository: path under `data/`, to its text."""
    schemas = {f"schema/{name}.schema.json": document_schema(model) for name, model in DOCUMENTS.items()}
    schemas |= {f"schema/{name}.schema.json": table_schema(columns) for name, columns in TABLES.items()}
    texts = {"README.md": readme(), "LICENSE": LICENCE["text"]}
    return texts | {path: _json(schema) for path, schema in schemas.items()}


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
    return "\n".join(_readme_lines()) + "\n"


def _readme_lines() -> Iterator[str]:
    yield "<!-- Made by `probe-effect dictionary --write` from the schema in the code. Do not edit. -->"
    yield from ("", "# The data", "")
    yield "| Path | What it is |"
    yield "|:--|:--|"
    yield from (f"| `{path}` | {text} |" for path, text in WORDS["repository"].items())
    yield from ("", "A missing value is an empty cell or null, never 0. The data is licensed under CC BY 4.0.")
    for name, columns in TABLES.items():
        yield from ("", f"## {name}", "", "| Column | Kind | Meaning |", "|:--|:--|:--|")
        for column in columns:
            choices = f" One of {', '.join(f'`{choice}`' for choice in column.choices)}." if column.choices else ""
            required = ", required" if column.required else ", may be absent" if column.may_be_absent else ""
            yield f"| `{column.name}` | {column.kind}{required} | {column.text}{choices} |"
    yield from _key_table(document_keys(), "## machine.json")
    yield from _key_table(document_keys(SourceFile), "## source.toml")
    for model, lines in HEADS.items():
        yield from _key_table(KEYS[model.__name__], *lines)
    yield from ("", "## Rules", "", "What `probe-effect check` demands beyond these tables.")
    for subject, rules in ALL_RULES.items():
        yield from ("", f"### Of {subject}", "", "| Rule | What it demands | Good | Bad |", "|:--|:--|:--|:--|")
        yield from (f"| `{rule.id}` | {rule.text} | {rule.good} | {rule.bad} |" for rule in rules)
    yield from ("", "### Of every file", "", "`<file>` is `samples`, `machine`, `figures`, `source`, `suite`, ..", "")
    yield from ("| Rule | What it demands |", "|:--|:--|")
    yield from (f"| `<file>/{name}` | {text} |" for name, text in FORM_RULES.items())


def _key_table(keys: Mapping[str, str], *lines: str) -> Iterator[str]:
    """Some lines, each after a blank one, and a table of the keys of a document with what they hold."""
    for line in lines:
        yield from ("", line)
    yield from ("", "| Key | Meaning |", "|:--|:--|", *(f"| `{key}` | {text} |" for key, text in keys.items()))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
