"""A line for each phase of each test: what it took, and of whose time. `benchmarks/suite_time.py` tabulates them.

Loaded by `pytest -p time_record`, with the file to write in PROBE_EFFECT_TIME_RECORD. CPU time is that of the worker,
of the children that it has waited for, and of those that still run: a browser outlives the test that started it.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

RECORD = "PROBE_EFFECT_TIME_RECORD"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LONG_S = 0.05
"""What is shorter has no processes of its own that would be worth a look."""

MARKS = ("browser", "site", "tracer")


def still_running_s() -> float:
    """CPU seconds of all processes below this one, and of those that they have waited for."""
    ticks, waiting = 0, [os.getpid()]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            try:
                found = [int(word) for word in task.read_text(encoding="ascii").split()]
            except OSError:  # gone meanwhile
                continue
            waiting += found
            ticks += sum(_ticks(pid) for pid in found)
    return ticks / TICKS_PER_S


def _ticks(pid: int) -> int:
    """Own and children's, in user and kernel mode; none where the process is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(word) for word in words[11:15])


class Record:
    """The lines, and what had been used when the last one was written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._worker = os.environ.get("PYTEST_XDIST_WORKER", "master")
        self._alive_s = 0.0

    def phase(self, item: pytest.Item, when: str) -> Generator[None]:
        """Let a phase go by, and write its line."""
        begun_s, before = time.monotonic(), os.times()
        try:
            return (yield)
        finally:
            took_s, after = time.monotonic() - begun_s, os.times()
            used_s = sum(after[:4]) - sum(before[:4])
            if took_s > LONG_S:
                alive_s = still_running_s()
                # What ended without having been waited for takes its time with it.
                used_s, self._alive_s = max(0.0, used_s + alive_s - self._alive_s), alive_s
            marks = [mark for mark in MARKS if item.get_closest_marker(mark)]
            self.write(item.nodeid, when, marks=marks, begun_s=begun_s, took_s=took_s, used_s=used_s)

    def write(self, what: str, when: str, *, marks: Sequence[str] = (), **seconds: float) -> None:
        """One line, whole even where two workers write."""
        line: dict[str, object] = {"what": what, "when": when, "worker": self._worker, "marks": marks}
        line.update((name, round(value, 4)) for name, value in seconds.items())
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line)}\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        return (yield from self.phase(item, "setup"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        return (yield from self.phase(item, "call"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        return (yield from self.phase(item, "teardown"))

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        begun_s, before = time.monotonic(), os.times()
        try:
            return (yield)
        finally:
            used_s = sum(os.times()[:4]) - sum(before[:4])
            took_s = time.monotonic() - begun_s
            self.write("collection", "collection", begun_s=begun_s, took_s=took_s, used_s=used_s)


def pytest_configure(config: pytest.Config) -> None:
    """Write where the environment says so."""
    if path := os.environ.get(RECORD):
        config.pluginmanager.register(Record(Path(path)))
