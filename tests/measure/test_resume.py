"""A run that was cut short is continued by the same plan, or refused with what has changed since."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fakes.project import (
    FAKES,
    FakeProject,
    as_root,
    document,
    on_the_path,
    rows,
    started_by,
    wait_until,
    work_folders_of,
)
from helpers.builders import write_samples
from probe_effect.checks.run import check
from probe_effect.cli.measure import measure as command
from probe_effect.host import system
from probe_effect.measure.bench import plan
from probe_effect.measure.one_run import Interrupted
from probe_effect.measure.submission import command_to_go_on
from probe_effect.model import GIVE_UP_AFTER, BadData, Estimate, HostNotReady, ProbeEffectError, UsageError
from probe_effect.store.documents import write_document
from probe_effect.store.machine_file import read_plan_file
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.tool import with_paths

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from probe_effect.measure.bench import Progress
    from probe_effect.model import Sample
    from probe_effect.store.places import SubmissionFolder

BLOCKS = 3
MANY_BLOCKS = 16
SEED = 7
"""That of `FakeProject.settings`."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    made.case("01-plain", counted_by="twin", twin='print: {"type": "map", "data": {"@": 100000}}')
    made.case("02-kernel-function", needs="kprobe")
    made.case("03-map", 'print: {"type": "map", "data": {"@": 41}}', counted_by="maps")
    return made


def stop_after(number: int) -> Callable[[Progress], None]:
    """Has a run stopped once so many rows are there."""

    def stop(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == number:
            msg = "stopped by the test"
            raise Interrupted(msg)

    return stop


def cut_short(project: FakeProject, number: int = 3, blocks: int = BLOCKS) -> SubmissionFolder:
    """A run that was stopped after so many rows."""
    with pytest.raises(Interrupted, match="stopped by the test"):
        project.measure(blocks, stop_after(number))
    return project.data.submissions()[-1]


def places(found: list[Sample]) -> list[tuple[int, int, str, str, str]]:
    return [(row.block, row.position, row.case, row.tracer, row.arm) for row in found]


def planned(place: SubmissionFolder) -> list[tuple[int, int, str, str, str]]:
    """The places that a run which is not complete is to have, by its plan on disk."""
    found, problems = read_plan_file(place.plan_file, "plan.json")
    assert problems == []
    assert found is not None
    runs = plan(found.subjects, BLOCKS, SEED)
    return [(one.block, one.position, one.subject.case, one.subject.tracer, one.arm) for one in runs]


def run(project: FakeProject, *arguments: str) -> Result:
    return CliRunner().invoke(
        command, ["--data", str(project.data.root), *arguments], catch_exceptions=False, standalone_mode=False
    )


@pytest.fixture
def machine_of_fakes(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    """The project, with the command asking the fakes only, and tidying up after nobody."""
    monkeypatch.setattr("probe_effect.cli.measure_settings.known_tracers", lambda: project.tracers)
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    return project


# Going on


@pytest.mark.parametrize("number", [0, 7, 13])
def test_a_run_that_goes_on_makes_the_rows_that_are_left_in_the_order_of_the_plan(
    project: FakeProject, number: int
) -> None:
    whole = project.measure(BLOCKS)
    place = cut_short(project, number)
    before = place.samples.read_bytes()
    seen: list[Progress] = []
    found = project.resume(seen.append)
    assert places(found) == places(whole)
    assert place.samples.read_bytes().startswith(before)
    assert [progress.done for progress in seen if progress.phase == "measuring"] == list(range(number, len(whole)))


def test_a_run_that_went_on_says_when_and_is_a_submission_like_any_other(project: FakeProject) -> None:
    place = cut_short(project)
    assert place.plan_file.exists()
    project.resume()
    found = document(place).run
    assert found.ended is not None
    assert found.started <= found.resumed[0] <= found.ended
    assert not place.plan_file.exists()
    assert [problem for problem in check([place.folder], project.data) if problem.severity == "error"] == []


def test_the_cost_so_far_takes_in_the_rows_from_before(project: FakeProject) -> None:
    of_six_blocks = 6 + 5 * 4
    cut_short(project, of_six_blocks, blocks=7)
    seen: list[Progress] = []
    project.resume(seen.append)
    first = next(progress.cost for progress in seen if progress.cost is not None)
    assert first == Estimate(0.0, 0.0, 0.0)


def test_a_case_that_failed_before_is_given_up_as_if_the_run_had_not_been_cut_short(project: FakeProject) -> None:
    project.case("04-fickle")
    script = project.suite / "04-fickle.bt"
    sound = script.read_text(encoding="utf-8")

    def spoil(progress: Progress) -> None:
        if progress.phase == "measuring":
            script.write_text("// fake: dies\n", encoding="utf-8")

    def spoil_and_stop(progress: Progress) -> None:
        spoil(progress)
        if progress.finished and progress.finished.status == "failed":
            script.write_text(sound, encoding="utf-8")
            msg = "stopped by the test"
            raise Interrupted(msg)

    with pytest.raises(Interrupted):
        project.measure(BLOCKS, spoil_and_stop)
    found = project.resume(spoil)
    assert [row.status for row in found if row.case == "04-fickle"] == ["failed"] * GIVE_UP_AFTER


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(1, id="its line end is missing"),
        pytest.param(3, id="its last cells are missing"),
        pytest.param(40, id="half of it is missing"),
    ],
)
def test_a_row_that_is_torn_is_made_again(project: FakeProject, cut: int) -> None:
    place = cut_short(project)
    wanted = planned(place)
    os.truncate(place.samples, place.samples.stat().st_size - cut)
    assert places(project.resume()) == wanted


@pytest.mark.deep
def test_a_run_that_is_killed_again_and_again_loses_no_row_has_none_twice_and_leaves_no_process(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kills = tmp_path / "kills"
    kills.mkdir()
    monkeypatch.setenv("FAKE_KILLS", str(kills))
    arguments = ["--quick", "--blocks", str(MANY_BLOCKS), "--seed", str(SEED)]
    kept = b""
    for moment, runs in ((None, 0), ("at-start", 1), ("in-the-run", 5), ("at-stop", 3)):
        if moment is not None:  # by the tracer; else by us, whatever it does at that moment
            (kills / moment).write_text(f"{runs}\n", encoding="utf-8")
        with project.start(*arguments) as running:
            if moment is None:
                project.wait_for_rows(1)
                running.kill()
            assert running.wait(60) == -signal.SIGKILL
            leave_nothing_of(running.pid)
        (place,) = project.data.submissions()
        assert place.samples.read_bytes().startswith(kept)
        kept = whole_lines(place)
        arguments = ["--resume"]
    with project.start("--resume") as running:
        out, _ = running.communicate(timeout=120)
    assert (running.returncode, out) == (0, f"{place.folder}\n")
    assert place.samples.read_bytes().startswith(kept)
    assert len(document(place).run.resumed) == 4
    found = rows(place)
    assert {row.status for row in found} == {"ok", "skipped"}
    project.results = tmp_path / "elsewhere"
    assert places(found) == places(project.measure(MANY_BLOCKS))


def leave_nothing_of(pid: int) -> None:
    """Return when all is gone that the killed process `pid` had started; the next run would remove its folders."""
    wait_until(lambda: started_by(pid) == [])
    for folder in work_folders_of(pid):
        shutil.rmtree(folder)


def whole_lines(place: SubmissionFolder) -> bytes:
    text = place.samples.read_bytes()
    return text[: text.rfind(b"\n") + 1]


def test_a_plan_that_was_written_before_there_were_levels_is_read(project: FakeProject) -> None:
    place = cut_short(project)
    written = json.loads(place.plan_file.read_text(encoding="utf-8"))
    del written["level_operations"]
    for subject in written["subjects"]:
        del subject["level"]
    place.plan_file.write_text(json.dumps(written), encoding="utf-8")
    assert {row.status for row in project.resume()} == {"ok", "skipped"}


# Refusals


def changed_suite(project: FakeProject, _: pytest.MonkeyPatch) -> None:
    (project.suite / "03-map.bt").write_text("// another script\n", encoding="utf-8")


def changed_header(project: FakeProject, _: pytest.MonkeyPatch) -> None:
    project.header.write_text("int other;", encoding="utf-8")


def changed_version(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    del project
    on_the_path(monkeypatch, FAKES / "newer")


def changed_machine(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    del project
    monkeypatch.setattr("probe_effect.host.system.governor", lambda _: "powersave")


def changed_system(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    del project
    monkeypatch.setattr(system, "clocksource", lambda _: "clock of the test")


def changed_compiler(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    del project
    monkeypatch.setattr("probe_effect.host.compilers._version", lambda _: "fake-cc 2.0")


def changed_tool(project: FakeProject, _: pytest.MonkeyPatch) -> None:
    place = project.data.submissions()[-1]
    found = document(place)
    older = found.provenance.model_copy(update={"tool": "probe-effect 0.0.9"})
    write_document(place.machine_file, found.model_copy(update={"provenance": older}))


def changed_clock(project: FakeProject, _: pytest.MonkeyPatch) -> None:
    place = project.data.submissions()[-1]
    found = document(place)
    later = found.run.model_copy(update={"started": "2999-01-01T00:00:00Z"})
    write_document(place.machine_file, found.model_copy(update={"run": later}))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(changed_suite, "the files of suite tiny have changed", id="suite"),
        pytest.param(changed_header, "the files of suite tiny have changed", id="header"),
        pytest.param(changed_version, "bpftrace was bpftrace v0.0.0 and is bpftrace v0.0.1", id="version"),
        pytest.param(changed_machine, "machine.governor was .* and is powersave", id="machine"),
        pytest.param(changed_system, "system.clocksource was .* and is clock of the test", id="system"),
        pytest.param(changed_compiler, r"the compiler was fake-cc 1\.0 .* and is fake-cc 2\.0 ", id="compiler"),
        pytest.param(changed_tool, r"it was begun by probe-effect 0\.0\.9", id="our own version"),
        pytest.param(changed_clock, "it began at 2999-01-01T00:00:00Z, which .* is still to come", id="clock"),
    ],
)
def test_what_has_changed_since_is_named_and_the_rows_are_kept(
    project: FakeProject,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[FakeProject, pytest.MonkeyPatch], None],
    words: str,
) -> None:
    place = cut_short(project)
    before = place.samples.read_bytes()
    change(project, monkeypatch)
    with pytest.raises(HostNotReady, match=f"cannot be continued, as {words}") as refusal:
        project.resume()
    assert "its rows are kept; to measure again, omit --resume" in str(refusal.value)
    assert place.samples.read_bytes() == before
    assert document(place).run.resumed == ()


def test_a_tracer_that_cannot_run_any_more_is_named(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(project)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostNotReady, match="bpftrace: bpftrace needs root"):
        project.resume()
    project.tracers.clear()
    with pytest.raises(UsageError, match="bpftrace: no such tracer here, but the unfinished run has it"):
        project.resume()


def test_where_nothing_was_cut_short_there_is_nothing_to_go_on_with(project: FakeProject) -> None:
    project.measure(1)
    with pytest.raises(UsageError, match="no run was cut short here; to start one, omit --resume"):
        project.resume()


def test_a_run_that_was_cut_short_before_the_machine_changed_is_named(project: FakeProject) -> None:
    place = cut_short(project)
    other = place.folder.parent.with_name("another-machine")
    place.folder.parent.rename(other)
    with pytest.raises(UsageError, match=f"another machine, or here before .* changed: {other / place.folder.name}"):
        project.resume()


@pytest.mark.deep
def test_the_run_that_was_begun_last_goes_on(project: FakeProject) -> None:
    first, second = cut_short(project), cut_short(project)
    project.resume()
    assert first.plan_file.exists()
    assert not second.plan_file.exists()
    project.resume()
    assert not first.plan_file.exists()


def test_rows_that_cannot_be_read_are_shown_and_kept(project: FakeProject) -> None:
    place = cut_short(project)
    lines = place.samples.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[2] = "0,1,spoiled\n"
    place.samples.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(BadData) as refusal:
        project.resume()
    assert [problem.line for problem in refusal.value.problems] == [3]
    assert place.samples.read_text(encoding="utf-8") == "".join(lines)


def test_rows_of_another_plan_are_not_continued(project: FakeProject) -> None:
    place = cut_short(project)
    first, second, *others = rows(place)
    place.samples.unlink()
    exchanged = [replace(second, position=first.position), replace(first, position=second.position), *others]
    write_samples(place.samples, exchanged)
    with pytest.raises(ProbeEffectError, match=r"block 0, position 0 is .*, which is not what its plan has there"):
        project.resume()


def test_a_run_that_is_under_way_is_left_alone(project: FakeProject) -> None:
    refusals: list[str] = []

    def go_on(progress: Progress) -> None:
        if progress.phase == "measuring" and not refusals:
            with pytest.raises(HostNotReady) as refusal:
                project.resume()
            refusals.append(str(refusal.value))
            assert document(project.data.submissions()[0]).run.resumed == ()

    project.measure(1, go_on)
    assert "another measurement is running" in refusals[0]


# The command


@pytest.mark.parametrize(
    "arguments",
    [
        ["--blocks", "3"],
        ["--quick"],
        ["--seed", "1"],
        ["--case", "01-plain"],
        ["--tracer", "bpftrace"],
        ["--name", "Alice"],
        ["--provenance", "project"],
        ["--dry-run"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_to_go_on_and_to_say_anew_how_is_wrong_usage(machine_of_fakes: FakeProject, arguments: list[str]) -> None:
    cut_short(machine_of_fakes)
    outcome = CliRunner().invoke(command, ["--data", str(machine_of_fakes.data.root), "--resume", *arguments])
    assert outcome.exit_code == 2
    assert "--resume takes suites, --vm, --arch and --out" in outcome.output


def test_the_command_goes_on_with_the_suites_that_are_named_or_with_all(machine_of_fakes: FakeProject) -> None:
    project = machine_of_fakes
    project.copy_suite("second")
    project.copy_suite("third")
    folders = {}
    for project.name in ("tiny", "second", "third"):
        cut_short(project)
        (folders[project.name],) = project.results.glob(f"*/*-{project.name}")
    assert run(project, "--resume", "second").stdout == f"{folders['second']}\n"
    assert run(project, "--resume").stdout == f"{folders['tiny']}\n{folders['third']}\n"


def test_a_new_run_names_those_that_were_cut_short_earlier(machine_of_fakes: FakeProject) -> None:
    place = cut_short(machine_of_fakes)
    outcome = run(machine_of_fakes, "--quick", "--blocks", "1")
    command = f"probe-effect measure tiny --resume --data {machine_of_fakes.data.root} --out {place.folder.parents[1]}"
    assert f"cut short earlier: {place.folder}\n  to go on with it: {command}\n" in outcome.stderr


def test_a_run_whose_folder_was_moved_goes_on_where_it_is(machine_of_fakes: FakeProject, tmp_path: Path) -> None:
    place = cut_short(machine_of_fakes)
    moved = tmp_path / "elsewhere" / place.machine / place.folder.name
    moved.parent.mkdir(parents=True)
    place.folder.rename(moved)
    line = command_to_go_on(replace(place, folder=moved))
    outcome = CliRunner().invoke(command, shlex.split(line)[2:])
    assert outcome.stdout == f"{moved}\n"


@pytest.mark.deep
def test_a_second_version_by_its_path_goes_on_from_any_folder(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(FAKES)
    known = dict(project.tracers)
    project.tracers, _ = with_paths(known, ["bpftrace=newer/bpftrace"])
    cut_short(project)
    monkeypatch.chdir(tmp_path)
    project.tracers = known
    found = project.resume()
    assert {row.tracer for row in found if row.status == "ok"} == {"none", "bpftrace", "bpftrace-0-0-1"}


def test_a_second_version_whose_program_is_gone_is_named(project: FakeProject, tmp_path: Path) -> None:
    program = tmp_path / "bpftrace"
    program.symlink_to(FAKES / "bin" / "bpftrace")
    known = dict(project.tracers)
    project.tracers, _ = with_paths(known, [f"bpftrace={program}"])
    cut_short(project)
    program.unlink()
    project.tracers = known
    with pytest.raises(UsageError, match=f"{program}: expected a bpftrace that prints its version"):
        project.resume()


@pytest.mark.deep
def test_the_tool_whose_name_is_longest_is_meant(project: FakeProject, tmp_path: Path) -> None:
    program = tmp_path / "bpftrace"
    program.symlink_to(FAKES / "bin" / "bpftrace")
    known = dict(project.tracers) | {"bpftrace-aot": Bpftrace(id="bpftrace-aot", root=project.root / "kernel")}
    project.tracers, _ = with_paths(known, [f"bpftrace-aot={program}"])
    cut_short(project)
    project.tracers = known
    assert {row.tracer for row in project.resume() if row.status == "ok"} >= {"bpftrace-aot-0-0-0"}
