"""The source of a project comes from Debian once, has the hash that the suite names, and lies in our own folder."""

from __future__ import annotations

import hashlib
import os
import tarfile
from typing import TYPE_CHECKING

import pytest

from helpers.build_trees import small_tree
from probe_effect.guests import debian
from probe_effect.guests.assembly import fetched
from probe_effect.model import HostNotReady
from probe_effect.store.suite_file import Project

if TYPE_CHECKING:
    from pathlib import Path

ARCHIVE = "small_1.0.orig.tar.xz"

APT_GET = """\
#!/bin/sh
echo "$*" >> "{folder}/asked"
[ -e "{folder}/offline" ] && {{ echo "E: Temporary failure resolving 'deb.debian.org'" >&2; exit 100; }}
case "$*" in
*--tar-only*) cp "{folder}/{archive}" . ;;
esac
"""


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a fake apt-get, with the archive that it offers."""
    folder, programs, keyring = tmp_path / "apt", tmp_path / "bin", tmp_path / "keys.gpg"
    programs.mkdir()
    with tarfile.open(small_tree(folder / "small-1.0").parent / ARCHIVE, "w:xz") as archive:
        archive.add(folder / "small-1.0", "small-1.0")
    for name, text in {
        "apt-get": APT_GET.format(folder=folder, archive=ARCHIVE),
        "dpkg-deb": "",
        "apt-cache": "",
    }.items():
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    keyring.touch()
    monkeypatch.setattr(debian, "KEYRING", keyring)
    monkeypatch.setattr(debian, "mirror", lambda: "http://mirror.example")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return folder


def project(folder: Path, **changes: str) -> Project:
    digest = hashlib.sha256((folder / ARCHIVE).read_bytes()).hexdigest()
    values = {"package": "small", "version": "1.0", "release": "bookworm", "sha256": digest, **changes}
    return Project(**values)


def test_the_source_is_fetched_once_and_named_by_its_version_and_hash(offered: Path, tmp_path: Path) -> None:
    told: list[str] = []
    wanted = project(offered, configure="make defconfig")
    first, second = (fetched(wanted, tmp_path / "cache", told.append) for _ in range(2))
    assert first == second
    assert (first.folder / "Makefile").is_file()
    assert first.origin == f"small-1.0, sha256 {wanted.sha256[:16]}"
    assert (first.configure, first.is_named) == ("make defconfig", False)
    assert len(told) == 1
    assert "fetching the source of small-1.0 from Debian bookworm" in told[0]
    asked = (offered / "asked").read_text(encoding="utf-8").splitlines()
    assert sum("--tar-only" in line for line in asked) == 1
    sources = tmp_path / "cache/projects/apt/amd64/bookworm/sources.list"
    assert sources.read_text(encoding="utf-8").startswith("deb-src ")


def test_without_a_network_the_message_says_what_to_do_instead(offered: Path, tmp_path: Path) -> None:
    (offered / "offline").touch()
    with pytest.raises(HostNotReady, match=r"Temporary failure(.|\n)*--source DIR"):
        fetched(project(offered), tmp_path / "cache", lambda _: None)


def test_what_was_fetched_needs_no_network_any_more(offered: Path, tmp_path: Path) -> None:
    wanted = project(offered)
    before = fetched(wanted, tmp_path / "cache", lambda _: None)
    (offered / "offline").touch()
    assert fetched(wanted, tmp_path / "cache", lambda _: None) == before


def test_another_archive_than_the_suite_names_is_refused_and_not_unpacked(offered: Path, tmp_path: Path) -> None:
    with pytest.raises(
        HostNotReady, match=r"small_1\.0\.orig\.tar\.xz of Debian bookworm has the SHA-256 [0-9a-f]{64}"
    ):
        fetched(project(offered, sha256="0" * 64), tmp_path / "cache", lambda _: None)
    assert not list((tmp_path / "cache/projects").glob("*/small-1.0"))


def test_an_archive_that_cannot_be_unpacked_leaves_nothing(offered: Path, tmp_path: Path) -> None:
    (offered / ARCHIVE).write_bytes(b"no archive")
    with pytest.raises(HostNotReady, match="cannot be unpacked"):
        fetched(project(offered), tmp_path / "cache", lambda _: None)
    assert not list((tmp_path / "cache/projects").glob("*/small-1.0"))
