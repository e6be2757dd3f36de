"""What readers ask in their own words: kinds of probe as what they want to see, and actions as what is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

QUESTIONS = {
    "System calls": {
        "tracepoint-entry": "A system call, when it is made",
        "tracepoint-return": "A system call, when it returns",
        "tracepoint-entry-and-return": "A system call, when it is made and when it returns",
        "raw-tracepoint": "Every system call, of whatever kind",
        "system-call": "Every call of a process, printed (strace)",
    },
    "My program": {
        "uprobe": "A function of my program, when it is called",
        "uretprobe": "A function of my program, when it returns",
        "uprobe-and-uretprobe": "A function of my program, how long it takes",
        "usdt": "A place that the author marked (USDT)",
        "usdt-semaphore": "A place that the author marked and guarded (USDT)",
        "lttng-tracepoint": "A place that the author marked (LTTng)",
        "function": "Every function of a program built for it",
        "uprobe-and-tracepoint-entry": "A function and a system call",
        "uprobe-and-tracepoints": "A function and two places in the kernel",
    },
    "The kernel": {
        "kprobe": "A function of the kernel, when it is called",
        "kretprobe": "A function of the kernel, when it returns",
        "kprobe-and-kretprobe": "A function of the kernel, how long it takes",
        "fentry": "The same by fentry, when it is called",
        "fexit": "The same by fexit, when it returns",
        "fentry-and-fexit": "The same by fentry and fexit, how long it takes",
        "multi-kprobe": "Many functions of the kernel, when they are called",
        "multi-kretprobe": "Many functions of the kernel, when they return",
        "function-tracer": "Functions of the kernel, each call recorded",
        "function-graph": "Functions of the kernel, each call timed",
        "tracepoint": "A tracepoint that is on no system call",
        "tracepoints": "Several tracepoints",
        "profile": "Samples of the stack, so many a second",
    },
    "Nothing that happens": {
        "none": "Nothing (the tracer only runs)",
        "silent-tracepoint": "A system call that nobody makes",
        "silent-system-call": "A system call that nobody makes (strace)",
        "silent-uprobe": "A function that nobody calls",
    },
}
"""By group, in the order in which they are offered: kind of probe to what its reader wants to see."""

ACTIONS = {
    "nothing": "Nothing (the probe alone)",
    "not-enabled": "Nothing (compiled in, and nobody watches)",
    "filter": "Look at one value, let it pass",
    "filter-rejects": "Look at one value, turn it away",
    "filter-by-pid": "Only one process",
    "filter-by-name": "Only programs of one name",
    "filter-by-cgroup": "Only one container",
    "count": "Count it",
    "count-shared": "Count it, in one counter for all CPUs",
    "count-by-pid": "Count by process",
    "count-by-name": "Count by name of the program",
    "count-by-pid-and-name": "Count by process and name",
    "count-by-string": "Count by a text of the program",
    "count-by-kernel-stack": "Count by kernel stack",
    "count-by-user-stack": "Count by user stack",
    "histogram": "Histogram of a value",
    "histogram-by-two-stacks": "Histogram for each kernel and user stack",
    "histogram-of-time": "Histogram of the time it takes",
    "print": "Print a line",
    "record": "Record it, to read later",
    "record-string": "Record it with a text",
    "record-stack": "Record it with its stack",
    "record-large-buffer": "Record it, in a large buffer",
}
"""Action to what is done at each event."""


def questions(kinds: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The groups that have some of `kinds`, each with those and their words; what has no words is in a last group."""
    left = set(kinds)
    grouped = [
        (group, [(kind, words) for kind, words in own.items() if kind in left]) for group, own in QUESTIONS.items()
    ]
    known = {kind for own in QUESTIONS.values() for kind in own}
    others = [(kind, kind.replace("-", " ")) for kind in sorted(left - known)]
    return [(group, own) for group, own in (*grouped, ("Other probes", others)) if own]


def action_words(action: str) -> str:
    """What is done at each event; an action without words is its own."""
    return ACTIONS.get(action, action.replace("-", " "))
