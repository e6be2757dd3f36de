"""`probe-effect submit`: what it shows, what it refuses, and how far it goes by itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner, Result

from fakes.clone import AUTHOR, MINE, THEIRS, Clone, git
from helpers.builders import (
    COST_NS,
    FOLDER,
    changed,
    counted_rows,
    counted_values,
    machine_values,
    many_blocks,
    skipped_row,
    write_counted_submission,
    write_data,
    write_submission,
)
from probe_effect.cli import commands
from probe_effect.intake.bundle import Mark, marks_of_host
from probe_effect.intake.pull_request import Refused, Repository, checkout_of, repository_of
from probe_effect.model import BadData, HostNotReady, ProbeEffectError, UsageError
from probe_effect.numbers.submission import OF_SUBMISSION, RULES
from probe_effect.store.machine_file import Submitter, read_machine_file
from probe_effect.store.places import OWN_FOLDER, SubmissionFolder

if TYPE_CHECKING:
    from probe_effect.model import Sample

NOBODY = 65534
BRANCH = "submit/test-machine-2026-11-20"
SUBMISSION = f"data/results/test-machine/{FOLDER}"
FILES = [f"{SUBMISSION}/machine.json", f"{SUBMISSION}/samples.csv"]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    made = Clone(tmp_path, monkeypatch)
    monkeypatch.chdir(made.root)
    return made


def run(*arguments: str | Path, answers: str | None = None) -> Result:
    words = [str(one) for one in arguments]
    given = ["submit", *words]
    return CliRunner().invoke(commands, given, input=answers, catch_exceptions=False, standalone_mode=False)


def submit(clone: Clone, *arguments: str | Path) -> Result:
    return run("--data", clone.data, *arguments)


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the command ask; click's runner still gives the answers."""
    monkeypatch.setattr(
        "probe_effect.cli.intake_run.sys", type("Terminal", (), {"stdin": type("In", (), {"isatty": lambda: True})})
    )


def credit(folder: Path) -> str | None:
    document, problems = read_machine_file(SubmissionFolder(folder).machine_file, "machine.json")
    assert document is not None, problems
    return document.submitter.name


def another_run() -> list[Sample]:
    """Rows that are nobody's yet."""
    return [replace(row, wall_ns=row.wall_ns + 1) for row in many_blocks() if row.wall_ns is not None]


def other_machine(machine: str) -> dict[str, Any]:
    """`machine.json` of another machine of the same kind."""
    values = machine_values()
    values["machine"]["id"] = machine
    return values


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def changed_by(repository: Path, branch: str) -> list[str]:
    """Files that the last commit of a branch changes."""
    return git(repository, "diff", "--name-only", f"{branch}~1", branch).splitlines()


# What it shows


def test_what_will_be_public_is_shown_before_anything_happens(clone: Clone) -> None:
    outcome = submit(clone, "--dry-run", "--name", "Ada Example")
    shown = " ".join(outcome.stderr.split())
    names = [f"{FOLDER}/{Path(file).name}" for file in FILES]
    for words in (
        str(Path(SUBMISSION).parent),
        *names,
        "Example CPU 9000",
        "6.12.1-amd64",
        "Ada Example",
        AUTHOR,
        "never recorded host names",
    ):
        assert words in shown
    assert outcome.stdout == f"{BRANCH}\n"


def test_names_of_files_and_all_else_that_is_shown_fit_a_terminal_of_80_columns(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    write_submission(clone.data, another_run(), other_machine("other-machine"))
    git(clone.root, "add", "data/results/other-machine")
    git(clone.root, "commit", "--quiet", "-m", "Merged")
    shown = submit(clone, "--dry-run", "--name", "Ada Example").stderr
    assert f"{FOLDER}/machine.json" in shown
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_the_numbers_stand_beside_those_of_the_nearest_machine_before_anything_is_sent(clone: Clone) -> None:
    dearer = [replace(row, wall_ns=row.wall_ns + 1) for row in many_blocks(cost_ns=COST_NS + 400) if row.wall_ns]
    write_submission(clone.data, dearer, other_machine("other-machine"))
    git(clone.root, "add", "data/results/other-machine")
    git(clone.root, "commit", "--quiet", "-m", "Merged")
    shown = " ".join(submit(clone, "--dry-run").stderr.split())
    assert f"test-machine/{FOLDER}: cost of one event here there difference (95 %) with bpftrace" in shown
    assert "there Example, other-machine its kind same CPU name, Example CPU 9000" in shown
    assert "Of 1 comparison, 1 has lower overhead here." in shown


def test_the_grade_is_shown_with_what_would_better_it(clone: Clone) -> None:
    path = clone.data / "results" / "test-machine" / FOLDER / "machine.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(changed(values, "run.load_before", 100.0)), encoding="utf-8")
    shown = " ".join(submit(clone, "--dry-run").stderr.split())
    assert f"Grades, and what would better them B {FOLDER} because more than 50" in shown
    assert "better: stop what else runs, and measure again" in shown


def test_where_nobody_has_such_numbers_they_are_shown_alone(clone: Clone) -> None:
    shown = " ".join(submit(clone, "--dry-run").stderr.split())
    assert "there no published machine has such numbers" in shown


def test_other_data_that_cannot_be_read_keeps_nobody_from_sending(clone: Clone) -> None:
    other = write_submission(clone.data, another_run(), other_machine("other-machine"))
    (other / "machine.json").write_text("{}", encoding="utf-8")
    outcome = submit(clone, clone.data / "results/test-machine", "--dry-run")
    assert "so there is nothing to compare with" in outcome.stderr


def test_every_reason_of_a_grade_has_what_would_better_it() -> None:
    assert {rule.fact for rule in OF_SUBMISSION} == set(RULES["remedies"])


def test_the_branch_can_be_looked_at_and_gone_to_by_the_commands_that_it_says(clone: Clone) -> None:
    submit(clone, "--remote", clone.bare)
    said = submit(clone, "--remote", clone.bare).stderr
    commands_ = re.findall("^to .*:\n  (git .*)$", said, re.MULTILINE)
    assert len(commands_) == 2
    for command in commands_:
        done = subprocess.run(["sh", "-c", command], cwd=clone.data, capture_output=True, text=True, check=False)  # noqa: S607
        assert done.returncode == 0, done.stderr
    assert git(clone.root, "branch", "--show-current") == BRANCH
    assert git(clone.root, "status", "--porcelain") == ""


def test_a_dry_run_changes_nothing(clone: Clone) -> None:
    before = tree(clone.root.parent)
    submit(clone, "--dry-run", "--name", "Ada Example", "--remote", clone.bare)
    assert tree(clone.root.parent) == before


# The branch


def test_the_branch_at_the_remote_has_the_submission_and_nothing_else(clone: Clone) -> None:
    outcome = submit(clone, "--remote", clone.bare)
    assert outcome.stdout == f"{BRANCH}\n"
    assert changed_by(clone.bare, BRANCH) == FILES
    assert git(clone.bare, "show", f"{BRANCH}:{FILES[1]}") == Path(FILES[1]).read_text(encoding="utf-8").strip()
    assert (
        git(clone.bare, "log", "-1", "--format=%an <%ae>|%s", BRANCH) == f"{AUTHOR}|Results of test-machine: per-event"
    )


def test_other_changes_in_the_working_tree_stay_as_they_are_and_at_home(clone: Clone) -> None:
    (clone.data / "suites/per-event/suite.toml").write_bytes(
        (clone.data / "suites/per-event/suite.toml").read_bytes() + b"#"
    )
    (clone.root / "staged.txt").write_text("staged")
    (clone.root / "new.txt").write_text("new")
    git(clone.root, "add", "staged.txt")
    git(clone.root, "commit", "--quiet", "-m", "Not for others")
    (clone.root / "staged.txt").write_text("staged again")
    git(clone.root, "add", "staged.txt")
    before = git(clone.root, "status", "--porcelain"), git(clone.root, "rev-parse", "HEAD"), tree(clone.root / "data")
    submit(clone, "--remote", "origin")
    after = git(clone.root, "status", "--porcelain"), git(clone.root, "rev-parse", "HEAD"), tree(clone.root / "data")
    assert after == before
    assert changed_by(clone.bare, BRANCH) == FILES
    assert git(clone.bare, "rev-parse", f"{BRANCH}~1") == git(clone.bare, "rev-parse", "main")


def test_files_go_in_byte_for_byte_whatever_git_does_to_line_ends(clone: Clone) -> None:
    git(clone.root, "config", "core.autocrlf", "true")
    (clone.root / ".gitattributes").write_text("* text eol=crlf\n")
    submit(clone, "--remote", clone.bare)
    stored = git(clone.bare, "ls-tree", BRANCH, FILES[1]).split()[2]
    assert stored == git(clone.root, "hash-object", "--no-filters", FILES[1])


def test_the_same_submitted_twice_is_one_branch(clone: Clone) -> None:
    submit(clone, "--remote", clone.bare)
    first = git(clone.bare, "rev-parse", BRANCH)
    assert submit(clone, "--remote", clone.bare).stdout == f"{BRANCH}\n"
    git(clone.root, "branch", "-D", BRANCH)
    assert submit(clone, "--remote", clone.bare).stdout == f"{BRANCH}\n"
    assert git(clone.bare, "rev-parse", BRANCH) == first
    assert git(clone.bare, "for-each-ref", "--format=%(refname:short)").splitlines() == ["main", BRANCH]


def test_another_run_of_the_same_day_gets_a_branch_of_its_own(clone: Clone) -> None:
    submit(clone, "--remote", clone.bare)
    write_submission(clone.data, another_run(), folder=f"{FOLDER}-2")
    second = clone.data / "results/test-machine" / f"{FOLDER}-2"
    assert submit(clone, second, "--remote", clone.bare).stdout == f"{BRANCH}-2\n"
    assert changed_by(clone.bare, f"{BRANCH}-2") == [f"{SUBMISSION}-2/machine.json", f"{SUBMISSION}-2/samples.csv"]


def test_each_machine_has_a_branch_of_its_own(clone: Clone) -> None:
    values = machine_values()
    values["machine"]["id"] = "other-machine"
    write_submission(clone.data, another_run(), values)
    branches = submit(clone, "--remote", clone.bare).stdout.splitlines()
    assert branches == ["submit/other-machine-2026-11-20", BRANCH]


def test_what_is_published_is_not_submitted_again(clone: Clone) -> None:
    git(clone.root, "add", "data")
    git(clone.root, "commit", "--quiet", "-m", "Merged")
    outcome = submit(clone)
    assert outcome.stdout == ""
    assert "all in it is published already" in outcome.stderr
    git(clone.root, "push", "--quiet", "origin", "main")
    with pytest.raises(ProbeEffectError, match=f"is published already.*{FOLDER}-2"):
        submit(clone, clone.submission, "--remote", "origin")


def test_where_nothing_is_complete_the_message_says_what_to_do(clone: Clone) -> None:
    (clone.submission / "plan.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"holds nothing that is complete\. Measure first"):
        submit(clone)


def test_a_run_that_is_not_complete_is_left_out(clone: Clone) -> None:
    half = write_submission(clone.data, another_run(), folder=f"{FOLDER}-2")
    (half / "plan.json").write_text("{}", encoding="utf-8")
    outcome = submit(clone, "--remote", clone.bare)
    assert f"left out: {half} is not complete" in outcome.stderr
    assert changed_by(clone.bare, BRANCH) == FILES


def test_without_gh_nothing_is_pushed_and_every_step_is_named(clone: Clone) -> None:
    git(clone.root, "remote", "set-url", "origin", f"{THEIRS}.git")
    before = git(clone.bare, "for-each-ref")
    outcome = submit(clone)
    assert outcome.stdout == f"{BRANCH}\n"
    assert changed_by(clone.root, BRANCH) == FILES
    for step in (
        f"{THEIRS}/fork",
        f"git push https://github.com/YOU/probe-effect.git {BRANCH}",
        f"{THEIRS}/compare/HEAD...YOU:{BRANCH}",
    ):
        assert step in outcome.stderr
    assert git(clone.bare, "for-each-ref") == before


# The pull request


def test_who_may_write_pushes_and_opens_the_pull_request(clone: Clone) -> None:
    clone.log_in()
    assert submit(clone).stdout == f"{THEIRS}/pull/7\n"
    assert changed_by(clone.bare, BRANCH) == FILES
    title = "Results of test-machine: per-event"
    assert clone.calls()[-1] == f"pr create --repo {THEIRS} --head {BRANCH} --title {title} --body-file -"
    assert f"- `{SUBMISSION}`" in (clone.github / "body").read_text(encoding="utf-8")


def test_the_pull_request_says_what_counts_change_in_the_series_over_releases(clone: Clone) -> None:
    shutil.rmtree(clone.submission)
    for machine, kernel, count in (("qemu-a", "6.1.0-50-amd64", 640), ("qemu-b", "6.12.107-amd64", 700)):
        costs = {"02-kprobe libbpf": count}
        rows = [replace(row, instructions=(row.instructions or 0) + count) for row in counted_rows(costs)]
        write_counted_submission(clone.data, rows, counted_values(kernel, machine))
        git(clone.root, "add", "data/results/qemu-a")
        git(clone.root, "commit", "--quiet", "--allow-empty", "-m", "Merged")
    clone.log_in()
    submit(clone)
    assert "6.1 to 6.12, x86-64&#58; Kprobe with libbpf 1.1" in (clone.github / "body").read_text(encoding="utf-8")


def test_who_may_not_write_gets_a_fork(clone: Clone) -> None:
    clone.log_in()
    clone.close_to_us()
    assert submit(clone).stdout == f"{THEIRS}/pull/7\n"
    assert changed_by(clone.fork, BRANCH) == FILES
    assert f"--head me:{BRANCH}" in clone.calls()[-1]


def test_a_clone_of_a_fork_sends_to_what_it_was_forked_from(clone: Clone) -> None:
    clone.log_in()
    git(clone.root, "remote", "set-url", "origin", f"{MINE}.git")
    clone.says("repo.json", {"source": {"owner": {"login": "them"}, "name": "probe-effect"}})
    submit(clone)
    assert f"pr create --repo {THEIRS} " in clone.calls()[-1]


def test_a_fork_that_measures_for_itself_keeps_its_pull_request(clone: Clone) -> None:
    clone.log_in()
    git(clone.root, "remote", "set-url", "origin", f"{MINE}.git")
    clone.says("repo.json", {"source": {"owner": {"login": "them"}, "name": "probe-effect"}})
    submit(clone, "--here")
    assert f"pr create --repo {MINE} " in clone.calls()[-1]
    assert not any("api" in call for call in clone.calls())  # the token of a workflow may ask nothing of others
    assert changed_by(clone.fork, BRANCH) == FILES


def test_a_pull_request_that_is_open_already_is_named_and_not_opened_again(clone: Clone) -> None:
    clone.log_in()
    theirs = {"url": "https://github.com/them/probe-effect/pull/3", "headRepositoryOwner": {"login": "them"}}
    clone.says("open.json", [theirs | {"headRepositoryOwner": {"login": "x"}, "url": "no"}, theirs])
    assert submit(clone).stdout == f"{theirs['url']}\n"
    assert not any(call.startswith("pr create") for call in clone.calls())


def test_a_push_that_fails_for_another_reason_makes_no_fork(clone: Clone) -> None:
    clone.log_in()
    clone.close_to_us()
    hook = clone.bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'the disk is full' >&2\nexit 1\n", encoding="utf-8")
    with pytest.raises(Refused, match="the disk is full"):
        submit(clone)
    assert not any("forks" in call for call in clone.calls())


def test_a_remote_that_looks_like_an_option_is_wrong_usage(clone: Clone) -> None:
    with pytest.raises(UsageError, match="is no remote"):
        submit(clone, "--remote=--upload-pack=touch x")


def test_a_commit_is_never_made_in_a_name_that_git_made_up(clone: Clone) -> None:
    clone.settings.write_text("", encoding="utf-8")
    with pytest.raises(HostNotReady, match=r"git config --global user\.name"):
        submit(clone, "--remote", clone.bare)


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/them/probe-effect",
        "https://github.com/them/probe-effect.git",
        "git@github.com:them/probe-effect.git",
        "ssh://git@github.com/them/probe-effect/",
    ],
)
def test_a_repository_is_known_by_every_form_of_its_address(address: str) -> None:
    assert repository_of(address) == Repository("github.com", "them", "probe-effect")


@pytest.mark.parametrize("address", [None, "/srv/bare", "../bare", "file:///srv/bare", "https://example.org/x"])
def test_a_folder_is_no_repository(address: str | None) -> None:
    assert repository_of(address) is None


# What it refuses


def test_errors_of_the_check_stop_it(clone: Clone) -> None:
    (clone.submission / "notes.txt").write_text("by hand", encoding="utf-8")
    with pytest.raises(BadData) as refusal:
        submit(clone, "--remote", clone.bare)
    assert [problem.rule for problem in refusal.value.problems] == ["known-files"]
    assert git(clone.bare, "branch", "--list", "submit/*") == ""


SECRETS = {
    "host name": "gandalf",
    "user name": "frodo",
    "home folder": "/srv/hobbits/frodo",
    "network address": "192.0.2.44",
    "serial number": "PF-77AB12",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_what_names_this_machine_or_its_user_is_found_with_file_and_line(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("probe_effect.cli.intake_run.marks_of_host", lambda: [Mark(kind, SECRETS[kind])])
    shutil.rmtree(clone.submission)
    note = skipped_row(3, note=f"cannot open {SECRETS[kind].upper()}: no")
    write_submission(clone.data, [*many_blocks(1), note, *many_blocks(8)[3:]])
    with pytest.raises(BadData) as refusal:
        submit(clone, "--remote", clone.bare)
    (problem,) = refusal.value.problems
    assert (problem.rule, problem.file, problem.line) == ("private", FILES[1], 5)
    assert f"`{SECRETS[kind].upper()}`, this machine's {kind}" in problem.message
    assert submit(clone, "--remote", clone.bare, "--allow", SECRETS[kind]).stdout == f"{BRANCH}\n"


@pytest.mark.parametrize("text", ["52:54:00:12:34:56", "/home/somebody/x", "/Users/somebody"])
def test_what_belongs_in_no_submission_is_found_whosever_it_is(clone: Clone, text: str) -> None:
    shutil.rmtree(clone.submission)
    write_submission(clone.data, [*many_blocks(1), skipped_row(3, note=f"see {text}"), *many_blocks(8)[3:]])
    with pytest.raises(BadData) as refusal:
        submit(clone)
    assert [(problem.rule, problem.line) for problem in refusal.value.problems] == [("private", 5)]


def test_a_name_inside_another_word_is_not_found(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "probe_effect.cli.intake_run.marks_of_host", lambda: [Mark("user name", "exam"), Mark("host name", "bpf")]
    )
    assert submit(clone, "--remote", clone.bare).stdout == f"{BRANCH}\n"


def test_a_credit_may_be_the_name_of_the_user(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe_effect.cli.intake_run.marks_of_host", lambda: [Mark("user name", "frodo")])
    submit(clone, "--remote", clone.bare, "--name", "Frodo")
    assert submit(clone, "--remote", clone.bare).stdout == f"{BRANCH}\n"
    assert credit(clone.submission) == "Frodo"


FIB_TRIE = """\
  |-- 127.0.0.1
     /32 host LOCAL
  |-- 192.0.2.44
     /32 host LOCAL
  |-- 192.0.2.0
"""
IF_INET6 = """\
20010db8000000000000000000000044 02 40 00 80 eth0
00000000000000000000000000000001 01 80 10 80 lo
"""


def host(root: Path) -> Path:
    """The files of a host that has something to tell."""
    files = {
        "proc/sys/kernel/hostname": "gandalf.shire.example\n",
        "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "sys/class/dmi/id/product_serial": "PF-77AB12\n",
        "sys/class/dmi/id/board_serial": "To be filled by O.E.M.\n",
        "sys/class/net/eth0/address": "52:54:00:12:34:56\n",
        "sys/class/net/lo/address": "00:00:00:00:00:00\n",
        "proc/net/fib_trie": FIB_TRIE,
        "proc/net/if_inet6": IF_INET6,
        "proc/cpuinfo": "model name : x\nSerial\t\t: 10000000abcdef01\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_names_addresses_and_serials_of_a_machine_are_known_and_what_every_machine_has_is_not(tmp_path: Path) -> None:
    marks = marks_of_host(host(tmp_path), {"SUDO_USER": "frodo", "USER": "root", "HOME": "/root"})
    ours = {"user name"} if os.getuid() else set()  # whoever runs the test is a user too
    assert {(mark.kind, mark.text) for mark in marks if mark.kind not in ours} | {("user name", "frodo")} == {
        ("host name", "gandalf.shire.example"),
        ("host name", "gandalf"),
        ("user name", "frodo"),
        ("network address", "192.0.2.44"),
        ("network address", "2001:db8::44"),
        ("network address", "52:54:00:12:34:56"),
        ("serial number", "0123456789abcdef0123456789abcdef"),
        ("serial number", "PF-77AB12"),
        ("serial number", "10000000abcdef01"),
    }


def test_a_machine_that_tells_nothing_is_no_fault(tmp_path: Path) -> None:
    assert {mark.kind for mark in marks_of_host(tmp_path, {})} <= {"host name", "user name"}


# Credit


def test_a_credit_stands_in_the_commit_and_on_disk(clone: Clone) -> None:
    submit(clone, "--remote", clone.bare, "--name", "Ada Example")
    assert credit(clone.submission) == "Ada Example"
    assert json.loads(git(clone.bare, "show", f"{BRANCH}:{FILES[0]}"))["submitter"] == {
        "name": "Ada Example",
        "url": None,
    }


def test_a_credit_from_the_measurement_is_kept_and_can_be_taken_back(clone: Clone) -> None:
    shutil.rmtree(clone.submission)
    values = machine_values()
    values["submitter"] = {"name": "Ada", "url": "https://example.org/ada"}
    write_submission(clone.data, values=values)
    submit(clone, "--remote", clone.bare)
    assert credit(clone.submission) == "Ada"
    submit(clone, "--remote", clone.bare, "--no-name")
    assert json.loads((clone.submission / "machine.json").read_text())["submitter"] == {"name": None, "url": None}


def test_nothing_is_asked_where_nobody_can_answer(clone: Clone) -> None:
    outcome = run("--data", clone.data, "--remote", clone.bare)
    assert "?" not in outcome.stderr
    assert credit(clone.submission) is None


def test_at_a_terminal_it_asks_for_a_name_and_whether_to_go_on(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    outcome = run("--data", clone.data, "--remote", clone.bare, answers="Ada\ny\n")
    assert "Name to credit" in outcome.stderr
    assert "Go on?" in outcome.stderr
    assert credit(clone.submission) == "Ada"


def test_an_answer_of_no_changes_nothing(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    before = tree(clone.root.parent)
    with pytest.raises(click.Abort):
        run("--data", clone.data, "--remote", clone.bare, "--name", "Ada", answers="n\n")
    assert tree(clone.root.parent) == before


BAD_NAMES = [
    "",
    " ",
    "a\nb",
    "a\u202eb",
    "a\u200bb",
    "=cmd()",
    "@me",
    "see https://example.org",
    "www.example.org",
    "x" * 101,
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_no_name_is_wrong_usage(name: str) -> None:
    with pytest.raises(click.UsageError, match="--name"):
        run("--name", name)


@pytest.mark.parametrize("name", ["Ada", "李雷", "O'Brien, J.", "<img src=x onerror=alert(1)>", "x" * 100])
def test_a_name_is_any_text_that_can_be_read(name: str) -> None:
    assert Submitter(name=name, url=None).name == name


def test_one_asks_for_a_name_or_for_none(clone: Clone) -> None:
    with pytest.raises(click.UsageError, match="one of them"):
        submit(clone, "--name", "Ada", "--no-name")


def test_a_credit_that_cannot_be_written_says_so(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        msg = "machine.json: cannot be written: Permission denied"
        raise HostNotReady(msg)

    monkeypatch.setattr("probe_effect.intake.bundle.write_document", refuse)
    with pytest.raises(HostNotReady, match="Permission denied"):
        submit(clone, "--remote", clone.bare, "--name", "Ada")


# Outside a clone


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plain folder, in which one suite was measured."""
    write_data(tmp_path / OWN_FOLDER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.deep
def test_outside_a_clone_the_folder_is_ready_and_the_steps_are_named(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "probe_effect.intake.pull_request.installed_from", lambda: Repository("github.com", "them", "probe-effect")
    )
    outcome = run("--name", "Ada")
    root = elsewhere / OWN_FOLDER
    assert outcome.stdout == f"{root}\n"
    assert all((root / file).is_file() for file in FILES)
    assert credit(root / SUBMISSION) == "Ada"
    for step in (f"{THEIRS}/upload/HEAD/", str(root / "data"), "Propose changes"):
        assert step in outcome.stderr


def test_outside_a_clone_a_folder_from_anywhere_is_laid_out_as_in_the_repository(elsewhere: Path) -> None:
    (elsewhere / "out").mkdir()
    shutil.move(elsewhere / OWN_FOLDER / "data/results/test-machine", elsewhere / "out/test-machine")
    outcome = run(elsewhere / "out" / "test-machine" / FOLDER)
    assert outcome.stdout == f"{elsewhere / OWN_FOLDER}\n"
    assert "make a fork" in outcome.stderr
    assert run(elsewhere / "out", "--name", "Ada").return_value is None
    assert credit(elsewhere / OWN_FOLDER / SUBMISSION) == "Ada"
    rows = elsewhere / OWN_FOLDER / FILES[1]
    rows.write_text(rows.read_text(encoding="utf-8").replace(",100000,", ",100001,"), encoding="utf-8")
    with pytest.raises(ProbeEffectError, match="holds another run"):
        run(elsewhere / "out")


def test_outside_a_clone_a_dry_run_changes_nothing(elsewhere: Path) -> None:
    before = tree(elsewhere)
    assert run("--dry-run", "--name", "Ada").stdout == f"{OWN_FOLDER}/data/results/test-machine\n"
    assert tree(elsewhere) == before


def test_outside_a_clone_nothing_can_be_pushed(elsewhere: Path) -> None:
    with pytest.raises(UsageError, match="is in no clone"):
        run("--remote", "origin")
    assert checkout_of(elsewhere / OWN_FOLDER / "data") is None


def test_where_nothing_was_measured_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="where `probe-effect measure` was run"):
        run()
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no submission"):
        run(tmp_path / "empty")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_root_makes_nothing_in_a_users_clone_and_says_who_is_to_do_it(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    os.chown(clone.root, NOBODY, -1)
    monkeypatch.setenv("SUDO_UID", str(NOBODY))  # as whom git lets root in
    monkeypatch.setenv("SUDO_GID", str(NOBODY))
    before = sorted((clone.root / ".git").rglob("*"))
    with pytest.raises(HostNotReady, match=r"belongs to nobody(.|\n)*without sudo: it needs no root"):
        submit(clone, clone.root / SUBMISSION, "--no-name", *words)
    assert sorted((clone.root / ".git").rglob("*")) == before
