"""`probe-effect review`: what a change of the data would publish, and what it breaks."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import pytest
from click.testing import CliRunner

from helpers.builders import (
    EVENTS,
    FIGURES,
    FOLDER,
    MACHINE,
    block_rows,
    changed,
    counted_rows,
    counted_values,
    machine_values,
    source_toml,
    write_counted_submission,
    write_source,
    write_submission,
)
from probe_effect import units
from probe_effect.checks import beside
from probe_effect.cli import commands
from probe_effect.intake.changes import MOST_TOLD

if TYPE_CHECKING:
    from pathlib import Path

    from helpers.builders import RowChanges
    from probe_effect.model import Sample

PUBLISHED = f"{MACHINE}/{FOLDER}"
NEW = "other-machine"

LOG = """\
schema_version = 1

[[changes]]
date = "2026-11-20"
kind = "added"
what = ["a-talk"]
why = "The first source."
"""


@dataclass(frozen=True, slots=True)
class Change:
    """Two data folders that are the same at first."""

    base: Path
    head: Path

    def json(self) -> dict[str, Any]:
        """What `review --format json` says."""
        return dict(json.loads(self.run("--format", "json")[1]))

    def run(self, *options: str) -> tuple[int, str]:
        """Exit status and product."""
        found = CliRunner().invoke(commands, ["review", str(self.base), str(self.head), *options])
        assert found.exception is None or isinstance(found.exception, SystemExit), found.output
        return found.exit_code, found.stdout

    def broken(self) -> set[str]:
        """The rules that the change breaks, with the file of each."""
        rows = self.json()["problems"]["rows"]
        return {f"{one['rule']} {one['file'].partition('/')[2]}" for one in rows if one["severity"] == "error"}


@pytest.fixture
def change(data: Path, tmp_path: Path) -> Change:
    (data / "changes.toml").write_text(LOG, encoding="utf-8")
    base = tmp_path / "published" / "data"
    shutil.copytree(data, base)
    return Change(base, data)


def add_machine(data: Path, cost_ns: float = 50.0, **changes: object) -> Path:
    """A submission of another machine, whose rows are its own."""
    values = changed(machine_values(), "machine.id", NEW)
    for path, value in changes.items():
        changed(values, path.replace("__", "."), value)
    return write_submission(data, own_rows(101, cost_ns), values)


def own_rows(baseline_ns: float, cost_ns: float = 50.0, **changes: Unpack[RowChanges]) -> list[Sample]:
    """Rows that no other machine has; all events were seen, unless the changes say otherwise."""
    counted: RowChanges = {"seen": EVENTS, "lost": 0}
    counted.update(changes)
    return [row for block in range(8) for row in block_rows(block, cost_ns, (baseline_ns, baseline_ns), **counted)]


def only(listed: dict[str, Any]) -> dict[str, Any]:
    """The one row of a table."""
    (row,) = listed["rows"]
    return dict(row)


def test_the_same_data_change_nothing(change: Change) -> None:
    status, text = change.run()
    assert status == 0
    assert "nothing" in text


def test_a_new_submission_comes_with_its_machine_its_numbers_and_its_nearest_relative(change: Change) -> None:
    add_machine(change.head)
    found = only(change.json()["submissions"])
    assert found["id"] == f"{NEW}/{FOLDER}"
    assert (found["machine"], found["suite"], found["grade"]) == (NEW, "per-event", "A")
    case = only(found["cases"])
    assert (case["cost_ns"], case["cost_low_ns"], case["cost_high_ns"]) == (50, 50, 50)
    nearest = found["nearest"]
    assert nearest["machine"] == MACHINE
    assert nearest["reasons"][0] == "same CPU name, Example CPU 9000"
    assert only(nearest["compared"])["outcome"] == "no difference"
    assert found["remarks"]["rows"] == []


def test_a_machine_of_another_kind_is_named_and_not_compared(change: Change) -> None:
    add_machine(change.head, machine__architecture="aarch64")
    nearest = only(change.json()["submissions"])["nearest"]
    assert nearest["machine"] == MACHINE
    assert not nearest["comparable"]
    assert nearest["compared"]["rows"] == []


def test_a_case_of_higher_overhead_is_so_by_the_rules_of_compare(change: Change) -> None:
    add_machine(change.head, cost_ns=60)
    nearest = only(change.json()["submissions"])["nearest"]
    assert only(nearest["compared"])["outcome"] == "higher"
    assert nearest["sentences"][0].startswith("Of 1 comparison, 1 has higher overhead on")


@pytest.mark.parametrize(
    ("cost_ns", "words"),
    [
        pytest.param(500, "by more than 2 times above the highest of 1 like machine", id="ten times as dear"),
        pytest.param(5, "by more than 2 times below the lowest of 1 like machine", id="a tenth"),
        pytest.param(-60, "less than no tracing", id="negative"),
    ],
)
def test_a_cost_out_of_the_range_of_like_machines_is_named(change: Change, cost_ns: float, words: str) -> None:
    add_machine(change.head, cost_ns)
    assert words in only(only(change.json()["submissions"])["remarks"])["words"]


def test_a_cost_in_the_range_of_like_machines_is_not(change: Change) -> None:
    add_machine(change.head, 90)
    assert only(change.json()["submissions"])["remarks"]["rows"] == []


def test_events_that_do_not_add_up_are_named(change: Change) -> None:
    values = changed(machine_values(), "machine.id", NEW)
    write_submission(change.head, own_rows(101, seen=900, lost=0), values)
    assert "do not add up" in only(only(change.json()["submissions"])["remarks"])["words"]


def test_counts_of_the_series_say_what_changed_from_release_to_release(change: Change) -> None:
    for data in (change.base, change.head):
        write_counted_submission(data, counted_rows({"02-kprobe libbpf": 640}))
    values = counted_values("6.12.1-amd64", "qemu-tcg-6-12")
    write_counted_submission(change.head, counted_rows({"02-kprobe libbpf": 700, "19-fentry libbpf": 100}), values)
    (new,) = change.json()["submissions"]["rows"]
    assert [line.replace(units.GAP, " ") for line in new["shows"]] == [
        "Over releases of Linux: 6.1 to 6.12, x86-64: Kprobe with libbpf 1.1 +9.4 % (640 to 700).",
        "The series over releases, /kernels/series/ of the site, has 2 of its counts; changes of more than 2 %: 1.",
    ]
    assert "Kprobe with libbpf 1.1 &#43;9.4" in change.run("--format", "markdown")[1]


def test_of_many_changes_in_the_series_few_are_told(change: Change) -> None:
    cases = ("02-kprobe", "03-kretprobe", "04-tracepoint-entry", "19-fentry", "20-fexit")
    for data in (change.base, change.head):
        write_counted_submission(data, counted_rows({f"{case} libbpf": 100 for case in cases}))
    values = counted_values("6.12.1-amd64", "qemu-tcg-6-12")
    write_counted_submission(change.head, counted_rows({f"{case} libbpf": 200 for case in cases}), values)
    (new,) = change.json()["submissions"]["rows"]
    assert len(new["shows"]) == MOST_TOLD + 1
    assert new["shows"][-1].endswith(": 5.")


def test_counts_beside_the_series_say_nothing_of_it(change: Change) -> None:
    write_counted_submission(change.head, counted_rows({"02-kprobe bpftrace": 640}))
    (new,) = change.json()["submissions"]["rows"]
    assert new["shows"] == []


def test_counts_are_held_against_counts(change: Change) -> None:
    for data in (change.base, change.head):
        write_counted_submission(data)
    values = changed(counted_values("6.12.1-amd64", "qemu-tcg-6-12"), "machine.memory_bytes", 1 << 30)
    rows = [replace(row, instructions=(row.instructions or 0) + 1) for row in counted_rows()]
    write_counted_submission(change.head, rows, values)
    found = only(change.json()["submissions"])
    assert found["metric"] == "instructions"
    assert {row["cost_ns"] for row in found["cases"]["rows"]} == {None}
    assert {row["outcome"] for row in found["nearest"]["compared"]["rows"]} == {"no difference"}


def test_every_added_number_is_in_the_flat_difference(change: Change) -> None:
    add_machine(change.head)
    number = only(change.json()["numbers"])
    assert number["id"] == f"{NEW}/{FOLDER}/02-kprobe/bpftrace"
    assert number["old"] is None
    assert number["new"].startswith("50")


def test_a_published_submission_stays_as_it_is(change: Change) -> None:
    samples = change.head / "results" / PUBLISHED / "samples.csv"
    samples.write_text(samples.read_text(encoding="utf-8").replace("150000", "160000"), encoding="utf-8")
    assert f"append-only results/{PUBLISHED}/samples.csv" in change.broken()
    number = only(change.json()["numbers"])
    assert number["old"].startswith("50")
    assert number["new"].startswith("60")
    assert change.run()[0] == 1


@pytest.mark.parametrize("name", ["samples.csv", "machine.json"])
def test_nothing_is_taken_from_a_published_submission(change: Change, name: str) -> None:
    (change.head / "results" / PUBLISHED / name).unlink()
    assert f"append-only results/{PUBLISHED}/{name}" in change.broken()


def test_nothing_is_added_to_a_published_submission(change: Change) -> None:
    (change.head / "results" / PUBLISHED / "more.csv").write_text("", encoding="utf-8")
    assert f"append-only results/{PUBLISHED}/more.csv" in change.broken()


def test_a_published_submission_that_is_gone_is_an_error_and_so_are_its_numbers_told(change: Change) -> None:
    shutil.rmtree(change.head / "results" / MACHINE)
    assert f"append-only results/{PUBLISHED}/samples.csv" in change.broken()
    assert only(change.json()["numbers"])["new"] is None


def correct(data: Path) -> None:
    """Another value for a published figure."""
    rows = [row | {"value": "4"} if row["figure"] == "traced" else row for row in FIGURES]
    rows = [row | {"value": "2000", "cost_ns": "2000"} if row["figure"] == "cost" else row for row in rows]
    shutil.rmtree(data / "published" / "a-talk")
    write_source(data, rows)


CORRECTION = """
[[changes]]
date = "2026-11-22"
kind = "corrected"
what = ["a-talk#traced", "a-talk#cost"]
why = "Misread: the table says 4 s."
old = "3 s"
new = "4 s"
"""


def test_a_correction_shows_what_stood_there_and_what_stands_there_now(change: Change) -> None:
    correct(change.head)
    (change.head / "changes.toml").write_text(LOG + CORRECTION, encoding="utf-8")
    found = change.json()
    assert change.broken() == set()
    entry = only(found["changes"])
    assert (entry["old"], entry["new"], entry["why"]) == ("3 s", "4 s", "Misread: the table says 4 s.")
    told = {row["id"]: (row["old"], row["new"]) for row in found["numbers"]["rows"]}
    assert told == {"a-talk#traced": ("3\xa0s", "4\xa0s"), "a-talk#cost": ("1000\xa0ns", "2000\xa0ns")}
    text = change.run("--format", "markdown")[1]
    assert "| a-talk&#35;&#8203;traced | 3\xa0s | 4\xa0s |" in text


def test_a_correction_that_the_log_does_not_tell_is_an_error(change: Change) -> None:
    correct(change.head)
    assert change.broken() == {"told-correction published/a-talk/figures.csv"}


def test_a_published_figure_is_never_removed(change: Change) -> None:
    shutil.rmtree(change.head / "published" / "a-talk")
    write_source(change.head, [row for row in FIGURES if row["figure"] in {"plain", "traced", "calls", "cost"}], ())
    assert "told-correction published/a-talk/figures.csv" in change.broken()


def test_words_about_a_figure_may_change_without_a_correction(change: Change) -> None:
    rows = [row | {"note": "Read again."} for row in FIGURES]
    shutil.rmtree(change.head / "published" / "a-talk")
    write_source(change.head, rows)
    assert change.broken() == set()
    assert change.json()["numbers"]["rows"] == []


def test_an_old_entry_of_the_change_log_stays(change: Change) -> None:
    (change.head / "changes.toml").write_text(LOG.replace("The first", "A first"), encoding="utf-8")
    assert change.broken() == {"log-append-only changes.toml"}


def test_a_withdrawal_ends_the_numbers_of_a_submission(change: Change) -> None:
    entry = f'\n[[changes]]\ndate = "2026-11-22"\nkind = "withdrawn"\nwhat = ["{PUBLISHED}"]\nwhy = "A noisy disk."\n'
    (change.head / "changes.toml").write_text(LOG + entry, encoding="utf-8")
    assert change.broken() == set()
    number = only(change.json()["numbers"])
    assert (number["id"], number["new"]) == (f"{PUBLISHED}/02-kprobe/bpftrace", None)


def test_a_new_source_is_told_with_its_figures(change: Change) -> None:
    write_source(change.head, name="another-talk", title="Another talk")
    found = change.json()
    assert only(found["sources"]) == {"id": "another-talk", "title": "Another talk", "figures": len(FIGURES)}
    assert {row["id"] for row in found["numbers"]["rows"]} == {f"another-talk#{row['figure']}" for row in FIGURES}


def test_problems_that_are_published_already_do_not_hold_up_the_next(change: Change) -> None:
    for data in (change.base, change.head):
        (data / "published" / "a-talk" / "source.toml").write_text(source_toml(date="2020"), encoding="utf-8")
        write_submission(data, own_rows(103, seen=5), changed(machine_values(), "machine.id", "noisy"))
    add_machine(change.head)
    assert change.json()["problems"]["rows"] == []


def test_a_copy_is_told_at_the_copy_and_not_at_what_was_published(change: Change) -> None:
    values = changed(machine_values(), "machine.id", NEW)
    shutil.copytree(change.head / "results" / PUBLISHED, change.head / "results" / NEW / FOLDER)
    (change.head / "results" / NEW / FOLDER / "machine.json").write_text(json.dumps(values, indent=2) + "\n")
    rows = change.json()["problems"]["rows"]
    assert "duplicates" in {one["rule"] for one in rows}
    assert {one["file"].split("/")[2] for one in rows} == {NEW}


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_told(change: Change) -> None:
    folder = add_machine(change.head)
    (folder / "samples.csv").write_bytes(b"\xff\x00")
    write_source(change.head, name="another-talk")
    assert any(one.endswith("samples.csv") for one in change.broken())
    found = change.json()
    assert found["submissions"]["rows"] == []
    assert only(found["sources"])["id"] == "another-talk"


def annotated(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("::")]


def test_one_bad_cell_is_told_in_one_line(change: Change) -> None:
    samples = add_machine(change.head) / "samples.csv"
    text = samples.read_text(encoding="utf-8").replace(",151000,", ",-151000,", 1)
    samples.write_text(text, encoding="utf-8")
    place = next(number for number, row in enumerate(text.splitlines(), start=1) if "-151000" in row)
    status, said = change.run("--format", "github")
    (line,) = annotated(said)
    assert line.startswith(f"::error file=data/results/{NEW}/{FOLDER}/samples.csv,line={place},")
    assert status == 1
    verdict, _, first, *_ = change.run("--format", "markdown")[1].splitlines()
    assert verdict == "## 1 error to mend"
    assert f"samples.csv&#58;{place}&#58;" in first


def test_one_fault_in_many_rows_is_one_annotation_and_one_row(change: Change) -> None:
    samples = add_machine(change.head) / "samples.csv"
    samples.write_text(samples.read_text(encoding="utf-8").replace(",151000,", ",-151000,"), encoding="utf-8")
    assert len(annotated(change.run("--format", "github")[1])) == 1
    found = change.json()
    assert only(found["problems"])["times"] == found["errors"] == 8


def test_what_is_published_already_is_no_annotation(change: Change) -> None:
    for data in (change.base, change.head):
        write_submission(data, own_rows(103, seen=5), changed(machine_values(), "machine.id", "noisy"))
    add_machine(change.head)
    status, text = change.run("--format", "github")
    assert (status, text) == (0, "0 new errors, 0 new warnings\n")


def test_a_published_file_that_changed_is_an_annotation_too(change: Change) -> None:
    samples = change.head / "results" / PUBLISHED / "samples.csv"
    samples.write_text(samples.read_text(encoding="utf-8").replace("150000", "160000"), encoding="utf-8")
    (line,) = annotated(change.run("--format", "github")[1])
    assert "title=append-only::" in line


def test_a_review_is_written_beside_what_it_prints(change: Change, tmp_path: Path) -> None:
    report, summary = tmp_path / "build" / "review.json", tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    add_machine(change.head)
    change.run("--format", "github", "--report", str(report), "--summary", str(summary))
    assert json.loads(report.read_text(encoding="utf-8")) == change.json()
    assert summary.read_text(encoding="utf-8") == "before\n" + change.run("--format", "markdown")[1].rstrip("\n") + "\n"


def test_a_review_that_cannot_be_made_leaves_no_file(change: Change, tmp_path: Path) -> None:
    report = tmp_path / "review.json"
    found = CliRunner().invoke(commands, ["review", str(tmp_path / "none"), str(change.head), "--report", str(report)])
    assert found.exit_code != 0
    assert not report.exists()


class Repository:
    """A git repository with data in it."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder = folder
        shutil.copytree(data, folder / "data")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit("published")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        done = subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True, text=True)  # noqa: S607
        return done.stdout.strip()

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)


@pytest.fixture
def repository(change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Repository(folder, change.base)
    made.git("checkout", "--quiet", "-b", "submit")
    monkeypatch.chdir(folder)
    return made


def revisions() -> dict[str, Any]:
    found = CliRunner().invoke(commands, ["review", "main", "submit", "--format", "json"])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.output
    return dict(json.loads(found.stdout))


def test_revisions_are_read_without_a_working_tree(repository: Repository) -> None:
    add_machine(repository.folder / "data")
    repository.commit("a machine")
    repository.git("checkout", "--quiet", "main")
    assert only(revisions()["submissions"])["machine"] == NEW


def test_what_others_published_since_is_no_change(repository: Repository) -> None:
    add_machine(repository.folder / "data")
    repository.commit("a machine")
    repository.git("checkout", "--quiet", "main")
    values = changed(machine_values(), "machine.id", "third-machine")
    write_submission(repository.folder / "data", own_rows(102), values)
    repository.commit("meanwhile")
    found = revisions()
    assert found["problems"]["rows"] == []
    assert only(found["numbers"])["new"] is not None


def test_a_merge_that_github_made_is_called_by_the_commit_of_the_branch(repository: Repository) -> None:
    add_machine(repository.folder / "data")
    repository.commit("a machine")
    own = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "main")
    base = repository.git("rev-parse", "HEAD")
    repository.git("merge", "--quiet", "--no-ff", "--no-edit", "submit")
    found = CliRunner().invoke(commands, ["review", "HEAD^1", "HEAD", "--format", "json"])
    said = json.loads(found.stdout)
    assert (said["head"], said["base"]) == (f"commit {own}", f"the branch that it goes to, {base[:12]}")


def test_a_branch_cannot_hide_files_from_its_review(repository: Repository) -> None:
    add_machine(repository.folder / "data")
    (repository.folder / "data" / ".gitattributes").write_text("results/** export-ignore\n", encoding="utf-8")
    repository.commit("a machine")
    assert only(revisions()["submissions"])["machine"] == NEW


def test_a_link_in_a_branch_is_refused_and_never_followed(repository: Repository, tmp_path: Path) -> None:
    folder = add_machine(repository.folder / "data")
    secret = tmp_path / "secret.csv"
    shutil.copy(folder / "samples.csv", secret)
    (folder / "samples.csv").unlink()
    (folder / "samples.csv").symlink_to(secret)
    repository.commit("a link")
    found = revisions()
    assert found["submissions"]["rows"] == []
    assert only(found["problems"])["message"].startswith("is a link")


@pytest.mark.parametrize("name", ["no-such-branch", "--output=x", "main..submit", "-h\x1b[31m"])
def test_what_is_no_revision_is_wrong_usage(repository: Repository, name: str) -> None:
    assert repository.folder.is_dir()
    found = CliRunner().invoke(commands, ["review", "--format", "json", "--", name, "submit"])
    assert "is not a folder" in str(found.exception)
    assert "\x1b" not in str(found.exception)


# What is no new submission


def verdict(change: Change) -> str:
    """The first line of what `review` prints."""
    return change.run()[1].splitlines()[0]


def test_removed_changed_and_further_files_are_to_be_looked_at(change: Change) -> None:
    (change.head / "references.toml").write_text("schema_version = 1\n", encoding="utf-8")
    shutil.rmtree(change.head / "published" / "a-talk")
    (change.head / "changes.toml").write_text("schema_version = 1\n", encoding="utf-8")
    found = change.json()
    assert found["beside"] == {"gone": 2, "changed": 1, "added": 1}
    shutil.copy(change.base / "changes.toml", change.head / "changes.toml")
    shutil.copytree(change.base / "published" / "a-talk", change.head / "published" / "a-talk")
    assert verdict(change) == "To look at: 1 file that is of no new submission"
    (change.head / "references.toml").unlink()
    for path in (change.head / "suites" / "per-event").glob("1*.bt"):
        path.unlink()
    assert verdict(change).startswith("To look at: ")
    assert "removed files" in verdict(change)


def test_a_run_in_the_projects_name_is_to_be_looked_at_and_another_is_ready(change: Change) -> None:
    folder = add_machine(change.head)
    assert verdict(change) == "To look at: 1 run in the project's name"
    assert "gh attestation verify" in change.run()[1].replace("\n", " ")
    values = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    values["provenance"]["kind"] = "third-party"
    (folder / "machine.json").write_text(json.dumps(values, indent=2), encoding="utf-8")
    assert verdict(change) == "Ready to merge"


@pytest.mark.parametrize("name", ["install.sh", ".gitattributes", f"results/{MACHINE}/evil.html"])
def test_a_file_that_no_format_knows_is_an_error_of_a_folder_and_of_a_revision(
    change: Change, repository: Repository, name: str
) -> None:
    (change.head / name).write_text("x", encoding="utf-8")
    assert change.broken() == {f"known-files {name}"}
    (repository.folder / "data" / name).write_text("x", encoding="utf-8")
    repository.commit("x")
    assert only(revisions()["problems"])["file"] == f"data/{name}"


def test_a_change_of_any_size_is_not_looked_at(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    add_machine(change.head)
    monkeypatch.setattr(beside, "MOST_FILES", 1)
    assert change.broken() == {"change-size "}
