"""What proc(5) says of a process that a tracer has to know of."""

from __future__ import annotations

from probe_effect.host import ROOT, read_text


def state(pid: int) -> str | None:
    """The letter of its state (`S`: sleeps, and a signal could wake it); None when it is gone."""
    stat = read_text(ROOT, f"proc/{pid}/stat")
    # The name, in parentheses, may hold blanks and parentheses itself.
    return stat.rpartition(")")[2].split()[0] if stat else None


def is_gone(pid: int) -> bool:
    """Whether it has ended, waited for or not."""
    return state(pid) in {None, "Z", "X"}


def name(pid: int) -> str | None:
    """The name of its program, cut to 15 bytes; None when it is gone."""
    return read_text(ROOT, f"proc/{pid}/comm")


def children(pid: int) -> list[int]:
    """Process ids of what its main thread has started and what still runs."""
    return [int(child) for child in (read_text(ROOT, f"proc/{pid}/task/{pid}/children") or "").split()]


def has_loaded(pid: int, library: str) -> bool:
    """Whether a file with `library` in its path is in its memory."""
    return library in (read_text(ROOT, f"proc/{pid}/maps") or "")


def waits_for_go(pid: int) -> bool:
    """Whether it sleeps in a system call on standard input that asks for one byte, as a workload does in `main`.

    `/proc/PID/syscall` has the call's number, which differs among processors, and its arguments. Where there is no such
    file, or it is closed to us, any sleep will do.
    """
    if state(pid) != "S":
        return False
    words = (read_text(ROOT, f"proc/{pid}/syscall") or "").split()
    return not words or (words[1:2] == ["0x0"] and words[3:4] == ["0x1"])
