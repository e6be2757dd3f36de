"""Products to stdout, progress and problems to stderr. Tables and sections are in `tables.py`."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

import click

from probe_effect.model import Problem
from probe_effect.store.tables import FORBIDDEN_TEXT


def format_of(*formats: str, to: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option `--format` of a command that prints in these; the first is the default, and `to` says for whom."""
    choice = click.Choice(formats)
    return click.option("--format", "output_format", type=choice, default=formats[0], show_default=True, help=to)


format_option = format_of("text", "json", to="For people or programs.")


def product(text: str) -> None:
    click.echo(plain(text))


JSON_DIGITS = 12
"""The significant digits of a number in JSON: the last ones of a double differ between CPUs and counts of threads."""


def product_json(value: object) -> None:
    """Print `value` as JSON that other programs rely on, the same on every machine; NaN is refused."""
    takes_all = "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    product(json.dumps(_rounded(value), indent=2, ensure_ascii=not takes_all, allow_nan=False))


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return float(f"{value:.{JSON_DIGITS}g}") if isinstance(value, float) else value


def say(text: str) -> None:
    click.echo(plain(text), err=True)


def plain(text: str) -> str:
    """The lines of a text with control characters as JSON escapes them: words of others must not steer the terminal."""
    return FORBIDDEN_TEXT.sub(lambda found: found[0] if found[0] in "\n\t" else f"\\u{ord(found[0]):04x}", text)


def end(status: int) -> NoReturn:
    click.get_current_context().exit(status)


def show_problems(problems: Iterable[Problem]) -> None:
    """Each problem on stderr, in the form that editors jump to, and how to mend it."""
    for problem in problems:
        place = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
        say(f"{place}: {problem.severity}: {problem.message} [{problem.rule}]\n    {problem.hint}")
