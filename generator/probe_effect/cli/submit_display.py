"""What `probe-effect submit` says on the side: all that will be public, and what is left to be done by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.sections import show_section
from probe_effect.pages.machine_page import facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probe_effect.submit.bundle import SubmissionBundle
    from probe_effect.submit.github import Step

NEVER_RECORDED = "host names, user names, folders of users, addresses, serial numbers"


def show_bundle(bundle: SubmissionBundle) -> None:
    """All that one pull request makes public."""
    show_section(f"What will be published of {bundle.machine}", _files(bundle), aside=True)
    newest = max(bundle.items, key=lambda item: item.document.run.started)
    show_section("The machine, as its page will show it", facts(newest.document).items(), aside=True)


def show_persons(credits_: Iterable[str | None], author: str | None, marks: int) -> None:
    """What will be public of the person, and what was looked for."""
    names = ", ".join(dict.fromkeys(filter(None, credits_)))
    rows = [("credit", names or "none; --name gives one")]
    rows += [("author of the commit", author)] if author else []
    rows += [("never recorded", NEVER_RECORDED)]
    rows += [("looked for in the files", f"{marks} names and numbers of this machine; none is in them")]
    show_section("You", rows, aside=True)


def show_steps(title: str, steps: Iterable[Step]) -> None:
    """Numbered steps, each with its command whole on a line, so that it can be copied."""
    output.say(click.style(title, bold=True))
    for number, (purpose, command) in enumerate(steps, start=1):
        output.say(f"  {number}. {purpose}:\n     {command}")


def _files(bundle: SubmissionBundle) -> Iterator[tuple[str, str]]:
    for item in bundle.items:
        yield from ((units.size(path.stat().st_size), item.target(path)) for path in item.files())
