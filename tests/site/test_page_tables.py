"""Tables of pages: one unit a column, what all rows say said once, and data that stay text."""

import html
import math
import re

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from helpers.builders import PROJECT
from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.site.pages.parts import (
    Group,
    Items,
    Link,
    Part,
    Pieces,
    Table,
    column,
    fold,
    fragment,
    of_data,
    section,
)
from probe_effect.site.pages.text import say

GAP = units.GAP
SPACES = str.maketrans({GAP: " ", units.GROUP: " "})


def cells(table: Table) -> list[list[str]]:
    """The Markdown of each cell, with ordinary spaces."""
    return [[html.unescape(str(cell)).translate(SPACES) for cell in row] for row in table.shown()[1].rows]


def said(table: Table) -> str:
    return str(table.shown()[0])


def test_a_column_has_the_unit_of_its_median_and_no_figure_is_rounded_again() -> None:
    times = [units.duration(850.0), units.interval(Estimate(12_340.0, 12_100.0, 12_600.0), units.DURATION)]
    table = Table([column("tracer"), column("cost")], [("a", times[0]), ("b", times[1]), ("c", units.duration(45e3))])
    assert [row[1] for row in cells(table)] == ["0.850 µs", "12.34 µs (12.10 to 12.60)", "45.0 µs"]


def test_words_around_a_quantity_and_links_keep_it_in_the_unit_of_its_column() -> None:
    most = units.within(units.duration(16_000.0, 2), "not distinguishable from 0 (below ", ")")
    few = [("a", most), ("b", Link(units.duration(100.0), "/x/")), ("c", Pieces([units.duration(99.0), " or more"]))]
    found = [row[1] for row in cells(Table([column("tracer"), column("cost")], few))]
    assert found == [
        "not distinguishable from 0 (below 16 000 ns)",
        "[100 ns](/x/)",
        "99.0 ns or more",
    ]


def test_figures_as_others_printed_them_and_values_of_several_quantities_stay() -> None:
    for name in ("printed", "value"):
        table = Table([column("what"), column(name)], [("a", units.duration(1.0)), ("b", units.duration(5e6))])
        assert [row[1] for row in cells(table)] == ["1.00 ns", "5.00 ms"]


def test_what_every_row_says_is_said_once_above_the_table() -> None:
    rows = [("a", "bpftrace", "A"), ("b", "bpftrace", "B")]
    table = Table([column("case"), column("tracer"), column("grade")], rows)
    assert said(table) == "In every row: [Tracer](/data/dictionary/#tracer) **bpftrace**."
    assert cells(table) == [["a", "A"], ["b", "B"]]


def test_levels_that_are_names_begin_at_the_left_and_numbers_of_threads_do_not() -> None:
    for levels, align in ((("go-slog", "rust-log"), "left"), (("1", "16"), "right")):
        rows = [(name, level) for name, level in zip("ab", levels, strict=True)]
        _, table = Table([column("case"), column("level")], rows).shown()
        assert table.columns[1].align == align


def test_ids_are_words_for_readers_and_levels_have_groups_of_digits() -> None:
    rows = [
        ("a", "30000000", "dtrace-2-0-7", "count-by-pid"),
        ("b", "0", "perf-stat", "nothing"),
        ("c", "go-slog", "bpftrace 0.17.0", Markup("*printed*")),
    ]
    table = Table([column("case"), column("level"), column("tracer"), column("action")], rows)
    own = [row[1:] for row in cells(table)]
    assert own == [
        ["30 000 000", "dtrace 2.0.7", "count by pid"],
        ["0", "perf-stat", "nothing"],
        ["go-slog", "bpftrace 0.17.0", "*printed*"],
    ]


def test_the_names_of_rows_and_what_the_dictionary_does_not_explain_stay() -> None:
    same = [("a", "x"), ("a", "x")]
    assert said(Table([column("case"), of_data("6.12")], same)) == ""
    assert said(Table([column("case"), column("tracer")], same[:1])) == ""
    assert said(Table([column("grade"), column("tracer")], [("a", Link("x", "#=p")), ("b", "x")])) == ""


def test_one_figure_in_two_rows_may_be_chance_and_in_three_is_not() -> None:
    rows = [(name, "12") for name in "abc"]
    heads = [column("case"), column("blocks")]
    assert said(Table(heads, rows[:2])) == ""
    assert "**12**" in said(Table(heads, rows))


def test_what_is_not_known_everywhere_leaves_no_column_and_no_words() -> None:
    table = Table([column("case"), column("tracer")], [("a", ""), ("b", "")])
    assert said(table) == ""
    assert [one.id for one in table.shown()[1].columns] == ["case"]


def test_a_machine_is_named_above_its_rows() -> None:
    table = Table([column("tracer"), column("cost")], [Group("M"), ("a", "1"), ("b", "2")])
    assert fragment([table]).splitlines()[2:] == ["| **M** |  |", "| a | 1 |", "| b | 2 |"]


@given(st.text(max_size=40))
def test_data_in_any_part_stay_text(text: str) -> None:
    parts: list[Part] = [
        text,
        say("It is {}.", text),
        Table([of_data(text)], [(text,), (Link(text, "/x/"),)]),
        Items([text]),
    ]
    shown = fragment([*parts, *section(text, text), *fold(text, text)])
    for sign in ("<", "`", "{{<", "{{%"):
        assert sign not in shown
    assert shown.count("\n| ") <= 2 + 1  # no cell begins a row of its own


def test_a_part_without_content_prints_nothing() -> None:
    assert section("Title", None, "") == []
    assert fold("Title") == []
    assert fragment([None, "", Markup()]) == "\n"


@given(st.floats(0.01, 1e9), st.floats(0.01, 1e9))
def test_a_quantity_says_the_same_in_any_unit(first: float, second: float) -> None:
    value, width = max(first, second), min(first, second) / 10
    written = units.interval(Estimate(value, value - width, value + width), units.DURATION)
    assert isinstance(written, units.Quantity)
    for unit in units.DURATION.units:
        moved = str(written.to(unit)).replace(units.GROUP, "").partition(GAP)[0]
        own = str(written).replace(units.GROUP, "").partition(GAP)[0]
        assert math.isclose(float(moved) * unit.scale, float(own) * written.unit.scale, rel_tol=1e-9)


def test_no_layout_reads_a_quantity_out_of_text() -> None:
    folders = [PROJECT / "site" / "layouts", PROJECT / "site" / "adapters"]
    texts = {path.name: path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.*")}
    patterns = {name: re.findall(r"(?:find|replace)RE\w*\s+([`\"].*?[`\"])", text) for name, text in texts.items()}
    assert sum(map(len, patterns.values())) > 5
    figure = re.compile(r"\\d|\[0-9\]")
    found = {(name, one) for name, some in patterns.items() for one in some if figure.search(one)}
    assert found == {("cite-page.html", "`^([0-9]{4})-([0-9]{2})-`")}
