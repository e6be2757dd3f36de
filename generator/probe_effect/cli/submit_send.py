"""The last part of `probe-effect submit`: to a folder, a branch or a pull request, as far as this machine can go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.store.places import OWN_FOLDER
from probe_effect.submit import branch as branches
from probe_effect.submit import hub as hubs
from probe_effect.submit import steps
from probe_effect.submit.folder import lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.submit.hub import Hub
    from probe_effect.submit.parcel import Parcel
    from probe_effect.submit.steps import Step


def tell_dry_run(parcels: Sequence[Parcel], checkout: Path | None) -> None:
    """Print what would be made."""
    for parcel in parcels:
        output.product(parcel.branch if checkout else f"{OWN_FOLDER}/data/results/{parcel.machine}")
    output.say("nothing was changed")


def send(parcels: Sequence[Parcel], checkout: Path | None, remote: str | None) -> None:
    """Write the credits, and take the parcels as far as they go; the product is where they are then."""
    for item in (item for parcel in parcels for item in parcel.items):
        item.save()
    if checkout is None:
        _to_folder(parcels)
        return
    cloned = None if remote else hubs.origin(checkout)
    upstream = hubs.upstream(cloned, checkout) if cloned and hubs.is_logged_in(cloned, checkout) else None
    for parcel in parcels:
        if upstream:
            _to_pull_request(parcel, checkout, upstream)
        else:
            _to_branch(parcel, checkout, remote, cloned)


def _to_folder(parcels: Sequence[Parcel]) -> None:
    root = Path.cwd() / OWN_FOLDER
    lay_out([item for parcel in parcels for item in parcel.items], root)
    _show_steps(steps.from_folder(root, hubs.installed_from()))
    output.product(str(root))


def _show_steps(todo: Iterable[Step]) -> None:
    """What is left to be done by hand; each command is whole on a line of its own, so that it can be copied."""
    output.say(click.style("To send it", bold=True))
    for number, (purpose, command) in enumerate(todo, start=1):
        output.say(f"  {number}. {purpose}:\n     {command}")


def _to_branch(parcel: Parcel, checkout: Path, remote: str | None, cloned: Hub | None) -> None:
    branch = _branch(parcel, checkout, remote)
    if remote:
        branches.push(checkout, remote, branch)
    else:
        _show_steps(steps.from_branch(branch, cloned))
    output.product(branch.name)


def _to_pull_request(parcel: Parcel, checkout: Path, upstream: Hub) -> None:
    branch = _branch(parcel, checkout, upstream.git)
    output.product(hubs.send(parcel, branch, upstream, checkout, _body(parcel)))


def _branch(parcel: Parcel, checkout: Path, remote: str | None) -> branches.Branch:
    base = branches.fetched_base(checkout, remote) if remote else branches.local_base(checkout)
    branch = branches.make_branch(parcel, checkout, base, remote)
    output.say(f"{'made' if branch.is_new else 'there already'}: branch {branch.name}")
    return branch


def _body(parcel: Parcel) -> str:
    """The text of the pull request: ids alone, so that nothing in it can mean anything."""
    folders = "".join(f"- `data/results/{item.submission.id}`\n" for item in parcel.items)
    return f"Measured with `probe-effect`, and sound by `probe-effect check`:\n\n{folders}"
