"""Cases that refer to others: what is predicted from them or compared with them is the same probe and action."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from probe_effect.store.places import LINUX, DataFolder, linux_form, plain_form
from probe_effect.store.suite_file import Suite, read_suite

DATA = DataFolder(Path(__file__).parents[2] / "data")


def read(folder: Path) -> Suite:
    suite, problems = read_suite(folder, folder.name)
    assert problems == []
    assert suite is not None
    return suite


SUITES = {folder: read(folder) for folder in DATA.suites()}
CASES = {case.id: case for suite in SUITES.values() for case in suite.cases}


def those(key: str) -> list[str]:
    """The ids of the cases that have such a reference."""
    return [case.id for case in CASES.values() if getattr(case, key)]


@pytest.mark.parametrize("name", those("composed"))
def test_a_prediction_takes_the_probe_from_one_case_and_the_action_from_another(name: str) -> None:
    case, composed = CASES[name], CASES[name].composed
    assert composed is not None
    probe, action, plain = CASES[composed.probe], CASES[composed.action], CASES[composed.plain]
    assert (probe.probe, action.action) == (case.probe, case.action)
    assert (plain.probe, plain.action) == (action.probe, probe.action)


@pytest.mark.parametrize("name", those("like"))
def test_a_case_is_like_one_with_the_same_probe_and_action(name: str) -> None:
    other = CASES[CASES[name].like or ""]
    assert (other.probe, other.action) == (CASES[name].probe, CASES[name].action)


@pytest.mark.parametrize("name", those("parts"))
def test_several_probes_make_as_many_events_as_their_parts(name: str) -> None:
    parts = [CASES[part] for part in CASES[name].parts]
    assert CASES[name].events_per_operation == sum(part.events_per_operation for part in parts)
    assert {part.action for part in parts} == {CASES[name].action}


@pytest.mark.parametrize("folder", SUITES, ids=lambda folder: folder.name)
def test_a_case_with_a_tracepoint_of_system_calls_in_bpftrace_is_sampled_on_cpu_0(folder: Path) -> None:
    cases = SUITES[folder].cases
    calls = {case.id for case in cases if case.probe in {"tracepoint-entry", "tracepoint-return"}}
    in_bpftrace = {case for case in calls if any(folder.glob(f"{case}.*bt"))}
    assert {case.id for case in cases if "bpftrace" in case.sampled_on_cpu_0} == in_bpftrace


SYSTEM_WIDE = (".bt", ".bpf.c", ".linux.d")
"""Endings of scripts whose probes fire in every process; of DTrace's, where a form for Linux is needed."""

TWINS = [path for folder in SUITES for ending in SYSTEM_WIDE for path in sorted(folder.glob(f"*.check{ending}"))]


@pytest.mark.parametrize("twin", [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in TWINS])
def test_a_counting_twin_counts_the_events_of_the_workload_of_its_suite(twin: Path) -> None:
    name = SUITES[twin.parent].workload.program.removesuffix(".c")
    text = twin.read_text(encoding="utf-8")
    if "uprobe:./" not in text:  # that function is in the workload alone
        assert re.search(rf'"{name}"|is_{name.replace("-", "_")}\b', text)


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in SUITES])
def test_a_case_that_a_twin_counts_has_one_beside_each_script_whose_probes_fire_in_every_process(folder: Path) -> None:
    counted = [case.id for case in SUITES[folder].cases if case.counted_by == "twin"]
    scripts = [folder / f"{name}{ending}" for name in counted for ending in SYSTEM_WIDE]
    lacking = [path.name for path in scripts if path.exists() and not twin_of(path).exists()]
    assert lacking == []


def twin_of(script: Path) -> Path:
    name, _, ending = script.name.partition(".")
    return script.with_name(f"{name}.check.{ending}")


FORMS = [path for folder in SUITES for path in sorted(folder.glob(f"*{LINUX}.d"))]
FUNCTION = re.compile(r"^fbt::(\w+):(entry|return)", re.MULTILINE)


@pytest.mark.parametrize("form", [pytest.param(path, id=path.name) for path in FORMS])
def test_a_form_for_linux_probes_the_same_places_of_another_function(form: Path) -> None:
    plain = plain_form(form)
    assert plain is not None
    theirs, ours = (FUNCTION.findall(path.read_text(encoding="utf-8")) for path in (plain, form))
    assert ours == [("vfs_read", place) for _, place in theirs]
    assert {name for name, _ in theirs} == {"dofileread"}


def test_every_script_of_a_function_that_linux_lacks_has_a_form_for_linux() -> None:
    scripts = [
        path for folder in SUITES for path in folder.glob("*.d") if "fbt::dofileread:" in path.read_text("utf-8")
    ]
    assert [path.name for path in scripts if linux_form(path) is None] == []
    assert len(scripts) == len(FORMS)
