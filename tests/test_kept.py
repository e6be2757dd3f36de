"""What was drawn once is not drawn again, and nothing half made is ever read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probe_effect.charts.kept import kept

if TYPE_CHECKING:
    from pathlib import Path


class Maker:
    """Counts how often it was asked."""

    def __init__(self, made: bytes = b"drawing") -> None:
        self.made, self.asked = made, 0

    def __call__(self) -> bytes:
        self.asked += 1
        return self.made


def test_the_same_is_made_once(tmp_path: Path) -> None:
    maker = Maker()
    assert [kept(tmp_path / "new", "spec", maker) for _ in range(3)] == [b"drawing"] * 3
    assert maker.asked == 1


def test_what_is_made_from_something_else_is_made_anew(tmp_path: Path) -> None:
    assert kept(tmp_path, "spec", Maker(b"one")) == b"one"
    assert kept(tmp_path, "spec 2", Maker(b"two")) == b"two"
    assert kept(tmp_path, "spec", Maker(b"other")) == b"one"


def test_what_could_not_be_made_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail() -> bytes:
        msg = "no drawing"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError):
        kept(tmp_path, "spec", fail)
    assert list(tmp_path.iterdir()) == []
    assert kept(tmp_path, "spec", Maker()) == b"drawing"


def test_another_build_that_keeps_the_same_meanwhile_is_no_fault(tmp_path: Path) -> None:
    def while_another_keeps_it() -> bytes:
        return kept(tmp_path, "spec", Maker())

    assert kept(tmp_path, "spec", while_another_keeps_it) == b"drawing"
    assert len(list(tmp_path.iterdir())) == 1
