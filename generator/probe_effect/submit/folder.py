"""Outside a clone: submissions laid out in a folder as they lie in the repository, to be sent by hand."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady, ProbeEffectError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from probe_effect.submit.parcel import Item


def lay_out(items: Iterable[Item], root: Path) -> None:
    """Copy the files of `items` below `root`, over those of an earlier time.

    Raises: ProbeEffectError when another run has the place of a submission; HostNotReady.
    """
    for item in items:
        rows = item.submission.samples
        there = root / item.target(rows)
        if there.exists() and there.read_bytes() != rows.read_bytes():
            msg = f"{there.parent}: holds another run than {rows.parent}. Remove that folder, or rename yours."
            raise ProbeEffectError(msg)
        for path in item.files():
            _copy(path, root / item.target(path))


def _copy(path: Path, target: Path) -> None:
    if target.exists() and target.samefile(path):
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    except OSError as error:
        msg = f"{target}: cannot be written: {error.strerror}. Run this where you may write."
        raise HostNotReady(msg) from error
