"""A build that is killed, starved or not alone leaves a whole site; the same data give the same bytes."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from helpers.builders import write_counted_submission, write_data
from helpers.site_build import PROJECT, build, digests, started_build, with_quoted_source, without_hugo
from probe_effect.model import HostNotReady
from probe_effect.site import build as build_module
from probe_effect.site.build import RECORD, BuildPlaces, SiteOptions, build_site
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("holds")]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine that was measured, and one whose instructions were counted."""
    made = write_data(tmp_path_factory.mktemp("whole"))
    write_counted_submission(made)
    return with_quoted_source(made)


@pytest.fixture(scope="module", autouse=True)
def copying_in_place_of_hugo(*, is_deep: bool) -> Iterator[None]:
    """Every run proves what a build does with what it makes; only the deep tier makes pages of it."""
    with nullcontext() if is_deep else without_hugo():
        yield


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, data: Path) -> dict[str, str]:
    """What a build makes that nothing disturbs."""
    return digests(build(data, tmp_path_factory.mktemp("undisturbed") / "site"))


@pytest.mark.deep
def test_a_build_that_is_killed_leaves_the_old_site_whole_and_the_next_one_works(
    tmp_path: Path, data: Path, site: dict[str, str], *, is_deep: bool
) -> None:
    out = tmp_path / "out" / "site"
    assert digests(build(data, out)) == site
    work = out.with_name("site.work")
    (work / RECORD).unlink()  # with it the next build would find nothing to do
    marks = (work / "content", work / "hugo.json", out.with_name("site.new"))
    for mark in marks if is_deep else marks[::2]:
        stamp = mark.stat().st_mtime_ns if mark.exists() else 0
        running = started_build(data, out, has_hugo=is_deep)
        while running.poll() is None and (not mark.exists() or mark.stat().st_mtime_ns == stamp):
            time.sleep(0.001)  # until it has come so far; nothing is timed
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert digests(out) == site
    assert digests(build(data, out)) == site


def test_a_site_is_built_again_only_where_something_has_changed(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = shutil.copytree(data, tmp_path / "data")
    places = BuildPlaces(PROJECT, DataFolder(own), tmp_path / "out" / "site")

    def built(places: BuildPlaces, _: SiteOptions) -> Iterator[str]:
        yield "Hugo"
        places.out.mkdir(exist_ok=True)
        (places.out / "index.html").touch()

    def is_built(repository: str = "") -> bool:
        return "Hugo" in list(build_site(places, SiteOptions(repository=repository)))

    monkeypatch.setattr(build_module, "_build_site", built)
    assert is_built()
    assert not is_built()
    assert is_built("https://example.org/probes")
    assert is_built(), "what one build was told is not left in the next one's site"
    (places.out / "index.html").unlink()
    assert is_built()
    script = next((own / "suites").rglob("*.bt"))
    script.write_text(f"{script.read_text(encoding='utf-8')}// one more line\n", encoding="utf-8")
    assert is_built()
    assert not is_built()


@pytest.mark.deep
def test_two_builds_at_once_take_turns_and_the_site_is_whole(
    tmp_path: Path, data: Path, site: dict[str, str], *, is_deep: bool
) -> None:
    out = tmp_path / "out" / "site"
    builds = [started_build(data, out, has_hugo=is_deep, PYTHONHASHSEED=seed) for seed in ("1", "7")]
    assert [one.wait() for one in builds] == [0, 0]
    assert digests(out) == site


@pytest.mark.parametrize("step", ["assemble", "run_hugo", "index_site"])
def test_a_full_disk_is_told_and_leaves_the_old_site_whole(
    tmp_path: Path, data: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("of before", encoding="utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out))

    monkeypatch.setattr(build_module, step, full)
    with pytest.raises(HostNotReady, match=r"No space left on device.*is as it was before"):
        build(data, out)
    assert [path.name for path in out.iterdir()] == ["index.html"]


@pytest.mark.deep
def test_spoilt_entries_another_folder_locale_and_time_zone_change_no_byte(
    tmp_path: Path, data: Path, site: dict[str, str]
) -> None:
    out, kept = tmp_path / "another folder" / "site", tmp_path / "kept"
    assert digests(build(data, tmp_path / "site", Kept(kept))) == site
    wrong = (b"", b"\0" * 100, hashlib.sha256(b"[]").digest() + b"[1]")
    for number, path in enumerate(sorted(path for path in kept.rglob("*") if path.is_file())):
        content = path.read_bytes()
        path.write_bytes((*wrong, content[: len(content) // 2], content[:-1] + b"!")[number % 5])
    other = {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "7"}
    assert started_build(data, out, Kept(kept), has_hugo=True, **other).wait() == 0
    assert digests(out) == site
