"""What the harness asks of a tracer. One module per tool stands behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from probe_effect.errors import ProbeEffectError

if TYPE_CHECKING:
    from pathlib import Path

Need = Literal["kprobe", "uprobe", "tracepoint"]
Counting = Literal["maps", "lines", "nothing"]
"""Where a script's own count of events is: in its map `@`, in its printed lines, or nowhere."""


class TracerFailed(ProbeEffectError):
    """A tracer did not start, died, or did not end; the row says so in its own words."""

    def __init__(self, words: str, *, status: Literal["failed", "timeout"] = "failed") -> None:
        self.status = status
        super().__init__(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a tracer counted and used, from start to exit. None: it does not say."""

    seen: int | None
    lost: int | None
    cpu_ns: int
    rss_bytes: int
    output_bytes: int
    attach_ns: int
    detach_ns: int


class Session(Protocol):
    """One tracer at work. `end` it always; after `stop` that does nothing more."""

    def ready(self, timeout_s: float) -> None:
        """Return when every probe is live. Raises: TracerFailed."""

    def stop(self, timeout_s: float) -> Report:
        """Ask it to stop, and hand back what it says. Raises: TracerFailed."""

    def end(self) -> None:
        """Leave nothing behind: no process, no probe, no file."""


class Tracer(Protocol):
    """A tool that watches."""

    @property
    def id(self) -> str:
        """Its id in the data: `bpftrace`."""

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""

    def version(self) -> str | None:
        """Its version as it prints it; None when it does not."""

    def missing(self, need: Need) -> str | None:
        """None when the kernel offers what a case needs, else why not, from the kernel itself."""

    def start(self, script: Path, counting: Counting) -> Session:
        """Start it on a script; it inherits the CPUs that the caller may use. Raises: TracerFailed."""
