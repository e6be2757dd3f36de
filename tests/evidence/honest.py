"""Submissions of machines that nobody has: committed ones with speed, trials, noise and order of their own.

They are for `evidence.forgery` and `evidence.scale`, pass `check` as they are, and never lie below `data/` of the
checkout. A machine is measured a few times, days apart, with suites that one real machine was measured with.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidence.made_machines import machines
from probe_effect.checks.copies import has_fixed_operations
from probe_effect.measure.request import baseline, blocks_in_order
from probe_effect.model import BadData, Bucket, Key, UsageError
from probe_effect.store.documents import write_document
from probe_effect.store.machine_file import MOMENT_FORM, MachineFile, Provenance, Submitter, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import (
    HISTOGRAM_COLUMNS,
    SAMPLE_COLUMNS,
    bucket_around,
    read_histogram,
    read_samples,
    with_histograms,
)
from probe_effect.store.suite_file import known_suites
from probe_effect.store.tables import TableWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evidence.made_machines import Hardware, MadeMachine
    from probe_effect.model import Arm, Sample
    from probe_effect.store.suite_file import Suite

PROJECT = Path(__file__).resolve().parents[2]
DATA = DataFolder(PROJECT / "data")

SEED = 20261122
SINCE = datetime(2026, 12, 1, tzinfo=UTC)
"""When the first of them begins, unless it is said otherwise: after every committed one."""

MOST_VISITS, VISIT = 5, timedelta(days=9)
"""Submissions of a machine, one to so many and three in the mean, and the time between two of them."""

STEP = timedelta(hours=18)
"""Between the first submissions of two machines, so that what is added last is nearly the newest."""

CPU_TIMES = ("user_ns", "sys_ns", "tracer_cpu_ns")
TIMES = ("wall_ns", *CPU_TIMES, "attach_ns", "detach_ns")
NOISY = (*TIMES, "tracer_rss_bytes")

MICROSECOND_NS = 1000
PAGE_BYTES = 4096
JITTER = 0.005
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
    times, further = read_histogram(files.histogram, files.id)
    if document is None or problems or more or further:
        raise BadData([*problems, *more, *further])
    return Given(document, tuple(with_histograms(rows, times)), files.id)


@dataclass(frozen=True, slots=True)
class Visit:
    """A submission that is to be made: of a machine that nobody has, as one that a real machine was measured with."""

    made: MadeMachine
    like: Given
    began: datetime
    seed: tuple[int, ...]

    @property
    def id(self) -> str:
        """`<machine>/<date>-<suite>`."""
        return f"{self.made.machine.id}/{self.began:%Y-%m-%d}-{self.like.document.run.suite}"

    def given(self) -> Given:
        """As it would have been measured: with the machine's speed, and noise, trials and order of its own."""
        random = np.random.default_rng(self.seed)
        rows = resampled(self.like, self.made.speed, random)
        document = elsewhere(self.like.document, self.made, self.began, rows)
        return in_order(Given(document, rows, self.id), int(random.integers(2**32)))


def honest(seed: int = SEED, since: datetime = SINCE) -> Iterator[Visit]:
    """Submissions without end, those of a machine one after the other: the same for the same seed."""
    for number, made in enumerate(machines(seed)):
        random = np.random.default_rng([seed, number, 1])  # further numbers of 0 would change nothing
        like = committed()[int(random.integers(len(committed())))]
        suites_of_machine = measured_like(like, made.hardware)
        first, visits = int(random.integers(len(suites_of_machine))), int(random.integers(MOST_VISITS)) + 1
        for visit in range(visits):
            began = since + number * STEP + visit * VISIT + timedelta(seconds=int(random.integers(86400)))
            own = suites_of_machine[(first + visit) % len(suites_of_machine)]
            yield Visit(made, own, began, (seed, number, visit + 2))


def measured_like(like: Given, hardware: Hardware) -> list[Given]:
    """All submissions of the machine of `like`, but suites that have other cases on the architecture of `hardware`."""
    here, there = like.document.machine.architecture, hardware.architecture
    own = [one for one in committed() if one.document.machine.id == like.document.machine.id]
    return [one for one in own if one.suite.on(here) == one.suite.on(there)]


def write_honest(data: DataFolder, number: int, since: datetime) -> list[SubmissionFolder]:
    """Write the first `number` submissions into `data`, and return them in the order made.

    What is there already stays as it is, so that one more is added by asking for one more.
    Raises: UsageError for the checkout's own data.
    """
    refuse_own(data)
    made = []
    for visit in islice(honest(since=since), number):
        files = SubmissionFolder(data.results / visit.id)
        if not files.machine_file.exists():
            write(visit.given(), files)
        made.append(files)
    return made


def refuse_own(data: DataFolder) -> None:
    """Raises: UsageError for the checkout's own data, where nothing is made up."""
    if DATA.root in (data.root.resolve(), *data.root.resolve().parents):
        msg = f"{data.root}: is the checkout's own data, where only measured results belong. Name a folder elsewhere."
        raise UsageError(msg)


def write(given: Given, files: SubmissionFolder) -> None:
    """Its files, `machine.json` last: where that is, the submission is whole."""
    files.folder.mkdir(parents=True, exist_ok=True)
    buckets = [(row.block, row.position, *bucket) for row in given.rows for bucket in row.histogram]
    with TableWriter(files.samples, SAMPLE_COLUMNS) as table:
        table.put([getattr(row, column.name) for column in SAMPLE_COLUMNS] for row in given.rows)
    if buckets:
        with TableWriter(files.histogram, HISTOGRAM_COLUMNS) as table:
            table.put(buckets)
    write_document(files.machine_file, given.document)


def resampled(like: Given, speed: float, random: np.random.Generator) -> tuple[Sample, ...]:
    """The rows of each case with noise drawn from that of the case, each column for itself."""
    noise: dict[tuple[Key, str], list[float]] = defaultdict(list)
    for row in like.rows:
        for name in NOISY:
            if row.status == "ok" and (value := getattr(row, name)):
                noise[key(row), name].append(value)
    trials: dict[Key, float] = defaultdict(lambda: float(random.lognormal(0, TRIAL_SIGMA)) / speed)
    made = []
    is_tried = not has_fixed_operations(like.suite)
    for row in like.rows:
        factor = _trial(row, trials) if is_tried and row.status == "ok" else 1.0
        changes: dict[str, Any] = {}
        for name in NOISY:
            if row.status == "ok" and getattr(row, name):
                drawn = float(random.choice(noise[key(row), name])) * float(random.lognormal(0, JITTER))
                share = speed * factor if name in {"wall_ns", "user_ns", "sys_ns"} else speed
                changes[name] = stepped(name, drawn if name == "tracer_rss_bytes" else drawn * share)
        for name in ("events", "seen", "lost", "operations"):
            if row.status == "ok" and (value := getattr(row, name)):
                changes[name] = max(1, round(value * factor))
        if row.histogram:
            operations = changes.get("operations") or changes["events"]
            changes["histogram"] = _histogram(row.histogram, speed, operations)
        made.append(replace(row, **changes))
    return tuple(made)


def _histogram(buckets: Sequence[Bucket], speed: float, operations: int) -> tuple[Bucket, ...]:
    """The same times at another speed, of so many operations in all."""
    number = sum(bucket.operations for bucket in buckets)
    made: dict[tuple[int, int], int] = defaultdict(int)
    before = passed = 0
    for bucket in buckets:
        passed += bucket.operations
        upto = round(passed * operations / number)
        made[bucket_around(round((bucket.low_ns + bucket.high_ns) / 2 * speed))] += upto - before
        before = upto
    return tuple(Bucket(low, high, here) for (low, high), here in made.items() if here)


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


def elsewhere(like: MachineFile, made: MadeMachine, began: datetime, rows: Sequence[Sample]) -> MachineFile:
    """The facts of a made machine, at a time of its own."""
    total_s = sum((row.wall_ns or 0) + (row.attach_ns or 0) + (row.detach_ns or 0) for row in rows) / 1e9
    moments = {
        name: when.strftime(MOMENT_FORM)
        for name, when in zip(("started", "ended"), (began, began + timedelta(seconds=1.1 * total_s + 5)), strict=True)
    }
    is_same = made.machine.architecture == like.machine.architecture
    further = {
        "steal_ratio": None,
        "resumed": (),
        "functions": like.run.functions if is_same else {},
        "warnings": tuple(word for word in like.run.warnings if made.hardware.is_nested or word != "nested"),
    }
    return like.model_copy(
        update={
            "machine": made.machine,
            "system": made.system(like.system),
            "tools": {
                tracer: f"Linux {made.kernel_release}" if version.startswith("Linux ") else version
                for tracer, version in like.tools.items()
            },
            "run": like.run.model_copy(update={**moments, **further}),
            "submitter": Submitter(name=None, url=None),
            "provenance": Provenance(tool="tests/evidence/honest.py", kind="third-party"),
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


def order_of_seed(
    document: MachineFile, samples: Sequence[Sample], suite: Suite
) -> dict[tuple[int, int], tuple[Key, Arm]] | None:
    """(block, position) to what the seed puts there; None where a case or tracer is unknown, or blocks are missing."""
    cases, levels = [case.id for case in suite.cases], suite.levels or (None,)
    known = [{part: place for place, part in enumerate(parts)} for parts in (cases, document.tools, levels)]
    rows: dict[Key, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm != "baseline":
            rows[Key(sample.case, sample.tracer, sample.level)].append(sample)
    blocks = 1 + max((sample.block for sample in samples), default=0)
    if blocks > len(samples) or any(
        part not in places for key in rows for part, places in zip(key, known, strict=True)
    ):
        return None
    keys = sorted(rows, key=lambda key: [places[part] for part, places in zip(key, known, strict=True)])
    measured = [key for key in keys if any(row.block or row.status == "ok" or row.events for row in rows[key])]
    left_out = [key for key in keys if key not in measured]
    left_out.sort(key=lambda key: rows[key][0].status == "skipped")  # a trial comes before what was never tried
    counted = [key for key in keys if any(row.arm == "check" for row in rows[key])]
    orders = blocks_in_order(measured, left_out, counted, blocks, document.run.seed)
    return {(block, place): one for block, order in enumerate(orders) for place, one in enumerate(order)}
