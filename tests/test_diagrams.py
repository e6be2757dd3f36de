"""Diagrams: every box holds its text, the words beside a drawing say all of it, and nothing in it is active."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from probe_effect.charts.theme import AXIS, GRID, INK, MUTED, PAPER, SERIES, WIDTHS
from probe_effect.diagrams.diagram import Cost
from probe_effect.diagrams.drawn import LAYOUTS, MAKERS, drawing
from probe_effect.diagrams.glyphs import width_px, wrapped
from probe_effect.diagrams.svg import svg
from probe_effect.exports.diagrams import diagrams, words

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Diagram
    from probe_effect.diagrams.drawn import Layout
    from probe_effect.diagrams.shapes import Box, Drawing, Text
    from probe_effect.numbers.catalogue import Catalogue

SVG = "{http://www.w3.org/2000/svg}"
LONGEST = "≈ 12.26 µs to 127 µs"


def _made() -> dict[str, Diagram]:
    made = [make(lambda tracer, case: Cost(LONGEST, f"/costs/{case}/{tracer}/")) for make in MAKERS]
    return {one.name: one for one in made}


DIAGRAMS = _made()
each_diagram = pytest.mark.parametrize("name", DIAGRAMS)
each_drawing = pytest.mark.parametrize(("name", "layout"), list(itertools.product(DIAGRAMS, LAYOUTS)))


def drawn(name: str, layout: Layout) -> Drawing:
    return drawing(DIAGRAMS[name], layout)


def ends_px(text: Text) -> tuple[float, float]:
    wide = width_px(text.text, text.style)
    left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
    return left, left + wide


def plain(text: str) -> str:
    """What a reader reads, without where lines and runs of text end."""
    return re.sub(r"\s", "", text)


def text_of(one: Diagram) -> str:
    """The text form as it reads on a page."""
    html = MarkdownIt().render(words(one))
    return plain("".join(ET.fromstring(f"<div>{html}</div>").itertext()))  # noqa: S314 (ours)


def test_the_guide_has_the_diagrams_that_it_names() -> None:
    assert set(DIAGRAMS) == {"decision", "breakpoint", "trampoline", "return-probe", "where-time-goes"}


@each_drawing
def test_no_text_leaves_its_box(name: str, layout: Layout) -> None:
    for box in drawn(name, layout).boxes:
        for line in box.lines:
            left, right = ends_px(line)
            assert box.x <= left, line
            assert right <= box.right, line
            assert box.y < line.y - 8, line
            assert line.y < box.bottom, line


@each_drawing
def test_a_drawing_is_as_wide_as_a_chart_and_holds_all_that_it_shows(name: str, layout: Layout) -> None:
    found = drawn(name, layout)
    assert found.width == pytest.approx(WIDTHS[layout])
    edges = [edge for box in found.boxes for edge in (box.x, box.right)]
    edges += [edge for text in found.texts for edge in ends_px(text)]
    assert min(edges) >= 0
    assert max(edges) <= found.width + 0.01
    assert max(box.bottom for box in found.boxes) <= found.height


@each_drawing
def test_boxes_lie_beside_each_other_or_whole_on_a_side_of_a_panel(name: str, layout: Layout) -> None:
    boxes = drawn(name, layout).boxes
    apart = [one for one in boxes if one.kind not in {"lane", "shaded"}]
    assert [(one, other) for one, other in itertools.combinations(apart, 2) if overlap(one, other)] == []


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.right - 0.01
        and other.x < one.right - 0.01
        and one.y < other.bottom - 0.01
        and other.y < one.bottom - 0.01
    )


@each_drawing
def test_text_that_stands_alone_lies_on_no_box_of_text(name: str, layout: Layout) -> None:
    found = drawn(name, layout)
    filled = [box for box in found.boxes if box.kind not in {"lane", "shaded"}]
    for text in found.texts:
        left, right = ends_px(text)
        hit = [
            box for box in filled if left < box.right and box.x < right and box.y < text.y and text.y - 9 < box.bottom
        ]
        assert hit == [], text


@each_drawing
def test_the_words_beside_a_drawing_say_all_of_it(name: str, layout: Layout) -> None:
    said = text_of(DIAGRAMS[name])
    found = drawn(name, layout)
    lines = [line.text for box in found.boxes for line in box.lines] + [text.text for text in found.texts]
    missing = [line for line in lines if plain(line.removesuffix(" an event")) not in said and line != "event"]
    assert missing == []


@each_diagram
def test_every_cost_of_the_words_leads_to_where_it_is_from(name: str) -> None:
    one = DIAGRAMS[name]
    costs = [panel.cost for panel in one.panels]
    costs += [row.cost for stage in one.stages for group in stage.groups for row in group.rows]
    linked = MarkdownIt().render(words(one))
    assert [cost for cost in costs if cost and f'<a href="{cost.href}">' not in linked] == []
    assert any(costs)


@each_drawing
def test_the_drawing_is_svg_in_the_colours_of_charts_without_style_script_or_link(name: str, layout: Layout) -> None:
    root = ET.fromstring(svg(drawn(name, layout)))  # noqa: S314 (ours)
    tags = {one.tag for one in root.iter()}
    assert tags <= {f"{SVG}{tag}" for tag in ("svg", "g", "rect", "path", "text")}
    named = {attribute for one in root.iter() for attribute in one.attrib}
    assert not {one for one in named if one in {"style", "class", "id"} or one.startswith(("on", "href"))}
    painted = {one.get(key) for one in root.iter() for key in ("fill", "stroke")} - {None, "none"}
    assert painted <= {INK, MUTED, AXIS, GRID, PAPER, *SERIES}


def test_what_data_bring_into_a_drawing_is_text() -> None:
    hostile = '</text><script>alert("1")</script>'
    one = next(make(lambda *_: Cost(hostile, "/")) for make in MAKERS if make(lambda *_: None).panels)
    assert "<script" not in svg(drawing(one, "narrow"))
    assert "<script" not in MarkdownIt().render(words(one))


def test_without_a_cost_a_diagram_is_the_same_but_for_its_costs() -> None:
    for make in MAKERS:
        bare = make(lambda *_: None)
        for layout in LAYOUTS:
            assert "µs" not in svg(drawing(bare, layout))


def test_costs_of_one_diagram_are_of_one_machine(catalogue: Catalogue) -> None:
    machines = {one.machine for one in catalogue.everything}
    for one, whose in diagrams(catalogue):
        linked = set(re.findall(r"\(/results/([^/]+)/", words(one)))
        assert linked <= machines
        assert len(linked) <= 1, one.name
        assert all(machine[-4:] in whose for machine in linked)
        assert ("≈" in whose) == ("≈" in text_of(one))


def test_a_word_wider_than_its_column_is_told() -> None:
    with pytest.raises(ValueError, match="is wider than 40 px"):
        wrapped("an extraordinary word", "plain", 40)


def test_lines_hold_as_many_words_as_fit() -> None:
    assert wrapped("one two three", "plain", width_px("one two", "plain")) == ["one two", "three"]
