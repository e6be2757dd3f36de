"""How the probes of a measured case fired: on a user function by its first instruction, in the kernel as recorded.

Read for it: `arch/x86/kernel/uprobes.c` (`branch_setup_xol_ops`, `push_setup_xol_ops`, `is_prefix_bad`, `can_optimize`)
and `arch/arm64/kernel/probes/decode-insn.c` (`arm_probe_decode_insn`, `aarch64_insn_is_steppable`) with
`arch/arm64/include/asm/insn.h` of Linux 6.x, and the changes up to 7.3:

- pushes of a register are emulated on x86 since 4.16 (“uprobes/x86: Emulate push insns for uprobe”, e7ed9d9bd037);
- nops of several bytes since 6.16 (“uprobes/x86: Add support to emulate NOP instructions”, 610f6e14c29d); since 6.19
  `pause` is none of them (“x86/insn,uprobes,alternative: Unify insn_is_nop()”, 8a5c6cbfe4a3);
- a nop of five bytes becomes a call from 6.18 to 7.2 (“uprobes/x86: Add support to optimize uprobes”, ba2bfc97b462),
  which writes its return address into the red zone below the stack pointer. Since 7.3 one of ten bytes does, which
  becomes a `lea` past the red zone and a call (“uprobes/x86: Move optimized uprobe from nop5 to nop10”, 554ba38456da);
  older kernels refuse it for its prefix. Across two pages neither becomes a call, which no bytes show;
- arm64 simulates `nop` since 6.13 (“arm64: insn: Simulate nop instruction for better uprobe performance”,
  ac4ad5c09b34). A store of frame pointer and return address, which begins most functions, is still stepped: a change
  that simulates it was sent in September 2024 and is in none of the sources read;
- arm64 refuses `ldr` of a literal since 6.12 (“arm64: probes: Remove broken LDR (literal) uprobe support”,
  acc450aa0709), and so do the stable kernels since October 2024, 5.10.228 and 6.1.114 among them. Copies of memory
  by three instructions (FEAT_MOPS) since 6.13 and in the stable kernels (c56c599d9002).
"""

from collections.abc import Sequence
from typing import Literal

from probe_effect.model import NOP10_CALLED_SINCE, series_of
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Case
from probe_effect.toml import beside

Mechanism = Literal["emulated", "stepped", "called"]
KernelVersion = tuple[int, int]
"""Version and patch level, such as (6, 18)."""

_NEWEST: KernelVersion = (7, 3)
"""The newest kernel whose sources were read."""


def mechanism_of_bytes(first_bytes: bytes, architecture: str, kernel: KernelVersion | None = None) -> Mechanism | None:
    """How the kernel carries out the instruction under a uprobe.

    Args:
        first_bytes: of the function; more than one instruction does no harm, less leaves it unknown.
        architecture: as `uname -m` says: `x86_64`, `aarch64`.
        kernel: of the machine; the newest whose sources were read, 7.3, where it is None.

    Returns:
        `emulated` by the kernel within the one exception; `stepped` as a copy elsewhere, with a second exception;
        `called` without any, the instruction having become a call. None where nothing is known of the architecture,
        bytes are missing, or the kernel refuses to probe such an instruction.
    """
    known = {"x86_64": _x86, "amd64": _x86, "aarch64": _arm64, "arm64": _arm64}.get(architecture)
    return known(first_bytes, kernel or _NEWEST) if known else None


_NOPS_OF_5 = (b"\x0f\x1f\x44", b"\x66\x0f\x1f\x40")
"""How nops of five bytes begin (Intel SDM, volume 2, NOP)."""

_NOP_OF_10 = b"\x66\x2e\x0f\x1f\x84"
"""How the only nop of ten bytes begins that becomes a call (`is_optimizable_nop10`)."""

_NOPS = tuple(
    bytes.fromhex(one)
    for one in (
        "66 90",
        "0f 1f 00",
        "0f 1f 40 00",
        "0f 1f 44 00 00",
        "66 0f 1f 44 00 00",
        "0f 1f 80 00 00 00 00",
        "0f 1f 84 00 00 00 00 00",
        "66 0f 1f 84 00 00 00 00 00",
    )
)
"""The kernel's own nops of several bytes that may be probed (`x86_nops`, arch/x86/include/asm/nops.h)."""

_PREFIXES = b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3"
_REFUSED_PREFIXES = b"\x26\x2e\x36\x3e\xf0"
_REFUSED = b"\xcc\xcd\xcf\xf1\xf4\xfa\xfb"
"""int3, int, iret, int1, hlt, cli, sti: not in `good_insns_64`."""


def _x86(code: bytes, kernel: KernelVersion) -> Mechanism | None:
    is_nop5 = len(code) >= 5 and code.startswith(_NOPS_OF_5)
    is_nop10 = len(code) >= 10 and code.startswith(_NOP_OF_10)
    if (is_nop5 and (6, 18) <= kernel < NOP10_CALLED_SINCE) or (is_nop10 and kernel >= NOP10_CALLED_SINCE):
        return "called"
    if code.startswith(_NOPS) or (is_nop5 and kernel >= NOP10_CALLED_SINCE):
        return "emulated" if kernel >= (6, 16) else "stepped"
    prefixes = code[: len(code) - len(code.lstrip(_PREFIXES))]
    code = code.lstrip(b"\xf2\xf3")  # `prefix* + nop`, and branches with a prefix that they do not heed
    if not code or set(prefixes) & set(_REFUSED_PREFIXES) or code[0] in _REFUSED:
        return None
    # Whether a 64-bit register is pushed, with `41` before it for one of the newer eight.
    opcode = code[1] if code[0] == 0x41 and len(code) > 1 else code[0]
    if 0x50 <= opcode <= 0x57:
        return "emulated" if kernel >= (4, 16) else "stepped"
    if code[0] == 0x0F and len(code) < 2:
        return None
    is_nop = code[0] == 0x90 and (0xF3 not in prefixes or kernel < (6, 19))
    return "emulated" if is_nop or _is_branch(code) else "stepped"


def _is_branch(code: bytes) -> bool:
    """Whether it is a relative call or jump, or a conditional jump, near or short."""
    if code[0] == 0x0F:
        return 0x80 <= code[1] <= 0x8F
    return code[0] in {0xE8, 0xE9, 0xEB} or 0x70 <= code[0] <= 0x7F


_ARM64_NOP = 0xD503201F
_ARM64 = beside(__file__)["arm64"]
_SIMULATED, _REFUSED_ARM64 = _ARM64["simulated"], _ARM64["refused"]
"""Masks and values of instructions (arch/arm64/include/asm/insn.h)."""

_HINT = (0xFFFFF01F, 0xD503201F)
_STEPPED_HINTS = {7, 8, 10, 24, 25, 26, 27, 32, 34, 36, 38}
"""Numbers of the hints that may be probed: those that sign a pointer or take it off, and `bti`."""


def _arm64(code: bytes, kernel: KernelVersion) -> Mechanism | None:
    if len(code) < 4:
        return None
    instruction = int.from_bytes(code[:4], "little")
    if instruction == _ARM64_NOP:
        return "emulated" if kernel >= (6, 13) else "stepped"
    if _is_one(instruction, _SIMULATED):
        return "emulated"
    if _is_one(instruction, (_HINT,)):
        return "stepped" if instruction >> 5 & 0x7F in _STEPPED_HINTS else None
    return None if _is_one(instruction, _REFUSED_ARM64) else "stepped"


def _is_one(instruction: int, patterns: Sequence[tuple[int, int]]) -> bool:
    return any(instruction & mask == value for mask, value in patterns)


USDT_NOPS = {"x86_64": "90", "aarch64": "1f 20 03 d5"}
"""`sys/sdt.h` leaves the architecture's plain nop, wherever in its function a static user probe is."""


def mechanism(first_bytes: str, architecture: str, kernel_release: str) -> Mechanism | None:
    """How the kernel gets past the first instruction of a probed function; None where that is not known.

    Args:
        first_bytes: in hexadecimal digits, as `machine.json` has them; text that is none tells nothing.
        architecture: as `uname -m` gives it.
        kernel_release: as `uname -r` gives it.
    """
    try:
        return mechanism_of_bytes(bytes.fromhex(first_bytes), architecture, series_of(kernel_release))
    except ValueError:
        return None


def writes_red_zone(how: str | None, kernel_release: str) -> bool:
    """Whether a probe that fires so writes below the stack pointer, where a function may keep data."""
    return how == "called" and series_of(kernel_release) < NOP10_CALLED_SINCE


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


def is_in_red_zone(case: Case | None, measured: Number) -> bool:
    """Whether the probes of a case wrote below the stack pointer where it was measured."""
    release = measured.submission.document.system.kernel_release
    return case is not None and writes_red_zone(mechanism_of(case, measured), release)
