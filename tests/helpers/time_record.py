"""What each test and each fixture takes of the CPU: a limit for the first tier, and a record.

The record is written where PROBE_EFFECT_TIME_RECORD names a file: a line for each phase of each test. CPU time is that
of the worker, of the children that it has waited for, and of those that still run: a browser outlives the test that
started it.
"""

from __future__ import annotations

import json
import os
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

RECORD = "PROBE_EFFECT_TIME_RECORD"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LONG_S = 0.05
"""What is shorter has no processes of its own that would be worth a look."""

LIMIT_S = 10.0
"""CPU seconds that a test or a fixture of the first tier may take."""

REASONS: dict[str, str] = tomllib.loads((Path(__file__).parents[1] / "long.toml").read_text(encoding="utf-8"))
"""The tests and fixtures that may take longer, each with its reason."""

MARKS = ("browser", "site", "tracer", "deep")


def still_running_s() -> float:
    """CPU seconds of all processes below this one, and of those that they have waited for."""
    ticks, waiting = 0, [os.getpid()]
    while waiting:
        children: list[int] = []
        with suppress(OSError):  # gone meanwhile, which Path.glob does not take before Python 3.13
            for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
                children += [int(word) for word in task.read_text(encoding="ascii").split()]
        waiting += children
        ticks += sum(_ticks(pid) for pid in children)
    return ticks / TICKS_PER_S


def _ticks(pid: int) -> int:
    """Own and children's, in user and kernel mode; none where the process is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(word) for word in words[11:15])


def is_over(name: str, used_s: float) -> bool:
    """Whether a test or fixture of that name took more CPU seconds than the first tier gives it."""
    return used_s > LIMIT_S and name not in REASONS


def refuse(name: str, used_s: float) -> None:
    """Fail what took too long, with what to do."""
    pytest.fail(
        f"{name} took {used_s:.0f} s of CPU, more than the {LIMIT_S:.0f} s of the first tier: make it cheaper, mark it "
        "`deep`, or give its reason in tests/long.toml",
        pytrace=False,
    )


class CpuTime:
    """Measures every phase of every test, and every fixture; writes the lines where there is a file for them."""

    def __init__(self, record: Path | None, *, has_limit: bool) -> None:
        self._record, self._has_limit = record, has_limit
        self._worker = os.environ.get("PYTEST_XDIST_WORKER", "master")
        self._alive_s = 0.0

    def measured(self, write: Callable[..., None]) -> Generator[None, object, tuple[object, float]]:
        """Let it go by; its result and its CPU seconds. `write` gets the seconds, however it ends."""
        begun_s, before, alive_s, used_s = time.monotonic(), os.times(), self._alive_s, 0.0
        try:
            result = yield
        finally:
            took_s, after = time.monotonic() - begun_s, os.times()
            used_s = sum(after[:4]) - sum(before[:4])
            if took_s > LONG_S:
                self._alive_s = still_running_s()
                # What ended without having been waited for takes its time with it.
                used_s = max(0.0, used_s + self._alive_s - alive_s)
            write(begun_s=begun_s, took_s=took_s, used_s=used_s)
        return result, used_s

    def phase(self, item: pytest.Item, when: str) -> Generator[None, object, tuple[object, float]]:
        """One phase of a test."""
        marks = [mark for mark in MARKS if item.get_closest_marker(mark)]

        def write(**seconds: float) -> None:
            self.write(item.nodeid, when, marks=marks, **seconds)

        return (yield from self.measured(write))

    def write(self, what: str, when: str, *, marks: list[str], **seconds: float) -> None:
        """One line, whole even where two workers write."""
        if self._record is not None:
            line: dict[str, object] = {"what": what, "when": when, "worker": self._worker, "marks": marks}
            line.update((name, round(value, 4)) for name, value in seconds.items())
            with self._record.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(line)}\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self.phase(item, "setup"))[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        result, used_s = yield from self.phase(item, "call")
        name = f"{item.path.name}::{getattr(item, 'originalname', item.name)}"
        if self._has_limit and is_over(name, used_s):
            refuse(name, used_s)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self.phase(item, "teardown"))[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        result, used_s = yield from self.measured(lambda **_: None)  # its time is in its test's setup
        if self._has_limit and is_over(fixturedef.argname, used_s):
            refuse(fixturedef.argname, used_s)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        def write(**seconds: float) -> None:
            self.write("collection", "collection", marks=[], **seconds)

        return (yield from self.measured(write))[0]


def pytest_configure(config: pytest.Config) -> None:
    """Measure, and write where the environment says so."""
    path = os.environ.get(RECORD)
    config.pluginmanager.register(CpuTime(Path(path) if path else None, has_limit=not config.getoption("deep")))
