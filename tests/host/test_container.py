"""A container says which flag is missing, by what it sees of capabilities, file systems and process ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probe_effect.host import FIRST_PIDS
from probe_effect.measure.diagnosis import flags_missing

if TYPE_CHECKING:
    from pathlib import Path

ALL, FEW = "000001ffffffffff", "00000000a80425fb"
"""What root has on a machine, and what Docker leaves it."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A container that lacks nothing."""
    monkeypatch.delenv("container", raising=False)
    files = {
        ".dockerenv": "",
        "proc/self/status": f"CapEff:\t{ALL}\n",
        "proc/sys/kernel/osrelease": "6.12.1\n",
        "sys/kernel/btf/vmlinux": "types",
        "sys/kernel/tracing/events/syscalls/enable": "0",
        "lib/modules/6.12.1/modules.dep": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "proc/self/ns").mkdir()
    (tmp_path / "proc/self/ns/pid").symlink_to(FIRST_PIDS)
    return tmp_path


def flags(root: Path) -> list[str]:
    return [flag for flag, _ in flags_missing(root)]


def test_one_that_has_all_lacks_nothing(root: Path) -> None:
    assert flags(root) == []


def test_one_without_privileges_says_the_flag(root: Path) -> None:
    (root / "proc/self/status").write_text(f"CapEff:\t{FEW}\n", encoding="utf-8")
    assert flags(root) == ["--privileged"]


def test_one_without_tracefs_types_and_the_machines_process_ids_says_each(root: Path) -> None:
    (root / "sys/kernel/tracing/events/syscalls/enable").unlink()
    (root / "sys/kernel/tracing/events/syscalls").rmdir()
    (root / "sys/kernel/tracing/events").rmdir()
    (root / "sys/kernel/btf/vmlinux").unlink()
    (root / "proc/self/ns/pid").unlink()
    (root / "proc/self/ns/pid").symlink_to("pid:[4026532999]")
    assert flags(root) == [
        "-v /sys/kernel/tracing:/sys/kernel/tracing",
        "-v /sys/kernel/btf:/sys/kernel/btf:ro",
        "--pid=host",
    ]


def test_a_kernel_without_types_has_no_flag_for_them(root: Path) -> None:
    (root / "sys/kernel/btf/vmlinux").unlink()
    (root / "boot").mkdir()
    (root / "boot/config-6.12.1").write_text("# CONFIG_DEBUG_INFO_BTF is not set\n", encoding="utf-8")
    assert flags(root) == []


@pytest.mark.parametrize("sign", ["run/.containerenv", "run/systemd/container"])
def test_podman_and_systemd_say_it_by_files_of_their_own(root: Path, sign: str) -> None:
    (root / ".dockerenv").unlink()
    (root / "proc/self/status").write_text(f"CapEff:\t{FEW}\n", encoding="utf-8")
    assert flags(root) == []
    (root / sign).parent.mkdir(parents=True)
    (root / sign).touch()
    assert flags(root) == ["--privileged"]
