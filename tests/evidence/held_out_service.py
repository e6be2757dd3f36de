"""What probes take of a service that runs already: the CPU time of one operation, with bpftrace and without it."""

from __future__ import annotations

import statistics
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probe_effect.numbers import estimates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evidence.held_out import HeldOut
    from evidence.held_out_measured import Asked

WINDOW_S, SETTLE_S = 3.0, 2.0
"""How long operations are counted; how long bpftrace has to attach, the service to start, and both to get even."""


@dataclass(frozen=True, slots=True)
class Service:
    """A process that counts its operations in a file of its folder."""

    process: subprocess.Popen[bytes]
    folder: Path
    script: str

    def so_far(self) -> tuple[int, int]:
        """CPU time of all its threads, ns, and operations."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        cpu_ns = sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads)
        return cpu_ns, int.from_bytes((self.folder / "operations").read_bytes()[:8], "little")

    def operation(self) -> tuple[float, float, int]:
        """In one window: CPU time of an operation, ns; operations per second; CPU time of all, ns."""
        began_s, (cpu_ns, count) = time.monotonic(), self.so_far()
        time.sleep(WINDOW_S)
        ended_s, (cpu_after_ns, count_after) = time.monotonic(), self.so_far()
        done = count_after - count
        return (cpu_after_ns - cpu_ns) / done, done / (ended_s - began_s), cpu_after_ns - cpu_ns

    def traced(self) -> float:
        """CPU time of an operation, ns, while bpftrace runs the script."""
        words = ("bpftrace", "-e", self.script)
        tracer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(SETTLE_S)
            cpu_ns, _, _ = self.operation()
            if tracer.poll() is not None:
                raise subprocess.CalledProcessError(tracer.returncode, words)
        finally:
            tracer.terminate()
            tracer.wait()
        return cpu_ns

    def measured(self, pairs: int) -> dict[str, Any]:
        """The slowdown of the CPU time of an operation over the pairs with its 95 % interval; keys as of programs."""
        windows = [(self.operation(), self.traced()) for _ in range(pairs)]
        ratios = [traced_ns / untraced[0] - 1 for untraced, traced_ns in windows]
        slowdown = estimates.estimate(np.array(ratios))
        return {
            "slowdown_ratio": slowdown.value,
            "slowdown_low_ratio": slowdown.low,
            "slowdown_high_ratio": slowdown.high,
            "pairs": pairs,
            "events": None,
            "lost": None,
            "cpu_ns": statistics.median(untraced[2] for untraced, _ in windows),
            "wall_ns": WINDOW_S * 1e9,
        }


@contextmanager
def served(asked: Asked, one: HeldOut) -> Iterator[Service]:
    """The service, started in the folder and ended afterwards."""
    process = subprocess.Popen(one.command, cwd=asked.folder, stdout=subprocess.DEVNULL)
    try:
        time.sleep(SETTLE_S)
        yield Service(process, asked.folder, one.script)
    finally:
        process.kill()
        process.wait()
