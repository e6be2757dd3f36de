"""From a script's text, or a command line, to its probes and what it does at each event."""

import bisect
import re
from collections.abc import Iterator, Sequence

from probe_effect.scripts.actions import Doing, is_enclosed
from probe_effect.scripts.clauses import (
    Clause,
    ScriptProgram,
    kind_of,
    program,
    provider_of,
    resolved,
    timer_hz,
)
from probe_effect.scripts.command_probes import read_command
from probe_effect.scripts.commands import command_line
from probe_effect.scripts.form import (
    D_ONLY,
    D_TEXT,
    FILTER,
    NO_EVENTS,
    NOTHING,
    PRINT,
    TRACERS,
    Language,
    Script,
    ScriptError,
    ScriptProbe,
    Timing,
)
from probe_effect.scripts.tokens import Tokens

__all__ = ["Language", "Script", "ScriptError", "ScriptProbe", "Timing", "read_script"]

_D_TEXT = re.compile(D_TEXT, re.MULTILINE)


def read_script(text: str) -> Script:
    """The script in a text: its probes, and the actions of each.

    The text is a program in bpftrace's language or in D, or a command line of `bpftrace`, `dtrace`, `perf`, `py-spy`,
    `strace` or `trace-cmd`. `sudo`, a prompt or a path before the command does no harm.

    Raises: ScriptError for a text in none of the languages, with line, column, what was found and what was expected.
    """
    command = command_line(text)
    if command is None:
        return _read_program(text, None, None)
    if command.program is not None:
        return _read_program(command.program, command.language, command.pid)
    return read_command(text, command)


def _read_program(text: str, language: Language | None, pid: str | None) -> Script:
    whole = program(text)
    language = language or _language(text, whole.clauses)
    lines = [found.start() for found in re.finditer("\n", text)]
    doing = Doing(whole.functions)
    for clause in whole.clauses:  # what maps hold must be known before what is read from them
        _do(doing, clause)
    probes = tuple(one for clause in whole.clauses for one in _probes(doing, clause, language, lines))
    return Script(
        language=language,
        tracer=TRACERS[language],
        text=text,
        probes=probes,
        pid_filter=pid or _pid_of_all(whole, probes),
    )


def _language(text: str, clauses: Sequence[Clause]) -> Language:
    """The language: D if the text says so or has an attach point that bpftrace lacks; else bpftrace."""
    points = [one.text for clause in clauses for one in clause.attach_points]
    foreign = any(re.search(D_ONLY, one) and not provider_of(one) for one in points)
    return "d" if foreign or any("profile:::" in one for one in points) or _D_TEXT.search(text) else "bpftrace"


def _do(doing: Doing, clause: Clause) -> None:
    doing.start()
    doing.read(clause.predicate)
    doing.read(clause.block)


def _probes(doing: Doing, clause: Clause, language: Language, lines: Sequence[int]) -> Iterator[ScriptProbe]:
    _do(doing, clause)
    has_filter = clause.predicate_start is not None or is_enclosed(clause.block)
    default = PRINT if not clause.block else FILTER if has_filter else NOTHING
    for point in clause.attach_points:
        attach = resolved(point.text) if language == "bpftrace" else point.text
        yield ScriptProbe(
            attach=attach,
            kind=kind_of(attach, language),
            actions=tuple(doing.actions) or (default,),
            has_filter=has_filter,
            timing=doing.timing,
            unknown=tuple(doing.unknown),
            line=bisect.bisect_left(lines, point.start) + 1,
            hz=timer_hz(attach),
        )


def _pid_of_all(whole: ScriptProgram, probes: Sequence[ScriptProbe]) -> str | None:
    """The process that the predicates of all events name, if all name the same one; else None."""
    kinds = iter(probes)
    named = set()
    for clause in whole.clauses:
        if not {next(kinds).kind for _ in clause.attach_points} <= {*NO_EVENTS}:
            named.add(_pid_of(clause.predicate))
    return named.pop() if len(named) == 1 else None


def _pid_of(predicate: Tokens) -> str | None:
    words = [one.text for one in predicate.tokens]
    match words[:3]:
        case ["pid", "==", value] | [value, "==", "pid"] if words[3:4] in ([], ["&&"]) and "||" not in words:
            return value
    return None
