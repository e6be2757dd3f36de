"""`probe-effect summarise`: what submissions say, in times or in counted instructions."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option, given_folders
from probe_effect.errors import BadData
from probe_effect.store.places import SubmissionFolder

if TYPE_CHECKING:
    from probe_effect.model import Problem


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@data_option
@output.format_option
def summarise(folders: tuple[Path, ...], data_path: Path | None, output_format: str) -> None:
    """Say what the submissions in DIR measured.

    \b
    Example: probe-effect summarise data/results/*/* --format json
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, may_be_new=True)
    given = [SubmissionFolder(path.resolve()) for path in given_folders(folders)]

    from probe_effect.cli.summarise_output import as_json, show
    from probe_effect.reduce.reading import read_submissions
    from probe_effect.store.suite_file import known_suites

    problems: list[Problem] = []
    submissions = read_submissions(given, data, problems)
    if problems:
        raise BadData(problems)
    if output_format == "json":
        output.product_json({"submissions": [as_json(one) for one in submissions]})
        return
    suites = known_suites(data)
    for number, one in enumerate(submissions):
        if number:
            output.product("")
        show(one, suites.get(one.suite))
