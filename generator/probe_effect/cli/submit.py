"""`probe-effect submit`: from what was measured to a pull request, or to a folder that can be sent by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.checks import run
from probe_effect.cli import output
from probe_effect.cli.measure_settings import credited
from probe_effect.cli.places import data_folder, data_option, given_folders
from probe_effect.cli.submit_display import show_parcel, show_persons
from probe_effect.cli.submit_send import send, tell_dry_run
from probe_effect.errors import BadData, UsageError
from probe_effect.store.places import DataFolder, Submission
from probe_effect.submit import branch as branches
from probe_effect.submit.parcel import read_parcels, unpublished
from probe_effect.submit.private import find_private, marks_of_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.submit.parcel import Parcel


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]...")
@click.option("--name", help="Name to credit, shown on the pages of your machine.")
@click.option("--no-name", "nameless", is_flag=True, help="Credit nobody, and ask nothing.")
@click.option("--remote", metavar="REPOSITORY", help="Push the branch there, by name or address, and do no more.")
@click.option("--dry-run", is_flag=True, help="Show all and look at all, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask whether to go on.")
@click.option(
    "--allow", "allowed", multiple=True, metavar="WORD", help="A word that is a name here too, and may be published."
)
@data_option
def submit(  # noqa: PLR0917 (click passes them by name)
    folders: tuple[Path, ...],
    name: str | None,
    nameless: bool,  # noqa: FBT001
    remote: str | None,
    dry_run: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
    allowed: tuple[str, ...],
    data_path: Path | None,
) -> None:
    """Propose the submissions in DIR for publication; without DIR, all that are not published yet.

    Shows what becomes public, looks for names of this machine and its user in it, and checks it. In a clone it then
    makes a branch with one commit for each machine, and the pull request where `gh` is logged in. The working tree
    stays as it is. Without `gh`, and outside a clone, it says what is left to be done by hand.

    \b
    Example: probe-effect submit --name "Your Name"
    Example: probe-effect submit data/results/my-machine/2026-11-20-per-event --no-name
    """  # noqa: D301 (click reads the \b)
    if name is not None and nameless:
        msg = "--name and --no-name: one of them"
        raise click.UsageError(msg)
    credited(name, None)
    data = data_folder(data_path, may_be_new=bool(folders))
    checkout = branches.checkout_of(data.root)
    if remote and checkout is None:
        msg = f"{data.root}: is in no clone, so nothing can be pushed. Clone the repository, or leave out --remote."
        raise UsageError(msg)
    asks = sys.stdin.isatty() and not dry_run
    parcels = _parcels(folders, data, checkout)
    if not parcels:
        output.progress.print(f"{data.results}: all in it is published already", markup=False)
        return
    for parcel in parcels:
        show_parcel(parcel)
    looked_for = _look_for_private(parcels, (*allowed, name or ""), data)
    if name is not None or nameless:
        parcels = [one.credited(name) for one in parcels]
    elif asks and not any(item.credit for one in parcels for item in one.items):
        parcels = [one.credited(_asked_name()) for one in parcels]
    credits_ = [item.credit for one in parcels for item in one.items]
    show_persons(credits_, branches.author(checkout) if checkout else None, looked_for)
    if dry_run:
        tell_dry_run(parcels, checkout)
        return
    if asks and not yes:
        click.confirm("Go on?", default=True, abort=True, err=True)
    send(parcels, checkout, remote)


def _parcels(folders: Sequence[Path], data: DataFolder, checkout: Path | None) -> list[Parcel]:
    """What is to be submitted, checked. Raises: BadData, UsageError."""
    chosen = _named(folders) if folders else _found(data, checkout)
    problems = [problem for one in chosen for problem in run.check([one.folder], _beside(one, data, checkout))]
    if any(problem.severity == "error" for problem in problems):
        raise BadData(problems)
    output.show_problems(problems)
    return read_parcels(chosen, data)


def _beside(one: Submission, data: DataFolder, checkout: Path | None) -> DataFolder:
    """The data with which a submission is compared: outside a clone those around it, for ours may have its copy."""
    return data if checkout or one.folder.is_relative_to(data.root) else DataFolder(one.folder.parents[2])


def _named(folders: Sequence[Path]) -> list[Submission]:
    """The submissions at or below the folders that were named."""
    found = [
        Submission(path.parent)
        for folder in given_folders(tuple(folders))
        for path in sorted(folder.resolve().rglob(Submission(folder).machine_file.name))
    ]
    if not found:
        msg = (
            f"{folders[0]}: holds no submission. Expected a folder such as the one that `probe-effect measure` prints."
        )
        raise UsageError(msg)
    return list(dict.fromkeys(found))


def _found(data: DataFolder, checkout: Path | None) -> list[Submission]:
    """What is complete and not published yet."""
    base = branches.published(checkout, branches.local_base(checkout)) if checkout else set()
    complete, unfinished = unpublished(data, base)
    for one in unfinished:
        output.progress.print(
            f"left out: {one.folder} is not complete; probe-effect measure --resume goes on with it", markup=False
        )
    if not complete and (unfinished or not base):
        msg = f"{data.results}: holds nothing that is complete. Measure first: probe-effect measure"
        raise UsageError(msg)
    return complete


def _look_for_private(parcels: Sequence[Parcel], allowed: Sequence[str], data: DataFolder) -> int:
    """How many names of this machine were looked for. Raises: BadData when one is there."""
    marks = marks_of_host()
    problems = find_private([item for one in parcels for item in one.items], marks, allowed, data)
    if problems:
        raise BadData(problems)
    return len(marks)


def _asked_name() -> str | None:
    """The name that is given at the terminal."""
    answer = click.prompt("Name to credit (none: leave it empty)", default="", show_default=False, err=True)
    return credited(answer.strip() or None, None).name
