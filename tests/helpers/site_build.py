"""The site as `probe-effect build` makes it, for tests that look at the result."""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from probe_effect.checks import run as checks
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site import build as build_module
from probe_effect.site.assemble import FOLDERS, assemble
from probe_effect.site.build import BuildPlaces, SiteOptions, build_site, write_configuration
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[2]
QUOTED = Path("published", "gregg-2011-pid-provider")
"""The source that hand-written pages quote: without it no site is whole."""


def absent(what: str) -> NoReturn:
    """Skip the test that needs `what`; where CI runs it has to be there."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


OWN_KEPT = Kept(PROJECT / "build" / "kept")
"""What the checkout's own builds keep, most of it drawings."""


OWN_SITES = PROJECT / "build" / "tests"
"""Sites of tests stay there from run to run: one is built again only where something that it is made of has changed."""


@contextmanager
def any_names() -> Iterator[None]:
    """While `check` takes names with markup for plain: pages must be safe whatever that rule overlooks."""
    kept_rules = tuple(rule for rule in checks.SUBMISSION_RULES if rule.id != "plain-names")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "SUBMISSION_RULES", kept_rules)
        yield


PROGRAM = """
import sys
from contextlib import nullcontext
from pathlib import Path
from helpers.site_build import build, without_hugo
from probe_effect.store.kept import Kept
with without_hugo() if sys.argv[4:] else nullcontext():
    build(Path(sys.argv[1]), Path(sys.argv[2]), Kept(Path(sys.argv[3])))
"""


@contextmanager
def without_hugo() -> Iterator[None]:
    """While a build copies what it would give Hugo, and indexes nothing: a site to compare, in a third of the time."""

    def copied(project: Path, work: Path, destination: Path, options: SiteOptions) -> None:
        write_configuration(project, work, options)
        for folder in FOLDERS:
            shutil.copytree(work / folder, destination / folder)
        for name in ("index.html", "404.html"):
            (destination / name).touch()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_module, "run_hugo", copied)
        patch.setattr(build_module, "index_site", lambda _: None)
        patch.setattr(build_module, "every_page_is_there", lambda *_: None)  # there are no pages
        yield


def started_build(
    data: Path, out: Path, kept: Kept = OWN_KEPT, *, has_hugo: bool = True, **environment: str
) -> subprocess.Popen[bytes]:
    """A build in a process of its own, with `environment` beside ours."""
    command = [sys.executable, "-c", PROGRAM, str(data), str(out), str(kept.folder), *([] if has_hugo else ["copy"])]
    paths = {"PYTHONPATH": str(PROJECT / "tests")}
    return subprocess.Popen(command, env={**os.environ, **paths, **environment}, stdout=subprocess.DEVNULL)


class FileServer(http.server.ThreadingHTTPServer):
    """Takes as many connections at once as a browser opens: of more than the usual five, some were dropped."""

    request_queue_size = 128


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write a line for each request, and keeps connections."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two packets, of which the second would wait

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Where a plain file server shows `folder`, with `/` at its end."""
    server = FileServer(("127.0.0.1", 0), functools.partial(QuietFiles, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def with_quoted_source(data: Path) -> Path:
    """`data`, with the source that hand-written pages quote."""
    shutil.copytree(PROJECT / "data" / QUOTED, data / QUOTED)
    return data


SMALL = {
    **dict.fromkeys(("2922", "4247", "81fc", "c9b7", "d4f3", "0b2a", "37a4", "c3ac", "4049"), ""),
    **dict.fromkeys(("31da", "cea6", "ae3a", "92b1", "f61a"), "per-event usdt user-probes"),
    **dict.fromkeys(("1c23", "f6c5"), "combinations per-event"),
    **dict.fromkeys(("d37a", "a98c"), "per-event user-probes"),
    **dict.fromkeys(("6cc8", "00aa", "9e2b", "53a8", "e901", "73cd"), "per-event"),
    "cf51": "seccomp",
    "2ce0": (
        "accounting line-events network-hooks perf-maps query-timing runtime-profilers signalled-calls spans "
        "visited-threads"
    ),
}
"""The machines of a small site by their short ids, to the suites whose runs are there; all where none is named.

Machines with times are there as a whole, but for one with very many runs, every suite has a run, and so is all that
hand-written pages quote: where Hugo says that `facts.json` has no text for a key, add what has it.
"""

NAMED_RUN = re.compile(r"(?:qemu-tcg|amd-epyc|intel-xeon)[a-z0-9-]+/[a-z0-9-]+")
RUN = re.compile(r"\d{4}-\d\d-\d\d-(?P<suite>[a-z-]+?)(-\d+)?")


def small_project(folder: Path) -> Path:
    """A checkout in the new `folder` with all hand-written pages and sources, and a part of the results."""
    folder.mkdir()
    for name in (".github", "content", "site", "CONTRIBUTING.md"):
        (folder / name).symlink_to(PROJECT / name)
    data = PROJECT / "data"
    shutil.copytree(data, folder / "data", ignore=lambda place, names: names if Path(place) == data / "results" else [])
    for one in _runs_of_small_site(data / "results"):
        shutil.copytree(data / "results" / one, folder / "data" / "results" / one)
    return folder


def _runs_of_small_site(results: Path) -> set[str]:
    naming = [*(PROJECT / "content").rglob("*.md"), *(PROJECT / "data" / "releases").glob("*/manifest.json")]
    named = {run for path in naming for run in NAMED_RUN.findall(path.read_text(encoding="utf-8"))}
    found = {run for run in named if (results / run).is_dir()}
    for folder in results.glob("*/*"):
        suites = SMALL.get(folder.parent.name.rpartition("-")[2])
        run = RUN.fullmatch(folder.name)
        if run and suites is not None and (not suites or run["suite"] in suites.split()):
            found.add(f"{folder.parent.name}/{folder.name}")
    return found


def build(data: Path, out: Path, kept: Kept = OWN_KEPT, base_url: str = "/", project: Path = PROJECT) -> Path:
    """The site of `data`, built into `out`."""
    for _ in build_site(BuildPlaces(project, DataFolder(data, kept), out), SiteOptions(base_url)):
        pass
    return out


def assembled(places: BuildPlaces) -> None:
    """Put what Hugo gets into the work folder, which must not be there; nothing is checked."""
    for folder in FOLDERS:
        (places.work / folder).mkdir(parents=True)
    for _ in assemble(read_catalogue(places.data), places.work, places.data.kept, places.project):
        pass


def digests(folder: Path) -> dict[str, str]:
    """Every file in a folder, to what is in it; the index of the search is Pagefind's own, and has its own order."""
    files = (path for path in folder.rglob("*") if path.is_file() and "pagefind" not in path.parts)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
