"""The parts of a program in bpftrace's language or in D, and changes to them that answer nearly the same and cost less.

Parts are attach points with their kinds, predicates and blocks. A change is the changed text if that is mechanical,
else a sentence. A predicate in place of an `if` around a block is no such change: bpftrace turns a predicate into an
`if` (`Parser::parse_probe`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from probe_effect.records import beside
from probe_effect.scripts import form
from probe_effect.scripts.form import Language, Script, Tokens, after_layout, bracketed, failed, found_at, token_at

_PIECE = re.compile(form.ATTACH_POINT)
_WORD = re.compile(r"[A-Za-z_]+")
_NAMED = re.compile(form.NAMED)
_EMPTY = Tokens("", (), {})


@dataclass(frozen=True, slots=True)
class AttachPoint:
    """One attach point as written, and its place."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its attach points, its predicate and its actions.

    Attributes:
        attach_points: at least one.
        predicate: the tokens between slashes; empty if there is none.
        predicate_start: the place of the opening slash; None if there is no predicate.
        block: the tokens with the braces around them; empty if a clause of D has no block.
    """

    attach_points: tuple[AttachPoint, ...]
    predicate: Tokens
    predicate_start: int | None
    block: Tokens


@dataclass(frozen=True, slots=True)
class ScriptProgram:
    """All clauses, and the blocks of macros and functions by their names."""

    clauses: tuple[Clause, ...]
    functions: dict[str, Tokens]


def program(text: str) -> ScriptProgram:
    """The clauses of a program.

    Raises: ScriptError for a text in neither language, or without a probe.
    """
    clauses: list[Clause] = []
    functions: dict[str, Tokens] = {}
    at = after_layout(text, 0)
    while at < len(text):
        word = _word_at(text, at)
        if word in form.FUNCTION_WORDS:
            name, block, at = _function(text, at)
            functions[name] = block
        elif word in form.TYPES or (word == "config" and text.startswith("=", after_layout(text, at + len(word)))):
            at = _definition(text, at)
        elif word in form.DECLARATIONS and text[at + len(word) : at + len(word) + 1].isspace():
            at = _behind_semicolon(text, at)
        else:
            clause, at = _clause(text, at)
            clauses.append(clause)
        at = after_layout(text, at)
    if not clauses:
        raise failed(text, len(text), *form.FAULTS["no-probe"])
    return ScriptProgram(tuple(clauses), functions)


def _word_at(text: str, at: int) -> str:
    matched = _WORD.match(text, at)
    return matched[0] if matched else ""


def _definition(text: str, at: int) -> int:
    """The place behind a definition of a type, with attributes and a semicolon, or behind the block of a `config`."""
    while (token := token_at(text, at)) and token.text not in {"{", ";"}:
        at = token.end
    if token is None:
        raise failed(text, len(text), *form.FAULTS["open-definition"])
    if token.text == ";":
        return token.end
    _, at = bracketed(text, token.start)
    if _word_at(text, after_layout(text, at)) == "__attribute__":
        return _behind_semicolon(text, at)
    behind = after_layout(text, at)
    return behind + 1 if text.startswith(";", behind) else at


def _behind_semicolon(text: str, at: int) -> int:
    while token := token_at(text, at):
        at = token.end
        if token.text == ";":
            return at
        if token.text == "{":
            _, at = bracketed(text, token.start)
    raise failed(text, len(text), *form.FAULTS["open-statement"])


def _function(text: str, at: int) -> tuple[str, Tokens, int]:
    named = token_at(text, at + len(_word_at(text, at)))
    name, at = (named.text, named.end) if named else ("", at)
    while (token := token_at(text, at)) and token.text != "{":
        at = token.end
    if token is None:
        raise failed(text, len(text), "the end of the script", f"{form.EXPECTED['block-of']}“{name}”")
    block, at = bracketed(text, token.start)
    return name, block, at


def _clause(text: str, at: int) -> tuple[Clause, int]:
    points, at = _attach_points(text, at)
    condition, condition_start, block = _EMPTY, None, _EMPTY
    at = after_layout(text, at)
    if text.startswith("/", at):
        condition_start = at
        condition, at = form.predicate(text, at)
        at = after_layout(text, at)
    if text.startswith("{", at):
        block, at = bracketed(text, at)
    # without a block D prints the probe's name
    elif condition_start is not None or any(point.text.count(":") != 3 for point in points):
        raise failed(text, at, found_at(text, at), form.EXPECTED["behind-point"])
    return Clause(points, condition, condition_start, block), at


def _attach_points(text: str, at: int) -> tuple[tuple[AttachPoint, ...], int]:
    points = []
    while True:
        written, end = _attach_point(text, at)
        points.append(AttachPoint(written, at))
        at = after_layout(text, end)
        if not text.startswith(",", at):
            return tuple(points), at
        at = after_layout(text, at + 1)
        if text.startswith(("/", "{"), at):  # a comma behind the last one is allowed
            return tuple(points), at


def _attach_point(text: str, at: int) -> tuple[str, int]:
    """One attach point, whose quoted parts may have commas and spaces, and where the text behind it starts."""
    start, provider = at, ""
    while at < len(text):
        if text[at] == '"':
            piece = token_at(text, at)
            end = piece.end if piece else at
        elif text[at] == "/":
            provider = provider or provider_of(text[start:at])
            end = at + (provider in form.PATHS)
        else:
            matched = _PIECE.match(text, at)
            end = matched.end() if matched else at
        if end == at:
            break
        at = end
    if start == at:
        raise failed(text, at, found_at(text, at), form.EXPECTED["attach-point"])
    return text[start:at], at


def provider_of(attach: str) -> str:
    """The long and current name of an attach point's provider, in small letters; empty if bpftrace has none."""
    word = _NAMED.sub("", attach).split(":", 1)[0]
    word = form.ALIASES.get(word, word.lower())
    return word if word in form.KINDS and (":" in attach or word in form.BARE) else ""


def resolved(attach: str) -> str:
    """An attach point of bpftrace with the long and current name of its provider; BEGIN and END stay as written."""
    written = _NAMED.sub("", attach)
    provider = provider_of(attach)
    return written if provider in {"", *form.BARE} else f"{provider}:{written.split(':', 1)[1]}"


def kind_of(attach: str, language: Language) -> str:
    """The kind of an attach point of a program; `unknown` if its language has no such provider."""
    if language == "d":
        return next((kind for pattern, kind in form.D_KINDS if re.search(pattern, attach)), "unknown")
    provider = provider_of(attach)
    if provider != "tracepoint":
        return form.KINDS.get(provider, "unknown")
    return tracepoint_kind(attach.split(":", 1)[1])


def tracepoint_kind(name: str) -> str:
    return next((kind for pattern, kind in form.TRACEPOINTS if re.search(pattern, name)), "tracepoint")


def timer_hz(attach: str) -> float | None:
    """How often a timer fires on each CPU, events per second; None if its attach point does not say."""
    timer_match = next((match for pattern in form.TIMERS if (match := re.match(pattern, attach))), None)
    if timer_match is None:
        return None
    unit, number = sorted(timer_match.groups(), key=str.isdigit)
    if unit in form.HZ:
        return float(number)
    return form.TIMES_PER_S[unit] / float(number) if unit in form.TIMES_PER_S and int(number) else None


def matches_many(attach: str) -> bool:
    return re.search(form.MANY, attach) is not None


_CHANGES: dict[str, Any] = beside(__file__, "changed")
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
    changes = list(find(script)) if find else []
    return sorted(changes, key=lambda change: change.text is None)


def _of_program(script: Script) -> Iterator[CheaperScript]:
    clauses = program(script.text).clauses
    if edits := [edit for clause in clauses if (edit := _count_for_lines(clause))]:
        yield CheaperScript(_WORDS["count"], applied(script.text, edits))
    for change in _CHANGES["moved"]:
        yield from _moved(script.text, clauses, change["words"], change["places"])
    if any(_STACKS & set(probe.actions) and probe.kind in _FUNCTIONS for probe in script.probes):
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
                if match := re.fullmatch(pattern.replace("{calls}", "|".join(form.SYSTEM_CALL_WRAPPERS)), written):
                    edits.append(Edit(point.start, point.start + len(point.text), match.expand(replacement)))
                    uses |= uses_arguments(clause)
    if edits:
        yield CheaperScript(sentence + _WORDS["renamed"] * uses, None if uses else applied(text, edits))


def uses_arguments(clause: Clause) -> bool:
    """Whether a clause reads values that depend on the kind of its probe."""
    return any(_ARGUMENT.search(token.text) for part in (clause.predicate, clause.block) for token in part.tokens)


def _count_for_lines(clause: Clause) -> Edit | None:
    block = clause.block
    if len(block) <= 2 or all(
        kind_of(resolved(attach_point.text), "bpftrace") in _TIMED for attach_point in clause.attach_points
    ):
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
            if all(form.EFFECTS.get(block.word(index)) != "time" for index in range(first, last))
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


def shown_calls(options: Iterable[str]) -> str:
    """The system calls that strace is to show, with commas between them, by its options; the last one counts."""
    expressions = (option.partition(" ")[2] for option in options if option.startswith(("-e ", "--trace ")))
    return (["all"] + [match[1] for match in (re.match(form.TRACED, each) for each in expressions) if match])[-1]


def _of_strace(script: Script) -> Iterator[CheaperScript]:
    if shown_calls(script.options) != "all" and "--seccomp-bpf" not in script.options:
        is_certain = script.pid_filter is None and {"-f", "--follow-forks"} & set(script.options)
        text = re.sub(r"\bstrace\b", "strace --seccomp-bpf", script.text, count=1) if is_certain else None
        yield CheaperScript(_WORDS["seccomp"], text)
    yield CheaperScript(_WORDS["perf-trace"], None)


def _of_perf(script: Script) -> Iterator[CheaperScript]:
    if any("record-stack" in probe.actions and probe.kind in _FUNCTIONS for probe in script.probes):
        yield CheaperScript(_WORDS["no-stack"], None)
    if any(probe.actions[0].startswith("record") and probe.kind in _FUNCTIONS for probe in script.probes):
        yield CheaperScript(_WORDS["perf-stat"], None)


_STACKS = {form.BY_KERNEL_STACK, form.BY_USER_STACK}
_FUNCTIONS = {"kprobe", "kretprobe", "fentry", "fexit", "uprobe", "uretprobe", "tracepoint", "tracepoint-entry"}
_TIMED = {"begin", "end", "interval", "profile"}
_LINES = {"printf", "time", "print"}
_ARGUMENT = re.compile(r"^(?:s?arg[0-9]+|args|retval|func|probe|ctx|reg)$")
