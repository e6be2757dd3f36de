"""`probe-effect review`: what a pull request would change in the data."""

import tempfile
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option, kept
from probe_effect.review.revisions import states


@click.command()
@click.argument("base")
@click.argument("head", required=False)
@data_option
@output.format_of(
    "text", "markdown", "json", "github", to="For people, a page of GitHub's, programs, or as a workflow's annotations."
)
@click.option("--report", type=click.Path(path_type=Path), help="Write it as JSON into this file too.")
@click.option("--summary", type=click.Path(path_type=Path), help="Append it as Markdown to this file too.")
@click.pass_context
def review(
    context: click.Context,
    *,
    base: str,
    head: str | None,
    data_path: Path | None,
    output_format: str,
    report: Path | None,
    summary: Path | None,
) -> None:
    """Say what HEAD would change in the data that BASE has published.

    Each is a data folder, a checkout, or a revision in git, of which only files below data/ are read. Without HEAD:
    the data as they are here. New problems, new submissions with their numbers, the published machine nearest to each,
    what to look at, and every number that is added, changed or gone.

    \b
    Example: probe-effect review origin/main
    Example: probe-effect review HEAD^1 HEAD --format github --report review.json --summary summary.md
    """  # noqa: D301 (click reads the \b)
    with tempfile.TemporaryDirectory(prefix="probe-effect-review-") as work:
        before, after = states(base, head or data_folder(data_path), Path(work), kept())

        from probe_effect.cli import review_run

        is_sound = review_run.review(before, after, output_format, report, summary)
    context.exit(0 if is_sound else 1)


@click.command("review-comment")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--commit", help="The commit that was reviewed, in place of what FILE says.")
@click.option("--run", help="Address of the workflow's run that made FILE, to link to.")
def review_comment(file: Path, commit: str | None, run: str | None) -> None:
    """Make a comment of FILE, which `probe-effect review --format json` wrote, or anybody else.

    Whatever FILE holds is taken for data: it is read up to 256 KiB, and has to have the form of a review. The Markdown
    shows its text and does nothing else, and is short enough for a comment on GitHub.

    \b
    Example: probe-effect review-comment review.json
    """  # noqa: D301 (click reads the \b)
    from probe_effect.cli import review_run

    review_run.comment(file, commit, run)
