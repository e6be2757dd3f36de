"""Data as files on the real site: beside each page, in `/data/`, and described for programs."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

import pytest

from helpers.html_page import Page

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = [pytest.mark.site, pytest.mark.browser, pytest.mark.xdist_group("files")]

MACHINE = "amd-epyc-2t-kvm-d4f3"
RUN = f"results/{MACHINE}/2026-11-20-per-event"
PAGES = ("costs", "costs/06-uprobe", "kernels", f"machines/{MACHINE}", "sources/kutrace", "suites/per-event", RUN)
WHOLE = ("", "data")


def page_of(site: Path, name: str) -> Page:
    return Page((site / name / "index.html").read_text(encoding="utf-8"))


def file_of(site: Path, name: str, address: str) -> Path:
    """The file that an address on the page `name` means; the site lies at the root here."""
    whole = urljoin(f"https://site.example/{name}/" if name else "https://site.example/", urldefrag(address).url)
    return site / whole.removeprefix("https://site.example/")


def described(site: Path, name: str) -> dict[str, Any]:
    (block,) = page_of(site, name).data_blocks
    found: dict[str, Any] = json.loads(block)
    return found


@pytest.mark.parametrize("name", [*PAGES, f"{RUN}/06-uprobe/bpftrace"])
def test_a_page_from_data_links_its_numbers_as_files_that_are_there(site: Path, name: str) -> None:
    # On the page of a number they are two of its data, in a sentence.
    links = [link["href"] for link in page_of(site, name).all("a") if "download" in link or name not in PAGES]
    own = [
        link for link in links if re.search(r"/(data|counts|published)\.(csv|json)$", link) and "charts/" not in link
    ]
    files = [file_of(site, name, link) for link in own]
    assert {file.name for file in files} >= {"data.csv", "data.json"}
    assert all(file.stat().st_size for file in files)
    folder = site / (RUN if name.startswith(RUN) else name)
    assert {file.parent.resolve() for file in files} == {folder.resolve()}


def test_the_checksums_hold_for_what_is_published(site: Path) -> None:
    data = site / "data"
    lines = (data / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert lines
    for digest, name in (line.split("  ", 1) for line in lines):
        assert hashlib.sha256((data / name).read_bytes()).hexdigest() == digest, name


def test_the_page_of_all_data_links_every_download_and_is_short(site: Path) -> None:
    links = {file_of(site, "data", link["href"]).name for link in page_of(site, "data").all("a")}
    assert {"probe-effect.zip", "samples.parquet", "costs.parquet", "costs.csv", "costs.json", "SHA256SUMS"} <= links
    assert {"counts.csv", "counts.json", "datapackage.json", "LICENSE"} <= links
    lists = ["data/files", *(f"data/files/page/{path.name}" for path in (site / "data/files/page").glob("*"))]
    files = {file_of(site, name, link["href"]).resolve() for name in lists for link in page_of(site, name).all("a")}
    assert {path.resolve() for path in (site / "data/results").glob("*/*/samples.csv")} <= files
    assert not any(link["href"].endswith("/samples.csv") for link in page_of(site, "data").all("a"))


@pytest.mark.parametrize("name", WHOLE)
def test_the_whole_data_set_describes_itself_for_programs(site: Path, name: str) -> None:
    found = described(site, name)
    assert found["@context"].startswith("https://schema.org")
    assert found["@type"] == "Dataset"
    assert found.keys() >= {
        *("name", "license", "creator", "version", "dateModified", "variableMeasured", "measurementTechnique"),
        *("temporalCoverage", "isAccessibleForFree", "distribution", "url"),
    }
    assert 50 <= len(found["description"]) <= 5000
    assert file_of(site, name, found["url"]) == site / "data"
    for download in found["distribution"]:
        assert download["@type"] == "DataDownload"
        content = file_of(site, name, download["contentUrl"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == download["sha256"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_from_data_describes_its_part_for_programs(site: Path, name: str) -> None:
    found = described(site, name)
    assert found["@type"] == "Dataset"
    assert found["isPartOf"]["name"] == described(site, "data")["name"]
    for one in (found, found["isPartOf"]):
        assert one["name"]
        assert 50 <= len(one["description"]) <= 5000
    assert file_of(site, name, found["url"]).resolve() == (site / name).resolve()
    for download in found["distribution"]:
        path = file_of(site, name, download["contentUrl"])
        assert path.is_file(), download
        assert download["encodingFormat"] == {".csv": "text/csv", ".json": "application/json"}[path.suffix]


def test_a_page_without_numbers_describes_no_data(site: Path) -> None:
    assert page_of(site, "glossary").data_blocks == []


def test_a_browser_has_nothing_against_the_description_and_programs_find_it(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{address}data/")
    block = page.locator('script[type="application/ld+json"]').text_content()
    assert block
    first = json.loads(block)["distribution"][0]["contentUrl"]
    content = page.request.get(urljoin(page.url, first)).body()
    page.close()
    assert said == []
    assert content[:2] == b"PK"


@pytest.mark.parametrize("name", ["data/", "data/columns/", "data/files/"])
def test_the_pages_on_data_fit_a_phone(chromium: Browser, address: str, name: str) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{address}{name}")
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert width == 390
