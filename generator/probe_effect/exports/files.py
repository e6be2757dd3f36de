"""Files as a build writes them, zips that are the same wherever they are packed, and folders that are mirrored."""

import filecmp
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip: the earliest that the format has."""

READABLE = 0o644 << 16


def write(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, into a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def copy(source: Path, target: Path) -> None:
    """Copy a file into a folder that is made where it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write_zip(path: Path, files: Mapping[str, bytes | Path]) -> None:
    """Pack `files`, name to content or to where it is, by name into the zip at `path`; one at a time is in memory.

    The zip is the same bytes wherever and whenever the same files are packed.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = READABLE
            entry.create_system = 3  # Unix, also where this is packed on another system
            content = files[name]
            archive.writestr(entry, content if isinstance(content, bytes) else content.read_bytes())


def mirror(fresh: Path, target: Path) -> None:
    """Make `target`, which a program may watch, hold just the files of `fresh`; those that are the same stay untouched.

    New files come before old ones go.
    """
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for name in sorted(wanted):
        if not (target / name).is_file() or not filecmp.cmp(fresh / name, target / name, shallow=False):
            copy(fresh / name, target / name)
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()
