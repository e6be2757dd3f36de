"""Search, the page that was not found, and the site map."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from builders import write_data
from html_page import Page as Html
from probe_effect.exports.hugo import root_addresses
from site_build import build, with_quoted_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.site]


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    made = context.new_page()
    said: list[str] = []
    made.on("console", lambda message: said.append(message.text))
    made.on("pageerror", lambda error: said.append(str(error)))
    yield made
    assert said == []
    context.close()


def test_words_in_the_address_are_searched_for_and_lead_to_pages(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=copyinstr")
    page.locator(".search-pages a").first.wait_for()
    assert page.locator("input[name=q]").input_value() == "copyinstr"
    assert "copyinstr" in page.locator(".search-pages").inner_text()
    with page.expect_event("load"):
        page.locator(".search-pages a").first.click()
    assert "copyinstr" in page.content()


def test_a_case_is_found_by_its_id(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=06-uprobe")
    page.locator(".search-pages a").first.wait_for()
    assert any("costs/06-uprobe/" in (one.get_attribute("href") or "") for one in page.locator(".search-pages a").all())


def test_words_typed_stand_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}search/")
    page.keyboard.press("Tab")
    page.locator("input[name=q]").fill("tracepoint")
    page.locator(".search-pages a").first.wait_for()
    page.wait_for_url("**/search/?q=tracepoint")


def test_words_that_no_page_has_are_told_so(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=%3Cqqwwzz%3E")
    page.get_by_text("No page has").wait_for()
    assert "<qqwwzz>" in page.locator(".search-count").inner_text()


def test_search_results_fit_a_phone(phone: Page, address: str) -> None:
    phone.goto(f"{address}search/?q=uprobe")
    phone.locator(".search-pages a").first.wait_for()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_only_the_search_may_compile_webassembly(site: Path) -> None:
    allowed = [
        str(path.relative_to(site))
        for path in site.rglob("*.html")
        if "wasm-unsafe-eval" in path.read_text(encoding="utf-8")
    ]
    assert allowed == ["search/index.html"]


def test_the_page_that_was_not_found_works_at_any_depth(chromium: Browser, address: str, site: Path) -> None:
    whole = (site / "404.html").read_text(encoding="utf-8")
    served = whole.replace('="/', f'="{address}')  # this server's sub-path is not known to the build
    page = chromium.new_context().new_page()
    page.route("**/costs/99-nothing/", lambda route: route.fulfill(status=404, body=served, content_type="text/html"))
    page.goto(f"{address}costs/99-nothing/")
    page.get_by_role("link", name="search for “nothing”").click()
    page.wait_for_url("**/search/?q=nothing")
    page.context.close()


def test_the_page_that_was_not_found_begins_its_links_at_the_base_path(site: Path, tmp_path: Path) -> None:
    (tmp_path / "404.html").write_text('<link href="./css/a.css"><a href="./costs/">', encoding="utf-8")
    root_addresses(tmp_path, "/project/")
    assert (tmp_path / "404.html").read_text(
        encoding="utf-8"
    ) == '<link href="/project/css/a.css"><a href="/project/costs/">'
    page = Html((site / "404.html").read_text(encoding="utf-8"))
    assert all(one["href"].startswith(("/", "#", "https:")) for one in page.all("a"))


def test_a_site_that_knows_its_address_has_a_map_of_every_page(tmp_path: Path) -> None:
    data = with_quoted_source(write_data(tmp_path))
    out = build(data, tmp_path / "site", base_url="https://example.org/probe/")
    names = {"map": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    places = [one.text or "" for one in ET.parse(out / "sitemap.xml").findall(".//map:loc", names)]  # noqa: S314 (ours)
    pages = {str(path.parent.relative_to(out)) for path in out.rglob("index.html")}
    assert all(place.startswith("https://example.org/probe/") for place in places)
    assert {place.removeprefix("https://example.org/probe/").rstrip("/") or "." for place in places} == pages
    assert "Sitemap: https://example.org/probe/sitemap.xml" in (out / "robots.txt").read_text(encoding="utf-8")
    assert 'href="/probe/costs/"' in (out / "404.html").read_text(encoding="utf-8")


def test_a_site_without_an_address_has_no_map(site: Path) -> None:
    assert not (site / "sitemap.xml").exists()
