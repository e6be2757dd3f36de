"""`data/claims.toml`: what others say that tracing costs, and for each by which of our numbers it is decided."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from probe_effect.store.documents import DocumentEntry, Slug, Text, entries_file

MOST_WORDS = 25
NumberKey = Annotated[str, Field(pattern=r"^([a-z0-9-]+\*?|\*)\.[a-z0-9-]+(@[\w.*-]+)?$", max_length=100)]


class Claim(DocumentEntry):
    """A saying with its source; and either the test of our numbers that decides it, or what they lack."""

    id: Slug = Field(max_length=40, description="Its id: its anchor, and on its badge. The file is sorted by it.")
    subject: Literal["System calls", "Kernel probes", "User probes", "Dormant", "Starting", "Stacks", "Agents"] = Field(
        description="The heading that it is under."
    )
    words: Text = Field(
        pattern=rf"^(\S+ ){{0,{MOST_WORDS - 1}}}\S+$", description="The quotation, of at most 25 words."
    )
    link: str = Field(pattern=r"^https://[^\s<>\"]+$", max_length=300, description="Where it is written.")
    date: str = Field(pattern=r"^(not stated|\d{4}(-\d\d){0,2})$", description="Its day, or `not stated`.")
    who: Text = Field(max_length=80, description="Project and thread, document or page.")
    conditions: Text = Field(max_length=300, description="Its conditions, as stated there, or `not stated`.")
    says: Text = Field(max_length=500, description="How the words are read, and on what it depends if they hold.")
    missing: Text | None = Field(default=None, max_length=300, description="What is not measured; without `numbers`.")
    numbers: tuple[NumberKey, ...] = Field(
        default=(), description="What decides, on all machines: `<tracer>.<case>[@<level>]`; `bpftrace*`: all versions."
    )
    quantity: Literal[
        "cost", "slowdown", "threshold", "times", "ratio", "instructions", "instructions ratio", "loss", "start", "stop"
    ] = Field(
        default="cost",
        description="`cost` (ns), `slowdown` (% of a busy thread, at `rate_hz`), `threshold` (the rate at which it is "
        "`below` %), `times` (traced over untraced time), `ratio` (to `over`), `loss` (%), `start` and `stop` (ms).",
    )
    rate_hz: float | None = Field(default=None, gt=0, description="Events per second, of a slowdown.")
    over: NumberKey | None = Field(default=None, description="A ratio's second cost, of the same run; `*`: its tracer.")
    above: float | None = Field(default=None, description="It holds above this, in the unit of the quantity.")
    below: float | None = Field(default=None, gt=0, description="It holds below this; with `above`, between both.")

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
        parts = (key.partition("@")[0].split(".") for key in (*self.numbers, self.over) if key)
        return {name for tool, case in parts for name in (case, re.sub(r"(-\d+)*\*?$", "", tool)) if name}


ClaimsFile, read_claims = entries_file(Claim, 500)
