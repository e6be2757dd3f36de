"""What a first visit to a page takes on a slow phone: bytes, largest paint, time blocked, and what shifts.

    .venv/bin/python -m benchmarks.first_visit build/site build/site-before --page guide/one-event/ --visits 7

Each folder is a site, or a page that was saved with what it loads, so that before and after, or ours and another's,
stand in one run. Chromium has a CPU four times slower than this one, 1.6 Mbit/s and 150 ms of latency, and an empty
cache; the folders take turns, and the table has medians with the least and the greatest. The server compresses like a
usual host. Figures of a busy machine are too high: the load is printed.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import statistics
import sys
import threading
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click
from benchmarks.lighthouse import CHROMIUM_OPTIONS, Compressing
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, CDPSession

CPU_SLOWDOWN = 4
NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}

# Blocked is what of each long task exceeds 50 ms, as Lighthouse has it.
OBSERVED = """
globalThis.visit = { largest: 0, blocked: 0, shift: 0 };
const watch = (type, act) => new PerformanceObserver((list) => list.getEntries().forEach(act))
  .observe({ type, buffered: true });
watch("largest-contentful-paint", ({ startTime }) => { visit.largest = startTime; });
watch("longtask", ({ duration }) => { visit.blocked += duration - 50; });
watch("layout-shift", ({ value, hadRecentInput }) => { if (!hadRecentInput) visit.shift += value; });
"""


@dataclass(frozen=True)
class Visit:
    """One visit: kilobytes (of 1 000) on the wire, both times in ms, and the cumulative layout shift."""

    kilobytes: float
    largest_paint_ms: float
    blocked_ms: float
    shift: float


def slowed(session: CDPSession) -> list[float]:
    """The bytes of each answer to come, on a connection and a CPU that are made slow."""
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", NETWORK)
    session.send("Emulation.setCPUThrottlingRate", {"rate": CPU_SLOWDOWN})
    return received


def visit(browser: Browser, address: str, width: int) -> Visit:
    """A first visit, until nothing is loaded any more."""
    context = browser.new_context(viewport={"width": width, "height": 844 if width < 720 else 900})
    page = context.new_page()
    page.add_init_script(OBSERVED)
    received = slowed(context.new_cdp_session(page))
    page.goto(address, wait_until="networkidle")
    found = page.evaluate("visit")
    context.close()
    return Visit(sum(received) / 1000, found["largest"], found["blocked"], found["shift"])


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on a server of its own."""
    handler = functools.partial(Compressing, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def cell(values: tuple[float, ...], digits: int) -> str:
    """A median with its least and its greatest."""
    low, middle, high = (f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def row(site: Path, visits: list[Visit]) -> str:
    """A line of the table."""
    columns = zip(*map(astuple, visits), strict=True)
    digits = [3 if field.name == "shift" else 0 for field in fields(Visit)]
    return f"| {site} | {' | '.join(map(cell, columns, digits))} |"


@click.command()
@click.argument("sites", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--page", default="", help="The page of each site, such as guide/one-event/.", show_default="home")
@click.option("--visits", default=5, help="How many of each site.", show_default=True)
@click.option("--width", default=390, help="Of the window, in CSS pixels.", show_default=True)
def main(sites: tuple[Path, ...], page: str, visits: int, width: int) -> None:
    """Print the table."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("Needed: chromium. Install it with: sudo apt-get install chromium")
    found: dict[Path, list[Visit]] = {site: [] for site in sites}
    print(f"Load before: {os.getloadavg()[0]:.1f}; {visits} visits each, {width} px wide\n")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_OPTIONS.split())
        for _ in range(visits):
            for site, own in found.items():
                with served(site) as address:
                    own.append(visit(browser, address + page, width))
        browser.close()
    print("| Site | KB | Largest paint, ms | Blocked, ms | Shift |", "|:--|--:|--:|--:|--:|", sep="\n")
    for site, own in found.items():
        print(row(site, own))


if __name__ == "__main__":
    main()
