"""The site as `probe-effect build` makes it, for tests that look at the result."""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from probe_effect.checks import registry, run
from probe_effect.exports.assemble import FOLDERS, assemble
from probe_effect.exports.build import BuildPlaces, build_site
from probe_effect.exports.hugo import SiteOptions
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parent.parent
QUOTED = Path("published", "gregg-2011-pid-provider")
"""The source that hand-written pages quote: without it no site is whole."""


def absent(what: str) -> NoReturn:
    """Skip the test that needs `what`; where CI runs it has to be there."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


OWN_KEPT = Kept(PROJECT / "build" / "kept")
"""What the checkout's own builds keep, most of it drawings."""


@contextmanager
def any_names() -> Iterator[None]:
    """While `check` takes names with markup for plain: pages must be safe whatever that rule overlooks."""
    kept_rules = tuple(rule for rule in registry.SUBMISSION_RULES if rule.id != "plain-names")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "SUBMISSION_RULES", kept_rules)
        yield


PROGRAM = """
import sys
from pathlib import Path
from site_build import build
from probe_effect.store.kept import Kept
build(Path(sys.argv[1]), Path(sys.argv[2]), Kept(Path(sys.argv[3])))
"""


def started_build(data: Path, out: Path, kept: Kept, **environment: str) -> subprocess.Popen[bytes]:
    """A build in a process of its own, with `environment` beside ours."""
    command = [sys.executable, "-c", PROGRAM, str(data), str(out), str(kept.folder)]
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


def build(data: Path, out: Path, kept: Kept = OWN_KEPT, base_url: str = "/") -> Path:
    """The site of `data`, built into `out`."""
    for _ in build_site(BuildPlaces(PROJECT, DataFolder(data, kept), out), SiteOptions(base_url)):
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
