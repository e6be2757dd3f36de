"""The path of one event: the instructions that it executes, by function and by what called it, from a recording."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from probe_effect.emulated.opcodes import Kind, of_machine
from probe_effect.emulated.recording import USER_END, Recording, events
from probe_effect.model import Key
from probe_effect.store.event_paths import USER, Classes, EventPath, Stack

NO_SYMBOL = "(no symbol)"
NUMBERED = {"bpf_prog_": "(BPF program)", "bpf_trampoline_": "(BPF trampoline)"}
"""Start of a symbol that is another one in each run, to what it is."""

BOUNDS = ("_start", "_end", "_begin")
"""Ends of symbols that have the address of a function and bound a section (include/asm-generic/vmlinux.lds.h)."""

FUNCTIONS_MISSING = 3
"""As many functions are named that a run executes beside the path of its events."""


class Symbols:
    """The functions of a kernel by their addresses."""

    def __init__(self, lines: Iterable[str]) -> None:
        """`lines`: of /proc/kallsyms, `address type name [module]`, those of code alone."""
        found: dict[int, str] = {}
        for address, _, name, *_ in map(str.split, lines):
            if found.setdefault(int(address, 16), name).endswith(BOUNDS):
                found[int(address, 16)] = name
        self._starts = sorted(found)
        self._names = [_name(found[one]) for one in self._starts]

    def at(self, address: int) -> str:
        """The function at an address."""
        if address < USER_END:
            return USER
        place = bisect_right(self._starts, address) - 1
        return self._names[place] if place >= 0 else NO_SYMBOL


def _name(symbol: str) -> str:
    return next((name for start, name in NUMBERED.items() if symbol.startswith(start)), symbol)


def path_of(one: Recording, key: Key, operations: int, symbols: Symbols, machine: str) -> EventPath | None:
    """The path of the commonest event of a recorded run; None where events cannot be distinguished.

    An event into which an interrupt falls, or into which the other CPU executes something, is another and left out.
    """
    found = Counter(event.tobytes() for event in events(one))
    if not found:
        return None
    kinds, names = of_machine(machine), [symbols.at(int(address)) for address in one.addresses]
    told = [kinds(code) for code in one.codes]
    (commonest, alike), *_ = found.most_common(1)
    walk = _CallWalk()
    for place in memoryview(commonest).cast("I"):
        walk.step(names[place], told[place], place)
    stacks = {stack: Classes(*(counts[name] for name in Classes._fields)) for stack, counts in walk.counts.items()}
    rest = _beside(one, operations, names, stacks.items())
    return EventPath(key, stacks, alike, found.total(), round(one.total / operations, 2), rest)


def _beside(
    one: Recording, operations: int, names: Sequence[str], path: Iterable[tuple[Stack, Classes]]
) -> dict[str, float]:
    """The functions of which the run executes most beside the path of its events: instructions an operation."""
    whole: Counter[str] = Counter()
    for name, times in zip(names, one.times.tolist(), strict=True):
        whole[name] += times
    more = {name: times / operations for name, times in whole.items()}
    for stack, counts in path:
        more[stack[-1]] = more.get(stack[-1], 0.0) - counts.instructions
    most = sorted(more, key=lambda name: -abs(more[name]))[:FUNCTIONS_MISSING]
    return {name: round(more[name], 2) for name in most}


@dataclass(slots=True)
class _CallWalk:
    """Follows calls and returns through one event."""

    counts: dict[Stack, Counter[str]] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    before: frozenset[Kind] = frozenset()
    last: int = -1

    def step(self, function: str, kinds: frozenset[Kind], place: int) -> None:
        if function == USER or not self.stack:
            self.stack = [USER]
        if self.stack[-1] != function:
            self._enter(function)
        counted = self.counts.setdefault(tuple(self.stack), Counter())
        counted["instructions"] += 1
        counted["repetitions"] += "repeated" in kinds and place == self.last
        counted.update(kinds)
        self.before, self.last = kinds, place

    def _enter(self, function: str) -> None:
        """What is called, or interrupts, is on top of its caller; a jump takes its place, and a return goes back."""
        if len(self.stack) == 1 or "call" in self.before or not self.before & {"jump", "return"}:
            self.stack.append(function)
        elif function in self.stack:
            while self.stack[-1] != function:
                self.stack.pop()
        else:
            self.stack[-1] = function
