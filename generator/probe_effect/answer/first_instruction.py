"""What the kernel does with the instruction that a uprobe replaces: the cost of a user probe hangs on it.

On x86-64 (arch/x86/kernel/uprobes.c of Linux 6.18): `branch_setup_xol_ops` has jumps, calls and the nop of one byte
carried out by the kernel, `push_setup_xol_ops` a push of a register; a nop of five bytes becomes a call into a
trampoline from 6.18 on; every other instruction is copied out of line and stepped, with a second exception.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case

Mechanism = Literal["emulated", "stepped", "called"]

CALLED = re.compile(r"0f 1f 44 00 00")
EMULATED = re.compile(r"90|e[89b]|7[0-9a-f]|0f 8[0-9a-f]|(4[0-9a-f] )?5[0-7]")
"""Nop; call and jump; conditional jumps; push of a register, with a REX prefix too."""

CALLED_SINCE = (6, 18)

USDT_NOP = "90"
"""`sys/sdt.h` leaves a nop of one byte, wherever in its function a static user probe stands."""


def mechanism(first_bytes: str, architecture: str, kernel_release: str) -> Mechanism | None:
    """How the kernel gets past the first instruction of a probed function; None where that is not known.

    Args:
        first_bytes: in hexadecimal digits, with blanks between the bytes.
        architecture: as `uname -m` gives it.
        kernel_release: as `uname -r` gives it.
    """
    if architecture != "x86_64" or not first_bytes:
        return None
    if CALLED.match(first_bytes):
        return "called" if _version(kernel_release) >= CALLED_SINCE else "stepped"
    return "emulated" if EMULATED.match(first_bytes) else "stepped"


def mechanism_of(case: Case, measured: Number) -> str | None:
    """How the probes of a case fired where it was measured: on a user function, or as kprobes; None where not known."""
    document = measured.submission.document
    kprobes = document.run.mechanisms.get(f"{case.id} {measured.tracer}")
    if kprobes is not None or "uprobe" not in case.needs:
        return kprobes
    bytes_of = (document.run.functions.get(function, "") for function in case.functions)
    first = USDT_NOP if case.probe.startswith("usdt") else next(bytes_of, "")
    return mechanism(first, document.machine.architecture, document.system.kernel_release)


def _version(kernel_release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", kernel_release)[:2])
