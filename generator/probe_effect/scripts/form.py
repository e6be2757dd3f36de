"""The form of a script that has been read: its probes, in their order, and the actions of each."""

from dataclasses import dataclass
from typing import Literal

from probe_effect.errors import UsageError

Language = Literal["bpftrace", "d", "perf", "strace", "ftrace", "py-spy", "tool"]
Timing = Literal["start", "end"]

SHORT = 40
"""The most characters of a script that a message quotes."""


class ScriptError(UsageError):
    """A script that cannot be read: where (lines and columns count from 1), what was found, what was expected."""

    def __init__(self, line: int, column: int, found: str, expected: str) -> None:
        self.line, self.column, self.found, self.expected = line, column, found, expected
        super().__init__(f"Script, line {line}, column {column}: found {found}, expected {expected}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptProbe:
    """One attach point of a script, with what is done each time that it fires.

    Attributes:
        attach: the attach point as written, short and old names of its provider resolved.
        kind: the word of the suites' `probe` keys where there is one, else a kind of bpftrace's; `unknown` for others.
        actions: a word of the suites' `action` keys for each statement that costs, in the script's order, as
            often as the script does it. All branches count; `nothing` or `filter` if there is no other action.
        has_filter: whether a predicate, or an `if` around the whole block, selects the events of the actions.
        timing: `start` if a time is stored, `end` if its difference from a stored time is taken.
        unknown: parts that no word above covers, as written, shortened.
        line: of the attach point, from 1.
        hz: how often a timer fires on each CPU; None for events, and if the script does not say.
    """

    attach: str
    kind: str
    actions: tuple[str, ...]
    has_filter: bool
    timing: Timing | None
    unknown: tuple[str, ...]
    line: int
    hz: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script, or a command line that traces.

    Attributes:
        language: the language of the text; `ftrace` for command lines of trace-cmd, `tool` for standard tools.
        tracer: the tracer with the same costs, by the language, or by the subcommand and options of a command line.
        text: the program itself, without the command line that carried it.
        probes: at least one.
        pid_filter: the process that `-p`, or a predicate `pid == N` of every event, names, as written.
        options: of a command line, those that change what events cost, as written.
    """

    language: Language
    tracer: str
    text: str
    probes: tuple[ScriptProbe, ...]
    pid_filter: str | None = None
    options: tuple[str, ...] = ()


def shortened(text: str) -> str:
    """A part of a script on one line, short enough for a message."""
    line = " ".join(text[: 4 * SHORT].split())
    return line if len(line) <= SHORT else line[: SHORT - 1] + "…"
