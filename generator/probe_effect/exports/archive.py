"""A zip that is the same bytes wherever and whenever the same files are packed."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""Of every file in it: the earliest that the format has."""

READABLE = 0o644 << 16


def write_zip(path: Path, files: Mapping[str, bytes | Path]) -> None:
    """Pack `files`, name to content or to where it is, by name into the zip at `path`; one at a time is in memory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = READABLE
            entry.create_system = 3  # Unix, also where this is packed on another system
            content = files[name]
            archive.writestr(entry, content if isinstance(content, bytes) else content.read_bytes())
