"""A checkout with one suite, for tests of the harness: a kernel with tracepoints and no kprobes, and fake tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

from probe_effect.host.processes import SHARED_MEMORY, STARTED_BY, WORK_PREFIX
from probe_effect.measure.bench import Settings
from probe_effect.measure.one_run import Limits
from probe_effect.measure.request import QUICK, choose_suites, resolve
from probe_effect.measure.run import measure, resume
from probe_effect.measure.submission import reopen, unfinished, work_of
from probe_effect.measure.testbed import Testbed
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import read_samples
from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from probe_effect.measure.bench import Progress
    from probe_effect.measure.request import Work
    from probe_effect.model import Sample
    from probe_effect.store.machine_file import MachineFile
    from probe_effect.tracers.protocol import Tracer

FAKES = Path(__file__).parent

SUITE = """\
schema_version = 1
id = "tiny"
version = 3
title = "Tiny"
question = "Does the harness work?"
description = "A suite for tests."

[workload]
program = "loop.c"
operation = "nothing"
"""

FACTOR = """
[factor]
name = "work"
title = "Work"
unit = "ns of work"
levels = [{levels}]
occupies_cpus = {occupies_cpus}
"""

CASE = """
[[cases]]
id = "{id}"
title = "{id}"
probe = "tracepoint-entry"
action = "nothing"
what = "A case for tests."
needs = [{needs}]
counted_by = "{counted_by}"
"""

IMPATIENT = Limits(start_s=0.5, run_s=30.0, stop_s=0.5)
"""For fakes that hang: they never answer, so that waiting longer changes nothing. Others answer in a few ms."""

PATIENT = Limits(start_s=30.0, run_s=30.0, stop_s=30.0)
"""For all others, on however busy a machine."""

DEADLINE_S = 60.0


class FakeProject:
    """The checkout. Cases are added one by one; scripts are comment lines that the fake bpftrace obeys."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = DataFolder(root / "data")
        self.suite = root / "data" / "suites" / "tiny"
        (self.suite / "workload").mkdir(parents=True)
        self.header = root / "data" / "suites" / "loop.h"
        self.header.write_text("int shared;", encoding="utf-8")
        (self.suite / "workload" / "loop.c").write_text('#include "../../loop.h"\nint main;', encoding="utf-8")
        (self.suite / "suite.toml").write_text(SUITE, encoding="utf-8")
        (root / "kernel/sys/kernel/tracing/events/syscalls").mkdir(parents=True)
        self.tracers: dict[str, Tracer] = {"bpftrace": Bpftrace(root=root / "kernel")}
        self.name = "tiny"
        self.limits = PATIENT
        self.results = self.data.results

    def factor(self, *levels: int, occupies_cpus: bool = False) -> None:
        """Have the suite vary something; before any case is added."""
        text = FACTOR.format(levels=", ".join(map(str, levels)), occupies_cpus=str(occupies_cpus).lower())
        with (self.suite / "suite.toml").open("a", encoding="utf-8") as file:
            file.write(text)

    def case(
        self,
        name: str,
        *lines: str,
        counted_by: str = "nothing",
        needs: str = "",
        twin: str = "",
        architectures: Sequence[str] = (),
    ) -> None:
        """Add a case with a script of such comment lines, and a counting twin of one."""
        with (self.suite / "suite.toml").open("a", encoding="utf-8") as file:
            file.write(CASE.format(id=name, needs=f'"{needs}"' if needs else "", counted_by=counted_by))
            file.write(f"architectures = {list(architectures)}\n" if architectures else "")
        (self.suite / f"{name}.bt").write_text("".join(f"// {line}\n" for line in lines), encoding="utf-8")
        if twin:
            (self.suite / f"{name}.check.bt").write_text(f"// {twin}\n", encoding="utf-8")

    def copy_suite(self, name: str) -> None:
        """Add a suite with the same cases."""
        folder = self.suite.with_name(name)
        shutil.copytree(self.suite, folder)
        text = (folder / "suite.toml").read_text(encoding="utf-8")
        (folder / "suite.toml").write_text(text.replace('id = "tiny"', f'id = "{name}"'), encoding="utf-8")

    def work(self, cpus: int | None = None) -> Work:
        """The suite, resolved against the fake kernel."""
        ((folder, suite),) = choose_suites(self.data, [self.name])
        return resolve(folder, suite, self.tracers, [], cpus)

    def settings(self, blocks: int = 2) -> Settings:
        """How it is measured: in few ms, always in the same order."""
        return Settings(
            results=self.results,
            blocks=blocks,
            seed=7,
            command=("probe-effect", "measure", self.name),
            lengths=QUICK,
            limits=self.limits,
            continued_by=("measure", self.name, "--resume", "--data", str(self.data.root)),
        )

    @property
    def testbed(self) -> Testbed:
        """The machine that we run on, with a cache of our own."""
        return Testbed(cache=self.root / "cache")

    def measure(self, blocks: int = 2, tell: Callable[[Progress], None] = lambda _: None) -> list[Sample]:
        """The rows of a run."""
        return rows(measure(self.work(), self.settings(blocks), self.testbed, tell))

    def resume(self, tell: Callable[[Progress], None] = lambda _: None) -> list[Sample]:
        """The rows of the run that was cut short, once it is complete."""
        testbed = self.testbed
        (one,) = unfinished(self.results, [], testbed)
        work = work_of(one, choose_suites(self.data, []), self.tracers, testbed)
        return rows(resume(reopen(one, work), work, self.settings(one.document.run.blocks), testbed, tell))

    def start(self, *arguments: str, stderr: IO[str] | int = subprocess.PIPE) -> subprocess.Popen[str]:
        """The command `probe-effect measure`, in a process of its own."""
        command = [sys.executable, str(FAKES / "command.py"), str(self.root / "kernel"), "measure", *arguments]
        return subprocess.Popen(
            [*command, "--data", str(self.data.root)], stdout=subprocess.PIPE, stderr=stderr, text=True
        )

    def wait_for_rows(self, number: int) -> None:
        """Return when so many rows are on disk."""
        wait_until(lambda: self.rows_on_disk() >= number)

    def rows_on_disk(self) -> int:
        """Rows of all submissions, but for one that is torn."""
        try:
            files = [one.samples for one in self.data.submissions() if one.samples.exists()]
        except FileNotFoundError:  # a folder that was made to see whether folders can be made
            return 0
        return sum(max(file.read_bytes().count(b"\n") - 1, 0) for file in files)


def on_the_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Have programs in these folders, and then the fakes, found before all others."""
    monkeypatch.setenv("PATH", ":".join([*map(str, folders), str(FAKES / "bin"), os.environ["PATH"]]))


def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have us be root with all of root's capabilities, for fakes that ask for nothing more."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("probe_effect.tracers.tool.may_trace", lambda _: True)


def asked_by(monkeypatch: pytest.MonkeyPatch, root: Path, module: str) -> FakeProject:
    """A project on a machine of fakes, whose tracers a module of `cli` asks for, as root with a cache of its own."""
    on_the_path(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    as_root(monkeypatch)
    made = FakeProject(root)
    monkeypatch.setattr(f"probe_effect.cli.{module}.known_tracers", lambda: made.tracers)
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    monkeypatch.setattr("probe_effect.cli.intake_run.PACKAGED", root / "nothing")  # else each reads all our data
    return made


def wait_until(proof: Callable[[], bool], patience_s: float = DEADLINE_S) -> None:
    """Return when `proof` holds."""
    deadline_s = time.monotonic() + patience_s
    while not proof():
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


def started_by(pid: int) -> list[str]:
    """What runs of all that the process `pid` has started, also when it is gone itself."""
    mark = f"{STARTED_BY}={pid}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # another user's, or gone
            continue
    return found


def work_folders_of(pid: int) -> list[Path]:
    """Where the tools of the process `pid` keep their output while they run."""
    parent = SHARED_MEMORY if SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
    return list(parent.glob(f"{WORK_PREFIX}{pid}-*"))


def rows(submission: SubmissionFolder) -> list[Sample]:
    """The rows of a submission, which must be sound."""
    samples, problems = read_samples(submission.samples, "samples.csv")
    assert problems == []
    return samples


def document(submission: SubmissionFolder) -> MachineFile:
    """The `machine.json` of a submission, which must be sound."""
    found, problems = read_machine_file(submission.machine_file, "machine.json")
    assert problems == []
    assert found is not None
    return found
