"""One run of a workflow by act, on this machine: nothing in a container, nothing fetched, nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakes.clone import git
from helpers.builders import PROJECT
from workflow_runs.hub import ADDRESS, REPOSITORY, Hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
ACTIONS = HERE / "actions"
LIMIT_S = 600.0
MARK = "PROBE_EFFECT_WORKFLOW_RUN"
"""In the environment of all that a run starts, so that none of it outlives the run."""


@dataclass
class Run:
    """How it went."""

    number: int
    seconds: float
    exit_status: int
    jobs: list[tuple[str, str]] = field(default_factory=list)
    """The name and the result of each job that was begun; two may have one name."""
    failed: list[str] = field(default_factory=list)
    """The steps that failed, by name."""
    lines: list[str] = field(default_factory=list)
    """All that was printed."""

    @property
    def passed(self) -> bool:
        """Whether the run is green."""
        return self.exit_status == 0 and not self.failed

    @property
    def log(self) -> str:
        """What was printed, as one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True)
class Event:
    """What starts a workflow."""

    name: str
    payload: dict[str, Any]
    ref: str = "refs/heads/main"


def pull_request(hub: Hub, number: int) -> Event:
    """Somebody opens it."""
    pull = hub.pull(number)
    return Event(
        "pull_request", {"action": "opened", "number": number, "pull_request": pull}, f"refs/pull/{number}/merge"
    )


def completed(hub: Hub, number: int, run: Run) -> Event:
    """The run for a pull request has ended."""
    head = hub.pull(number)["head"]
    told = {
        "id": run.number,
        "event": "pull_request",
        "head_branch": head["ref"],
        "head_sha": head["sha"],
        "head_repository": head["repo"],
        "conclusion": "success" if run.passed else "failure",
        "html_url": f"{ADDRESS}/actions/runs/{run.number}",
    }
    return Event("workflow_run", {"action": "completed", "workflow_run": told})


def dispatch(**inputs: str) -> Event:
    """Somebody starts it by hand."""
    return Event("workflow_dispatch", {"ref": "refs/heads/main", "inputs": inputs})


def in_a_fork(event: Event) -> Event:
    """The same event, in a repository that is a fork."""
    return Event(event.name, {**event.payload, "repository": {**REPOSITORY, "fork": True}}, event.ref)


def tested(hub: Hub, conclusion: str) -> Event:
    """The test of what was merged has ended."""
    told = {"id": 1, "event": "push", "head_branch": "main", "head_sha": hub.head, "conclusion": conclusion}
    return Event("workflow_run", {"action": "completed", "workflow_run": told})


def is_valid(hub: Hub, workflow: str) -> Run:
    """Whether act's own schema has nothing against it, for what only a container could run."""
    clone = hub.clone(f"valid-{workflow}")
    command = [str(PROJECT / "build" / "act"), "--validate", "--strict", "--workflows", f".github/workflows/{workflow}"]
    begun = time.monotonic()
    status, output = ended_in_time(command, clone, _environment(hub, 0))
    return Run(0, time.monotonic() - begun, status, lines=output.splitlines())


def run(hub: Hub, workflow: str, event: Event, *, runners: Sequence[str] = (), only: Sequence[str] = ()) -> Run:
    """Run the workflow as the hub has it; `runners` are machines of ours that are on, `only` parts of its matrix."""
    number = len(list(hub.runs.glob("*"))) + 1
    work = hub.runs / str(number)
    work.mkdir(parents=True)
    clone = hub.clone(f"run-{number}")
    git(clone, "fetch", "--quiet", "origin", event.ref)
    git(clone, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    for path in (clone / ".github" / "workflows").glob("*.yml"):
        _fit(path)
    payload = hub.folder / f"event-{number}.json"
    payload.write_text(json.dumps({"repository": REPOSITORY, **event.payload}), encoding="utf-8")
    command = [
        *(str(PROJECT / "build" / "act"), event.name, "--json", "--no-skip-checkout", "--no-cache-server"),
        *("--workflows", f".github/workflows/{workflow}", "--eventpath", str(payload), "--actor", "me"),
        *("--action-cache-path", str(hub.folder / f"act-{number}"), "--secret", "GITHUB_TOKEN=none"),
        *("--env", f"GITHUB_RUN_ID={number}"),
        *(word for platform in ("ubuntu-24.04", *runners) for word in ("--platform", f"{platform}=-self-hosted")),
        *(word for one in only for word in ("--matrix", one)),
        *(word for one in _replaced(clone) for word in ("--local-repository", one)),
    ]
    begun = time.monotonic()
    status, output = ended_in_time(command, clone, _environment(hub, number))
    seconds = time.monotonic() - begun
    shutil.rmtree(hub.folder / f"act-{number}", ignore_errors=True)
    return _read(Run(number, seconds, status), output)


def left_behind(mark: str = "") -> list[int]:
    """Processes of any run, or of the one with that mark."""
    sought = f"{MARK}={mark or f'{os.getpid()}-'}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # another user's, or gone
            if sought in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


def _environment(hub: Hub, number: int) -> dict[str, str]:
    """What all steps have around them."""
    kept = {name: os.environ[name] for name in ("LANG", "HOME", "SSL_CERT_FILE") if name in os.environ}
    return {
        **kept,
        **{name: value for name, value in os.environ.items() if name.startswith(("GIT_CONFIG", "XDG_"))},
        "PATH": f"{HERE / 'stand_ins'}:{os.environ['PATH']}",
        "STAND_INS": str(HERE / "stand_ins"),
        "HUB": str(hub.folder),
        "KERNEL": str(hub.kernel),
        "FAKE_KILLS": str(hub.folder / "kills"),
        "CHECKOUT": str(PROJECT),
        "GOJQ": str(PROJECT / "build" / "gojq"),
        "NO_COLOR": "1",
        MARK: f"{os.getpid()}-{number}",
    }


def _fit(workflow: Path) -> None:
    """Have its jobs run on this machine, where the tests themselves are running already."""
    text = workflow.read_text(encoding="utf-8").replace("run: make test-all", "run: make help")
    here = re.sub(r"^    container:.*\n(?:      .+\n)*", "", text, flags=re.MULTILINE)
    workflow.write_text(here, encoding="utf-8")


def _replaced(clone: Path) -> Iterator[str]:
    """Which of our actions stands in for which of theirs, for all that we have one for."""
    used = set()
    for path in sorted((clone / ".github" / "workflows").glob("*.yml")):
        used |= set(re.findall(r"uses: ([\w-]+/([\w-]+)@\w+)", path.read_text(encoding="utf-8")))
    for reference, name in sorted(used):
        if (ACTIONS / name).is_dir():
            yield f"{reference}={ACTIONS / name}"


def ended_in_time(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """How the command ended and what it printed; whatever it started has ended too."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            _end_all(environment[MARK])  # who holds the pipe, too
            output = f"{process.communicate()[0]}ended after {LIMIT_S:.0f} s"
        finally:
            _end_all(environment[MARK])
    return process.returncode, output


def _end_all(mark: str) -> None:
    for pid in left_behind(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _read(ended: Run, output: str) -> Run:
    """Fill in what act said."""
    for line in output.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            ended.lines.append(line)
            continue
        ended.lines.append(f"[{said.get('job', '')}] {said['msg'].rstrip()}")
        if "jobResult" in said:
            ended.jobs.append((said["job"], said["jobResult"]))
        if said.get("stepResult") == "failure" and len(said.get("stepID", [])) == 1:
            ended.failed.append(said["step"])
    return ended
