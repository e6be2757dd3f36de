"""Every command of ours that a text quotes is one that the program takes: its name, its options and their values."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
import pytest

from helpers.builders import PROJECT
from probe_effect.cli import commands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = PROJECT / "generator" / "probe_effect"
NAMED = "|".join(sorted(commands.commands, key=len, reverse=True))
CALLED = re.compile(rf"(?<![\w/-])(?:\.venv/bin/|/usr/bin/)?probe-effect ((?:{NAMED})(?![\w-]).*)")
"""A line that runs the program, from the command's name on."""
RUNS = re.compile(r"\W*(Examples?: |sudo |to [a-z ]+: )?\S*probe-effect")
"""How such a line begins, where it is not a sentence."""
IN_SHORT = re.compile(rf"((?:{NAMED}) (?:.* )?-.*)")
"""A span of code with a command's name and an option, without the program's name."""
SPAN = re.compile(r"`([^`\n]+)`")
ENDS = {"|", ">", ">>", "2>&1", "&&", ";", "#", "<", ".."}
PLACEHOLDER = re.compile(r"X|\$.*|\[.*|.*\]|[A-Z][A-Z0-9_/]*(\.\.\.)?")
"""A word in place of a value that the reader has."""


def texts() -> Iterator[tuple[str, str]]:
    """The name of each file with text for readers, and its text: of Python its strings, of TOML its values."""
    top = [path for name in ("*.md", ".github/*.md") for path in PROJECT.glob(name)]
    for path in sorted([*top, *(PROJECT / "content").rglob("*.md"), *PACKAGE.rglob("*")]):
        if path.suffix in {".md", ".j2"}:
            yield named(path), path.read_text(encoding="utf-8")
        elif path.suffix == ".toml":
            yield named(path), "\n".join(strings(tomllib.loads(path.read_text(encoding="utf-8"))))
        elif path.suffix == ".py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
            yield named(path), "\n".join(one for one in found if isinstance(one, str))


def named(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 (whatever TOML has)
    """Every string in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def quoted(text: str) -> Iterator[list[str]]:
    """The words of each command in a text, from the command's name on."""
    text = re.sub(r"\{%.*?%\}", "", re.sub(r"\\\n\s*", "", text))
    text = re.sub(r"\{\{.*?\}\}|\{[a-z_]*\}", "X", text)
    spans = [span for line in text.splitlines() for span in SPAN.findall(line)]
    lines = [line for line in text.splitlines() if not SPAN.search(line)]
    found = [CALLED.search(line) for line in lines if RUNS.match(line)]
    found += [CALLED.search(span) or IN_SHORT.fullmatch(span) for span in spans]
    for match in found:
        if match:
            yield list(takewhile(lambda word: word not in ENDS, split(match[1])))


def split(line: str) -> list[str]:
    """As a shell does; a line that ends within quotes is no command of ours."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []


def complaint(words: list[str]) -> str | None:
    """Why the program would refuse these words, whatever the reader's own values are."""
    with click.Context(commands) as parent:
        command = commands.get_command(parent, words[0])
        assert command is not None
        given = list(takewhile(lambda word: word != "--", words[1:]))
        with click.Context(command, parent=parent, info_name=words[0]) as context:
            try:
                values, left, _ = command.make_parser(context).parse_args([*given])
                for option in (one for one in command.params if isinstance(one, click.Option)):
                    value = values.get(str(option.name))
                    for one in value if isinstance(value, list) else [value]:
                        if isinstance(one, str) and not PLACEHOLDER.fullmatch(one):
                            option.type.convert(one, option, context)
            except click.BadOptionUsage as error:
                return None if given[-1] == error.option_name else error.format_message()  # an option alone is named
            except click.UsageError as error:
                return error.format_message()
    return f"takes no {' '.join(left)}" if left else None


def test_every_command_that_a_text_quotes_is_one_that_the_program_takes() -> None:
    found = [(name, words) for name, text in texts() for words in quoted(text) if words]
    assert len(found) > 200
    assert [(name, words, why) for name, words in found if (why := complaint(words))] == []


@pytest.mark.parametrize(
    "text",
    [
        "`probe-effect measure --suite per-event`",
        "run `advise --here` first",
        "probe-effect compare A B --fail-over 2%",
        "    Example: probe-effect measure per-event --vm-accel rehearsal",
        "`sudo .venv/bin/probe-effect doctor a b`",
    ],
)
def test_one_that_it_would_refuse_is_found(text: str) -> None:
    [words] = quoted(text)
    assert complaint(words)


@pytest.mark.parametrize(
    "text",
    [
        "`probe-effect measure SUITE --vm KERNEL`",
        "`try SCRIPT -- make -j2`",
        "$ sudo probe-effect lend --minutes N",
        "`advise --pid`",
    ],
)
def test_one_with_the_readers_own_values_is_taken(text: str) -> None:
    [words] = quoted(text)
    assert complaint(words) is None
