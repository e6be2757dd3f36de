"""The CPU time of a command with all that it starts, from a cgroup of ours or by waiting for each process.

Source: Documentation/admin-guide/cgroup-v2.rst, Linux 6.18: without any controller `cpu.stat` has the CPU time of all
processes that are or were in a cgroup; `cgroup.events` says whether there is one; `cgroup.kill` (Linux 5.14) ends all.
Where no cgroup can be made, orphans become our children (PR_SET_CHILD_SUBREAPER of prctl(2)).
"""

import ctypes
import os
import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.processes import Child
from probe_effect.tracers.proc import children
from probe_effect.tracers.tool import WORK_PREFIX

PR_SET_CHILD_SUBREAPER = 36
LOOK_EVERY_S = 0.005

CLEANER = """read -r _; echo 1 >"$0/cgroup.kill"
while [ -d "$0" ] && [ $((i += 1)) -lt 500 ]; do rmdir "$0/command" "$0/ours" "$0" || sleep 0.02; done; rm -rf "$1"*
"""
"""Have a shell wait until our end of its pipe is closed, by `kill -9` too, and end and remove what is there."""


class CommandTree:
    """The processes of a command. Always `close` it.

    We are in a cgroup, with all that we start: if we are killed, the cleaner, which is not, ends and removes the rest.
    """

    def __init__(self, work: Path) -> None:
        """Make it; `work`: a folder of ours, whose like go too."""
        self._folder, self._cleaner = _cgroup(), None
        self._others, self._used_ns = set[int](), 0
        if self._folder:
            self._cleaner = subprocess.Popen(
                ["/bin/sh", "-c", CLEANER, str(self._folder), str(work.parent / f"{WORK_PREFIX}{os.getpid()}-")],
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            _move(os.getpid(), self._folder / "ours")
        _adopt(is_on=self._folder is None)

    @property
    def way(self) -> str:
        """How all processes are found, in words."""
        return "a cgroup" if self._folder else "waiting for each process"

    def begin(self, pid: int) -> None:
        """Count the command, which is stopped, from now on; who becomes our child from now on belongs to it."""
        if self._folder:
            _move(pid, self._folder / "command")
        self._others, self._used_ns = set(children(os.getpid())), -self._cgroup_ns()

    def wait(self, command: Child, deadline_s: float) -> int | None:
        """CPU time, in ns, of the command and all that it started, once all have ended; None if some have not.

        Without a cgroup it has what starting took too, and lacks processes whose parent does not wait for them.
        """
        ended = command.wait(max(0.0, deadline_s - time.monotonic()))
        while self._is_left():
            if time.monotonic() > deadline_s:
                return None
            time.sleep(LOOK_EVERY_S)
        if ended is None:
            return None
        return self._used_ns + (self._cgroup_ns() if self._folder else ended.user_ns + ended.sys_ns)

    def close(self) -> None:
        """End what is left, and remove the cgroup."""
        if self._folder and self._cleaner and self._cleaner.stdin:
            _move(os.getpid(), self._folder.parent)
            self._cleaner.stdin.close()
            self._cleaner.wait()
        _adopt(is_on=False)

    def _cgroup_ns(self) -> int:
        stat = read_text(self._folder, "command/cpu.stat") if self._folder else None
        return 1000 * int(stat.split("usage_usec ", 1)[1].split()[0]) if stat else 0

    def _is_left(self) -> bool:
        """Whether a process of the command is left; without a cgroup, those that have ended are waited for."""
        if self._folder:
            return "populated 0" not in (read_text(self._folder, "command/cgroup.events") or "")
        orphans = set(children(os.getpid())) - self._others
        for pid in orphans:
            _, _, used = os.wait4(pid, os.WNOHANG)
            self._used_ns += round((used.ru_utime + used.ru_stime) * 1e9)
        return bool(orphans)


def _cgroup() -> Path | None:
    """A cgroup below our own, with one for the command and one for us; None where we may not make it."""
    mount = re.search(r"^\S+ (\S+) cgroup2 ", read_text(ROOT, "proc/self/mounts") or "", re.MULTILINE)
    own = re.search(r"^0::/(.*)$", read_text(ROOT, "proc/self/cgroup") or "", re.MULTILINE)
    if os.geteuid() == 0 and mount and own:
        folder = ROOT / mount[1] / own[1] / f"{WORK_PREFIX}{os.getpid()}"
        with suppress(OSError):  # read-only, as in a container
            for part in ("command", "ours"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            return folder
    return None


def _move(pid: int, cgroup: Path) -> None:
    (cgroup / "cgroup.procs").write_text(str(pid))


def _adopt(*, is_on: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(is_on), 0, 0, 0)
