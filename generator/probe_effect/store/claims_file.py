"""`data/claims.toml`: what others say that tracing costs, and for each by which of our numbers it is decided."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from probe_effect.store.documents import DocumentEntry, Slug, Text, entries_file

MOST_WORDS = 25
NumberKey = Annotated[str, Field(pattern=r"^([a-z0-9-]+\*?|\*)\.[a-z0-9-]+(@[\w.*-]+)?$", max_length=100)]


class Claim(DocumentEntry):
    """A saying with its source; and either the test of our numbers that decides it, or what they lack."""

    id: Slug = Field(max_length=40)
    subject: Literal["System calls", "Kernel probes", "User probes", "Dormant", "Starting", "Stacks", "Agents"]
    words: Text = Field(pattern=rf"^(\S+ ){{0,{MOST_WORDS - 1}}}\S+$")
    link: str = Field(pattern=r"^https://[^\s<>\"]+$", max_length=300)
    date: str = Field(pattern=r"^(not stated|\d{4}(-\d\d){0,2})$")
    who: Text = Field(max_length=80)
    conditions: Text = Field(max_length=300)
    says: Text = Field(max_length=500)
    missing: Text | None = Field(default=None, max_length=300)
    numbers: tuple[NumberKey, ...] = ()
    quantity: Literal[
        "cost", "slowdown", "threshold", "times", "ratio", "instructions", "instructions ratio", "loss", "start", "stop"
    ] = "cost"
    rate_hz: float | None = Field(default=None, gt=0)
    over: NumberKey | None = None
    less: NumberKey | None = None
    above: float | None = None
    below: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _is_decided(self) -> Self:
        wanted = {"slowdown": "rate_hz", "threshold": "below", "ratio": "over"}.get(self.quantity.split()[-1], "id")
        is_bounded = (self.above, self.below) != (None, None) and getattr(self, wanted) is not None
        if bool(self.numbers) == bool(self.missing) or bool(self.numbers) != is_bounded:
            msg = "needs `numbers` with `above` or `below` (and `rate_hz` or `over`, by its quantity), or `missing`"
            raise ValueError(msg)
        return self

    @property
    def names(self) -> set[str]:
        """The cases of its numbers, and their tools without versions."""
        parts = (key.partition("@")[0].split(".") for key in (*self.numbers, self.over, self.less) if key)
        return {name for tool, case in parts for name in (case, re.sub(r"(-\d+)*\*?$", "", tool)) if name}


ClaimsFile, read_claims = entries_file(Claim, 500)
