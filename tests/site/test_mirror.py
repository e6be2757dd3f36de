"""Keeping a watched folder up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.site.files import mirror

if TYPE_CHECKING:
    from pathlib import Path


def test_a_mirror_holds_just_the_fresh_files_and_leaves_the_same_ones_untouched(tmp_path: Path) -> None:
    fresh, target = tmp_path / "fresh", tmp_path / "target"
    for folder, files in (
        (fresh, {"same": "1", "in/new": "2", "changed": "3"}),
        (target, {"same": "1", "changed": "0", "old": "4"}),
    ):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    before = (target / "same").stat().st_mtime_ns
    mirror(fresh, target)
    found = {
        str(path.relative_to(target)): path.read_text(encoding="utf-8") for path in target.rglob("*") if path.is_file()
    }
    assert found == {"same": "1", "in/new": "2", "changed": "3"}
    assert (target / "same").stat().st_mtime_ns == before
