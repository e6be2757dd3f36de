"""One probe whose events can be counted, of any kind, and its place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from probe_effect.live import calls

CountableProbe = Literal["tracepoint", "kprobe", "kretprobe", "uprobe", "uretprobe", "usdt", "profile"]

IN_FILES: tuple[CountableProbe, ...] = ("uprobe", "uretprobe", "usdt")
RETURNS: tuple[CountableProbe, ...] = ("kretprobe", "uretprobe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Countable:
    """One probe whose events are to be counted.

    `probe`: the caller's own name for it. `name`: `category:name` of a tracepoint, the function of a kprobe.
    `path`, `offsets`: of a probe in a file, its places there, in bytes; several places count as one probe.
    `semaphore`: where the file counts the tools that watch a USDT probe, 0 if it does not. `mechanism`: how the
    kernel gets past the first instruction of a user probe; None of other probes, and where it is not known. `hz`: of a
    profile, whose events are computed and not counted.
    """

    probe: str
    kind: CountableProbe
    name: str = ""
    path: Path | None = None
    offsets: tuple[int, ...] = ()
    semaphore: int = 0
    mechanism: str | None = None
    hz: float = 0.0

    @property
    def calls_end(self) -> str | None:
        """Of a tracepoint on system calls `sys_enter` or `sys_exit`, the raw tracepoint of all calls; else None."""
        return calls.end_of(self.name) if self.kind == "tracepoint" else None

    @property
    def group(self) -> tuple[str, ...]:
        """The group of the probe: probes of one group can share a link."""
        return (self.kind, (self.calls_end or self.name) if self.kind == "tracepoint" else str(self.path))
