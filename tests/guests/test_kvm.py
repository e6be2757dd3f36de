"""Where the hardware cannot run a guest, what to do is said before anything is fetched or booted."""

from __future__ import annotations

import errno
import grp
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from probe_effect.guests import qemu
from probe_effect.guests.qemu import trouble

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "usable_cpus", lambda: {0, 1})


def with_flags(root: Path, flags: str) -> None:
    """A machine of x86-64 whose CPU has these flags."""
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(f"processor : 0\nflags : fpu {flags}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "machine", "advice"),
    [
        pytest.param("vmx", "x86_64", "`sudo modprobe kvm_intel`", id="Intel, no module"),
        pytest.param("svm", "x86_64", "`sudo modprobe kvm_amd`", id="AMD, no module"),
        pytest.param("hypervisor", "x86_64", "have its host allow nested ones", id="switched off, or a guest"),
        pytest.param("", "aarch64", "the kernel lacks KVM", id="arm64"),
    ],
)
def test_a_device_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, machine: str, advice: str
) -> None:
    monkeypatch.setattr(qemu, "MACHINE", machine)
    with_flags(tmp_path, flags)
    found = str(trouble(tmp_path))
    assert found.startswith("/dev/kvm is not there")
    assert advice in found


def device(root: Path) -> Path:
    """A device that opens."""
    (root / "dev").mkdir()
    path = root / "dev/kvm"
    path.touch()
    return path


def test_a_device_that_opens_is_no_trouble(tmp_path: Path) -> None:
    device(tmp_path)
    assert trouble(tmp_path) is None


@pytest.mark.parametrize(
    ("group", "said"),
    [(4711, "for the group machines; `sudo usermod -aG machines $USER`"), (0, "for root alone"), (4712, "root alone")],
)
def test_a_device_that_is_for_others_names_the_group_unless_that_is_roots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, said: str
) -> None:
    path = device(tmp_path)

    def closed(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", closed)
    groups = [SimpleNamespace(gr_gid=0, gr_name="root"), SimpleNamespace(gr_gid=4711, gr_name="machines")]
    monkeypatch.setattr(grp, "getgrall", lambda: groups)
    real = type(path).stat
    monkeypatch.setattr(
        type(path), "stat", lambda self, **words: SimpleNamespace(st_gid=group) if self == path else real(self, **words)
    )
    assert said in str(trouble(tmp_path))


def test_a_device_that_does_not_open_for_another_reason_has_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device(tmp_path)

    def broken(*_: object) -> int:
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))

    monkeypatch.setattr(os, "open", broken)
    assert "No such device" in str(trouble(tmp_path))


def test_a_guest_needs_two_cpus_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device(tmp_path)
    monkeypatch.setattr(qemu, "usable_cpus", lambda: {3})
    assert trouble(tmp_path) == "a guest takes 2 CPUs of this machine for itself, and we may use 1"
