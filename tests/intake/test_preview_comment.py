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

from helpers.builders import PROJECT

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
with (folder / "calls").open("a+") as calls:
    calls.seek(0)
    before = calls.read().splitlines()
    calls.write(address + "\\n")
answers = json.loads((folder / "answers.json").read_text())
key = next((key for key in answers if key in address), None)
if key is None:
    sys.exit("gh: Not Found (HTTP 404)")
if key == "/zip":
    sys.stdout.buffer.write((folder / "artefact.zip").read_bytes())
else:
    several = answers[key]
    print(json.dumps(several[min(sum(key in one for one in before), len(several) - 1)]))
"""


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def pull(commit: str = SHA, changed_files: int = 1, state: str = "open") -> dict[str, Any]:
    """The pull request 7, as its own address says it."""
    return {
        "number": 7,
        "state": state,
        "head": {"sha": commit},
        "base": {"ref": "main"},
        "changed_files": changed_files,
    }


def changing(*names: str) -> list[dict[str, str]]:
    return [{"filename": name} for name in names]


@dataclass
class Hub:
    """What GitHub would answer about pull request 7: `pulls` one time after the other, the last one ever after."""

    folder: Path
    listed: list[Any] = field(default_factory=lambda: [{"number": 7, "head": {"sha": SHA}}])
    pulls: list[Any] = field(default_factory=lambda: [pull()])
    files: list[Any] = field(default_factory=lambda: changing("data/results/a/b/samples.csv"))
    size: int = 300
    artefact: bytes = zipped("review.json", REVIEW)

    def fetch(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the script against it."""
        artefacts = {"artifacts": [{"id": 5, "name": "review", "size_in_bytes": self.size}]}
        answers = {
            "/pulls?": [self.listed],
            "/pulls/7": self.pulls,
            f"/compare/main...{SHA}": [{"files": self.files}],
            "/artifacts?": [artefacts],
            "/zip": None,
        }
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
        ({"listed": []}, "no open pull request"),
        ({"listed": [{"number": 7, "head": {"sha": "2" * 40}}]}, "no open pull request"),
        ({"pulls": [pull("2" * 40)]}, "no open pull request"),
        ({"pulls": [pull(state="closed")]}, "no open pull request"),
        ({"pulls": [pull(), pull("2" * 40)]}, "has changed meanwhile"),
        ({"files": changing("Makefile")}, "changes 1 files beside data"),
        ({"files": changing("data/a", "Makefile"), "pulls": [pull(changed_files=2)]}, "changes 1 files beside data"),
        ({"files": [{"filename": "data/run", "previous_filename": ".ci/run"}]}, "changes 1 files beside data"),
        ({"files": changing("database/x")}, "changes 1 files beside data"),
        ({"files": []}, "does not list in full"),
        ({"pulls": [pull(changed_files=2)]}, "changes 2 files, which GitHub does not list in full"),
        (
            {"files": changing(*[f"data/{n}" for n in range(300)]), "pulls": [pull(changed_files=3001)]},
            "changes 3001 files, which GitHub does not list in full",
        ),
        (
            {"files": changing(*[f"data/{n}" for n in range(3000)]), "pulls": [pull(changed_files=3000)]},
            "changes 3000 files, which GitHub does not list in full",
        ),
        ({"size": (256 << 10) + 1}, "no review of at most"),
        ({"artefact": b"no zip at all"}, "no review of at most"),
        ({"artefact": zipped("../../review.json", REVIEW)}, "no review of at most"),
        ({"artefact": zipped("review.json", bytes((256 << 10) + 1))}, "no review of at most"),
    ],
)
def test_none_is_due_where_something_is_not_as_it_should_be(hub: Hub, changes: dict[str, Any], reason: str) -> None:
    for name, value in changes.items():
        setattr(hub, name, value)
    ran = hub.fetch()
    assert (ran.stdout, ran.returncode, hub.written) == ("", 0, None)
    assert reason in ran.stderr


def test_what_is_changed_is_asked_of_the_commit_that_was_run_and_the_pull_request_last_of_all(hub: Hub) -> None:
    hub.fetch()
    asked = (hub.folder / "calls").read_text(encoding="utf-8").splitlines()
    assert asked[2] == f"repos/o/r/compare/main...{SHA}"
    assert asked[-1] == "repos/o/r/pulls/7"
    assert not [address for address in asked if "/files" in address]


def test_a_question_that_github_does_not_answer_ends_it(hub: Hub) -> None:
    (hub.folder / "gh").write_text("#!/bin/sh\nexit 4\n", encoding="utf-8")
    (hub.folder / "gh").chmod(0o755)
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
case "$*" in
    *--paginate*) cat standing; exit "$(cat status)" ;;
    *pulls/7*) cat newest ;;
esac
"""


@dataclass
class Writing:
    """The job that writes the comment, its last step run by the shell that GitHub would take."""

    folder: Path
    standing: str = ""
    newest: str = SHA
    status: int = 0

    def run(self) -> subprocess.CompletedProcess[str]:
        workflow = yaml.safe_load((PROJECT / ".github/workflows/preview-comment.yml").read_text(encoding="utf-8"))
        step = workflow["jobs"]["write"]["steps"][-1]
        assert step["env"]["HEAD_SHA"] == "${{ github.event.workflow_run.head_sha }}"
        for name, text in (
            ("comment.md", "What would change.\n"),
            ("standing", self.standing),
            ("newest", self.newest),
            ("status", str(self.status)),
            ("gh", COMMENT_GH),
        ):
            (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / "gh").chmod(0o755)
        environment = {"PATH": f"{self.folder}:/usr/bin:/bin", "REPOSITORY": "o/r", "PULL_REQUEST": "7"}
        return subprocess.run(
            [*shell(workflow, step), "-c", step["run"]],
            cwd=self.folder,
            env=environment | {"HEAD_SHA": SHA},
            check=False,
            capture_output=True,
            text=True,
        )

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text(encoding="utf-8").splitlines()


def shell(workflow: dict[str, Any], step: dict[str, Any]) -> list[str]:
    """What GitHub runs a step with: https://docs.github.com/actions/reference/workflow-syntax-for-github-actions"""
    named = step.get("shell") or workflow.get("defaults", {}).get("run", {}).get("shell")
    return {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}[named]


@pytest.mark.parametrize(
    ("standing", "call"),
    [
        ("", "api --silent --method POST repos/o/r/issues/7/comments --field body=@body.md"),
        ("42\n43\n", "api --silent --method PATCH repos/o/r/issues/comments/42 --field body=@body.md"),
    ],
)
def test_one_comment_stands_and_is_written_anew(tmp_path: Path, standing: str, call: str) -> None:
    writing = Writing(tmp_path, standing)
    assert writing.run().returncode == 0
    assert writing.calls()[-1] == call
    body = (tmp_path / "body.md").read_text(encoding="utf-8")
    assert body == "<!-- probe-effect review -->\n\nWhat would change.\n"


def test_no_comment_is_written_over_a_newer_commit(tmp_path: Path) -> None:
    writing = Writing(tmp_path, newest="2" * 40)
    ran = writing.run()
    assert (ran.returncode, len(writing.calls())) == (0, 1)
    assert "newer commit" in ran.stdout


def test_a_list_of_comments_that_github_does_not_give_is_a_failure_and_no_second_comment(tmp_path: Path) -> None:
    writing = Writing(tmp_path, status=1)
    assert writing.run().returncode != 0
    assert [call for call in writing.calls() if "--method" in call] == []
