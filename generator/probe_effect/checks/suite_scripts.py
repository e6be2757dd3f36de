"""A suite has the files that its cases name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSuite, Fault, Rule
from probe_effect.store.suite_file import SCRIPT_SUFFIXES, script_path, workload_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _faults(checked: CheckedSuite) -> Iterator[Fault]:
    suite = checked.suite
    if suite.id != checked.folder.name:
        yield Fault("suite.toml", None, f"id `{suite.id}` in folder `{checked.folder.name}`", "use the folder's name")
    if not workload_source(checked.folder, suite).is_file():
        yield Fault("suite.toml", None, f"workload/{suite.workload.program} is missing", "add the program's source")
    for case in suite.cases:
        tracers = [tracer for tracer in SCRIPT_SUFFIXES if script_path(checked.folder, case.id, tracer)]
        if not tracers:
            yield Fault("suite.toml", None, f"case `{case.id}` has no script", f"add {case.id}.bt or {case.id}.d")
        if case.counted_by == "twin" and "bpftrace" in tracers:
            yield from _twin_fault(checked.folder, case.id)


def _twin_fault(folder: Path, case_id: str) -> Iterator[Fault]:
    if not script_path(folder, case_id, "bpftrace", check=True):
        found = f"case `{case_id}` is counted by a twin that is missing"
        yield Fault("suite.toml", None, found, f"add {case_id}.check.bt")


RULE = Rule("suite-scripts", "Every case has its scripts, and the suite its workload.", _faults)
