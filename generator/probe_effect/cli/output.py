"""Products to stdout, progress and problems to stderr."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import click
from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.model import Interval, Problem, Spread

MIN_TABLE_WIDTH = 210

# rich honours NO_COLOR, FORCE_COLOR and a missing terminal by itself.
progress = Console(stderr=True, highlight=False, soft_wrap=True)

# A table is never cut or folded: a narrow terminal folds its lines, a pipe gets them whole.
tables = Console(highlight=False, width=MIN_TABLE_WIDTH)

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or programs.",
)


def product(text: str) -> None:
    """Print what the command was asked for."""
    click.echo(text)


def product_json(value: object) -> None:
    """Print `value` as JSON that other programs rely on; NaN is refused."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def interval_json(value: Interval | None, name: str, unit: str) -> dict[str, float | None]:
    """An interval as three keys, `x_unit`, `x_low_unit` and `x_high_unit` of name x; null where there is none."""
    return {
        f"{name}_{unit}": value.value if value else None,
        f"{name}_low_{unit}": value.low if value else None,
        f"{name}_high_{unit}": value.high if value else None,
    }


def spread_json(value: Spread | None, name: str, unit: str) -> dict[str, float | None]:
    """A spread as three keys, `x_unit`, `x_least_unit` and `x_greatest_unit` of name x; null where there is none."""
    return {
        f"{name}_{unit}": value.median if value else None,
        f"{name}_least_{unit}": value.least if value else None,
        f"{name}_greatest_{unit}": value.greatest if value else None,
    }


def problem_line(problem: Problem) -> str:
    """`file:line:column: severity: message [rule]` and how to mend it: the form that editors jump to."""
    place = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
    return f"{place}: {problem.severity}: {problem.message} [{problem.rule}]\n    {problem.hint}"


def show_problems(problems: Iterable[Problem]) -> None:
    """Each problem on stderr."""
    for problem in problems:
        progress.print(problem_line(problem), markup=False)


def problems_json(problems: Iterable[Problem]) -> dict[str, object]:
    """The `check` command's JSON (design: commands)."""
    return {"problems": [dataclasses.asdict(problem) for problem in problems]}
