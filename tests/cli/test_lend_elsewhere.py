"""`lend` where the system has a DTrace of its own, by what FreeBSD, illumos and macOS were seen to print."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fakes.project import FAKES, FakeProject, as_root, asked_by, document, on_the_path, rows
from helpers.builders import PROJECT, machine_document
from helpers.needs import needs
from probe_effect.cli import doctor_run
from probe_effect.cli.doctor_run import tracers_here, works_here
from probe_effect.cli.wanted import lend
from probe_effect.host import this_machine
from probe_effect.host.system import os_name
from probe_effect.numbers import names, wanted
from probe_effect.store.places import PACKAGED, DataFolder
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.dtrace import Dtrace

if TYPE_CHECKING:
    from pathlib import Path

FAKE = FAKES / "dtrace"

UNAME = ("FreeBSD", "epiphron", "12.0-RELEASE", "FreeBSD 12.0-RELEASE r341666 GENERIC ", "amd64")
"""https://github.com/opendtrace/toolkit/issues/14"""

SYSCTL = {
    "hw.model": "Intel(R) Xeon(R) CPU E5-2676 v3 @ 2.40GHz",  # https://github.com/webmin/webmin/issues/498
    "kern.timecounter.hardware": "TSC-low",  # https://github.com/golang/go/issues/50947
    "kern.vm_guest": "vbox",  # https://github.com/freebsd/freebsd-src/blob/main/sys/kern/subr_param.c
    "hw.physmem": "2076180480",
}

VERSION = "dtrace: Sun D 1.12.1"
"""https://github.com/opnsense/core/issues/1726"""

NO_LIBRARY = (
    'dtrace: invalid probe specifier dtrace:::BEGIN: "/usr/lib/dtrace/io.d", line 42: operator -> cannot be applied to '
    "a forward declaration: no struct devstat definition is available"
)
"""https://github.com/opnsense/core/issues/1726"""

PROTECTED = "dtrace: system integrity protection is on, some features will not be available\n"
"""https://github.com/nickbruun/osxkerneltracer/issues/1"""

CUSTOM = """\
System Integrity Protection status: {status} (Custom Configuration).

Configuration:
	Apple Internal: disabled
	Kext Signing: disabled
	Filesystem Protections: disabled
	Debugging Restrictions: {dtrace}
	DTrace Restrictions: {dtrace}
"""
"""The form of https://github.com/foxlet/macOS-Simple-KVM/issues/363 and of the older
https://github.com/lionheart/openradar-mirror/issues/5820"""


def program(folder: Path, name: str, text: str) -> None:
    """A shell script."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    """A FreeBSD with DTrace and the real loop, whose probes see every operation of it."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    as_root(monkeypatch)
    values = "\n".join(f"{name}) echo '{value}' ;;" for name, value in SYSCTL.items())
    program(tmp_path / "programs", "sysctl", f'case "$2" in\n{values}\n*) exit 1 ;;\nesac')
    program(tmp_path / "programs", "dtrace", f'[ "$1" = -V ] && exec echo "{VERSION}"\nexec {FAKE} "$@"')
    monkeypatch.setattr(platform, "system", lambda: "FreeBSD")
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(UNAME))
    root, machine, system = tmp_path / "root", this_machine.collect_machine, this_machine.collect_system
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "os-release").write_text('NAME=FreeBSD\nPRETTY_NAME="FreeBSD 12.0-RELEASE"\n', encoding="utf-8")
    monkeypatch.setattr(this_machine, "collect_machine", lambda *_: machine(root))
    monkeypatch.setattr(this_machine, "collect_system", lambda clock_read_ns, *_, **__: system(clock_read_ns, root))
    monkeypatch.setattr(wanted, "MOST", wanted.FEWEST)
    made = FakeProject(tmp_path)
    suites = PROJECT / "data" / "suites"
    made.header.write_bytes((suites / "loop.h").read_bytes())
    (made.suite / "workload" / "loop.c").write_bytes((suites / "per-event/workload/dd-loop.c").read_bytes())
    with (made.suite / "suite.toml").open("a", encoding="utf-8") as file:
        file.write("seconds = 0.05\n")
    made.case("01-control")
    made.case("02-counted", counted_by="maps", needs="tracepoint")
    made.case("03-kernel-function", counted_by="maps", needs="kprobe")
    for script in made.suite.glob("*.bt"):
        script.rename(script.with_suffix(".d")).write_text("/* print:           OPERATIONS */\n", encoding="utf-8")
    known = {"dtrace": Dtrace(system="FreeBSD"), "bpftrace": Bpftrace()}
    for module in ("doctor_run", "measure_settings"):
        monkeypatch.setattr(f"probe_effect.cli.{module}.known_tracers", lambda: known)
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    return made


def run(project: FakeProject, *arguments: str) -> Result:
    words = ["--data", str(project.data.root), *arguments]
    return CliRunner().invoke(lend, words, catch_exceptions=False, standalone_mode=False)


@needs("cc")
@pytest.mark.deep
def test_freebsd_measures_and_ends_with_a_folder_that_check_takes(elsewhere: FakeProject) -> None:
    outcome = run(elsewhere, "--minutes", "20")
    (submission,) = elsewhere.data.submissions()
    found, of_runs = document(submission), rows(submission)
    assert {(row.case, row.status) for row in of_runs if row.arm == "traced"} == {
        ("01-control", "ok"),
        ("02-counted", "ok"),
        ("03-kernel-function", "skipped"),
    }
    assert all(row.seen == row.events for row in of_runs if row.case == "02-counted")
    (why,) = (row.note for row in of_runs if row.status == "skipped")
    assert why == "`dtrace -l -P fbt`: dtrace: failed to match fbt:::: No probe matches description"
    assert (found.machine.cpu_model, found.machine.architecture) == (SYSCTL["hw.model"], "amd64")
    assert found.machine.virtualization == "VirtualBox"
    assert (found.system.os, found.system.kernel_release) == ("FreeBSD 12.0-RELEASE", "12.0-RELEASE")
    assert found.system.clocksource == "TSC-low"
    assert found.tools == {"dtrace": VERSION}
    assert "probe-effect submit" in outcome.stderr.splitlines()[-1]


@needs("cc")
@pytest.mark.deep
def test_a_freebsd_whose_dtrace_lacks_its_libraries_is_told_so(elsewhere: FakeProject, tmp_path: Path) -> None:
    program(tmp_path / "programs", "dtrace", f'[ "$1" = -q ] || exec {FAKE} "$@"\necho \'{NO_LIBRARY}\' >&2\nexit 1')
    outcome = run(elsewhere, "--minutes", "20")
    assert f"02-counted (dtrace) failed: dtrace ended before its probes were live: {NO_LIBRARY}" in outcome.stderr


@pytest.fixture(params=["FreeBSD", "SunOS", "Darwin"])
def system(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Another system, whose DTrace is a fake that has the provider `syscall` and no `fbt`."""
    asked_by(monkeypatch, tmp_path, "measure_settings")
    name = str(request.param)
    on_the_path(monkeypatch)
    known = {"dtrace": Dtrace(program=str(FAKE), system=name), "bpftrace": Bpftrace()}
    monkeypatch.setattr("probe_effect.cli.doctor_run.known_tracers", lambda: known)
    monkeypatch.setattr(platform, "system", lambda: name)
    return name


@pytest.mark.usefixtures("system")
def test_other_systems_plan_the_cases_of_dtrace_alone() -> None:
    assert list(tracers_here()) == ["dtrace"]
    works = {work.suite.id: work for work in works_here(DataFolder(PACKAGED)) if work.measured}
    assert {subject.tracer for work in works.values() for subject in work.measured} == {"dtrace"}
    assert {"per-event", "user-probes"} <= works.keys()
    assert "04-tracepoint-entry" in {subject.case for subject in works["per-event"].measured}
    assert "02-kprobe" in {subject.case for subject in works["per-event"].skipped}


@pytest.mark.usefixtures("system")
def test_other_systems_plan_every_case_of_the_pid_provider() -> None:
    works = [work for work in works_here(DataFolder(PACKAGED)) if work.measured]
    planned = {subject.case for work in works for subject in work.measured}
    scripts = [(case.id, path) for work in works for case in work.suite.cases for path in work.folder.glob("*.d")]
    of_pid = {name for name, path in scripts if path.name.startswith(f"{name}.") and "pid$target:" in path.read_text()}
    assert {"06-uprobe", "06-uprobe-ret-only", "02-attach-uprobes"} <= of_pid <= planned


PROTECTION = [
    (
        "System Integrity Protection status: enabled.",
        True,
    ),  # https://github.com/kristovatlas/osx-config-check/issues/102
    ("System Integrity Protection status: disabled.", False),
    (CUSTOM.format(status="enabled", dtrace="disabled"), False),
    (CUSTOM.format(status="unknown", dtrace="enabled"), True),
]


@pytest.mark.parametrize(("said", "is_told"), PROTECTION)
def test_macos_says_what_its_protection_keeps_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, is_told: bool
) -> None:
    program(tmp_path / "programs", "csrutil", f"cat <<'E'\n{said}\nE")
    on_the_path(monkeypatch, tmp_path / "programs")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    found = doctor_run.integrity_protection()
    assert ("csrutil enable --without dtrace" in (found or "")) is is_told


def test_macos_shows_it_before_anything_is_measured(
    elsewhere: FakeProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of a protected DTrace: https://github.com/ravendb/ravendb/issues/20910"""
    refuses = f"echo '{PROTECTED}dtrace: failed to match syscall:::: No probe matches description' >&2; exit 1"
    program(tmp_path / "programs", "dtrace", f"[ $1 = -V ] && exec echo '{VERSION}'\n{refuses}")
    program(tmp_path / "programs", "csrutil", f"echo '{PROTECTION[0][0]}'")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    outcome = run(elsewhere, "--dry-run")
    assert "System Integrity Protection keeps DTrace from most probes" in " ".join(outcome.stdout.split())
    assert "1 case, 1 new" in outcome.stdout  # the control, which has no probe


def test_other_systems_are_not_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "FreeBSD")
    assert doctor_run.integrity_protection() is None


@pytest.mark.parametrize(
    ("system", "release", "name"),
    [("Darwin", "", "macOS 15.1"), ("SunOS", 'PRETTY_NAME="OmniOS v11 r151050"', "illumos, OmniOS v11 r151050")],
)
def test_systems_without_linux_say_their_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, release: str, name: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "mac_ver", lambda: ("15.1", ("", "", ""), "arm64"))
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(release, encoding="utf-8")
    assert os_name(tmp_path) == name
    found = machine_document(system__os=name, system__kernel_release="5.11").system
    assert names.kernel_name(found) == f"{name.partition(',')[0].partition(' ')[0]} 5.11"
