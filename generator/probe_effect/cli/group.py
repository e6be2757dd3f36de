"""The group of all commands, imported when they are called; and the one place where errors become an exit status."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, NoReturn

import click

from probe_effect.cli.output import say, show_problems
from probe_effect.errors import BadData, HostNotReady, ProbeEffectError
from probe_effect.toml import beside

SITE_PART = ("hugo", "pagefind", "pyarrow", "vl_convert", "watchfiles")
"""What the part `site` of the package brings: Hugo, charts, Parquet. Measuring does without it."""


MOST_SIGNS = 200
"""Of a sentence in the list: all of it."""

NOT_HERE = "Not here: needs the part `site` of the package."


class Unread(click.Command):
    """A command that is not imported yet, as `commands.toml` lists it: its name and the first sentence of its help.

    `module` is the one in this package that has it, where that is not called as it is. One `of_site` needs the part
    `site`; where that is not installed, it says so, and is one that refuses.
    """

    def __init__(self, name: str, sentence: str, module: str | None = None, *, of_site: bool = False) -> None:
        super().__init__(name, help=sentence)
        self.module, self.of_site = module or name, of_site

    def missing(self) -> str | None:
        """The first library that the command needs and that is not installed."""
        return next((part for part in SITE_PART if self.of_site and find_spec(part) is None), None)

    def get_short_help_str(self, limit: int = 45) -> str:
        """What it does, or that it is not here."""
        return NOT_HERE if self.missing() else super().get_short_help_str(limit)

    def read(self) -> click.Command:
        """The command itself, or the one that refuses."""
        if missing := self.missing():
            return _refusing(str(self.name), missing)
        found = vars(import_module(f"{__package__}.{self.module}")).values()
        return next(one for one in found if isinstance(one, click.Command) and one.name == self.name)


class LazyGroup(click.Group):
    """Commands in groups; the one that is called is imported, and none for the list of all."""

    def __init__(self, *, groups: Mapping[str, Sequence[Unread]], **settings: Any) -> None:  # noqa: ANN401 (click's)
        super().__init__(commands=list(chain.from_iterable(groups.values())), **settings)
        self.groups = groups

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself."""
        found = super().get_command(ctx, cmd_name)
        return found.read() if isinstance(found, Unread) else found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group with the whole sentences of its commands."""
        del ctx
        width = max(map(len, self.commands))
        for title, some in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([(str(one.name).ljust(width), one.get_short_help_str(MOST_SIGNS)) for one in some])


def _refusing(name: str, missing: str) -> click.Command:
    def refuse(**_: object) -> NoReturn:
        raise HostNotReady(
            f"{name}: {missing} is not installed. Expected the part `site` of probe-effect: "
            "run this in a clone of the repository, after `make setup-site`."
        )

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        help=NOT_HERE,
    )


COMMANDS = {
    group: [Unread(**command) for command in commands] for group, commands in beside(__file__, "commands").items()
}
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
