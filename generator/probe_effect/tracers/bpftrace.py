"""bpftrace (Linux, eBPF).

How it is known that the probes are live, without waiting for a while and hoping: bpftrace 0.17 runs `BEGIN` before it
attaches the other probes, so a line printed there proves nothing. The command of its option `-c` is started only after
all probes are attached. We give it a gate: a shell that says "ready" on a pipe, then waits for the end of its standard
input. When we close that, the gate ends, and bpftrace prints its maps and exits. Should the harness die, the same
pipe closes, and no probe stays behind.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from probe_effect.host import ROOT
from probe_effect.processes import Child, is_readable
from probe_effect.tracers.bpftrace_output import count_json, count_lines
from probe_effect.tracers.kernel import missing, tracefs_missing
from probe_effect.tracers.protocol import Report, TracerFailed

if TYPE_CHECKING:
    from probe_effect.processes import Ended
    from probe_effect.tracers.protocol import Counting, Need

GATE = 'echo ready >"/dev/fd/$1"\nread -r _\nexit 0\n'

HARMLESS = re.compile(r"RLIMIT_MEMLOCK|^Attaching |^\s*$|^\{")
"""Lines that are no complaint: without CAP_SYS_RESOURCE bpftrace cannot raise a limit that newer kernels do not use."""

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (a fresh folder of our own is made inside)


@dataclass(frozen=True, slots=True)
class Bpftrace:
    """The tracer; `root` is where it looks for the kernel's files."""

    root: Path = ROOT
    id: str = "bpftrace"

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""
        if shutil.which("bpftrace") is None:
            return "bpftrace is not installed; on Debian and Ubuntu: apt install bpftrace"
        if os.geteuid() != 0:
            return "bpftrace needs root; run this command with sudo"
        return tracefs_missing(self.root)

    def version(self) -> str | None:
        """What `bpftrace --version` prints."""
        try:
            run = subprocess.run(["bpftrace", "--version"], capture_output=True, text=True, timeout=30, check=False)  # noqa: S607 (the reader's own PATH is meant)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return run.stdout.strip() or None

    def missing(self, need: Need) -> str | None:
        """None when the kernel offers `need`, else why not."""
        return missing(need, self.root)

    def start(self, script: Path, counting: Counting) -> BpftraceSession:
        """Start bpftrace on `script`."""
        return BpftraceSession(script, counting)


class BpftraceSession:
    """One bpftrace at work. Its output goes to a file in memory: reading a pipe would fire probes on read."""

    def __init__(self, script: Path, counting: Counting) -> None:
        self._counting = counting
        self._work = tempfile.TemporaryDirectory(
            prefix="probe-effect-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
        )
        folder = Path(self._work.name)
        self._out, self._err = folder / "out", folder / "err"
        self._ready, ready_out = os.pipe()
        self._start_ns = time.monotonic_ns()
        self._attach_ns = 0
        try:
            self._child = self._spawn(folder, script, ready_out)
        except OSError as error:
            self._close()
            msg = f"bpftrace cannot be started: {error.strerror}"
            raise TracerFailed(msg) from error
        finally:
            os.close(ready_out)

    def _spawn(self, folder: Path, script: Path, ready_out: int) -> Child:
        gate = folder / "gate.sh"
        gate.write_text(GATE, encoding="utf-8")
        # JSON would treble the bytes of a script that prints every event.
        form = "text" if self._counting == "lines" else "json"
        # bpftrace splits this at spaces; the folder's name has none.
        command = ["bpftrace", "-f", form, "-c", f"/bin/sh {gate} {ready_out}", str(script)]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            return Child(
                command, stdin=subprocess.PIPE, stdout=out.fileno(), stderr=err.fileno(), pass_fds=(ready_out,)
            )

    def ready(self, timeout_s: float) -> None:
        """Return when every probe is live. Raises: TracerFailed when bpftrace dies or does not get there."""
        if not is_readable(self._ready, timeout_s):
            self._fail("timeout", f"no probe was live after {timeout_s:.0f} s")
        # The pipe ends without a word when bpftrace and its gate are gone.
        if not os.read(self._ready, 16):
            self._fail("failed", "ended before its probes were live")
        self._attach_ns = time.monotonic_ns() - self._start_ns

    def stop(self, timeout_s: float) -> Report:
        """Open the gate, wait for bpftrace to flush and exit, and count. Raises: TracerFailed."""
        asked_ns = time.monotonic_ns()
        self._child.close_stdin()
        ended = self._child.wait(timeout_s)
        detach_ns = time.monotonic_ns() - asked_ns
        if ended is None:
            self._fail("timeout", f"had not exited {timeout_s:.0f} s after it was asked to stop")
        if ended.exit_status != 0:
            self._fail("failed", f"exit status {ended.exit_status}")
        return self._report(ended, detach_ns)

    def end(self) -> None:
        """Leave no process, no probe and no file behind."""
        self._child.end()
        self._close()

    def _report(self, ended: Ended, detach_ns: int) -> Report:
        try:
            seen, lost = self._count()
        except ValueError as error:
            msg = f"the output of bpftrace is not understood: {error}"
            raise TracerFailed(msg) from error
        return Report(
            seen=seen,
            lost=lost,
            cpu_ns=ended.user_ns + ended.sys_ns,
            rss_bytes=ended.rss_bytes,
            output_bytes=self._out.stat().st_size,
            attach_ns=self._attach_ns,
            detach_ns=detach_ns,
        )

    def _count(self) -> tuple[int | None, int | None]:
        if self._counting == "nothing":
            return None, None
        with self._out.open(encoding="utf-8", errors="replace") as out:
            return (count_lines if self._counting == "lines" else count_json)(out)

    def _fail(self, status: Literal["failed", "timeout"], what: str) -> NoReturn:
        self._child.end()
        words = complaint(self._err) or complaint(self._out)
        raise TracerFailed(f"bpftrace {what}" + (f": {words}" if words else ""), status=status)

    def _close(self) -> None:
        if self._ready >= 0:
            os.close(self._ready)
            self._ready = -1
        self._work.cleanup()


def complaint(path: Path) -> str:
    """bpftrace's own words in a file of its output, without those that say nothing."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:50]
    return " ".join(line.strip() for line in lines if not HARMLESS.search(line))
