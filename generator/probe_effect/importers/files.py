"""Files that somebody else wrote: read whole within bounds, refused with their place, quoted harmlessly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from probe_effect.errors import UsageError
from probe_effect.store.samples import as_note
from probe_effect.store.tables import MAX_FILE_BYTES, printable, regular_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_NAME = 120
MAX_READ = 4000


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file named on the command line, read whole: how messages name it, and its text with LF line ends."""

    name: str
    text: str

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each line with its number, from 1."""
        yield from enumerate(self.text.split("\n"), start=1)


def refuse(where: str, found: str, expected: str, do: str) -> NoReturn:
    """The error of every importer: where, what was found, what was expected, what to do next. Raises: UsageError."""
    msg = f"{where}: {found}. Expected {expected}. {do}"
    raise UsageError(msg)


def read_given(path: Path) -> GivenFile:
    """The text of a file that somebody else wrote. Raises: UsageError when it is no file, too large or not UTF-8."""
    name = printable(str(path), 200)
    try:
        size = regular_size(path)
        if size > MAX_FILE_BYTES:
            refuse(name, f"{size} bytes", f"at most {MAX_FILE_BYTES}", "Import its parts.")
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        refuse(name, f"cannot be read: {error.strerror}", "a file", "Name the file itself.")
    except UnicodeDecodeError as error:
        refuse(name, f"no UTF-8 at byte {error.start}", "UTF-8 text", "Save it as UTF-8.")
    if "\x00" in text or "\r" in text:
        refuse(name, "holds NUL or lone carriage returns", "lines of text", "Save it as text with LF.")
    return GivenFile(name, text)


def told(text: str, limit: int = MAX_NAME) -> str:
    """Somebody's words fit for a source: one line without folders of their own, and no braces.

    A brace would begin a figure's name in a sentence of `source.toml`.
    """
    return printable(as_note(text[:MAX_READ]).translate(str.maketrans("{}", "()")), limit)
