"""One question has one answer on all pages: in the text, on the ladder, on the home page, and in the form's words."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from probe_effect import units
from probe_effect.costs.questions import QUESTIONS, of_all_machines
from probe_effect.site.pages.ladder_page import HOME, RUNGS, SCALES, group_of

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = pytest.mark.site

QUOTE = re.compile(r'<a [^>]*data-question="?(question/[^"> ]+)"?[^>]*>([^<]*)</a>')
TAG = re.compile(r"<[^>]+>")


def quotes(site: Path) -> dict[str, dict[str, list[str]]]:
    """Question to each text that answers it, to the pages that have it."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(site.rglob("index.html")):
        if path.relative_to(site).parts[0] != "results":
            for key, text in QUOTE.findall(path.read_text(encoding="utf-8")):
                found.setdefault(key, {}).setdefault(html.unescape(text), []).append(str(path.parent.relative_to(site)))
    return found


def test_each_question_has_one_answer_on_all_pages(site: Path) -> None:
    found = quotes(site)
    assert len(found) > 15
    assert {key: texts for key, texts in found.items() if len(texts) > 1} == {}


def test_a_question_in_the_text_has_the_range_that_the_ladder_has(site: Path, catalogue: Catalogue) -> None:
    ladder = html.unescape(TAG.sub("", (site / "ladder" / "index.html").read_text(encoding="utf-8")))
    for rung in RUNGS:
        found = of_all_machines(catalogue, rung)
        if found is not None and found.machines > 1 and rung.words in ladder:
            assert f"{units.span(found.time, SCALES[group_of(rung)])} ({found.machines})" in ladder, rung.words


def test_the_home_page_says_the_ranges_of_its_questions(site: Path, catalogue: Catalogue) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    home = html.unescape(TAG.sub("", page))
    assert page.count("/ladder/#") >= len(HOME), "each leads to the rows that have its range"
    for asked in HOME:
        found = of_all_machines(catalogue, asked)
        assert found is not None
        assert f"{units.span(found.time, units.DURATION)} on {found.machines} machines" in home


def test_a_named_question_is_asked_somewhere(site: Path) -> None:
    asked = {key.split("/")[1] for key in quotes(site)}
    on_pages = {one.id for one in (*RUNGS, *HOME)} | {"tracepoint", "uprobe-emulated", "uprobe-stepped"}
    assert QUESTIONS.keys() - asked - on_pages == set()
