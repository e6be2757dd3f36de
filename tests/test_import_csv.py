"""A CSV table with a mapping file: columns, repeated rows, operations, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from import_builders import figures_by_id, is_read_or_refused, source_of
from probe_effect.errors import UsageError
from probe_effect.importers.extracted import MAX_REPEATS
from probe_effect.importers.files import GivenFile
from probe_effect.importers.mapped_csv import Columns, KnownSeries, Mapping, read_mapped_csv, read_mapping

if TYPE_CHECKING:
    from pathlib import Path

TIMES = Mapping(schema_version=1, unit="ns", baseline="none", columns=Columns(name="probe", value="time"))
RUNS = Mapping(
    schema_version=1, unit="ms", baseline="none", columns=Columns(name="probe", value="time", operations="calls")
)
RATES = Mapping(schema_version=1, unit="hz", columns=Columns(name="probe", value="rate"), delimiter=";")


def table(*lines: str) -> GivenFile:
    return GivenFile("times.csv", "\n".join(lines) + "\n")


def test_rows_of_one_name_are_repeated_runs() -> None:
    file = table("probe,host,time", "none,a,100", "none,a,110", "none,a,300", "kprobe,a,150", "kprobe,a,170")
    source = source_of(read_mapped_csv([file], TIMES))
    figures = figures_by_id(source)
    assert figures["time_none"].value == 110
    assert figures["time_none"].formula == "median(value_1_none, value_2_none, value_3_none)"
    assert figures["cost_kprobe"].cost_ns == 50
    assert figures["value_1_none"].printed == "100 ns"
    assert source.document.repeats == "2 to 3"


def test_the_time_of_a_run_is_divided_by_its_operations() -> None:
    file = table("probe,time,calls", "none,2,1000", "kprobe,3.5,1000")
    figures = figures_by_id(source_of(read_mapped_csv([file], RUNS)))
    assert figures["time_none"].value == 2000
    assert figures["time_none"].formula == "value_1_none / operations_1_none"
    assert figures["cost_kprobe"].cost_ns == 1500


def test_times_of_runs_make_no_cost_per_event() -> None:
    mapping = TIMES.model_copy(update={"of": "run"})
    source = source_of(read_mapped_csv([table("probe,time", "none,2000000", "kprobe,3000000")], mapping))
    assert figures_by_id(source)["added_kprobe"].value == 1
    assert all(figure.cost_ns is None for figure in source.figures)


def test_rates_become_times() -> None:
    figures = figures_by_id(source_of(read_mapped_csv([table("probe;rate", "none;5000000")], RATES)))
    assert figures["value_1_none"].printed == "5000000 /s"
    assert figures["time_none"].value == 200


def test_the_mapping_says_what_a_name_is() -> None:
    known = KnownSeries(case="02-kprobe", tracer="bpftrace", probe="kprobe", action="none")
    mapping = TIMES.model_copy(update={"arms": {"kprobe, empty": known}})
    file = table("probe,time", "none,100", '"kprobe, empty",150')
    cost = figures_by_id(source_of(read_mapped_csv([file], mapping)))["cost_kprobe_empty"]
    assert (cost.case, cost.tracer, cost.probe, cost.action) == ("02-kprobe", "bpftrace", "kprobe", "none")


def test_many_runs_with_operations_stay_within_one_formula() -> None:
    name = "a name as long as somebody may give to one kind of run of theirs"
    rows = [f"{one},{n}.5,1000" for one in ("none", name) for n in range(1, MAX_REPEATS + 1)]
    source = source_of(read_mapped_csv([table("probe,time,calls", *rows)], RUNS))
    assert len([figure for figure in source.figures if figure.cost_ns is not None]) == 1


def test_names_that_look_alike_get_ids_of_their_own() -> None:
    names = ["none", "A b", "a-b", "a_b", "é"]
    source = source_of(read_mapped_csv([table("probe,time", *(f"{name},100" for name in names))], TIMES))
    costs = [figure.figure for figure in source.figures if figure.figure.startswith("cost_")]
    assert costs == ["cost_a_b", "cost_a_b_2", "cost_a_b_3", "cost_arm"]


def test_a_cost_below_nothing_is_written_as_it_is() -> None:
    figures = figures_by_id(source_of(read_mapped_csv([table("probe,time", "none,100", "kprobe,98")], TIMES)))
    assert figures["cost_kprobe"].cost_ns == -2


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        pytest.param(["probe,time"], "no row under the header", id="no rows"),
        pytest.param(["probe,value", "none,1"], "not one column `time`", id="another column"),
        pytest.param(["probe,time,time", "none,1,2"], "not one column `time`", id="a column twice"),
        pytest.param(["probe,time", "none"], "times.csv:2: 1 cells", id="a short row"),
        pytest.param(["probe,time", "none,1,2"], "times.csv:2", id="a long row"),
        pytest.param(["probe,time", ",1"], "times.csv:2: no name", id="no name"),
        pytest.param(["probe,time", "none,-1"], "times.csv:2, time: `-1`", id="negative"),
        pytest.param(["probe,time", "none,nan"], "times.csv:2, time: `nan`", id="NaN"),
        pytest.param(["probe,time", "none,1e308"], "times.csv:2, time: `1e308`", id="huge"),
        pytest.param(["probe,time", 'none,"1'], "times.csv", id="an open quote"),
        pytest.param(["probe,time", "kprobe,1"], "`none` is not in the files", id="no baseline"),
        pytest.param(["probe,time", "none,0", "kprobe,1"], "`none` has no sound time", id="a baseline of 0"),
        pytest.param(["probe,time", "none,0.000001", "kprobe,1000000000000000"], "look at", id="units mixed up"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(lines: list[str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        source_of(read_mapped_csv([table(*lines)], TIMES))
    assert says.lower() in str(caught.value).lower()
    assert "Expected " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("unit = ", "mapping.toml:1", id="no TOML"),
        pytest.param(
            'schema_version = 1\nunit = "weeks"\n[columns]\nname = "a"\nvalue = "b"', "mapping.toml:2", id="unit"
        ),
        pytest.param('schema_version = 1\nunit = "ns"\n[columns]\nname = "a"', "columns.value", id="no value"),
        pytest.param('schema_version = 1\nunit = "ns"\nmore = 1\n[columns]\nname = "a"\nvalue = "b"', "more", id="key"),
        pytest.param(
            'schema_version = 1\nunit = "hz"\nof = "run"\n[columns]\nname = "a"\nvalue = "b"', "a rate is of", id="rate"
        ),
    ],
)
def test_a_mapping_that_is_none_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_mapping(path)
    assert says in str(caught.value)


def test_a_mapping_for_a_name_that_no_row_has_is_refused() -> None:
    mapping = TIMES.model_copy(update={"arms": {"uprobe": KnownSeries()}})
    with pytest.raises(UsageError, match="`uprobe` is not in the files"):
        read_mapped_csv([table("probe,time", "none,1")], mapping)


CELLS = st.text(max_size=15) | st.floats().map(str) | st.decimals().map(str) | st.just("none")


@settings(max_examples=300)
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=6), st.sampled_from([TIMES, RUNS, RATES]), st.text(max_size=30)
)
def test_any_table_is_read_or_refused(rows: list[tuple[str, str, str]], mapping: Mapping, rest: str) -> None:
    between = mapping.delimiter
    header = between.join(("probe", mapping.columns.value, "calls"))
    text = "\n".join((header, *(between.join(row) for row in rows), rest))
    assert is_read_or_refused(lambda: source_of(read_mapped_csv([GivenFile("times.csv", text)], mapping)))


@settings(max_examples=100)
@given(st.lists(st.decimals(Decimal("0.001"), Decimal(10**9), places=3), min_size=2, max_size=12))
def test_a_cost_is_the_difference_of_the_times(values: list[Decimal]) -> None:
    rows = [f"{'none' if place == 0 else f'k{place}'},{value}" for place, value in enumerate(values)]
    figures = figures_by_id(source_of(read_mapped_csv([table("probe,time", *rows)], TIMES)))
    for place, value in enumerate(values[1:], start=1):
        cost = figures[f"cost_k{place}"].cost_ns
        assert cost is not None
        assert abs(cost - (value - values[0])) <= max(abs(value - values[0]) / 1000, Decimal("0.0005"))
