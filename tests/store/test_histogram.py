"""`histogram.csv` and `samples.csv` stay in step: whatever is cut short, no run is in one of them alone."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fakes.project import FakeProject, as_root, on_the_path, rows, started_by, wait_until
from helpers.builders import baseline_row, block_rows
from probe_effect.checks.run import check
from probe_effect.measure.one_run import Interrupted
from probe_effect.model import Bucket, HostNotReady
from probe_effect.store.result_tables import RunWriter, read_histogram, read_samples, with_histograms

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.measure.bench import Progress
    from probe_effect.model import Sample
    from probe_effect.store.places import SubmissionFolder

BUCKETS = (Bucket(96, 99, 990), Bucket(208, 215, 9), Bucket(9216, 9300, 1))
RUNS = [replace(row, histogram=BUCKETS) for block in range(2) for row in block_rows(block)]
BLOCKS = 4


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    """A suite whose workload times each operation."""
    on_the_path(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FAKE_TIMES", "1")
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    made.case("01-plain", counted_by="twin", twin='print: {"type": "map", "data": {"@": 100000}}')
    made.case("02-kernel-function", needs="kprobe")
    return made


def write(path: Path, runs: list[Sample]) -> None:
    with RunWriter(path) as writer:
        for run in runs:
            writer.write(run)


def read(path: Path) -> list[Sample]:
    """The runs of a `samples.csv` with their histograms, which must be sound."""
    samples, problems = read_samples(path, "samples.csv")
    found, more = read_histogram(path.with_name("histogram.csv"), "histogram.csv")
    assert problems + more == []
    assert {row.place for row in found} <= {(row.block, row.position) for row in samples}
    return with_histograms(samples, found)


def test_runs_come_back_with_their_histograms(tmp_path: Path) -> None:
    write(tmp_path / "samples.csv", RUNS)
    assert read(tmp_path / "samples.csv") == RUNS


def test_where_no_operation_was_timed_alone_there_is_no_file(tmp_path: Path) -> None:
    write(tmp_path / "samples.csv", [baseline_row(0, 0)])
    assert [path.name for path in tmp_path.iterdir()] == ["samples.csv"]
    assert read(tmp_path / "samples.csv") == [baseline_row(0, 0)]


def test_whatever_part_of_the_last_run_is_on_disk_is_cut_off_and_written_again(tmp_path: Path) -> None:
    path, beside = tmp_path / "samples.csv", tmp_path / "histogram.csv"
    write(path, RUNS[:-1])
    rows_before, buckets_before = path.read_bytes(), beside.read_bytes()
    write(path, RUNS[-1:])
    rows_after, buckets_after = path.read_bytes(), beside.read_bytes()
    states = [(rows_before, buckets_after[:end]) for end in range(len(buckets_before), len(buckets_after) + 1)]
    states += [(rows_after[:end], buckets_after) for end in range(len(rows_before), len(rows_after))]
    for row_part, bucket_part in states:
        path.write_bytes(row_part)
        beside.write_bytes(bucket_part)
        with RunWriter(path) as writer:
            assert read(path) == RUNS[:-1]
            writer.write(RUNS[-1])
        assert (path.read_bytes(), beside.read_bytes()) == (rows_after, buckets_after)


def test_buckets_without_any_row_are_cut_off(tmp_path: Path) -> None:
    path, beside = tmp_path / "samples.csv", tmp_path / "histogram.csv"
    write(path, RUNS)
    path.unlink()
    write(path, RUNS)
    assert read(path) == RUNS
    beside.write_text("block,posi", encoding="utf-8")
    with RunWriter(path):
        assert read(path) == [replace(run, histogram=()) for run in RUNS]


def test_a_histogram_that_cannot_be_written_leaves_the_run_without_a_row(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    write(path, RUNS[:1])
    (tmp_path / "histogram.csv").unlink()
    (tmp_path / "histogram.csv").mkdir()
    with pytest.raises(HostNotReady, match=r"histogram\.csv: a row cannot be written"):
        write(path, RUNS[1:])
    (tmp_path / "histogram.csv").rmdir()
    assert len(read(path)) == 1


# The harness


def buckets_of(place: SubmissionFolder) -> list[Sample]:
    return read(place.samples)


def test_every_timed_run_has_its_histogram_and_no_other_has(project: FakeProject) -> None:
    project.measure(BLOCKS)
    (place,) = project.data.submissions()
    for row in buckets_of(place):
        is_timed = row.status == "ok" and row.arm != "check"
        assert sum(bucket.operations for bucket in row.histogram) == (row.events if is_timed else 0)
        assert not is_timed or row.histogram[-1].high_ns == 5000
    assert [problem for problem in check([place.folder], project.data) if problem.severity == "error"] == []


def test_a_run_that_goes_on_keeps_both_files_in_step(project: FakeProject) -> None:
    whole = project.measure(BLOCKS)
    project.results = project.root / "elsewhere"

    def stop(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == 5:
            msg = "stopped by the test"
            raise Interrupted(msg)

    with pytest.raises(Interrupted):
        project.measure(BLOCKS, stop)
    project.resume()
    (samples,) = project.results.glob("*/*/samples.csv")
    assert [(row.block, row.position, row.histogram != ()) for row in read(samples)] == [
        (row.block, row.position, row.status == "ok" and row.arm != "check") for row in whole
    ]


@pytest.mark.deep
def test_a_run_that_is_killed_loses_no_bucket_and_has_none_twice(project: FakeProject) -> None:
    with project.start("--quick", "--blocks", "12", "--seed", "7") as running:
        project.wait_for_rows(6)
        running.kill()
        assert running.wait(60) == -signal.SIGKILL
    wait_until(lambda: started_by(running.pid) == [])
    project.resume()
    (place,) = project.data.submissions()
    found = buckets_of(place)
    assert len(found) == len(rows(place))
    for row in found:
        if row.status == "ok" and row.arm != "check":
            assert sum(bucket.operations for bucket in row.histogram) == row.events
