"""The method: short enough to be read, and each address of the time when it was one page leads to its part."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers import prose
from helpers.html_page import Page
from helpers.site_build import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted((PROJECT / "content" / "method").glob("*.md"))
WORD = re.compile(r"\w[\w'’.,-]*")

ADDRESSES = """
what-is-measured in-which-order nothing-is-lost cost-and-its-interval how-true-the-intervals-are
against-running-one-arm-after-the-other what-counts-as-a-difference do-the-events-add-up which-instruction-is-probed
starting-and-stopping what-a-monitor-takes-itself instructions what-one-event-executes
whether-the-gate-finds-regressions auditing times-in-a-guest-of-our-own from-cost-to-slowdown
whose-costs-which-basis-how-they-add-how-sure from-counts-to-time from-a-script-to-an-answer timed-in-a-loop-of-ours
a-command-with-and-without-a-script real-programs beside-what-is-traced a-build single-operations a-sample
agents-and-filters-of-system-calls a-stop-in-another-process-and-profilers-of-a-language what-tracing-costs-now
how-numbers-are-written tiers-and-grades what-a-machine-is hosted-runners nested-or-not published-figures claims
which-number-is-current what-is-wanted what-a-review-looks-at what-tells-forged-data signed-runs findings
""".split()
"""The sections of `/method/` until version 1.0.0, which others may cite."""


def words(path: Path) -> int:
    """The words of a page's prose, without front matter, tables and code."""
    lines = prose.MARKUP.sub(lambda match: "N" * (not match["nothing"]), path.read_text(encoding="utf-8")).splitlines()
    return sum(len(WORD.findall(line)) for line in lines if not line.startswith("|"))


def test_the_method_is_read_in_an_hour_and_its_first_page_in_minutes() -> None:
    assert 0 < words(PROJECT / "content" / "method" / "_index.md") <= 1200
    assert sum(map(words, PAGES)) <= 9000


def read(site: Path, address: str) -> Page:
    return Page((site / address / "index.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("old", ADDRESSES)
def test_a_section_of_the_old_page_is_there_or_leads_to_its_new_page(site: Path, old: str) -> None:
    text = (site / "method" / "index.html").read_text(encoding="utf-8")
    assert text.count(f'id="{old}"') == 1
    if entry := re.search(rf'<li id="{old}"><a href="\.\./method/([a-z]+)/#{old}">', text):
        assert [found for _, found in read(site, f"method/{entry[1]}").elements if found.get("id") == old] != []
    else:
        assert re.search(rf'<h2 id="{old}"', text)


def test_each_finding_that_was_a_section_there_leads_to_its_page(site: Path) -> None:
    ids = [found.get("id") for _, found in read(site, "method").elements]
    names = [path.stem for path in (PROJECT / "content" / "findings").glob("[!_]*.md")]
    assert names
    assert [name for name in names if ids.count(name) != 1] == []
