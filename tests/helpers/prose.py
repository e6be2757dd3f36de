"""The linter of prose: words that the project does not use, and sentences that are too long.

`make lint` runs it over Markdown, templates, TOML, docstrings and strings of the Python code. `tests/data/prose.toml`
has the vocabulary and names the files that are not checked; proselint matches it, and adds checks of its own.

Usage: PYTHONPATH=tests .venv/bin/python -m helpers.prose [FILE ..]; the exit status is 1 if there is a problem.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proselint.registry.checks import Check
from proselint.registry.checks.engine import Fancy
from proselint.registry.checks.types import PreferredForms

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[2]
VOCABULARY = tomllib.loads((PROJECT / "tests" / "data" / "prose.toml").read_text(encoding="utf-8"))
ENDINGS = ("*.md", "*.md.j2", "generator/*.py", "generator/*.toml")
MOST_WORDS = 35
"""The words of the longest sentence; what has no punctuation is a list of names and no sentence."""
SPACES_OF_PROSE = 3
"""The spaces that a string of the code has at least; one with fewer is a name or a key."""

MARKUP = re.compile(
    r"""
    # Nothing of a sentence: fenced code, front matter, comments, tags, statements, references, targets of links.
    (?P<nothing>
      ^\ *(?P<fence>```|~~~).*?^\ *(?P=fence) | \A(?P<front>---|\+\+\+)\n.*?^(?P=front)$ | <!--.*?-->
      | <[a-zA-Z/][^<>\n]*> | \{%.*?%\} | \{\#.*?\#\} | \{\{<\ reference\ .*?>\}\} | (?<=\])\([^)\n]*\)
    )
    # One word of it: code, shortcodes, addresses.
    | (?P<code>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=code)(?!`) | \{\{.*?\}\} | https?://\S+
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
"""What is not read in Markdown, and in templates of it."""
END = re.compile(r"(?<=[.!?])[\"”’)*_]*(?:\n|\s+(?=[^a-z.\s]))|(?<=:)\n|\n\s*\n|\n *(?=[-*#>] |\d+\. )|\s*\|\s*")
"""What ends a sentence: a full stop before a capital or at a line's end; the end of a paragraph, an item or a cell."""


def problems(text: str) -> Iterator[tuple[int, str]]:
    """The line, counted from 0, and the message of every problem of a Markdown text."""
    text = MARKUP.sub(lambda match: "N" * (not match["nothing"]) + "\n" * match[0].count("\n"), text)
    for offset, message in sorted((*_words(text), *_long_sentences(text))):
        yield text.count("\n", 0, offset), message


def problems_of(path: Path) -> list[str]:
    """The problems of a file, each as `FILE:LINE: MESSAGE`."""
    source = path.read_text(encoding="utf-8")
    read = {".py": _strings, ".toml": _values}.get(path.suffix)
    passages = read(source) if read else [(1, source)]
    return [f"{path}:{first + line}: {message}" for first, text in passages for line, message in problems(text)]


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Every docstring and string of Python code that may be prose, with its line; a value in an f-string is `N`."""
    parts: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.JoinedStr():
                parts.update(ast.walk(node))
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "N" for part in node.values)
            case ast.Constant(value=str(text)) if node not in parts:
                pass
            case _:
                continue
        if text.count(" ") >= SPACES_OF_PROSE:
            yield node.lineno, text


def _values(source: str) -> Iterator[tuple[int, str]]:
    """Every value of a TOML file, with its line."""
    yield from ((number, line.partition(" = ")[2]) for number, line in enumerate(source.splitlines(), 1))


def _words(text: str) -> Iterator[tuple[int, str]]:
    for check in _checks():
        for result in check.check_with_flags(text):
            yield result.span[0], result.message


@cache
def _checks() -> list[Any]:
    words = {f"(?:{pattern})": better for pattern, better in VOCABULARY["words"].items()}
    own = Check(PreferredForms(words), engine=Fancy(), message='"{1}": write {0}')
    modules = [import_module(f"proselint.checks.{name}") for name in VOCABULARY["proselint"]]
    return [own, *(check for module in modules for check in module.__register__)]


def _long_sentences(text: str) -> Iterator[tuple[int, str]]:
    begins = [0, *(end.end() for end in END.finditer(text))]
    ends = [*(end.start() for end in END.finditer(text)), len(text)]
    for begin, end in zip(begins, ends, strict=True):
        words = re.findall(r"\w[\w'’.,-]*", text[begin:end])
        if len(words) > MOST_WORDS and re.search(r"[,.:;]\s", f"{text[begin:end]}\n"):
            yield begin, f'"{" ".join(words[:5])} ..": {len(words)} words in a sentence, of at most {MOST_WORDS}'


def main(names: list[str]) -> int:
    """Print the problems of the named files, or of all that people read; the exit status, 1 if there is one."""
    lines = [line for name in names or _read() for line in problems_of(Path(name))]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if lines else 0


def _read() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *ENDINGS], capture_output=True, text=True, check=True)  # noqa: S607
    return [name for name in listed.stdout.splitlines() if not name.startswith(tuple(VOCABULARY["skipped"]))]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
