"""One probe whose events can be counted, of any kind, and its place; system calls by number."""

import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from system_calls import NoSuchSystemCall, NotSupportedSystemCall, syscalls

from probe_effect.toml import beside

ENDS = ("sys_enter", "sys_exit")

_FACTS: Any = beside(__file__)
NUMBER_OFFSETS: dict[str, int] = _FACTS["number_offsets"]
"""Where the kernel's registers have a call's number, bytes, by machine."""
ARCHITECTURES: dict[str, str] = _FACTS["architectures"]
NAMED_OTHERWISE: dict[str, str] = _FACTS["named_otherwise"]
"""Functions of the kernel, from which its tracepoints have their names, to their calls."""


def end_of(tracepoint: str) -> str | None:
    """`sys_enter` for `syscalls:sys_enter_read` and `raw_syscalls:sys_enter`; None where no number is known for it."""
    category, _, name = tracepoint.partition(":")
    end = next((end for end in ENDS if name.startswith(end)), None)
    if end is None or platform.machine() not in NUMBER_OFFSETS:
        return None
    if category == "raw_syscalls":
        return end
    return end if category == "syscalls" and number(tracepoint) is not None else None


@cache
def number(tracepoint: str) -> int | None:
    """The number of the call that a tracepoint is on, of this machine; None for one on all, and if it is not known."""
    call = tracepoint.partition(":")[2].removeprefix("sys_enter").removeprefix("sys_exit").removeprefix("_")
    if not call or call in NAMED_OTHERWISE.values():  # such a tracepoint is on a call of 32-bit programs
        return None
    try:
        architecture = ARCHITECTURES.get(platform.machine(), platform.machine())
        return int(syscalls().get(NAMED_OTHERWISE.get(call, call), architecture))
    except (NoSuchSystemCall, NotSupportedSystemCall):
        return None


def number_offset(end: str) -> int | None:
    """Where the kernel's registers have the number at such an end of a call; None at the entry, which is told it."""
    return NUMBER_OFFSETS[platform.machine()] if end == "sys_exit" else None


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
        return end_of(self.name) if self.kind == "tracepoint" else None

    @property
    def group(self) -> tuple[str, ...]:
        """The group of the probe: probes of one group can share a link."""
        return (self.kind, (self.calls_end or self.name) if self.kind == "tracepoint" else str(self.path))
