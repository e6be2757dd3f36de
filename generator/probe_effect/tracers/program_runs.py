"""How often the kernel ran the BPF programs that are loaded, by its own count: a check of what tools count themselves.

The count is off until it is switched on (Linux 5.1), for it makes every run of a program longer.
Source: Documentation/admin-guide/sysctl/kernel.rst, `bpf_stats_enabled`; kernel/bpf/syscall.c, bpf_prog_show_fdinfo.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from probe_effect.host import read_text

if TYPE_CHECKING:
    from pathlib import Path

SWITCH = "proc/sys/kernel/bpf_stats_enabled"
ID = re.compile(r"^prog_id:\s*(\d+)$", re.MULTILINE)
RUNS = re.compile(r"^run_cnt:\s*(\d+)$", re.MULTILINE)


def count_runs(root: Path, *, on: bool) -> None:
    """Switch the count on or off; nothing happens where the kernel has none, or we may not."""
    with suppress(OSError):
        (root / SWITCH).write_text("1" if on else "0", encoding="ascii")


def program_runs(root: Path) -> int | None:
    """Runs of all programs that processes hold, while the count was on; None where no process holds any."""
    runs: dict[str, int] = {}
    for folder in root.glob("proc/[0-9]*/fdinfo"):
        with suppress(OSError):  # a process that has ended meanwhile
            for path in folder.iterdir():
                text = read_text(folder, path.name) or ""
                program, count = ID.search(text), RUNS.search(text)
                if program and count:
                    runs[program[1]] = int(count[1])
    return sum(runs.values()) if runs else None
