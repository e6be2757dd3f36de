"""How the probes of a measured case fired: on a user function by its first instruction, in the kernel as recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.model import series_of
from probe_effect.scripts import instruction

if TYPE_CHECKING:
    from probe_effect.reduce.submission import Number
    from probe_effect.scripts.instruction import Mechanism
    from probe_effect.store.suite_file import Case

USDT_NOPS = {"x86_64": "90", "aarch64": "1f 20 03 d5"}
"""`sys/sdt.h` leaves the architecture's plain nop, wherever in its function a static user probe stands."""


def mechanism(first_bytes: str, architecture: str, kernel_release: str) -> Mechanism | None:
    """How the kernel gets past the first instruction of a probed function; None where that is not known.

    Args:
        first_bytes: in hexadecimal digits, as `machine.json` has them; text that is none tells nothing.
        architecture: as `uname -m` gives it.
        kernel_release: as `uname -r` gives it.
    """
    try:
        return instruction.mechanism(bytes.fromhex(first_bytes), architecture, series_of(kernel_release))
    except ValueError:
        return None


def mechanism_of(case: Case, measured: Number) -> str | None:
    """How the probes of a case fired where it was measured: on a user function, or as kprobes; None where not known."""
    document = measured.submission.document
    kprobes = document.run.mechanisms.get(f"{case.id} {measured.tracer}")
    if kprobes is not None or "uprobe" not in case.needs:
        return kprobes
    architecture = measured.submission.architecture
    bytes_of = (document.run.functions.get(function, "") for function in case.functions)
    first = USDT_NOPS.get(architecture, "") if case.probe.startswith("usdt") else next(bytes_of, "")
    return mechanism(first, architecture, document.system.kernel_release)
