"""Figures in the built site: their files, their own page, the frame for other sites, the picture of a link, paper."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from helpers import accessibility
from helpers.builders import picture_size
from helpers.tiers import deep_but

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.site, pytest.mark.browser]

NAME = "slowdown-06-uprobe"
FIGURE = f"charts/{NAME}/"
FIRST = "machines-06-uprobe"
"""The figure that the page of the case begins with."""
KINDS = {"slowdown": FIGURE, "costs": "charts/costs-gregg-2011-pid-provider/", "frame": f"{FIGURE}embed.html"}
KINDS |= {"instructions": "charts/instructions-per-event-kernels/"}
LINK = re.compile(r'(?:href|src)="([^"#]+)')


def test_every_figure_has_all_its_files_and_its_page(site: Path) -> None:
    folders = [path.parent for path in (site / "charts").glob("*/data.csv")]
    assert folders
    for folder in folders:
        for name in ("wide.svg", "narrow.svg", "wide.json", "data.json", "embed.html"):
            assert (folder / name).stat().st_size, f"{folder.name}/{name}"
        page = (folder / "index.html").read_text(encoding="utf-8")
        for name in ("data.csv", "data.json", "wide.svg", "wide.json", "embed.html"):
            assert f"charts/{folder.name}/{name}" in page
        assert 'id="numbers"' in page
        assert "@misc{" in page


def test_the_list_of_figures_has_all_but_those_of_many_runs_with_their_pictures(site: Path) -> None:
    page = (site / "charts/index.html").read_text(encoding="utf-8")
    listed = re.findall(r'<a href="([^"]+)"><img src="([^"]+)" alt="" loading="lazy"', page)
    assert len(listed) == len(set(listed)) > 100
    assert all((site / "charts" / picture).resolve().is_file() for _, picture in listed)
    every = {path.parent.name for path in (site / "charts").glob("*/data.csv")}
    named = {address.strip("./").rpartition("/")[2] for address, _ in listed}
    assert len(every - named) <= max(0, sum(name.startswith(("costs-", "over-time-")) for name in every) - 60)


def test_every_page_leads_to_the_figures_which_begin_with_the_ladder_and_static_beside_dynamic_probes(
    site: Path,
) -> None:
    footer = (site / "index.html").read_text(encoding="utf-8").partition("<footer")[2]
    assert 'href="charts/">Charts<' in footer.replace("./", "")
    listed = (site / "charts/index.html").read_text(encoding="utf-8").partition("figure-list")[2].split("</li>")
    assert "ladder/wide.svg" in listed[0]
    assert "static-and-dynamic/wide.svg" in next(one for one in listed if "/ladder" not in one)


@pytest.mark.parametrize(
    ("page", "place", "name"),
    [(FIGURE, ".chart-tools", NAME), ("guide/probes/", "#diagram-breakpoint", "breakpoint")],
    ids=["chart", "diagram"],
)
def test_a_drawing_can_be_had_as_svg_and_as_a_sharper_png(
    laptop: Page, address: str, page: str, place: str, name: str
) -> None:
    laptop.goto(address + page)
    svg = laptop.locator(f"{place} a.chart-picture").first.get_attribute("href") or ""
    drawing = laptop.request.get(urljoin(laptop.url, svg)).text()
    width = int(re.search(r'<svg[^>]* width="(\d+)"', drawing)[1])  # type: ignore[index]  # a drawing says it
    with laptop.expect_download() as waiting:
        laptop.locator(f"{place} [data-png]").first.click()
    assert waiting.value.suggested_filename == f"{name}.png"
    assert picture_size(waiting.value.path().read_bytes())[0] == 2 * width > 1000


def test_a_drawing_that_cannot_be_had_as_png_is_shown(laptop: Page, address: str) -> None:
    laptop.goto(address + FIGURE)
    laptop.evaluate("HTMLCanvasElement.prototype.getContext = () => null")
    laptop.locator(".chart-tools [data-png]").click()
    laptop.wait_for_url("**/wide.svg")


def test_a_site_that_does_not_know_its_address_has_no_pictures_of_links(site: Path) -> None:
    assert "og:image" not in (site / "index.html").read_text(encoding="utf-8")
    assert not [*site.rglob("card.png")]


def test_every_machine_has_a_badge_that_its_page_shows(site: Path) -> None:
    pages = [path for path in (site / "machines").glob("*/index.html") if path.parent.name != "page"]
    assert pages
    for path in pages:
        text = path.read_text(encoding="utf-8")
        address = f"/machines/{path.parent.name}/"
        shown = html.unescape(re.sub("<[^>]*>", "", text.partition('id="show-it"')[2].partition("</section>")[0]))
        assert f"[![What tracing costs on {path.parent.name}]({address}badge.svg)]({address})" in shown
        assert f'<a href="{address}"><img src="{address}badge.svg" alt=' in html.unescape(text)
        assert "<svg" in (path.parent / "badge.svg").read_text(encoding="utf-8")


def test_the_looks_of_all_tracers_are_published(site: Path) -> None:
    looks = json.loads((site / "data/tracer-looks.json").read_text(encoding="utf-8"))
    assert looks["bpftrace"]["series"] == looks["bpftrace-0-23-2"]["series"] == 1
    assert looks["bpftrace"]["shape"] != looks["bpftrace-0-23-2"]["shape"]


def test_a_frame_for_other_sites_is_one_page_without_script_whose_links_lead_home(site: Path) -> None:
    for path in (site / "charts").glob("*/embed.html"):
        text = path.read_text(encoding="utf-8")
        assert "<script" not in text
        for link in LINK.findall(text):
            target = (path.parent / link).resolve()
            assert (target / "index.html" if target.is_dir() else target).is_file(), link


@pytest.mark.parametrize("theme", deep_but(("light", "dark"), ["dark"]))
@pytest.mark.parametrize("width", deep_but((350, 800), [350]))
def test_a_framed_figure_fits_its_frame(chromium: Browser, address: str, width: int, theme: str) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 700},
        color_scheme="dark" if theme == "dark" else "light",
        java_script_enabled=False,
    )
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{address}{FIGURE}embed.html")
    drawing = page.locator("svg:visible")
    assert drawing.count() == 1
    box = drawing.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width
    assert page.get_by_role("img").get_attribute("aria-labelledby") == f"chart-{NAME}-title"
    assert said == []
    context.close()


def test_what_embeds_a_figure_has_the_whole_address_and_shows_it(laptop: Page, address: str) -> None:
    laptop.goto(address + FIGURE)
    code = laptop.locator(".chart-embed").inner_text()
    source = re.search(r'src="([^"]+)"', code)
    assert source is not None
    assert source[1] == f"{address}{FIGURE}embed.html"


def test_a_chart_is_explored_and_left_by_keyboard_and_keeps_the_focus(laptop: Page, address: str) -> None:
    laptop.goto(address + "costs/06-uprobe/", wait_until="networkidle")
    button = laptop.locator(f"#chart-{FIRST} .chart-explore")
    button.focus()
    laptop.keyboard.press("Enter")
    laptop.wait_for_selector(f"#chart-{FIRST}[data-state=live] .chart-live svg")
    assert button.evaluate("one => one === document.activeElement")
    laptop.keyboard.press("Enter")
    laptop.wait_for_selector(f"#chart-{FIRST}[data-state=still]")
    assert button.evaluate("one => one === document.activeElement")
    laptop.keyboard.press("Tab")
    assert laptop.evaluate("document.activeElement.className") == "chart-table"
    laptop.keyboard.press("Enter")
    laptop.wait_for_url(f"**/charts/{FIRST}/#numbers")


def test_a_figure_has_one_name_and_one_description(laptop: Page, address: str) -> None:
    laptop.goto(address + FIGURE)
    drawing = laptop.locator(".chart-still svg:visible")
    for attribute in ("aria-labelledby", "aria-describedby"):
        named = drawing.get_attribute(attribute)
        assert laptop.locator(f"#{named}").count() == 1
        assert laptop.locator(f"#{named}").inner_text()


def test_paper_has_the_drawing_in_ink_and_no_controls(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport={"width": 794, "height": 1123}, color_scheme="dark")
    page = context.new_page()
    page.goto(address + "costs/06-uprobe/")
    page.emulate_media(media="print")
    assert page.locator("button:visible").count() == 0
    assert page.locator(".chart-tools:visible").count() == 0
    assert page.locator(".chart-still svg:visible").count() >= 1
    label = page.locator(".chart-wide text").first
    assert label.evaluate("one => getComputedStyle(one).fill") in {"rgb(0, 0, 0)", "rgb(68, 68, 68)"}
    page.wait_for_function("() => document.documentElement.scrollWidth <= 794")
    context.close()


@pytest.mark.parametrize("kind", deep_but(KINDS, ["slowdown", "frame"]))
def test_a_figure_has_no_accessibility_violation(
    chromium: Browser, address: str, looks: Sequence[accessibility.Look], kind: str
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address + KINDS[kind])
    for details in page.locator("details > summary").all():
        details.click()
    assert accessibility.violations(page, looks) == []
    context.close()
