"""The site's `/data/`: raw files, whole tables, also as Parquet, and what describes them: the dictionary and schemas.

It is laid out as `data/` is in the repository, so that paths hold in both and inside the zip.

Table Schema: https://datapackage.org/standard/table-schema/ (version 2). JSON Schema: draft 2020-12, by pydantic.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from markupsafe import Markup

from probe_effect import units
from probe_effect.checks.run import ALL_RULES
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.site import files
from probe_effect.site.files import LICENCE, RUN_FIELDS, TITLES, WORDS, DataTable, Field, Rows, forms, write
from probe_effect.site.pages.citing import cite_data
from probe_effect.site.pages.parts import Code, Heading, Items, Link, Part, Table, column, fragment, of_data
from probe_effect.site.pages.text import link, listed, safe, say
from probe_effect.site.script_values import Values
from probe_effect.store.beside_files import (
    TABLES,
    ChangesFile,
    ClaimsFile,
    ExplanationsFile,
    ReferencesFile,
    SourceFile,
)
from probe_effect.store.documents import Document, document_keys, document_schema, form_rules, keys_said
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import own_headers, sha256
from probe_effect.store.release_file import Manifest
from probe_effect.store.result_tables import HISTOGRAM_COLUMNS, SAMPLE_COLUMNS
from probe_effect.store.suite_file import Suite, suite_file, workload_source
from probe_effect.store.tables import Column, further_column
from probe_effect.store.transcripts import (
    MECHANISMS,
    KernelMechanisms,
    MechanismsFile,
    Recorded,
    ToolPackage,
    TranscriptFile,
)

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
    texts = {"README.md": fragment(_dictionary()), "LICENSE": LICENCE["text"]}
    return texts | {path: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for path, schema in schemas.items()}


def table_schema(columns: Iterable[Column]) -> dict[str, Any]:
    """A Frictionless Table Schema of the columns; an empty cell is a missing value."""
    fields: list[dict[str, Any]] = []
    for table_column in columns:
        limits = {
            "required": table_column.required or None,
            "enum": list(table_column.choices) or None,
            "pattern": table_column.pattern or None,
            "minimum": None if table_column.kind == "string" else table_column.minimum,
        }
        constraints = {name: limit for name, limit in limits.items() if limit is not None}
        fields.append({"name": table_column.name, "type": table_column.kind, "description": table_column.text})
        fields[-1] |= {"constraints": constraints} if constraints else {}
    return {"fields": fields, "missingValues": [""]}


def _dictionary() -> Iterator[Part]:
    """The dictionary: what lies where, what every column and key means, and every rule; all in words of our own."""
    yield safe("<!-- Made by `probe-effect dictionary --write` from the schema in the code. Do not edit. -->")
    yield Heading("The data", 1)
    yield _table(("Path", "What it is"), ((f"`{path}`", meaning) for path, meaning in WORDS["repository"].items()))
    yield safe("A missing value is an empty cell or null, never 0. The data is licensed under CC BY 4.0.")
    for name, columns in TABLES.items():
        yield Heading(safe(name))
        cells = []
        for table_column in columns:
            need = ", required" if table_column.required else ", may be absent" if table_column.may_be_absent else ""
            choices = f" One of `{'`, `'.join(table_column.choices)}`." if table_column.choices else ""
            cells.append((f"`{table_column.name}`", table_column.kind + need, table_column.text + choices))
        yield _table(("Column", "Kind", "Meaning"), cells)
    yield Heading("machine.json")
    yield _keys(document_keys(MachineFile))
    for name, models in WORDS["parts_of"].items():
        yield Heading(safe(name))
        if name == "source.toml":
            yield _keys(document_keys(SourceFile))
        for description, model in models.items():
            yield safe(description)
            yield _keys(keys_said()[model])
    yield Heading("Rules")
    yield safe("What `probe-effect check` demands beyond these tables.")
    for subject, rules in ALL_RULES.items():
        yield Heading(safe(f"Of {subject}"), 3)
        rows = ((f"`{rule.id}`", rule.text, rule.good, rule.bad) for rule in rules)
        yield _table(("Rule", "What it demands", "Good", "Bad"), rows)
    yield Heading("Of every file", 3)
    yield safe("`<file>` is `samples`, `machine`, `figures`, `source`, `suite`, ..")
    yield _table(("Rule", "What it demands"), ((f"`<file>/{name}`", text) for name, text in form_rules().items()))


def _keys(keys: Mapping[str, str]) -> Table:
    return _table(("Key", "Meaning"), ((f"`{key}`", meaning) for key, meaning in keys.items()))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    return Table([of_data(head, "left") for head in heads], [tuple(map(safe, row)) for row in rows])


TYPES: dict[str, Any] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}

# The rows of a row group: an engine that asks for some submissions skips groups by their least and greatest id.
ROWS_OF_A_GROUP = 64 * 1024

# The files of submissions that are one table each, by the stem of their name, to its title and their columns.
RUNS = {
    "samples": ("Every run of every submission", SAMPLE_COLUMNS),
    "histogram": ("How long single operations took, in every run that timed them", HISTOGRAM_COLUMNS),
}


def write_runs(name: str, catalogue: Catalogue, path: Path) -> DataTable:
    """Write one table of all files called `name`, of every submission in force that has one, to `path`.

    Returns: the table without its rows, which are never all in memory.
    """
    title, columns = RUNS[name]
    fields = (*RUN_FIELDS, *files.fields_of(columns))
    schema, count = _schema(fields, title, catalogue.version), 0
    options = pyarrow.csv.ConvertOptions(
        column_types={column.name: schema.field(column.name).type for column in columns},
        include_columns=[column.name for column in columns],
        include_missing_columns=True,
        null_values=[""],
        strings_can_be_null=True,
    )
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[pa.Table] = []
        for submission in sorted(catalogue.active, key=lambda submission: submission.id):
            file = getattr(submission.files, name)
            if file.exists():
                rows = pyarrow.csv.read_csv(file, convert_options=options)  # checked before: nobody looks for faults
                origin = {
                    "submission": submission.id,
                    "machine": submission.machine,
                    "suite": submission.suite,
                    "metric": submission.metric,
                }
                shared = [pa.array([origin[field.name]] * rows.num_rows, type=pa.string()) for field in RUN_FIELDS]
                waiting.append(pa.Table.from_arrays([*shared, *rows.columns], schema=schema))
                count += rows.num_rows
            if sum(table.num_rows for table in waiting) >= ROWS_OF_A_GROUP:
                writer.write_table(pa.concat_tables(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    return DataTable(title, fields, (), count=count)


def write_parquet(table: DataTable, path: Path, version: str) -> None:
    """Write `table` to `path`; units and meanings go into the metadata of each field, the data's `version` beside."""
    schema = _schema(table.fields, table.title, version)
    # Our dates are text; Arrow reads them.
    read = pa.schema([field.with_type(pa.string()) if field.type == TYPES["date"] else field for field in schema])
    pq.write_table(pa.Table.from_pylist(table.rows, read).cast(schema), path, compression="zstd")


def _schema(fields: Iterable[Field], title: str, version: str) -> pa.Schema:
    described = {field: {"description": field.text} | ({"unit": field.unit} if field.unit else {}) for field in fields}
    return pa.schema(
        [pa.field(field.name, TYPES[field.kind], metadata=metadata) for field, metadata in described.items()],
        metadata={"title": title, "data_version": version, "licence": LICENCE["url"], "creator": LICENCE["creator"]},
    )


ZIP, SUMS = "probe-effect.zip", "SHA256SUMS"

FOLDERS = ("published", "results", "schema", "suites")
DESCRIPTIONS = {"README.md", "DICTIONARY.md", "LICENSE", "changes.xml", "datapackage.json", "mechanisms.json"}


def write_tables(catalogue: Catalogue, rows: Rows, data: Path) -> dict[str, DataTable]:
    """Write every whole table into the folder `data`: CSV, JSON and Parquet; runs, which are CSV already, as Parquet.

    Returns: file name without its ending, to the table.
    """
    tables = files.whole_tables(rows)
    for name, table in tables.items():
        files.write_table(table, data / name, files.about(catalogue, "/data/"))
        write_parquet(table, data / f"{name}.parquet", catalogue.version)
    return tables | {name: write_runs(name, catalogue, data / f"{name}.parquet") for name in RUNS}


def describe(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> None:
    """Write what explains the files of the folder `data`: about, dictionary, schemas, licence, Data Package."""
    texts = written_files()
    texts["DICTIONARY.md"] = f"{texts['README.md']}\n# The whole tables\n\n{fragment(column_parts(tables))}"
    texts["README.md"] = readme(catalogue)
    mechanisms = MechanismsFile(mechanisms=MECHANISMS, kernels=catalogue.mechanisms)
    texts["mechanisms.json"] = mechanisms.model_dump_json(indent=2) + "\n"
    for name, text in texts.items():
        write(data / name, text)
    write(data / "datapackage.json", data_package(catalogue, tables, data))


def readme(catalogue: Catalogue) -> str:
    edition, cited = catalogue.edition, cite_data(catalogue)
    of = f", of {edition.date}" if edition.date else ""
    return fragment(
        [
            Heading(safe(WORDS["title"]), 1),
            safe(WORDS["summary"]),
            safe(f"Data version {edition.version}{of}."),
            Heading("What lies where"),
            Items([safe(f"`{path}`: {text}") for path, text in WORDS["layout"].items()]),
            safe("A missing value is an empty cell or null, never 0.\nUnits end the names of columns."),
            Heading("Citing"),
            safe(cited.text),
            Code(cited.bibtex.strip(), "bibtex"),
            Heading("Terms"),
            safe(f"{LICENCE['title']} ({LICENCE['url']}); scripts and programs under `suites/`: Apache-2.0."),
        ]
    )


def column_parts(tables: Mapping[str, DataTable]) -> Iterator[Part]:
    heads = [of_data(label, "left") for label in ("Column", "Meaning", "Kind")]
    for name, table in tables.items():
        yield Heading(name)
        yield f"{table.title}."
        rows = (
            (safe(f"`{field.name}`"), safe(field.text), ", ".join(filter(None, (field.kind, field.unit))))
            for field in table.fields
        )
        yield Table(heads, list(rows))


def write_sums(tables: Iterable[str], static: Path) -> None:
    """Write the sums of the zip, what is in it, and data files beside pages, for `sha256sum --check` in `/data/`."""
    data = static / "data"
    names = {f"{name}.{ending}" for name in TITLES for ending in ("csv", "json")}
    beside_pages = (path for path in _files(static) if path.name in names and data not in path.parents)
    lines = [f"{sha256(path)}  {path.relative_to(data)}\n" for path in (data / ZIP, *_data_files(tables, data))]
    lines += [f"{sha256(path)}  ../{path.relative_to(static)}\n" for path in beside_pages]
    write(data / SUMS, "".join(lines))


def _data_files(tables: Iterable[str], data: Path) -> list[Path]:
    """Raw files, whole tables and what describes them. What pages need for themselves may be beside them."""
    whole = (path for name in tables for path in forms(name, data))
    described = (path for path in data.iterdir() if path.name in DESCRIPTIONS)
    return sorted([*whole, *described, *(path for folder in FOLDERS for path in _files(data / folder))])


def _files(folder: Path) -> list[Path]:
    return sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix())


PROFILES = "https://datapackage.org/profiles/2.0"


def data_package(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> str:
    """The Data Package of the files in the folder `data`, as JSON; `tables` are by file name without ending.

    It has every table with its bytes, checksum and schema, at paths that hold on the site and inside the zip.
    Version 2: https://datapackage.org/standard/data-package/.
    """
    package: dict[str, Any] = {
        "$schema": f"{PROFILES}/datapackage.json",
        "name": "probe-effect",
        "title": WORDS["title"],
        "description": WORDS["summary"],
        "version": catalogue.version,
        "keywords": WORDS["keywords"],
        "licenses": [{"name": LICENCE["name"], "title": LICENCE["title"], "path": LICENCE["url"]}],
        "contributors": [{"title": LICENCE["creator"], "roles": ["creator"]}],
        "resources": [*_whole(tables, data), *_raw(catalogue, data)],
    }
    if catalogue.edition.date:
        package["created"] = f"{catalogue.edition.date}T00:00:00Z"
    return json.dumps(package, indent=1, ensure_ascii=False) + "\n"


def _whole(tables: Mapping[str, DataTable], data: Path) -> Iterator[Values]:
    """Each whole table in each of its forms; the JSON, which is more than rows, describes its own."""
    for name, table in tables.items():
        for path in forms(name, data):
            ending = path.suffix.removeprefix(".")
            described = {} if ending == "json" else {"type": "table", "schema": files.schema(table.fields)}
            yield _resource(f"{name}-{ending}", table.title, path, data) | described


def _raw(catalogue: Catalogue, data: Path) -> Iterator[Values]:
    for submission in catalogue.everything:
        title = f"Suite {submission.suite} on {names.machine_name(submission)}"
        for own in submission.files.content:
            if own.name in TABLES:
                yield _csv(
                    f"{own.stem}-{submission.id.replace('/', '-')}",
                    title,
                    data / "results" / submission.id / own.name,
                    data,
                )
    for source in catalogue.sources:
        document, path = source.document, data / "published" / source.id / "figures.csv"
        origin = [{"title": f"{document.author}: {document.title}"}]
        yield _csv(f"figures-{source.id}", document.title, path, data) | {"sources": origin}


def _csv(name: str, title: str, path: Path, data: Path) -> Values:
    """A raw file. Its schema is a file of the package too, unless it has fewer columns or more than that describes."""
    columns = {column.name: column for column in TABLES[path.name]}
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    described: str | dict[str, Any] = f"schema/{path.name}.schema.json"
    if header != list(columns):
        described = table_schema(columns.get(name) or further_column(name) for name in header)
    return _resource(name, title, path, data) | {"type": "table", "schema": described}


def _resource(name: str, title: str, path: Path, data: Path) -> Values:
    ending = path.suffix.removeprefix(".")
    return {
        "$schema": f"{PROFILES}/dataresource.json",
        "name": name,
        "title": title,
        "path": path.relative_to(data).as_posix(),
        "format": ending,
        "mediatype": WORDS["media_types"][ending],
        **({"encoding": "utf-8"} if ending == "csv" else {}),
        "bytes": path.stat().st_size,
        "hash": f"sha256:{sha256(path)}",
    }


# What one tracepoint costs with each tracer, over all machines of a tier: names of files are relative to `/data/`.
QUERY = WORDS["query"]
MOST_ROWS = 20  # its limit


def write_data_section(catalogue: Catalogue, work: Path) -> None:
    """Write the data files beside pages and those of `/data/` into the work folder; raw files are there already."""
    static, assets = work / "static", work / "assets"
    data, rows = static / "data", files.rows(catalogue)
    index = files.write_page_data(files.page_tables(catalogue, rows), catalogue, static)
    for folder in catalogue.suites:
        root, source = folder.folder.parent.resolve(), workload_source(folder.folder, folder.suite)
        for path in (suite_file(folder.folder), *folder.scripts(), source, *own_headers(source)):
            files.copy(path, data / "suites" / path.resolve().relative_to(root))
    tables = write_tables(catalogue, rows, data)
    describe(catalogue, tables, data)
    paths = _data_files(tables, data)
    files.write_zip(data / ZIP, {f"probe-effect/{path.relative_to(data)}": path for path in paths})
    write_sums(tables, static)
    write(assets / "data" / "page-files.json", index)
    write(assets / "data" / "dataset.json", dataset(catalogue, tables, data))
    fragments: dict[str, Iterable[Part]] = {
        "downloads": [_downloads(tables, data)],
        "query": [Code(QUERY.strip(), "sql"), _answer(data)],
        "rules": rule_parts(),
        "table-columns": column_parts(tables),
    }
    for name, parts in fragments.items():
        write(assets / "fragments" / f"{name}.md", fragment(parts))


def _downloads(tables: Mapping[str, DataTable], data: Path) -> Table:
    """What there is, how many rows, and each file of it with its size."""
    downloads = [("Everything", "", [data / ZIP])]
    downloads += [
        (table.title, units.count(table.count or len(table.rows)), forms(name, data)) for name, table in tables.items()
    ]
    downloads += [(what, "", [data / name]) for name, what in WORDS["further"].items()]

    def file(path: Path) -> Markup:
        return say("{} ({})", link(path.name, f"/data/{path.name}"), units.size(path.stat().st_size))

    rows = [(title, size, listed(map(file, paths))) for title, size, paths in downloads]
    return Table([column("file-what"), column("rows"), column("files")], rows)


def rule_parts() -> Iterator[Part]:
    heads = [column(name) for name in ("check-rule", "demand", "good-example", "bad-example")]
    for of, group in ALL_RULES.items():
        yield Heading(f"Of {of}", 3)
        has_places = of not in {"a published source", "the files of a data folder"}
        rows = []
        for rule in group:
            name = Link(rule.id, f"#=rule.{rule.id}") if has_places else rule.id
            rows.append((name, *(text.replace("`", "") for text in (rule.text, rule.good, rule.bad))))
        yield Table(heads, rows)
    yield Heading("Of every file", 3)
    yield Table(heads[:2], [(name, text.replace("`", "")) for name, text in form_rules().items()])


def _answer(data: Path) -> Part:
    """The rows that `QUERY` gives, asked of the very file that is published.

    Without an engine for SQL, which a build would need for nothing else; a test has DuckDB answer it too.
    """
    clear = [("case", "=", "04-tracepoint-entry"), ("current", "=", True), ("distinguishable", "=", True)]
    costs: dict[tuple[str, str], list[float]] = {}
    for row in pq.read_table(data / "costs.parquet", filters=clear).to_pylist():
        if row["reconciled"] is not False:
            costs.setdefault((row["tier"], row["tracer"]), []).append(row["cost_ns"])
    if not costs:
        return "Nothing that it asks for has been measured yet."
    heads = [column("kind", "Tier"), column("tracer"), *map(of_data, ("Machines", "Least", "Median", "Greatest"))]
    ordered = sorted((tier, median(some), tracer, some) for (tier, tracer), some in costs.items())[:MOST_ROWS]
    return Table(
        heads,
        [
            (tier, tracer, units.count(len(some)), *map(units.duration, (min(some), middle, max(some))))
            for tier, middle, tracer, some in ordered
        ],
    )


def dataset(catalogue: Catalogue, tables: Mapping[str, DataTable], data: Path) -> str:
    """The data set as search engines know it, with its downloads in `data`, as JSON; only layouts know addresses.

    https://schema.org/Dataset, and Google: https://developers.google.com/search/docs/appearance/structured-data/dataset
    """
    whole = (path for name in tables for path in forms(name, data))
    days = sorted(submission.date for submission in catalogue.active)
    fields = (field for name in ("costs", "counts") for field in tables[name].fields)
    quantities = {field.name: (field.unit, field.text) for field in fields if field.unit}
    described = {
        "@type": "Dataset",
        "name": WORDS["title"],
        "description": WORDS["summary"],
        "license": LICENCE["url"],
        "creator": {"@type": "Organization", "name": LICENCE["creator"]},
        "version": catalogue.version,
        "dateModified": catalogue.edition.date,
        "temporalCoverage": f"{days[0]}/{days[-1]}" if days else "",
        "keywords": WORDS["keywords"],
        "measurementTechnique": WORDS["technique"],
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, "unitText": unit, "description": text}
            for name, (unit, text) in quantities.items()
        ],
        "isAccessibleForFree": True,
        "distribution": [
            {
                "@type": "DataDownload",
                "name": path.name,
                "encodingFormat": WORDS["media_types"][path.suffix.removeprefix(".")],
                "contentUrl": f"/data/{path.name}",
                "contentSize": units.size(path.stat().st_size).replace(units.GAP, " "),
                "sha256": sha256(path),
            }
            for path in (data / ZIP, *whole)
        ],
    }
    return json.dumps({key: value for key, value in described.items() if value != ""}, ensure_ascii=False)
