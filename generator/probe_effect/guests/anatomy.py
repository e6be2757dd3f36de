"""The path of one event: a plugin of the emulator records it, and its instructions are told by function and kind."""

import base64
import struct
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from probe_effect.guests.guest import Message
from probe_effect.guests.qemu import GuestLost
from probe_effect.host.compilers import c_compiler, compiled
from probe_effect.model import HostNotReady, Key
from probe_effect.store.result_tables import USER, Classes, EventPath, Stack

PLUGIN, MARKER = (Path(__file__).with_name(name) for name in ("paths-plugin.c", "paths-marker.h"))
MARKED = ("-include", str(MARKER))
"""Words for the compiler of a workload: each read of the clock is followed by the plugin's marker."""

SKIPPED, LENGTH = 500_000, 500_000
"""Instructions behind the start of the loop that are passed over, and how many are written then: hundreds of events."""

LEAST = 1_000_000  # instructions of the shortest run: while it warms up, a workload reads the clock in a loop

USER_END = 1 << 63
"""Addresses below are those of programs (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst)."""

_HEADER = struct.Struct("=8sQII")
_MAGIC = b"PEPATHS2"
_RECORD = np.dtype([("address", "u8"), ("times", "u8"), ("size", "u1"), ("bytes", "V15")])

NEAR_RATIO = 0.01
"""By how much the instructions between two reads of the clock may differ from what the clock counted between them."""

LEAST_OFTEN = 3  # an instruction that occurs less often parts no operations: there would be no two whole ones


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
    taken = None
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*")):
        recording = read_recording(path)
        path.unlink()
        if recording is not None and abs(recording.total - counted) <= NEAR_RATIO * counted:
            taken = recording
    return taken


def read_recording(path: Path) -> Recording | None:
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
    codes = tuple(bytes(record["bytes"])[: record["size"]] for record in table)
    return Recording(total, table["address"].copy(), table["times"].copy(), codes, sequence.copy())


def events(recording: Recording) -> Iterator[NDArray[np.uint32]]:
    """The recorded operations of the loop, each from one pass of the loop's own code to the next.

    What parts them is an instruction of the program that an operation executes once: of the rarest, the first.
    """
    counts = np.bincount(recording.sequence, minlength=len(recording.addresses))
    often = (recording.addresses < USER_END) & (counts >= LEAST_OFTEN)
    if not often.any():
        return
    # As often as what the programs execute most: once an operation. A tracer may execute more of others, a few times.
    usual = np.bincount(counts[often], weights=counts[often]).argmax()
    is_once = often & (np.abs(counts - usual) <= 1)  # the recording begins and ends within an operation
    first = recording.sequence[is_once[recording.sequence].argmax()]
    at = np.flatnonzero(recording.sequence == first)
    yield from (recording.sequence[start:end] for start, end in pairwise(at))


Kind = Literal["traps", "indirect", "returns", "atomics", "flags", "call", "jump", "return", "repeated"]


def of_machine(machine: str) -> Callable[[bytes], frozenset[Kind]]:
    """The function from an instruction's bytes to its kinds, for a processor named as `uname -m` does."""
    return {"x86_64": _x86_64, "aarch64": _aarch64}[machine]


_PREFIXES = frozenset({0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3, *range(0x40, 0x50)})
_STRINGS = frozenset({0x6C, 0x6D, 0x6E, 0x6F, 0xA4, 0xA5, 0xA6, 0xA7, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF})
_IRET, _RET, _CALL, _JUMP = 0xCF, frozenset({0xC2, 0xC3}), 0xE8, frozenset({0xE9, 0xEB})
_FLAGS = frozenset({0x9C, 0x9D, 0xFA, 0xFB})  # pushf, popf, cli, sti
_EXCHANGE = frozenset({0x86, 0x87})  # with memory it is locked without the prefix


def _x86_64(code: bytes) -> frozenset[Kind]:
    """Source: Intel, Software Developer's Manual, volume 2, appendix A (opcode map); group 5 of opcode FF by ModRM."""
    at = next((index for index, byte in enumerate(code) if byte not in _PREFIXES), len(code) - 1)
    before, opcode = code[:at], code[at]
    modrm = code[at + 1] if at + 1 < len(code) else 0
    kinds: set[Kind] = set()
    if 0xF0 in before or (opcode in _EXCHANGE and modrm >> 6 != 3):
        kinds.add("atomics")
    if opcode in _STRINGS and (0xF2 in before or 0xF3 in before):
        kinds.add("repeated")
    if opcode == _IRET:
        kinds |= {"traps", "return"}
    elif opcode in _RET:
        kinds |= {"returns", "return"}
    elif opcode == _CALL:
        kinds.add("call")
    elif opcode in _JUMP or 0x70 <= opcode <= 0x7F or (opcode == 0x0F and 0x80 <= modrm <= 0x8F):
        kinds.add("jump")
    elif opcode == 0xFF and modrm >> 3 & 7 == 2:
        kinds |= {"indirect", "call"}
    elif opcode == 0xFF and modrm >> 3 & 7 == 4:
        kinds |= {"indirect", "jump"}
    elif opcode in _FLAGS or code[at : at + 3] == b"\x0f\x01\xf8":  # swapgs
        kinds.add("flags")
    return frozenset(kinds)


_REGISTER_BRANCHES: tuple[frozenset[Kind], ...] = (
    frozenset({"indirect", "jump"}),
    frozenset({"indirect", "call"}),
    frozenset({"returns", "return"}),
    frozenset(),
)


def _aarch64(code: bytes) -> frozenset[Kind]:
    """Source: Arm, Architecture Reference Manual for A-profile, C4.1 (A64 instruction set encoding)."""
    word = int.from_bytes(code, "little")
    if word == 0xD69F03E0:  # eret
        return frozenset({"traps", "return"})
    if word & 0xFE000000 == 0xD6000000:  # br, blr, ret, also of signed addresses
        return _REGISTER_BRANCHES[word >> 21 & 3]
    if word >> 26 == 0b100101:  # bl
        return frozenset({"call"})
    if word >> 26 == 0b000101 or word & 0xFF000010 == 0x54000000 or word & 0x7C000000 == 0x34000000:
        return frozenset({"jump"})  # b, b.cond, cbz, tbz
    if word & 0xFFFFF0DF == 0xD50340DF or word & 0xFFFFFFE0 == 0xD51B4220:  # msr daifset, daifclr, daif
        return frozenset({"flags"})
    is_exclusive = word & 0x3F800000 == 0x08000000 or word & 0x3FA07C00 == 0x08A07C00  # ldxr, stxr; cas
    return frozenset({"atomics"}) if is_exclusive or word & 0x3B200C00 == 0x38200000 else frozenset()  # ldadd, swp


NO_SYMBOL = "(no symbol)"
NUMBERED = {"bpf_prog_": "(BPF program)", "bpf_trampoline_": "(BPF trampoline)"}
"""Start of a symbol that is another one in each run, to what it is."""

BOUNDS = ("_start", "_end", "_begin")
"""Ends of symbols that have the address of a function and bound a section (include/asm-generic/vmlinux.lds.h)."""

FUNCTIONS_MISSING = 3  # as many functions are named that a run executes beside the path of its events


class Symbols:
    """The functions of a kernel by their addresses."""

    def __init__(self, lines: Iterable[str]) -> None:
        """`lines`: of /proc/kallsyms, `address type name [module]`, those of code alone."""
        at: dict[int, str] = {}
        for address, _, name, *_ in map(str.split, lines):
            if at.setdefault(int(address, 16), name).endswith(BOUNDS):
                at[int(address, 16)] = name
        self._starts = sorted(at)
        symbols = (at[address] for address in self._starts)
        self._names = [
            next((name for start, name in NUMBERED.items() if symbol.startswith(start)), symbol) for symbol in symbols
        ]

    def at(self, address: int) -> str:
        if address < USER_END:
            return USER
        index = bisect_right(self._starts, address) - 1
        return self._names[index] if index >= 0 else NO_SYMBOL


def path_of(recording: Recording, key: Key, operations: int, symbols: Symbols, machine: str) -> EventPath | None:
    """The path of the commonest event of a recorded run; None where events cannot be distinguished.

    An event into which an interrupt falls, or into which the other CPU executes something, is another and left out.
    """
    alike_events = Counter(event.tobytes() for event in events(recording))
    if not alike_events:
        return None
    kinds, names = of_machine(machine), [symbols.at(int(address)) for address in recording.addresses]
    told = [kinds(code) for code in recording.codes]
    (commonest, alike), *_ = alike_events.most_common(1)
    walked = _walked(memoryview(commonest).cast("I"), names, told)
    stacks = {stack: Classes(*(counts[name] for name in Classes._fields)) for stack, counts in walked.items()}
    rest = _beside(recording, operations, names, stacks.items())
    return EventPath(key, stacks, alike, alike_events.total(), round(recording.total / operations, 2), rest)


def _beside(
    recording: Recording, operations: int, names: Sequence[str], path: Iterable[tuple[Stack, Classes]]
) -> dict[str, float]:
    """The functions of which the run executes most beside the path of its events: instructions an operation."""
    whole: Counter[str] = Counter()
    for name, times in zip(names, recording.times.tolist(), strict=True):
        whole[name] += times
    more = {name: times / operations for name, times in whole.items()}
    for stack, counts in path:
        more[stack[-1]] = more.get(stack[-1], 0.0) - counts.instructions
    most = sorted(more, key=lambda name: -abs(more[name]))[:FUNCTIONS_MISSING]
    return {name: round(more[name], 2) for name in most}


def _walked(places: Iterable[int], names: Sequence[str], told: Sequence[frozenset[Kind]]) -> dict[Stack, Counter[str]]:
    """The instructions of one event by their kinds, for each stack of functions that it goes through."""
    counts: dict[Stack, Counter[str]] = {}
    stack, before, last = [USER], frozenset[Kind](), -1
    for index in places:
        function, kinds = names[index], told[index]
        if function == USER:
            stack = [USER]
        elif stack[-1] != function:
            # What is called, or interrupts, is on top of its caller; a jump takes its place, and a return goes back.
            if len(stack) == 1 or "call" in before or not before & {"jump", "return"}:
                stack.append(function)
            elif function in stack:
                while stack[-1] != function:
                    stack.pop()
            else:
                stack[-1] = function
        counted = counts.setdefault(tuple(stack), Counter())
        counted["instructions"] += 1
        counted["repetitions"] += "repeated" in kinds and index == last
        counted.update(kinds)
        before, last = kinds, index
    return counts


NO_SYMBOLS = (
    "the kernel has no addresses of functions in /proc/kallsyms, without which a path has no functions: "
    "take one that is built with CONFIG_KALLSYMS=y, or measure without --paths"
)


@dataclass(slots=True)
class PathRecorder:
    """The recorder of the paths of a suite's events.

    Attributes:
        machine: the processor, as `uname -m` names it.
        tell: is told of a case whose events are not all alike.
        folder: where the emulator's plugin writes.
    """

    machine: str
    tell: Callable[[str], None]
    folder: Path
    _functions: str = ""
    _found: dict[Key, EventPath | None] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The emulator's words for it. Raises: as `plugin_words`."""
        return plugin_words(self._prefix)

    def begin(self) -> None:
        self._found = {}

    def record(self, key: Key, request: Message, ask: Callable[[Message], Message]) -> None:
        """Have the guest make the run once more, and take its path, where there is none of this key yet.

        A run that ended badly, or was too short, leaves none, so that the next one is recorded.
        Raises: HostNotReady where the kernel does not tell its functions.
        """
        if key in self._found:
            return
        self._functions = self._functions or _unpacked(ask({"do": "symbols"})["symbols"])
        if all(int(line.split()[0], 16) == 0 for line in self._functions.splitlines()):
            raise HostNotReady(NO_SYMBOLS)
        answer = ask(request | {"looking": False, "symbols": True})
        row, own = answer["row"], _unpacked(answer["symbols"]) if "symbols" in answer else ""
        recording = taken(self._prefix, row["wall_ns"]) if row["status"] == "ok" else None
        if recording is None:
            return
        symbols = Symbols([*self._functions.splitlines(), *own.splitlines()])
        operations = row["operations"] or row["events"]
        self._found[key] = path = path_of(recording, key, operations, symbols, self.machine)
        if path is None:
            self.tell(f"{key.case} with {key.tracer}: no event could be distinguished")
        elif path.alike < path.recorded:
            words = f"{path.alike} of {path.recorded} recorded events are alike"
            self.tell(f"{key.case} with {key.tracer}: {words}")

    @property
    def events(self) -> list[EventPath]:
        """The paths that were recorded, one for each key."""
        return [path for path in self._found.values() if path]

    @property
    def _prefix(self) -> Path:
        return self.folder / "recorded"


MOST_BYTES = 256 << 20  # of symbols: twenty times as many as Debian's kernel has


def _unpacked(text: str) -> str:
    """What the guest packed. Raises: GuestLost where it is none of that, or too much."""
    unpacking = zlib.decompressobj()
    try:
        symbols = unpacking.decompress(base64.b85decode(text), MOST_BYTES).decode()
    except (ValueError, zlib.error) as error:
        raise GuestLost(f"the emulated machine sent symbols that cannot be unpacked: {error}") from error
    if unpacking.unconsumed_tail:
        raise GuestLost(f"the emulated machine sent more than {MOST_BYTES} bytes of symbols")
    return symbols
