"""By which mechanism the kernel's live kprobes fire: one probe costs several times another.

Source: Documentation/trace/kprobes.rst, "The kprobes debugfs interface"; kernel/kprobes.c, report_probe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.host import ROOT, read_text

if TYPE_CHECKING:
    from pathlib import Path

LIST = "sys/kernel/debug/kprobes/list"
MARKS = {"[FTRACE]": "ftrace", "[OPTIMIZED]": "jump"}
"""Mark at the end of a probe's line to its mechanism; a live probe without one is a breakpoint."""
TRAP = "trap"
ORDER = ("ftrace", "jump", TRAP)
ASLEEP = ("[DISABLED]", "[GONE]")


def mechanism(root: Path = ROOT) -> str | None:
    """How the kprobes and kretprobes that are live now fire: `ftrace`, `trap`, `jump`, or several joined by ` + `.

    None where there is none, and where debugfs is not mounted or closed to us. The kernel turns a trap into a jump a
    while after it was set (OPTIMIZE_DELAY, 5 ticks), so ask when the workload has run. Multi-kprobes, fentry and the
    tracers of functions are no kprobes and stand in no line.
    """
    lines = (read_text(root, LIST) or "").splitlines()
    found = {_of_one(line) for line in lines if not any(mark in line for mark in ASLEEP)}
    return " + ".join(name for name in ORDER if name in found) or None


def _of_one(line: str) -> str:
    return next((name for mark, name in MARKS.items() if mark in line), TRAP)
