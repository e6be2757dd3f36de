"""What tests need of the machine; a test that lacks it is skipped by name, with what to install.

In CI such a test has failed where `make test` installs what it lacks: nobody reads what CI skipped.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"

JOBS = MAKEFILE.read_text(encoding="utf-8").replace("\\\n", "")
INSTALLED: frozenset[str] = frozenset(*(line.split() for line in re.findall(r"(?m)^PACKAGES := (.*)$", JOBS)))
"""The packages that `make test` installs, where it may."""

PACKAGES = {
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "ab": "apache2-utils",
    "apt-get": "apt",
    "cc": "gcc libc6-dev",
    "dpkg-deb": "dpkg",
    "google-pprof": "google-perftools libgoogle-perftools4",
    "jeprof": "libjemalloc-dev",
    "nginx": "nginx-light",
    "objdump": "binutils",
    "perf": "linux-perf",
    "pidstat": "sysstat",
    "readelf": "binutils",
    "redis-benchmark": "redis-tools",
    "redis-cli": "redis-tools",
    "top": "procps",
    "xz": "xz-utils",
}
"""Program to its packages in Debian, where they are called otherwise."""

NAMED = re.compile(r"apt(?:-get)? install ((?:[a-z0-9][a-z0-9.+-]+ ?)+)")


def lacking(programs: Iterable[str], path: str | None = None) -> str | None:
    """Which of `programs` are not installed, and how to install them; None where none is lacking.

    Args:
        path: where to look for them, if not on our own PATH.
    """
    missing = [program for program in programs if shutil.which(program, path=path) is None]
    packages = dict.fromkeys(PACKAGES.get(program, program) for program in missing)
    return f"not installed: {', '.join(missing)}; sudo apt-get install {' '.join(packages)}" if missing else None


def needs(*programs: str) -> pytest.MarkDecorator:
    """A mark for tests that need these programs."""
    reason = lacking(programs)
    return pytest.mark.skipif(reason is not None, reason=str(reason))


def is_fault_in_ci(reason: str) -> bool:
    """Whether a test that was skipped for `reason` lacks a package that `make test` installs."""
    return any(INSTALLED.intersection(words.split()) for words in NAMED.findall(reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What came of a test: in CI one has failed that was skipped for a package which should be there."""
    report = yield
    if report.skipped and "CI" in os.environ and isinstance(report.longrepr, tuple):
        place, line, reason = report.longrepr
        if is_fault_in_ci(reason):
            report.outcome = "failed"
            report.longrepr = f"{place}:{line}: {reason}"
    return report
