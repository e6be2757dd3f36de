"""Commands that need the part `site` of the package: Hugo, charts, Parquet. Measuring does without it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from probe_effect.errors import HostNotReady

if TYPE_CHECKING:
    from typing import NoReturn

OF_THE_PART = frozenset({"hugo", "pagefind", "pyarrow", "vl_convert", "watchfiles"})


def site_command(module: str, name: str) -> click.Command:
    """The command `name` of a module of `cli`; where the part is not installed, one that says so when it is called."""
    try:
        found: click.Command = getattr(import_module(f"probe_effect.cli.{module}"), name)
    except ModuleNotFoundError as error:
        if error.name not in OF_THE_PART:
            raise
        return _absent(name, error.name)
    return found


def _absent(name: str, missing: str) -> click.Command:
    def refuse(**_: object) -> NoReturn:
        msg = (
            f"{name}: {missing} is not installed. Expected the part `site` of probe-effect: "
            "run this in a clone of the repository, after `make setup`."
        )
        raise HostNotReady(msg)

    return click.Command(
        name,
        callback=refuse,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        help="Not here: needs the part `site` of the package.",
    )
