"""Drawings kept from build to build: a chart that has not changed is not drawn again.

Drawing takes nine tenths of a build's time. A drawing is known by the hash of what it was made from, so a kept one is
what a new one would be.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kept(folder: Path, made_from: str, make: Callable[[], bytes]) -> bytes:
    """What `make` returns for `made_from`, from `folder` where it was made before.

    Args:
        made_from: everything that the result depends on, the drawing program's version too.
    """
    path = folder / hashlib.sha256(made_from.encode()).hexdigest()
    if path.is_file():
        return path.read_bytes()
    made = make()
    folder.mkdir(parents=True, exist_ok=True)
    # A build that is cut short leaves no half a drawing, and two builds at once do not take each other's.
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(made)
    fresh.replace(path)
    return made
