"""The parts of a program in bpftrace's language or in D: attach points with their kinds, predicates and blocks."""

import re
from dataclasses import dataclass

from probe_effect.scripts.form import (
    ALIASES,
    ATTACH_POINT,
    BARE,
    D_KINDS,
    DECLARATIONS,
    EXPECTED,
    FAULTS,
    FUNCTION_WORDS,
    HZ,
    KINDS,
    MANY,
    NAMED,
    PATHS,
    TIMERS,
    TIMES_PER_S,
    TRACEPOINTS,
    TYPES,
    Language,
    Tokens,
    after_layout,
    bracketed,
    failed,
    found_at,
    predicate,
    token_at,
)

_PIECE = re.compile(ATTACH_POINT)
_WORD = re.compile(r"[A-Za-z_]+")
_NAMED = re.compile(NAMED)
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
        if word in FUNCTION_WORDS:
            name, block, at = _function(text, at)
            functions[name] = block
        elif word in TYPES or (word == "config" and text.startswith("=", after_layout(text, at + len(word)))):
            at = _definition(text, at)
        elif word in DECLARATIONS and text[at + len(word) : at + len(word) + 1].isspace():
            at = _behind_semicolon(text, at)
        else:
            clause, at = _clause(text, at)
            clauses.append(clause)
        at = after_layout(text, at)
    if not clauses:
        raise failed(text, len(text), *FAULTS["no-probe"])
    return ScriptProgram(tuple(clauses), functions)


def _word_at(text: str, at: int) -> str:
    matched = _WORD.match(text, at)
    return matched[0] if matched else ""


def _definition(text: str, at: int) -> int:
    """The place behind a definition of a type, with attributes and a semicolon, or behind the block of a `config`."""
    while (token := token_at(text, at)) and token.text not in {"{", ";"}:
        at = token.end
    if token is None:
        raise failed(text, len(text), *FAULTS["open-definition"])
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
    raise failed(text, len(text), *FAULTS["open-statement"])


def _function(text: str, at: int) -> tuple[str, Tokens, int]:
    """The name of a macro or function, its block, and where the text behind it starts."""
    named = token_at(text, at + len(_word_at(text, at)))
    name, at = (named.text, named.end) if named else ("", at)
    while (token := token_at(text, at)) and token.text != "{":
        at = token.end
    if token is None:
        raise failed(text, len(text), "the end of the script", f"{EXPECTED['block-of']}“{name}”")
    block, at = bracketed(text, token.start)
    return name, block, at


def _clause(text: str, at: int) -> tuple[Clause, int]:
    points, at = _attach_points(text, at)
    condition, condition_start = _EMPTY, None
    at = after_layout(text, at)
    if text.startswith("/", at):
        condition_start = at
        condition, at = predicate(text, at)
        at = after_layout(text, at)
    if text.startswith("{", at):
        block, at = bracketed(text, at)
        return Clause(points, condition, condition_start, block), at
    if condition_start is None and all(one.text.count(":") == 3 for one in points):
        return Clause(points, condition, condition_start, _EMPTY), at  # D prints the probe's name then
    raise failed(text, at, found_at(text, at), EXPECTED["behind-point"])


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
    pieces: list[str] = []
    start, provider = at, ""
    while at < len(text):
        if text[at] == '"':
            token = token_at(text, at)
            piece = token.text if token else ""
        elif text[at] == "/":
            provider = provider or provider_of("".join(pieces))
            piece = "/" if provider in PATHS else ""
        else:
            matched = _PIECE.match(text, at)
            piece = matched[0] if matched else ""
        if not piece:
            break
        pieces.append(piece)
        at += len(piece)
    if start == at:
        raise failed(text, at, found_at(text, at), EXPECTED["attach-point"])
    return "".join(pieces), at


def provider_of(attach: str) -> str:
    """The long and current name of an attach point's provider, in small letters; empty if bpftrace has none."""
    word = _NAMED.sub("", attach).split(":", 1)[0]
    word = ALIASES.get(word, word.lower())
    return word if word in KINDS and (":" in attach or word in BARE) else ""


def resolved(attach: str) -> str:
    """An attach point of bpftrace with the long and current name of its provider; BEGIN and END stay as written."""
    written = _NAMED.sub("", attach)
    provider = provider_of(attach)
    return written if provider in {"", *BARE} else f"{provider}:{written.split(':', 1)[1]}"


def kind_of(attach: str, language: Language) -> str:
    """The kind of an attach point of a program; `unknown` if its language has no such provider."""
    if language == "d":
        return next((kind for pattern, kind in D_KINDS if re.search(pattern, attach)), "unknown")
    provider = provider_of(attach)
    if provider != "tracepoint":
        return KINDS.get(provider, "unknown")
    return tracepoint_kind(attach.split(":", 1)[1])


def tracepoint_kind(name: str) -> str:
    """The kind of a tracepoint, by its subsystem and name."""
    return next((kind for pattern, kind in TRACEPOINTS if re.search(pattern, name)), "tracepoint")


def timer_hz(attach: str) -> float | None:
    """How often a timer fires on each CPU, events per second; None if its attach point does not say."""
    found = next((match for pattern in TIMERS if (match := re.match(pattern, attach))), None)
    if found is None:
        return None
    unit, number = sorted(found.groups(), key=str.isdigit)
    if unit in HZ:
        return float(number)
    return TIMES_PER_S[unit] / float(number) if unit in TIMES_PER_S and int(number) else None


def matches_many(attach: str) -> bool:
    """Whether an attach point may match any number of functions."""
    return re.search(MANY, attach) is not None
