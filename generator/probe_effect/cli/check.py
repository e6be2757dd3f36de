"""`probe-effect check`: every problem, with file, line, column, rule, and how to mend it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option, given_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.checks.autofix import Fixed
    from probe_effect.model import Problem

# Form and escapes of an annotation: the runner's source (actions/runner, ActionCommand), and
# https://docs.github.com/actions/reference/workflow-commands-for-github-actions
IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]...")
@data_option
@output.format_of(
    "text", "json", "github", to="For people, for programs, or as the annotations of a workflow on GitHub."
)
@click.option("--fix", is_flag=True, help="First mend line ends and the like in the files; never a value.")
@click.pass_context
def check(
    context: click.Context,
    *,
    folders: tuple[Path, ...],
    data_path: Path | None,
    output_format: str,
    fix: bool,
) -> None:
    """Check submissions, published sources and suites in DIR; without DIR, the whole data folder.

    \b
    Example: probe-effect check data/results/my-machine/2026-11-20-per-event
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, may_be_new=bool(folders))
    chosen = given_folders(folders)

    from probe_effect.checks import run
    from probe_effect.checks.autofix import autofix

    fixed = autofix(chosen or data.parts(), data) if fix else []
    problems = run.check(chosen, data) if folders else run.check_all(data)
    if output_format == "json":
        found = {"problems": [asdict(problem) for problem in problems]}
        output.product_json(found | ({"mended": [asdict(one) for one in fixed]} if fix else {}))
    else:
        _show(problems, fixed, output_format)
    context.exit(1 if any(problem.severity == "error" for problem in problems) else 0)


def annotation(problem: Problem) -> str:
    """One line: `::error file=data/..,line=3,title=row-order::what is wrong`, with the mend on the message's second.

    GitHub shows it beside the line of a pull request.
    """
    places = {"file": problem.file, "line": problem.line, "col": problem.column, "title": problem.rule}
    known = ((name, str(value)) for name, value in places.items() if value is not None)
    properties = ",".join(f"{name}={value.translate(IN_PROPERTY)}" for name, value in known)
    message = f"{problem.message}\n{problem.hint}".translate(IN_MESSAGE)
    return f"::{problem.severity} {properties}::{message}"


def _show(problems: Sequence[Problem], fixed: Sequence[Fixed], output_format: str) -> None:
    for one in fixed:
        output.say(f"{one.file}: {one.what}")
    if output_format == "github":
        for problem in problems:
            output.product(annotation(problem))
    else:
        output.show_problems(problems)
    errors = sum(problem.severity == "error" for problem in problems)
    output.product(f"{errors} errors, {len(problems) - errors} warnings")
