"""`probe-effect lend`: one command for the owner of a machine, from what it can measure to a submission."""

from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, credited, data_folder, data_option, results_folder
from probe_effect.cli.measure import AUTHORS


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), default=60, show_default=True, help="How long, about.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--quiet-machine", "is_quiet", is_flag=True, help="Set governor and turbo, and put them back at the end.")
@click.option("--restore", is_flag=True, help="Only put back what a killed `lend --quiet-machine` has set.")
@click.option("--out", type=PATH, help="Folder for results. [default: results/ of the data]")
@click.option("--name", help="Name to credit in the submission.")
@click.option("--url", help="Web address to credit, starting with https://.")
@click.option("--provenance", type=click.Choice(AUTHORS), default="third-party", help="Who runs it.")
@data_option
def lend(
    *,
    minutes: int,
    yes: bool,
    dry_run: bool,
    is_quiet: bool,
    restore: bool,
    out: Path | None,
    data_path: Path | None,
    **credit: str | None,
) -> None:
    """Lend this machine for MINUTES: measure what the site lacks most, check it, and say how to send it.

    Continues what an earlier `lend` began. Sets nothing on the machine unless --quiet-machine is given.
    """
    data = data_folder(data_path, may_be_new=True)
    results = results_folder(out, data_path, data)
    credited(credit["name"], credit["url"])

    from probe_effect.cli.lend_run import run
    from probe_effect.measure.interrupt import put_back

    put_back(output.say)
    if not restore:
        words = [word for name, value in credit.items() if value for word in (f"--{name}", value)]
        run(data, results, minutes, words, yes=yes, dry_run=dry_run, is_quiet=is_quiet)
