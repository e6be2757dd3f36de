"""The historical experiments that one command repeats, read from `laboratories.toml`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Laboratory:
    """An experiment: the cases of one suite that make it, and the tracers that they need."""

    question: str
    suite: str
    cases: Sequence[str]
    tracers: Sequence[str]
    printed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Case to the published figures to put beside it, `<source>.<figure>`."""
    next: Sequence[tuple[str, str]] = ()
    """What to try when it is done, and the command that does."""


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LABORATORIES = {name: Laboratory(**table) for name, table in _TABLES.items()}
"""Each by its name."""
