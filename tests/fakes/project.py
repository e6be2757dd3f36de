"""A checkout with one suite, for tests of the harness: a kernel with tracepoints and no kprobes, and fake tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.measure.bench import Settings
from probe_effect.measure.calibrate import QUICK
from probe_effect.measure.one_run import Limits
from probe_effect.measure.request import choose_suites, resolve
from probe_effect.measure.run import measure
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, Submission
from probe_effect.store.samples import read_samples
from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from probe_effect.measure.progress import Progress
    from probe_effect.measure.request import Work
    from probe_effect.model import Sample
    from probe_effect.store.machine_file import MachineFile

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


class FakeProject:
    """The checkout. Cases are added one by one; scripts are comment lines that the fake bpftrace obeys."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = DataFolder(root / "data")
        self.suite = root / "data" / "suites" / "tiny"
        (self.suite / "workload").mkdir(parents=True)
        (self.suite / "workload" / "loop.c").write_text("int main;", encoding="utf-8")
        (self.suite / "suite.toml").write_text(SUITE, encoding="utf-8")
        (root / "kernel/sys/kernel/tracing/events/syscalls").mkdir(parents=True)
        self.tracers = {"bpftrace": Bpftrace(root=root / "kernel")}

    def case(self, name: str, *lines: str, counted_by: str = "nothing", needs: str = "", twin: str = "") -> None:
        """Add a case with a script of such comment lines, and a counting twin of one."""
        with (self.suite / "suite.toml").open("a", encoding="utf-8") as file:
            file.write(CASE.format(id=name, needs=f'"{needs}"' if needs else "", counted_by=counted_by))
        (self.suite / f"{name}.bt").write_text("".join(f"// {line}\n" for line in lines), encoding="utf-8")
        if twin:
            (self.suite / f"{name}.check.bt").write_text(f"// {twin}\n", encoding="utf-8")

    def work(self) -> Work:
        """The suite, resolved against the fake kernel."""
        ((folder, suite),) = choose_suites(self.data, ["tiny"])
        return resolve(folder, suite, self.tracers, [])

    def measure(self, blocks: int = 2, tell: Callable[[Progress], None] = lambda _: None) -> list[Sample]:
        """The rows of a run."""
        settings = Settings(
            results=self.data.results,
            blocks=blocks,
            seed=7,
            command=("probe-effect", "measure", "tiny"),
            lengths=QUICK,
            limits=IMPATIENT,
            cache=self.root / "cache",
        )
        return rows(measure(self.work(), settings, tell))


def rows(submission: Submission) -> list[Sample]:
    """The rows of a submission, which must be sound."""
    samples, problems = read_samples(submission.samples, "samples.csv")
    assert problems == []
    return samples


def document(submission: Submission) -> MachineFile:
    """The `machine.json` of a submission, which must be sound."""
    found, problems = read_machine_file(submission.machine_file, "machine.json")
    assert problems == []
    assert found is not None
    return found
