"""Building from data that is malformed, or that lacks what pages quote."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from helpers.builders import picture_size, write_source, write_submission
from helpers.site_build import OWN_SITES, PROJECT, build, with_quoted_source
from helpers.tiers import deep_but
from probe_effect.model import BadData

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("build")]


@pytest.fixture
def small_data(tmp_path: Path) -> Path:
    """A data folder with the suites, and the one source that hand-written pages quote."""
    shutil.copytree(PROJECT / "data/suites", tmp_path / "data" / "suites")
    return with_quoted_source(tmp_path / "data")


def _bad_csv(data: Path) -> str:
    path = next((data / "published").glob("*/figures.csv"))
    path.write_text(path.read_text(encoding="utf-8").replace(",S,", ",Q,", 1), encoding="utf-8")
    return path.name


def _bad_toml(data: Path) -> str:
    path = next((data / "published").glob("*/source.toml"))
    path.write_text("title = \n", encoding="utf-8")
    return path.name


def _bad_samples(data: Path) -> str:
    path = write_submission(data) / "samples.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",traced,", ",watched,", 1), encoding="utf-8")
    return path.name


def _bad_machine(data: Path) -> str:
    path = write_submission(data) / "machine.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"threads": 8', '"threads": "eight"'), encoding="utf-8")
    return path.name


@pytest.mark.parametrize("spoil", deep_but((_bad_csv, _bad_toml, _bad_samples, _bad_machine), [_bad_samples]))
def test_bad_data_is_named_with_its_place_and_leaves_the_previous_site_whole(
    small_data: Path, tmp_path: Path, spoil: Callable[[Path], str]
) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("the previous site", encoding="utf-8")
    name = spoil(small_data)
    with pytest.raises(BadData) as caught:
        build(small_data, out)
    problem = caught.value.problems[0]
    assert problem.file.endswith(name)
    assert problem.line is not None
    assert problem.column is not None
    assert problem.rule
    assert problem.hint
    assert [path.name for path in out.iterdir()] == ["index.html"]
    assert (out / "index.html").read_text(encoding="utf-8") == "the previous site"


RUN = "amd-epyc-2t-kvm-d4f3/2026-11-20-per-event"


@pytest.fixture(scope="module")
def others_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of data that are not the checkout's own and lack what pages quote, which knows its address."""
    folder = tmp_path_factory.mktemp("others")
    shutil.copytree(PROJECT / "data/suites", folder / "data" / "suites")
    write_source(folder / "data")
    shutil.copytree(PROJECT / "data" / "results" / RUN, folder / "data" / "results" / RUN)
    return build(folder / "data", OWN_SITES / "others" / "site", base_url="https://example.org/probe/")


@pytest.mark.deep
def test_a_number_that_a_page_quotes_and_others_data_lack_is_said_to_be_missing(others_site: Path) -> None:
    page = (others_site / "costs/tiers-of-2011/index.html").read_text(encoding="utf-8")
    assert "The tiers assume (not known here) a probe" in " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.deep
def test_other_data_make_a_site_without_the_guide(others_site: Path) -> None:
    assert not (others_site / "guide").exists()


@pytest.mark.deep
def test_a_site_that_knows_its_address_has_a_map_of_every_page(others_site: Path) -> None:
    names = {"map": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    written = ET.parse(others_site / "sitemap.xml")  # noqa: S314 (ours)
    places = [one.text or "" for one in written.findall(".//map:loc", names)]
    pages = {str(path.parent.relative_to(others_site)) for path in others_site.rglob("index.html")}
    assert all(place.startswith("https://example.org/probe/") for place in places)
    assert {place.removeprefix("https://example.org/probe/").rstrip("/") or "." for place in places} == pages
    assert "Sitemap: https://example.org/probe/sitemap.xml" in (others_site / "robots.txt").read_text(encoding="utf-8")
    assert 'href="/probe/costs/"' in (others_site / "404.html").read_text(encoding="utf-8")


@pytest.mark.deep
def test_pictures_of_links_are_of_one_size_and_weigh_little(others_site: Path) -> None:
    cards = [*others_site.rglob("card.png"), others_site / "og/site.png"]
    assert len(cards) > 2
    assert {picture_size(path.read_bytes()) for path in cards} == {(1200, 630)}
    assert max(path.stat().st_size for path in cards) < 150_000


@pytest.mark.deep
@pytest.mark.parametrize(
    ("page", "picture"),
    [
        ("costs/06-uprobe/", "charts/machines-06-uprobe/card.png"),
        ("glossary/", "og/site.png"),
        ("machines/amd-epyc-2t-kvm-d4f3/", "machines/amd-epyc-2t-kvm-d4f3/card.png"),
        ("charts/machines-06-uprobe/", "charts/machines-06-uprobe/card.png"),
        (f"results/{RUN}/", "og/site.png"),  # its chart has no card
    ],
)
def test_a_link_to_a_page_shows_its_first_chart_or_the_site(others_site: Path, page: str, picture: str) -> None:
    head = (others_site / page / "index.html").read_text(encoding="utf-8").partition("</head>")[0]
    properties = dict(re.findall(r'property="?og:([\w:]+)"? content="([^"]*)"', head))
    assert properties["image"] == f"https://example.org/probe/{picture}"
    assert (others_site / picture).is_file()
    assert properties["title"]
    assert properties["description"]
    assert properties["image:alt"]
    assert (properties["image:width"], properties["image:height"]) == ("1200", "630")
