"""What can be fixed without knowing what was measured: how lines end, a byte order mark, the executable bit."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from probe_effect.checks.run import parts_below
from probe_effect.store.dictionary import TABLES
from probe_effect.store.places import DataFolder
from probe_effect.store.tables import MAX_FILE_BYTES, regular_size

TEXT_FILES = frozenset({*TABLES, "machine.json", "source.toml", "suite.toml"})
EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class Fixed:
    """One thing that was done to a file."""

    file: str
    what: str


def autofix(folders: Iterable[Path], data: DataFolder) -> list[Fixed]:
    """Fix the files of everything at or below `folders`; what was done. A second time there is nothing to do."""
    paths = (path for folder, _ in parts_below(folders) for path in sorted(folder.iterdir()) if path.name in TEXT_FILES)
    return [Fixed(data.relative(path), what) for path in paths for what in _fix_file(path)]


def _fix_file(path: Path) -> Iterator[str]:
    """Links, devices and files that are too large are left alone: `check` tells of them."""
    try:
        if regular_size(path) > MAX_FILE_BYTES:
            return
        mode = path.stat().st_mode
        if mode & EXECUTABLE:
            path.chmod(mode & ~EXECUTABLE)
            yield "is no longer executable"
        found = before = path.read_bytes()
        for what, form in FORMS:
            if (after := form(found, path.suffix)) != found:
                found = after
                yield what
        if found != before:
            path.write_bytes(found)
    except OSError:
        return


def _without_trailing_blanks(text: bytes, suffix: str) -> bytes:
    """In JSON only, where no string goes over a line's end; elsewhere a blank may be a value's."""
    return re.sub(rb"[ \t]+(?=\n|\Z)", b"", text) if suffix == ".json" else text


def _with_last_line_feed(text: bytes, suffix: str) -> bytes:
    """A table's last line may be torn, and only a person can see that."""
    return text if suffix == ".csv" or not text or text.endswith(b"\n") else text + b"\n"


FORMS: tuple[tuple[str, Callable[[bytes, str], bytes]], ...] = (
    ("has no byte order mark any more", lambda text, _: text.removeprefix(b"\xef\xbb\xbf")),
    ("ends its lines with LF", lambda text, _: text.replace(b"\r\n", b"\n")),
    ("has no blanks at the ends of lines", _without_trailing_blanks),
    ("ends with a line feed", _with_last_line_feed),
)
"""What was done, and how; in an order in which each leaves nothing for one before it."""
