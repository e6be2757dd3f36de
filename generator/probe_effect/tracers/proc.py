"""What proc(5) says of processes, and of the BPF programs that they hold."""

import re
import time
from contextlib import suppress
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.tracers.protocol import TracerFailed

CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_RESOURCE, CAP_PERFMON, CAP_BPF = 19, 21, 24, 38, 39
"""Bits in CapEff. Source: capabilities(7), include/uapi/linux/capability.h."""

PATIENCE_S = 5.0
LOOK_EVERY_S = 0.0005


def state(pid: int) -> str | None:
    return status(pid).get("State", "")[:1] or None


def is_gone(pid: int) -> bool:
    return state(pid) in {None, "Z", "X"}


def status(pid: int | str, root: Path | None = None) -> dict[str, str]:
    """`/proc/PID/status` by name; empty when the process is gone. `self` is this process."""
    lines = (read_text(root or ROOT, f"proc/{pid}/status") or "").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def peak_rss_bytes(pid: int) -> int | None:
    """Largest resident memory of a running process so far (VmHWM); None when it has ended.

    Not wait4's `ru_maxrss`: that keeps the peak of the process before exec, which was ours.
    """
    peak = status(pid).get("VmHWM")
    return int(peak.split()[0]) * 1024 if peak else None  # in KiB, though it says kB


def has_capability(number: int, root: Path) -> bool:
    held = status("self", root).get("CapEff")
    return held is not None and bool(int(held, 16) >> number & 1)


def may_trace(root: Path) -> bool:
    """Whether this process may trace the kernel by its capabilities, which root may lack in a container.

    Source: capabilities(7); CAP_PERFMON and CAP_BPF together do for CAP_SYS_ADMIN in what tracers do, since Linux 5.8.
    """
    return has_capability(CAP_SYS_ADMIN, root) or all(has_capability(bit, root) for bit in (CAP_PERFMON, CAP_BPF))


def children(pid: int) -> list[int]:
    """Process ids of what its main thread has started; every process where CONFIG_PROC_CHILDREN is off."""
    listed = f"proc/{pid}/task/{pid}/children"
    if (ROOT / listed).exists():
        return [int(word) for word in (read_text(ROOT, listed) or "").split()]
    return [int(path.name) for path in ROOT.glob("proc/[0-9]*")]


def processes(pid: int) -> str:
    """A process and all that it has started, ids with commas; itself alone where CONFIG_PROC_CHILDREN is off."""
    pids = [pid]
    for parent in pids:  # which grows meanwhile
        listed = read_text(ROOT, f"proc/{parent}/task/{parent}/children") or ""
        pids += [int(word) for word in listed.split()]
    return ",".join(map(str, pids))


def maps(pid: int) -> str:
    """What a process has in its memory, with the paths of files; empty when it is gone."""
    return read_text(ROOT, f"proc/{pid}/maps") or ""


def waits_for_go(pid: int) -> bool:
    """Whether a process sleeps in a system call on standard input that asks for one byte, as a workload does in `main`.

    `/proc/PID/syscall` has the call's number, which differs among processors, and its arguments. Where there is no such
    file, or it is closed to us, any sleep will do.
    """
    if state(pid) != "S":
        return False
    words = (read_text(ROOT, f"proc/{pid}/syscall") or "").split()
    return not words or (words[1:2] == ["0x0"] and words[3:4] == ["0x1"])


def wait_for_workload(pid: int) -> None:
    """Return when the workload waits for its go: its libraries are loaded, and it is on its CPU by then.

    It alone sleeps so that a signal could wake it (state S); loading a program does not.
    Raises: TracerFailed when it ends or does not get there.
    """
    deadline_s = time.monotonic() + PATIENCE_S
    while (now := state(pid)) != "S":
        if is_gone(pid):
            raise TracerFailed(f"the workload, process {pid}, ended before the tracer was attached")
        if time.monotonic() > deadline_s:
            msg = f"the workload, process {pid}, is in state {now} after {PATIENCE_S:.0f} s; expected S, waiting"
            raise TracerFailed(msg, status="timeout")
        time.sleep(LOOK_EVERY_S)


PROGRAM_ID = re.compile(r"^prog_id:\s*(\d+)$", re.MULTILINE)
RUNS = re.compile(r"^run_cnt:\s*(\d+)$", re.MULTILINE)


def count_runs(root: Path, *, on: bool) -> None:
    """Switch the kernel's count of runs of BPF programs on or off; nothing happens without one, or if we may not.

    Each run takes longer while it is on. Source: Documentation/admin-guide/sysctl/kernel.rst (bpf_stats_enabled, Linux
    5.1); kernel/bpf/syscall.c, bpf_prog_show_fdinfo.
    """
    with suppress(OSError):
        (root / "proc/sys/kernel/bpf_stats_enabled").write_text("1" if on else "0", encoding="ascii")


def program_runs(root: Path) -> int | None:
    """Runs of all BPF programs that processes hold, while the count was on; None where no process holds any.

    Only what programs say is read: reading what a link says can kill the kernel (`live.loaded`).
    """
    runs: dict[str, int] = {}
    for folder in root.glob("proc/[0-9]*/fd"):
        with suppress(OSError):  # a process that has ended meanwhile
            for descriptor in folder.iterdir():
                with suppress(OSError):  # it was closed meanwhile
                    if "bpf-prog" in str(descriptor.readlink()):
                        text = read_text(folder.parent, f"fdinfo/{descriptor.name}") or ""
                        program, count = PROGRAM_ID.search(text), RUNS.search(text)
                        if program and count:
                            runs[program[1]] = int(count[1])
    return sum(runs.values()) if runs else None
