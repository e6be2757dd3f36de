"""Our own BPF programs: one that counts, by probe and thread, and one that follows the children of whom we count.

Source: Documentation/bpf/standardization/instruction-set.rst of the Linux kernel for the encoding, and for the numbers
of helpers `___BPF_FUNC_MAPPER` in include/uapi/linux/bpf.h. Written for little-endian machines.
"""

import struct
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

GET_CURRENT_PID_TGID, MAP_LOOKUP, MAP_UPDATE, GET_STACK, PROBE_READ_KERNEL, ATTACH_COOKIE = 14, 1, 2, 67, 113, 174
GET_CURRENT_COMM = 16
"""Helpers: thread id in the low, process id in the high 32 bits; elements of maps; the cookie of the probe's link."""

BPF_ANY, BPF_NOEXIST = 0, 1
"""Whether an update may change an element that is there, or only add one."""

R0, R1, R2, R3, R4, R6, R7, STACK = 0, 1, 2, 3, 4, 6, 7, 10
"""Registers: result, arguments, two that calls keep, and the end of the stack."""

MAP_FD, MAP_VALUE = 1, 2
"""BPF_PSEUDO_MAP_FD and BPF_PSEUDO_MAP_VALUE: what the kernel puts in place of a descriptor."""

REST, ELSEWHERE = 0xFFFF_FFFF, 0xFFFF_FFFE
"""In the place of a thread's id: threads for which the map had no room, and all that are not watched.

No thread has such an id (PID_MAX_LIMIT, include/linux/threads.h).
"""

STACKS = 0xFFFF_FFFF
"""In the place of a probe: of the stacks that were looked at, the bytes, and above `STACK_BITS` how many there were."""

STACK_BITS, STACK_BYTES, USER_STACK = 40, 8 * 48, 1 << 8
"""At most 48 addresses, because a program's own stack has 512 bytes; BPF_F_USER_STACK."""

SAMPLED_MASK = 15
"""Of a thread's events on a CPU every sixteenth has its stack looked at."""

PROBE, THREAD, CALL = -16, -12, -24
"""Places on the stack: the key of a count, and the number of a system call."""


class Instruction(NamedTuple):
    """Eight bytes; a jump names the label that it goes to."""

    code: int
    to: int = 0
    source: int = 0
    offset: int | str = 0
    value: int = 0


# BPF_ALU64 and BPF_JMP | BPF_CALL
_copy = partial(Instruction, 0xBF)
_set = partial(Instruction, 0xB7)
_add_value = partial(Instruction, 0x07)
_atomic_add = partial(Instruction, 0xDB)
_call = partial(Instruction, 0x85)
# memory: a register from (register + offset); (register + offset) from a register, or from a value
_load_word, _load_double = partial(Instruction, 0x61), partial(Instruction, 0x79)
_store_word, _store_double = partial(Instruction, 0x63), partial(Instruction, 0x7B)
_store_word_value, _store_double_value = partial(Instruction, 0x62), partial(Instruction, 0x7A)
# jumps
_if_equal, _if_not_equal = partial(Instruction, 0x15), partial(Instruction, 0x55)
_if_not_positive = partial(Instruction, 0xD5)
_go_to = partial(Instruction, 0x05)

_RETURN_0 = [_set(R0, value=0), Instruction(0x95)]


def assembled(lines: Sequence[Instruction | str]) -> bytes:
    """The bytes of a program; a string is a label for what follows. Raises: KeyError for an unknown one."""
    labels: dict[str, int] = {}
    instructions: list[Instruction] = []
    for line in lines:
        if isinstance(line, str):
            labels[line] = len(instructions)
        else:
            instructions.append(line)
    program = b""
    for at, (code, to, source, offset, value) in enumerate(instructions):
        distance = labels[offset] - at - 1 if isinstance(offset, str) else offset
        program += struct.pack("<BBhi", code, to | source << 4, distance, value)
    return program


def by_cookie() -> list[Instruction]:
    return [_copy(R1, R6), _call(value=ATTACH_COOKIE), _store_word(STACK, R0, PROBE)]


def always(probe: int) -> list[Instruction]:
    """Which probe fired: there is only one."""
    return [_store_word_value(STACK, offset=PROBE, value=probe)]


def by_call(numbers: int, others: int, number_offset: int | None) -> list[Instruction | str]:
    """Which probe fired at a raw tracepoint of all system calls: the one of the call's number.

    Args:
        numbers: descriptor of a hash, number of a call to its probe, 32 bits each.
        others: the probe of all calls that the hash lacks.
        number_offset: where `struct pt_regs` has the number, bytes; None at the entry, which is told the number.
    """
    to_number = [_load_double(R1, R6, 8), _store_word(STACK, R1, CALL)]
    if number_offset is not None:
        registers = [_load_double(R3, R6, 0), _add_value(R3, value=number_offset)]
        to_number = [*registers, *_address(R1, CALL), _set(R2, value=4), _call(value=PROBE_READ_KERNEL)]
    return [
        *to_number,
        *always(others),
        *_look_up(numbers, CALL),
        _if_equal(R0, offset="known"),
        _load_word(R1, R0, 0),
        _store_word(STACK, R1, PROBE),
        "known",
    ]


def counting(
    counts: int, switch: int, watched: int | None, to_probe: Sequence[Instruction | str], *, stacks: bool = False
) -> bytes:
    """A program that adds one to the element (probe, thread id) of `counts`, on the CPU that it runs on.

    Args:
        counts: descriptor of a per-CPU hash, 32-bit probe and 32-bit thread id to 64 bits, which has the elements
            (probe, `REST`) and (probe, `ELSEWHERE`) already.
        switch: descriptor of an array whose one value, 64 bits, is 0 as long as nothing is to be counted.
        watched: descriptor of a hash of the process ids whose events count; None for everybody's.
        to_probe: puts which probe fired on the stack.
        stacks: whether the user's stack is looked at now and then; `counts` has the element (`STACKS`, `REST`) then.
    """
    unless_watched: list[Instruction | str] = []
    if watched is not None:
        unless_watched = [
            *_unless_watched(watched, "elsewhere"),
            _go_to(offset="key"),
            "elsewhere",
            _set(R7, value=ELSEWHERE - (1 << 32)),
            "key",
        ]
    return assembled(
        [
            _copy(R6, R1),
            *_constant(R1, switch, MAP_VALUE),
            _load_double(R1, R1, 0),
            _if_equal(R1, offset="end"),
            _call(value=GET_CURRENT_PID_TGID),
            _copy(R7, R0),
            *unless_watched,
            *to_probe,
            _store_word(STACK, R7, THREAD),
            *_look_up(counts, PROBE),
            _if_not_equal(R0, offset="add"),
            # The first event of this thread. A thread runs on one CPU at a time, so nobody else makes its element;
            # no lock is held while it is made, but an interrupt of the same thread may come first: add then too.
            _store_double_value(STACK, offset=-8),
            *_update(counts, PROBE, -8, flags=BPF_NOEXIST),
            *_look_up(counts, PROBE),
            _if_not_equal(R0, offset="add"),
            _store_word_value(STACK, offset=THREAD, value=-1),  # no room: `REST`
            *_look_up(counts, PROBE),
            _if_equal(R0, offset="end"),
            "add",
            _set(R1, value=1),
            _atomic_add(R0, R1),
            *(_sampling_stacks(counts) if stacks else []),
            "end",
            *_RETURN_0,
        ]
    )


def _sampling_stacks(counts: int) -> list[Instruction]:
    """Add the length of every sixteenth stack of who is watched.

    R0 has the address of the thread's count, R6 the context, and R7 the thread, or `ELSEWHERE`.
    """
    return [
        _if_equal(R7, offset="end", value=ELSEWHERE - (1 << 32)),
        _load_double(R1, R0, 0),
        Instruction(0x57, R1, value=SAMPLED_MASK),
        _if_not_equal(R1, offset="end"),
        _copy(R1, R6),
        *_address(R2, CALL - STACK_BYTES),
        _set(R3, value=STACK_BYTES),
        _set(R4, value=USER_STACK),
        _call(value=GET_STACK),
        _if_not_positive(R0, offset="end"),  # no stack
        _copy(R7, R0),
        _set(R1, value=1),
        Instruction(0x67, R1, value=STACK_BITS),  # shift left
        Instruction(0x0F, R7, R1),  # add
        *always(STACKS - (1 << 32)),
        _store_word_value(STACK, offset=THREAD, value=REST - (1 << 32)),
        *_look_up(counts, PROBE),
        _if_equal(R0, offset="end"),
        _atomic_add(R0, R7),
    ]


def following(watched: int, child_offset: int) -> bytes:
    """A program for sched:sched_process_fork that adds the child of a watched process to `watched`.

    For a new thread it adds an id that belongs to no process: harmless, for only process ids are looked up.

    Args:
        watched: as `counting` has it.
        child_offset: where the event's record has `child_pid`, by the event's format file.
    """
    return _if_watched(
        watched,
        [
            _load_word(R1, R6, child_offset),
            _store_word(STACK, R1, -4),
            _store_word_value(STACK, offset=-8, value=1),
            *_update(watched, -4, -8, flags=BPF_ANY),
        ],
    )


ENDED_WORDS = 4
"""Of an ended thread, 64 bits each: CPU time in ns, process id above thread id, and the 16 bytes of its name."""


def ending(watched: int, ended: int, time_offset: int) -> bytes:
    """A program for the raw tracepoint sched_process_exit that keeps what a thread of a watched process used.

    Args:
        watched: as `counting` has it.
        ended: descriptor of a hash, 32-bit thread id to `ENDED_WORDS`.
        time_offset: where `struct task_struct` has the thread's CPU time.
    """
    words = CALL - 8 * ENDED_WORDS
    return _if_watched(
        watched,
        [
            *_address(R1, words),
            _set(R2, value=8),
            _load_double(R3, R6, 0),
            _add_value(R3, value=time_offset),
            _call(value=PROBE_READ_KERNEL),
            _store_double(STACK, R7, words + 8),
            *_address(R1, words + 16),
            _set(R2, value=16),
            _call(value=GET_CURRENT_COMM),
            _store_word(STACK, R7, -4),
            *_update(ended, -4, words, flags=BPF_ANY),
        ],
    )


def empty() -> bytes:
    return assembled(_RETURN_0)


def _if_watched(watched: int, then: Sequence[Instruction]) -> bytes:
    """A program for the threads of watched processes; R6 has its context, R7 the ids of process and thread."""
    begin = [_copy(R6, R1), _call(value=GET_CURRENT_PID_TGID), _copy(R7, R0)]
    return assembled([*begin, *_unless_watched(watched, "end"), *then, "end", *_RETURN_0])


def _unless_watched(watched: int, label: str) -> list[Instruction]:
    """Jump unless the process whose id and thread R7 has is in the hash."""
    to_process = [_copy(R1, R7), Instruction(0x77, R1, value=32), _store_word(STACK, R1, -4)]  # shift right
    return [*to_process, *_look_up(watched, -4), _if_equal(R0, offset=label)]


def _look_up(map_fd: int, key: int) -> list[Instruction]:
    return [*_constant(R1, map_fd, MAP_FD), *_address(R2, key), _call(value=MAP_LOOKUP)]


def _update(map_fd: int, key: int, value: int, *, flags: int) -> list[Instruction]:
    arguments = [*_constant(R1, map_fd, MAP_FD), *_address(R2, key), *_address(R3, value), _set(R4, value=flags)]
    return [*arguments, _call(value=MAP_UPDATE)]


def _constant(register: int, fd: int, kind: int) -> list[Instruction]:
    return [Instruction(0x18, register, kind, value=fd), Instruction(0)]


def _address(register: int, offset: int) -> list[Instruction]:
    return [_copy(register, STACK), _add_value(register, value=offset)]
