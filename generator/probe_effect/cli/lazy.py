"""Commands that are imported when they are called, so that help and complaints are there at once."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, NoReturn

import click

from probe_effect.errors import HostNotReady

SITE_PART = ("hugo", "pagefind", "pyarrow", "vl_convert", "watchfiles")
"""What the part `site` of the package brings: Hugo, charts, Parquet. Measuring does without it."""


MOST_SIGNS = 200
"""Of a sentence in the list: all of it."""

NOT_HERE = "Not here: needs the part `site` of the package."


class Unread(click.Command):
    """A command that is not imported yet: its name and the first sentence of its help.

    `module` is the one in this package that has it, where that is not called as it is.
    """

    def __init__(self, name: str, sentence: str, module: str | None = None) -> None:
        super().__init__(name, help=sentence)
        self.module = module or name

    def read(self) -> click.Command:
        """The command itself."""
        found = vars(import_module(f"{__package__}.{self.module}")).values()
        return next(one for one in found if isinstance(one, click.Command) and one.name == self.name)


class UnreadOfSite(Unread):
    """One that needs the part `site`; where that is not installed, it says so, and is one that refuses."""

    def read(self) -> click.Command:
        """The command itself, or the one that refuses."""
        missing = _missing()
        return _refusing(str(self.name), missing) if missing else super().read()

    def get_short_help_str(self, limit: int = 45) -> str:
        """What it does, or that it is not here."""
        return NOT_HERE if _missing() else super().get_short_help_str(limit)


def unread(name: str, sentence: str, module: str | None = None, *, of_site: bool = False) -> Unread:
    """A command as `commands.toml` lists it."""
    return (UnreadOfSite if of_site else Unread)(name, sentence, module)


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


def _missing() -> str | None:
    """The first of what the part `site` brings that is not installed."""
    return next((name for name in SITE_PART if find_spec(name) is None), None)


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
