"""Citing on the built site: every page says how, with and without scripts; changes and releases are there as files."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from helpers.html_page import Page as Parsed
from probe_effect.site.pages import citing

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.site, pytest.mark.browser]

SOURCE = "gregg-2011-pid-provider"
TAG = "{http://www.w3.org/2005/Atom}"


def number_of(catalogue: Catalogue) -> str:
    """The id of a number with an interval."""
    return next(one.id for some in catalogue.timed for one in some.numbers if one.cost and one.cost.low is not None)


class Blocks(HTMLParser):
    """The text of each element with a class, by its first class."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._name = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._name = (dict(attrs).get("class") or "").split(" ")[0] if tag in {"p", "pre"} else ""

    def handle_endtag(self, tag: str) -> None:
        self._name = "" if tag in {"p", "pre"} else self._name

    def handle_data(self, data: str) -> None:
        if self._name:
            self.found[self._name] = self.found.get(self._name, "") + data


def read(site: Path, path: str) -> str:
    return (site / path.strip("/") / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "what", ["06-uprobe", SOURCE, "amd-epyc-2t-kvm-d4f3", "qemu-tcg-1t-linux-6-1-0-50-amd64-ae3a", "per-event"]
)
def test_a_page_says_how_it_is_cited_without_scripts(site: Path, catalogue: Catalogue, what: str) -> None:
    expected = citing.citable(catalogue)[what]()
    path = expected.text.rpartition(" ")[2]
    found = Blocks(read(site, path)).found
    assert (found["cite-text"], found["cite-bibtex"]) == (expected.text, expected.bibtex)


def test_a_number_and_its_run_say_how_they_are_cited(site: Path, catalogue: Catalogue) -> None:
    number = number_of(catalogue)
    for what in (number, "/".join(number.split("/")[:2])):
        found = Blocks(read(site, f"results/{what}")).found
        assert found["cite-bibtex"] == citing.citable(catalogue)[what]().bibtex


@pytest.mark.parametrize("path", ["method/", "glossary/", "costs/", ""])
def test_a_hand_written_page_is_cited_by_its_title(site: Path, catalogue: Catalogue, path: str) -> None:
    found = Blocks(read(site, path)).found
    assert found["cite-text"].endswith(f"Probe Effect, data version {catalogue.version}. /{path}")
    assert re.fullmatch(r"@misc\{probe-effect-[a-z-]+,\n(  \w+ += .+,\n)+\}", found["cite-bibtex"])
    assert f"  version      = {{{catalogue.version}}},\n" in found["cite-bibtex"]


def test_the_bibtex_can_be_read_without_scripts(unscripted: Page, address: str) -> None:
    unscripted.goto(f"{address}costs/06-uprobe/#cite")
    bibtex = unscripted.locator(".cite-bibtex")
    if not bibtex.is_visible():  # a browser that does not open what an address points into
        unscripted.locator(".cite > summary").click()
    assert bibtex.is_visible()
    assert not unscripted.locator(".cite button").first.is_visible()


def test_scripts_complete_the_address(phone: Page, address: str) -> None:
    phone.goto(f"{address}costs/06-uprobe/#cite")
    assert phone.locator(".cite-bibtex").is_visible()
    assert phone.locator(".cite-text").inner_text().endswith(f" {address}costs/06-uprobe/")
    assert f"{{{address}costs/06-uprobe/}}," in phone.locator(".cite-bibtex").inner_text()


def test_the_address_has_the_figure_that_a_reader_came_for(phone: Page, address: str) -> None:
    phone.goto(f"{address}sources/{SOURCE}/#cost_count")
    assert phone.locator(".cite-text").text_content() is not None
    assert (phone.locator(".cite-text").text_content() or "").endswith(f"sources/{SOURCE}/#cost_count")
    phone.evaluate("location.hash = '#cost_copyinstr'")
    phone.wait_for_function("() => document.querySelector('.cite-text').textContent.endsWith('#cost_copyinstr')")
    phone.evaluate("location.hash = '#cite'")
    phone.wait_for_function("() => !document.querySelector('.cite-bibtex').textContent.includes('#')")


def test_a_form_can_be_copied(phone: Page, address: str) -> None:
    phone.context.grant_permissions(["clipboard-read", "clipboard-write"])
    phone.goto(f"{address}costs/06-uprobe/#cite")
    phone.get_by_role("button", name="Copy the BibTeX").click()
    phone.locator(".cite-message", has_text="Copied.").wait_for()
    assert phone.evaluate("navigator.clipboard.readText()") == phone.locator(".cite-bibtex").text_content()


def test_an_open_citation_fits_a_phone(phone: Page, address: str) -> None:
    phone.goto(f"{address}cite/")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.goto(f"{address}sources/{SOURCE}/#cite")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_figure_of_every_source_has_an_address(site: Path, catalogue: Catalogue) -> None:
    for source in catalogue.sources:
        found = Parsed(read(site, f"sources/{source.id}"))
        ids = [one["id"] for _, one in found.elements if "id" in one]
        assert {figure.figure for figure in source.figures} <= set(ids)
        assert len(ids) == len(set(ids)), source.id


def test_the_page_on_citing_has_real_examples(site: Path, catalogue: Catalogue) -> None:
    html = read(site, "cite")
    assert html.count('class="cite-bibtex"') == 5
    assert catalogue.releases[-1].version in Parsed(html).text


def test_every_page_leads_to_the_feed(site: Path) -> None:
    for path in ("", "data/changes", "costs/06-uprobe"):
        (link,) = [one for one in Parsed(read(site, path)).all("link") if one.get("type") == "application/atom+xml"]
        assert (site / path / link["href"]).resolve() == (site / "data" / "changes.xml").resolve()


def test_the_feed_leads_to_pages_of_this_site(site: Path) -> None:
    root = ET.fromstring((site / "data" / "changes.xml").read_bytes())  # noqa: S314 (our own feed)
    links = [link.get("href", "").partition("#")[0] for link in root.iter(f"{TAG}link")]
    for link in links:
        target = (site / "data" / link).resolve()
        assert target.is_file() or (target / "index.html").is_file(), link


def test_a_release_lies_on_the_site_as_it_was_made(site: Path, catalogue: Catalogue) -> None:
    for release in catalogue.releases:
        folder = site / "releases" / release.version
        assert "Release" in Parsed(read(site, f"releases/{release.version}")).text
        for name in release.names:
            assert (folder / name).read_bytes() == (release.folder / name).read_bytes()
