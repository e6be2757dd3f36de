"""What a guest executes, instruction by instruction: a plugin of the emulator, built here, and the files it writes."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from probe_effect.compilers import c_compiler, compiled

PLUGIN, MARKER = (Path(__file__).with_name(name) for name in ("paths-plugin.c", "paths-marker.h"))
MARKED = ("-include", str(MARKER))
"""Words for the compiler of a workload: each read of the clock is followed by the plugin's marker."""

SKIPPED, LENGTH = 500_000, 500_000
"""Instructions behind the start of the loop that are passed over, and how many are written then: hundreds of events."""

LEAST = 1_000_000
"""Instructions of the shortest run: while it warms up, a workload reads the clock in a loop."""

USER_END = 1 << 63
"""Addresses below are those of programs (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst)."""

_HEADER = struct.Struct("=8sQII")
_MAGIC = b"PEPATHS2"
_RECORD = np.dtype([("address", "u8"), ("times", "u8"), ("size", "u1"), ("bytes", "V15")])

NEAR_RATIO = 0.01
"""By how much the instructions between two reads of the clock may differ from what the clock counted between them."""

LEAST_OFTEN = 3
"""An instruction that occurs less often parts no operations: there would be no two whole ones."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A run: `total` instructions between its reads of the clock, each with how often it was executed.

    `sequence` is a part of the run in its order: for each instruction its place in `addresses`, `times` and `codes`.
    """

    total: int
    addresses: NDArray[np.uint64]
    times: NDArray[np.uint64]
    codes: tuple[bytes, ...]
    sequence: NDArray[np.uint32]


def plugin_words(prefix: Path, skipped: int = SKIPPED, least: int = LEAST) -> list[str]:
    """The emulator's words that load the plugin, built before or now, which writes files of that prefix.

    Raises: HostNotReady without a C compiler; ProbeEffectError where it refuses the plugin.
    """
    made = compiled(PLUGIN, c_compiler(("-O2", "-shared", "-fPIC")), "emulated/paths-plugin.so")
    return ["-plugin", f"{made.path},prefix={prefix},skip={skipped},length={LENGTH},least={least}"]


def taken(prefix: Path, counted: int) -> Recording | None:
    """The recording of the run for which the clock counted so many instructions; what others left is removed."""
    found = None
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*")):
        one = read_recording(path)
        path.unlink()
        if one is not None and abs(one.total - counted) <= NEAR_RATIO * counted:
            found = one
    return found


def read_recording(path: Path) -> Recording | None:
    """The recording in a file of the plugin; None where it was cut short."""
    data = path.read_bytes()
    if len(data) < _HEADER.size:
        return None
    magic, total, records, length = _HEADER.unpack_from(data)
    end = _HEADER.size + records * _RECORD.itemsize
    if magic != _MAGIC or len(data) != end + 4 * length:
        return None
    table = np.frombuffer(data, _RECORD, records, _HEADER.size)
    sequence = np.frombuffer(data, np.uint32, length, end)
    if length and sequence.max() >= records:
        return None
    codes = tuple(bytes(one["bytes"])[: one["size"]] for one in table)
    return Recording(total, table["address"].copy(), table["times"].copy(), codes, sequence.copy())


def events(one: Recording) -> Iterator[NDArray[np.uint32]]:
    """The recorded operations of the loop, each from one pass of the loop's own code to the next.

    What parts them is an instruction of the program that an operation executes once: of the rarest, the first.
    """
    counts = np.bincount(one.sequence, minlength=len(one.addresses))
    often = (one.addresses < USER_END) & (counts >= LEAST_OFTEN)
    if not often.any():
        return
    # As often as what the programs execute most: once an operation. A tracer may execute more of others, a few times.
    usual = np.bincount(counts[often], weights=counts[often]).argmax()
    is_once = often & (np.abs(counts - usual) <= 1)  # the recording begins and ends within an operation
    first = one.sequence[is_once[one.sequence].argmax()]
    at = np.flatnonzero(one.sequence == first)
    yield from (one.sequence[start:end] for start, end in pairwise(at))
