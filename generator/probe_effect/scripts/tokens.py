"""From text to tokens and paired brackets, in one pass, whatever the text."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from probe_effect.scripts.form import EXPECTED, FAULTS, MAX_DEPTH, TOKENS, ScriptError, shortened

_PATTERN = re.compile("|".join(f"({pattern})" for _, pattern in TOKENS))
_NAMES = tuple(name for name, _ in TOKENS)
_LAYOUT = ("space", "comment", "directive")
CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """A piece of a script: its sort (`tables.TOKENS`), its text, and where it starts."""

    sort: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place behind the token."""
        return self.start + len(self.text)


def failed(text: str, at: int, found: str, expected: str) -> ScriptError:
    """The ScriptError for a place of a text."""
    before = text[:at]
    return ScriptError(before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1, found, expected)


def found_at(text: str, at: int) -> str:
    """The text at a place, shortened for a message."""
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
        """The text of a token; empty if there is no such token."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def sort(self, at: int) -> str:
        """The sort of a token; empty if there is no such token."""
        return self.tokens[at].sort if 0 <= at < len(self.tokens) else ""

    def source(self, first: int, last: int) -> str:
        """The script's own text from one token to another, both included."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def behind_key(self, at: int) -> int:
        """The place behind a map, or an array, and its key."""
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
        """The parts that commas divide, outside of brackets."""
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
            return reading.tokens(), at
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
            return reading.tokens(), at
        if not reading.opened and token.text in {"{", ";"}:
            raise failed(text, token.start, f"“{token.text}”", EXPECTED["predicate-end"])
        reading.add(token)
    if reading.opened:
        raise reading.ended()
    raise failed(text, len(text), *FAULTS["open-predicate"])


class _Reading:
    """Tokens as they come, and the brackets that are open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.read: list[Token] = []
        self.partner: dict[int, int] = {}
        self.opened: list[int] = []

    def tokens(self) -> Tokens:
        return Tokens(self.text, self.read, self.partner)

    def add(self, token: Token) -> None:
        if token.text in CLOSERS:
            if len(self.opened) == MAX_DEPTH:
                raise failed(self.text, token.start, f"“{token.text}”", EXPECTED["depth"])
            self.opened.append(len(self.read))
        elif token.text in CLOSERS.values():
            self._close(token)
        self.read.append(token)

    def _close(self, token: Token) -> None:
        wanted = CLOSERS[self.read[self.opened[-1]].text] if self.opened else EXPECTED["statement"]
        if wanted != token.text:
            raise failed(self.text, token.start, f"“{token.text}”", f"“{wanted}”")
        first = self.opened.pop()
        self.partner[first], self.partner[len(self.read)] = len(self.read), first

    def ended(self) -> ScriptError:
        opener = self.read[self.opened[-1]]
        line = self.text.count("\n", 0, opener.start) + 1
        expected = EXPECTED["partner"].format(closer=CLOSERS[opener.text], opener=opener.text, line=line)
        return failed(self.text, len(self.text), "the end of the script", expected)
