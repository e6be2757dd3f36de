"""The site as `probe-effect build` makes it, for tests that look at the result."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from probe_effect.checks import run
from probe_effect.exports.build import Places, build_site
from probe_effect.exports.hugo import SiteOptions
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parent.parent


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
    kept_rules = tuple(rule for rule in run.SUBMISSION_RULES if rule.id != "plain-names")
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


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Where a plain file server shows `folder`, with `/` at its end."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def build(data: Path, out: Path, kept: Kept = OWN_KEPT) -> Path:
    """The site of `data`, built into `out`."""
    for _ in build_site(Places(PROJECT, DataFolder(data, kept), out), SiteOptions()):
        pass
    return out
