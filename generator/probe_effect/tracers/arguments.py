"""Scripts of tools that take arguments: the words of a command line, with comments."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from pathlib import Path


def read_arguments(script: Path) -> list[str]:
    """The words in `script`, split as a shell splits them; `#` begins a comment. Raises: TracerFailed."""
    return split_arguments(read_script(script), script.name)


def read_script(script: Path) -> str:
    """The text of `script`. Raises: TracerFailed."""
    try:
        return script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{script.name}: expected text in UTF-8: {error}"
        raise TracerFailed(msg) from error


def split_arguments(text: str, name: str) -> list[str]:
    """The words in `text`, which is of the script `name`, likewise. Raises: TracerFailed."""
    try:
        return shlex.split(text, comments=True)
    except ValueError as error:
        msg = f"{name}: expected words as on a command line, with # comments: {error}"
        raise TracerFailed(msg) from error
