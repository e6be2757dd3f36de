"""`probe-effect check`: every problem, with file, line, column, rule, and how to mend it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option, given_folders
from probe_effect.model import Problem

if TYPE_CHECKING:
    from probe_effect.checks.afterwards import Fixed


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
    from probe_effect.checks.afterwards import autofix
    from probe_effect.compare.counts import unseen_changes

    fixed = autofix(chosen or data.parts(), data) if fix else []
    problems = run.check(chosen, data) if folders else [*run.check_all(data), *unseen_changes(data)]
    if output_format == "json":
        found = {"problems": [asdict(problem) for problem in problems]}
        output.product_json(found | ({"mended": [asdict(one) for one in fixed]} if fix else {}))
    else:
        _show(problems, fixed, output_format)
    context.exit(1 if any(problem.severity == "error" for problem in problems) else 0)


def _show(problems: Sequence[Problem], fixed: "Sequence[Fixed]", output_format: str) -> None:
    for one in fixed:
        output.say(f"{one.file}: {one.what}")
    if output_format == "github":
        from probe_effect.review.mending import annotate

        for line in annotate(problems):
            output.product(line)
    else:
        output.show_problems(problems)
    errors = sum(problem.severity == "error" for problem in problems)
    output.product(f"{errors} errors, {len(problems) - errors} warnings")
