"""What several test files share: their order, a small data folder, the real data once."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.nodeid import NodeId

from helpers.builders import PROJECT, REAL_DATA, write_data
from helpers.needs import pytest_runtest_makereport  # noqa: F401  (a hook)
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.measure import diagnosis, testbed
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue

pytest_plugins = ["helpers.tiers", "helpers.time_record"]

# A shell without job control starts what it puts into the background with SIGINT ignored: programs that tests start
# and end by it are to get it as from a terminal.
for number in {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

mount_for_our_time()

# Tests that measure side by side would find that another measurement runs on this machine.
testbed.LOCKS = Path(tempfile.mkdtemp(prefix="lock-"))
atexit.register(shutil.rmtree, testbed.LOCKS, ignore_errors=True)

FIRST = (
    "emulated",
    "emulated-arm64",
    "site",
    "lint",
    "workflows",
    "files",
    "test_browser",
    "tracer",
    "test_one_engine",
    "test_emulated_machine",
    "test_tracer_monitors",
    "test_resume",
    "test_submit",
    "test_try",
)
"""Groups that take longest, by which a worker begins: one that began last would leave the other workers idle."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long groups first. What is in no group goes file by file: to hand out each test alone takes a third CPU."""
    groups = {item: _group(item) for item in items}
    items.sort(key=lambda item: FIRST.index(groups[item]) if groups[item] in FIRST else len(FIRST))
    if hasattr(config, "workerinput"):
        # xdist reads the group from the end of an id, and 3.8 puts it where pytest 9.2 has no id any more: every group
        # was in all workers, and each made its fixtures.
        for item in items:
            item._id = NodeId.parse(f"{item.nodeid}@{groups[item]}")


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else item.path.stem


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure as if nothing else traced: tests side by side, and others on the machine, do."""
    monkeypatch.setattr(diagnosis, "tracing", list)
    monkeypatch.setattr(diagnosis, "present", frozenset)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small sound data folder: one suite, one submission, one source."""
    return write_data(tmp_path)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers share, from run to run where we may write there."""
    folder = PROJECT / "build" / "tests"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if os.access(folder, os.W_OK):
        return folder
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def kept(shared: Path) -> Kept:
    """What tests keep of the real data, apart from what builds keep: a test may change our code while it runs."""
    return Kept(shared / "kept")


@pytest.fixture(scope="session")
def compiled_cache(shared: Path, worker_id: str) -> Path:
    """Where real compilers' programs are kept, by the hash of their sources and of what compiled them.

    Each worker has its own: a probe in a program sees the runs of all who run that very file.
    """
    return shared / "compiled" / worker_id


@pytest.fixture(scope="session")
def cache_with_kept(kept: Kept, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For XDG_CACHE_HOME: a program that a test starts finds what workers keep, and has all else of a cache alone."""
    home = tmp_path_factory.mktemp("cache")
    (home / "probe-effect").mkdir()
    for place in (Path(f"{kept.folder}/{byte:02x}") for byte in range(256)):
        place.mkdir(parents=True, exist_ok=True)
        (home / "probe-effect" / place.name).symlink_to(place)
    return home


@pytest.fixture(scope="session")
def real_data(kept: Kept) -> DataFolder:
    """The data of this project."""
    return DataFolder(REAL_DATA, kept)


@pytest.fixture(scope="session")
def catalogue(real_data: DataFolder) -> Catalogue:
    """All of it, read once. Nothing may depend on how much it is, or on what a sound submission adds."""
    return read_catalogue(real_data)
