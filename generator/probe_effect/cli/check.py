"""`probe-effect check`: every problem, with file, line, column, rule, and how to mend it."""

from __future__ import annotations

from pathlib import Path

import click

from probe_effect.checks import run
from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option, given_folders


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]...")
@data_option
@output.format_option
@click.pass_context
def check(context: click.Context, folders: tuple[Path, ...], data_path: Path | None, form: str) -> None:
    """Check submissions, published sources and suites in DIR; without DIR, the whole data folder.

    \b
    Example: probe-effect check data/results/my-machine/2026-11-20-per-event
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path)
    chosen = given_folders(folders) or data.parts()
    problems = run.check(chosen, data)
    if form == "json":
        output.product_json(output.problems_json(problems))
    else:
        output.show_problems(problems)
        errors = sum(problem.severity == "error" for problem in problems)
        output.product(f"{errors} errors, {len(problems) - errors} warnings")
    context.exit(1 if any(problem.severity == "error" for problem in problems) else 0)
