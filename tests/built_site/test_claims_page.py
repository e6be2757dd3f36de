"""The page of claims: an anchor, a source, a verdict and figures for each, and a choice that needs no script."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from helpers.html_page import Page as Html

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

PAGE = "claims/index.html"
VERDICTS = {"holds", "holds if", "does not hold", "cannot be said"}


@pytest.fixture(scope="module")
def html(site: Path) -> Html:
    return Html((site / PAGE).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows(site: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((site / "claims/data.csv").read_text(encoding="utf-8").splitlines()))


def test_each_claim_has_one_place_of_its_own_and_an_address_of_its_source(
    html: Html, rows: list[dict[str, str]]
) -> None:
    ids = [one["id"] for _, one in html.elements if "id" in one]
    assert len(ids) == len(set(ids))
    articles = [one["id"] for one in html.all("article") if "claim" in one.get("class", "").split()]
    assert sorted(articles) == sorted(row["id"] for row in rows)
    quoted = [one["cite"] for one in html.all("blockquote") if "cite" in one]
    assert len(quoted) == len(rows)
    assert all(address.startswith("https://") for address in quoted)
    assert all(len(row["words"].split()) <= 25 for row in rows)


def test_each_verdict_has_its_figures_or_says_what_is_missing(site: Path) -> None:
    subjects = [path.read_text(encoding="utf-8") for path in (site / "claims").glob("on-*/index.html")]
    articles = [one for text in subjects for one in text.split('<article class="claim ')[1:]]
    assert len(articles) == (site / PAGE).read_text(encoding="utf-8").count('<article class="claim ')
    for one in articles:
        assert ("claim-figures" in one) != ("claim-missing" in one)
        if "claim-figures" not in one:
            assert one.startswith("is-cannot-be-said")
        for address in re.findall(r'href="\.\./\.\./(results/[^"#]+)', one):
            assert (site / address / "index.html").is_file()


def test_each_claim_leads_to_its_figures_on_the_page_of_its_subject(site: Path, html: Html) -> None:
    found = [one["href"].removeprefix("../") for one in html.all("a") if one.get("class") == "claim-more"]
    assert len(found) == len([one for one in html.all("blockquote") if "cite" in one])
    for address, _, name in (one.partition("#") for one in found):
        assert name in Html((site / address / "index.html").read_text(encoding="utf-8")).ids


def test_the_files_have_the_verdicts_of_the_page(site: Path, rows: list[dict[str, str]]) -> None:
    text = (site / PAGE).read_text(encoding="utf-8")
    found = json.loads((site / "claims/data.json").read_text(encoding="utf-8"))
    assert {row["verdict"] for row in rows} <= VERDICTS
    names = [column["name"] for column in found["columns"]]
    for row, values in zip(rows, found["rows"], strict=True):
        assert dict(zip(names, values, strict=True))["verdict"] == row["verdict"]
        assert f'class="claim is-{row["verdict"].replace(" ", "-")}" id="{row["id"]}"' in text


def test_each_claim_has_a_badge_that_says_its_verdict(site: Path, rows: list[dict[str, str]]) -> None:
    for row in rows:
        badge = ET.fromstring((site / f"claims/{row['id']}.svg").read_text(encoding="utf-8"))  # noqa: S314 (ours)
        assert "".join(badge.itertext()).endswith(f"{row['id']} {row['verdict']}")


def test_a_reader_without_scripts_chooses_a_verdict(unscripted: Page, address: str, rows: list[dict[str, str]]) -> None:
    unscripted.goto(f"{address}claims/")
    assert unscripted.locator(".claim:visible").count() == len(rows)
    for verdict in sorted({row["verdict"] for row in rows}):
        unscripted.locator(f'[value="{verdict.replace(" ", "-")}"]').check()
        shown = unscripted.locator(".claim:visible")
        assert shown.count() == sum(row["verdict"] == verdict for row in rows)
        assert set(unscripted.locator(".claim-verdict:visible").all_inner_texts()) == {verdict.capitalize()}
    headings = unscripted.locator(".claims-subject:visible h2").count()
    assert headings == unscripted.locator(".claims-subject:visible:has(.claim:visible)").count()
