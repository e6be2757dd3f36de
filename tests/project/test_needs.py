"""A test that lacks something is skipped with what to install; in CI it has failed where `make test` installs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.needs import INSTALLED, is_fault_in_ci, lacking
from probe_effect.tracers.tool import known_tracers

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = "pytester"
HOOK = "from helpers.needs import pytest_runtest_makereport"


def test_what_is_lacking_is_named_with_the_line_that_installs_it(tmp_path: Path) -> None:
    assert lacking(["sh"]) is None
    assert (
        lacking(["cc", "strace"], str(tmp_path))
        == "not installed: cc, strace; sudo apt-get install gcc libc6-dev strace"
    )


def test_the_packages_of_the_makefile_are_read_to_the_end_of_the_line() -> None:
    assert {"chromium-headless-shell", "gcc", "strace", "uftrace", "sysstat"} <= INSTALLED
    assert not any("\\" in word or "/" in word for word in INSTALLED)


@pytest.mark.parametrize(
    ("reason", "is_fault"),
    [
        ("not installed: strace; sudo apt-get install strace", True),
        ("cannot trace here: on Debian: apt install linux-perf; on Ubuntu: apt install linux-tools-generic", True),
        ("no C compiler: apt install gcc libc6-dev", True),
        ("not installed: nginx; sudo apt-get install nginx-light", False),
        ("systemtap-sdt-dev has another program of that name", False),
        ("root may not trace here, as in a container without --privileged", False),
    ],
)
def test_a_fault_in_ci_is_what_make_test_would_have_installed(reason: str, is_fault: bool) -> None:
    assert is_fault_in_ci(reason) is is_fault


@pytest.mark.parametrize(
    ("ci", "expected"), [("true", {"errors": 1, "failed": 1, "skipped": 1}), (None, {"skipped": 3})]
)
def test_a_skip_for_such_a_package_is_a_failure_in_ci_alone(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str | None, expected: dict[str, int]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if ci:
        monkeypatch.setenv("CI", ci)
    pytester.makeconftest(HOOK)
    pytester.makepyfile("""
        import pytest
        @pytest.mark.skipif(True, reason="not installed: strace; sudo apt-get install strace")
        def test_by_mark(): ...
        def test_inside():
            pytest.skip("cannot run here: apt install strace")
        def test_of_what_nobody_installs():
            pytest.skip("not installed: nginx; sudo apt-get install nginx-light")
    """)
    assert pytester.runpytest_inprocess("-p", "no:cacheprovider").parseoutcomes() == expected


@pytest.mark.parametrize("tracer", ["bpftrace", "libbpf", "lttng-ust", "perf-stat", "strace", "trace-cmd", "uftrace"])
def test_a_tracer_that_make_test_installs_says_by_which_package(
    tracer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert is_fault_in_ci(str(known_tracers()[tracer].available()))
