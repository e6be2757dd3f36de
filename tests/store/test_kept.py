"""What was made once is not made again, and nothing but the right result ever comes back, whatever befell an entry."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.store import kept as module
from probe_effect.store.kept import Kept, code_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RIGHT = b"what is made of this"


class Maker:
    """Counts how often it was asked."""

    def __init__(self, made: bytes = RIGHT) -> None:
        self.made, self.asked = made, 0

    def __call__(self) -> bytes:
        self.asked += 1
        return self.made


@pytest.fixture
def place(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "kept")


def entries(place: Kept) -> list[Path]:
    assert place.folder is not None
    return [path for path in place.folder.rglob("*") if path.is_file()]


def entry(place: Kept) -> Path:
    """The only file that is kept."""
    (found,) = entries(place)
    return found


def test_the_same_is_made_once(place: Kept) -> None:
    maker = Maker()
    assert [place.made(maker, "code", "input") for _ in range(3)] == [RIGHT] * 3
    assert maker.asked == 1


def test_what_is_made_from_something_else_is_made_anew(place: Kept) -> None:
    assert place.made(Maker(b"one"), "code", "input") == b"one"
    assert place.made(Maker(b"two"), "code", "input 2") == b"two"
    assert place.made(Maker(b"other"), "code", "input") == b"one"


def test_another_version_of_the_code_makes_its_own(place: Kept) -> None:
    assert place.made(Maker(b"old"), "code 1", "input") == b"old"
    assert place.made(Maker(b"new"), "code 2", "input") == b"new"


def test_words_cannot_be_taken_for_other_words_beside_them(place: Kept) -> None:
    place.put(b"one", "ab", "c")
    assert place.get("a", "bc") is None


def test_an_entry_may_be_empty(place: Kept) -> None:
    place.put(b"", "input")
    assert place.get("input") == b""


def test_without_a_folder_nothing_is_kept_and_everything_is_made() -> None:
    maker = Maker()
    assert [Kept().made(maker, "input") for _ in range(2)] == [RIGHT] * 2
    assert maker.asked == 2


def test_what_came_with_the_program_is_taken_and_nothing_is_written(
    place: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put(b"shipped", "it")
    monkeypatch.setattr("probe_effect.store.kept.PACKAGED", place.folder)
    assert Kept().get("it") == b"shipped"
    assert Kept().get("another") is None


def test_what_came_with_the_program_and_is_spoilt_is_made_anew(
    place: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put(b"shipped", "it")
    cut_in_its_body(entry(place))
    monkeypatch.setattr("probe_effect.store.kept.PACKAGED", place.folder)
    own = Kept(tmp_path / "own")
    assert own.get("it") is None
    assert own.made(lambda: b"anew", "it") == b"anew" == own.get("it")


def test_what_could_not_be_made_leaves_nothing_behind(place: Kept) -> None:
    def fail() -> NoReturn:
        msg = "no result"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError):
        place.made(fail, "input")
    assert entries(place) == []
    assert place.made(Maker(), "input") == RIGHT


# What may befall an entry


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut_in_its_digest(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


def cut_in_its_body(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def made_longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def altered(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"made", b"mode"))


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def made_a_dead_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def swapped_with_another(path: Path) -> None:
    Kept(path.parents[1]).put(b"something else", "another input")
    (other,) = [found for found in path.parents[1].rglob("*") if found.is_file() and found != path]
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize(
    "befall",
    [emptied, cut_in_its_digest, cut_in_its_body, made_longer, altered, made_a_dead_link, swapped_with_another],
)
def test_a_spoilt_entry_is_made_anew_and_kept_again(place: Kept, befall: Callable[[Path], None]) -> None:
    place.put(RIGHT, "input")
    befall(entry(place))
    maker = Maker()
    assert place.get("input") is None
    assert [place.made(maker, "input") for _ in range(2)] == [RIGHT] * 2
    assert maker.asked == 1


def test_a_folder_in_the_place_of_an_entry_costs_time_and_nothing_else(place: Kept) -> None:
    place.put(RIGHT, "input")
    made_a_folder(entry(place))
    assert [place.made(Maker(), "input") for _ in range(2)] == [RIGHT] * 2
    assert entries(place) == []


@given(st.binary(max_size=80), st.integers(0, 111), st.integers(1, 255))
def test_no_byte_of_an_entry_can_change_unseen(body: bytes, at: int, by: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Kept(Path(folder))
        place.put(body, "input")
        path = entry(place)
        text = bytearray(path.read_bytes())
        text[at % len(text)] ^= by
        path.write_bytes(text)
        assert place.get("input") is None


# Where nothing can be written


def denied(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, name, fail)


def test_a_folder_that_is_a_file_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("somebody's", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        assert Kept(folder).made(Maker(), "input") == RIGHT
    assert (tmp_path / "file").read_text(encoding="utf-8") == "somebody's"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_cannot_be_written_keeps_nothing(
    place: Kept, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    denied(monkeypatch, "mkstemp", number)
    maker = Maker()
    assert [place.made(maker, "input") for _ in range(2)] == [RIGHT] * 2
    assert maker.asked == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_read_and_not_written(place: Kept) -> None:
    place.put(RIGHT, "input")
    assert place.folder is not None
    for folder in (place.folder, *(path for path in place.folder.iterdir() if path.is_dir())):
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert place.made(Maker(b"never asked"), "input") == RIGHT
    assert place.made(Maker(), "input 2") == RIGHT


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, files take half of what is written to them, and then fail."""
    fdopen = os.fdopen

    def half(handle: int, mode: str) -> object:
        file = fdopen(handle, mode)
        write = file.write

        def fail(body: bytes) -> NoReturn:
            write(body[: len(body) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(file, "write", fail, raising=False)
        return file

    return lambda: monkeypatch.setattr(os, "fdopen", half)


def test_a_full_disk_leaves_no_half_of_an_entry_and_no_trace(place: Kept, full_disk: Callable[[], None]) -> None:
    full_disk()
    assert place.made(Maker(), "input") == RIGHT
    assert entries(place) == []


def test_a_full_disk_leaves_an_older_entry_as_it_is(place: Kept, full_disk: Callable[[], None]) -> None:
    place.put(RIGHT, "input")
    before = entry(place).read_bytes()
    full_disk()
    place.put(b"another result, which is longer", "input")
    assert entry(place).read_bytes() == before


def test_whoever_stops_a_run_is_obeyed_and_leaves_no_trace(place: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        place.put(RIGHT, "input")
    assert entries(place) == []


# Several at once

TOGETHER = """
import sys
from pathlib import Path
from probe_effect.store.kept import Kept
place, own = Kept(Path(sys.argv[1])), sys.argv[2].encode() * 100_000
for _ in range(200):
    place.put(own, "input")
    found = place.get("input")
    assert found is not None and found in (b"a" * 100_000, b"b" * 100_000), "half of an entry"
"""


def test_two_processes_that_keep_the_same_at_once_never_read_half_of_it(place: Kept) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", TOGETHER, str(place.folder), word], stderr=subprocess.PIPE)
        for word in ("a", "b")
    ]
    said = [process.communicate(timeout=120)[1].decode() for process in running]
    assert said == ["", ""]
    assert len(entries(place)) == 1


def test_another_that_keeps_the_same_meanwhile_is_no_fault(place: Kept) -> None:
    def while_another_keeps_it() -> bytes:
        return place.made(Maker(), "input")

    assert place.made(while_another_keeps_it, "input") == RIGHT
    assert len(entries(place)) == 1


# The version of the code


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of its own, with a module and a folder of modules."""
    root = tmp_path / "package"
    (root / "part" / "deep").mkdir(parents=True)
    for name in ("model.py", "part/one.py", "part/deep/two.py", "part/page.md.j2"):
        (root / name).write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(module, "PACKAGE", root)
    code_version.cache_clear()
    yield root
    code_version.cache_clear()


@pytest.mark.parametrize("name", ["model.py", "part/one.py", "part/deep/two.py", "part/page.md.j2"])
def test_the_version_of_the_code_changes_with_each_of_its_files(package: Path, name: str) -> None:
    before = code_version("model", "part")
    (package / name).write_text("x = 2\n", encoding="utf-8")
    code_version.cache_clear()
    assert code_version("model", "part") != before


def test_the_version_of_the_code_holds_only_what_was_named(package: Path) -> None:
    before = code_version("part")
    (package / "model.py").write_text("x = 2\n", encoding="utf-8")
    code_version.cache_clear()
    assert code_version("part") == before
