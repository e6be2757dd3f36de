"""The CPU time of a command with all that it starts, from a cgroup of ours or by waiting for each process.

Source: Documentation/admin-guide/cgroup-v2.rst, Linux 6.18: without any controller `cpu.stat` has the CPU time of all
processes that are or were in a cgroup, and `cgroup.events` says whether there is one; `cgroup.kill` (Linux 5.14) ends
all. Where no cgroup can be made, orphans become our children (PR_SET_CHILD_SUBREAPER of prctl(2)).
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import time
from typing import TYPE_CHECKING

from probe_effect.host import ROOT, read_text
from probe_effect.processes import end_descriptor, is_readable
from probe_effect.tracers.proc import children
from probe_effect.tracers.tool import WORK_PREFIX

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.processes import Child

PR_SET_CHILD_SUBREAPER = 36
LOOK_EVERY_S = 0.005
"""How often it is looked whether a process that outlived the command has ended."""

CLEANER = """read -r _; echo 1 >"$0/cgroup.kill"
while [ -d "$0" ] && [ $((i += 1)) -lt 500 ]; do rmdir "$0/command" "$0/tracer" "$0" || sleep 0.02; done"""
"""Have a shell wait until our end of its pipe is closed, by `kill -9` too, and end and remove what is there."""


class CgroupTree:
    """What we run, in two cgroups below our own. However we end, all that is in them is ended. Always `close` it."""

    way = "a cgroup"

    def __init__(self, parent: Path) -> None:
        """Make them. Raises: OSError where we may not."""
        self._folder = parent / f"{WORK_PREFIX}{os.getpid()}"
        self._began_ns = 0
        for folder in (self._folder, self._folder / "command", self._folder / "tracer"):
            folder.mkdir(exist_ok=True)
        self._cleaner = subprocess.Popen(
            ["/bin/sh", "-c", CLEANER, str(self._folder)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def keep(self, tracer_pid: int) -> None:
        """Have the tracer ended with all else."""
        (self._folder / "tracer/cgroup.procs").write_text(str(tracer_pid))

    def begin(self, command_pid: int) -> None:
        """Count the CPU time of the command, which is stopped, from now on."""
        (self._folder / "command/cgroup.procs").write_text(str(command_pid))
        self._began_ns = self._used_ns()

    def wait(self, command: Child, deadline_s: float) -> int | None:
        """CPU time, in ns, of the command and all that it started, once all have ended; None if some have not."""
        while command.wait(0) is None or "populated 0" not in (read_text(self._folder, "command/cgroup.events") or ""):
            if time.monotonic() > deadline_s:
                return None
            time.sleep(LOOK_EVERY_S)
        return self._used_ns() - self._began_ns

    def close(self) -> None:
        """End what is left, and remove both cgroups."""
        if self._cleaner.stdin is not None:
            self._cleaner.stdin.close()
        self._cleaner.wait()

    def _used_ns(self) -> int:
        stat = (self._folder / "command/cpu.stat").read_text()
        return 1000 * int(stat.split("usage_usec ", 1)[1].split()[0])


class WaitedTree:
    """What we run, of which each process is waited for: by its parent, or by us if its parent has ended before it."""

    way = "waiting for each process"

    def __init__(self) -> None:
        self._others: set[int] = set()
        _adopt(is_on=True)

    def keep(self, tracer_pid: int) -> None:
        """The tracer is our child, and is ended with us."""

    def begin(self, command_pid: int) -> None:  # noqa: ARG002 (the other way needs it)
        """Whoever becomes our child from now on is the command's."""
        self._others = set(children(os.getpid()))

    def wait(self, command: Child, deadline_s: float) -> int | None:
        """As that of a cgroup, but with what the command used before it began, and without what nobody waits for."""
        ended = command.wait(max(0.0, deadline_s - time.monotonic()))
        if ended is None:
            return None
        cpu_ns = ended.user_ns + ended.sys_ns
        while orphans := set(children(os.getpid())) - self._others:
            for pid in orphans:
                descriptor = end_descriptor(pid)
                try:
                    if not is_readable(descriptor, max(0.0, deadline_s - time.monotonic())):
                        return None
                finally:
                    os.close(descriptor)
                used = os.wait4(pid, 0)[2]
                cpu_ns += round((used.ru_utime + used.ru_stime) * 1e9)
        return cpu_ns

    def close(self) -> None:
        """Leave orphans to the system again."""
        _adopt(is_on=False)


CommandTree = CgroupTree | WaitedTree


def command_tree() -> CommandTree:
    """A cgroup where root can make one, else the other way."""
    mount = re.search(r"^\S+ (\S+) cgroup2 ", read_text(ROOT, "proc/self/mounts") or "", re.MULTILINE)
    own = re.search(r"^0::/(.*)$", read_text(ROOT, "proc/self/cgroup") or "", re.MULTILINE)
    if os.geteuid() == 0 and mount and own:
        try:
            return CgroupTree(ROOT / mount[1] / own[1])
        except OSError:  # read-only, as in a container
            pass
    return WaitedTree()


def _adopt(*, is_on: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(is_on), 0, 0, 0)
