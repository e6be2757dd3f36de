"""The group of all commands, and the one place where errors become output and exit status."""

from __future__ import annotations

import sys

import click

from probe_effect import __version__
from probe_effect.cli.check import check
from probe_effect.cli.cite import cite
from probe_effect.cli.compare import compare
from probe_effect.cli.dictionary import dictionary
from probe_effect.cli.doctor import doctor
from probe_effect.cli.import_ import import_
from probe_effect.cli.measure import measure
from probe_effect.cli.output import progress, show_problems
from probe_effect.cli.predict import predict
from probe_effect.cli.release_notes import release_notes
from probe_effect.cli.review import review, review_comment
from probe_effect.cli.site_part import site_command
from probe_effect.cli.submit import submit
from probe_effect.cli.suites import suites
from probe_effect.cli.summarise import summarise
from probe_effect.errors import BadData, ProbeEffectError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="probe-effect")
def commands() -> None:
    """What does observing cost? Measure it, check results, and build the site.

    \b
    Exit status: 0 fine, 1 problems found, 2 wrong usage, 3 this host cannot do it.
    """  # noqa: D301 (click reads the \b)


for command in (
    doctor,
    measure,
    suites,
    summarise,
    predict,
    compare,
    cite,
    check,
    submit,
    import_,
    review,
    review_comment,
    site_command("build", "build"),
    site_command("build", "serve"),
    site_command("release", "release"),
    release_notes,
    dictionary,
):
    commands.add_command(command)


def main() -> None:
    """Run the command line; expected failures print their message, never a traceback."""
    try:
        sys.exit(commands(standalone_mode=False))  # click hands a command's exit status back as a value
    except click.exceptions.Abort:
        progress.print("stopped")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BadData as error:
        show_problems(error.problems)
        progress.print(f"error: {error}", markup=False)
        sys.exit(error.exit_status)
    except ProbeEffectError as error:
        progress.print(f"error: {error}", markup=False)
        sys.exit(error.exit_status)
