"""The workflows: who may start them, what they may do, that what they run exists, and that the linters agree."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from helpers.builders import PROJECT
from probe_effect.cli import commands
from probe_effect.guests.debian import ARCHITECTURES
from probe_effect.guests.news import RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GITHUB = PROJECT / ".github"
BIN = PROJECT / ".venv" / "bin"


class Loader(yaml.SafeLoader):
    """YAML 1.2's booleans, as GitHub reads them: `on` is a word."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506 (a safe loader)
    return values


WORKFLOWS = {path.name: load(path) for path in sorted((GITHUB / "workflows").glob("*.yml"))}
JOBS = {(name, job): values for name, one in WORKFLOWS.items() for job, values in one["jobs"].items()}
STEPS = [(name, job, step) for (name, job), values in JOBS.items() for step in values.get("steps", ())]

TRIGGERS = {
    "bench.yml": {"workflow_dispatch", "schedule"},
    "bench-freebsd.yml": {"workflow_dispatch", "schedule"},
    "bench-hosted.yml": {"workflow_dispatch", "schedule"},
    "kernels.yml": {"workflow_dispatch", "schedule"},
    "measure.yml": {"workflow_call"},
    "measure-hosted.yml": {"workflow_call"},
    "preview-comment.yml": {"workflow_run"},
    "publish.yml": {"workflow_run", "workflow_dispatch"},
    "release.yml": {"workflow_dispatch"},
    "submission.yml": {"pull_request", "merge_group"},
    "submit.yml": {"workflow_call"},
    "test.yml": {"push", "pull_request", "merge_group"},
    "test-all.yml": {"workflow_dispatch", "workflow_call", "schedule"},
}

WRITES = {
    ("bench.yml", "machine"): {"contents", "pull-requests", "attestations", "id-token"},
    ("bench-hosted.yml", "runner"): {"contents", "pull-requests", "attestations", "id-token"},
    ("measure-hosted.yml", "attest"): {"attestations", "id-token"},
    ("measure-hosted.yml", "submit"): {"contents", "pull-requests"},
    ("measure.yml", "attest"): {"attestations", "id-token"},
    ("measure.yml", "submit"): {"contents", "pull-requests"},
    ("bench-freebsd.yml", "submit"): {"contents", "pull-requests"},
    ("kernels.yml", "submit"): {"contents", "pull-requests"},
    ("submit.yml", "submit"): {"contents", "pull-requests"},
    ("preview-comment.yml", "write"): {"pull-requests"},
    ("publish.yml", "attest"): {"attestations", "id-token"},
    ("publish.yml", "deploy"): {"pages", "id-token"},
    ("release.yml", "attest"): {"attestations", "id-token"},
    ("release.yml", "publish"): {"contents"},
}


def triggers(name: str) -> set[str]:
    found = WORKFLOWS[name]["on"]
    return {found} if isinstance(found, str) else set(found)


# Who may start what, and what it may do.


def test_every_workflow_is_started_by_what_it_is_meant_for_and_nothing_else() -> None:
    assert {name: triggers(name) for name in WORKFLOWS} == TRIGGERS


def test_the_token_may_do_nothing_until_a_job_says_what() -> None:
    assert {name: one["permissions"] for name, one in WORKFLOWS.items()} == {name: {} for name in WORKFLOWS}
    assert [place for place, job in JOBS.items() if "permissions" not in job] == []


def test_only_these_jobs_may_write_and_only_that() -> None:
    granted = {
        place: {key for key, value in job["permissions"].items() if value != "read"} for place, job in JOBS.items()
    }
    assert {place: keys for place, keys in granted.items() if keys} == WRITES


def test_no_job_that_may_write_compiles_or_measures_what_somebody_sent() -> None:
    checkouts = {(name, job) for name, job, step in STEPS if step.get("uses", "").startswith("actions/checkout")}
    assert checkouts & set(WRITES) == {("submit.yml", "submit")}  # of the default branch, by a workflow of ours


def test_a_machine_of_ours_is_out_of_reach_for_pull_requests_and_branches() -> None:
    on_ours = [place for place, job in JOBS.items() if "hosted" in str(job.get("runs-on"))]
    assert on_ours == [("measure.yml", "measure")]
    measure = JOBS["measure.yml", "measure"]
    assert measure["runs-on"]["group"] == "bench"  # which lets in the jobs of this file alone, and only it can
    assert '["schedule", "workflow_dispatch"]' in measure["if"]  # whoever calls the file, and from wherever
    assert "github.ref_name == github.event.repository.default_branch && github.ref_type == 'branch'" in measure["if"]
    assert measure["environment"] == "bench"
    assert measure["permissions"] == {"contents": "read"}
    assert [step["with"] for step in measure["steps"] if "checkout" in step.get("uses", "")] == [
        {"persist-credentials": False}
    ]  # the commit that began the run, which the condition holds to the default branch


def test_what_the_maintainers_must_set_is_said_and_asked_for() -> None:
    said = (GITHUB / "RUNNERS.md").read_text(encoding="utf-8")
    assert f"`{JOBS['measure.yml', 'measure']['runs-on']['group']}`" in said
    assert "OWNER/REPOSITORY/.github/workflows/measure.yml@refs/heads/main" in said
    for required in (JOBS["test.yml", "test"], JOBS["submission.yml", "data"], JOBS["submission.yml", "review"]):
        assert f"`{required['name']}`" in said
    assert "--disableupdate" not in said.replace("Do not pass `--disableupdate`", "")


def test_whatever_runs_as_root_on_a_machine_of_ours_has_an_owner() -> None:
    owned = {line.split()[0] for line in (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines() if line}
    runs = {"/.github/", "/.ci/", "/Makefile", "/generator/", "/pyproject.toml", "/uv.lock", "/data/suites/"}
    assert runs <= owned
    said = (GITHUB / "RUNNERS.md").read_text(encoding="utf-8")
    assert [path for path in runs if f"`{path.strip('/')}`" not in said] == []


# One chain for each machine, and nothing lost.


def test_a_machine_that_is_off_delays_no_other() -> None:
    chain = JOBS["bench.yml", "machine"]
    assert chain["uses"] == "./.github/workflows/measure.yml"
    assert chain["strategy"]["fail-fast"] is False
    assert "matrix.machine" in chain["concurrency"]["group"]
    assert "concurrency" not in WORKFLOWS["bench.yml"]
    waits = [job for job in WORKFLOWS["bench.yml"]["jobs"].values() if "machine" in str(job.get("needs", ""))]
    assert waits == []
    assert JOBS["measure.yml", "submit"]["needs"] == "measure"


@pytest.mark.parametrize("name", ["measure.yml", "measure-hosted.yml", "bench-freebsd.yml", "kernels.yml"])
def test_what_was_measured_is_kept_and_submitted_however_the_job_ends(name: str) -> None:
    [keep] = [step for one, _, step in STEPS if one == name and "/upload-artifact@" in step.get("uses", "")]
    assert keep["if"] == "always()"
    assert "always()" in JOBS[name, "submit"]["if"]


@pytest.mark.parametrize(
    ("name", "job"), [("measure.yml", "measure"), ("measure-hosted.yml", "measure"), ("kernels.yml", "count")]
)
def test_measuring_ends_before_the_job_would_be_ended(name: str, job: str) -> None:
    scripts = "".join(step.get("run", "") for step in JOBS[name, job]["steps"])
    found = re.findall(r"timeout --kill-after=(\d+)m (\d+)h", scripts)
    assert found
    assert all(int(kill) + 60 * int(hours) + 30 <= JOBS[name, job]["timeout-minutes"] for kill, hours in found)


@pytest.mark.parametrize(("files", "said"), [((), ""), (("plan.json",), ""), (("samples.csv",), "counted=yes\n")])
def test_a_pull_request_is_made_where_some_count_is_complete(tmp_path: Path, files: tuple[str, ...], said: str) -> None:
    [step] = [step for *_, step in STEPS if step.get("name") == "Say whether anything is complete"]
    out = tmp_path / "out"
    out.touch()
    for name in files:
        for machine in ("qemu one", "qemu two"):
            folder = tmp_path / "build" / "results" / machine / "2026-11-20-per-event"
            folder.mkdir(parents=True)
            for one in ("machine.json", name):
                (folder / one).touch()
    environment = {**os.environ, "GITHUB_OUTPUT": str(out)}
    subprocess.run(["/bin/bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, check=True)
    assert out.read_text(encoding="utf-8") == said
    assert "outputs.counted == 'yes'" in JOBS["kernels.yml", "submit"]["if"]


def test_a_run_that_was_cut_short_is_left_out_and_the_complete_ones_go_on(tmp_path: Path) -> None:
    [step] = [step for *_, step in STEPS if step.get("name", "").startswith("Leave out what was cut short")]
    results = tmp_path / "build" / "results" / "a machine"
    for run in ("2026-11-20-per-event", "2026-11-20-a tail"):
        (results / run).mkdir(parents=True)
        (results / run / "machine.json").touch()
    subprocess.run(["/bin/bash", "-e", "-c", step["run"]], cwd=tmp_path, check=True, capture_output=True)
    assert len(list(results.iterdir())) == 2
    (results / "2026-11-20-a tail" / "plan.json").touch()
    subprocess.run(["/bin/bash", "-e", "-c", step["run"]], cwd=tmp_path, check=True, capture_output=True)
    assert [path.name for path in results.iterdir()] == ["2026-11-20-per-event"]


def test_a_submission_by_the_fleet_asks_nothing_and_goes_to_the_repository_it_runs_in() -> None:
    [words] = [words for name, words in command_lines() if name == "submit.yml" and words[0] == "submit"]
    assert {"--no-name", "--yes", "--here"} <= set(words)


def test_no_image_comes_from_a_cache_that_other_jobs_write() -> None:
    [step] = [step for *_, step in STEPS if "vmactions/" in step.get("uses", "")]
    assert step["with"]["disable-cache"] == "true"


# Hosted runners, which anybody's fork has too.


def test_a_fork_measures_by_hand_alone_and_pushes_a_branch_of_its_own() -> None:
    runner = JOBS["bench-hosted.yml", "runner"]
    assert "(github.event_name == 'workflow_dispatch' || !github.event.repository.fork)" in runner["if"]
    assert "!github.event.repository.fork" in JOBS["measure-hosted.yml", "attest"]["if"]
    assert JOBS["measure-hosted.yml", "submit"]["with"]["by-hand"] == "${{ github.event.repository.fork }}"
    ends = {step["name"]: step.get("if") for name, _, step in STEPS if name == "submit.yml" and "name" in step}
    assert ends["Make the pull request"] == "${{ !inputs.by-hand }}"
    assert ends["Push the branch, and say how to propose it"] == "inputs.by-hand"


def test_each_image_is_a_chain_of_its_own_of_two_jobs_one_after_the_other() -> None:
    runner, measure = JOBS["bench-hosted.yml", "runner"], JOBS["measure-hosted.yml", "measure"]
    assert runner["strategy"]["fail-fast"] is measure["strategy"]["fail-fast"] is False
    assert "matrix.runner" in runner["concurrency"]["group"]
    assert measure["strategy"]["max-parallel"] == 1
    assert measure["permissions"] == {"contents": "read"}
    [keep] = [step["with"] for step in measure["steps"] if "/upload-artifact@" in step.get("uses", "")]
    [take] = [step for step in measure["steps"] if "/download-artifact@" in step.get("uses", "")]
    assert keep["overwrite"] == "true" or keep["overwrite"] is True
    assert (take["with"]["name"], take["with"]["path"]) == (keep["name"], keep["path"])
    assert take["if"] == "matrix.part == 2"
    assert take["continue-on-error"] is True


@pytest.mark.parametrize(
    ("suites", "plan", "words"),
    [
        ("wanted", "quick", "<lend><--minutes><20><--yes><--provenance><hosted><--out><build/results>"),
        ("usdt $(touch hacked)", "quick", "<measure><--quick><--provenance><hosted><--out><build/results>"),
        ("usdt $(touch hacked)", "full", "<measure><--provenance><hosted><--out><build/results>"),
    ],
)
def test_a_hosted_runner_measures_what_is_wanted_or_what_is_named(
    tmp_path: Path, suites: str, plan: str, words: str
) -> None:
    [step] = [step for name, _, step in STEPS if (name, step.get("name")) == ("measure-hosted.yml", "Measure")]
    stand_in(tmp_path / "sudo", 'printf "<%s>" "$@"')
    told = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SUITES": suites, "PLAN": plan, "MINUTES": "20"}
    ran = bash(step["run"], tmp_path, told)
    named = "".join(f"<{word}>" for word in suites.split() if suites != "wanted")
    assert ran.stdout.endswith(f"probe-effect>{words}{named}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sudo"]


@pytest.mark.parametrize("has_mirror", [True, False])
def test_a_tracer_that_apt_cannot_bring_is_named_and_costs_only_itself(tmp_path: Path, *, has_mirror: bool) -> None:
    stand_in(tmp_path / "sudo", 'exec env PATH="$PATH" "$@"')
    stand_in(tmp_path / "uname", "echo 6.11.0-1018-azure")
    update = "exit 0" if has_mirror else "exit 100"
    stand_in(
        tmp_path / "apt-get",
        f'case "$*" in update*) {update} ;; *uftrace | *azure) exit 100 ;; esac; echo "$*" >> asked',
    )
    stand_in(tmp_path / "venv", """echo '{"packages": ["bpftrace", "uftrace", "trace-cmd"]}'""")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv").rename(tmp_path / ".venv" / "bin" / "probe-effect")
    ran = bash(f"sh {PROJECT / '.ci' / 'tracers'}", tmp_path, {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    asked = [line.split()[-1] for line in (tmp_path / "asked").read_text(encoding="utf-8").splitlines()]
    assert asked == ["bpftrace", "trace-cmd"]
    assert ("`apt-get update` failed" in ran.stdout) is not has_mirror
    assert "- not installed: `uftrace`" in ran.stdout
    assert "- not installed: `linux-tools-6.11.0-1018-azure`" in ran.stdout
    assert "still missing on 6.11.0-1018-azure: bpftrace uftrace trace-cmd" in ran.stdout


def stand_in(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


def bash(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["/bin/bash", "-e", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)


# Checks that can be required, and a site that waits for them.


def test_what_is_required_starts_for_every_pull_request_and_every_merge() -> None:
    for name in ("test.yml", "submission.yml"):
        events = WORKFLOWS[name]["on"]
        assert {event: events[event] for event in ("pull_request", "merge_group")} == {
            "pull_request": None,  # no `paths`, for what never starts would be waited for
            "merge_group": None,
        }


@pytest.mark.parametrize(("path", "said"), [("README.md", ""), ("data/a.toml", "changed=yes\n")])
def test_a_change_is_of_data_or_says_that_it_is_not(tmp_path: Path, path: str, said: str) -> None:
    [step] = [step for name, job, step in STEPS if (name, job) == ("submission.yml", "data") and "run" in step]
    out = tmp_path / "out"
    out.touch()
    (tmp_path / "data").mkdir()
    who = {f"GIT_{role}_{part}": "nobody" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    environment = {**os.environ, **who, "GITHUB_OUTPUT": str(out)}

    def run(*words: str) -> str:
        return subprocess.run(words, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout

    run("git", "init", "--quiet")
    run("git", "commit", "--quiet", "--allow-empty", "--message", "base")
    (tmp_path / path).touch()
    run("git", "add", path)
    run("git", "commit", "--quiet", "--message", "change")
    printed = run("/bin/bash", "-e", "-c", step["run"])
    assert out.read_text(encoding="utf-8") == said
    assert ("nothing of data changed" in printed) == (not said)
    assert JOBS["submission.yml", "review"]["needs"] == "data"


def test_the_site_is_published_after_the_test_of_a_push_that_is_still_the_newest() -> None:
    after = WORKFLOWS["publish.yml"]["on"]["workflow_run"]
    assert after["workflows"] == [WORKFLOWS["test.yml"]["name"]]
    condition = JOBS["publish.yml", "build"]["if"]
    for part in ("event == 'push'", "conclusion == 'success'", "head_sha == github.sha"):
        assert f"github.event.workflow_run.{part}" in condition


def test_only_a_newer_commit_of_the_same_pull_request_ends_a_test() -> None:
    assert WORKFLOWS["test.yml"]["concurrency"]["group"] == (
        "test-${{ github.event_name == 'pull_request' && github.ref || github.sha }}"
    )


def test_the_jobs_that_test_tracers_may_trace() -> None:
    for place in (("test.yml", "test"), ("test-all.yml", "test-all")):
        assert "--privileged" in JOBS[place]["container"]["options"]


def test_a_release_waits_for_everything_that_can_be_tested() -> None:
    assert JOBS["release.yml", "test-all"]["uses"] == "./.github/workflows/test-all.yml"
    assert JOBS["release.yml", "build"]["needs"] == "test-all"
    steps = JOBS["test-all.yml", "test-all"]["steps"]
    assert "make test-all" in [step.get("run") for step in steps]


@pytest.mark.parametrize(
    "name", ["bench.yml", "bench-freebsd.yml", "bench-hosted.yml", "kernels.yml", "publish.yml", "release.yml"]
)
def test_what_may_be_started_by_hand_does_nothing_on_another_branch(name: str) -> None:
    first = [job for job in WORKFLOWS[name]["jobs"].values() if "needs" not in job]
    assert {("default_branch" in job["if"], "ref_type" in job["if"]) for job in first} == {(True, True)}


def test_our_bpf_code_is_tested_every_week_in_each_kernel_that_is_counted() -> None:
    assert set(WORKFLOWS["kernels.yml"]["on"]) >= {"schedule"}
    steps = JOBS["kernels.yml", "live"]["steps"]
    assert any("make --no-print-directory live-kernels" in step.get("run", "") for step in steps)
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    chosen = {name: words.split() for name, words in re.findall(r"(?m)^(KERNELS|ARCHES) := (.*)$", makefile)}
    assert set(chosen["KERNELS"]) == set(RELEASES) - {"sid"}  # which has the newest of backports, or one to come
    assert set(ARCHITECTURES) == set(chosen["ARCHES"])


def test_a_pull_request_meets_no_secret() -> None:
    for name in WORKFLOWS:
        text = (GITHUB / "workflows" / name).read_text(encoding="utf-8")
        assert re.findall(r"secrets\.\w+|secrets: inherit", text) == []
        if "pull_request" in triggers(name):
            assert "github.token" not in text


def test_every_run_ends_and_every_second_one_is_thought_of() -> None:
    assert [place for place, job in JOBS.items() if "uses" not in job and "timeout-minutes" not in job] == []
    lacking = [
        name
        for name, one in WORKFLOWS.items()
        if "concurrency" not in one and not all("concurrency" in job for job in one["jobs"].values())
    ]
    assert lacking == [
        "measure-hosted.yml",
        "measure.yml",
        "submit.yml",
    ]  # they are called, and their callers have a group


# What they take from others.


def uses() -> Iterator[tuple[str, str]]:
    for path in sorted(GITHUB.rglob("*.yml")):
        for line in re.findall(r"^\s*-?\s*uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield path.name, line


def test_every_action_is_pinned_by_its_full_hash_with_its_version_beside_it() -> None:
    found = list(uses())
    assert len(found) > 20
    pinned = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [one for one in found if not (pinned.fullmatch(one[1]) or one[1].startswith("./.github/workflows/"))] == []


def test_one_version_of_an_action_is_used_everywhere() -> None:
    versions: dict[str, set[str]] = {}
    for _, line in uses():
        action, _, pin = line.partition("@")
        versions.setdefault(action, set()).add(pin)
    assert {action: pins for action, pins in versions.items() if len(pins) > 1} == {}


def test_no_checkout_leaves_its_token_behind() -> None:
    found = [step["with"]["persist-credentials"] for *_, step in STEPS if "actions/checkout@" in step.get("uses", "")]
    assert found == [False] * len(found)
    assert len(found) >= len(WORKFLOWS) - 1


def test_no_expression_stands_where_a_shell_would_run_it() -> None:
    scripts = [
        *(step.get("run", "") for *_, step in STEPS),
        *(step.get("with", {}).get("run", "") for *_, step in STEPS),
    ]
    assert [one for one in scripts if "${{" in one] == []


# That what they run exists.


def lines_of(workflow: dict[str, Any]) -> Iterator[str]:
    for job in workflow["jobs"].values():
        for step in job.get("steps", ()):
            script = step.get("run", step.get("with", {}).get("run", ""))  # a virtual machine's is among its inputs
            yield from script.replace("\\\n", " ").splitlines()


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """The workflow, and the words after `probe-effect` of every line that runs it."""
    for name, workflow in WORKFLOWS.items():
        for line in lines_of(workflow):
            words = shlex.split(line, comments=True)
            at = next((place for place, word in enumerate(words) if word.endswith("bin/probe-effect")), None)
            if at is not None:
                yield name, list(takewhile(lambda word: word not in {">", ">>", "|", "&&", ";"}, words[at + 1 :]))


@pytest.mark.parametrize(
    "words", [pytest.param(words, id=f"{name}: {' '.join(words)}") for name, words in command_lines()]
)
def test_every_command_line_is_one_that_the_program_takes(words: list[str]) -> None:
    words = ["60" if word.startswith("$") else word for word in words]  # a value of which only the workflow knows
    with click.Context(commands) as context:
        command = commands.get_command(context, words[0])
        assert command is not None, f"no command {words[0]}"
        assert command.make_context(words[0], list(words[1:]), parent=context).params


def test_every_target_and_script_that_they_call_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    words = [
        shlex.split(line, comments=True) for one in WORKFLOWS.values() for line in lines_of(one) if "'" not in line
    ]
    made = {line[1] for line in words if line[:1] == ["make"]}
    assert made
    assert made <= targets
    scripts = {word for line in words for word in line if word.startswith(".ci/")}
    assert scripts == {".ci/fetch_review.py", ".ci/propose", ".ci/release-files", ".ci/tracers"}
    assert [one for one in scripts if not (PROJECT / one).is_file()] == []


def test_the_comment_follows_the_workflow_that_it_is_about() -> None:
    assert WORKFLOWS["preview-comment.yml"]["on"]["workflow_run"]["workflows"] == [WORKFLOWS["submission.yml"]["name"]]


def test_what_one_job_hands_on_is_what_the_other_takes() -> None:
    for name, workflow in WORKFLOWS.items():
        steps = [step for job in workflow["jobs"].values() for step in job.get("steps", ())]
        given = {step["with"]["name"] for step in steps if "/upload-artifact@" in step.get("uses", "")}
        taken = {step["with"]["name"] for step in steps if "/download-artifact@" in step.get("uses", "")}
        taken |= {job["with"]["results"] for job in workflow["jobs"].values() if "results" in job.get("with", {})}
        assert taken <= given or name == "submit.yml"


# The fleet.

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def test_the_fleet_is_a_list_of_different_names() -> None:
    machines = json.loads((GITHUB / "fleet.json").read_text(encoding="utf-8"))["machines"]
    assert [one for one in machines if not NAME.fullmatch(one)] == []
    assert len(machines) == len(set(machines))


def test_the_step_that_reads_the_fleet_says_it_on_one_line(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "fleet.json").write_text('{\n "machines": ["altra", "thinkpad"]\n}\n', encoding="utf-8")
    [script] = [step["run"] for name, job, step in STEPS if (name, job) == ("bench.yml", "fleet") and "run" in step]
    out = tmp_path / "out"
    environment = {**os.environ, "GITHUB_OUTPUT": str(out)}
    subprocess.run(["/bin/bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=True)
    assert out.read_text(encoding="utf-8") == 'machines=["altra", "thinkpad"]\n'


def test_names_of_suites_reach_the_program_as_words_and_no_shell(tmp_path: Path) -> None:
    [step] = [step for name, _, step in STEPS if (name, step.get("name")) == ("measure.yml", "Measure")]
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n', encoding="utf-8")
    sudo.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "MACHINE": "thinkpad-x1",
        "SUITES": "per-event $(touch hacked) `id` threads",
    }
    ran = subprocess.run(
        ["/bin/bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "<measure>" in ran.stdout
    assert "<--fleet-name><thinkpad-x1>" in ran.stdout
    assert ran.stdout.endswith("<per-event><$(touch><hacked)><`id`><threads>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sudo"]


# What GitHub reads beside workflows.


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.stem)
def test_an_issue_form_is_one(path: Path) -> None:
    form = load(path)
    assert {"name", "description", "body"} <= set(form)
    kinds = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert {part["type"] for part in form["body"]} <= kinds
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert [part for part in asked if "label" not in part["attributes"]] == []
    assert len({part["id"] for part in asked}) == len(asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_new_versions_wait_a_week_and_come_from_folders_that_have_some() -> None:
    for one in load(GITHUB / "dependabot.yml")["updates"]:
        assert one["cooldown"]["default-days"] >= 7
        for folder in one.get("directories", [one.get("directory")]):
            lock = {"uv": "uv.lock", "npm": "package-lock.json", "gomod": "go.sum", "github-actions": ".github"}
            assert (PROJECT / folder.lstrip("/") / lock[one["package-ecosystem"]]).exists()


def test_every_owned_path_is_there() -> None:
    lines = [line.split() for line in (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines()]
    paths = [words[0] for words in lines if words and words[0] not in {"#", "*"}]
    assert paths
    assert [path for path in paths if not (PROJECT / path.strip("/")).exists()] == []


# The linters, and that they would say something.


def actionlint(*files: Path) -> subprocess.CompletedProcess[str]:
    subprocess.run(["make", "--silent", "build/actionlint"], cwd=PROJECT, check=True, capture_output=True)  # noqa: S607
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    command = [str(PROJECT / "build" / "actionlint"), *map(str, files)]
    return subprocess.run(command, cwd=PROJECT, env=environment, check=False, capture_output=True, text=True)


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    options = ["--offline", "--quiet", "--strict-collection", "--persona", "auditor"]
    command = [str(BIN / "zizmor"), *options, "--config", str(GITHUB / "zizmor.yml"), *map(str, paths)]
    return subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)


EXAMPLES = sorted((GITHUB / "examples").glob("*.yml"))
EXAMPLE = GITHUB / "examples" / "instruction-gate.yml"


@pytest.mark.deep
def test_actionlint_with_shellcheck_finds_nothing() -> None:
    found = actionlint(*sorted((GITHUB / "workflows").glob("*.yml")), *EXAMPLES)
    assert (found.stdout, found.returncode) == ("", 0)


def test_zizmor_finds_nothing() -> None:
    found = zizmor(GITHUB, *EXAMPLES)
    assert found.returncode == 0, found.stdout


BAD = """
name: bad
on: pull_request
permissions: {}
concurrency: {group: bad, cancel-in-progress: true}
jobs:
  bad:
    name: bad
    runs-on: [self-hosted, mine]
    timeout-minutes: 5
    steps:
      - run: echo $TITLE "${{ github.event.pull_request.title }}"
"""


@pytest.mark.deep
def test_they_would_find_an_unquoted_word_a_strangers_title_and_a_machine_of_ours(tmp_path: Path) -> None:
    workflow = tmp_path / ".github" / "workflows" / "bad.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(BAD, encoding="utf-8")
    assert "SC2086" in actionlint(workflow).stdout  # shellcheck, so it is there
    said = zizmor(workflow).stdout
    assert {"template-injection", "self-hosted-runner"} <= set(re.findall(r"\[([a-z-]+)\]", said))


def test_every_finding_that_is_passed_over_has_its_reason_beside_it() -> None:
    for path in sorted((GITHUB / "workflows").glob("*.yml")):
        for reason in re.findall(r"zizmor: ignore\[[\w,-]+\](.*)", path.read_text(encoding="utf-8")):
            assert len(reason.split()) >= 4, path.name
    lines = (GITHUB / "zizmor.yml").read_text(encoding="utf-8").splitlines()
    places = [number for number, line in enumerate(lines) if line.strip() == "ignore:"]
    assert places
    assert [lines[number + 1] for number in places if not lines[number + 1].strip().startswith("# ")] == []
