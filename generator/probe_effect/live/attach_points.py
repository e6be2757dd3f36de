"""Attach points of each tool in the words that bpftrace has for them."""

import re

from probe_effect.scripts.form import Language

EVERY_CALL = "tracepoint:raw_syscalls:sys_enter"

PARTS = re.compile(r'(?:"[^"]*"|[^:"])+|(?<=:)(?=:)')
"""The parts between colons; colons in quotation marks, as in C++ names, divide nothing."""

D_CALLS = re.compile(r"syscall::(?:\w+:)?(?P<call>[\w*]*):(?P<end>entry|return)")
D_FUNCTIONS = re.compile(r"fbt:[^:]*:(?P<function>[\w*.]+):(?P<end>entry|return)")
D_PROCESS = re.compile(r"pid(?:\$target|\d+):(?P<file>[^:]*):(?P<function>[^:]+):(?P<end>entry|return)")
D_USER_STATIC = re.compile(r"(?P<provider>[A-Za-z_]\w*?)(?:\$target|\d+):(?P<file>[^:]*):[^:]*:(?P<name>[\w*-]+)")
D_PROVIDERS = {
    "sched:::on-cpu": "tracepoint:sched:sched_switch",
    "sched:::off-cpu": "tracepoint:sched:sched_switch",
    "proc:::exec-success": "tracepoint:sched:sched_process_exec",
    "proc:::create": "tracepoint:sched:sched_process_fork",
    "proc:::exit": "tracepoint:sched:sched_process_exit",
    "io:::start": "tracepoint:block:block_rq_issue",
    "io:::done": "tracepoint:block:block_rq_complete",
}
"""DTrace for Linux builds these providers on the kernel's own static probes (its dt_prov_sched.c, dt_prov_io.c ..)."""


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
    if found := D_CALLS.fullmatch(attach):
        end = "enter" if found["end"] == "entry" else "exit"
        return (
            f"tracepoint:syscalls:sys_{end}_{found['call']}" if found["call"] else f"tracepoint:raw_syscalls:sys_{end}"
        )
    if found := D_FUNCTIONS.fullmatch(attach):
        return f"{'kprobe' if found['end'] == 'entry' else 'kretprobe'}:{found['function']}"
    if found := D_PROCESS.fullmatch(attach):
        probe = "uprobe" if found["end"] == "entry" else "uretprobe"
        return f"{probe}:{found['file'] or '*'}:{found['function']}"
    if found := D_USER_STATIC.fullmatch(attach):
        return f"usdt:{found['file']}:{found['provider']}:{found['name'].replace('-', '__')}"
    return D_PROVIDERS.get(attach)
