"""`probe-effect check`, `review` and `submit`, and `compare`, `summarise` and `cite`: from a submission to a quotation.

What was measured is proposed without a fault, set beside others, and quoted.
"""

import difflib
import os
import re
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, given_folders, kept
from probe_effect.model import BadData, UsageError
from probe_effect.store.places import SubmissionFolder

if TYPE_CHECKING:
    from probe_effect.cli.intake_run import SubmitOptions
    from probe_effect.model import Problem


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

    fixed = run.autofix(chosen or data.parts(), data) if fix else []
    problems = run.check(chosen, data) if folders else run.check_all(data)
    errors = sum(problem.severity == "error" for problem in problems)
    if output_format == "json":
        mended = {"mended": [{"file": file, "what": what} for file, what in fixed]} if fix else {}
        output.product_json({"problems": [asdict(problem) for problem in problems]} | mended)
        output.end(1 if errors else 0)
    for file, what in fixed:
        output.say(f"{file}: {what}")
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
    from probe_effect.host.processes import WORK_PREFIX
    from probe_effect.intake.revisions import states

    # So named that the next measurement removes what a killed review has left.
    with TemporaryDirectory(prefix=f"{WORK_PREFIX}{os.getpid()}-review-") as work:
        before, after = states(base, head or data_folder(data_path), Path(work), kept())

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


def _percent(text: str) -> float:
    """A share in per cent as a ratio: 0.02 for `2%`, `2` and `2.0 %`. Raises: click.BadParameter for anything else."""
    percent = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?%?", text.strip(), re.ASCII)
    if percent is None:
        raise click.BadParameter(f"{text!r} is not a percentage. Expected one such as 2%, 2 or 0.5%.")
    return float(percent[1]) / 100


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--tracers", "two_tracers", nargs=2, metavar="T U", help="Compare two tracers of A with each other.")
@click.option("--case", "cases", multiple=True, help="Only this case; may be repeated.")
@click.option("--tracer", "tracers", multiple=True, help="Only this tracer; may be repeated.")
@click.option(
    "--fail-above",
    "fail_above_ratio",
    type=_percent,
    metavar="PERCENT",
    help="Of counted instructions: exit with 1 when a case takes more than PERCENT more in B than in A, or when a case "
    "of A has no sound count in B. --case and --tracer narrow what is looked at.",
)
@click.option("--paths", is_flag=True, help="Also the functions of which an event does not execute the same.")
@data_option
@output.format_option
def compare(
    *,
    first: str,
    second: str | None,
    two_tracers: tuple[str, str] | None,
    cases: tuple[str, ...],
    tracers: tuple[str, ...],
    fail_above_ratio: float | None,
    paths: bool,
    data_path: Path | None,
    output_format: str,
) -> None:
    """Say where B costs more or less than A, and where no difference can be seen.

    A and B are folders of submissions, or machines by id or folder: of a machine its current numbers count. Both
    hold times, or both hold instructions counted in an emulated machine.

    \b
    Example: probe-effect compare data/results/*/2026-11-20-per-event-{2,3}
    Example: probe-effect compare amd-epyc-2t-kvm-d4f3 --tracers bpftrace libbpf
    Example: probe-effect compare base/per-event head/per-event --fail-above 2%
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, only_asks=True)
    if bool(two_tracers) is (second is not None) or (two_tracers and tracers):
        raise UsageError("expected A and B, or A and `--tracers T U` without `--tracer`")

    from probe_effect.cli import compare_output
    from probe_effect.compare import compared

    sides = [compared.find_side(text, data) for text in (first, second) if text is not None]
    read = compared.read_sides(compared.named_apart(*sides) if second is not None else sides, data)
    selection = compared.Selection(cases, tracers, fail_above_ratio)
    if two_tracers:
        comparison = compared.of_tracers(read[0], two_tracers, selection)
    else:
        comparison = compared.of_sides(read[0], read[1], selection, data)
    if output_format == "json":
        output.product_json(compare_output.as_json(comparison))
    else:
        compare_output.show(comparison, paths=paths)
    output.end(0 if compare_output.show_verdict(comparison) else 1)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR...")
@data_option
@output.format_option
def summarise(folders: tuple[Path, ...], data_path: Path | None, output_format: str) -> None:
    """Say what the submissions in DIR measured.

    \b
    Example: probe-effect summarise data/results/*/* --format json
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, may_be_new=True)
    given = [SubmissionFolder(path.resolve()) for path in given_folders(folders)]

    from probe_effect.cli.compare_output import show_summary, summary_json
    from probe_effect.numbers.catalogue import read_submissions
    from probe_effect.store.suite_file import known_suites

    problems: list[Problem] = []
    submissions = read_submissions(given, data, problems)
    if problems:
        raise BadData(problems)
    if output_format == "json":
        output.product_json({"submissions": [summary_json(submission) for submission in submissions]})
        return
    suites = known_suites(data)
    for number, submission in enumerate(submissions):
        if number:
            output.product("")
        show_summary(submission, suites.get(submission.suite))


@click.command()
@click.argument("what", metavar="[ID]", default="data")
@data_option
@click.option("--base-url", default="/", help="Address of the site; without it, citations have the path alone.")
@output.format_option
def cite(what: str, data_path: Path | None, base_url: str, output_format: str) -> None:
    """Say how to cite ID, as text and as BibTeX; without ID, the whole data set.

    \b
    ID is what the site's addresses have:
      <machine>/<folder>/<case>/<tracer>[/<level>]   one number, with its interval
      <machine>/<folder>                             a submission
      <machine>, <case>, <suite> or <source>
      <source>#<figure>                              a published figure
      data                                           the data set

    \b
    Examples:
      probe-effect cite
      probe-effect cite 06-uprobe
      probe-effect cite 'gregg-2011-pid-provider#cost_count' --format json
    """  # noqa: D301 (click reads the \b)
    wanted, data = what.strip("/"), data_folder(data_path, only_asks=True)

    from probe_effect.numbers.catalogue import read_catalogue, read_numbers
    from probe_effect.numbers.names import Edition
    from probe_effect.site.pages import citing
    from probe_effect.store.release_file import data_version

    # First the suites and the machine that the id begins with, of which most that is cited is; else all.
    machine = wanted.partition("/")[0]
    own = read_numbers(data, [files for files in data.submissions() if files.machine == machine])
    things = citing.citable(replace(own, edition=Edition(data_version(data), base_url)))
    if wanted not in things:
        things = citing.citable(read_catalogue(data, base_url))
    if wanted in things:
        citation = things[wanted]()
        if output_format == "json":
            output.product_json({"id": wanted} | asdict(citation))
        else:
            output.product(f"{citation.text}\n\n{citation.bibtex}")
        return
    near = difflib.get_close_matches(wanted, things, 3, 0.5)
    hint = f"Nearest: {', '.join(near)}." if near else "`probe-effect cite --help` says what an id looks like."
    msg = f"{wanted[:200]!r}: nothing here has this id. Expected an id as the site's addresses have it. {hint}"
    raise UsageError(msg)
