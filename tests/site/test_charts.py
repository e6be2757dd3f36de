"""Chart specs as JSON, and their drawings as XML; hostile labels stay labels."""

from __future__ import annotations

import csv
import json
import math
import re
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from helpers.builders import picture_size, strings_of, write_data
from helpers.site_build import PROJECT
from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.site.assemble import assemble
from probe_effect.site.charts import curves
from probe_effect.site.charts.dots import Dot, cost_chart, instruction_chart
from probe_effect.site.charts.draw import draw_card, draw_framed, draw_svg, live_script, site_card
from probe_effect.site.charts.slowdown import (
    RATES,
    SLOWDOWNS,
    CostLine,
    LadderRung,
    MeasuredSlowdown,
    ladder_chart,
    slowdown_chart,
)
from probe_effect.site.charts.svg import slim
from probe_effect.site.charts.theme import CARD_HEIGHT, LAYOUTS, PAPER, SERIES, WIDTHS, Chart, Layout, dodged, look
from probe_effect.site.files import safe_cell
from probe_effect.site.pages import site, submission_page
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

FOLDER = tempfile.TemporaryDirectory()
KEPT = Kept(Path(FOLDER.name))
"""Drawings of this module: most tests look at the same few."""

ALL: tuple[Layout, ...] = (*LAYOUTS, "card")
SVG = "{http://www.w3.org/2000/svg}"


def costs(*dots: Dot) -> Chart:
    return cost_chart("costs-x", "Costs", "A sentence.", dots)


def dot(label: str, value: float, series: str = "bpftrace") -> Dot:
    return Dot(label, series, Estimate(value, value * 0.9, value * 1.1))


def line(label: str, cost_ns: float) -> CostLine:
    return CostLine(label, Estimate(cost_ns, cost_ns * 0.9, cost_ns * 1.1))


def slowdowns(*lines: CostLine) -> Chart:
    return slowdown_chart("slowdown-x", "Slowdown", "A sentence.", lines)


def counts(*found: Dot, series: tuple[str, ...] = ("Linux 6.1", "Linux 6.12")) -> Chart:
    return instruction_chart("instructions-x", "Instructions", "A sentence.", found, series=series)


def count(label: str, median: float, series: str = "Linux 6.1") -> Dot:
    return Dot(label, series, Estimate(median, median - 1, median + 1))


RUNGS = (
    LadderRung("Nothing", "Each time", Estimate(0.2), "below 0.2 ns", is_bound=True),
    LadderRung("A call", "Each time", Estimate(50, 45, 55), "50 ns", span=Estimate(50, 40, 290)),
    LadderRung("A start", "Once", Estimate(3e7, 2e7, 4e7), "30 ms"),
)

BOTH = [
    pytest.param(ladder_chart("ladder-x", "Ladder", "A sentence.", RUNGS), id="ladder"),
    pytest.param(costs(dot("02-kprobe", 50), dot("09-map", 80)), id="costs"),
    pytest.param(costs(dot("a", 50), dot("b", 5000, "dtrace")), id="costs over decades"),
    pytest.param(costs(Dot("a", "s", Estimate(5.0)), Dot("b", "s", Estimate(6.0))), id="costs without intervals"),
    pytest.param(slowdowns(line("kprobe", 50), line("uprobe", 1300)), id="slowdown"),
    pytest.param(
        slowdown_chart(
            "m", "M", "A sentence.", [line("a", 50)], [MeasuredSlowdown("a", 1e4, Estimate(0.01, 0.009, 0.02))]
        ),
        id="measured slowdown",
    ),
    pytest.param(
        curves.times_chart(
            "a",
            "A",
            "A sentence.",
            [curves.TimePoint("x", "bpftrace", 1, Estimate(5e8, 4e8, 6e8), ("x", "1"))],
            curves.Axes(quantity="start", number="probes", time="time to start", columns=("Tracer", "Probes")),
        ),
        id="times",
    ),
    pytest.param(counts(count("a", 340), count("a", 310, "Linux 6.12"), count("b", 5000)), id="instructions"),
]


def drawn(chart: Chart, layout: Layout = "wide") -> str:
    return draw_svg(chart, layout, KEPT)


def parsed(chart: Chart, layout: Layout) -> dict[str, Any]:
    """The spec as a program reads it; NaN would be refused."""
    value: dict[str, Any] = json.loads(json.dumps(chart.specs[layout], allow_nan=False))
    return value


@pytest.mark.parametrize("chart", BOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_spec_is_json_of_exactly_the_layouts_width_with_its_rows_inside(chart: Chart, layout: Layout) -> None:
    spec = parsed(chart, layout)
    assert spec["width"] == WIDTHS[layout]
    assert spec["$schema"].endswith("/vega-lite/v6.json")
    values = spec["data"]["values"]
    assert len(values) == len(chart.rows)
    assert all(any(row.items() <= value.items() for value in values) for row in chart.rows)


def test_numbers_under_the_pointer_are_written_as_everywhere() -> None:
    point = parsed(slowdowns(line("kprobe", 50)), "wide")["data"]["values"][0]
    assert (point["rate"], point["slowdown"]) == ("100\u00a0/s", "0.00050\u00a0% (0.00045\u00a0to\u00a00.00055)")
    assert parsed(costs(dot("a", 50)), "wide")["data"]["values"][0]["cost"] == "50\u00a0ns (45\u00a0to\u00a055)"


@pytest.mark.parametrize("chart", BOTH)
def test_a_spec_asks_for_nothing_from_elsewhere(chart: Chart) -> None:
    for layout in LAYOUTS:
        spec = parsed(chart, layout)
        del spec["$schema"]
        assert not [text for text in strings_of(spec) if "://" in text]
        assert '"url"' not in json.dumps(spec)


def test_a_cost_chart_has_a_row_per_dot_with_its_interval_in_the_order_given() -> None:
    assert costs(dot("b", 100), Dot("a", "s", Estimate(5.0))).rows == (
        {
            "label": "b",
            "series": "bpftrace",
            "cost_ns": 100,
            "cost_low_ns": 90,
            "cost_high_ns": pytest.approx(110),
        },
        {"label": "a", "series": "s", "cost_ns": 5.0, "cost_low_ns": None, "cost_high_ns": None},
    )


def x_scale(chart: Chart) -> dict[str, Any]:
    scale: dict[str, Any] = parsed(chart, "wide")["layer"][-1]["encoding"]["x"]["scale"]
    return scale


def test_costs_of_like_size_stand_on_an_axis_from_zero() -> None:
    assert x_scale(costs(Dot("a", "s", Estimate(100.0)), Dot("b", "s", Estimate(2900.0))))["domain"][0] == 0


def test_costs_that_differ_widely_stand_on_a_logarithmic_axis_that_holds_them_all() -> None:
    scale = x_scale(costs(Dot("a", "s", Estimate(100.0)), Dot("b", "s", Estimate(3100.0))))
    assert scale["type"] == "log"
    assert scale["domain"][0] < 100
    assert scale["domain"][1] > 3100


@pytest.mark.parametrize("smallest", [0.0, -3.0])
def test_a_logarithmic_axis_is_never_used_for_what_is_not_above_zero(smallest: float) -> None:
    scale = x_scale(costs(dot("a", smallest), dot("b", 1e6)))
    assert "type" not in scale
    assert scale["domain"][0] <= smallest


def test_rows_of_a_cost_chart_keep_their_order() -> None:
    spec = parsed(costs(dot("z", 3), dot("a", 2), dot("z", 1, "dtrace")), "wide")
    values = spec["layer"][1]["encoding"]["y"]["axis"]["values"]
    assert values == sorted(values)
    assert [spec["params"][0]["value"][str(at)] for at in values] == [["z"], ["a"]]


def places(*dots: Dot) -> list[tuple[float, str]]:
    """The height of each dot with its series, from the top."""
    values = parsed(costs(*dots), "wide")["data"]["values"]
    return sorted((value["at"], value["series"]) for value in values)


def test_no_dot_covers_another_of_its_row_and_the_least_is_on_top() -> None:
    together = places(*(dot("a", 100 - one, name) for one, name in enumerate("xyz")), dot("b", 900))
    assert len({at for at, _ in together}) == 4
    assert [name for _, name in together[:3]] == ["z", "y", "x"]


def texts_of(chart: Chart, layout: Layout = "wide") -> list[str]:
    return ["".join(one.itertext()) for one in root(chart, layout).iter(f"{SVG}text")]


def test_many_series_have_their_names_at_the_dots_and_few_a_legend() -> None:
    many, few = (costs(*(dot("a", 100 + 9 * n, f"tool {n}") for n in range(count))) for count in (7, 2))
    assert all(texts_of(many).count(f"tool {n}") == 1 for n in range(7))
    assert parsed(many, "wide")["layer"][-1]["encoding"]["text"]["field"] == "series"
    assert parsed(few, "wide")["layer"][-1]["encoding"]["color"]["legend"]["columns"] == 2


def test_a_dot_alone_in_its_row_has_its_value_beside_it() -> None:
    assert "50\u00a0ns (45\u00a0to\u00a055)" in texts_of(costs(dot("a", 50), dot("b", 60)))


def test_each_series_has_its_own_colour_and_shape() -> None:
    encoding = parsed(costs(dot("a", 1, "x"), dot("a", 9, "y")), "wide")["layer"][-1]["encoding"]
    for channel in ("color", "shape"):
        scale = encoding[channel]["scale"]
        assert scale["domain"] == ["x", "y"]
        assert len(set(scale["range"])) == 2


def test_an_instruction_chart_has_a_row_per_count_with_the_range_of_its_runs() -> None:
    chart = counts(count("a", 340))
    assert chart.rows == (
        {
            "label": "a",
            "series": "Linux 6.1",
            "cost_instructions": 340,
            "cost_least_instructions": 339,
            "cost_greatest_instructions": 341,
        },
    )
    assert parsed(chart, "wide")["data"]["values"][0]["cost"] == "340.0 (339.0\u00a0to\u00a0341.0)"


def test_the_series_of_an_instruction_chart_stand_in_the_order_asked_for_without_unused_ones() -> None:
    chart = counts(count("a", 310, "new"), count("a", 340, "old"), series=("old", "none", "new"))
    encoding = parsed(chart, "wide")["layer"][-1]["encoding"]
    assert encoding["color"]["scale"]["domain"] == encoding["shape"]["scale"]["domain"] == ["old", "new"]


def test_a_slowdown_chart_has_the_line_of_each_cost_over_all_rates() -> None:
    rows = slowdowns(line("kprobe", 50)).rows
    assert [row["rate_hz"] for row in rows] == RATES
    for row in rows:
        assert row["slowdown_ratio"] == pytest.approx(float(row["rate_hz"] or 0) * 50e-9)
        assert row["slowdown_low_ratio"] == pytest.approx(float(row["rate_hz"] or 0) * 45e-9)


def test_measured_slowdowns_stand_as_dots_with_their_intervals_beside_their_line() -> None:
    points = [
        MeasuredSlowdown("kprobe", 1e5, Estimate(0.006, 0.005, 0.007)),
        MeasuredSlowdown("not drawn", 1e5, Estimate(1.0)),
    ]
    chart = slowdown_chart("slowdown-x", "Slowdown", "A sentence.", [line("kprobe", 50)], points)
    (row,) = [row for row in chart.rows if row["from"] == "measured"]
    assert (row["series"], row["rate_hz"], row["slowdown_ratio"], row["slowdown_high_ratio"]) == (
        "kprobe",
        1e5,
        0.006,
        0.007,
    )
    assert len(points_of(root(chart))) == 1


def test_an_interval_that_reaches_below_zero_is_drawn_down_to_the_foot_of_the_axis() -> None:
    chart = slowdown_chart(
        "s", "S", "A sentence.", [line("a", 50)], [MeasuredSlowdown("a", 1e3, Estimate(0.01, -0.02, 0.04))]
    )
    (interval,) = [one for one in root(chart).iter(f"{SVG}line") if one.get("stroke-width") == "2"]
    bottom = max(float(place) for place in re.findall(r"translate\([^,]*,([\d.]+)\)", drawn(chart)))
    assert float((interval.get("transform") or "").rpartition(",")[2].rstrip(")")) <= bottom
    assert -bottom < float(interval.get("y2") or "nan") < 0
    assert "NaN" not in drawn(chart)


def test_rates_below_the_axis_of_a_slowdown_chart_do_not_touch_on_a_phone() -> None:
    texts = [texts_of(slowdowns(line("kprobe", 50)), layout) for layout in LAYOUTS]
    rates = [[one for one in some if one in {"100", "1k", "10k", "100k", "1M", "10M"}] for some in texts]
    assert rates == [["100", "1k", "10k", "100k", "1M", "10M"], ["100", "10k", "1M"]]


def test_a_slowdown_chart_spans_its_rates_and_slowdowns() -> None:
    encoding = parsed(slowdowns(line("kprobe", 50)), "wide")["layer"][1]["encoding"]
    assert encoding["x"]["scale"] == {"type": "log", "domain": [100, 10_000_000]}
    assert encoding["y"]["scale"]["domain"] == list(SLOWDOWNS)


def test_a_slowdown_chart_is_high_enough_for_the_end_of_every_line() -> None:
    encoding = parsed(slowdowns(line("strace", 30_000)), "wide")["layer"][1]["encoding"]
    assert encoding["y"]["scale"]["domain"] == [SLOWDOWNS[0], 1000]


def test_a_slowdown_chart_has_the_words_of_the_three_thresholds_beside_its_axis() -> None:
    chart = slowdowns(line("kprobe", 50))
    values = [one["data"]["values"] for one in parsed(chart, "narrow")["layer"] if "data" in one]
    assert [{"threshold_ratio": ratio} for ratio in (0.01, 0.05, 0.3)] in values
    assert {"1 % measurable", "5 % significant", "30 % expensive"} <= set(texts_of(chart))
    assert {"1 %measurable", "30 %expensive"} <= set(texts_of(chart, "narrow"))


def test_each_line_has_its_name_at_its_end_and_no_two_names_overlap() -> None:
    names = [f"tool {n}" for n in range(8)]
    spec = parsed(slowdowns(*(line(name, 1000 + n) for n, name in enumerate(names))), "wide")
    ends = spec["layer"][-1]["data"]["values"]
    assert [one["name"] for one in ends] == names[::-1]
    heights = [math.log(one["first"]) for one in ends]
    assert min(before - after for before, after in pairwise(heights)) > 0.3
    assert set(names) <= set(texts_of(slowdowns(*(line(name, 1000) for name in names))))


@pytest.mark.parametrize(
    ("wanted", "placed"),
    [
        ([10, 50], [10, 50]),
        ([50, 50], [45, 55]),
        ([0, 0, 0], [5, 15, 25]),
        ([99, 99], [85, 95]),
        ([10, 12, 80], [6, 16, 80]),
    ],
)
def test_names_are_moved_no_further_than_they_must(wanted: list[float], placed: list[float]) -> None:
    assert dodged(wanted, [10] * len(wanted), 100) == placed


def test_a_slowdown_chart_shows_no_more_lines_than_there_are_colours() -> None:
    chart = slowdowns(*(line(f"case {number}", 10 + number) for number in range(12)))
    assert len({row["series"] for row in chart.rows}) == len(SERIES)
    assert chart.note == "4 more lines are not drawn; the table has them all."


def root(chart: Chart, layout: Layout = "wide") -> ET.Element:
    return ET.fromstring(drawn(chart, layout))  # noqa: S314 (drawn by us)


def points_of(drawing: ET.Element) -> list[ET.Element]:
    """The dots: they alone have a rim of paper."""
    return [one for one in drawing.iter(f"{SVG}path") if one.get("stroke") == PAPER]


@pytest.mark.parametrize("chart", BOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_drawing_is_xml_without_scripts_styles_or_anything_from_elsewhere(chart: Chart, layout: Layout) -> None:
    for element in root(chart, layout).iter():
        assert element.tag.removeprefix(SVG) not in {"script", "style", "foreignObject", "image", "a"}
        assert not [name for name in element.attrib if name == "style" or name.startswith("on") or "href" in name]


@pytest.mark.parametrize("chart", BOTH)
def test_ids_of_a_drawing_are_its_own_and_all_references_find_theirs(chart: Chart) -> None:
    ids: list[str] = []
    for layout in LAYOUTS:
        svg = drawn(chart, layout)
        own = [value for one in ET.fromstring(svg).iter() if (value := one.get("id"))]  # noqa: S314
        assert all(value.startswith(f"{chart.name}-{layout}-") for value in own)
        assert set(re.findall(r"url\(#([^)]*)\)", svg)) <= set(own)
        ids += own
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("chart", BOTH)
@pytest.mark.parametrize("layout", ALL)
def test_a_drawing_holds_nothing_that_is_not_seen(chart: Chart, layout: Layout) -> None:
    for one in root(chart, layout).iter():
        assert one.get("display") != "none"
        assert one.get("opacity") != "0"
        assert not one.attrib.keys() & {"class", "role", "pointer-events"}
        assert not [name for name in one.attrib if name.startswith("aria-")]
        assert one.tag != f"{SVG}g" or len(one)
        for name in ("d", "transform"):
            assert not re.search(r"\.\d\d", one.get(name, ""))


@pytest.mark.parametrize("chart", BOTH)
@pytest.mark.parametrize("layout", ALL)
def test_a_drawing_asks_for_few_layers_of_their_own(chart: Chart, layout: Layout) -> None:
    for one in root(chart, layout).iter():
        clips = [child.get("clip-path") for child in one]
        assert not [clip for clip, following in pairwise(clips) if clip and clip == following]
        assert one.get("opacity") is None


def test_lines_of_a_folded_label_begin_below_each_other() -> None:
    label = "a label of so many words that no single line of a phone could ever hold it"
    spans = list(root(costs(dot(label, 50), dot("b", 60)), "narrow").iter(f"{SVG}tspan"))
    assert len(spans) > 1
    assert all(one.get("x") == "0" for one in spans if one.get("dy"))
    assert [one.get("dy") is not None for one in spans] == [False, *[True] * (len(spans) - 1)]


@pytest.mark.parametrize("chart", BOTH)
def test_a_chart_is_a_table_of_words_too(chart: Chart) -> None:
    assert chart.table.rows
    assert {len(row) for row in chart.table.rows} == {len(chart.table.head)}


def test_the_table_of_a_slowdown_chart_has_a_row_for_each_rate_and_a_column_for_each_line() -> None:
    table = slowdowns(line("kprobe", 50), line("uprobe", 1300)).table
    assert table.head == ("Events", "From", "kprobe", "uprobe")
    assert len(table.rows) == len(RATES)
    assert table.rows[0][:3] == ("100\u00a0/s", "rate x cost", "0.00050\u00a0% (0.00045\u00a0to\u00a00.00055)")


def test_the_table_of_a_slowdown_chart_can_have_its_columns_in_one_unit() -> None:
    cells = [cell for column in zip(*slowdowns(line("a", 50)).table.rows, strict=True) for cell in column[:1]]
    assert [isinstance(cell, units.Quantity) for cell in cells] == [True, False, True]


@pytest.mark.parametrize("chart", BOTH)
@pytest.mark.parametrize("layout", ALL)
def test_what_is_taken_away_is_on_white_and_says_what_it_is_and_where_it_is_from(chart: Chart, layout: Layout) -> None:
    drawing = ET.fromstring(draw_framed(chart, layout, KEPT, "2026-11-25.3f2a9c1e"))  # noqa: S314 (drawn by us)
    ground, *texts = [one for one in drawing if one.tag in {f"{SVG}rect", f"{SVG}text"}]
    assert (ground.get("fill"), ground.get("width"), ground.get("height")) == (
        "#fff",
        drawing.get("width"),
        drawing.get("height"),
    )
    assert [one.text for one in texts] == [
        chart.title,
        chart.sentence,
        "Probe Effect, data version 2026-11-25.3f2a9c1e, CC BY 4.0",
    ]
    assert "Arial" in (drawing.get("font-family") or "")


def test_a_chart_of_one_run_names_the_run_and_stays_the_same_with_further_data() -> None:
    chart = replace(costs(dot("a", 50), dot("b", 60)), edition="run m/2026-11-25-usdt")
    assert "Probe Effect, run m/2026-11-25-usdt, CC BY 4.0" in draw_framed(chart, "wide", KEPT, "one")
    assert draw_framed(chart, "wide", KEPT, "one") == draw_framed(chart, "wide", KEPT, "other")


@pytest.mark.parametrize("chart", [*BOTH, pytest.param(site_card(), id="site")])
def test_a_card_has_the_size_that_links_are_shown_with(chart: Chart) -> None:
    card = draw_card(chart, KEPT)
    assert picture_size(card) == (WIDTHS["card"], CARD_HEIGHT)
    assert len(card) < 150_000


def test_a_card_of_many_rows_shows_the_first_with_their_own_colours() -> None:
    chart = costs(*(Dot(f"case {number}", "dtrace", Estimate(50.0 + number), "dtrace") for number in range(40)))
    labels = [value["label"] for value in parsed(chart, "card")["data"]["values"]]
    assert labels == [f"case {number}" for number in range(len(labels))]
    assert 5 < len(labels) < 12
    assert parsed(chart, "card")["layer"][0]["encoding"]["color"]["scale"]["range"] == [look("dtrace").colour]


def test_a_card_has_one_dot_a_machine_of_the_tracer_that_most_machines_have() -> None:
    """Its title says a range over machines: the dots of one machine would not show it."""
    some = [Dot(f"machine {at}", "bpftrace", Estimate(100.0 * at), "bpftrace") for at in (1, 2, 3)]
    others = [Dot("machine 1", name, Estimate(90.0), name) for name in ("dtrace", "strace", "perf-stat")]
    chart = costs(*others, *some)
    shown = [(one["label"], one["series"]) for one in parsed(chart, "card")["data"]["values"]]
    assert shown == [(f"machine {at}", "bpftrace") for at in (1, 2, 3)]
    assert texts_of(chart, "card").count("bpftrace") == 1, "its name is in the legend"


def test_on_a_phone_long_names_of_series_are_in_the_legend_and_not_beside_each_dot() -> None:
    names = ("user probe, emulated", "user probe, stepped", "tracepoint")
    chart = costs(*(dot(row, 100.0 + at, name) for row in "ab" for at, name in enumerate(names)))
    assert [texts_of(chart, layout).count(names[0]) for layout in LAYOUTS] == [2, 1]


def test_a_tracer_has_its_own_colour_wherever_it_stands() -> None:
    first = costs(Dot("a", "bpftrace v0.17", Estimate(5.0), "bpftrace"), Dot("a", "ftrace", Estimate(6.0), "ftrace"))
    second = slowdown_chart("s", "S", "A sentence.", [CostLine("ftrace, here", Estimate(50.0, 45, 55), "ftrace")])
    assert parsed(first, "wide")["layer"][-1]["encoding"]["color"]["scale"]["range"][1] == look("ftrace").colour
    assert parsed(second, "wide")["layer"][0]["encoding"]["color"]["scale"]["range"] == [look("ftrace").colour]


@pytest.mark.parametrize("chart", BOTH)
def test_the_same_chart_is_the_same_drawing_each_time(chart: Chart) -> None:
    with tempfile.TemporaryDirectory() as other:
        assert drawn(chart) == draw_svg(chart, "wide", Kept(Path(other)))


def test_a_drawing_has_a_mark_for_each_dot() -> None:
    assert len(points_of(root(costs(dot("a", 50), dot("b", 60))))) == 2


DRAWN = {"svg", "g", "path", "rect", "text", "tspan", "line", "defs", "clipPath"}

HOSTILE = [
    pytest.param("<script>alert(1)</script>", id="script"),
    pytest.param("</text></svg><img src=x onerror=alert(1)>", id="end of the drawing"),
    pytest.param('" onload="alert(1)', id="end of an attribute"),
    pytest.param("' & &amp; ]]>", id="references"),
    pytest.param("<!-- x", id="comment"),
    pytest.param('id="x" url(#x)', id="what looks like an id"),
    pytest.param("datum.x + 1", id="expression"),
    pytest.param("a.b[0]['c']", id="path"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_labels_are_drawn_as_text(hostile: str) -> None:
    for chart in (
        costs(dot(hostile, 50, hostile), dot("b", 60, "other")),
        slowdowns(line(hostile, 50), line("other", 500)),
        counts(count(hostile, 50, hostile), count("b", 60, "other"), series=(hostile, "other")),
    ):
        drawing = root(chart)
        texts = {"".join(element.itertext()).replace(" ", "") for element in drawing.iter(f"{SVG}text")}
        assert hostile.replace(" ", "") in texts  # which may be folded
        for element in drawing.iter():
            assert element.tag.removeprefix(SVG) in {
                "svg",
                "g",
                "path",
                "rect",
                "text",
                "tspan",
                "line",
                "defs",
                "clipPath",
            }
            assert not [name for name in element.attrib if name.startswith("on")]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_labels_come_back_from_json_as_they_were(hostile: str) -> None:
    assert parsed(costs(dot(hostile, 50)), "wide")["data"]["values"][0]["label"] == hostile


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(1)", "'@SUM(1)"),
        ("plain", "plain"),
        ("", ""),
        (None, None),
        (-1.5, -1.5),
    ],
)
def test_no_cell_of_a_download_runs_as_a_formula(cell: str | float | None, safe: str | float | None) -> None:
    assert safe_cell(cell) == safe


CLIPPED = (
    '<svg xmlns="http://www.w3.org/2000/svg"><defs><clipPath id="c"><rect width="100" height="50"/></clipPath></defs>'
    '<g clip-path="url(#c)">{inside}</g></svg>'
)


@pytest.mark.parametrize(
    ("path", "cut"),
    [
        (
            'd="M0,100L100,0" stroke="#000" stroke-dasharray="6,3"',
            'd="M50,50L100,0" stroke="#000" stroke-dasharray="6,3" stroke-dashoffset="70.7"',
        ),
        ('d="M0,60L50,40L100,60" stroke="#000"', 'd="M25,50L50,40L75,50" stroke="#000"'),
        ('d="M10,10L60,70L90,10" stroke="#000"', 'd="M10,10L43.3,50M70,50L90,10" stroke="#000"'),
        ('d="M0,100L100,0L100,100Z" fill="#000"', 'd="M50,50L100,0L100,50Z" fill="#000"'),
        ('d="M10,10L90,40" stroke="#000"', 'd="M10,10L90,40" stroke="#000"'),
    ],
    ids=["with its dashes where they were", "at both ends", "in two", "an area", "not at all"],
)
def test_a_straight_path_is_cut_at_the_edge_of_its_plot_and_not_clipped(path: str, cut: str) -> None:
    drawn = slim(CLIPPED.format(inside=f"<path {path}/>"))
    assert f"<path {cut}/>" in drawn
    assert "defs" not in drawn


def test_a_path_that_is_not_seen_is_left_out_and_what_is_not_straight_stays_clipped() -> None:
    unseen = '<path d="M0,80L100,90" stroke="#000"/>'
    assert "path" not in slim(CLIPPED.format(inside=unseen))
    arc = '<path d="M5,0A5,5,0,1,1,-5,0Z" fill="#000" transform="translate(99,49)"/>'
    assert slim(CLIPPED.format(inside=unseen + arc)).count("clip-path") == 1


def test_a_chart_is_written_with_drawings_specs_rows_and_words(tmp_path: Path) -> None:
    catalogue = read_catalogue(DataFolder(write_data(tmp_path)))
    work = tmp_path / "work"
    work.mkdir()
    steps = list(assemble(catalogue, work, KEPT, PROJECT))
    assert steps[0] == "pages"
    for chart in site.charts(catalogue):
        published = work / "static" / "charts" / chart.name
        with (published / "data.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(chart.rows)
        assert list(rows[0]) == list(chart.rows[0])
        for layout in LAYOUTS:
            assert json.loads((published / f"{layout}.json").read_text(encoding="utf-8")) == parsed(chart, layout)
            assert (published / f"{layout}.svg").read_text(encoding="utf-8") == draw_framed(
                chart, layout, KEPT, catalogue.version
            )
        about = json.loads((published / "data.json").read_text(encoding="utf-8"))
        assert [dict(row) for row in chart.rows] == about["rows"]
        assert about["data_version"] == catalogue.version
        assert not (published / "card.png").exists()  # a picture of a link needs the address of the site
        assert f'{{{{< chart "{chart.name}" >}}}}' in (work / "content/charts" / f"{chart.name}.md").read_text("utf-8")
        words = json.loads((work / "assets" / "charts" / chart.name / "meta.json").read_text(encoding="utf-8"))
        assert (words["title"], words["sentence"]) == (chart.title, chart.sentence)


def test_raw_data_is_copied_by_its_known_names_only(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    source = data / "published" / "a-talk"
    (source / "more.txt").write_text("x", encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    list(assemble(read_catalogue(DataFolder(data)), work, KEPT, PROJECT))
    copied = work / "static" / "data"
    files = [path for kind in ("published", "results") for path in (copied / kind).rglob("*") if path.is_file()]
    assert {path.name for path in files} == {"figures.csv", "source.toml", "samples.csv", "machine.json"}
    assert (copied / "published" / "a-talk" / "figures.csv").read_bytes() == (source / "figures.csv").read_bytes()


def test_the_names_of_all_real_charts_can_stand_in_addresses_and_are_unique(catalogue: Catalogue) -> None:
    names = [chart.name for chart in site.charts(catalogue)]
    assert names
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in names)


def test_only_a_run_of_a_suite_that_measures_costs_of_an_event_has_a_chart_of_them(catalogue: Catalogue) -> None:
    drawn = {run.suite: bool(submission_page.charts(catalogue, run)) for run in catalogue.timed}
    measures = {folder.suite.id: folder.suite.measures for folder in catalogue.suites}
    assert drawn["per-event"]
    assert {measures[suite] for suite, is_drawn in drawn.items() if is_drawn} == {"cost"}
    assert not drawn["startup"]


def test_the_live_script_is_one_script_that_offers_vega_embed() -> None:
    script = live_script(KEPT)
    assert "vegaEmbed" in script
    assert "</script" not in script.lower()


def test_a_ladder_has_a_range_that_reaches_zero() -> None:
    rungs = [LadderRung("a probe", "machine", Estimate(90.0, 80.0, 99.0), "90 ns", Estimate(90.0, -3.0, 400.0))]
    rows = json.dumps(ladder_chart("ladder-x", "Ladder", "A sentence.", rungs).specs["wide"])
    assert '"least_ns": 10.0' in rows
