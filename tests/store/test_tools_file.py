"""The documents of standard tools: what they hold, their one form, and what is wrong with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA, rules, write_data
from probe_effect.checks.run import check_all
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.places import DataFolder
from probe_effect.store.transcripts import StandardTool, ToolPackage, ToolProbes, read_tools, tool_files, written

if TYPE_CHECKING:
    from pathlib import Path

PROBES = ToolProbes(attach=("kprobe:a", "kprobe:b"), kind="kprobe", actions=("count", "print"), filter=True)
TOOL = StandardTool(
    name="snoop", answers='Who says "why"?', event="a word", usual_to_hz=10.0, usual_source="snoop(8)", probes=(PROBES,)
)
PACKAGE = ToolPackage(
    schema_version=1, title="Of us", package="us", version="1", where="https://u.s", tracer="bpftrace", tools=(TOOL,)
)


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    """A data folder with one sound package."""
    root = write_data(tmp_path)
    (root / "tools").mkdir()
    (root / "tools" / "us.toml").write_text(written(PACKAGE), encoding="utf-8")
    return DataFolder(root)


def rewritten(data: DataFolder, old: str, new: str) -> set[str]:
    """The rules that are broken once `old` is `new`."""
    (path,) = tool_files(data)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return rules(check_all(data))


def test_what_is_written_is_read_again(data: DataFolder) -> None:
    (path,) = tool_files(data)
    assert read_tools(path, "us.toml") == (PACKAGE, [])
    assert read_catalogue(data).tools == (PACKAGE,)
    assert rules(check_all(data)) == set()


def test_data_without_standard_tools_are_sound(tmp_path: Path) -> None:
    assert read_catalogue(DataFolder(write_data(tmp_path))).tools == ()


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in tool_files(DataFolder(REAL_DATA))])
def test_ours_are_in_their_one_form(path: Path) -> None:
    package, problems = read_tools(path, path.name)
    assert problems == []
    assert package is not None
    assert written(package) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        pytest.param('usual_source = "snoop(8)"\n', "", "tools/value-error", id="a rate without its source"),
        pytest.param("usual_to_hz = 10.0\n", "usual_to_hz = -1.0\n", "tools/greater-than", id="a rate below nothing"),
        pytest.param('tracer = "bpftrace"', 'tracer = "guess"', "known-tools", id="a tracer that nobody measures"),
        pytest.param("filter = true\n", "filter = true # so\n", "tools-form", id="another form"),
        pytest.param(
            'event = "a word"\n', 'event = "a word"\ncase = "99-no"\n', "known-tools", id="a case of no suite"
        ),
        pytest.param('name = "snoop"\n', 'name = "snoop"\nlikes = 1\n', "tools/extra-forbidden", id="an unknown key"),
        pytest.param('kind = "kprobe"', 'kind = "k probe"', "tools/string-pattern-mismatch", id="a kind that is none"),
    ],
)
def test_a_fault_breaks_its_rule(data: DataFolder, old: str, new: str, broken: str) -> None:
    assert broken in rewritten(data, old, new)


def test_a_tool_that_stands_twice_or_has_no_probes_is_told(data: DataFolder) -> None:
    (path,) = tool_files(data)
    bare = TOOL.model_copy(update={"probes": ()})
    path.write_text(written(PACKAGE.model_copy(update={"tools": (TOOL, bare)})), encoding="utf-8")
    found = [(one.rule, one.line) for one in check_all(data)]
    lines = path.read_text(encoding="utf-8").splitlines()
    first, second = (place for place, line in enumerate(lines, start=1) if line == 'name = "snoop"')
    assert found == [("known-tools", first), ("known-tools", second), ("explained-tools", second - 1)]
