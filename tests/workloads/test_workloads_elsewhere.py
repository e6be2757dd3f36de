"""Workloads that DTrace's suites use compile where there is no Linux: with what POSIX has, and no more."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from helpers.builders import PROJECT
from helpers.needs import needs
from probe_effect.host import workloads
from probe_effect.store.places import DataFolder, own_headers
from probe_effect.store.suite_file import read_suite, workload_source

pytestmark = [needs("cc")]

POSIX = {
    *("errno", "fcntl", "inttypes", "limits", "signal", "stdint", "stdio", "stdlib", "string", "time", "unistd"),
    *("sys/resource", "sys/types", "sys/wait"),
}
"""Headers of POSIX.1-2008. Source: https://pubs.opengroup.org/onlinepubs/9699919799/idx/head.html"""

OF_LINUX_ALONE = "usdt-loop.c"


def sources() -> dict[str, Path]:
    """The workloads of the suites that have a script of DTrace, by name."""
    folders = [folder for folder in DataFolder(PROJECT / "data").suites() if any(folder.glob("*.d"))]
    suites = [(folder, read_suite(folder, folder.name)[0]) for folder in folders]
    found = [workload_source(folder, suite) for folder, suite in suites if suite is not None]
    return {path.name: path for path in found}


def unguarded(path: Path) -> set[str]:
    """The system's headers that a source includes whatever the system is."""
    found, conditions = set[str](), list[str]()
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"#\s*(if|elif|else|endif)(.*)", line):
            if match[1] != "if":
                conditions.pop()
            if match[1] != "endif":
                conditions.append(match[2])
        elif (header := re.match(r"#\s*include <(.+)\.h>", line)) and "__" not in "".join(conditions):
            found.add(header[1])
    return found


def elsewhere(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The compiler's answer on a system that is not Linux and declares nothing but POSIX."""
    copy = folder / "suite" / "workload" / path.name
    copy.parent.mkdir(parents=True)
    headers = [(header, folder / header.name) for header in own_headers(path)]
    for source, target in ((path, copy), *headers):
        text = source.read_text(encoding="utf-8").replace("_GNU_SOURCE", "_NO_SOURCE")
        target.write_text(text, encoding="utf-8")
    command = ["cc", *workloads.FLAGS, "-U__linux__", "-D_XOPEN_SOURCE=700", "-Werror", "-fsyntax-only", str(copy)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_workloads_of_dtrace_are_these() -> None:
    assert sorted(sources()) == ["attach-loop.c", "build-loop.c", "dd-loop.c", "usdt-loop.c", "user-loop.c"]


@pytest.mark.parametrize("name", sorted(set(sources()) - {OF_LINUX_ALONE}))
def test_a_workload_includes_what_every_system_has_and_calls_nothing_else(name: str, tmp_path: Path) -> None:
    path = sources()[name]
    assert set().union(*map(unguarded, (path, *own_headers(path)))) <= POSIX
    answer = elsewhere(path, tmp_path)
    assert answer.returncode == 0, answer.stderr


def test_the_workload_that_needs_linux_says_so(tmp_path: Path) -> None:
    answer = elsewhere(sources()[OF_LINUX_ALONE], tmp_path)
    assert "expected Linux: on other systems the header sys/sdt.h makes probes" in answer.stderr
