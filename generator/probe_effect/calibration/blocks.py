"""Blocks of the loop's operations, in turns, each about as long as the time allows."""

import random
import time
from collections.abc import Sequence

import numpy as np

from probe_effect.calibration.loop import CalibrationLoop
from probe_effect.calibration.moved import Operation

Turn = tuple["Operation", int]
"""An operation, and the CPU on which it is done."""

ROUNDS = 12
"""Blocks of each turn with the tracer, and as many without, half of them before and half after.

Of 12 differences the exact 95 % interval excludes the least likely ends (`stats/robust.py`); 6 would be the
fewest that have one.
"""

LONGEST_BLOCK_S, SHORTEST_BLOCK_S = 0.02, 0.000_5

TRIAL_TIMES = 300
"""Times that an operation is done to learn how long one takes."""

PRINTED_PAUSE_S = 0.03
"""Of a script that prints, each block is as short as a trial, with a pause after it, so that no buffer is full."""

BUSY_RATIO = 1.25
"""A block that took so much longer than its CPU time shared its CPU with others."""


class Blocks:
    """Blocks of each turn, for `seconds` in all, under so many stack frames."""

    def __init__(
        self, loop: CalibrationLoop, turns: Sequence[Turn], *, frames: int, seconds: float, prints: bool
    ) -> None:
        self.turns = list(turns)
        self._loop, self._frames, self._prints = loop, frames, prints
        self._block_s = min(LONGEST_BLOCK_S, max(SHORTEST_BLOCK_S, seconds / (2 * ROUNDS * len(self.turns))))
        self._stretched: dict[int, list[float]] = {}
        self._random = random.Random()  # noqa: S311 (no secret)
        self._times = dict.fromkeys(self.turns, TRIAL_TIMES)
        for turn in self.turns:
            self.trial(turn)

    def trial(self, turn: Turn) -> None:
        """A short block, which tells how often its operation fits into the others."""
        self._times[turn] = TRIAL_TIMES
        taken_ns = self._block(turn)
        if not (self._prints and turn[0].keys):
            self._times[turn] = max(TRIAL_TIMES, int(self._block_s * 1e9 / max(1.0, taken_ns)))

    def rounds(self, number: int) -> dict[Turn, list[float]]:
        """CPU time of one operation, ns, in so many blocks of each turn, in random order within each round."""
        found: dict[Turn, list[float]] = {turn: [] for turn in self.turns}
        for _ in range(number):
            for turn in self._random.sample(self.turns, len(self.turns)):
                found[turn].append(self._block(turn))
        return found

    def is_shared(self, cpu: int) -> bool:
        """Whether other programs used this CPU."""
        return float(np.median(self._stretched.get(cpu, [1.0]))) > BUSY_RATIO

    def _block(self, turn: Turn) -> float:
        operation, cpu = turn
        taken = self._loop.run(operation.name, cpu, self._frames, self._times[turn])
        if self._prints and operation.keys:
            time.sleep(PRINTED_PAUSE_S)
        self._stretched.setdefault(cpu, []).append(taken.wall_ns / max(1, taken.cpu_ns))
        return taken.cpu_ns / self._times[turn]
