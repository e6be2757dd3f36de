"""The data format in writing, made from the schema that also checks it: `data/README.md` and `data/schema/`.

Table Schema and Data Package: https://datapackage.org/standard/ (version 2). JSON Schema: draft 2020-12, by pydantic.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from probe_effect.checks.run import SOURCE_RULES, SUBMISSION_RULES, SUITE_RULES
from probe_effect.store.dictionary import TABLES, document_keys
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.source_file import SourceFile
from probe_effect.store.suite_file import Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probe_effect.guidance.catalogue import Catalogue
    from probe_effect.store.documents import Document
    from probe_effect.store.tables import Column

DOCUMENTS: dict[str, type[Document]] = {"machine.json": MachineFile, "source.toml": SourceFile, "suite.toml": Suite}


def written_files() -> dict[str, str]:
    """Every file of the format that lies in the repository: path under `data/`, to its text."""
    schemas = {f"schema/{name}.schema.json": model.model_json_schema() for name, model in DOCUMENTS.items()}
    schemas |= {f"schema/{name}.schema.json": table_schema(columns) for name, columns in TABLES.items()}
    return {"README.md": readme()} | {path: _json(schema) for path, schema in schemas.items()}


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


def data_package(catalogue: Catalogue) -> str:
    """The Data Package of everything that the site publishes, with paths relative to its `/data/`."""
    runs = [*(one.files for one in catalogue.submissions), *(one.files for one in catalogue.counted)]
    submissions = [f"results/{files.id}/samples.csv" for files in runs]
    sources = [f"published/{one.id}/figures.csv" for one in catalogue.sources]
    resources = [
        {"name": name, "path": paths, "format": "csv", "encoding": "utf-8", "schema": table_schema(TABLES[table])}
        for name, table, paths in (("samples", "samples.csv", submissions), ("figures", "figures.csv", sources))
        if paths
    ]
    licence = {"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/"}
    return _json({"name": "probe-effect", "title": "Probe Effect", "licenses": [licence], "resources": resources})


def readme() -> str:
    """The dictionary: what lies where, what every column and key means, and every rule."""
    return "\n".join(_readme_lines()) + "\n"


def _readme_lines() -> Iterator[str]:
    yield "<!-- Made by `probe-effect dictionary --write` from the schema in the code. Do not edit. -->"
    yield from ("", "# The data", "")
    yield "| Path | What it is |"
    yield "|:--|:--|"
    yield "| `suites/<suite>/` | `suite.toml`, one script per case and tracer, `workload/` |"
    yield "| `results/<machine>/<YYYY-MM-DD>-<suite>[-n]/` | `machine.json`, `samples.csv`; append-only |"
    yield "| `published/<source>/` | `source.toml`, `figures.csv`: numbers that others printed |"
    yield "| `schema/` | the same as below, for programs: JSON Schema and Table Schema |"
    yield from ("", "A missing value is an empty cell or null, never 0. The data is licensed under CC BY 4.0.", "")
    for name, columns in TABLES.items():
        yield from (f"## {name}", "", "| Column | Kind | Meaning |", "|:--|:--|:--|")
        for column in columns:
            choices = f" One of {', '.join(f'`{choice}`' for choice in column.choices)}." if column.choices else ""
            required = ", required" if column.required else ", may be absent" if column.may_be_absent else ""
            yield f"| `{column.name}` | {column.kind}{required} | {column.text}{choices} |"
        yield ""
    yield from ("## machine.json", "", "| Key | Meaning |", "|:--|:--|")
    for key, text in document_keys().items():
        yield f"| `{key}` | {text} |"
    yield from ("", "## Rules", "", "What `probe-effect check` demands beyond these tables.", "")
    yield from ("| Rule | What it demands |", "|:--|:--|")
    for rules in (SUBMISSION_RULES, SOURCE_RULES, SUITE_RULES):
        yield from (f"| `{rule.id}` | {rule.text} |" for rule in rules)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
