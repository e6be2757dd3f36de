"""Submissions of machines that nobody has: committed ones with speed, trials, noise and order of their own.

They are for `benchmarks.forgery` and never lie below `data/`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.synthetic_machines import machines

from probe_effect.checks.run import known_suites
from probe_effect.checks.signs import order_of_seed
from probe_effect.errors import BadData
from probe_effect.model import Key
from probe_effect.stats.run_order import baseline
from probe_effect.store.machine_file import MOMENT_FORM, MachineFile, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.samples import read_samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.model import Sample
    from probe_effect.store.suite_file import Suite

DATA = DataFolder(Path(__file__).resolve().parent.parent / "data")

CPU_TIMES = ("user_ns", "sys_ns", "tracer_cpu_ns")
TIMES = ("wall_ns", *CPU_TIMES, "attach_ns", "detach_ns")
NOISY = (*TIMES, "tracer_rss_bytes")

MICROSECOND_NS = 1000
PAGE_BYTES = 4096
JITTER = 0.005
SPEED_SIGMA = 0.35
TRIAL_SIGMA = 0.05
"""Of the natural logarithm of what a trial run takes, by which the number of operations is found."""


@dataclass(frozen=True, slots=True)
class Given:
    """A submission in memory."""

    document: MachineFile
    rows: tuple[Sample, ...]
    name: str = "made"

    @property
    def suite(self) -> Suite:
        """Its suite."""
        return suites()[self.document.run.suite]


@cache
def suites() -> Mapping[str, Suite]:
    """Those of the checkout."""
    return known_suites(DATA)


@cache
def committed() -> tuple[Given, ...]:
    """Every committed submission of times. Raises: BadData."""
    return tuple(one for one in map(_read, DATA.submissions()) if one.document.run.metric == "time")


def _read(files: SubmissionFolder) -> Given:
    document, problems = read_machine_file(files.machine_file, files.id)
    rows, more = read_samples(files.samples, files.id)
    if document is None or problems or more:
        raise BadData([*problems, *more])
    return Given(document, tuple(rows), files.id)


def honest(number: int, seed: int) -> Given:
    """The `number`th machine that nobody has, as it would have been measured: its speed, noise, trials and order."""
    random = np.random.default_rng([seed, number])
    like = committed()[number % len(committed())]
    speed = float(random.lognormal(0, SPEED_SIGMA))
    rows = resampled(like.rows, speed, random)
    began = datetime(2026, 12, 1, tzinfo=UTC) + timedelta(seconds=int(random.integers(3 * 365 * 86400)))
    document = elsewhere(like.document, number, began, rows)
    return in_order(Given(document, rows), int(random.integers(2**32)))


def resampled(rows: Sequence[Sample], speed: float, random: np.random.Generator) -> tuple[Sample, ...]:
    """The rows of each case with noise drawn from that of the case, each column for itself."""
    noise: dict[tuple[Key, str], list[float]] = defaultdict(list)
    for row in rows:
        for name in NOISY:
            if row.status == "ok" and (value := getattr(row, name)):
                noise[key(row), name].append(value)
    trials: dict[Key, float] = defaultdict(lambda: float(random.lognormal(0, TRIAL_SIGMA)) / speed)
    made = []
    for row in rows:
        factor = _trial(row, trials) if row.status == "ok" else 1.0
        changes: dict[str, Any] = {}
        for name in NOISY:
            if row.status == "ok" and getattr(row, name):
                drawn = float(random.choice(noise[key(row), name])) * float(random.lognormal(0, JITTER))
                share = speed * factor if name in {"wall_ns", "user_ns", "sys_ns"} else speed
                changes[name] = stepped(name, drawn if name == "tracer_rss_bytes" else drawn * share)
        for name in ("events", "seen", "operations"):
            if row.status == "ok" and (value := getattr(row, name)):
                changes[name] = round(value * factor)
        made.append(replace(row, **changes))
    return tuple(made)


def _trial(row: Sample, trials: Mapping[Key, float]) -> float:
    """By which the operations of a run are other than the template's: the whole is two digits, as trials give it."""
    number = row.operations or row.events or 1
    wanted = number * trials[key(row)]
    step = 10 ** max(0, math.floor(math.log10(wanted)) - 1)
    return float(max(step, round(wanted / step) * step) / number)


def stepped(name: str, value: float) -> int:
    """In the steps in which a kernel counts it."""
    step = MICROSECOND_NS if name in CPU_TIMES else PAGE_BYTES if name == "tracer_rss_bytes" else 1
    return round(value / step) * step


def key(row: Sample) -> Key:
    """What a row is of."""
    return baseline(row.level) if row.arm == "baseline" else Key(row.case, row.tracer, row.level)


def elsewhere(like: MachineFile, number: int, began: datetime, rows: Sequence[Sample]) -> MachineFile:
    """The facts of a made machine, at a time of its own."""
    made = next(machines(number))
    total_s = sum((row.wall_ns or 0) + (row.attach_ns or 0) + (row.detach_ns or 0) for row in rows) / 1e9
    moments = {
        name: when.strftime(MOMENT_FORM)
        for name, when in zip(("started", "ended"), (began, began + timedelta(seconds=1.1 * total_s + 5)), strict=True)
    }
    return like.model_copy(
        update={
            "machine": made.machine,
            "system": made.system(like.system).model_copy(update={"vulnerabilities": {}}),
            "run": like.run.model_copy(update={**moments, "steal_ratio": None, "functions": {}}),
        }
    )


def in_order(given: Given, seed: int) -> Given:
    """The same runs in the order of another seed."""
    document = given.document.model_copy(update={"run": given.document.run.model_copy(update={"seed": seed})})
    order = order_of_seed(document, given.rows, given.suite)
    if order is None:
        return Given(document, given.rows)
    waiting: dict[tuple[int, Key, str], list[Sample]] = defaultdict(list)
    for row in given.rows:
        waiting[row.block, key(row), row.arm].append(row)
    rows = [
        replace(some.pop(0), position=position)
        for (block, position), (key, arm) in order.items()
        if (some := waiting[block, key, arm])
    ]
    return Given(document, tuple(rows))
