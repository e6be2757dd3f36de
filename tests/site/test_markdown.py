"""Text to Markdown that means that text and nothing else, judged by a CommonMark parser with HTML and tables on."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markupsafe import Markup

from probe_effect import units
from probe_effect.site.pages.parts import Heading, Table, fragment, of_data, page
from probe_effect.site.pages.text import escape, link, say

if TYPE_CHECKING:
    from markdown_it.token import Token

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

PLAIN = st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"])
SYNTAX = "&<>\"'`*_~[](){}!#|\\/:;@=+-.,0123456789 ax\u00a0\u2003"
PIECES = """
<b> </b> <!-- --> &amp; &#60; [x](y) ![x](y) ``` ~~~ 1. 2) - > # --- === | |:-:| ** __ \\
https://a.b <a@b.c> [^1]
{{< x >}} {{% {{ .Site }} {% raw %} {# c #} : :smile: ... www.a.b""".split()
TEXTS = (
    st.text(PLAIN, max_size=60)
    | st.text(alphabet=SYNTAX, max_size=60)
    | st.lists(st.sampled_from([*PIECES, " ", "    "]), max_size=10).map("".join)
)


def shown(tokens: list[Token]) -> str:
    """What a reader sees of one paragraph."""
    kinds = [token.type for token in tokens]
    assert kinds == ["paragraph_open", "inline", "paragraph_close"], kinds
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text"}, children
    return "".join(child.content for child in children)


@given(TEXTS.filter(str.strip))
def test_escaped_text_reads_as_exactly_that_text_in_one_paragraph(text: str) -> None:
    # Blanks at the ends of a paragraph are no part of it.
    assert shown(PARSER.parse(escape(text))).strip() == text.strip()


@given(TEXTS, TEXTS)
def test_escaped_text_stays_in_its_table_cell(first: str, second: str) -> None:
    tokens = PARSER.parse(f"| a | b |\n|:--|--:|\n| {escape(first)} | {escape(second)} |\n")
    cells = [tokens[place + 1] for place, token in enumerate(tokens) if token.type == "td_open"]
    read = ["".join(child.content for child in cell.children or []).strip() for cell in cells]
    assert read == [first.strip(), second.strip()]
    assert not any(token.type.startswith("html") for token in tokens)


@given(TEXTS)
def test_escaped_text_in_a_list_or_heading_stays_text(text: str) -> None:
    for frame, kind in (("- a {}", "bullet_list_open"), ("### a {}", "heading_open")):
        tokens = PARSER.parse(frame.format(escape(text)))
        assert tokens[0].type == kind
        assert sum(token.type == "inline" for token in tokens) == 1
        (inline,) = [token for token in tokens if token.type == "inline"]
        assert "".join(child.content for child in inline.children or []).strip() == f"a {text}".strip()


@given(TEXTS)
def test_no_shortcode_or_template_survives(text: str) -> None:
    escaped = escape(text)
    assert not re.search(r"[{}<>]", escaped)
    assert fragment([text]).strip() == escaped.strip()


@given(st.text(max_size=60))
def test_escaped_text_is_one_line_without_characters_that_hide_or_turn_text(text: str) -> None:
    escaped = str(escape(text))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", escaped)
    assert len(escaped.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        pytest.param("one\ntwo", "one two", id="newline"),
        pytest.param("one\r\n\ttwo", "one two", id="run of control characters"),
        pytest.param("a\x00b", "a b", id="NUL"),
        pytest.param("a\u2028b", "a b", id="line separator"),
        pytest.param("a\u202eb", "a\ufffdb", id="direction override shows that something was there"),
        pytest.param("\ufeffa", "\ufffda", id="byte order mark"),
        pytest.param("1. a", "1&#46; a", id="no list"),
        pytest.param("at 3.14", "at 3.14", id="decimals stay readable"),
        pytest.param("1) a", "1&#41; a", id="no list with a bracket"),
        pytest.param("end. (so, 5 %)", "end. (so, 5 %)", id="prose stays readable"),
        pytest.param("per-event", "per-event", id="hyphens inside words stay"),
        pytest.param("- a", "&#45; a", id="no list with a hyphen"),
        pytest.param("    a", "&#32;   a", id="no code block"),
        pytest.param(": d", "&#58; d", id="no definition, no emoji"),
        pytest.param("a, b", "a, b", id="commas stay readable"),
        pytest.param("µs – é", "µs – é", id="other letters stay"),
        pytest.param("", "", id="empty"),
    ],
)
def test_text_is_escaped_no_more_than_it_needs(text: str, escaped: str) -> None:
    assert str(escape(text)) == escaped


def test_a_missing_value_is_a_dash() -> None:
    assert escape(None) == "—"


def test_numbers_print_as_they_are() -> None:
    assert escape(12.5) == "12.5"


def test_markup_made_here_is_not_escaped_again() -> None:
    assert escape(Markup("**b**")) == "**b**"
    assert escape(escape("<")) == "&#60;"


def test_values_in_a_sentence_of_ours_are_escaped_and_its_own_signs_are_not() -> None:
    text = say("**{}** {} [{}](/x/)", "<i>", units.duration(1500.0), "*x*")
    assert text == "**&#60;i&#62;** 1\u202f500\u00a0ns [&#42;x&#42;](/x/)"
    assert link("]", "/x/") == "[&#93;](/x/)"


def test_rendered_text_has_no_runs_of_empty_lines_and_one_newline_at_its_end() -> None:
    text = fragment(["", Heading("Keys"), None, "\n", Table([of_data("a")], [["b"]]), ""])
    assert "\n\n\n" not in text
    assert text.endswith("|\n")
    assert not text.startswith("\n")


FRONT = st.dictionaries(st.text(max_size=10), st.text(max_size=40) | st.integers(), max_size=4)


@given(FRONT)
def test_front_matter_is_json_that_nothing_breaks_out_of(front: dict[str, str | int]) -> None:
    text = page(front, [Heading("Tables")])
    read, end = json.JSONDecoder().raw_decode(text)
    assert read == front
    assert text[end:].startswith("\n\n## Tables")
