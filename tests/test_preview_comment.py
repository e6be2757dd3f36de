"""The preview comment: which pull request it goes to, and that a hostile artefact gets nowhere. `gh` is a fake."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from builders import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = PROJECT / ".ci" / "fetch_review.py"
SHA = "1" * 40
REVIEW = b'{"submissions": []}'

FAKE = """#!{python}
import json, sys
from pathlib import Path
folder = Path({folder!r})
address = sys.argv[-1]
with (folder / "calls").open("a") as calls:
    calls.write(address + "\\n")
answers = json.loads((folder / "answers.json").read_text())
key = next((key for key in answers if key in address), None)
if key is None:
    sys.exit("gh: Not Found (HTTP 404)")
if key == "/zip":
    sys.stdout.buffer.write((folder / "artefact.zip").read_bytes())
else:
    print(json.dumps(answers[key]))
"""


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


@dataclass
class Hub:
    """What GitHub would answer about pull request 7."""

    folder: Path
    pulls: list[Any] = field(default_factory=lambda: [{"number": 7, "head": {"sha": SHA}}])
    files: list[Any] = field(default_factory=lambda: [[{"filename": "data/results/a/b/samples.csv"}]])
    size: int = 300
    artefact: bytes = zipped("review.json", REVIEW)

    def fetch(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the script against it."""
        artefacts = {"artifacts": [{"id": 5, "name": "review", "size_in_bytes": self.size}]}
        answers = {"/pulls?": self.pulls, "/files": self.files, "/artifacts?": artefacts, "/zip": None}
        (self.folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        (self.folder / "artefact.zip").write_bytes(self.artefact)
        gh = self.folder / "gh"
        gh.write_text(FAKE.format(python=sys.executable, folder=str(self.folder)), encoding="utf-8")
        gh.chmod(0o755)
        given = {"REPOSITORY": "o/r", "RUN": "3", "HEAD_OWNER": "ada", "HEAD_BRANCH": "submit/x", "HEAD_SHA": SHA}
        return subprocess.run(
            [sys.executable, str(SCRIPT), str(self.folder / "out")],
            env={"PATH": f"{self.folder}:{os.environ['PATH']}", **given, **environment},
            check=False,
            capture_output=True,
            text=True,
        )

    @property
    def written(self) -> bytes | None:
        """The review that it left."""
        path = self.folder / "out" / "review.json"
        return path.read_bytes() if path.is_file() else None


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    return Hub(tmp_path)


def test_the_review_goes_to_the_pull_request_of_that_branch_and_commit(hub: Hub) -> None:
    ran = hub.fetch()
    assert (ran.stdout, ran.returncode, hub.written) == ("pull-request=7\n", 0, REVIEW)


def test_a_branch_with_a_strange_name_stays_one_word_of_the_question(hub: Hub) -> None:
    hub.fetch(HEAD_BRANCH="x&state=closed\n; touch hacked")
    asked = (hub.folder / "calls").read_text(encoding="utf-8").splitlines()[0]
    assert asked == "repos/o/r/pulls?state=open&head=ada%3Ax%26state%3Dclosed%0A%3B+touch+hacked"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pulls": []}, "no open pull request"),
        ({"pulls": [{"number": 7, "head": {"sha": "2" * 40}}]}, "no open pull request"),
        ({"files": [[{"filename": "data/a"}], [{"filename": "Makefile"}]]}, "changes 1 files beside data"),
        ({"files": [[{"filename": "data/run", "previous_filename": ".ci/run"}]]}, "changes 1 files beside data"),
        ({"files": [[{"filename": "database/x"}]]}, "changes 1 files beside data"),
        ({"size": (256 << 10) + 1}, "no review of at most"),
        ({"artefact": b"no zip at all"}, "no review of at most"),
        ({"artefact": zipped("../../review.json", REVIEW)}, "no review of at most"),
        ({"artefact": zipped("review.json", bytes(64 << 20))}, "no review of at most"),
    ],
)
def test_none_is_due_where_something_is_not_as_it_should_be(hub: Hub, changes: dict[str, Any], reason: str) -> None:
    for name, value in changes.items():
        setattr(hub, name, value)
    ran = hub.fetch()
    assert (ran.stdout, ran.returncode, hub.written) == ("", 0, None)
    assert reason in ran.stderr


def test_a_question_that_github_does_not_answer_ends_it(hub: Hub) -> None:
    (hub.folder / "out").mkdir()
    hub.files = []
    ran = hub.fetch(REPOSITORY="o/r", RUN="3", HEAD_SHA=SHA)
    assert ran.stdout == "pull-request=7\n"  # no files changed: nothing beside data
    (hub.folder / "gh").write_text("#!/bin/sh\nexit 4\n", encoding="utf-8")
    environment = {"PATH": f"{hub.folder}:{os.environ['PATH']}", "REPOSITORY": "o/r", "RUN": "3"}
    environment |= {"HEAD_OWNER": "ada", "HEAD_BRANCH": "x", "HEAD_SHA": SHA}
    failed = subprocess.run(
        [sys.executable, str(SCRIPT), "out"],
        env=environment,
        cwd=hub.folder,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (failed.stdout, failed.returncode) == ("", 1)
    assert "failed with 4" in failed.stderr


COMMENT_GH = """#!/bin/sh
echo "$@" >> calls
case "$*" in *--paginate*) cat standing ;; esac
"""


@pytest.mark.parametrize(
    ("standing", "call"),
    [
        ("", "api --silent --method POST repos/o/r/issues/7/comments --field body=@body.md"),
        ("42\n43\n", "api --silent --method PATCH repos/o/r/issues/comments/42 --field body=@body.md"),
    ],
)
def test_one_comment_stands_and_is_written_anew(tmp_path: Path, standing: str, call: str) -> None:
    workflow = yaml.safe_load((PROJECT / ".github/workflows/preview-comment.yml").read_text(encoding="utf-8"))
    script = workflow["jobs"]["write"]["steps"][-1]["run"]
    (tmp_path / "comment.md").write_text("What would change.\n", encoding="utf-8")
    (tmp_path / "standing").write_text(standing, encoding="utf-8")
    (tmp_path / "gh").write_text(COMMENT_GH, encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "REPOSITORY": "o/r", "PULL_REQUEST": "7"}
    subprocess.run(["/bin/bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines()[-1] == call
    body = (tmp_path / "body.md").read_text(encoding="utf-8")
    assert body == "<!-- probe-effect review -->\n\nWhat would change.\n"
