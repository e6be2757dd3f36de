"""The pull request on GitHub, by its command line `gh` if that is installed and logged in, else by hand."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from probe_effect.submit.branch import Branch, Refused, gh, git, push
from probe_effect.submit.bundle import SubmissionBundle

ADDRESS = re.compile(
    r"(?:https://|ssh://git@|git@|git://)(?P<host>[\w.-]+)[/:](?P<owner>[\w-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)
"""The forms of addresses that `git remote` has for a repository on GitHub, or on a similar server."""

GH_LOGS_IN = ("credential.helper=", "credential.helper=!gh auth git-credential")
"""Settings by which git asks `gh` for the password, for one call: the user's settings do not change."""


MAY_NOT_WRITE = re.compile(r"\b(403|404|denied|not found)\b", re.IGNORECASE)
"""Parts of git's message if we may not push to a repository, or it does not exist yet."""

FORK_PATIENCE_S = (2.0, 4.0, 8.0, None)

Step = tuple[str, str]
"""A step that a person does by hand: its purpose, and the command or the address."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on GitHub, `owner/name` on `host`."""

    host: str
    owner: str
    name: str

    @property
    def web(self) -> str:
        """The repository's address for a browser."""
        return f"https://{self.host}/{self.owner}/{self.name}"

    @property
    def git(self) -> str:
        """The repository's address for git."""
        return f"{self.web}.git"


def repository_of(address: str | None) -> Repository | None:
    """The repository of one of git's addresses; None for a folder or an unknown form."""
    found = ADDRESS.fullmatch(address or "")
    return Repository(**found.groupdict()) if found else None


def origin(checkout: Path) -> Repository | None:
    """The repository that the checkout was cloned from, or None."""
    ask = git(checkout)
    written, meant = ask.answer("config", "--get", "remote.origin.url"), ask.answer("remote", "get-url", "origin")
    return repository_of(written) or repository_of(meant)  # `url.<base>.insteadOf` may turn either into the other


def is_logged_in(repository: Repository, checkout: Path) -> bool:
    """Whether `gh` is installed, and logged in at the repository's host."""
    return gh(checkout).answer("auth", "status", "--hostname", repository.host) is not None


def upstream_of(repository: Repository, checkout: Path) -> Repository:
    """The repository that takes the pull request: the parent of a fork, else `repository`. Raises: Refused."""
    source = _asked(checkout, repository, f"repos/{repository.owner}/{repository.name}").get("source")
    return _repository(repository.host, source) if source else repository


def send(bundle: SubmissionBundle, branch: Branch, upstream: Repository, checkout: Path, body: str) -> str:
    """The address of the pull request, opened now for the pushed branch, or open already.

    The branch goes to `upstream` if we may write there; else GitHub makes a fork. Raises: Refused.
    """
    try:
        push(checkout, upstream.git, branch, *GH_LOGS_IN)
        head = branch.name
    except Refused as refusal:
        if not MAY_NOT_WRITE.search(str(refusal)):
            raise
        head = f"{_push_to_fork(branch, upstream, checkout).owner}:{branch.name}"
    # The address of the pull request of `head` that is open already, or None.
    owner = head.partition(":")[0] if ":" in head else upstream.owner
    words = ("pr", "list", "--repo", upstream.web, "--state", "open", "--head", branch.name)
    found = json.loads(gh(checkout)(*words, "--json", "url,headRepositoryOwner") or "[]")
    if known := next((str(one["url"]) for one in found if one["headRepositoryOwner"]["login"] == owner), None):
        return known
    request = ("--repo", upstream.web, "--head", head, "--title", bundle.title, "--body-file", "-")
    return gh(checkout)("pr", "create", *request, text=body).splitlines()[-1]


def installed_from() -> Repository | None:
    """The repository that this program was installed from (PEP 610), or None if it was installed in another way."""
    text = metadata.distribution("probe-effect").read_text("direct_url.json")
    return repository_of(json.loads(text).get("url")) if text else None


def steps_from_branch(branch: Branch, upstream: Repository | None) -> Iterator[Step]:
    """The steps by hand from a branch in a clone to the pull request."""
    if upstream is None:
        yield "push the branch to a repository of yours", f"git push REPOSITORY {branch.name}"
        yield "open a pull request from it, where you cloned from", branch.name
        return
    fork = f"https://{upstream.host}/YOU/{upstream.name}.git"
    yield "make a fork, if you have none", f"{upstream.web}/fork"
    yield "push the branch to it, with your own name for YOU", f"git push {fork} {branch.name}"
    yield "open the pull request", f"{upstream.web}/compare/HEAD...YOU:{branch.name}"


def steps_from_folder(folder: Path, upstream: Repository | None) -> Iterator[Step]:
    """The steps by hand from a folder outside any clone to the pull request."""
    if upstream is None:
        yield "make a fork of the repository of Probe Effect, and clone it", "git clone FORK"
        yield "copy the folder into it", f"cp -R {folder}/data CLONE/"
        yield "commit what was copied, push it, and open a pull request", "git add data/results"
        return
    yield "open this page; GitHub offers to make a fork", f"{upstream.web}/upload/HEAD/"
    yield "drag this folder, with all in it, onto the page", f"{folder / 'data'}"
    yield "choose `Propose changes`, then `Create pull request`", upstream.web


def _push_to_fork(branch: Branch, upstream: Repository, checkout: Path) -> Repository:
    """The fork that has the branch now. GitHub answers before a new fork can be written to, so this waits."""
    place = f"repos/{upstream.owner}/{upstream.name}/forks"
    fork = _repository(upstream.host, _asked(checkout, upstream, "--method", "POST", place))
    for patience_s in FORK_PATIENCE_S:
        try:
            push(checkout, fork.git, branch, *GH_LOGS_IN)
        except Refused as refusal:
            if patience_s is None or not MAY_NOT_WRITE.search(str(refusal)):
                raise
            time.sleep(patience_s)
        else:
            break
    return fork


def _asked(checkout: Path, repository: Repository, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(gh(checkout)("api", "--hostname", repository.host, *words))
    return answer


def _repository(host: str, answer: dict[str, Any]) -> Repository:
    return Repository(host, answer["owner"]["login"], answer["name"])
