"""Attach points of each tool in the words that bpftrace has for them."""

import re

from probe_effect.scripts.form import Language
from probe_effect.toml import beside

EVERY_CALL = "tracepoint:raw_syscalls:sys_enter"

PARTS = re.compile(r'(?:"[^"]*"|[^:"])+|(?<=:)(?=:)')
"""The parts between colons; colons in quotation marks, as in C++ names, divide nothing."""

D_PLACES: dict[str, str] = beside(__file__, "places")["d"]
"""Patterns of attach points of D to those of bpftrace."""
D_USER_STATIC = re.compile(r"(?P<provider>[A-Za-z_]\w*?)(?:\$target|\d+):(?P<file>[^:]*):[^:]*:(?P<name>[\w*-]+)")
"""A process has the providers of all others."""


def as_bpftrace(attach: str, kind: str, language: Language) -> str | None:
    """`tracepoint:syscalls:sys_enter_read` for `syscall::read:entry`; None if there is no such place on Linux.

    strace stops a process at every system call, also at those that it does not print.
    """
    if language == "bpftrace":
        return attach
    if language == "strace" or (language == "perf" and kind == "system-call"):
        return EVERY_CALL
    if language == "d":
        return _of_d(attach)
    if kind in {"software", "hardware"}:
        return f"{kind}:{attach.partition(':')[0]}:"
    return f"tracepoint:{attach}" if kind.startswith(("tracepoint", "raw-tracepoint")) else None


def parts(attach: str) -> list[str]:
    """`["uprobe", "/bin/a", "main"]` for `uprobe:/bin/a:main`."""
    return [one.group() for one in PARTS.finditer(attach)]


def _of_d(attach: str) -> str | None:
    for pattern, place in D_PLACES.items():
        if found := re.fullmatch(pattern, attach):
            return found.expand(place)
    found = D_USER_STATIC.fullmatch(attach)
    return f"usdt:{found['file']}:{found['provider']}:{found['name'].replace('-', '__')}" if found else None
