"""The pull request on GitHub, through its own command line `gh`, where it is there and logged in."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from probe_effect.submit.branch import push
from probe_effect.submit.programs import Refused, gh, git

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.submit.branch import Branch
    from probe_effect.submit.parcel import Parcel

ADDRESS = re.compile(
    r"(?:https://|ssh://git@|git@|git://)(?P<host>[\w.-]+)[/:](?P<owner>[\w-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)
"""The forms in which `git remote` has a repository of a hub."""

GH_LOGS_IN = ("credential.helper=", "credential.helper=!gh auth git-credential")
"""Have git ask `gh` for the password, for one call: nobody's settings are changed."""


MAY_NOT_WRITE = re.compile(r"\b(403|404|denied|not found)\b", re.IGNORECASE)
"""In git's words when we may not push to a repository, or it is not there yet."""

FORK_PATIENCE_S = (2.0, 4.0, 8.0, None)


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on a hub, `owner/name` on `host`."""

    host: str
    owner: str
    name: str

    @property
    def web(self) -> str:
        """Its address in a browser."""
        return f"https://{self.host}/{self.owner}/{self.name}"

    @property
    def git(self) -> str:
        """Its address for git."""
        return f"{self.web}.git"


def hub_of(address: str | None) -> Hub | None:
    """The repository of an address as git has it; None for a folder or an unknown form."""
    found = ADDRESS.fullmatch(address or "")
    return Hub(found["host"], found["owner"], found["name"]) if found else None


def origin(checkout: Path) -> Hub | None:
    """Where the checkout was cloned from."""
    ask = git(checkout)
    written, meant = ask.answer("config", "--get", "remote.origin.url"), ask.answer("remote", "get-url", "origin")
    return hub_of(written) or hub_of(meant)  # `url.<base>.insteadOf` may turn either into the other


def is_logged_in(hub: Hub, checkout: Path) -> bool:
    """Whether `gh` is there and known to the hub."""
    return gh(checkout).answer("auth", "status", "--hostname", hub.host) is not None


def upstream(hub: Hub, checkout: Path) -> Hub:
    """The repository that takes the pull request: the one that `hub` was forked from, else itself. Raises: Refused."""
    source = _asked(checkout, hub, f"repos/{hub.owner}/{hub.name}").get("source")
    return _hub(hub.host, source) if source else hub


def send(parcel: Parcel, branch: Branch, taker: Hub, checkout: Path, body: str) -> str:
    """Push the branch where we may, open the pull request, and give its address; the one that is open already, if so.

    Who may write to the repository itself pushes there; for everybody else GitHub makes a fork. Raises: Refused.
    """
    try:
        push(checkout, taker.git, branch, *GH_LOGS_IN)
        head = branch.name
    except Refused as refusal:
        if not MAY_NOT_WRITE.search(str(refusal)):
            raise
        head = f"{_push_to_fork(branch, taker, checkout).owner}:{branch.name}"
    known = _open_request(taker, branch, head, checkout)
    return known or _new_request(parcel, taker, head, checkout, body)


def installed_from() -> Hub | None:
    """The repository that this program was installed from (PEP 610), or None when it came another way."""
    text = metadata.distribution("probe-effect").read_text("direct_url.json")
    return hub_of(json.loads(text).get("url")) if text else None


def _push_to_fork(branch: Branch, taker: Hub, checkout: Path) -> Hub:
    """The fork that the branch is in now. GitHub answers before a new fork can be written to."""
    fork = _hub(taker.host, _asked(checkout, taker, "--method", "POST", f"repos/{taker.owner}/{taker.name}/forks"))
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


def _open_request(taker: Hub, branch: Branch, head: str, checkout: Path) -> str | None:
    """The pull request of `head` that is open already."""
    owner = head.partition(":")[0] if ":" in head else taker.owner
    words = ("pr", "list", "--repo", taker.web, "--state", "open", "--head", branch.name)
    found = json.loads(gh(checkout)(*words, "--json", "url,headRepositoryOwner") or "[]")
    return next((str(one["url"]) for one in found if one["headRepositoryOwner"]["login"] == owner), None)


def _new_request(parcel: Parcel, taker: Hub, head: str, checkout: Path, body: str) -> str:
    words = ("pr", "create", "--repo", taker.web, "--head", head, "--title", parcel.title, "--body-file", "-")
    return gh(checkout)(*words, text=body).splitlines()[-1]


def _asked(checkout: Path, hub: Hub, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(gh(checkout)("api", "--hostname", hub.host, *words))
    return answer


def _hub(host: str, answer: dict[str, Any]) -> Hub:
    return Hub(host, answer["owner"]["login"], answer["name"])
