"""The tests that run in emulated kernels: what they may import there, what compiles for them, and what is printed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.builders import PROJECT
from live_kernels.__main__ import told
from live_kernels.machine import FILES

ABSENT = "pydantic yaml click rich jinja2 capstone hypothesis"
"""What the emulated machine does not have."""

IMPORT = """\
import sys
from importlib import import_module
sys.modules.update(dict.fromkeys(sys.argv[1].split()))
import_module(sys.argv[2])
"""


@pytest.mark.parametrize("name", [*FILES, "live_kernels/inside.py"])
def test_a_file_of_tests_imports_nothing_that_the_machine_lacks(name: str) -> None:
    module = name.removesuffix(".py").replace("/", ".")
    command = [sys.executable, "-c", IMPORT, ABSENT, module]
    path = f"{PROJECT / 'tests'}:{PROJECT / 'generator'}"
    run = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_each_kernel_is_told_with_its_numbers_and_a_reason_for_each_test_that_did_not_pass() -> None:
    tests = [
        ("test_live_count.py::test_one", "passed", ""),
        ("test_live_count.py::test_two", "skipped", "the kernel has no such link"),
        ("test_live_count.py::test_three", "failed", "assert 1 == 2"),
    ]
    assert told("linux-image 6.1.1-1 (bookworm), arm64", tests).splitlines() == [
        "linux-image 6.1.1-1 (bookworm), arm64: 1 passed, 1 skipped, 1 failed",
        "  skipped test_live_count.py::test_two: the kernel has no such link",
        "  failed test_live_count.py::test_three: assert 1 == 2",
    ]
