"""System calls at the two raw tracepoints that all of them pass: their numbers, and where the kernel keeps them."""

import platform
from functools import cache

from system_calls import NoSuchSystemCall, NotSupportedSystemCall, syscalls

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
