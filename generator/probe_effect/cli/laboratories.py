"""The historical experiments that one command repeats, read from `laboratories.toml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from probe_effect.toml import beside


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


LABORATORIES = {name: Laboratory(**table) for name, table in beside(__file__).items()}
"""Each by its name."""
