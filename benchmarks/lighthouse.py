"""What Lighthouse says of one page of each kind, on a phone and on a desktop, and how many bytes each takes.

Run it with `make lighthouse`, after `make site`. The pages come from a server on this machine that compresses like a
usual host, below a sub-path. Lighthouse's phone is a slow one by simulation (Lantern): its times are of that phone,
not of this machine; scores of performance vary with a busy machine all the same, so the load is printed.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parent.parent
PROGRAM = PROJECT / "benchmarks/lighthouse/node_modules/lighthouse/cli/index.js"
KINDS = {
    "home": "",
    "guide": "guide/one-event/",
    "case": "costs/06-uprobe/",
    "explore": "explore/",
    "machine": "machines/*/",
    "number": "results/*/*/06-uprobe/bpftrace/",
    "data": "data/",
}
FORMS = {"phone": [], "desktop": ["--preset=desktop"]}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
CHROMIUM_OPTIONS = "--headless=new --no-sandbox --disable-gpu"
TEXT = {".html", ".css", ".js", ".json", ".svg", ".csv", ".xml"}


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Files as a usual host sends them: text compressed, fonts and pictures as they are."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class)
        """Say nothing."""

    def do_GET(self) -> None:
        """One file, or the page of a folder."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in TEXT:
            body = gzip.compress(body, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


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


def lighthouse(address: str, form: str, report: Path) -> dict[str, object]:
    """Lighthouse's report on one page."""
    command = [
        str(Path(sys.executable).with_name("node")),
        str(PROGRAM),
        address,
        *FORMS[form],
        "--quiet",
        "--output=json",
        f"--output-path={report}",
        f"--only-categories={','.join(CATEGORIES)}",
        f"--chrome-flags={CHROMIUM_OPTIONS}",
        "--no-enable-error-reporting",
    ]
    environment = os.environ | {"CHROME_PATH": shutil.which("chromium") or ""}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    found: dict[str, object] = json.loads(report.read_text(encoding="utf-8"))
    return found


def first(site: Path, pattern: str) -> str:
    """The address of the first page of that form."""
    page = next(path for path in sorted(site.glob(f"{pattern}index.html")))
    return str(page.relative_to(site)).removesuffix("index.html")


def row(kind: str, form: str, found: dict) -> str:  # type: ignore[type-arg]  # Lighthouse's own JSON
    """A line of the table: scores out of 100, and the audits that readers feel."""
    scores = [str(round(found["categories"][name]["score"] * 100)) for name in CATEGORIES]
    audits = found["audits"]
    largest_ms = audits["largest-contentful-paint"]["numericValue"]
    blocked_ms = audits["total-blocking-time"]["numericValue"]
    shift = audits["cumulative-layout-shift"]["numericValue"]
    kilobytes = audits["total-byte-weight"]["numericValue"] / 1024
    return (
        f"| {kind} | {form} | {' | '.join(scores)} | {largest_ms / 1000:.1f} | {blocked_ms:.0f} | "
        f"{shift:.3f} | {kilobytes:.0f} |"
    )


def failed(found: dict) -> list[str]:  # type: ignore[type-arg]
    """The audits that pass or fail, and failed."""
    return [
        name
        for name, audit in found["audits"].items()
        if audit.get("scoreDisplayMode") == "binary" and audit.get("score") == 0
    ]


def main() -> None:
    """Print the table."""
    site = PROJECT / "build/site"
    if not (site / "index.html").is_file() or not PROGRAM.is_file() or not shutil.which("chromium"):
        sys.exit("Needed: build/site (make site), Lighthouse (make lighthouse installs it), and chromium.")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sub").symlink_to(site)
        print(f"Load before: {os.getloadavg()[0]:.1f}\n")
        print("| Page | Form | Performance | Accessibility | Best practices | SEO | LCP, s | Blocked, ms | CLS | KiB |")
        print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|")
        notes: list[str] = []
        with served(Path(folder)) as base:
            for kind, path in KINDS.items():
                for form in FORMS:
                    found = lighthouse(f"{base}sub/{first(site, path)}", form, Path(folder) / "report.json")
                    print(row(kind, form, found), flush=True)
                    notes += [f"- {kind}, {form}: {name}" for name in failed(found)]
        print("\nFailed audits:", *(notes or ["none"]), sep="\n")


if __name__ == "__main__":
    main()
