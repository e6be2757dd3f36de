"""A site of real data, built once, and served from a sub-path as a project page would be.

A run with deep tests has the whole site; any other a small one, of all hand-written pages and half of the results,
which takes half of the time and does not grow with every submission.
"""

from __future__ import annotations

import fcntl
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, sync_playwright

from helpers.accessibility import LOOKS, ONE_LOOK
from helpers.site_build import OWN_KEPT, OWN_SITES, PROJECT, absent, build, served, small_project
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from helpers.accessibility import Look
    from probe_effect.numbers.catalogue import Catalogue

SUB_PATH = "some/sub/path"

# No service of a browser vendor is asked for anything, and no sandbox because CI is root.
CHROMIUM_OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="session")
def is_deep(request: pytest.FixtureRequest) -> bool:
    """Whether this run has deep tests."""
    return any(item.get_closest_marker("deep") for item in request.session.items)


@pytest.fixture(scope="session")
def looks(*, is_deep: bool) -> tuple[Look, ...]:
    """The widths and themes in which pages are looked at; `test_contrast.py` has the colours of both themes."""
    return LOOKS if is_deep else ONE_LOOK


@pytest.fixture(scope="session")
def site_data(tmp_path_factory: pytest.TempPathFactory, worker_id: str, *, is_deep: bool) -> DataFolder:
    """What the site is made of."""
    if is_deep:
        return DataFolder(PROJECT / "data", OWN_KEPT)
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    project = shared / "small"
    with (shared / "small.lock").open("w") as lock:  # one worker makes it, and the others find it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not project.is_dir():
            small_project(project)
    return DataFolder(project / "data", OWN_KEPT)


@pytest.fixture(scope="session")
def site(site_data: DataFolder, *, is_deep: bool) -> Path:
    """The site."""
    out = OWN_SITES / ("whole" if is_deep else "small") / "site"
    return build(site_data.root, out, project=site_data.root.parent)


@pytest.fixture(scope="session")
def catalogue(site: Path, site_data: DataFolder) -> Catalogue:  # noqa: ARG001 (whose build keeps what is read here)
    """The data of the site, read once."""
    return read_catalogue(site_data)


@pytest.fixture(scope="session")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a plain file server shows the site, below a sub-path."""
    root = tmp_path_factory.mktemp("server")
    place = root / SUB_PATH
    place.parent.mkdir(parents=True)
    place.symlink_to(site)

    with served(root) as found:
        yield f"{found}{SUB_PATH}/"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's own browser; nothing is downloaded. Without windows it takes a third of the CPU time of each context."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        absent("chromium is not installed: sudo apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_OPTIONS)
        except Error as error:
            absent(f"chromium does not start here: {error}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def desktop(chromium: Browser) -> Iterator[BrowserContext]:
    """A reader at a desk, who keeps the site's files from page to page; each test opens and closes pages of its own.

    All that this site stores in a browser is the theme and the machine that a reader chose, which `laptop` clears.
    """
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


@pytest.fixture
def laptop(desktop: BrowserContext) -> Iterator[Page]:
    """A page of that reader."""
    page = desktop.new_page()
    yield page
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear()")
    page.close()


@pytest.fixture
def phone(chromium: Browser) -> Iterator[Page]:
    """A page on a phone, with nothing kept."""
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


@pytest.fixture
def unscripted(chromium: Browser) -> Iterator[Page]:
    """A page of a reader whose browser runs no scripts."""
    context = chromium.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()
