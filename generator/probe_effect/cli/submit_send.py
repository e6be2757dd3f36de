"""The last part of `probe-effect submit`: to a folder, a branch or a pull request, as far as this machine can go."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.store.places import OWN_FOLDER
from probe_effect.submit import branch as branches
from probe_effect.submit import github
from probe_effect.submit.bundle import IN_REPOSITORY, SubmissionBundle, lay_out
from probe_effect.submit.github import Step


def tell_dry_run(bundles: Sequence[SubmissionBundle], checkout: Path | None) -> None:
    """Print what would be made."""
    for bundle in bundles:
        output.product(bundle.branch if checkout else f"{OWN_FOLDER}/data/results/{bundle.machine}")
    output.say("nothing was changed")


def send(bundles: Sequence[SubmissionBundle], checkout: Path | None, remote: str | None, *, here: bool) -> None:
    """Write the credits, and take the bundles as far as they go; the product is where they are then.

    `here`: whether the repository that was cloned takes the pull request, and not what it was forked from.
    """
    for item in (item for bundle in bundles for item in bundle.items):
        item.save()
    if checkout is None:
        root = Path.cwd() / OWN_FOLDER
        lay_out([item for bundle in bundles for item in bundle.items], root)
        _show_steps(github.steps_from_folder(root, github.installed_from()))
        output.product(str(root))
        return
    cloned = None if remote else github.origin(checkout)
    upstream = None
    if cloned and github.is_logged_in(cloned, checkout):  # else the pull request is made by hand
        upstream = cloned if here else github.upstream_of(cloned, checkout)
    for bundle in bundles:
        branch = _branch(bundle, checkout, upstream.git if upstream else remote)
        if upstream:
            output.product(github.send(bundle, branch, upstream, checkout, _body(bundle)))
            continue
        if remote:
            branches.push(checkout, remote, branch)
        else:
            _show_steps(github.steps_from_branch(branch, cloned))
        output.product(branch.name)


def _show_steps(todo: Iterable[Step]) -> None:
    """What is left to be done by hand; each command is whole on a line of its own, so that it can be copied."""
    output.say(click.style("To send it", bold=True))
    for number, (purpose, command) in enumerate(todo, start=1):
        output.say(f"  {number}. {purpose}:\n     {command}")


def _branch(bundle: SubmissionBundle, checkout: Path, remote: str | None) -> branches.Branch:
    base = branches.fetched_base(checkout, remote) if remote else branches.local_base(checkout)
    branch = branches.make_branch(bundle, checkout, base, remote)
    output.say(f"{'made' if branch.is_new else 'there already'}: branch {branch.name}")
    output.say(f"to see what it holds:\n  git show --stat {branch.name}")
    # git leaves no branch, and goes to none, over files that it does not track
    adding = " ".join(["git add", *(f":/{IN_REPOSITORY}/{item.submission.id}" for item in bundle.items)])
    output.say(f"to go to it, have git know that the files are here too:\n  {adding} && git checkout {branch.name}")
    return branch


def _body(bundle: SubmissionBundle) -> str:
    """The text of the pull request: ids alone, so that nothing in it can mean anything."""
    folders = "".join(f"- `data/results/{item.submission.id}`\n" for item in bundle.items)
    return f"Measured with `probe-effect`, and sound by `probe-effect check`:\n\n{folders}"
