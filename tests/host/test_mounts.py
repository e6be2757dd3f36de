"""Root's commands have tracefs for as long as they run, and leave the machine as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.builders import PROJECT
from probe_effect.host.kernel import MAY_NOT_MOUNT, NOT_MOUNTED, missing, no_tracefs, tracefs_missing

BARE = "for place in debug/tracing debug tracing; do umount -l /sys/kernel/$place 2>&-; done; "
"""In a mount namespace of its own: nothing is mounted, as on a machine that has just been started."""
MOUNTS = "grep -c tracefs /proc/mounts"
ASKED = "import json, sys; found = json.load(sys.stdin); print(found['tracefs'], found['kernel']['tracepoint'])"


def bare(line: str) -> subprocess.CompletedProcess[str]:
    """What a shell does where tracefs is not mounted."""
    command = ["unshare", "--mount", "/bin/sh", "-c", BARE + line]
    program = Path(sys.executable).with_name("probe-effect")
    values = {**os.environ, "PROGRAM": str(program), "PYTHON": sys.executable, "ASKED": ASKED}
    return subprocess.run(command, cwd=PROJECT, env=values, capture_output=True, text=True, check=False)


def may_mount() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0  # noqa: S607


needs_mounts = pytest.mark.skipif(not may_mount(), reason="needs root that may mount")


@needs_mounts
@pytest.mark.deep
def test_doctor_has_tracefs_where_nobody_mounted_it_and_leaves_nothing_mounted() -> None:
    found = bare(f'"$PROGRAM" doctor --format json | "$PYTHON" -c "$ASKED"; {MOUNTS}')
    assert "/sys/kernel/tracing" in found.stdout, found.stderr
    assert "not mounted" not in found.stdout
    assert found.stdout.endswith("\n0\n")


@pytest.mark.deep
@needs_mounts
def test_a_container_that_was_given_the_host_s_empty_folder_has_tracefs_all_the_same() -> None:
    """As `-v /sys/kernel/tracing:/sys/kernel/tracing` gives it on a host that has not mounted it yet."""
    bound = "mount --bind /sys/kernel/tracing /sys/kernel/tracing; "
    found = bare(bound + '"$PROGRAM" doctor --format json | "$PYTHON" -c "$ASKED"')
    assert "/sys/kernel/tracing" in found.stdout, found.stderr


@pytest.mark.deep
@needs_mounts
def test_doctor_mounts_it_for_good_when_it_is_asked_to() -> None:
    found = bare(f'"$PROGRAM" doctor --mount > /dev/null; {MOUNTS}')
    assert "mounted: /sys/kernel/debug, /sys/kernel/tracing" in found.stderr
    assert int(found.stdout) >= 1


@pytest.mark.deep
@needs_mounts
def test_root_of_a_container_is_told_that_it_may_not_mount() -> None:
    found = bare('capsh --drop=cap_sys_admin -- -c "$PROGRAM doctor"')
    assert "may not mount it here" in " ".join(found.stdout.split())
    assert "this kernel has no system call tracepoints" not in found.stdout
    assert found.stdout.count("may not mount") == 1


def kernel(root: Path, systems: str = "nodev\ttracefs\n", config: str | None = "CONFIG_FTRACE_SYSCALLS=y\n") -> Path:
    """A root of the file system where tracefs is not mounted."""
    (root / "proc/sys/kernel").mkdir(parents=True)
    (root / "proc/sys/kernel/osrelease").write_text("6.1-test\n", encoding="utf-8")
    (root / "proc/filesystems").write_text(systems, encoding="utf-8")
    if config is not None:
        (root / "boot").mkdir()
        (root / "boot/config-6.1-test").write_text(config, encoding="utf-8")
    return root


@pytest.mark.parametrize(("user", "reason"), [(0, MAY_NOT_MOUNT), (1000, NOT_MOUNTED)])
def test_what_is_not_mounted_is_not_taken_for_what_the_kernel_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, reason: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    root = kernel(tmp_path)
    assert missing("tracepoint", root) == tracefs_missing(root) == reason
    assert "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS is not set" in str(missing("fentry", root))


def test_where_nothing_says_what_the_kernel_has_it_is_only_said_that_tracefs_is_not_mounted(tmp_path: Path) -> None:
    root = kernel(tmp_path, config=None)
    assert missing("tracepoint", root) == tracefs_missing(root)


def test_a_kernel_without_tracefs_is_told_from_one_where_it_is_not_mounted(tmp_path: Path) -> None:
    assert (
        no_tracefs(kernel(tmp_path, systems="nodev\tproc\n")) == "this kernel has no tracefs: CONFIG_TRACING is not set"
    )
