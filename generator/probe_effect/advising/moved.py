"""A script with its clauses moved into our loop: the same blocks, on probes of the same kind that the loop fires.

A probe on a system call or on the scheduler stays where it is, and its clause looks at the loop alone. A probe in a
file moves to a function of the loop that fires in the same way. A predicate is computed as before, and its answer
overruled: `/pid == LOOP && ((F) || pid == LOOP)/`. For the cost of an event that does not pass it is the other way
round.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from probe_effect.advising.loop import SLOTS, LoopProcess
from probe_effect.answer.prediction import WORDS
from probe_effect.costs.table import ProbeKey
from probe_effect.live.places import Place
from probe_effect.scripts.clauses import Clause, Edit, applied, program, uses_arguments
from probe_effect.scripts.form import NO_EVENTS, Script

PLAIN_CALL = "getppid"
"""A system call that does next to nothing, for what every call pays."""

OF_CALL = re.compile(r"syscalls:sys_(?:enter|exit)_(\w+)")
STAND_IN = "task:task_rename"
"""A static probe of the kernel that next to nothing is done around: it fires when a thread names itself."""

OWN_TEXT, OWN_VALUE = re.compile(r"\bstr\(\s*args(?:->|\.)\w+\s*\)"), re.compile(r"\bargs(?:->|\.)\w+")
"""What a clause reads that only its own probe has. Elsewhere the name and the id of the thread stand for it."""

ENDS = re.compile(r"\bexit\s*\(\s*\)\s*;?")
"""How a script ends itself, which it may not do while it is timed."""

ON_SWITCH = ("sched:sched_switch", "sched:sched_wakeup", "sched:sched_waking")
"""Where the loop can take a stack as deep as usual; a switch itself takes so long that little else shows beside it."""

KERNEL_PREFIX = {"x86_64": "__x64_sys_", "aarch64": "__arm64_sys_"}
"""How the kernel's functions behind system calls are named: include/linux/syscalls.h, SYSCALL_DEFINE."""


class AskedProbe(NamedTuple):
    """A probe of a script that is to be timed: which of the script's attach points, what it is known by, its places."""

    at: int
    key: ProbeKey
    kind: str
    places: tuple[Place, ...]


class Operation(NamedTuple):
    """What the loop does once: its word for it, how often each of `keys` fires then, and its other system calls."""

    name: str
    keys: tuple[ProbeKey, ...]
    events: int
    calls: int


@dataclass(slots=True)
class MovedScript:
    """The text for bpftrace, the operations that fire its probes, and the probes that could not be moved, with why."""

    text: str
    operations: list[Operation]
    missing: dict[ProbeKey, str] = field(default_factory=dict)
    notes: dict[ProbeKey, str] = field(default_factory=dict)
    has_filter: bool = False
    """Whether a clause has a predicate that some events may not pass."""


class _Move(NamedTuple):
    """Where an attach point goes: what is written there, and the loop's operation that fires it."""

    attach: str
    operation: str
    events: int = 1
    calls: int = 0


def moved(
    script: Script, asked: Sequence[AskedProbe], loop: LoopProcess, *, passing: bool = True, stand_in: bool = True
) -> MovedScript:
    """A script of bpftrace as our loop fires it.

    `passing`: whether events pass the clauses' predicates. `stand_in`: whether a clause whose probe the loop cannot
    fire is timed at another one.
    """
    return _Mover(script, loop, passing=passing, stand_in=stand_in).moved(asked)


class _Mover:
    def __init__(self, script: Script, loop: LoopProcess, *, passing: bool, stand_in: bool) -> None:
        self._script, self._text, self._clauses = script, script.text, program(script.text).clauses
        self._points = [(clause, point) for clause in self._clauses for point in clause.attach_points]
        self._loop, self._passing, self._stand_in = loop, passing, stand_in
        self._foreign: set[int] = set()
        """Clauses, by where they begin, that are timed at another probe than their own."""
        self._slots: dict[tuple[str, str], int] = {}
        self._fired: dict[str, Operation] = {}
        self._result = MovedScript(text="", operations=[])

    def moved(self, asked: Sequence[AskedProbe]) -> MovedScript:
        moves: dict[int, list[str]] = {}
        for probe in asked:
            clause, point = self._points[probe.at]
            move = self._move(probe, clause)
            if isinstance(move, str):
                self._result.missing[probe.key] = f"{point.text}: {move}"
            else:
                moves.setdefault(point.start, []).append(move.attach)
                before = self._fired.get(move.operation)
                keys = tuple(dict.fromkeys([*(before.keys if before else ()), probe.key]))
                self._fired[move.operation] = Operation(move.operation, keys, move.events, move.calls)
        edits = [edit for clause in self._clauses for edit in self._edits(clause, moves)]
        self._result.text = ENDS.sub("", applied(self._text, edits))
        self._result.operations = list(self._fired.values())
        return self._result

    def _move(self, probe: AskedProbe, clause: Clause) -> _Move | str:
        if not probe.places:
            return "nothing here that it fires at" if probe.kind != "profile" else WORDS["samples"]
        if probe.kind in {"uprobe", "uretprobe", "usdt"}:
            return self._in_loop(probe)
        if probe.kind not in {"kprobe", "kretprobe", "fentry", "fexit"}:
            return self._static(probe, clause)
        # the function behind a system call begins as most functions do
        prefix = KERNEL_PREFIX.get(os.uname().machine)
        if prefix is None or (uses_arguments(clause) and probe.kind in {"fentry", "fexit"}):
            return WORDS["no-way-in-loop"]
        provider = self._points[probe.at][1].text.partition(":")[0]
        return _Move(f"{provider}:{prefix}{PLAIN_CALL}", f"call_{PLAIN_CALL}")

    def _in_loop(self, probe: AskedProbe) -> _Move | str:
        probe_site, (_, mechanism) = probe.places[0], probe.key
        sort = mechanism or "emulated"
        of_sort = [key for key in self._slots if key[0] == sort]
        slot = self._slots.setdefault((sort, f"{probe_site.path} {probe_site.name} {probe_site.offset}"), len(of_sort))
        if slot >= SLOTS:
            return WORDS["no-slot"].format(slots=SLOTS)
        provider = "uretprobe" if probe.kind == "uretprobe" else "uprobe"
        return _Move(f"{provider}:{self._loop.path}:{sort}_{slot}", f"function_{sort}_{slot}")

    def _static(self, probe: AskedProbe, clause: Clause) -> _Move | str:
        written = self._points[probe.at][1].text
        for probe_site in probe.places:
            match = OF_CALL.fullmatch(probe_site.name)
            if match and match[1] in self._loop.calls:
                attach = written if len(probe.places) == 1 else f"tracepoint:{probe_site.name}"
                return _Move(attach, f"call_{match[1]}")
            if probe_site.name.startswith("raw_syscalls:"):
                return _Move(written, f"call_{PLAIN_CALL}")
            if probe_site.name in ON_SWITCH and any(
                "stack" in action for action in self._script.probes[probe.at].actions
            ):
                return _Move(f"tracepoint:{probe_site.name}" if len(probe.places) > 1 else written, "switch", 2, 4)
        if not self._stand_in:
            return WORDS["no-way-in-loop"]
        end = re.match(r"syscalls:sys_(enter|exit)_", probe.places[0].name)
        instead = f"tracepoint:syscalls:sys_{end[1]}_{PLAIN_CALL}" if end else f"tracepoint:{STAND_IN}"
        self._foreign.add(clause.attach_points[0].start)
        self._result.notes[probe.key] = WORDS["stands-for"].format(attach=written, instead=instead.partition(":")[2])
        return _Move(instead, f"call_{PLAIN_CALL}") if end else _Move(instead, "rename", 1, 1)

    def _edits(self, clause: Clause, moves: dict[int, list[str]]) -> Iterator[Edit]:
        if all(point.text.partition(":")[0].lower() in {*NO_EVENTS, "i"} for point in clause.attach_points):
            return
        attach = [
            attach_point for point in clause.attach_points for attach_point in dict.fromkeys(moves.get(point.start, ()))
        ]
        first, last = clause.attach_points[0], clause.attach_points[-1]
        end = clause.block.tokens[-1].end if clause.block.tokens else last.start + len(last.text)
        if not attach:
            yield Edit(first.start, end, "")
            return
        body, ours = clause.block.tokens[0].start, f"pid == {self._loop.pid}"
        predicate = ours
        if clause.predicate.tokens:
            written = clause.predicate.source(0, len(clause.predicate) - 1)
            self._result.has_filter |= not SURE.fullmatch(written)
            passes = f"(({written}) || {ours})" if self._passing else f"({written}) && pid != {self._loop.pid}"
            predicate = f"{ours} && {passes}"
        head = f"{', '.join(attach)} /{predicate}/ "
        if first.start in self._foreign:
            yield Edit(first.start, end, OWN_VALUE.sub("tid", OWN_TEXT.sub("comm", head + self._text[body:end])))
        else:
            yield Edit(first.start, body, head)


SURE = re.compile(r"""(?:pid|tid|comm|uid|cgroup) *== *[^&|]+|@\w+\[tid\]""")
"""Predicates that all events of whom somebody asks about pass: who it is, and a start that was kept for an end."""
