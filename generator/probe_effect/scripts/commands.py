"""Command lines of tools that trace: their words, their options, and the program that some of them carry."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from probe_effect.scripts.form import (
    BEFORE_TOOLS,
    COMMAND_ENDS,
    EXPECTED,
    LANGUAGES,
    NAMED,
    SHELL,
    WITH_VALUE,
    Language,
    shortened,
)
from probe_effect.scripts.tokens import failed

_PART = re.compile("|".join(f"({pattern})" for _, pattern in SHELL))
_SORTS = tuple(name for name, _ in SHELL)
_ESCAPED = re.compile(r'\\([\\"$`])')
_SETTING = re.compile(NAMED)


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """A tool and what it is told.

    Attributes:
        tool: the name of its command, without a folder.
        language: of what it reads.
        options: each option without its dashes, with its value; None for those that take none.
        words: what is no option: a subcommand, or the program that is traced.
        program: the text of `bpftrace -e` and `dtrace -n`; None for other tools.
    """

    tool: str
    language: Language
    options: Sequence[tuple[str, str | None]] = ()
    words: Sequence[str] = ()
    program: str | None = None

    @property
    def pid(self) -> str | None:
        """The value of `-p`, `--pid` or `--attach`, as it is written; None without them."""
        return next(iter(self.all("p", "pid", "attach")), None)

    def all(self, *names: str) -> list[str]:
        """Every value of some options, in their order."""
        return [value for name, value in self.options if name in names and value is not None]

    def has(self, *names: str) -> bool:
        """Whether one of some options is given."""
        return any(name in names for name, _ in self.options)


def command_line(text: str) -> ToolCommand | None:
    """The tool and its options where a text is a command line of one that we read; None for any other text.

    Raises: ScriptError where a quote is never closed, or `bpftrace` or `dtrace` has no program in its command line.
    """
    words = _shell_words(text)
    first = _command(words)
    tool = first.rpartition("/")[2]
    language = LANGUAGES.get(tool)
    if language is None or first.startswith("#!"):
        return None
    rest = list(words)
    key = f"{tool} {rest[0]}" if rest else tool
    options, others = _split(rest, set(WITH_VALUE.get(key, WITH_VALUE[tool])))
    command = ToolCommand(tool, cast("Language", language), options, others)
    return _carrying(text, command) if tool in {"bpftrace", "dtrace"} else command


def command_name(text: str) -> str:
    """The program that a command line starts, without its folder; of any other text its first word.

    Raises: ScriptError where a quote is never closed.
    """
    return _command(_shell_words(text)).rpartition("/")[2]


def _command(words: Iterator[str]) -> str:
    return next((one for one in words if one not in BEFORE_TOOLS and not _SETTING.match(one)), "")


def _carrying(text: str, command: ToolCommand) -> ToolCommand:
    """A command with the program that it carries; of several `-n`, all."""
    programs = command.all("e" if command.tool == "bpftrace" else "n")
    if programs:
        return replace(command, program="\n".join(programs))
    found = f"“{shortened(command.words[0])}”" if command.words else "no program"
    option = "-e" if command.tool == "bpftrace" else "-n"
    raise failed(text, 0, found, f"{option}{EXPECTED['program']}")


def _shell_words(text: str) -> Iterator[str]:
    """The words up to the first sign that ends a command; quotes are taken off and nothing is expanded."""
    word: str | None = None
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part.lastindex is None:
            raise failed(text, at, f"“{text[at]}” that is never closed", EXPECTED["quote"])
        sort = _SORTS[part.lastindex - 1]
        at = part.end()
        if sort != "space" and not (sort == "escape" and part[0] == "\\\n"):
            word = (word or "") + _unquoted(sort, part[0])
        elif sort == "space" and word is not None:
            if word in COMMAND_ENDS:
                return
            yield word
            word = None
    if word is not None and word not in COMMAND_ENDS:
        yield word


def _unquoted(sort: str, part: str) -> str:
    if sort == "escape":
        return part[1:]
    if sort == "double":
        return _ESCAPED.sub(r"\1", part[1:-1])
    return part[1:-1] if sort == "single" else part


def _split(words: Sequence[str], with_value: set[str]) -> tuple[list[tuple[str, str | None]], list[str]]:
    """Options, as getopt_long(3) reads them, and other words; all behind `--` are others."""
    options: list[tuple[str, str | None]] = []
    others: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            others += waiting
        elif word.startswith("--"):
            name, given, value = word[2:].partition("=")
            options.append((name, value if given else next(waiting, None) if name in with_value else None))
        elif word.startswith("-") and len(word) > 1:
            options += _short(word[1:], with_value, waiting)
        else:
            others.append(word)
    return options, others


def _short(letters: str, with_value: set[str], waiting: Iterator[str]) -> Iterator[tuple[str, str | None]]:
    """One word of options of a letter each; the first that takes a value takes the rest, or the next word."""
    for at, letter in enumerate(letters):
        if letter in with_value:
            yield letter, letters[at + 1 :] or next(waiting, None)
            return
        yield letter, None
