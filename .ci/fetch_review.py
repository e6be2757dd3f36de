"""Fetches what a run of submission.yml says of its pull request, for preview-comment.yml.

    python3 .ci/fetch_review.py FOLDER     writes FOLDER/review.json, prints `pull-request=NUMBER`; or prints nothing
                                           where no comment is due, with the reason on standard error

Takes REPOSITORY and RUN, and HEAD_OWNER, HEAD_BRANCH and HEAD_SHA of the branch, from the environment; `gh` takes
GH_TOKEN. The run was of a stranger's branch: which pull request it belongs to is asked of GitHub, never of the file,
and the file is read up to a limit, from an archive that is never unpacked.

What a pull request changes is asked of the commit that was run and not of the pull request, which a push can give
another list in between. GitHub cuts such a list at 300 files, so it counts only when it is as long as GitHub says that
it is; and the pull request must have the same commit afterwards.
"""  # noqa: INP001 (a script, and no package)

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

LIMIT_BYTES = 256 << 10
MOST_FILES = 300
"""Longer lists are cut: https://docs.github.com/rest/commits/commits#compare-two-commits"""
DATA = "data/"


def api(address: str, *options: str) -> bytes:
    """What `gh api` answers. Exits with its message when it fails."""
    command = ["gh", "api", *options, address]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if answer.returncode:
        sys.exit(f"gh api {address}: failed with {answer.returncode}")
    return answer.stdout


def open_pull_request(repository: str, head: str, commit: str) -> dict[str, Any] | None:
    """The open pull request of that `owner:branch` whose newest commit is the one that was reviewed."""
    query = urlencode({"state": "open", "head": head})
    found = json.loads(api(f"repos/{repository}/pulls?{query}"))
    numbers = [int(one["number"]) for one in found if one["head"]["sha"] == commit]
    if len(numbers) != 1:
        return None
    # The list says less of each than the pull request's own address does: not how many files it changes.
    pull: dict[str, Any] = json.loads(api(f"repos/{repository}/pulls/{numbers[0]}"))
    return pull if (pull["state"], pull["head"]["sha"]) == ("open", commit) else None


def changed_files(repository: str, pull: dict[str, Any]) -> list[str] | None:
    """Every name that its commit changes, before and after; None where GitHub does not list them all."""
    compared = f"{quote(pull['base']['ref'], safe='')}...{pull['head']['sha']}"
    files = json.loads(api(f"repos/{repository}/compare/{compared}"))["files"]
    if len(files) != pull["changed_files"] or len(files) > MOST_FILES:
        return None
    return [str(name) for one in files for name in (one["filename"], one.get("previous_filename")) if name]


def refusal(repository: str, pull: dict[str, Any]) -> str | None:
    """Why what ran may have been another program than ours: it changes more than data."""
    names = changed_files(repository, pull)
    if names is None:
        return f"changes {pull['changed_files']} files, which GitHub does not list in full"
    beyond = [name for name in names if not name.startswith(DATA)]
    return f"changes {len(beyond)} files beside data" if beyond else None


def review(repository: str, run: str) -> bytes | None:
    """The bytes of `review.json` in the run's artefact `review`; None where there is none, or too much."""
    found = json.loads(api(f"repos/{repository}/actions/runs/{run}/artifacts?name=review"))["artifacts"]
    fitting = [one["id"] for one in found if one["name"] == "review" and one["size_in_bytes"] <= LIMIT_BYTES]
    if len(fitting) != 1:
        return None
    packed = api(f"repos/{repository}/actions/artifacts/{int(fitting[0])}/zip")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open("review.json") as file:
            content = file.read(LIMIT_BYTES + 1)  # however much it would unpack to
    # Also an archive that is encrypted or packed in a way that zipfile does not know.
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        sys.stderr.write(f"the artefact is no archive with review.json: {error!r}\n")
        return None
    return content if len(content) <= LIMIT_BYTES else None


def main(folder: Path) -> None:
    """Write the file and print the number, or say why not."""
    given = os.environ
    repository, commit = given["REPOSITORY"], given["HEAD_SHA"]
    head = f"{given['HEAD_OWNER']}:{given['HEAD_BRANCH']}"
    pull = open_pull_request(repository, head, commit)
    if pull is None:
        sys.stderr.write("no open pull request has that commit as its newest\n")
    elif reason := refusal(repository, pull):
        sys.stderr.write(f"pull request {pull['number']} {reason}: no comment\n")
    elif (content := review(repository, given["RUN"])) is None:
        sys.stderr.write(f"run {given['RUN']} kept no review of at most {LIMIT_BYTES} bytes\n")
    elif open_pull_request(repository, head, commit) is None:
        sys.stderr.write(f"pull request {pull['number']} has changed meanwhile: its next run says more\n")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "review.json").write_bytes(content)
        sys.stdout.write(f"pull-request={int(pull['number'])}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
