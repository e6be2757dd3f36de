r"""The form of a script that has been read, what the reader knows of the languages, and tokens with paired brackets.

Patterns use only what regular expressions of Python and of JavaScript mean alike: no named groups, no `\w`, `\d` or
`.`, `[\s\S]` for any sign, and none that goes back over a long text twice.

Sources: bpftrace's `docs/language.md`, `docs/stdlib.md`, `src/probe_types.h` and `src/parser.cpp` (0.27), and
`man/adoc/bpftrace.adoc` and `src/lexer.l` (0.17) for what was called otherwise; of D, the *Dynamic Tracing Guide*.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from probe_effect.model import UsageError
from probe_effect.records import TOOLS, beside

Language = Literal["bpftrace", "d", "perf", "strace", "ftrace", "py-spy", "tool"]
Timing = Literal["start", "end"]

SHORT = 40
"""The most characters of a script that a message quotes."""


class ScriptError(UsageError):
    """A script that cannot be read: where (lines and columns count from 1), what was found, what was expected."""

    def __init__(self, line: int, column: int, actual: str, expected: str) -> None:
        self.line, self.column, self.found, self.expected = line, column, actual, expected
        super().__init__(f"Script, line {line}, column {column}: found {actual}, expected {expected}.")


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
        every: of so many events one has the actions (`perf record -c`).
    """

    attach: str
    kind: str
    actions: tuple[str, ...]
    has_filter: bool = False
    timing: Timing | None = None
    unknown: tuple[str, ...] = ()
    line: int = 1
    hz: float | None = None
    every: int = 1


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


_WORDS: dict[str, Any] = beside(__file__, "tables")

MAX_DEPTH = 100
"""The most brackets within brackets: no script has so many, and the reader recurses."""

MAX_CALLS = 1000
"""The most calls of a script's own functions in one clause: each is read where it is called."""

# What is in tables.toml, which says of each what it is and from where. Of patterns with names the first match decides.
TOKENS, SHELL, TRACEPOINTS, D_KINDS = (
    tuple(_WORDS[name].items()) for name in ("tokens", "shell", "tracepoints", "d-kinds")
)
ATTACH_POINT, NAMED, MANY, NAME_FIELD, D_ONLY, D_TEXT, PLAIN_NAME, REMARK, NO_COMMAND, EVENTS, MODIFIERS, TRACED = (
    _WORDS["patterns"][name]
    for name in (
        *("attach_point", "named", "many", "name_field", "d_only", "d_text"),
        *("plain_name", "remark", "no_command", "events", "modifiers", "traced"),
    )
)
BARE, NO_EVENTS, PATHS, TYPES, FUNCTION_WORDS, DECLARATIONS, ASSIGNED, BEFORE_TOOLS, COMMAND_ENDS, CLOCKS = (
    tuple(_WORDS["sets"][name].split())
    for name in (
        *("bare", "no_events", "paths", "types", "function_words"),
        *("declarations", "assigned", "before_tools", "command_ends", "clocks"),
    )
)
SOFTWARE, USUAL_EVENTS, SYSTEM_CALL_WRAPPERS = (
    tuple(_WORDS[name].split()) for name in ("software", "usual_events", "system_call_wrappers")
)
WITH_VALUE, COSTLY = (
    {tool: words.split() for tool, words in _WORDS[name].items()} for name in ("with_value", "costly")
)
TIMERS: tuple[str, ...] = tuple(_WORDS["timers"])
ALIASES: dict[str, str] = _WORDS["aliases"]
USUAL_HZ: dict[str, int] = _WORDS["usual_hz"]
OWN_WORDS: dict[str, int] = _WORDS["own_words"]
UNREAD: dict[str, str] = _WORDS["unread"]
KINDS: dict[str, str] = {name: kind for kind, of in _WORDS["providers"].items() for name in of.split()}
EFFECTS: dict[str, str] = {word: effect for effect, words in _WORDS["effects"].items() for word in words.split()}
WRAPPERS: dict[str, tuple[str, int]] = {name: (letters, own) for name, (letters, own) in _WORDS["wrappers"].items()}

HZ = ("", "hz")
"""Units of timers that are rates; every other one is a time, and so many of them are in a second:"""
TIMES_PER_S: dict[str, float] = _WORDS["times-per-s"] | {
    name: 1 / seconds for name, seconds in _WORDS["seconds"].items()
}

DEFINES = (*TYPES, *FUNCTION_WORDS, *DECLARATIONS)
"""Words that a program without an attach point may begin with."""

LANGUAGES = {tool.program: tool.language for tool in TOOLS.values() if tool.language}
"""Commands to the language of what follows them."""

TRACERS = {
    command if " " in command else str(tool.language): tool.name for tool in TOOLS.values() for command in tool.commands
}
"""A language, of perf with the subcommand, to the tracer whose costs a script has."""

NOTHING, FILTER, PRINT = "nothing", "filter", "print"
COUNT, BY_NUMBER, BY_NAME, BY_BOTH = "count", "count-by-pid", "count-by-name", "count-by-pid-and-name"
BY_STRING, BY_KERNEL_STACK, BY_USER_STACK = "count-by-string", "count-by-kernel-stack", "count-by-user-stack"
HISTOGRAM, HISTOGRAM_OF_TIME, HISTOGRAM_BY_STACKS = "histogram", "histogram-of-time", "histogram-by-two-stacks"
ACTS = {"print": PRINT, "string": BY_STRING, "kernel-stack": BY_KERNEL_STACK, "user-stack": BY_USER_STACK}
"""Effects that are actions by themselves."""
KEYED = ("string", "kernel-stack", "user-stack")
"""Effects that the action of a map's key includes already, if they make that key."""
DELETE = "delete"
"""Takes a key out of a map, which is taken for an update of that key."""

LARGE_PAGES = 4096
"""The buffer of the suite's case `record-large-buffer`; perf's own default is far smaller."""
COPIED = 8192
"""Bytes of a stack that perf copies where nobody says (perf-record(1), --call-graph), as the suites' case does."""
PLUGINS = {"function": "function-tracer", "function_graph": "function-graph"}
"""Tracers of ftrace to kinds."""

FAULTS: dict[str, tuple[str, str]] = _WORDS["faults"]
EXPECTED: dict[str, str] = _WORDS["expected"] | {
    "depth": f"at most {MAX_DEPTH} brackets within each other",
    "tool": f"a command line of {', '.join(sorted(LANGUAGES)[:-1])} or {max(LANGUAGES)}, or of a standard tool of bcc, "
    "bpftrace or perf-tools, or an attach point and a block",
    "calls": f"at most {MAX_CALLS} calls of macros and functions in a clause",
}

_SHARED = """
MAX_DEPTH TOKENS ATTACH_POINT SHELL KINDS ALIASES PATHS TRACEPOINTS D_KINDS D_ONLY EFFECTS NAME_FIELD LANGUAGES
BEFORE_TOOLS WITH_VALUE OWN_WORDS UNREAD COSTLY SOFTWARE CLOCKS MANY TIMERS HZ TIMES_PER_S USUAL_HZ TRACERS ACTS KEYED
ASSIGNED BARE NO_EVENTS TYPES FUNCTION_WORDS DECLARATIONS DEFINES PLAIN_NAME NAMED D_TEXT COMMAND_ENDS MODIFIERS
COPIED LARGE_PAGES TRACED PLUGINS FAULTS EXPECTED MAX_CALLS USUAL_EVENTS EVENTS WRAPPERS REMARK NO_COMMAND"""


def tables() -> dict[str, Any]:
    """Everything here that the site's reader needs, by its name in small letters, as JSON can hold it."""
    return {name.lower(): globals()[name] for name in _SHARED.split()}


_PATTERN = re.compile("|".join(f"({pattern})" for _, pattern in TOKENS))
_NAMES = tuple(name for name, _ in TOKENS)
_LAYOUT = ("space", "comment", "directive")
CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """A piece of a script: its sort (a name of `TOKENS`), its text, and where it starts."""

    sort: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def failed(text: str, at: int, actual: str, expected: str) -> ScriptError:
    before = text[:at]
    return ScriptError(before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1, actual, expected)


def found_at(text: str, at: int) -> str:
    rest = text[at : at + 200].split()
    return f"“{shortened(rest[0])}”" if rest else "the end of the script"


def token_at(text: str, at: int) -> Token | None:
    """The next token, after spaces and comments; None at the end.

    Raises: ScriptError where a comment or a string is never closed, or a sign is of no language that we read.
    """
    at = after_layout(text, at)
    if at >= len(text):
        return None
    matched, sort = _piece(text, at)
    if matched is None or sort == "open-string":
        raise failed(text, at, found_at(text, at), EXPECTED["string-end" if matched else "statement"])
    return Token(sort, matched[0], at)


def _piece(text: str, at: int) -> tuple[re.Match[str] | None, str]:
    """What a place begins with, and its sort; `stray` where nothing known does."""
    matched = _PATTERN.match(text, at)
    return matched, _NAMES[matched.lastindex - 1] if matched and matched.lastindex else "stray"


def after_layout(text: str, at: int) -> int:
    """The place where the next token starts, or the text ends; the token is not read."""
    while at < len(text):
        matched, sort = _piece(text, at)
        if sort == "open-comment":
            closed = text.find("*/", at + 2)
            if closed < 0:
                raise failed(text, at, *FAULTS["open-comment"])
            at = closed + 2
        elif matched is not None and sort in _LAYOUT:
            at = matched.end()
        else:
            break
    return at


class Tokens:
    """The tokens of one part of a script, with the partner of each bracket."""

    def __init__(self, text: str, tokens: Sequence[Token], partner: dict[int, int]) -> None:
        self.text, self.tokens, self.partner = text, tokens, partner

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def sort(self, at: int) -> str:
        return self.tokens[at].sort if 0 <= at < len(self.tokens) else ""

    def source(self, first: int, last: int) -> str:
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def behind_key(self, at: int) -> int:
        return self.partner[at + 1] + 1 if self.word(at + 1) == "[" else at + 1

    def until(self, first: int, end: int, stops: str) -> int:
        """The place of the first of `stops` outside of brackets; of `end`, or a closing bracket, if that is first."""
        at = first
        while at < end and self.word(at) not in stops.split():
            if self.partner.get(at, end) < at:
                break
            at = self.partner.get(at, at) + 1
        return min(at, end)

    def parts(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        while first < end:
            comma = self.until(first, end, ",")
            yield first, comma
            first = comma + 1


def bracketed(text: str, at: int) -> tuple[Tokens, int]:
    """The tokens from a bracket to its partner, both included, and where the text behind them starts.

    Raises: ScriptError where brackets do not pair, or there are too many within each other.
    """
    reading = _Reading(text)
    while token := token_at(text, at):
        reading.add(token)
        at = token.end
        if not reading.opened:
            return reading.tokens, at
    raise reading.ended()


def predicate(text: str, at: int) -> tuple[Tokens, int]:
    """The tokens between a slash at `at` and the one before a block, and where the text behind that slash starts.

    Other slashes divide, so the one that a “{” follows closes, as in the grammar of bpftrace 0.17 (`ENDPRED`).

    Raises: ScriptError as `bracketed` does, and where the predicate does not end.
    """
    reading = _Reading(text)
    at += 1
    while token := token_at(text, at):
        at = token.end
        if not reading.opened and token.text == "/" and text.startswith("{", after_layout(text, at)):
            return reading.tokens, at
        if not reading.opened and token.text in {"{", ";"}:
            raise failed(text, token.start, f"“{token.text}”", EXPECTED["predicate-end"])
        reading.add(token)
    if reading.opened:
        raise reading.ended()
    raise failed(text, len(text), *FAULTS["open-predicate"])


class _Reading:
    """Tokens as they come, and the places of the brackets that are open."""

    def __init__(self, text: str) -> None:
        self.read: list[Token] = []
        self.opened: list[int] = []
        self.tokens = Tokens(text, self.read, {})

    def add(self, token: Token) -> None:
        text, actual = self.tokens.text, f"“{token.text}”"
        if token.text in CLOSERS:
            if len(self.opened) == MAX_DEPTH:
                raise failed(text, token.start, actual, EXPECTED["depth"])
            self.opened.append(len(self.read))
        elif token.text in CLOSERS.values():
            wanted = CLOSERS[self.read[self.opened[-1]].text] if self.opened else EXPECTED["statement"]
            if wanted != token.text:
                raise failed(text, token.start, actual, f"“{wanted}”")
            first, last = self.opened.pop(), len(self.read)
            self.tokens.partner |= {first: last, last: first}
        self.read.append(token)

    def ended(self) -> ScriptError:
        opener, text = self.read[self.opened[-1]], self.tokens.text
        line = text.count("\n", 0, opener.start) + 1
        expected = EXPECTED["partner"].format(closer=CLOSERS[opener.text], opener=opener.text, line=line)
        return failed(text, len(text), "the end of the script", expected)
