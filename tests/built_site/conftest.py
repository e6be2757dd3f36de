"""The real site, built once from the real data, and served from a sub-path as a project page would be."""

from __future__ import annotations

import fcntl
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, sync_playwright

from site_build import PROJECT, absent, build, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

SUB_PATH = "some/sub/path"

# No service of a browser vendor is asked for anything, and no sandbox because CI is root.
CHROMIUM_OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The site of the real data, built once for all workers: whoever comes second waits and takes it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "site"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "site").is_dir():
            build(PROJECT / "data", shared / "site")
    return shared / "site"


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
