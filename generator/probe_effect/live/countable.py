"""One probe whose events can be counted, and its place, system calls by number, and why the kernel refuses."""

import contextlib
import errno
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from system_calls import NoSuchSystemCall, NotSupportedSystemCall, syscalls

from probe_effect.errors import HostNotReady
from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import LOCKDOWN
from probe_effect.model import series_of

ENDS = ("sys_enter", "sys_exit")

NUMBER_OFFSETS = {"x86_64": 120, "aarch64": 280, "riscv64": 136}
"""Where `struct pt_regs` has a call's number, bytes: orig_ax, syscallno and a7 (arch/*/include/asm/ptrace.h).

It is what the kernel's own trace_sys_exit reads (syscall_get_nr in arch/*/include/asm/syscall.h).
"""

ARCHITECTURES = {"aarch64": "arm64"}
"""Machine to its name in the library, where these differ."""

NAMED_OTHERWISE = {
    "newstat": "stat",
    "newfstat": "fstat",
    "newlstat": "lstat",
    "newuname": "uname",
    "umount": "umount2",
    "sendfile64": "sendfile",
}
"""Functions of the kernel, from which its tracepoints have their names, to their calls (arch/*/syscalls/*.tbl)."""


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


PARANOID = "proc/sys/kernel/perf_event_paranoid"

OLDEST = "5.15"
"""The oldest Linux with all that we need: cookies of perf links. (Statistics came with 5.8, batches with 5.6.)"""


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn refusals of the kernel in the block into HostNotReady with the reason; `doing` begins the message."""
    try:
        yield
    except OSError as error:
        raise HostNotReady(f"{doing}: the kernel refuses ({error.strerror or error}): {reason(error)}") from error


def reason(error: OSError) -> str:
    """Why the kernel refused, as far as is known, and what to do."""
    release = os.uname().release
    is_old = series_of(release) < series_of(OLDEST)  # before 5.11 root too may lock little memory, and a map is locked
    if error.errno in {errno.EPERM, errno.EACCES} and not (is_old and os.geteuid() == 0):
        return _not_permitted()
    if error.errno == errno.ENOSYS:
        return "it was built without BPF (CONFIG_BPF_SYSCALL)"
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return "too many files are open: raise `ulimit -n`"
    return f"this is Linux {release}; expected {OLDEST} or newer, with CONFIG_BPF_EVENTS"


def _not_permitted() -> str:
    if os.geteuid() != 0:
        paranoid = read_text(ROOT, PARANOID)
        level = f", and kernel.perf_event_paranoid is {paranoid}" if paranoid else ""
        return f"user {os.geteuid()} is not root{level}; run it with sudo"
    lockdown = read_text(ROOT, LOCKDOWN) or ""
    if "[none]" not in lockdown and "[" in lockdown:
        return f"the kernel is locked down (/{LOCKDOWN}: {lockdown}), which forbids BPF that reads the kernel"
    return "root lacks CAP_SYS_ADMIN, as in a container: start it with `--privileged`, or run it on the host"
