"""What a person does by hand where no program does it: purpose, and the command or the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.submit.branch import Branch
    from probe_effect.submit.hub import Hub

Step = tuple[str, str]


def from_branch(branch: Branch, taker: Hub | None) -> Iterator[Step]:
    """From a branch in a clone to the pull request."""
    if taker is None:
        yield "push the branch to a repository of yours", f"git push REPOSITORY {branch.name}"
        yield "open a pull request from it, where you cloned from", branch.name
        return
    yield "make a fork, if you have none", f"{taker.web}/fork"
    yield "push the branch to it, with your own name for YOU", _push(branch, taker)
    yield "open the pull request", f"{taker.web}/compare/HEAD...YOU:{branch.name}"


def from_folder(folder: Path, taker: Hub | None) -> Iterator[Step]:
    """From a folder outside any clone to the pull request."""
    if taker is None:
        yield "make a fork of the repository of Probe Effect, and clone it", "git clone FORK"
        yield "copy the folder into it", f"cp -R {folder}/data CLONE/"
        yield "commit what was copied, push it, and open a pull request", "git add data/results"
        return
    yield "open this page; GitHub offers to make a fork", f"{taker.web}/upload/HEAD/"
    yield "drag this folder, with all in it, onto the page", f"{folder / 'data'}"
    yield "choose `Propose changes`, then `Create pull request`", taker.web


def _push(branch: Branch, taker: Hub) -> str:
    return f"git push https://{taker.host}/YOU/{taker.name}.git {branch.name}"
