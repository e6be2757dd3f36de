"""The group of all commands, and the one place where errors become output and exit status."""

import sys
import tomllib
from pathlib import Path

import click

from probe_effect.cli.lazy import LazyGroup, unread
from probe_effect.cli.output import say, show_problems
from probe_effect.errors import BadData, ProbeEffectError

LISTED = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))

COMMANDS = {group: [unread(**command) for command in commands] for group, commands in LISTED.items()}
"""By what they are for: a command is listed without being imported."""


@click.group(
    cls=LazyGroup,
    groups=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="probe-effect", prog_name="probe-effect")
def commands() -> None:
    """What does observing cost? Measure it, check results, and build the site.

    \b
    Exit status: 0 fine, 1 problems found, 2 wrong usage, 3 this host cannot do it.
    """  # noqa: D301 (click reads the \b)


def main() -> None:
    """Run the command line; expected failures print their message, never a traceback."""
    try:
        sys.exit(commands(standalone_mode=False))  # click hands a command's exit status back as a value
    except click.exceptions.Abort:
        say("stopped")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ProbeEffectError as error:
        if isinstance(error, BadData):
            show_problems(error.problems)
        say(f"error: {error}")
        sys.exit(error.exit_status)
