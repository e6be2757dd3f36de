"""The numbers of each page as files: complete, typed, harmless, and never times and instructions in one table."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.builders import (
    FOLDER,
    MACHINE,
    json_rows,
    many_blocks,
    skipped_row,
    write_counted_submission,
    write_data,
    write_source,
    write_submission,
)
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.files import (
    COST_FIELDS,
    COUNT_FIELDS,
    FIGURE_FIELDS,
    DataTable,
    Field,
    TableRow,
    about,
    csv_text,
    json_text,
    page_tables,
    rows,
    safe_cell,
    schema,
    whole_tables,
    write_page_data,
)
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.site.files import Tables


@pytest.fixture(scope="module")
def real_pages(catalogue: Catalogue) -> dict[str, Tables]:
    return page_tables(catalogue, rows(catalogue))


def small(data: Path) -> Catalogue:
    return read_catalogue(DataFolder(data))


TABLE = DataTable(
    "A table",
    (
        Field("name", "string", "A name."),
        Field("cost_ns", "number", "A cost."),
        Field("blocks", "integer", "Blocks."),
        Field("current", "boolean", "Whether."),
    ),
    (
        TableRow({"name": "=1+1", "cost_ns": -2.5, "blocks": 3, "current": True}),
        TableRow({"name": 'a "quoted", cell', "cost_ns": None, "blocks": None, "current": None}),
    ),
)


def test_a_missing_value_is_an_empty_cell_in_csv_and_null_in_json() -> None:
    second = list(csv.DictReader(io.StringIO(csv_text(TABLE))))[1]
    assert second == {"name": 'a "quoted", cell', "cost_ns": "", "blocks": "", "current": ""}
    assert json_rows(json_text(TABLE, {}))[1]["cost_ns"] is None


def test_csv_has_no_cell_that_a_spreadsheet_runs_and_json_has_the_text_itself() -> None:
    first = next(csv.DictReader(io.StringIO(csv_text(TABLE))))
    assert first == {"name": "'=1+1", "cost_ns": "-2.5", "blocks": "3", "current": "true"}
    assert json_rows(json_text(TABLE, {}))[0]["name"] == "=1+1"
    assert [safe_cell(cell) for cell in ("+1", "-1", "@a", -1, None)] == ["'+1", "'-1", "'@a", -1, None]


def test_json_says_what_each_column_is_and_has_a_row_a_line() -> None:
    text = json_text(TABLE, {"page": "/here/"})
    found = json.loads(text)
    assert found["title"] == "A table"
    assert found["page"] == "/here/"
    assert found["columns"][1] == {"name": "cost_ns", "type": "number", "unit": "ns", "description": "A cost."}
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == found["rows"]


def test_a_table_without_rows_is_still_a_table() -> None:
    empty = replace(TABLE, rows=())
    assert csv_text(empty) == "name,cost_ns,blocks,current\n"
    assert json.loads(json_text(empty, {}))["rows"] == []


def test_the_schema_of_a_table_names_its_units() -> None:
    fields = schema(TABLE.fields)["fields"]
    assert [field.get("unit") for field in fields] == [None, "ns", None, None]


@pytest.mark.parametrize("field", [*COST_FIELDS, *COUNT_FIELDS, *FIGURE_FIELDS], ids=lambda field: field.name)
def test_every_column_is_explained_and_every_measured_quantity_has_a_unit(field: Field) -> None:
    assert field.text.rstrip("`").endswith(".")
    bare = {"value", "recomputed"}  # of a published figure, whose unit is a column of its own
    assert field.kind != "number" or field.unit or field.name in bare


def test_times_and_instructions_never_share_a_table(real_pages: dict[str, Tables]) -> None:
    for address, tables in real_pages.items():
        for name, table in tables.items():
            names = {field.name for field in table.fields}
            assert not ({"cost_ns", "slowdown_ratio"} & names and {"cost_instructions"} & names), (address, name)
            tiers = {row.get("tier") for row in table.rows}
            assert "emulated" not in tiers or tiers == {"emulated"}, (address, name)


def test_every_row_has_just_the_fields_of_its_table_in_their_order(real_pages: dict[str, Tables]) -> None:
    for address, tables in real_pages.items():
        for table in tables.values():
            names = [field.name for field in table.fields]
            assert all(list(row) == names for row in table.rows), address


def test_every_value_is_of_the_kind_that_its_field_says(real_pages: dict[str, Tables]) -> None:
    kinds = {"integer": int, "number": (int, float), "string": str, "boolean": bool, "date": str}
    for table in (table for tables in real_pages.values() for table in tables.values()):
        for field in table.fields:
            for value in (row[field.name] for row in table.rows if row[field.name] is not None):
                assert isinstance(value, kinds[field.kind]), (field, value)  # type: ignore[arg-type]
                assert isinstance(value, bool) == (field.kind == "boolean"), (field, value)
                assert not isinstance(value, float) or math.isfinite(value), (field, value)


def test_a_row_says_what_its_number_says(data: Path) -> None:
    catalogue = small(data)
    (one,) = catalogue.timed
    found = {row["id"]: row for row in rows(catalogue).costs}
    assert len(found) == len(one.numbers)
    for case in one.numbers:
        row = found[case.id]
        if case.cost is None:
            assert row["cost_ns"] is None
            assert row["status"] == "skipped"
            assert row["note"] == case.note
            continue
        assert row["cost_ns"] == pytest.approx(case.cost.value, rel=1e-6)
        assert (row["cost_low_ns"], row["cost_high_ns"]) == pytest.approx((case.cost.low, case.cost.high), rel=1e-6)
        assert case.baseline is not None
        assert row["baseline_ns"] == pytest.approx(case.baseline.value, rel=1e-6)
        assert row["tracer_version"] == one.document.tools[case.tracer]
        assert (row["machine"], row["date"], row["grade"]) == (MACHINE, FOLDER[:10], case.grade)


def test_an_older_number_stays_and_says_that_it_is_not_current(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    write_submission(data, many_blocks(), folder="2026-11-20-per-event-2")
    found = [row for row in rows(small(data)).costs if row["case"] == "02-kprobe"]
    assert [row["current"] for row in found] == [False, True]


def test_current_numbers_are_those_that_pages_show(catalogue: Catalogue) -> None:
    found, numbers = rows(catalogue), catalogue.numbers
    assert {row["id"] for row in found.costs if row["current"]} == {one.id for one in numbers.current()}
    counts = {one.id for one in numbers.current("instructions")}
    assert {row["id"] for row in found.counts if row["current"]} == counts


def test_of_a_withdrawn_submission_no_number_is_current(data: Path) -> None:
    withdrawn = f'date = "2026-11-23"\nkind = "withdrawn"\nwhat = ["{MACHINE}/{FOLDER}"]\nwhy = "Noise."'
    (data / "changes.toml").write_text(f"schema_version = 1\n\n[[changes]]\n{withdrawn}\n", encoding="utf-8")
    catalogue = small(data)
    tables = page_tables(catalogue, rows(catalogue))
    assert [row["current"] for row in tables[f"/results/{MACHINE}/{FOLDER}/"]["data"].rows] == [False, False]
    assert tables["/costs/02-kprobe/"]["data"].rows == ()


def test_each_number_is_in_the_files_of_its_case_its_suite_its_machine_and_its_submission(data: Path) -> None:
    write_counted_submission(data)
    catalogue = small(data)
    pages = page_tables(catalogue, rows(catalogue))
    made = rows(catalogue)
    (timed,) = (row for row in made.costs if row["case"] == "02-kprobe")
    counted = next(row for row in made.counts if row["case"] == "02-kprobe")
    for address in ("/costs/", "/costs/02-kprobe/", "/suites/per-event/", f"/machines/{MACHINE}/"):
        assert timed in pages[address]["data"].rows, address
    assert timed in pages[f"/results/{timed['submission']}/"]["data"].rows
    for address in ("/kernels/", f"/kernels/{counted['machine']}/", f"/results/{counted['submission']}/"):
        assert counted in pages[address]["data"].rows, address
    assert counted in pages["/costs/02-kprobe/"]["counts"].rows
    assert [row["figure"] for row in pages["/costs/02-kprobe/"]["published"].rows] == ["cost", "printed_cost"]


def test_a_published_figure_has_what_it_comes_to_beside_it(data: Path) -> None:
    catalogue = small(data)
    table = page_tables(catalogue, rows(catalogue))["/sources/a-talk/"]["data"]
    figures = {row["figure"]: row for row in table.rows}
    assert (figures["printed_cost"]["value"], figures["printed_cost"]["recomputed"]) == (2.5, 1.0)
    assert figures["printed_cost"]["verdict"] == "differs"
    assert figures["plain"]["recomputed"] is None


def test_a_case_that_nobody_measured_has_its_files_all_the_same(data: Path) -> None:
    catalogue = small(data)
    tables = page_tables(catalogue, rows(catalogue))["/costs/07-uretprobe/"]
    assert tables["data"].rows == ()
    assert "counts" not in tables


def test_files_lie_beside_their_pages_and_the_index_lists_them(data: Path, tmp_path: Path) -> None:
    catalogue, static = small(data), tmp_path / "static"
    pages = page_tables(catalogue, rows(catalogue))
    index = json.loads(write_page_data(pages, catalogue, static))
    written = {path.relative_to(static).as_posix() for path in static.rglob("*") if path.is_file()}
    listed = {
        f"{address.strip('/')}/{table['name']}.{ending}"
        for address, tables in index.items()
        for table in tables
        for ending in ("csv", "json")
    }
    assert listed == written
    found = json.loads((static / "costs" / "02-kprobe" / "data.json").read_text(encoding="utf-8"))
    assert found["page"] == "/costs/02-kprobe/"
    assert found["data_version"] == catalogue.version
    assert found["licence"]["name"] == "CC-BY-4.0"


def test_csv_and_json_of_a_page_hold_the_same(catalogue: Catalogue, real_pages: dict[str, Tables]) -> None:
    for tables in real_pages.values():
        for table in tables.values():
            from_csv = list(csv.DictReader(io.StringIO(csv_text(table))))
            from_json = json_rows(json_text(table, about(catalogue, "/")))
            assert len(from_csv) == len(from_json)
            for cells, row in zip(from_csv, from_json, strict=True):
                assert {name for name, cell in cells.items() if cell == ""} == {
                    name for name, value in row.items() if value in {None, ""}
                }


def test_hostile_text_stays_in_its_cell(data: Path) -> None:
    note = 'x </script><b>, "quoted" {{ bad }}'
    write_submission(data, [*many_blocks(), skipped_row(99, note=note)], folder=f"{FOLDER}-2")
    write_source(data, name="hostile", title=note)
    tables = whole_tables(rows(small(data)))
    costs = list(csv.DictReader(io.StringIO(csv_text(tables["costs"]))))
    assert [row["note"] for row in costs if row["case"] == "06-uprobe" and row["submission"].endswith("-2")] == [note]
    titles = {row["source_title"] for row in json_rows(json_text(tables["figures"], {}))}
    assert note in titles
