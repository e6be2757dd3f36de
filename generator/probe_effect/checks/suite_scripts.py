"""A suite has the files that its cases name, and there are the cases that these refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSuite, Fault, Rule
from probe_effect.store.script_forms import linux_form, plain_form
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
        if case.counted_by == "twin" and "dtrace" in tracers:
            yield from _linux_twin_fault(checked.folder, case.id)
    yield from _form_faults(checked.folder)
    yield from _reference_faults(checked)


def _twin_fault(folder: Path, case_id: str) -> Iterator[Fault]:
    if not script_path(folder, case_id, "bpftrace", check=True):
        found = f"case `{case_id}` is counted by a twin that is missing"
        yield Fault("suite.toml", None, found, f"add {case_id}.check.bt")


def _linux_twin_fault(folder: Path, case_id: str) -> Iterator[Fault]:
    """A script with a form for Linux needs a twin with one, or on Linux the twin names a function that is not there."""
    script, twin = (script_path(folder, case_id, "dtrace", check=check) for check in (False, True))
    if script and linux_form(script) and not (twin and linux_form(twin)):
        found = f"case `{case_id}` is counted by a twin that is missing on Linux"
        yield Fault("suite.toml", None, found, f"add {case_id}.check.d and {case_id}.check.linux.d")


def _form_faults(folder: Path) -> Iterator[Fault]:
    """Only a script that is there can have a form for Linux, because nobody asks for that by its own name."""
    for path in sorted(folder.iterdir()):
        plain = plain_form(path)
        if plain and not plain.is_file():
            found = f"script `{path.name}` is the form for Linux of a script that is missing"
            yield Fault("suite.toml", None, found, f"add {plain.name}, or give it that name")


def _reference_faults(checked: CheckedSuite) -> Iterator[Fault]:
    known = {case.id for suite in (checked.suite, *checked.known.values()) for case in suite.cases}
    for case in checked.suite.cases:
        for name in case.references():
            if name not in known or name == case.id:
                hint = "name another case of a known suite in `like`, `parts` and `composed`"
                yield Fault("suite.toml", None, f"case `{case.id}` refers to `{name}`, which is no other case", hint)


RULE = Rule(
    "suite-scripts",
    "Every case has its scripts and the cases that it refers to, and the suite its workload.",
    _faults,
    good="case `02-kprobe` beside `02-kprobe.bt`",
    bad="case `02-kprobe` without any script",
)
