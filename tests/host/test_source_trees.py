"""Source trees: which may be built, what the record says of them, and the copies in which they are built."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.build_trees import kernel_sources, small_tree
from helpers.needs import needs
from probe_effect.host import workloads
from probe_effect.host.processes import WORK_PREFIX
from probe_effect.host.workloads import Tree, kernel_build, made_ready, named_tree
from probe_effect.model import HostNotReady, UsageError

if TYPE_CHECKING:
    from pathlib import Path

needs_make = needs("make")


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for memory."""
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(workloads, "SHARED_MEMORY", folder)
    return folder


def test_a_folder_that_is_not_there_or_has_no_makefile_is_refused_in_one_line(tmp_path: Path) -> None:
    for folder, words in ((tmp_path / "nowhere", "no such folder"), (tmp_path, "no Makefile in it")):
        with pytest.raises(UsageError, match=words) as refusal:
            named_tree(folder)
        assert "\n" not in str(refusal.value)


def test_the_record_says_the_same_of_a_tree_wherever_it_lies_and_whatever_its_history(tmp_path: Path) -> None:
    one, other = small_tree(tmp_path / "one"), small_tree(tmp_path / "secret" / "other")
    (other / ".git").mkdir()
    (other / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert named_tree(one).origin == named_tree(other).origin
    assert named_tree(one).origin.startswith("3 files, sha256 ")
    assert "secret" not in named_tree(other).origin


@pytest.mark.parametrize("change", ["content", "name", "link", "nothing"])
def test_another_content_name_or_link_is_another_tree(tmp_path: Path, change: str) -> None:
    folder = small_tree(tmp_path / "tree")
    before = named_tree(folder).origin
    if change == "content":
        (folder / "hello.txt").write_text("Hello\n", encoding="utf-8")
    elif change == "name":
        (folder / "hello.txt").rename(folder / "hallo.txt")
    elif change == "link":
        (folder / "link").symlink_to("hello.txt")
    assert (named_tree(folder).origin == before) == (change == "nothing")


@needs_make
def test_each_run_has_a_fresh_copy_and_the_tree_itself_is_left_alone(tmp_path: Path, memory: Path) -> None:
    folder = small_tree(tmp_path / "tree")
    (folder / "hello.part").write_text("built by its owner\n", encoding="utf-8")
    with made_ready(named_tree(folder)) as ready:
        assert ready.build is not None
        assert ready.build.is_relative_to(memory)
        assert not (ready.build / "hello.part").exists()
        (ready.build / "greeting").write_text("built\n", encoding="utf-8")
        ready.renew()
        assert sorted(path.name for path in ready.build.iterdir()) == ["Makefile", "hello.txt", "world.txt"]
        assert (ready.build / "hello.txt").stat().st_mtime_ns == (folder / "hello.txt").stat().st_mtime_ns
    assert list(memory.iterdir()) == []
    assert (folder / "hello.part").is_file()


@needs_make
def test_the_folder_of_the_copies_bears_our_process_id_so_that_a_killed_run_is_tidied_up_after(tmp_path: Path) -> None:
    with made_ready(named_tree(small_tree(tmp_path / "tree"))) as ready:
        assert ready.work is not None
        assert ready.work.name.startswith(f"{WORK_PREFIX}{os.getpid()}-")


@needs_make
def test_a_tree_that_has_to_be_configured_is_configured_in_the_copy(tmp_path: Path) -> None:
    tree = replace(named_tree(small_tree(tmp_path / "tree")), configure="echo done > configured")
    with made_ready(tree) as ready:
        assert ready.build is not None
        assert (ready.build / "configured").is_file()
    assert not (tree.folder / "configured").exists()


@needs_make
def test_a_tree_that_cannot_be_cleaned_is_told_in_the_words_of_make(tmp_path: Path, memory: Path) -> None:
    folder = small_tree(tmp_path / "tree")
    (folder / "Makefile").write_text("all:\n\ttrue\n", encoding="utf-8")
    told = r"`make clean` in a copy .* status 2: .*No rule to make target"
    with pytest.raises(HostNotReady, match=told) as refusal, made_ready(named_tree(folder)):
        pass
    assert "\n" not in str(refusal.value)
    assert list(memory.iterdir()) == []


@needs_make
def test_where_memory_is_too_small_the_copies_lie_where_temporary_files_are(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads, "ROOM", 2**60)
    with made_ready(named_tree(small_tree(tmp_path / "tree"))) as ready:
        assert ready.work is not None
        assert not ready.work.is_relative_to(memory)


def test_a_tree_that_is_not_ready_has_nothing_to_renew(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "a tree")
    tree.renew()
    assert tree.build is None


@needs_make
def test_the_kernel_of_the_system_is_built_without_a_word_written_to_its_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = kernel_sources(tmp_path / "src", tmp_path / "freebsd")
    before = sorted(sources.rglob("*"))
    monkeypatch.setattr(workloads, "KERNEL_VERSION", sources / "sys/conf/newvers.sh")
    found = kernel_build(tmp_path / "freebsd")
    with made_ready(found) as ready:
        assert ready.build is not None
        subprocess.run(["/bin/sh", "-c", "make -j2"], cwd=ready.build, check=True, capture_output=True)
        assert "-j" in (ready.build / "objects" / "kernel").read_text(encoding="utf-8")
        ready.renew()
        assert [path.name for path in ready.build.iterdir()] == ["Makefile"]
    assert sorted(sources.rglob("*")) == before
    assert found.origin == "FreeBSD 14.2-RELEASE-p1, buildkernel"


def test_a_system_without_the_sources_of_its_kernel_says_what_to_build_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads, "KERNEL_VERSION", tmp_path / "newvers.sh")
    with pytest.raises(HostNotReady, match=r"expected the sources of FreeBSD's kernel(.|\n)*--source DIR"):
        kernel_build(tmp_path)
