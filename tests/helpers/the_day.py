"""The day on which machines send times that no guest of ours can take: kprobes, fentry, bare metal, arm64, a runner.

Each case that an emulated machine counted takes its instructions and exceptions at the machine's own times, and each
kind of probe has a factor that no estimate knows. The submissions say that they are made up, and pass `check`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from evidence.honest import DATA, Given, elsewhere, in_order, key, refuse_own, stepped, suites, write
from evidence.made_machines import Hardware, MadeMachine, made_machine
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.from_counts import counted_as
from probe_effect.measure.request import rounded
from probe_effect.numbers.catalogue import read_submissions
from probe_effect.store.machine_file import Provenance, Submitter
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import read_samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from probe_effect.model import Key, Sample
    from probe_effect.numbers.submission import Submission

MADE_UP = "Made up by tests/helpers/the_day.py"
SEED = 20261201
BEGAN = datetime(2026, 11, 26, 1, tzinfo=UTC)
"""When the first of them begins; each next one so much later."""
APART = timedelta(hours=1)

SUITES = ("per-event", "user-probes", "usdt", "combinations", "agents")
BLOCKS = 20
RUN_NS = 0.4e9
KIND_SIGMA = 0.3
"""Of the natural logarithm of a kind of probe's own factor: what counting instructions does not see of it."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A machine, and how long it takes for an instruction of the untraced loop, of a probe, and for exceptions, ns."""

    hardware: Hardware
    kernel: tuple[str, str]
    like: str
    """Pattern of the emulated machines whose counts it takes."""
    untraced_ns: float
    instruction_ns: float
    breakpoint_ns: float
    step_ns: float
    noise: float
    """Standard deviation of the natural logarithm of a run's time."""


SENDERS = (
    Sender(
        Hardware(
            cpu_model="AMD Ryzen Threadripper 7960X 24-Cores",
            signature=("25", "24", "1"),
            cores=24,
            threads=48,
            memory_gib=128,
            governor="performance",
        ),
        ("Debian GNU/Linux 13 (trixie)", "6.12.107+deb13-amd64"),
        "qemu-tcg-2t-linux-6-12-*-amd64-*",
        untraced_ns=0.09,
        instruction_ns=0.13,
        breakpoint_ns=110,
        step_ns=320,
        noise=0.003,
    ),
    Sender(
        Hardware(
            cpu_model="Cortex-A76",
            signature=("0x41", "0x4", "0xd0b", "1"),
            architecture="aarch64",
            cores=4,
            threads=4,
            memory_gib=8,
            clocksource="arch_sys_counter",
            governor="performance",
        ),
        ("Debian GNU/Linux 13 (trixie)", "7.3.4+deb13-arm64"),
        "qemu-tcg-2t-linux-7-3-*-arm64-*",
        untraced_ns=0.22,
        instruction_ns=0.3,
        breakpoint_ns=150,
        step_ns=240,
        noise=0.004,
    ),
    Sender(
        Hardware(
            cpu_model="AMD EPYC 7763 64-Core Processor",
            signature=("25", "1", "1"),
            cores=2,
            threads=4,
            memory_gib=16,
            virtualization="Hyper-V",
            clocksource="hyperv_clocksource_tsc_page",
        ),
        ("Ubuntu 24.04 LTS", "6.14.0-1017-azure"),
        "qemu-tcg-2t-linux-6-12-*-amd64-*",
        untraced_ns=0.14,
        instruction_ns=0.21,
        breakpoint_ns=190,
        step_ns=1900,
        noise=0.008,
    ),
)
"""Bare metal with SMT, a governor and turbo; a board; and a hosted runner. None has steal."""


def the_day() -> Iterator[Given]:
    """What they send: the same each time."""
    taken: set[str] = set()
    for number, sender in enumerate(SENDERS):
        made = made_machine(sender.hardware, sender.kernel, 1.0, number, taken)
        for place, suite in enumerate(SUITES):
            counted = _counted(sender.like, suite)
            if counted is None:
                continue
            random = np.random.default_rng([SEED, number, place])
            began = BEGAN + (number * len(SUITES) + place) * APART + timedelta(seconds=int(random.integers(3000)))
            yield _given(sender, made, counted, began, random)


def _counted(machines: str, suite: str) -> Submission | None:
    """The counts of a suite of which some emulated machines have most; None where none has any."""
    folders = [one for one in DATA.submissions() if fnmatchcase(one.machine, machines)]
    folders = [one for one in folders if re.fullmatch(rf"[\d-]+-{suite}(-\d+)?", one.folder.name)]
    read = read_submissions(folders, DATA, [])
    return max(read, key=lambda one: sum(number.is_sound for number in one.numbers), default=None)


def _given(
    sender: Sender, made: MadeMachine, counted: Submission, began: datetime, random: np.random.Generator
) -> Given:
    read, _ = read_samples(counted.files.samples, counted.id)
    rows = tuple(_rows(sender, read, _event_ns(sender, counted, random), random))
    document = elsewhere(counted.document, made, began, rows)
    threads, suite = made.machine.threads, counted.document.run.suite
    run = document.run.model_copy(
        update={
            "metric": "time",
            "blocks": BLOCKS,
            "program_runs": {name: found for name, found in counted.document.run.program_runs.items() if found},
            "workload_cpu": threads - 1,
            "tracer_cpu": threads // 2 - 1,
            "command": ("probe-effect", "measure", suite),
            "packages": {},  # the emulator's, among others
            "load_before": 0.05,
            "load_after": 0.9,
        }
    )
    system = document.system.model_copy(
        update={"boot_flags": (), "clock_read_ns": round(20 + 5 * float(random.random()), 2)}
    )
    changes = {
        "run": run,
        "system": system,
        "submitter": Submitter(name=MADE_UP, url=None),
        "provenance": Provenance(tool="tests/helpers/the_day.py", kind="third-party"),
    }
    name = f"{made.machine.id}/{began:%Y-%m-%d}-{suite}"
    given = in_order(Given(document.model_copy(update=changes), rows), int(random.integers(2**32)))
    return replace(given, name=name)


def _event_ns(sender: Sender, counted: Submission, random: np.random.Generator) -> Mapping[Key, float]:
    """What an event of each case adds, ns: its count and exceptions at the machine's times and its kind's factor."""
    kinds: dict[str, float] = defaultdict(lambda: float(random.lognormal(0, KIND_SIGMA)))
    times_ns = sender.instruction_ns, sender.breakpoint_ns, sender.step_ns
    case_of = {one.id: one for one in suites()[counted.suite].cases}
    return {
        one.key: float(np.dot(event.terms, times_ns)) * kinds[event.kind.replace("ret", "")]
        for one in counted.numbers
        if one.cost is not None
        for event in (counted_as(Evidence(()), case_of[one.case], one),)
    }


def _rows(
    sender: Sender, read: Sequence[Sample], event_ns: Mapping[Key, float], random: np.random.Generator
) -> Iterator[Sample]:
    """Two baselines of each level and one run of each case in each block, a count where there was one, and refusals."""
    baselines = {row.level: row for row in read if row.arm == "baseline"}
    first: dict[tuple[Key, str], Sample] = {}
    for row in read:
        if row.status == "ok" or row.block == 0:
            first.setdefault((key(row), row.arm), row)
    for (which, arm), row in first.items():
        if row.status != "ok":
            yield row
            continue
        untraced = baselines[row.level]
        operation_ns = sender.untraced_ns * (untraced.instructions or 0) / (untraced.operations or untraced.events or 1)
        per_operation = (row.events or 0) / (row.operations or row.events or 1)
        added_ns = max(0.0, event_ns.get(which, 0.0)) * per_operation if arm != "baseline" else 0.0
        operations = rounded(RUN_NS / (operation_ns + added_ns) * float(random.lognormal(0, 0.05)))
        times = {"check": 1, "traced": BLOCKS, "baseline": 2 * BLOCKS}[arm]
        for turn in range(times):
            block = turn // 2 if arm == "baseline" else turn
            wall_ns = operations * (operation_ns + added_ns) * float(random.lognormal(0, sender.noise))
            yield _timed(replace(row, block=block), operations, wall_ns, random)


def _timed(row: Sample, operations: int, wall_ns: float, random: np.random.Generator) -> Sample:
    """The row of a run of so many operations that took so long."""
    in_user = 0.3 + 0.05 * float(random.random())
    ratio = (row.events or 0) / (row.operations or row.events or 1)
    events = round(operations * ratio)
    found = replace(
        row,
        instructions=None,
        events=events,
        operations=operations if row.operations is not None else None,
        seen=None if row.seen is None else events + int(random.integers(20)),
        lost=None if row.lost is None else 0,
        wall_ns=round(wall_ns),
        user_ns=stepped("user_ns", in_user * wall_ns),
        sys_ns=stepped("sys_ns", (1 - in_user) * wall_ns),
    )
    if row.arm == "baseline":
        return found
    return replace(
        found,
        tracer_cpu_ns=stepped("tracer_cpu_ns", 2e8 * float(random.lognormal(0, 0.1))),
        tracer_rss_bytes=row.tracer_rss_bytes
        and stepped("tracer_rss_bytes", row.tracer_rss_bytes * float(random.lognormal(0, 0.01))),
        attach_ns=round(2.5e8 * float(random.lognormal(0, 0.1))),
        detach_ns=round(1e8 * float(random.lognormal(0, 0.1))),
        attach_instructions=None,
        detach_instructions=None,
    )


def write_the_day(data: DataFolder) -> list[SubmissionFolder]:
    """Write what they send into `data`, and return it. Raises: UsageError for the checkout's own data."""
    refuse_own(data)
    made = []
    for given in the_day():
        files = SubmissionFolder(data.results / given.name)
        write(given, files)
        made.append(files)
    return made
