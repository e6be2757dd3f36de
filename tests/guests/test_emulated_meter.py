"""What starting and stopping takes in an emulated machine: the work of all but ourselves, and none of the waiting."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from probe_effect.guests.guest import Meter, Taken

if TYPE_CHECKING:
    from pathlib import Path

LINE = "cpu{cpu} 0 0 0 0 0 0 {ran} 5 6\ndomain0 3 1 1 1 1 1 1 1 9 9\n"


class Kernel:
    """Its account of who ran, of two CPUs and of ourselves."""

    def __init__(self, root: Path) -> None:
        self.root, self.ours, self.settled = root, 0, 0
        self.ran = [0, 0]
        self._tell()

    def _tell(self) -> None:
        (self.root / "proc").mkdir(exist_ok=True)
        lines = "".join(LINE.format(cpu=cpu, ran=ran) for cpu, ran in enumerate(self.ran))
        (self.root / "proc/schedstat").write_text(f"version 17\ntimestamp 1\n{lines}", encoding="utf-8")

    def work(self, cpu: int, instructions: int, *, ours: bool = False) -> None:
        """Somebody executes so many on that CPU."""
        self.ran[cpu] += instructions
        self.ours += instructions if ours else 0
        self._tell()

    def settle(self) -> None:
        """We look until all is quiet, and a worker of the kernel ends meanwhile."""
        self.settled += 1
        self.work(0, 13, ours=True)
        self.work(1, 7)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel(tmp_path)
    monkeypatch.setattr(time, "process_time_ns", lambda: made.ours)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return made


def test_the_work_of_others_on_every_cpu_counts_and_so_does_what_is_left_to_do_afterwards(kernel: Kernel) -> None:
    meter = Meter(kernel.root, kernel.settle)
    meter.begin()
    kernel.work(0, 1000)
    kernel.work(1, 200)
    kernel.work(0, 30, ours=True)
    assert meter.end() == Taken(others=1207, ourselves=30)


def test_the_next_one_begins_anew(kernel: Kernel) -> None:
    meter = Meter(kernel.root, kernel.settle)
    for others in (5, 600):
        meter.begin()
        kernel.work(1, others)
        assert meter.end() == Taken(others=others + 7, ourselves=0)


def test_what_was_not_begun_is_not_known_and_nobody_waits_for_it(kernel: Kernel) -> None:
    assert Meter(kernel.root, kernel.settle).end() is None
    assert kernel.settled == 0


def test_a_kernel_that_does_not_say_who_ran_gives_nothing(kernel: Kernel) -> None:
    (kernel.root / "proc/schedstat").unlink()
    meter = Meter(kernel.root, lambda: None)
    meter.begin()
    assert meter.end() is None
