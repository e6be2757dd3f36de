"""The site's `/data/`: whole tables, Parquet, Data Package, zip and checksums, all of the same data."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.builders import PROJECT, json_rows, strings_of, write_counted_submission, write_data
from probe_effect import units
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.assemble import _copy_data
from probe_effect.site.data_folder import QUERY, _answer, write_data_section, write_tables
from probe_effect.site.files import rows
from probe_effect.site.pages.parts import Table
from probe_effect.site.releases import feed
from probe_effect.store.places import DataFolder
from probe_effect.store.result_tables import SAMPLE_COLUMNS
from probe_effect.store.tables import csv_line

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

NAME = re.compile(r"[a-z0-9._-]+")
"""Of a package or resource: https://datapackage.org/standard/data-resource/#name."""

FIELD_TYPES = {"string", "number", "integer", "boolean", "date"}
"""Those of Table Schema that we use."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    data = write_data(tmp_path_factory.mktemp("data"))
    write_counted_submission(data)
    return read_catalogue(DataFolder(data))


def assembled(catalogue: Catalogue, work: Path) -> Path:
    """The work folder with everything about data in it; its `/data/`."""
    for folder in ("assets/data", "assets/fragments", "static/data"):
        (work / folder).mkdir(parents=True)
    _copy_data(catalogue, work)
    (work / "static" / "data" / "changes.xml").write_text(feed(catalogue), encoding="utf-8")
    write_data_section(catalogue, work)
    return work / "static" / "data"


@pytest.fixture(scope="module")
def published(small: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return assembled(small, tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def package(published: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((published / "datapackage.json").read_text(encoding="utf-8"))
    return found


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_zip_holds_all_that_lies_beside_it(published: Path) -> None:
    with zipfile.ZipFile(published / "probe-effect.zip") as archive:
        assert archive.testzip() is None
        held = {name.removeprefix("probe-effect/") for name in archive.namelist()}
        for name in held:
            assert archive.read(f"probe-effect/{name}") == (published / name).read_bytes()
    assert held == files(published) - {"probe-effect.zip", "SHA256SUMS"}
    assert {"README.md", "DICTIONARY.md", "LICENSE", "datapackage.json", "suites/per-event/suite.toml"} <= held
    assert "suites/loop.h" in held


def test_the_same_data_is_the_same_bytes(small: Catalogue, published: Path, tmp_path: Path) -> None:
    again = assembled(small, tmp_path)
    assert files(again) == files(published)
    assert [
        name for name in sorted(files(again)) if (again / name).read_bytes() != (published / name).read_bytes()
    ] == []


def test_raw_files_and_suites_are_what_was_submitted(small: Catalogue, published: Path) -> None:
    for one in small.active:
        copied = published / "results" / one.id
        assert (copied / "samples.csv").read_bytes() == one.files.samples.read_bytes()
        assert (copied / "machine.json").read_bytes() == one.files.machine_file.read_bytes()
    (suite,) = small.suites
    for script in suite.scripts():
        assert (published / "suites" / suite.suite.id / script.name).read_bytes() == script.read_bytes()


def test_checksums_are_those_of_every_data_file_of_the_site(published: Path) -> None:
    lines = (published / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    assert files(published) - {"SHA256SUMS"} == {name for name in sums if not name.startswith("../")}
    assert "../costs/02-kprobe/data.json" in sums
    for name, digest in sums.items():
        assert hashlib.sha256((published / name).read_bytes()).hexdigest() == digest
    program = shutil.which("sha256sum")
    assert program
    checked = subprocess.run([program, "--check", "--quiet", "SHA256SUMS"], cwd=published, check=False)
    assert checked.returncode == 0


def test_the_data_package_keeps_the_rules_of_the_standard(package: dict[str, Any]) -> None:
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert NAME.fullmatch(package["name"])
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T00:00:00Z", package["created"])
    assert all({"name", "path"} & one.keys() for one in package["licenses"])
    names = [resource["name"] for resource in package["resources"]]
    assert len(names) == len(set(names))
    assert all(NAME.fullmatch(name) for name in names)
    for resource in package["resources"]:
        assert resource["mediatype"].count("/") == 1
        assert not resource["path"].startswith(("/", "http"))
        assert ".." not in resource["path"].split("/")
        assert all(source["title"] for source in resource.get("sources", []))
        assert ("schema" in resource) == (resource.get("type") == "table")
    assert "" not in list(strings_of({key: value for key, value in package.items() if key != "resources"}))


def test_every_resource_has_the_bytes_and_the_hash_of_its_file(package: dict[str, Any], published: Path) -> None:
    for resource in package["resources"]:
        content = (published / resource["path"]).read_bytes()
        assert resource["bytes"] == len(content)
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_every_published_table_is_a_resource(package: dict[str, Any], published: Path) -> None:
    listed = {resource["path"] for resource in package["resources"]}
    assert listed == {name for name in files(published) if name.endswith((".csv", ".parquet"))} | {
        "costs.json",
        "counts.json",
        "figures.json",
    }


def test_every_schema_names_the_columns_of_its_table(package: dict[str, Any], published: Path) -> None:
    for resource in package["resources"]:
        if "schema" not in resource:
            continue
        schema = resource["schema"]
        if isinstance(schema, str):
            schema = json.loads((published / schema).read_text(encoding="utf-8"))
        assert {field["type"] for field in schema["fields"]} <= FIELD_TYPES
        assert schema["missingValues"] == [""]
        names = [field["name"] for field in schema["fields"]]
        path = published / resource["path"]
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as table:
                assert next(csv.reader(table)) == names
        else:
            assert pq.read_schema(path).names == names


def test_parquet_has_the_numbers_of_the_csv_with_types_and_units(small: Catalogue, published: Path) -> None:
    table = pq.read_table(published / "costs.parquet")
    assert table.schema.field("cost_ns").type == pa.float64()
    assert table.schema.field("cost_ns").metadata[b"unit"] == b"ns"
    assert table.schema.field("current").type == pa.bool_()
    assert table.schema.metadata[b"data_version"].decode() == small.version
    found, wanted = table.to_pylist(), rows(small).costs
    assert [row["cost_ns"] for row in found] == [row["cost_ns"] for row in wanted]
    assert {row["date"] for row in found} == {date(2026, 11, 20)}


def test_the_samples_are_every_run_with_where_it_was_made(small: Catalogue, published: Path) -> None:
    samples = pq.read_table(published / "samples.parquet").to_pylist()
    for one in small.active:
        own = [row for row in samples if row["submission"] == one.id]
        with one.files.samples.open(encoding="utf-8", newline="") as file:
            raw = list(csv.DictReader(file))
        assert {(row["machine"], row["metric"]) for row in own} == {(one.machine, one.metric)}
        for column in SAMPLE_COLUMNS:
            cells = ["" if row[column.name] is None else str(row[column.name]) for row in own]
            assert cells == [row.get(column.name, "") for row in raw], column.name


def test_the_readme_says_version_date_and_how_to_cite(small: Catalogue, published: Path) -> None:
    text = (published / "README.md").read_text(encoding="utf-8")
    assert f"Data version {small.version}, of {small.edition.date}." in text
    assert "@misc" in text or "@dataset" in text
    assert "CC BY" in text or "Creative Commons" in text
    for path in re.findall(r"^- `([^`]+)`", text, flags=re.MULTILINE):
        first, *others = (part.strip() for part in re.sub(r"<.*", "", path).split(","))
        stem = first.rpartition(".")[0]
        assert all((published / name).exists() for name in [first, *(f"{stem}{ending}" for ending in others)]), path


def test_the_dictionary_explains_raw_files_and_whole_tables(published: Path) -> None:
    text = (published / "DICTIONARY.md").read_text(encoding="utf-8")
    for name in ("samples.csv", "machine.json", "costs", "counts", "samples"):
        assert f"\n## {name}\n" in text
    assert "| `slowdown_low_ratio` | Low end of its 95 % interval. | number, ratio |" in text


def test_the_data_set_says_of_itself_what_search_engines_ask(small: Catalogue, published: Path) -> None:
    path = published.parents[1] / "assets" / "data" / "dataset.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["@type"] == "Dataset"
    assert 50 <= len(found["description"]) <= 5000
    assert found["license"].startswith("https://creativecommons.org/licenses/by/4.0")
    assert found["version"] == small.version
    assert found["dateModified"] == small.edition.date
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}/\d{4}-\d{2}-\d{2}", found["temporalCoverage"])
    assert found["isAccessibleForFree"] is True
    assert {"cost_ns", "slowdown_ratio", "cost_instructions"} <= {one["name"] for one in found["variableMeasured"]}
    for download in found["distribution"]:
        content = (published / download["contentUrl"].removeprefix("/data/")).read_bytes()
        assert download["sha256"] == hashlib.sha256(content).hexdigest()
        assert download["encodingFormat"].count("/") == 1


def test_the_table_of_downloads_links_files_that_are_there(published: Path) -> None:
    text = (published.parents[1] / "assets" / "fragments" / "downloads.md").read_text(encoding="utf-8")
    linked = re.findall(r"\(/data/([^)#]+)\)", text)
    assert {"probe-effect.zip", "samples.parquet", "costs.csv", "counts.json", "SHA256SUMS"} <= set(linked)
    assert set(linked) <= files(published)


def test_no_data_at_all_is_a_data_section_too(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "suites").mkdir(parents=True)
    published = assembled(read_catalogue(DataFolder(data)), tmp_path / "work")
    assert pq.read_table(published / "samples.parquet").num_rows == 0
    assert len((published / "costs.csv").read_text(encoding="utf-8").splitlines()) == 1


def test_the_lines_that_the_page_shows_for_python_run(published: Path) -> None:
    page = (PROJECT / "content" / "data" / "_index.md").read_text(encoding="utf-8")
    lines, _ = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", lines], cwd=published, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "02-kprobe" in ran.stdout
    assert "b'ns'" in ran.stdout


def test_the_answer_that_the_page_shows_is_what_duckdb_says(catalogue: Catalogue, tmp_path: Path) -> None:
    write_tables(catalogue, rows(catalogue), tmp_path)
    with duckdb.connect() as engine:
        engine.execute("SET file_search_path = ?", [str(tmp_path)])
        found = engine.execute(QUERY).fetchall()
    shown = _answer(tmp_path)
    assert isinstance(shown, Table)
    assert shown.rows == [
        (tier, tracer, units.count(machines), *map(units.duration, costs)) for tier, tracer, machines, *costs in found
    ]


def test_a_file_from_before_a_column_joined_has_a_schema_of_its_own(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    (samples,) = data.rglob("samples.csv")
    with samples.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    place = header.index("operations")
    older = [[*row[:place], *row[place + 1 :]] for row in (header, *rows)]
    samples.write_text("".join(csv_line(row) for row in older), encoding="utf-8")
    published = assembled(read_catalogue(DataFolder(data)), tmp_path / "work")
    package = json.loads((published / "datapackage.json").read_text(encoding="utf-8"))
    (resource,) = (one for one in package["resources"] if one["name"].startswith("samples-test-machine"))
    assert [field["name"] for field in resource["schema"]["fields"]] == older[0]


def test_a_withdrawn_submission_keeps_its_files_and_is_in_no_whole_table(tmp_path: Path) -> None:
    found = read_catalogue(DataFolder(write_data(tmp_path)))
    found = replace(found, active=(), withdrawn=found.active)
    published = assembled(found, tmp_path / "work")
    (one,) = found.withdrawn
    own = published.parent / "results" / one.id / "data.json"
    found_rows = json_rows(own.read_text(encoding="utf-8"))
    assert found_rows
    assert not any(row["current"] for row in found_rows)
    assert (published / "results" / one.id / "samples.csv").is_file()
    assert pq.read_table(published / "costs.parquet").num_rows == 0
    assert pq.read_table(published / "samples.parquet").num_rows == 0
