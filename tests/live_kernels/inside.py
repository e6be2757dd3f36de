"""The program inside an emulated machine: runs the tests of our BPF code, and sends the host what came of each."""

import sys
from pathlib import Path

import pytest

from probe_effect.guests.guest import decode, encode

COMMANDS = ("sleep", "true")
"""Programs that tests start, and that the userland has only inside busybox."""


class Outcomes:
    """A plugin of pytest that keeps what came of each test: its name, the outcome, and why it was skipped or failed."""

    def __init__(self) -> None:
        self.tests: list[tuple[str, str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has one outcome, of its call; of its setup or its end only when that did not pass."""
        if report.when == "call" or not report.passed:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            self.tests.append((report.nodeid, report.outcome, why))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported."""
        if report.failed:
            self.tests.append((report.nodeid, "failed", report.longreprtext))


def main(port: str) -> None:
    """Serve one request, `{"words": [..]}`: what pytest is to run. What it prints goes to the console."""
    for name in COMMANDS:
        if not Path("/bin", name).exists():
            Path("/bin", name).symlink_to("busybox")
    with open(port, "r+b", buffering=0) as line:  # noqa: PTH123 (a device, opened once for both ways)
        line.write(encode({"number": 0}))  # ready
        for text in line:
            if request := decode(text):
                outcomes = Outcomes()
                status = pytest.main(["-v", "-p", "no:cacheprovider", "--tb=short", *request["words"]], [outcomes])
                if status > pytest.ExitCode.TESTS_FAILED:
                    outcomes.tests.append(("pytest", "failed", f"it ended with status {status}"))
                line.write(encode({"number": request["number"], "tests": outcomes.tests}))


if __name__ == "__main__":
    main(sys.argv[1])
