"""Search, the page that was not found, and the site map."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from helpers.html_page import Page as Html
from helpers.page_shift import LAYOUT_SHIFT, MOST_SHIFT
from helpers.site_build import PROJECT
from probe_effect.site.build import root_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

SUB_PATH = "some/sub/path"


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


def test_a_long_page_is_entered_at_the_section_that_has_most_of_the_words(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=lost+events")
    found = page.locator(".search-pages li", has_text="What actions add")
    with page.expect_event("load"):
        found.locator(".search-part a").click()
    assert page.url == f"{address}guide/actions/#printing-and-what-never-gets-printed"


FIRST_HITS = {
    "add my machine": "submit/",
    "contribute results": "submit/",
    "static vs dynamic": "guide/probes/",
    "strace -c": "costs/10-program-calls-summed/",
    "strace overhead": "costs/22-system-call/",
    "arm64": "kernels/arm64/",
    "aarch64": "kernels/arm64/",
    "x86-64": "kernels/x86-64/",
    "uprobe": "costs/06-uprobe/",
    "uretprobe": "costs/07-uretprobe/",
    "kprobe": "costs/02-kprobe/",
    "tracepoint": "costs/04-tracepoint-entry/",
    "USDT": "costs/04-usdt-enabled/",
    "what does it cost to trace malloc": "costs/07-program-malloc/",
    "lost events": "guide/actions/",
    "nop5 uprobe kernel": "findings/a-5-byte-nop-is-probed-without-a-trap/",
    "wildcard": "guide/attach/",
    "sampling stacks": "guide/sampling/",
    "perf record": "tracers/perf-record/",
    "opensnoop": "tools/",
    "how to cite": "cite/",
    "download csv": "data/",
    "may I run this": "advise/",
    "does rate times cost hold": "does-it-hold/",
}
"""What readers type, and the page that answers it: a guide or a case before those that only have the word."""


def test_readers_words_find_the_page_that_answers_them_first(page: Page, address: str, *, is_deep: bool) -> None:
    found = {}
    for words in list(FIRST_HITS)[:: 1 if is_deep else 4]:
        page.goto(f"{address}search/?q={quote(words)}")
        first = page.locator(".search-pages a").first
        found[words] = (first.get_attribute("href") or "").rpartition(SUB_PATH)[2].lstrip("/")
    assert found == {words: FIRST_HITS[words] for words in found}


def test_every_page_that_has_other_words_is_there(site: Path) -> None:
    known = tomllib.loads((PROJECT / "site" / "assets" / "search.toml").read_text(encoding="utf-8"))["also"]
    assert [path for path in known if not (site / path.lstrip("/") / "index.html").is_file()] == []


@pytest.mark.deep
def test_words_that_tell_nothing_are_left_out_unless_there_are_no_others(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=%3Cqqwwzz%3E%20with%20the")
    assert "No page has" in page.locator(".search-count").inner_text()
    page.goto(f"{address}search/?q=how%20to")
    page.locator(".search-pages a").first.wait_for()


@pytest.mark.deep
def test_nothing_moves_when_results_arrive(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=uprobe")
    page.locator(".search-pages a").first.wait_for()
    assert page.evaluate(LAYOUT_SHIFT) < MOST_SHIFT


def test_a_case_is_found_by_its_id(page: Page, address: str) -> None:
    page.goto(f"{address}search/?q=06-uprobe")
    page.locator(".search-pages a").first.wait_for()
    assert any("costs/06-uprobe/" in (one.get_attribute("href") or "") for one in page.locator(".search-pages a").all())


@pytest.mark.deep
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


@pytest.mark.deep
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


def test_a_site_without_an_address_has_no_map(site: Path) -> None:
    assert not (site / "sitemap.xml").exists()
