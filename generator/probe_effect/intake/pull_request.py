"""A branch with one commit on it, the files of a bundle on top of a base, and its pull request on GitHub.

The request is made by the command line `gh` if that is installed and logged in, else by hand.
Neither the working tree nor the index of the checkout is touched: trees are made in an index of our own.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Any

from probe_effect.intake.bundle import IN_REPOSITORY, SubmissionBundle
from probe_effect.model import HostNotReady, ProbeEffectError, UsageError

ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"})
"""Variables that would make git use another repository than the folder's."""


class Refused(ProbeEffectError):
    """A program failed; the message has the end of its output."""


@dataclass(frozen=True, slots=True)
class FolderProgram:
    """A program that is called in one folder."""

    name: str
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further variables of the program's environment."""

    def __call__(self, *words: str | Path, text: str = "") -> str:
        """What it prints for `text` as its input, without the last newline. Raises: HostNotReady, Refused."""
        program = shutil.which(self.name)
        if program is None:
            raise HostNotReady(
                f"{self.name}: not found on the PATH. Install it, or send the folder by hand: --dry-run has the steps."
            )
        command, own = [program, *map(str, words)], {"LC_ALL": "C", **self.settings}  # its words are in one language
        env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE} | own
        done = subprocess.run(command, cwd=self.folder, env=env, input=text.encode(), capture_output=True, check=False)
        if done.returncode:
            complaint = done.stderr.decode("utf-8", errors="replace").strip() or f"ended with {done.returncode}"
            raise Refused(f"{self.name} {words[0]}: {complaint}")
        return done.stdout.decode("utf-8", errors="replace").removesuffix("\n")

    def answer(self, *words: str | Path) -> str | None:
        """The program's output, or None if it is not installed or fails."""
        try:
            return self(*words)
        except (HostNotReady, Refused):
            return None


def git(folder: Path, **settings: str) -> FolderProgram:
    return FolderProgram("git", folder, settings)


def gh(folder: Path) -> FolderProgram:
    return FolderProgram("gh", folder, {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"})


PLAIN_FILE = "100644"


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch that holds a bundle."""

    name: str
    commit: str
    is_new: bool


def checkout_of(data: Path) -> Path | None:
    """The git checkout that has this folder as its `data/`, or None."""
    parent = data.resolve().parent
    return parent if data.resolve().name == "data" and (parent / ".git").exists() else None


def published(checkout: Path, base: str) -> set[str]:
    """Ids of the submissions that the commit `base` has."""
    names = git(checkout)("ls-tree", "-r", "-z", "--name-only", base, "--", f"{IN_REPOSITORY}/").split("\0")
    return {"/".join(parts[2:4]) for parts in (name.split("/") for name in names) if len(parts) == 5}


def local_base(checkout: Path) -> str:
    """The commit that others have, as far as this clone knows: the remote's default branch, else our own."""
    ask = git(checkout)
    commit = ask.answer("rev-parse", "--verify", "--quiet", "refs/remotes/origin/HEAD^{commit}")
    return commit or ask("rev-parse", "--verify", "HEAD^{commit}")


def fetched_base(checkout: Path, remote: str) -> str:
    """The commit at the tip of the default branch of `remote`, fetched now. Raises: UsageError, Refused."""
    if remote.startswith("-"):
        raise UsageError(f"{remote}: is no remote. Expected a name of `git remote`, a web address or a folder.")
    ask = git(checkout)
    ask("fetch", "--quiet", "--no-tags", remote, "HEAD")
    return ask("rev-parse", "--verify", "FETCH_HEAD^{commit}")


def author(checkout: Path) -> str:
    """`Name <address>` that the commit will carry in public. Raises: HostNotReady when git has none.

    git may not make up an address: it would use the names of user and host.
    """
    ask = git(checkout)
    try:
        ask("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
        return ask("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT").rsplit(" ", 2)[0]
    except Refused as error:
        raise HostNotReady(
            "git: does not know who you are, and a commit names its author in public. Tell it:\n"
            '  git config --global user.name "NAME"\n'
            "  git config --global user.email ADDRESS\n"
            "GitHub has an address for this that is not your own: Settings, Emails, `noreply`."
        ) from error


def make_branch(bundle: SubmissionBundle, checkout: Path, base: str, remote: str | None) -> Branch:
    """The branch of `bundle` on top of `base`, made now, or before if the same was submitted before.

    If a branch of that name has other files, here or at `remote`, it is called `..-2` and so on.
    Raises: HostNotReady, Refused, ProbeEffectError when `base` has one of its folders already.
    """
    ask = git(checkout)
    # The object of each file, byte for byte, by the file's path in the repository.
    files = {
        item.target(path): ask("hash-object", "-w", "--no-filters", "--", path.resolve())
        for item in bundle.items
        for path in item.files()
    }
    taken = sorted(published(checkout, base) & {item.submission.id for item in bundle.items})
    if taken:
        raise ProbeEffectError(
            f"{IN_REPOSITORY}/{taken[0]}: is published already, and a run is never changed once it is. "
            f"For another run of that day, rename its folder: {taken[0].rpartition('/')[2]}-2"
        )
    for number in count(1):
        name = bundle.branch if number == 1 else f"{bundle.branch}-{number}"
        # The commits that a branch of this name is at, here and at the remote.
        here = ask.answer("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
        there = [here] if here else []
        if remote and ask("ls-remote", remote, f"refs/heads/{name}"):
            ask("fetch", "--quiet", "--no-tags", remote, f"refs/heads/{name}")
            there.append(ask("rev-parse", "--verify", "FETCH_HEAD^{commit}"))
        if not there:
            return Branch(name, _commit(bundle, files, checkout, base, name), is_new=True)
        # The same was submitted before where these files are all that its commits have in their folders.
        folders = sorted({path.rpartition("/")[0] + "/" for path in files})
        held = [set(ask("ls-tree", "-r", "-z", tip, "--", *folders).rstrip("\0").split("\0")) for tip in there]
        if all(listing == {f"{PLAIN_FILE} blob {made}\t{path}" for path, made in files.items()} for listing in held):
            return Branch(name, there[0], is_new=False)
    raise AssertionError


def push(checkout: Path, remote: str, branch: Branch, *settings: str) -> None:
    """Push the branch to `remote`; `settings` are git's own for this call, as `-c` takes them. Raises: Refused."""
    words = [word for setting in settings for word in ("-c", setting)]
    git(checkout)(*words, "push", "--quiet", remote, f"{branch.commit}:refs/heads/{branch.name}")


def _commit(bundle: SubmissionBundle, files: Mapping[str, str], checkout: Path, base: str, name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        ask = git(checkout, GIT_INDEX_FILE=str(Path(folder) / "index"))
        ask("read-tree", base)
        entries = "".join(f"{PLAIN_FILE} {made}\t{path}\n" for path, made in files.items())
        ask("update-index", "--add", "--index-info", text=entries)
        tree = ask("write-tree")
    ask = git(checkout)
    commit = ask("-c", "user.useConfigOnly=true", "commit-tree", tree, "-p", base, text=f"{bundle.title}\n")
    ask("update-ref", f"refs/heads/{name}", commit, "")  # which must not exist yet
    return commit


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
        return f"https://{self.host}/{self.owner}/{self.name}"

    @property
    def git(self) -> str:
        return f"{self.web}.git"


def repository_of(address: str | None) -> Repository | None:
    match = ADDRESS.fullmatch(address or "")
    return Repository(**match.groupdict()) if match else None


def origin(checkout: Path) -> Repository | None:
    ask = git(checkout)
    written, meant = ask.answer("config", "--get", "remote.origin.url"), ask.answer("remote", "get-url", "origin")
    return repository_of(written) or repository_of(meant)  # `url.<base>.insteadOf` may turn either into the other


def is_logged_in(repository: Repository, checkout: Path) -> bool:
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
    pull_requests = json.loads(gh(checkout)(*words, "--json", "url,headRepositoryOwner") or "[]")
    if address := next(
        (
            str(pull_request["url"])
            for pull_request in pull_requests
            if pull_request["headRepositoryOwner"]["login"] == owner
        ),
        None,
    ):
        return address
    request = ("--repo", upstream.web, "--head", head, "--title", bundle.title, "--body-file", "-")
    return gh(checkout)("pr", "create", *request, text=body).splitlines()[-1]


def installed_from() -> Repository | None:
    """The repository that this program was installed from (PEP 610), or None if it was installed in another way."""
    text = metadata.distribution("probe-effect").read_text("direct_url.json")
    return repository_of(json.loads(text).get("url")) if text else None


def steps_from_branch(branch: Branch, upstream: Repository | None) -> Iterator[Step]:
    if upstream is None:
        yield "push the branch to a repository of yours", f"git push REPOSITORY {branch.name}"
        yield "open a pull request from it, where you cloned from", branch.name
        return
    fork = f"https://{upstream.host}/YOU/{upstream.name}.git"
    yield "make a fork, if you have none", f"{upstream.web}/fork"
    yield "push the branch to it, with your own name for YOU", f"git push {fork} {branch.name}"
    yield "open the pull request", f"{upstream.web}/compare/HEAD...YOU:{branch.name}"


def steps_from_folder(folder: Path, upstream: Repository | None) -> Iterator[Step]:
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
    endpoint = f"repos/{upstream.owner}/{upstream.name}/forks"
    fork = _repository(upstream.host, _asked(checkout, upstream, "--method", "POST", endpoint))
    for patience_s in FORK_PATIENCE_S:
        try:
            push(checkout, fork.git, branch, *GH_LOGS_IN)
            break
        except Refused as refusal:
            if patience_s is None or not MAY_NOT_WRITE.search(str(refusal)):
                raise
            time.sleep(patience_s)
    return fork


def _asked(checkout: Path, repository: Repository, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(gh(checkout)("api", "--hostname", repository.host, *words))
    return answer


def _repository(host: str, answer: dict[str, Any]) -> Repository:
    return Repository(host, answer["owner"]["login"], answer["name"])
