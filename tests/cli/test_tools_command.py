"""`probe-effect tools`: the committed probes are those of the tools' own scripts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers.builders import REAL_DATA, write_data
from probe_effect.cli import upkeep_run
from probe_effect.cli.build import tools as command
from probe_effect.model import HostNotReady, UsageError
from probe_effect.store.places import DataFolder
from probe_effect.store.transcripts import StandardTool, ToolPackage, read_tools, tool_files, written

SCRIPT = """BEGIN { printf("Tracing\\n"); }
tracepoint:syscalls:sys_enter_kill { @t[tid] = args->pid; }
tracepoint:syscalls:sys_exit_kill /@t[tid]/ { printf("%d\\n", pid); delete(@t[tid]); }
tracepoint:syscalls:sys_exit_tkill /@t[tid]/ { printf("%d\\n", pid); delete(@t[tid]); }
interval:s:1 { print(@t); }
"""
TOOL = StandardTool(name="kills.bt", answers="Who?", event="a kill", remark="-")


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "kills.bt").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path, scripts: Path) -> DataFolder:
    root = write_data(tmp_path)
    (root / "tools").mkdir()
    package = ToolPackage(
        schema_version=1,
        title="-",
        package="us",
        version="1",
        where="-",
        tracer="bpftrace",
        scripts=str(scripts),
        tools=(TOOL,),
    )
    (root / "tools" / "us.toml").write_text(written(package), encoding="utf-8")
    return DataFolder(root)


def run(data: DataFolder, *words: str | Path) -> str:
    done = CliRunner().invoke(command, ["--data", str(data.root), *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def renewed(data: DataFolder) -> ToolPackage:
    (path,) = tool_files(data)
    package, problems = read_tools(path, path.name)
    assert problems == []
    assert package is not None
    return package


def test_probes_that_do_the_same_are_one_group_and_those_of_start_and_end_are_left_out(data: DataFolder) -> None:
    run(data, "--write", "--version", "2")
    package = renewed(data)
    assert package.version == "2"
    assert [(one.kind, len(one.attach), one.filter) for one in package.tools[0].probes] == [
        ("tracepoint-entry", 1, False),
        ("tracepoint-return", 2, True),
        ("interval", 1, False),
    ]
    assert (package.tools[0].answers, package.tools[0].remark) == ("Who?", "-")


def test_written_twice_it_is_the_same(data: DataFolder) -> None:
    run(data, "--write", "--version", "2")
    first = renewed(data)
    run(data, "--write", "--version", "2")
    assert renewed(data) == first


def test_without_write_it_is_printed_and_nothing_changes(data: DataFolder) -> None:
    (path,) = tool_files(data)
    before = path.read_text(encoding="utf-8")
    assert 'version = "2"' in run(data, "--version", "2")
    assert path.read_text(encoding="utf-8") == before


def test_a_tool_that_nobody_has_described_is_named(data: DataFolder, scripts: Path) -> None:
    (scripts / "fresh.bt").write_text(SCRIPT, encoding="utf-8")
    with pytest.raises(UsageError, match=r"fresh\.bt.*add a \[\[tools\]\]"):
        run(data, "--version", "2")


def test_a_package_that_is_not_installed_says_what_to_do(data: DataFolder) -> None:
    with pytest.raises(HostNotReady, match=r"us: not installed here.*--scripts FOLDER"):
        run(data)


def test_a_package_that_people_read_stays_as_it_is(tmp_path: Path) -> None:
    root = write_data(tmp_path)
    shutil.copytree(REAL_DATA / "tools", root / "tools", ignore=shutil.ignore_patterns("bpftrace.toml"))
    found = dict(upkeep_run.renewed(DataFolder(root), None, None))
    assert len(found) > 1
    assert {path: path.read_text(encoding="utf-8") for path in found} == found


def test_the_committed_probes_are_those_of_the_installed_package_where_it_is_of_that_version() -> None:
    path = REAL_DATA / "tools" / "bpftrace.toml"
    package, _ = read_tools(path, path.name)
    assert package is not None
    try:
        version = upkeep_run.installed_version(package)
    except HostNotReady as error:
        pytest.skip(str(error))
    if version != package.version:
        pytest.skip(f"bpftrace {version} is installed, and the facts are of {package.version}")
    assert package.scripts is not None
    assert upkeep_run.with_scripts(package, Path(package.scripts), version) == package
