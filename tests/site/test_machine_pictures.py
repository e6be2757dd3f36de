"""What a machine's page has to show elsewhere: its badge, and the picture of a link to it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from helpers.builders import MACHINE, picture_size, write_data
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.charts.draw import badge, draw_card, machine_card
from probe_effect.site.charts.theme import CARD_HEIGHT, WIDTHS
from probe_effect.site.figures import write_pictures
from probe_effect.site.pages import machine_page
from probe_effect.store.kept import NOWHERE
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
COSTS = [("tracepoint", "180 ns"), ("user probe, emulated", "750 ns"), ("user probe, stepped", "5.2 µs")]
HOSTILE = "<script>alert(1)</script>&quot;'"


def test_a_badge_says_in_words_what_it_shows_and_has_nothing_that_is_active() -> None:
    root = ET.fromstring(badge(COSTS))  # noqa: S314 (ours)
    shown = ": ".join(one.text or "" for one in root.iter(f"{SVG}text"))
    assert shown == "Probe Effect: tracepoint 180 ns · user probe, emulated 750 ns"
    assert root.get("aria-label") == root.findtext(f"{SVG}title") == shown
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {"svg", "title", "rect", "path", "text"}
    assert not any(name.startswith("on") or name in {"style", "href"} for one in root.iter() for name in one.attrib)


def test_a_machine_without_a_clear_cost_has_a_badge_too() -> None:
    assert "Probe Effect: measured" in badge([])


def test_what_comes_from_data_is_text_on_a_badge() -> None:
    root = ET.fromstring(badge([(HOSTILE, HOSTILE)]))  # noqa: S314 (ours)
    assert HOSTILE in (root.findtext(f"{SVG}title") or "")


@pytest.mark.parametrize("name", ["Example CPU 9000, 8 CPUs, Linux 6.12", "W" * 200, HOSTILE])
def test_the_picture_of_a_link_to_a_machine_has_the_size_of_all(name: str) -> None:
    drawn = draw_card(machine_card(MACHINE, name, "nested virtual machine", COSTS), NOWHERE)
    assert picture_size(drawn) == (WIDTHS["card"], CARD_HEIGHT)
    assert len(drawn) < 150_000


def test_both_are_written_beside_the_page_which_names_them(tmp_path: Path) -> None:
    catalogue = read_catalogue(DataFolder(write_data(tmp_path)), "https://example.org/")
    write_pictures(catalogue, tmp_path / "work", NOWHERE)
    page = machine_page.write(catalogue.numbers.machines()[MACHINE], catalogue)
    for path in (machine_page.card(MACHINE), machine_page.badge(MACHINE)):
        assert (tmp_path / "work/static" / path).is_file()
        assert f"/{path}" in page


def test_a_site_that_does_not_know_its_address_has_no_pictures_of_links(tmp_path: Path) -> None:
    catalogue = read_catalogue(DataFolder(write_data(tmp_path)))
    write_pictures(catalogue, tmp_path / "work", NOWHERE)
    assert [path.name for path in (tmp_path / "work").rglob("*.*")] == ["badge.svg"]
