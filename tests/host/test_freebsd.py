"""FreeBSD, as far as another system can play it: its facts come from sysctl(8), its CPUs from cpuset(1)."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pytest

from helpers.builders import machine_document
from probe_effect.host import stay_on, sysctl, usable_cpus
from probe_effect.host.system import virtualization
from probe_effect.host.this_machine import collect_machine, collect_system
from probe_effect.numbers import names

if TYPE_CHECKING:
    from pathlib import Path

VALUES = {
    "hw.model": "AMD EPYC 7763 64-Core Processor",
    "hw.physmem": "6417330176",
    "kern.timecounter.hardware": "kvmclock",
    "kern.vm_guest": "kvm",
}


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def freebsd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a FreeBSD: no /proc and no /sys, and programs that answer."""
    tools = tmp_path / "bin"
    tools.mkdir()
    cases = "\n".join(f"{name}) echo '{value}' ;;" for name, value in VALUES.items())
    program(tools, "sysctl", f'case "$2" in\n{cases}\n*) echo "unknown oid" >&2; exit 1 ;;\nesac')
    program(tools, "cpuset", f'echo "$@" >> {tmp_path}/asked')
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setattr(platform, "system", lambda: "FreeBSD")
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "os-release").write_text('PRETTY_NAME="FreeBSD 14.4-RELEASE"\n', encoding="utf-8")
    return root


def test_the_machine_says_its_processor_its_memory_and_that_it_is_virtual(freebsd: Path) -> None:
    found = collect_machine(freebsd)
    assert (found.cpu_model, found.memory_bytes) == (VALUES["hw.model"], 6417330176)
    assert (found.virtualization, found.nested) == ("KVM", None)
    assert found.id.startswith("amd-epyc-7763-")


def test_the_system_says_its_name_and_its_clock(freebsd: Path) -> None:
    found = collect_system(None, freebsd)
    assert (found.os, found.clocksource) == ("FreeBSD 14.4-RELEASE", "kvmclock")


@pytest.mark.parametrize(
    ("said", "name"), [("none", None), ("bhyve", "bhyve"), ("nvmm", "a hypervisor that does not say its name")]
)
def test_a_hypervisor_has_the_name_that_freebsd_gives_it(freebsd: Path, said: str, name: str | None) -> None:
    program(freebsd.parent / "bin", "sysctl", f"echo {said}")
    assert virtualization(freebsd) == name


def test_what_its_kernel_does_not_know_is_missing(freebsd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sysctl("hw.nonsense") is None
    monkeypatch.setenv("PATH", str(freebsd))
    assert sysctl("hw.physmem") is None


def test_other_systems_are_never_asked(freebsd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert sysctl("hw.model") is None
    assert collect_machine(freebsd).memory_bytes is None


def test_a_python_that_cannot_ask_for_cpus_takes_all_and_moves_by_cpuset(
    freebsd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.delattr(os, "sched_setaffinity")
    assert usable_cpus() == set(range(os.cpu_count() or 1))
    stay_on({1, 0})
    assert (freebsd.parent / "asked").read_text(encoding="utf-8") == f"-l 0,1 -p {os.getpid()}\n"


def test_prose_calls_the_kernel_by_its_own_name() -> None:
    linux = machine_document().system
    assert names.kernel_name(linux).startswith("Linux ")
    system = linux.model_copy(update={"os": "FreeBSD 14.4-RELEASE", "kernel_release": "14.4-RELEASE-p1"})
    assert names.kernel_name(system) == "FreeBSD 14.4"
    assert names.kernel_name(system, exact=True) == "FreeBSD 14.4-RELEASE-p1"
