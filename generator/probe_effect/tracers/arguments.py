"""Scripts of tools that take arguments: the words of a command line, with comments."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from pathlib import Path


def read_arguments(script: Path) -> list[str]:
    """The words in `script`, split as a shell splits them; `#` begins a comment. Raises: TracerFailed."""
    try:
        return shlex.split(script.read_text(encoding="utf-8"), comments=True)
    except (OSError, ValueError) as error:
        msg = f"{script.name}: expected words as on a command line, with # comments: {error}"
        raise TracerFailed(msg) from error
