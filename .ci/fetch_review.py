"""Fetches what a run of submission.yml says of its pull request, for preview-comment.yml.

    python3 .ci/fetch_review.py FOLDER     writes FOLDER/review.json, prints `pull-request=NUMBER`; or prints nothing
                                           where no comment is due, with the reason on standard error

Takes REPOSITORY and RUN, and HEAD_OWNER, HEAD_BRANCH and HEAD_SHA of the branch, from the environment; `gh` takes
GH_TOKEN. The run was of a stranger's branch: which pull request it belongs to is asked of GitHub, never of the file,
and the file is read up to a limit, from an archive that is never unpacked.
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
from urllib.parse import urlencode

LIMIT_BYTES = 256 << 10
DATA = "data/"


def api(address: str, *options: str) -> bytes:
    """What `gh api` answers. Exits with its message when it fails."""
    command = ["gh", "api", *options, address]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if answer.returncode:
        sys.exit(f"gh api {address}: failed with {answer.returncode}")
    return answer.stdout


def pages(address: str) -> list[dict[str, object]]:
    """All items of a list that comes in pages."""
    return [item for page in json.loads(api(address, "--paginate", "--slurp")) for item in page]


def pull_request(repository: str, head: str, commit: str) -> int | None:
    """The open pull request of that `owner:branch` whose newest commit is the one that was reviewed."""
    query = urlencode({"state": "open", "head": head})
    found = json.loads(api(f"repos/{repository}/pulls?{query}"))
    numbers = [int(one["number"]) for one in found if one["head"]["sha"] == commit]
    return numbers[0] if len(numbers) == 1 else None


def beyond_data(repository: str, number: int) -> list[str]:
    """What it changes beside data, which may have changed what writes the review."""
    files = pages(f"repos/{repository}/pulls/{number}/files?per_page=100")
    names = [str(name) for one in files for name in (one["filename"], one.get("previous_filename")) if name]
    return [name for name in names if not name.startswith(DATA)]


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
    repository, head = given["REPOSITORY"], f"{given['HEAD_OWNER']}:{given['HEAD_BRANCH']}"
    number = pull_request(repository, head, given["HEAD_SHA"])
    if number is None:
        sys.stderr.write("no open pull request has that commit as its newest\n")
    elif names := beyond_data(repository, number):
        sys.stderr.write(f"pull request {number} changes {len(names)} files beside data: no comment\n")
    elif (content := review(repository, given["RUN"])) is None:
        sys.stderr.write(f"run {given['RUN']} kept no review of at most {LIMIT_BYTES} bytes\n")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "review.json").write_bytes(content)
        sys.stdout.write(f"pull-request={number}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
