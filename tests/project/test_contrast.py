"""Every text of the site can be read on what is behind it, in both themes: by the tokens that the style sheet names."""

from __future__ import annotations

import re
from itertools import product

import pytest

from helpers.colours import SHEETS, THEMES, TOKENS, contrast

READABLE, SEEN, ON_HEAT = 4.5, 3.0, 5.0
"""WCAG 2: of text, and of lines and shapes; and what tokens.css promises of the ink on a step of cost."""

RULE = re.compile(r"(?P<selector>[^{}]+)\{(?P<body>[^{}]*)\}")
COLOUR = re.compile(r"(?<![\w-])color: var\(--([a-z0-9-]+)\)")
BEHIND = re.compile(r"(?<![\w-])background: var\(--([a-z0-9-]+)\)")
ANYWHERE = ("paper", "tint")
"""What a page has behind text: the page itself, and a row or a block that is chosen or pointed at."""

OF_SHAPES = {
    ("muted", "chart-grid"),  # the right side of a diagram
    ("paper", "accent"),  # a program in a drawing of what an event executes
    ("ink", "heat-2"),  # what it calls
}
"""Text on a background that another rule gives it, or that is a drawing's fill."""


def rules() -> list[tuple[set[str], set[str]]]:
    """The colours of text, and of what is behind it, that each rule of the style sheet names."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(SHEETS.glob("*.css")))
    bodies = [found["body"] for found in RULE.finditer(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))]
    return [(set(COLOUR.findall(body)), set(BEHIND.findall(body))) for body in bodies]


def pairs() -> set[tuple[str, str]]:
    """Each text and what may be behind it: both of one rule; else the page, and of a background the page's ink."""
    found = set(OF_SHAPES)
    for texts, behind in rules():
        if texts and behind:
            found |= set(product(texts, behind))
        else:
            found |= set(product(texts - {"paper"}, ANYWHERE)) | {("ink", one) for one in behind}
    return found


def too_faint(some: set[tuple[str, str]], least: float) -> list[tuple[str, str, str, float]]:
    return [
        (theme, one, other, round(found, 2))
        for one, other in sorted(some)
        for place, theme in enumerate(THEMES)
        if (found := contrast(TOKENS[one][place], TOKENS[other][place])) < least
    ]


def test_the_style_sheet_is_read_as_it_is_written() -> None:
    assert {"light", "dark"} == set(THEMES)
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert {("muted", "paper"), ("paper", "ink"), ("ink", "heat-6"), ("verdict-no", "tint")} <= pairs()


def test_every_text_can_be_read_on_what_may_be_behind_it() -> None:
    assert too_faint(pairs(), READABLE) == []


def test_the_ink_is_readable_on_every_step_of_a_cost() -> None:
    assert too_faint({("ink", name) for name in TOKENS if name.startswith("heat-")}, ON_HEAT) == []


def test_a_focused_element_and_an_axis_are_seen_on_the_page() -> None:
    assert too_faint(set(product(("focus", "chart-axis"), ANYWHERE)), SEEN) == []


def test_a_faint_text_is_found() -> None:
    assert [one[:3] for one in too_faint({("hairline", "paper"), ("ink", "paper")}, READABLE)] == [
        ("light", "hairline", "paper"),
        ("dark", "hairline", "paper"),
    ]
