"""`probe-effect check`, `review` and `submit`: from what was measured to a pull request that holds no fault."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, given_folders, kept

if TYPE_CHECKING:
    from probe_effect.cli.intake_run import SubmitOptions


@click.command()
@click.argument("folders", nargs=-1, type=PATH, metavar="[DIR]...")
@data_option
@output.format_of(
    "text", "json", "github", to="For people, for programs, or as the annotations of a workflow on GitHub."
)
@click.option("--fix", is_flag=True, help="First mend line ends and the like in the files; never a value.")
def check(*, folders: tuple[Path, ...], data_path: Path | None, output_format: str, fix: bool) -> None:
    """Check submissions, published sources and suites in DIR; without DIR, the whole data folder.

    \b
    Example: probe-effect check data/results/my-machine/2026-11-20-per-event
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, may_be_new=bool(folders))
    chosen = given_folders(folders)

    from probe_effect.checks import run
    from probe_effect.compare.kernels import unseen_changes

    fixed = run.autofix(chosen or data.parts(), data) if fix else []
    problems = run.check(chosen, data) if folders else run.check_all(data)
    if not folders and not any(problem.severity == "error" for problem in problems):
        problems += unseen_changes(data)  # which reads all rows, of which some have no numbers
    errors = sum(problem.severity == "error" for problem in problems)
    if output_format == "json":
        mended = {"mended": [asdict(one) for one in fixed]} if fix else {}
        output.product_json({"problems": [asdict(problem) for problem in problems]} | mended)
        output.end(1 if errors else 0)
    for one in fixed:
        output.say(f"{one.file}: {one.what}")
    if output_format == "github":
        from probe_effect.intake.report import annotate

        for line in annotate(problems):
            output.product(line)
    else:
        output.show_problems(problems)
    output.product(f"{errors} errors, {len(problems) - errors} warnings")
    output.end(1 if errors else 0)


@click.command()
@click.argument("base")
@click.argument("head", required=False)
@data_option
@output.format_of(
    "text", "markdown", "json", "github", to="For people, a page of GitHub's, programs, or as a workflow's annotations."
)
@click.option("--report", type=PATH, help="Write it as JSON into this file too.")
@click.option("--summary", type=PATH, help="Append it as Markdown to this file too.")
def review(
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
    from probe_effect.intake.revisions import states, work_folder

    with work_folder() as work:
        before, after = states(base, head or data_folder(data_path), work, kept())

        from probe_effect.cli import intake_run

        is_sound = intake_run.review(before, after, output_format, report, summary)
    output.end(0 if is_sound else 1)


@click.command("review-comment")
@click.argument("file", type=PATH)
@click.option("--commit", help="The commit that was reviewed, in place of what FILE says.")
@click.option("--run", help="Address of the workflow's run that made FILE, to link to.")
def review_comment(file: Path, commit: str | None, run: str | None) -> None:
    """Make a comment of FILE, which `probe-effect review --format json` wrote, or anybody else.

    Whatever FILE holds is taken for data: it is read up to 256 KiB, and has to have the form of a review. The Markdown
    shows its text and does nothing else, and is short enough for a comment on GitHub.

    \b
    Example: probe-effect review-comment review.json
    """  # noqa: D301 (click reads the \b)
    from probe_effect.cli import intake_run

    intake_run.comment(file, commit, run)


@click.command()
@click.argument("folders", nargs=-1, type=PATH, metavar="[DIR]...")
@click.option("--name", help="Name to credit, shown on the pages of your machine.")
@click.option("--no-name", "nameless", is_flag=True, help="Credit nobody, and ask nothing.")
@click.option("--remote", metavar="REPOSITORY", help="Push the branch there, by name or address, and do no more.")
@click.option(
    "--here", is_flag=True, help="Open the pull request in the repository of the clone, even if it is a fork."
)
@click.option("--dry-run", is_flag=True, help="Show all and look at all, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask whether to go on.")
@click.option(
    "--allow", "allowed", multiple=True, metavar="WORD", help="A word that is a name here too, and may be published."
)
@data_option
def submit(folders: tuple[Path, ...], data_path: Path | None, **options: "Unpack[SubmitOptions]") -> None:
    """Propose the submissions in DIR for publication; without DIR, all that are not published yet.

    Shows what becomes public, looks for names of this machine and its user in it, and checks it. In a clone it then
    makes a branch with one commit for each machine, and the pull request where `gh` is logged in. The working tree
    stays as it is. Without `gh`, and outside a clone, it says what is left to be done by hand.

    \b
    Example: probe-effect submit --name "Your Name"
    Example: probe-effect submit data/results/my-machine/2026-11-20-per-event --no-name
    """  # noqa: D301 (click reads the \b)
    if options["name"] is not None and options["nameless"]:
        raise click.UsageError("--name and --no-name: one of them")
    data, chosen = data_folder(data_path, may_be_new=bool(folders)), given_folders(folders)

    from probe_effect.cli.intake_run import run_submit

    run_submit(chosen, data, options)
