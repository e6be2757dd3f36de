"""`probe-effect doctor`: what can be measured, what is missing and how to get it, and what makes the machine noisy."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from fakes.project import FakeProject, as_root
from probe_effect.cli import commands
from probe_effect.host.kernel import CLOSED
from probe_effect.measure.diagnosis import Diagnosis, diagnose
from probe_effect.measure.request import choose_suites
from probe_effect.records import TOOLS
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.protocol import install_line, missing_packages

if TYPE_CHECKING:
    from probe_effect.model import Need

BIN = Path(__file__).parents[1] / "fakes" / "bin"
ROOT_ID, USER_ID = 0, 1000

KEYS = (
    "can_measure machine system is_root compiler tracefs aslr workload_cpu tracer_cpu load steal_ratio kernel tracers "
    "suites packages warnings install"
).split()


@dataclass(frozen=True, slots=True)
class Modest(Bpftrace):
    """A tracer that needs no root and uses no probe of the kernel."""

    def available(self) -> str | None:
        return None

    def missing(self, need: Need) -> str | None:
        return f"it knows no {need}"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    made.case("01-plain")
    made.case("02-kernel-function", needs="kprobe")
    monkeypatch.setattr("probe_effect.cli.doctor_run.known_tracers", lambda: made.tracers)
    return made


def run(project: FakeProject, *arguments: str, width: int = 80) -> Result:
    options = ["--data", str(project.data.root), *arguments]
    settings = {"COLUMNS": str(width), "NO_COLOR": "1"}
    return CliRunner(env=settings).invoke(commands, ["doctor", *options], catch_exceptions=False, standalone_mode=False)


def as_json(project: FakeProject) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(run(project, "--format", "json").stdout)
    return value


def found(project: FakeProject) -> Diagnosis:
    """The diagnosis of the fake kernel's machine."""
    return diagnose(choose_suites(project.data, []), project.tracers, root=project.root / "kernel")


def only_programs(project: FakeProject, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Leave only those fakes on the PATH."""
    folder = project.root / "bin"
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(BIN / name)
    monkeypatch.setenv("PATH", str(folder))


# What can be measured


def test_a_machine_that_can_measure_something_is_fit(project: FakeProject) -> None:
    outcome = run(project)
    assert outcome.return_value == 0
    assert "what the site lacks most, in your time:\n    probe-effect lend --minutes 60\n" in outcome.stdout


def test_a_tracer_is_shown_with_its_version_and_what_it_lacks(project: FakeProject) -> None:
    (state,) = found(project).tracers
    assert (state.tracer, state.version, state.unavailable) == ("bpftrace", "bpftrace v0.0.0", None)
    assert "this kernel has no kprobes" in state.lacks["kprobe"]
    assert "tracepoint" not in state.lacks


def test_the_kernel_is_asked_for_each_facility(project: FakeProject) -> None:
    kernel = found(project).kernel
    assert set(kernel) == {
        *("kprobe", "uprobe", "uprobe-nop10", "tracepoint", "fentry", "raw-tracepoint"),
        *("kprobe-multi", "kprobe-session", "uprobe-multi", "lsm", "breakpoint"),
        *("function-tracer", "function-graph", "seccomp", "delay-accounting", "schedstats"),
    }
    assert kernel["tracepoint"] is None
    assert "no kprobes" in str(kernel["kprobe"])


def test_a_suite_counts_its_cases_by_tracer(project: FakeProject) -> None:
    (suite,) = found(project).suites
    assert (suite.suite, suite.cases) == ("tiny", 2)
    assert (suite.scripts, suite.measurable) == ({"bpftrace": 2}, {"bpftrace": 1})
    assert re.search(r"tiny +2 cases +bpftrace 1 of 2", run(project).stdout)


def test_a_tracer_without_a_script_in_a_suite_is_not_counted_there(project: FakeProject) -> None:
    project.tracers["strace"] = Modest(id="strace", tool="strace")
    (suite,) = found(project).suites
    assert set(suite.measurable) == {"bpftrace"}
    assert re.search(r"strace +yes .*uses no probes of the kernel", run(project, width=200).stdout)


def test_the_workload_is_compiled_and_its_clock_is_read(project: FakeProject) -> None:
    diagnosis = found(project)
    assert diagnosis.compiler.found == "fake-cc 1.0 -O2 -std=c11 -Wall -Wextra"
    assert diagnosis.system.clock_read_ns == 25.0


# What cannot, and why


def test_without_a_compiler_nothing_can_be_measured_and_its_package_is_named(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_programs(project, monkeypatch, "bpftrace")
    diagnosis = found(project)
    assert not diagnosis.can_measure
    assert "no C compiler" in str(diagnosis.compiler.reason)
    assert diagnosis.packages[0] == "gcc"
    assert diagnosis.system.clock_read_ns is None
    assert run(project).return_value == 3


def test_a_compiler_that_refuses_is_quoted(project: FakeProject) -> None:
    (project.suite / "workload" / "loop.c").write_text("refuse-me", encoding="utf-8")
    outcome = run(project)
    assert outcome.return_value == 3
    assert "the fake compiler refuses" in outcome.stdout


def test_a_suite_whose_workload_cannot_be_compiled_does_not_speak_for_the_others(project: FakeProject) -> None:
    other = project.suite.with_name("another")
    shutil.copytree(project.suite, other)
    text = (other / "suite.toml").read_text(encoding="utf-8")
    (other / "suite.toml").write_text(text.replace('id = "tiny"', 'id = "another"'), encoding="utf-8")
    (other / "workload" / "loop.c").write_text("refuse-me", encoding="utf-8")
    first, second = found(project).suites
    assert "the fake compiler refuses" in str(first.unbuildable)
    assert (first.measurable, second.measurable) == ({"bpftrace": 0}, {"bpftrace": 1})
    outcome = run(project)
    assert outcome.return_value == 0
    assert re.search(r"another +2 cases +none: error: the fake compiler refuses", outcome.stdout)


def test_without_any_tracer_the_machine_is_not_fit_and_each_says_why(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_programs(project, monkeypatch, "cc")
    project.tracers["strace"] = Bpftrace(program="nonsense", id="strace", tool="strace")
    outcome = run(project)
    assert outcome.return_value == 3
    assert re.search(r"bpftrace +no +\S", outcome.stdout)
    assert "nothing can be measured as it is" in outcome.stdout
    assert {"bpftrace", "strace"} <= set(found(project).packages)


def test_without_suites_nothing_can_be_measured(project: FakeProject) -> None:
    shutil.rmtree(project.suite)
    outcome = run(project)
    assert outcome.return_value == 3
    assert "there is no suite to compile" in outcome.stdout


def test_without_root_it_says_what_sudo_would_change(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: USER_ID)
    outcome = run(project)
    assert outcome.return_value == 3
    assert re.search(r"see what root can measure:\n    sudo \S+ doctor\n", outcome.stdout)
    project.tracers["modest"] = Modest(id="modest")
    outcome = run(project)
    assert outcome.return_value == 0
    assert "what the site lacks most, in your time:\n    probe-effect lend --minutes 60\n" in outcome.stdout


def test_what_a_closed_tracefs_refuses_is_not_taken_for_the_kernels_word(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe_effect.host.kernel.tracefs_folder", lambda _: None)
    monkeypatch.setattr("os.path.ismount", lambda path: str(path).endswith("sys/kernel/tracing"))
    monkeypatch.setattr("probe_effect.host.kernel.is_empty", lambda _: False)
    diagnosis = found(project)
    assert diagnosis.tracefs.reason == CLOSED
    assert (diagnosis.kernel["kprobe"], diagnosis.kernel["fentry"], diagnosis.kernel["tracepoint"]) == (
        CLOSED,
        CLOSED,
        None,
    )
    assert "What this kernel lacks" not in run(project).stdout


# What makes it noisy


def test_what_makes_the_machine_noisy_is_explained(project: FakeProject) -> None:
    folder = project.root / "kernel/sys/devices/system/cpu/cpu0/cpufreq"
    folder.mkdir(parents=True)
    (folder / "scaling_governor").write_text("powersave\n", encoding="utf-8")
    warning = next(one for one in found(project).warnings if one.id == "governor")
    assert "powersave" in warning.found


def test_warnings_stand_with_their_reason_and_what_to_do(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probe_effect.measure.diagnosis.load_average", lambda: 1e6)
    text = run(project, width=200).stdout
    assert re.search(r"load +The load average is 1000000\.00 on \d+ CPUs\. Other programs take time", text)
    assert "To do: end them, or wait" in text


# How it is shown


def test_json_has_the_keys_that_programs_rely_on(project: FakeProject) -> None:
    value = as_json(project)
    assert set(KEYS) <= value.keys()
    assert value["can_measure"] is True
    assert set(value["tracers"][0]) == {"tracer", "version", "unavailable", "lacks"}
    assert set(value["suites"][0]) == {"suite", "cases", "scripts", "measurable", "unbuildable"}
    assert set(value["compiler"]) == set(value["tracefs"]) == {"found", "reason"}
    assert all(set(one) == {"id", "found", "why", "advice", "measure"} for one in value["warnings"])
    assert {"id", "cpu_model", "threads"} <= value["machine"].keys()


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit_the_terminal_and_have_no_colour_when_asked(project: FakeProject, width: int) -> None:
    text = run(project, width=width).stdout
    assert max(map(len, text.splitlines())) <= width
    assert not re.search(r"\x1b\[([0-9;]*;)?[39][0-9]", text)


def test_a_command_stays_on_one_line_however_narrow_the_terminal(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"sudo apt install {' '.join(TOOLS)}"
    monkeypatch.setattr("probe_effect.cli.doctor_run.install_line", lambda _: line)
    assert f"install what is missing:\n    {line}\n" in run(project).stdout


def test_words_of_tools_are_not_taken_for_styles(project: FakeProject) -> None:
    project.tracers["odd"] = Bpftrace(program="[red]nonsense[/red]", id="odd")
    assert "[red]nonsense[/red]" in run(project, width=200).stdout


# Packages


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root without any file, and nothing on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr("probe_effect.tracers.protocol.SBIN", str(tmp_path / "nowhere"))
    return tmp_path


def test_packages_are_named_once_however_many_tracers_want_them(bare: Path) -> None:
    assert missing_packages(["perf-stat", "perf-record", "strace"], bare) == [
        *("gcc", "libc6-dev", "systemtap-sdt-dev"),
        *("linux-perf", "strace"),
    ]


def test_ubuntu_has_other_names(bare: Path) -> None:
    (bare / "etc").mkdir()
    (bare / "etc/os-release").write_text('NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', encoding="utf-8")
    assert "linux-tools-generic" in missing_packages(["perf-stat"], bare)


def test_what_is_there_is_not_installed_again(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(BIN))
    header = bare / "usr/include/x86_64-linux-gnu/lttng/tracepoint.h"
    header.parent.mkdir(parents=True)
    header.touch()
    assert missing_packages(["bpftrace", "lttng-ust"], bare) == [
        *("libc6-dev", "systemtap-sdt-dev"),
        *("lttng-tools", "babeltrace2"),
    ]


def test_there_is_one_line_for_apt_where_there_is_apt(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert install_line(["strace"]) is None
    (bare / "apt").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(bare))
    monkeypatch.setattr(os, "geteuid", lambda: USER_ID)
    assert install_line(["strace", "uftrace"]) == "sudo apt install strace uftrace"
    as_root(monkeypatch)
    assert install_line(["strace"]) == "apt install strace"
    assert install_line([]) is None


def test_every_package_is_known_by_a_program_or_a_file() -> None:
    assert all(bool(one.program) != bool(one.file) for tool in TOOLS.values() for one in tool.packages)
