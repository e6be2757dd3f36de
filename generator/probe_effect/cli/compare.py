"""`probe-effect compare`, `summarise` and `cite`: what submissions say, and how that is quoted."""

import difflib
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, given_folders
from probe_effect.model import BadData, UsageError
from probe_effect.store.places import SubmissionFolder

if TYPE_CHECKING:
    from probe_effect.model import Problem


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
        output.product_json({"submissions": [summary_json(one) for one in submissions]})
        return
    suites = known_suites(data)
    for number, one in enumerate(submissions):
        if number:
            output.product("")
        show_summary(one, suites.get(one.suite))


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
