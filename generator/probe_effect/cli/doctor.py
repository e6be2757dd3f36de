"""`probe-effect doctor`: what this machine can measure, what is missing, and what makes it noisy."""

from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option


@click.command()
@click.option("--mount", "for_good", is_flag=True, help="As root: mount tracefs and debugfs, and leave them mounted.")
@data_option
@output.format_option
@click.pass_context
def doctor(context: click.Context, *, for_good: bool, data_path: Path | None, output_format: str) -> None:
    """Say what this machine can measure, what is missing, and what makes it noisy.

    Where tracefs is not mounted, root's commands mount it for themselves and for as long as they run.

    Exit status 3 when it can measure nothing.
    """
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.cli.doctor_run import mount, run
    from probe_effect.host.mounts import mount_for_our_time

    if for_good:
        mount()
    mount_for_our_time()
    context.exit(0 if run(data, output_format) else 3)
