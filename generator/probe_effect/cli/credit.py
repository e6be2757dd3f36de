"""Who gets the credit for a submission, as the command line names them."""

from __future__ import annotations

import click

from probe_effect.store.machine_file import Submitter


def credited(name: str | None, url: str | None) -> Submitter:
    """Who gets the credit. Raises: click.UsageError."""
    try:
        return Submitter(name=name, url=url)
    except ValueError as error:
        msg = "--name or --url: expected a name on one line, and an address such as https://example.org/me"
        raise click.UsageError(msg) from error
