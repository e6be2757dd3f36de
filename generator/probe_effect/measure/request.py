"""What to measure, in which order, and for how long: what is asked becomes work, and the work becomes a plan.

Names from the command line become suites, cases and tracers, and host facts become reasons. Runs are in randomised
blocks, so that drift and neighbours hit every case alike. A run has as many operations as are enough to time well, and
few enough to repeat.

Source: the design of interleaved, randomised blocks follows Kalibera and Jones (2013) and the reports on random
interleaving in Google Benchmark.
"""

import hashlib
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from probe_effect.host import system, typed, usable_cpus
from probe_effect.host.ownership import MAKE_OURS, demand
from probe_effect.host.workloads import NOT_PINNED, SYSTEM_PATH, Tree, WorkloadTask
from probe_effect.model import NO_TRACER, Arm, BadData, HostNotReady, Key, Sample, unknown
from probe_effect.store.places import DataFolder, own_headers, walk
from probe_effect.store.suite_file import Case, Suite, read_suite, script_path, script_paths, workload_source
from probe_effect.tracers.perf import calls_uncounted
from probe_effect.tracers.protocol import Tracer

BUILDERS = ("make", "cc")  # the commands that the build of every project needs


@dataclass(frozen=True, slots=True)
class Work:
    """One suite, resolved: what is measured, and what is not and why."""

    folder: Path
    suite: Suite
    """The suite, with the cases of the machine's architecture alone."""
    tracers: Mapping[str, Tracer]
    measured: tuple[Key, ...]
    skipped: Mapping[Key, str]
    tree: Tree | None = None
    """The source tree that the workload builds, if it builds one and the tree is known."""
    elsewhere: tuple[str, ...] = ()
    """The cases for machines of another architecture, which are not in the plan."""

    def case(self, subject: Key) -> Case:
        return next(case for case in self.suite.cases if case.id == subject.case)

    def script(self, subject: Key, *, check: bool = False) -> Path:
        """The script of a measured subject, or its counting twin."""
        path = self._script_path(subject, check=check)
        assert path is not None
        return path

    def twins(self) -> tuple[Key, ...]:
        """Measured subjects with a counting run apart: of a twin, or of the tool's own calls, where both can be had."""
        calls = {case.id for case in self.suite.cases if case.counted_by == "calls"}
        if calls and calls_uncounted() is not None:
            calls = set()
        return tuple(
            subject
            for subject in self.measured
            if subject.case in calls
            or (self.case(subject).counted_by == "twin" and self._script_path(subject, check=True) is not None)
        )

    def _script_path(self, subject: Key, *, check: bool) -> Path | None:
        tool = self.tracers[subject.tracer].tool
        return script_path(self.folder, subject.case, tool, level=subject.level, check=check)

    @property
    def levels(self) -> tuple[str | None, ...]:
        """The levels of which something is measured; (None,) where the suite has no factor."""
        return tuple(dict.fromkeys(subject.level for subject in self.measured))

    @property
    def occupies_cpus(self) -> bool:
        """Whether the workload has a CPU for each of its threads, or all of them, and leaves none to the tracer."""
        return self.builds or (self.suite.factor is not None and self.suite.factor.occupies_cpus)

    @property
    def busy_cpus(self) -> int:
        """How many CPUs its workload keeps busy at its most."""
        levels = [int(level) for level in self.levels if level] if self.occupies_cpus and not self.builds else []
        return len(usable_cpus()) if self.builds else max(levels, default=1)

    @property
    def builds(self) -> bool:
        """Whether an operation is the build of a project: a run has one, and it may take minutes."""
        return self.suite.workload.project is not None

    def load(self, subject: Key, program: Path, operations: int, cpu: int) -> WorkloadTask:
        """What the workload is to do in a run of `subject`; `cpu` is for a workload that has one CPU."""
        return WorkloadTask(
            program=program,
            operations=operations,
            cpu=NOT_PINNED if self.occupies_cpus else cpu,
            level=subject.level,
            variant=None if subject.is_baseline else self.case(subject).variant,
            threads=int(subject.level) if self.occupies_cpus and subject.level else 1,
            tree=self.tree.build if self.tree else None,
        )

    @property
    def functions(self) -> tuple[str, ...]:
        """The user functions that its measured cases probe, `file:symbol`, each once."""
        return tuple(sorted({name for subject in self.measured for name in self.case(subject).functions}))

    def source(self) -> Path:
        return workload_source(self.folder, self.suite)

    def digest(self) -> str:
        """SHA-256 over the suite's files: its `suite.toml`, its scripts, its workload and what that includes."""
        source = self.source()
        files = {*(path for path in self.folder.iterdir() if path.is_file()), source, *own_headers(source)}
        hashed = hashlib.sha256()
        for path in sorted(files):
            hashed.update(f"{path.name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
        return hashed.hexdigest()

    def versions(self) -> dict[str, str]:
        """Tracer id to its version as it prints it."""
        return {name: tracer.version() or "unknown" for name, tracer in self.tracers.items()}

    def programs(self) -> dict[str, str]:
        """Tracer id to the path of its program, for tracers that were given by path."""
        return {
            name: program
            for name, tracer in self.tracers.items()
            if name != tracer.tool and (program := str(getattr(tracer, "program", "")))
        }


def choose_suites(data: DataFolder, names: Sequence[str]) -> list[tuple[Path, Suite]]:
    """The suites of those names, or all.

    Raises: UsageError for an unknown one, and where any file of the suites is another user's; BadData for a faulty one.
    """
    folders = {folder.name: folder for folder in data.suites()}
    unknown(names, folders, "suite")
    for parent in {folder.parent for folder in folders.values()}:  # suites share headers and workloads
        demand([parent, *walk(parent)], MAKE_OURS, data.root if parent.is_relative_to(data.root) else None)
    chosen = []
    for folder in [folders[name] for name in names] or list(folders.values()):
        suite, problems = read_suite(folder, data.relative(folder / "suite.toml"))
        if suite is None:
            raise BadData(problems)
        chosen.append((folder, suite))
    return chosen


def choose_tracers(
    all_tracers: Mapping[str, Tracer], names: Sequence[str], *, as_root: bool | None = None
) -> dict[str, Tracer]:
    """The tracers of those names, or all that can run here. `as_root` is whether they run as root, if not as we do.

    Raises: UsageError for an unknown one; HostNotReady if a named tracer, or every tracer, cannot run here. For a user
        other than root also if any tracer cannot: the message says what can run all the same.
    """
    unknown(names, all_tracers, "tracer")
    reasons = {name: tracer.available() for name, tracer in all_tracers.items() if not names or name in names}
    ready = {name: all_tracers[name] for name, reason in reasons.items() if reason is None}
    faults = [f"{name}: {reason}" for name, reason in reasons.items() if reason is not None]
    if faults and not (os.geteuid() == 0 if as_root is None else as_root):
        able = [name for name, tracer in all_tracers.items() if tracer.available() is None]
        possible = "none can measure without root"
        if able:
            command = typed("measure", *(word for name in able for word in ("--tracer", name)))
            possible = f"these can measure without root: {', '.join(able)}\n  {command}"
        advice = f"those that need root: the same command with sudo; what to install: {typed('doctor')}"
        raise HostNotReady("\n".join([*faults, possible, advice]))
    if faults and (names or not ready):
        raise HostNotReady("\n".join(faults))
    return ready


def resolve(
    folder: Path,
    suite: Suite,
    tracers: Mapping[str, Tracer],
    cases: Sequence[str],
    cpus: int | None = None,
    *,
    architecture: str | None = None,
) -> Work:
    """What of a suite can be measured, with those of `tracers` that it has scripts for.

    No ids of `cases` mean all. The number of `cpus`, and the `architecture` as `uname -m` gives it, are ours unless
    they are given.
    """
    whole, suite = suite, suite.on(architecture or system.architecture())
    elsewhere = tuple(case.id for case in whole.cases if case not in suite.cases)
    cpus = len(usable_cpus()) if cpus is None else cpus
    tracers = {
        name: tracer
        for name, tracer in tracers.items()
        if any(script_paths(folder, suite, case.id, tracer.tool) for case in suite.cases)
    }
    measured, skipped = [], {}
    for case in suite.cases:
        for tracer in tracers.values():
            levels = [
                level
                for level in suite.levels or (None,)
                if script_path(folder, case.id, tracer.tool, level=level) is not None
            ]
            if (cases and case.id not in cases) or not levels:
                continue
            missing = next((reason for need in case.needs if (reason := tracer.missing(need))), None)
            for level in levels:
                subject = Key(case.id, tracer.id, level)
                if reason := missing or _too_few_cpus(suite, level, cpus) or _without_command(folder, suite, level):
                    skipped[subject] = reason
                else:
                    measured.append(subject)
    return Work(folder, suite, tracers, tuple(measured), skipped, elsewhere=elsewhere)


def _too_few_cpus(suite: Suite, level: str | None, cpus: int) -> str | None:
    """Why a level that is a number of threads cannot be run, or a tracer that works meanwhile; None if it can."""
    if suite.workload.tracer_has_a_cpu and cpus < 2:
        return "the tracer works beside the workload, on a CPU of its own, and there is one CPU"
    if suite.factor is None or not suite.factor.occupies_cpus or level is None:
        return None
    return f"{level} threads need a CPU each, and there are {cpus}" if int(level) > cpus else None


def _without_command(folder: Path, suite: Suite, level: str | None) -> str | None:
    """Why a level whose program is not there, or a build, cannot be run, and what brings it; None if it can."""
    commands = BUILDERS if suite.workload.project else suite.workload.commands.get(level or "", ())
    absent = next((name for name in commands if shutil.which(name, path=SYSTEM_PATH) is None), None)
    builders = (f"as root, sh {path} builds it" for path in folder.glob("build-*.sh"))
    hint = next(builders, "the suite's description names its package")
    return f"{absent} is not in {SYSTEM_PATH}; {hint}" if absent else None


def first_look(work: Work) -> Work:
    """The work with one tracer only, the first that can measure something; and dormant probes, which need none."""
    first = next((subject.tracer for name in work.tracers for subject in work.measured if subject.tracer == name), None)
    if first is None:  # then all the reasons why are of interest
        return work
    tracers = {name: tracer for name, tracer in work.tracers.items() if name in {first, "dormant"}}
    measured = tuple(subject for subject in work.measured if subject.tracer in tracers)
    skipped = {subject: why for subject, why in work.skipped.items() if subject.tracer in tracers}
    return replace(work, tracers=tracers, measured=measured, skipped=skipped)


BASELINES = 2  # how many baselines each block has
BASELINE_CASE = "baseline"


def baseline(level: str | None = None) -> Key:
    return Key(BASELINE_CASE, NO_TRACER, level)


def blocks_in_order(
    measured: Sequence[Key], left_out: Sequence[Key], counted: Sequence[Key], blocks: int, seed: int
) -> Iterator[list[tuple[Key, Arm]]]:
    """The runs of each block, in order. The same arguments give the same order.

    What is `measured` runs once in every block, at each level. What is `left_out` has a place in the first block only,
    for the row that says why. What is `counted`, by a twin, runs once more at the end of the first block. The runs of a
    level are together, so that its baselines are near in time, and the levels are in random order.
    """
    random = np.random.default_rng(seed)
    for block in range(blocks):
        order: list[tuple[Key, Arm]] = [
            (subject, "baseline" if subject.is_baseline else "traced")
            for subject in _block(measured, left_out if block == 0 else [], random)
        ]
        if block == 0:
            order += [(subject, "check") for subject in counted]
        yield order


def _block(measured: Sequence[Key], left_out: Sequence[Key], random: np.random.Generator) -> list[Key]:
    """One block: the levels in random order, then the subjects left out at levels at which nothing is measured."""
    levels = list(dict.fromkeys(subject.level for subject in measured)) or [None]
    order: list[Key] = []
    for index in random.permutation(len(levels)):
        level = levels[index]
        subjects = [subject for subject in (*measured, *left_out) if subject.level == level]
        order += _with_baselines(subjects, level, random)
    return [*order, *(subject for subject in left_out if subject.level not in levels)]


def _with_baselines(subjects: Sequence[Key], level: str | None, random: np.random.Generator) -> list[Key]:
    """The subjects of one level in random order, with two baselines half a round apart, the first at a random place.

    Every place is a baseline's as often as any other case's, so that a block that begins slowly, or drifts, disturbs
    both alike on average (`tests/evidence/coverage.py` shows what happens otherwise).
    """
    order = [subjects[index] for index in random.permutation(len(subjects))]
    places = len(order) + BASELINES
    first = int(random.integers(places))
    second = (first + (places + int(random.integers(2))) // 2) % places
    for index in sorted((first, second)):
        order.insert(index, baseline(level))
    return order


FIRST_OPERATIONS = 20_000
"""Operations of a first trial: 10 ms with a probe of 500 ns, 0.8 s with one of 40 µs."""

FIRST_AT_A_LEVEL = 1
"""Operations of a first trial in a suite with a factor, at whose levels an operation may take a second."""

MIN_OPERATIONS = 1_000
"""Fewest operations of a suite without a factor: work that is done once in a run is spread over them."""
CHECK_OPERATIONS = 100_000
"""Fewest events of a counting run: a hundred events of other programs are then 0.1 %."""

LONGEST_CHECK_S = 10.0
ONE_BUILD = 1  # operations of a run that builds a project: a second build would find everything built


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long runs should take, in seconds."""

    baseline_s: float
    traced_s: float


THOROUGH = Lengths(baseline_s=0.4, traced_s=0.5)
QUICK = Lengths(baseline_s=0.1, traced_s=0.05)
"""Starting and ending the tracer takes longer than that: 18 cases in 6 blocks are a minute."""

COUNTED = Lengths(baseline_s=0.2, traced_s=0.2)
COUNTED_QUICK = Lengths(baseline_s=0.1, traced_s=0.1)
"""Of an emulated clock, where 0.2 s are 200 million instructions, with 50 ticks of the kernel's clock among them. A
shorter run would not do: some ten events of other programs must stay below 0.1 % of its own."""


def first_operations(level: str | None, baseline_operations: int | None = None) -> int:
    """Operations of a first trial; of a traced one at a level, where they may take long, a tenth of a baseline's."""
    if level is None:
        return FIRST_OPERATIONS
    return FIRST_AT_A_LEVEL if baseline_operations is None else min(FIRST_OPERATIONS, -(-baseline_operations // 10))


def operations_for(
    target_s: float, run: Callable[[int], Sample], first: int = FIRST_OPERATIONS, least: int = MIN_OPERATIONS
) -> tuple[int, Sample]:
    """The operations that take about `target_s`, and the last trial's row.

    Trials grow until one takes a tenth of the target. A trial that fails stops the search; its row says why.
    `run` makes a run of so many operations: `first` in the first trial, and never fewer than `least`.
    """
    operations = first
    while True:
        row = run(operations)
        if row.status != "ok" or row.wall_ns is None:
            return operations, row
        wanted = operations * target_s * 1e9 / row.wall_ns
        if row.wall_ns >= target_s * 1e8:
            return rounded(wanted, least), row
        operations = rounded(min(wanted / 3, operations * 50), least)


def check_operations(operations: int, target_s: float) -> int:
    """Operations of a counting run for a case whose timed run takes `target_s` for `operations`."""
    bearable = operations * LONGEST_CHECK_S / target_s
    return rounded(min(max(operations, CHECK_OPERATIONS), bearable))


def rounded(operations: float, least: int = MIN_OPERATIONS) -> int:
    """The operations, rounded to two significant digits, which are easy to read, and never fewer than `least`."""
    step: int = 10 ** max(math.floor(math.log10(max(operations, 1.0))) - 1, 0)
    return max(least, round(operations / step) * step)
