"""hit-loop and the scripts of its suite: of as many functions as a level says, the workload calls one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.needs import needs
from probe_effect.host.symbols import matching_functions
from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.store.suite_file import read_suite, script_path
from probe_effect.tracers.libbpf import Libbpf

SUITE = Path(__file__).parents[2] / "data" / "suites" / "functions-hit"
STEMS = {"1": "one", "10": "ten", "100": "hundred", "1000": "thousand"}
OF_KERNEL, OF_PROGRAM = "01-hit-kprobe-multi", "02-hit-uprobe-multi"
OPERATIONS = 5000

pytestmark = [
    needs("cc"),
    pytest.mark.xdist_group("tracer"),
]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SUITE / "workload" / "hit-loop.c", compiled_cache).path


def levels() -> list[str]:
    suite, problems = read_suite(SUITE, "suite.toml")
    assert problems == []
    assert suite is not None
    return list(suite.levels)


def scripts(case: str, level: str) -> list[str]:
    """The text of a script and of its counting twin."""
    paths = [script_path(SUITE, case, "libbpf", level=level, check=check) for check in (False, True)]
    return [path.read_text(encoding="utf-8") for path in paths if path is not None]


@pytest.mark.parametrize(("level", "stem"), STEMS.items())
def test_a_stem_matches_as_many_functions_of_the_program_as_the_level_says(
    program: Path, level: str, stem: str
) -> None:
    assert len(matching_functions(program, f"{stem}_*")) == int(level)
    assert [f'SEC("uprobe.multi/./hit-loop:{stem}_")' in text for text in scripts(OF_PROGRAM, level)] == [True, True]


@pytest.mark.parametrize("level", levels())
def test_a_script_asks_for_one_function_of_a_read_and_as_many_others_as_the_level_leaves(level: str) -> None:
    found = [re.findall(r"^int vfs_read_and_(\d+)_of_net\(", text, re.MULTILINE) for text in scripts(OF_KERNEL, level)]
    assert found == [[str(int(level) - 1)]] * 2


@pytest.mark.tracer
@pytest.mark.parametrize("level", STEMS)
def test_each_operation_calls_one_of_the_functions_that_are_probed(program: Path, level: str) -> None:
    tracer = Libbpf()
    if reason := tracer.available() or tracer.missing("uprobe-multi"):
        pytest.skip(reason)
    script = script_path(SUITE, OF_PROGRAM, "libbpf", level=level, check=True)
    assert script is not None
    planned = PlannedRun(0, 0, Key(OF_PROGRAM, "libbpf", level), "check")
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED, level=level)
    row = run_once(planned, load, TracerTask(tracer, script, "maps"), Limits())
    assert (row.status, row.note) == ("ok", None)
    assert (row.seen, row.lost, row.probes) == (OPERATIONS, 0, int(level))
