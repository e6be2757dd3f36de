"""Bringing a folder up to date with another while a program watches it."""

from __future__ import annotations

import filecmp
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def mirror(fresh: Path, target: Path) -> None:
    """Make `target` hold just the files of `fresh`; files that are the same stay untouched.

    New files come before old ones go.
    """
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for name in sorted(wanted):
        old = target / name
        if not old.is_file() or not filecmp.cmp(fresh / name, old, shallow=False):
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / name, old)
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()
