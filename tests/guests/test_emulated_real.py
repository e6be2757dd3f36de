"""Real guests: Debian's kernels in the real emulator, real tracers inside, and an emulator that is killed.

It takes minutes, and 500 MB of packages the first time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.builders import PROJECT
from helpers.needs import needs
from helpers.rehearsal import rehearse
from probe_effect.checks.run import check
from probe_effect.cli.measure import measure
from probe_effect.cli.measure_settings import CACHE
from probe_effect.guests.debian import DEFAULT, find_kernel, locked
from probe_effect.guests.qemu import MODES, GuestLost, Image, RunningGuest, find_emulator
from probe_effect.host.compilers import cache_folder
from probe_effect.numbers.reduce import reduce
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import read_samples

if TYPE_CHECKING:
    from probe_effect.model import Estimate
    from probe_effect.store.machine_file import MachineFile

CROSS_COMPILER = "aarch64-linux-gnu-gcc"
PROGRAMS = ("cpio", "apt-get", "dpkg-deb", "cc")
PROGRAM = str(Path(sys.executable).with_name("probe-effect"))

pytestmark = [
    pytest.mark.tracer,
    needs(*PROGRAMS),
]

of_this_processor = pytest.mark.xdist_group("emulated")
"""One worker fetches the packages of a guest, and the other one's guest finds them."""


def words(folder: Path, *cases: str, blocks: int = 1, suite: str = "per-event", tracer: str = "bpftrace") -> list[str]:
    """Those of `measure`, with the cases that a test asks something of alone: each run takes the emulator seconds."""
    chosen = [word for case in cases for word in ("--case", case)]
    guest = ["--vm", "bookworm", "--quick", "--seed", "1", "--tracer", tracer, "--data", str(PROJECT / "data")]
    return [suite, *guest, *chosen, "--blocks", str(blocks), "--out", str(folder)]


def measured(asked: list[str]) -> SubmissionFolder:
    """The submission of a measurement that ends well."""
    ended = subprocess.run([PROGRAM, "measure", *asked], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return SubmissionFolder(Path(ended.stdout.strip()))


def numbers_of(run: SubmissionFolder) -> tuple[MachineFile, dict[str, Estimate]]:
    """The record of a run, and its costs by case."""
    document, _ = read_machine_file(run.machine_file, "machine.json")
    assert document is not None
    numbers = reduce(run, document, read_samples(run.samples, "")[0]).numbers
    return document, {one.case: one.known_cost for one in numbers}


@pytest.mark.deep
@of_this_processor
def test_an_emulator_that_is_killed_is_lost_at_once_and_nothing_of_it_is_left() -> None:
    """It is started again, and its run made once more, as `test_emulated_machine.py` shows with a fake."""
    cache = cache_folder() / CACHE
    with locked(cache):
        kernel, emulator = find_kernel("bookworm", cache), find_emulator(DEFAULT, cache)
    guest = RunningGuest(Image(kernel.image, ()), emulator, "tcg")
    try:
        os.kill(guest._child.pid, signal.SIGKILL)
        with pytest.raises(GuestLost, match="the emulator ended with status -9"):
            guest.wait_for_boot(MODES["tcg"].boot_s)
    finally:
        guest.end()
    assert not Path(f"/proc/{guest._child.pid}").exists()


@of_this_processor
def test_every_run_ends_well_its_events_add_up_and_a_trampoline_is_shorter_than_a_kprobe(tmp_path: Path) -> None:
    # Without LLVM in the guest it takes half the time.
    run = measured(words(tmp_path, "02-kprobe", "19-fentry", tracer="libbpf"))
    rows, problems = read_samples(run.samples, "samples.csv")
    assert problems == []
    assert {row.status for row in rows} == {"ok"}
    counted = [row for row in rows if row.arm == "check"]
    assert {row.case for row in counted} == {"02-kprobe", "19-fentry"}
    assert all(row.seen == row.events and row.lost == 0 for row in counted)
    document, costs = numbers_of(run)
    assert 0 < costs["19-fentry"].value < costs["02-kprobe"].value
    assert document.run.mechanisms == {"02-kprobe libbpf": "ftrace"}


def ends(count: Estimate) -> tuple[float, float]:
    """The least and the greatest of the blocks."""
    assert count.low is not None
    assert count.high is not None
    return count.low, count.high


@pytest.mark.deep
@of_this_processor
def test_instructions_are_those_of_the_kernels_own_paths_in_every_block(tmp_path: Path) -> None:
    _, costs = numbers_of(measured(words(tmp_path, "02-kprobe", "06-uprobe", "19-fentry", blocks=2)))
    fentry, kprobe, uprobe = (ends(costs[case]) for case in ("19-fentry", "02-kprobe", "06-uprobe"))
    assert 0 < fentry[1] < kprobe[0]
    assert kprobe[1] < uprobe[0]
    assert kprobe[1] / kprobe[0] < 1.005


@pytest.mark.deep
@of_this_processor
def test_auditing_is_paid_by_what_starts_while_it_is_on_and_by_no_baseline(tmp_path: Path) -> None:
    run = measured(words(tmp_path, "01-audit-on", "05-audit-100-rules", suite="audit", tracer="audit"))
    rows, _ = read_samples(run.samples, "")
    assert {row.status for row in rows} == {"ok"}
    each = {row.case: (row.instructions or 0) / (row.events or 1) for row in rows}
    baselines = [(row.instructions or 0) / (row.events or 1) for row in rows if row.arm == "baseline"]
    assert max(baselines) < 1.005 * min(baselines)
    assert 1.2 * max(baselines) < each["01-audit-on"] < each["05-audit-100-rules"]


@pytest.mark.deep
@pytest.mark.xdist_group("emulated-arm64")
@needs(CROSS_COMPILER)
def test_another_processor_counts_by_its_own_means(tmp_path: Path) -> None:
    place = measured([*words(tmp_path, "02-kprobe", "19-fentry"), "--arch", "arm64"])
    rows, _ = read_samples(place.samples, "")
    document, _ = read_machine_file(place.machine_file, "machine.json")
    assert document is not None
    assert document.machine.architecture == "aarch64"
    assert document.run.mechanisms == {"02-kprobe bpftrace": "trap"}
    assert {row.status for row in rows if row.case != "19-fentry"} == {"ok"}
    (refused,) = {str(row.note) for row in rows if row.case == "19-fentry"}
    assert "DYNAMIC_FTRACE_WITH_DIRECT_CALLS is not set" in refused


@pytest.mark.deep
@of_this_processor
def test_where_the_hardware_runs_no_guest_instructions_are_counted_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODES, "kvm", replace(MODES["kvm"], boot_s=4.0))  # it spins all the while
    asked = [*words(tmp_path, "02-kprobe"), "--vm-accel", "kvm"]
    ended = CliRunner().invoke(measure, asked, standalone_mode=False)
    assert ended.exception is None
    rows, _ = read_samples(SubmissionFolder(Path(ended.stdout.strip())).samples, "")
    is_counted = "no times from a guest here" in ended.stderr
    assert all((row.instructions is not None) == is_counted for row in rows if row.arm != "check")


@pytest.mark.deep
@of_this_processor
def test_a_rehearsal_takes_the_way_of_times_through_a_real_guest_and_its_times_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearse(monkeypatch)
    asked = [*words(tmp_path, "02-kprobe"), "--vm-accel", "kvm"]
    ended = CliRunner().invoke(measure, asked, standalone_mode=False)
    assert ended.exception is None, ended.stderr
    place = SubmissionFolder(Path(ended.stdout.strip()))
    rows, _ = read_samples(place.samples, "")
    assert {row.status for row in rows} == {"ok"}
    assert all(row.wall_ns for row in rows if row.arm != "check")
    document, _ = read_machine_file(place.machine_file, "machine.json")
    assert document is not None
    assert (document.run.metric, document.system.boot_flags) == ("time", ())
    assert document.system.vulnerabilities["spectre_v2"].startswith("Mitigation")
    found = [one for one in check([place.folder], DataFolder(PROJECT / "data")) if one.severity == "error"]
    assert ["times of an emulated CPU" in one.message for one in found] == [True]
