"""`probe-effect measure`: its words and its exit statuses."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fakes.project import FakeProject, asked_by, document, rows
from probe_effect.cli.measure import measure as command
from probe_effect.host import system
from probe_effect.host.load import load_before_ours
from probe_effect.model import HostNotReady, UsageError
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.tracers.bpftrace import Bpftrace

SUITES = Path(__file__).parents[2] / "data" / "suites"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    made = asked_by(monkeypatch, tmp_path, "measure_settings")
    made.case("01-plain")
    made.case("02-kernel-function", needs="kprobe")
    return made


def run(project: FakeProject, *arguments: str) -> Result:
    options = ["--data", str(project.data.root), "--quick", *arguments]
    return CliRunner().invoke(command, options, catch_exceptions=False, standalone_mode=False)


def test_the_product_is_the_folder_and_the_rest_is_told_on_the_side(project: FakeProject) -> None:
    outcome = run(project, "tiny", "--blocks", "2", "--seed", "5")
    (submission,) = project.data.submissions()
    assert outcome.stdout == f"{submission.folder}\n"
    assert document(submission).run.blocks == 2


def test_the_recorded_command_repeats_the_run_and_names_no_folder(project: FakeProject, tmp_path: Path) -> None:
    out = tmp_path / "home" / "alice"
    run(project, "tiny", "--blocks", "1", "--seed", "5", "--out", str(out), "--name", "Alice", "--case", "01-plain")
    (folder,) = out.glob("*/*")
    found = document(SubmissionFolder(folder))
    words = ("probe-effect", "measure", "tiny", "--case", "01-plain", "--quick", "--blocks", "1", "--seed", "5")
    assert found.run.command == words
    assert found.submitter.name == "Alice"
    assert found.provenance.kind == "third-party"


def test_the_load_of_an_earlier_suite_is_not_taken_for_that_of_others(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = iter([0.25, *[2.0] * 9])
    monkeypatch.setattr("os.getloadavg", lambda: (next(loads), 0.0, 0.0))
    load_before_ours.cache_clear()
    for _ in range(2):
        run(project, "tiny", "--blocks", "1")
    assert [document(one).run.load_before for one in project.data.submissions()] == [0.25, 0.25]
    assert {document(one).run.load_after for one in project.data.submissions()} == {2.0}
    load_before_ours.cache_clear()


def test_a_machine_of_the_fleet_says_its_name(project: FakeProject) -> None:
    run(project, "--blocks", "1", "--case", "01-plain", "--provenance", "project", "--fleet-name", "thinkpad-x1")
    (submission,) = project.data.submissions()
    assert document(submission).provenance.fleet_name == "thinkpad-x1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fleet-name", "thinkpad-x1"], "goes with --provenance project"),
        (["--fleet-name", "Alice's box", "--provenance", "project"], "expected small letters, digits"),
    ],
)
def test_only_the_fleet_has_names_and_they_are_plain(project: FakeProject, words: list[str], said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        run(project, "--dry-run", *words)


def test_without_a_number_of_blocks_a_quick_run_makes_as_many_as_carry_an_interval(project: FakeProject) -> None:
    run(project)
    (submission,) = project.data.submissions()
    assert {row.block for row in rows(submission)} == set(range(6))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["tinny"], "tinny: no such suite; did you mean tiny", id="suite"),
        pytest.param(["--case", "01-plane"], "did you mean 01-plain", id="case"),
        pytest.param(["--tracer", "bpftrase"], "did you mean bpftrace", id="tracer"),
        pytest.param(["--tracer", "zzz"], "known: bpftrace", id="nothing near"),
        pytest.param(["--tracer", "bpftrase=/bin/sh"], "did you mean bpftrace", id="tracer with a path"),
    ],
)
def test_an_unknown_name_is_wrong_usage_with_the_nearest_ones(
    project: FakeProject, arguments: list[str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run(project, *arguments)


def test_without_root_the_host_is_not_ready(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostNotReady, match="sudo"):
        run(project)


@dataclass(frozen=True, slots=True)
class Rootless(Bpftrace):
    """The fake bpftrace, as if it needed no root."""

    def available(self) -> str | None:
        return None


@pytest.mark.parametrize("arguments", [[], ["--tracer", "bpftrace"]], ids=["all tracers", "one that needs root"])
def test_without_root_the_message_says_what_can_run_all_the_same(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    project.tracers["modest"] = Rootless(id="modest", root=project.root / "kernel")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostNotReady) as refusal:
        run(project, *arguments)
    assert str(refusal.value).splitlines() == [
        "bpftrace: bpftrace needs root; run this command with sudo",
        "these can measure without root: modest",
        "  probe-effect measure --tracer modest",
        "those that need root: the same command with sudo; what to install: probe-effect doctor",
    ]
    assert project.data.submissions() == []


def test_without_root_a_tracer_that_needs_none_measures(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.tracers["modest"] = Rootless(id="modest", root=project.root / "kernel")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    run(project, "--tracer", "modest", "--blocks", "1")
    (submission,) = project.data.submissions()
    assert {row.tracer for row in rows(submission) if row.status == "ok"} == {"none", "modest"}


def test_with_root_a_tracer_that_is_not_there_does_not_keep_the_others_from_measuring(project: FakeProject) -> None:
    project.tracers["absent"] = Bpftrace(program="nonsense", id="absent", root=project.root / "kernel")
    run(project, "--blocks", "1")
    assert len(project.data.submissions()) == 1


def test_a_dry_run_prints_the_plan_and_measures_nothing(project: FakeProject, tmp_path: Path) -> None:
    project.case("03-counted", counted_by="twin", twin="nothing")
    outcome = run(project, "tiny", "--dry-run", "--blocks", "5", "--seed", "7")
    text = " ".join(outcome.stdout.split())
    assert outcome.return_value is None
    assert text.startswith("tiny: Does the harness work?")
    assert "5, in the random order of seed 7" in text
    assert "about 21 (10 baseline, 10 traced, 1 only to count events)" in text
    assert "probe-effect measure tiny --quick --blocks 5 --seed 7" in text
    assert "bpftrace 01-plain, 03-counted" in text
    assert "skipped this kernel has no kprobes" in text
    assert "bpftrace: 02-kernel-function" in text
    assert project.data.submissions() == []
    assert not (tmp_path / "cache").exists()


def test_a_dry_run_names_the_levels_and_each_case_once(tmp_path: Path, project: FakeProject) -> None:
    leveled = FakeProject(tmp_path / "leveled")
    leveled.factor(0, 2000)
    leveled.case("01-plain")
    leveled.case("02-kernel-function", needs="kprobe")
    project.tracers = leveled.tracers
    text = " ".join(run(leveled, "--dry-run", "--blocks", "5").stdout.split())
    assert "levels 0, 2000 (ns of work), in random order in each block" in text
    assert "about 30 (20 baseline, 10 traced)" in text
    assert "bpftrace 01-plain skipped" in text
    assert text.endswith("bpftrace: 02-kernel-function")


def test_a_case_of_another_architecture_is_no_part_of_the_plan_and_is_said_to_be_left_out(project: FakeProject) -> None:
    project.case("03-of-arm", architectures=["aarch64"])
    project.case("04-of-x86", architectures=["x86_64"])
    here, elsewhere = ("03-of-arm", "04-of-x86") if system.architecture() == "aarch64" else ("04-of-x86", "03-of-arm")
    text = " ".join(run(project, "--dry-run").stdout.split())
    assert f"bpftrace 01-plain, {here}" in text
    assert f"left out cases of another architecture: {elsewhere}" in text
    run(project, "tiny")
    (submission,) = project.data.submissions()
    assert {row.case for row in rows(submission)} >= {here, "02-kernel-function"}
    assert elsewhere not in {row.case for row in rows(submission)}


def test_a_case_of_another_architecture_that_is_named_is_refused(project: FakeProject) -> None:
    project.case("03-elsewhere", architectures=["aarch64" if system.architecture() != "aarch64" else "x86_64"])
    with pytest.raises(UsageError, match="03-elsewhere: a case of another architecture; the machine is"):
        run(project, "tiny", "--case", "03-elsewhere")


def test_a_dry_run_leaves_what_others_left_behind(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", lambda: pytest.fail("looked for leftovers"))
    run(project, "--dry-run")


def test_a_dry_run_of_a_suite_without_a_case_for_this_machine_says_so(project: FakeProject) -> None:
    text = run(project, "--dry-run", "--case", "02-kernel-function").stdout
    assert "nothing of this suite can be measured here" in text


def test_a_continued_run_has_its_plan_already(project: FakeProject) -> None:
    with pytest.raises(click.UsageError, match="--resume takes suites, --vm, --arch and --out"):
        run(project, "--dry-run", "--resume")


def test_without_tracefs_the_host_is_not_ready(project: FakeProject, tmp_path: Path) -> None:
    project.tracers["bpftrace"] = Bpftrace(root=tmp_path / "nowhere")
    with pytest.raises(HostNotReady, match="mount -t tracefs"):
        run(project)


def test_an_unusable_credit_is_wrong_usage(project: FakeProject) -> None:
    outcome = CliRunner().invoke(command, ["--data", str(project.data.root), "--url", "javascript:alert(1)"])
    assert outcome.exit_code == 2
    assert "https://example.org/me" in outcome.output


def reason_not_to_measure() -> str | None:
    if shutil.which("cc") is None:
        return "no C compiler: `cc` is not on the PATH"
    return Bpftrace().available() or Bpftrace().missing("tracepoint")


@pytest.mark.tracer
@pytest.mark.skipif(reason_not_to_measure() is not None, reason=f"cannot trace here: {reason_not_to_measure()}")
def test_a_real_tracepoint_is_measured_and_its_events_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    shutil.copytree(SUITES, tmp_path / "suites")
    case = ["per-event", "--case", "04-tracepoint-entry", "--tracer", "bpftrace"]
    arguments = [*case, "--quick", "--blocks", "2", "--data", str(tmp_path)]
    CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)
    (submission,) = DataFolder(tmp_path).submissions()
    found = rows(submission)
    assert [row.status for row in found] == ["ok"] * 7
    (check,) = (row for row in found if row.arm == "check")
    assert check.events is not None
    assert check.seen is not None
    # Other programs read too while this one runs; what may not happen is that events go missing.
    assert check.seen >= check.events
    assert document(submission).run.ended is not None
