"""What the user says beyond the files: where they were published, and which arm is which."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The options of `probe-effect import`.

    `facts` are keys of `source.toml` and win over what the files say; `cases` leads from the name of an arm to our
    case; `operations`: how many a whole run made.
    """

    facts: Mapping[str, str]
    baseline: str | None = None
    cases: Mapping[str, str] = field(default_factory=dict)
    tracer: str | None = None
    operations: int | None = None
