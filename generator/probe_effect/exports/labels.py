"""What layouts and scripts read: what things are called, and the data format in writing.

Table Schema: https://datapackage.org/standard/table-schema/ (version 2). JSON Schema: draft 2020-12, by pydantic.
"""

import json
from collections.abc import Iterable
from typing import Any

from probe_effect.charts.theme import LOOKS, look
from probe_effect.checks.run import ALL_RULES
from probe_effect.exports.files import LICENCE, WORDS, plain
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import addresses, wording
from probe_effect.store.beside_files import ChangesFile, ClaimsFile, ExplanationsFile, ReferencesFile, SourceFile
from probe_effect.store.dictionary import FORM_RULES, KEYS, TABLES, document_keys, document_schema
from probe_effect.store.documents import Document
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.release_file import Manifest
from probe_effect.store.suite_file import Suite
from probe_effect.store.tables import Column
from probe_effect.store.transcripts import (
    ROOT_NEED,
    KernelMechanisms,
    MechanismsFile,
    Recorded,
    ToolPackage,
    Transcript,
    TranscriptFile,
)

Label = dict[str, str | dict[str, str]]
"""`text` and `href`; of a source also its `title`, and what each of its `figures` is."""


def labels(catalogue: Catalogue) -> dict[str, dict[str, Label]]:
    """For suites, cases, sources and tracers each id to its text and the address of its page: `labels.json`.

    A tracer is called by its tool and the version of the newest submission that has it.
    """
    newest_first = sorted(catalogue.timed, key=lambda one: one.started, reverse=True)
    versions = {one.tracer: names.tool_with_version(one) for run in reversed(newest_first) for one in run.numbers}
    return {
        "suites": {one.suite.id: _label(one.suite.title, addresses.suite(one.suite.id)) for one in catalogue.suites},
        "cases": {case.id: _label(case.title, addresses.case(case.id)) for case in catalogue.cases()},
        "sources": {
            one.id: {
                **_label(wording.source_label(one.document), addresses.figure(one.id)),
                "title": one.document.title,
                "figures": {figure.figure: figure.what for figure in one.figures},
            }
            for one in catalogue.sources
        },
        "tracers": {tracer: _label(name, addresses.tracer(tracer)) for tracer, name in sorted(versions.items())},
    }


def tracer_looks(catalogue: Catalogue) -> dict[str, dict[str, object]]:
    """Tracer id to its look, for every tracer that the data or the program knows: `data/tracer-looks.json`.

    `series` is the number of the variable `--series-1` and so on, `colour` the sentinel of specs, `shape` and `dash`
    are as Vega takes them.
    """
    measured = {case.tracer for one in catalogue.everything for case in one.numbers}
    published = {figure.tracer for source in catalogue.sources for figure in source.figures if figure.tracer}
    looks = {tracer: look(tracer) for tracer in sorted({*LOOKS, *measured, *published})}
    return {
        tracer: {"series": one.series, "colour": one.colour, "shape": one.shape, "dash": one.dash}
        for tracer, one in looks.items()
    }


def transcript_values(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Every recorded transcript, by chapter: `transcripts.json`; `chapter` is the stem of its file."""
    return [
        {"chapter": one.chapter, **_values(one.transcript, one.recorded, catalogue)}
        for one in catalogue.transcripts
        if one.recorded is not None
    ]


def _values(one: Transcript, recorded: Recorded, catalogue: Catalogue) -> dict[str, Any]:
    known = next((found for found in catalogue.timed if found.machine == recorded.machine), None)
    return {
        "id": one.id,
        "asks": one.asks,
        "run": one.run.strip("\n"),
        "beside": one.beside or "",
        "is_root": ROOT_NEED in one.needs,
        "output": "\n".join(recorded.output),
        "exit_status": recorded.exit_status,
        "machine": names.machine_name(known) if known else recorded.machine,
        "href": addresses.machine(recorded.machine) if known else "",
        "kernel": recorded.kernel,
        "versions": [names.tool(command, version) for command, version in recorded.versions.items()],
        "date": names.date_words(recorded.date),
    }


def _label(text: str, href: str) -> Label:
    return {"text": text, "href": href}


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
    "kernel-mechanisms.json": KernelMechanisms,
    "mechanisms.json": MechanismsFile,
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
