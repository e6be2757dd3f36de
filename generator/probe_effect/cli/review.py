"""`probe-effect review`: what a pull request would change in the data."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_option
from probe_effect.cli.revisions import states


@click.command()
@click.argument("base")
@click.argument("head", required=False)
@data_option
@output.format_of("text", "markdown", "json", to="For people, for a page of GitHub's, or for programs.")
@click.pass_context
def review(context: click.Context, base: str, head: str | None, data_path: Path | None, output_format: str) -> None:
    """Say what HEAD would change in the data that BASE has published.

    Each is a data folder, a checkout, or a revision in git, of which only files below data/ are read. Without HEAD:
    the data as they lie here. New problems, new submissions with their numbers, the published machine nearest to each,
    what to look at, and every number that is added, changed or gone.

    \b
    Example: probe-effect review origin/main
    Example: probe-effect review HEAD^1 HEAD --format markdown
    """  # noqa: D301 (click reads the \b)
    with tempfile.TemporaryDirectory(prefix="probe-effect-review-") as work:
        before, after = states(base, head, data_path, Path(work))

        from probe_effect.cli import review_run

        is_sound = review_run.review(before, after, output_format)
    context.exit(0 if is_sound else 1)


@click.command("review-comment")
@click.argument("file", type=click.Path(path_type=Path))
def review_comment(file: Path) -> None:
    """Make a comment of FILE, which `probe-effect review --format json` wrote, or anybody else.

    Whatever FILE holds is taken for data: it is read up to 256 KiB, has to have the form of a review, and is printed
    as Markdown that shows its text and does nothing else, short enough for a comment on GitHub.

    \b
    Example: probe-effect review-comment review.json
    """  # noqa: D301 (click reads the \b)
    from probe_effect.cli import review_run

    review_run.comment(file)
