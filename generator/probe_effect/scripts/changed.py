"""Changes that answer nearly the same and cost less: the changed text if that is mechanical, else a sentence.

A predicate in place of an `if` around a block is no such change: bpftrace turns a predicate into an `if`
(`Parser::parse_probe`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from probe_effect.scripts.clauses import Clause, kind_of, program, resolved
from probe_effect.scripts.form import BY_KERNEL_STACK, BY_USER_STACK, EFFECTS, SYSTEM_CALL_WRAPPERS, Script
from probe_effect.toml import beside

_CHANGES: dict[str, Any] = beside(__file__)
_WORDS: dict[str, str] = _CHANGES["words"]


class CheaperScript(NamedTuple):
    """A change that costs less: what it is, what it no longer tells, and the changed script if that is certain."""

    description: str
    text: str | None


class Edit(NamedTuple):
    """A part of a text, from `start` to before `end`, and what takes its place."""

    start: int
    end: int
    text: str


def cheaper(script: Script) -> list[CheaperScript]:
    """Changes of a script that cost less, those with a changed text first."""
    find = {"bpftrace": _of_program, "strace": _of_strace, "perf": _of_perf}.get(script.language)
    found = list(find(script)) if find else []
    return sorted(found, key=lambda one: one.text is None)


def _of_program(script: Script) -> Iterator[CheaperScript]:
    clauses = program(script.text).clauses
    if edits := [edit for clause in clauses if (edit := _count_for_lines(clause))]:
        yield CheaperScript(_WORDS["count"], applied(script.text, edits))
    for change in _CHANGES["moved"]:
        yield from _moved(script.text, clauses, change["words"], change["places"])
    if any(_STACKS & set(one.actions) and one.kind in _FUNCTIONS for one in script.probes):
        yield CheaperScript(_WORDS["sample"], None)


def _moved(
    text: str, clauses: Sequence[Clause], sentence: str, places: Sequence[Sequence[str]]
) -> Iterator[CheaperScript]:
    """Changes to another attach point; without a text if a clause uses what has another name there."""
    edits, uses = [], False
    for clause in clauses:
        for point in clause.attach_points:
            written = resolved(point.text)
            for pattern, replacement in places:
                if found := re.fullmatch(pattern.replace("{calls}", "|".join(SYSTEM_CALL_WRAPPERS)), written):
                    edits.append(Edit(point.start, point.start + len(point.text), found.expand(replacement)))
                    uses |= uses_arguments(clause)
    if edits:
        yield CheaperScript(sentence + _WORDS["renamed"] * uses, None if uses else applied(text, edits))


def uses_arguments(clause: Clause) -> bool:
    """Whether a clause reads values that depend on the kind of its probe."""
    return any(_ARGUMENT.search(one.text) for part in (clause.predicate, clause.block) for one in part.tokens)


def _count_for_lines(clause: Clause) -> Edit | None:
    """A count per content of the lines of a block, if the block only prints."""
    block = clause.block
    if len(block) <= 2 or all(kind_of(resolved(one.text), "bpftrace") in _TIMED for one in clause.attach_points):
        return None
    keys: list[str] = []
    at = 1
    while at < len(block) - 1:
        if block.word(at) not in _LINES or block.word(at + 1) != "(":
            return None
        end = block.partner[at + 1]
        parts = list(block.parts(at + 2, end))[0 if block.word(at) == "print" else 1 :]
        if any(block.sort(first) == "map" for first, _ in parts):
            return None
        keys += (
            block.source(first, last - 1)
            for first, last in parts
            if all(EFFECTS.get(block.word(place)) != "time" for place in range(first, last))
        )
        at = end + 1 + (block.word(end + 1) == ";")
    key = ", ".join(dict.fromkeys(keys))
    counted = f"@[{key}]" if key else "@"
    return Edit(block.tokens[0].start, block.tokens[-1].end, f"{{ {counted} = count(); }}")


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with some parts exchanged, none of which overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _of_strace(script: Script) -> Iterator[CheaperScript]:
    traced = [one.attach for one in script.probes]
    if traced != ["all"] and not {"--seccomp-bpf"} & set(script.options):
        is_certain = script.pid_filter is None and {"-f", "--follow-forks"} & set(script.options)
        text = re.sub(r"\bstrace\b", "strace --seccomp-bpf", script.text, count=1) if is_certain else None
        yield CheaperScript(_WORDS["seccomp"], text)
    yield CheaperScript(_WORDS["perf-trace"], None)


def _of_perf(script: Script) -> Iterator[CheaperScript]:
    if any("record-stack" in one.actions and one.kind in _FUNCTIONS for one in script.probes):
        yield CheaperScript(_WORDS["no-stack"], None)
    if any(one.actions[0].startswith("record") and one.kind in _FUNCTIONS for one in script.probes):
        yield CheaperScript(_WORDS["perf-stat"], None)


_STACKS = {BY_KERNEL_STACK, BY_USER_STACK}
_FUNCTIONS = {"kprobe", "kretprobe", "fentry", "fexit", "uprobe", "uretprobe", "tracepoint", "tracepoint-entry"}
_TIMED = {"begin", "end", "interval", "profile"}
_LINES = {"printf", "time", "print"}
_ARGUMENT = re.compile(r"^(?:s?arg[0-9]+|args|retval|func|probe|ctx|reg)$")
