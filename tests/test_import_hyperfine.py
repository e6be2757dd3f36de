"""hyperfine's JSON: what is taken, what is refused, and that no text makes it fail otherwise."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import PROJECT
from import_builders import figures_by_id, is_read_or_refused, source_of
from probe_effect.errors import UsageError
from probe_effect.importers.files import GivenFile, read_given
from probe_effect.importers.hyperfine import read_hyperfine

RECORDED = PROJECT / "tests" / "data" / "import" / "hyperfine.json"


def result(**changes: object) -> dict[str, Any]:
    """One command's entry, all of its runs alike."""
    values = {"command": "true", "mean": 0.5, "stddev": 0.0, "median": 0.5, "user": 0.1, "system": 0.1}
    return values | {"min": 0.5, "max": 0.5, "times": [0.5, 0.5], "exit_codes": [0, 0]} | changes


def exported(*results: object) -> GivenFile:
    return GivenFile("runs.json", json.dumps({"results": results}))


def test_the_recorded_file_gives_what_hyperfine_printed() -> None:
    extracted = read_hyperfine([read_given(RECORDED)])
    assert [one.name for one in extracted.series] == ["dd", "dd under strace"]
    mean = extracted.series[0].readings[0]
    assert mean.printed == "0.06087271462499999 ± 0.04354171144249257 s"
    assert mean.value == Decimal("0.060872714625")
    assert mean.spread_ns == Decimal("43541711.442")
    assert extracted.facts["repeats"] == "8"


def test_without_operations_there_is_no_cost_per_event() -> None:
    source = source_of(read_hyperfine([read_given(RECORDED)]), baseline="dd")
    figures = figures_by_id(source)
    assert figures["added_dd_under_strace"].unit == "ms"
    assert figures["added_dd_under_strace"].value == pytest.approx(Decimal(1552), abs=1)
    assert all(figure.cost_ns is None for figure in source.figures)
    assert "--operations" in source.missing[-1]


def test_told_operations_make_costs_and_are_marked_as_told() -> None:
    source = source_of(read_hyperfine([read_given(RECORDED)]), baseline="dd", operations=20000, tracer="strace")
    figures = figures_by_id(source)
    assert figures["cost_dd_under_strace"].cost_ns == pytest.approx(Decimal(77589), abs=1)
    assert figures["cost_dd_under_strace"].tracer == "strace"
    assert "not in it" in (figures["operations"].note or "")
    assert figures["fastest_cost_dd_under_strace"].statistic == "fastest run"


def test_digits_are_those_of_the_file() -> None:
    extracted = read_hyperfine([GivenFile("a.json", '{"results": [{"command": "x", "mean": 5.10e-3, "min": 5e-3}]}')])
    [one] = extracted.series
    assert [reading.printed for reading in one.readings] == ["5.10e-3 s", "5e-3 s"]
    assert [reading.value for reading in one.readings] == [Decimal("0.0051"), Decimal("0.005")]


def test_a_command_that_failed_gives_no_cost() -> None:
    extracted = read_hyperfine([exported(result(), result(command="sick", exit_codes=[0, 1]))])
    source = source_of(extracted, baseline="true")
    assert not [figure for figure in source.figures if figure.figure.startswith("added_")]
    assert "ended with an error" in (figures_by_id(source)["mean_sick"].note or "")


def test_the_folders_of_whoever_measured_stay_at_home() -> None:
    extracted = read_hyperfine([exported(result(command="/home/jane/bin/loop --out /home/jane/x"))])
    assert extracted.series[0].name == "loop --out x"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "runs.json:1:1", id="nothing"),
        pytest.param("[]", "no list `results`", id="another JSON"),
        pytest.param('{"results": []}', "no list `results`", id="no command"),
        pytest.param('{"results": [7]}', "results[0]", id="a number for a command"),
        pytest.param('{"results": [{"command": "x", "mean": NaN}]}', "NaN", id="NaN"),
        pytest.param('{"results": [{"command": "x", "mean": -1, "min": 1}]}', "`-1`", id="negative"),
        pytest.param('{"results": [{"command": "x", "mean": 1e308, "min": 1}]}', "`1e308`", id="huge"),
        pytest.param('{"results": [{"command": "x", "mean": 1e18, "min": 1}]}', "at most 1e+06 s", id="too long"),
        pytest.param('{"results": [{"command": "x", "mean": 0, "min": 0}]}', "at least 1E-9", id="no time at all"),
        pytest.param('{"results": [{"command": "x", "mean": "1", "min": 1}]}', "a number of seconds", id="text"),
        pytest.param('{"results": [{"command": "x", "min": 1}]}', "results[0].mean", id="no mean"),
        pytest.param('{"results": [{"command": 3, "mean": 1, "min": 1}]}', "command: no text", id="no name"),
        pytest.param('{"results": [{"command": "x", "times": 3}]}', "results[0]", id="times that are no list"),
        pytest.param("[" * 200000, "runs.json", id="deep"),
        pytest.param('{"results": ' + "1" * 5000 + "}", "no list `results`", id="a long number"),
    ],
)
def test_what_is_not_of_the_format_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_hyperfine([GivenFile("runs.json", text)])
    assert says in str(caught.value)
    assert "Expected " in str(caught.value)


def test_a_mean_that_is_not_that_of_the_times_is_refused() -> None:
    with pytest.raises(UsageError, match=r"results\[0\]\.mean: 0\.4 s, but its times give 0\.5"):
        read_hyperfine([exported(result(mean=0.4))])


def test_two_commands_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="`true` stands twice"):
        read_hyperfine([exported(result()), exported(result())])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(["command", "mean", "min", "max", "median", "stddev", "times", "exit_codes", "user"])
NUMBERS = st.floats(1e-10, 1e7) | st.floats() | JSON


@settings(max_examples=300)
@given(st.lists(st.dictionaries(KEYS, NUMBERS | st.text(max_size=30)) | JSON, max_size=3) | JSON)
def test_any_json_is_read_or_refused(results: object) -> None:
    def read() -> None:
        extracted = read_hyperfine([GivenFile("runs.json", json.dumps({"results": results}))])
        source_of(extracted, baseline=extracted.series[0].name)

    assert is_read_or_refused(read)


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert is_read_or_refused(lambda: read_hyperfine([GivenFile("runs.json", text)]))
