"""What two submissions of a suite have in common that two measurements have not, in words, with its figure.

A copy that was changed keeps something of what it was made from, unless whoever changed it knew all of this: the seed
and the order of runs, when it began, how many operations the trials found, single times, and the noise, which says
nothing of a machine's speed and never comes twice.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from probe_effect.checks.signs import has_fixed_operations
from probe_effect.reduce.reading import code, content_digest
from probe_effect.stats.shared_noise import noise_table, shared_noise
from probe_effect.store.kept import code_version
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.samples import read_samples
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.stats.shared_noise import NoiseTable, Shared
    from probe_effect.store.kept import Kept
    from probe_effect.store.machine_file import MachineFile
    from probe_effect.store.places import SubmissionFolder
    from probe_effect.store.suite_file import Suite

LEAST_CHANCE = 1e-3
"""Of noise that has so much in common by chance, over all submissions of the suite."""

LEAST_TIMES, LEAST_TIMES_RATIO = 3, 0.01
"""Single times that two may share: clocks that step by 100 ns give the same now and then."""

LEAST_SUBJECTS, MOST_SAME_RATIO = 8, 0.8
"""Cases of which machines with different CPUs were given the same number of operations; a third is the most seen."""

LEAST_RUNS = 40
"""In so many the order of two submissions does not agree by chance."""

WIDTH_OF_RUNS, WIDTH_OF_TOOLS = 1.3, 2.2
"""By which the noise of unrelated submissions deviates more than that of independent values: the four values of a
tracer's run go with each other. `benchmarks/forgery.py` prints what the committed submissions give."""

OF_RUNS = ("wall_ns",)
OF_TOOLS = ("attach_ns", "detach_ns", "tracer_cpu_ns", "tracer_rss_bytes")
SINGLE = ("wall_ns", "attach_ns", "detach_ns")


@dataclass(frozen=True)
class Traces:
    """What a copy of a submission would keep of it."""

    document: MachineFile
    rows: Sequence[Sample]
    suite: Suite | None

    @cached_property
    def order(self) -> tuple[str, ...]:
        """What ran, in order."""
        return tuple(f"{row.case} {row.tracer} {row.level}" for row in self.rows)

    @cached_property
    def operations(self) -> Mapping[Hashable, int]:
        """How many a run of each case has; nothing where the suite says it."""
        if has_fixed_operations(self.suite):
            return {}
        runs = (row for row in self.rows if row.status == "ok" and row.arm != "check")
        return {(row.case, row.tracer, row.level): row.operations or row.events or 0 for row in runs}

    @cached_property
    def times(self) -> frozenset[tuple[str, int]]:
        """Each time of a clock, by its column."""
        return frozenset((name, time) for row in self.rows for name in SINGLE if (time := getattr(row, name)))

    @cached_property
    def of_runs(self) -> NoiseTable:
        """The noise of the workload's times."""
        return self._noise(OF_RUNS)

    @cached_property
    def of_tools(self) -> NoiseTable:
        """The noise of what the tracers took."""
        return self._noise(OF_TOOLS)

    def _noise(self, columns: Sequence[str]) -> NoiseTable:
        values: dict[Hashable, dict[int, float]] = defaultdict(dict)
        blocks = self.document.run.blocks
        for row in self.rows:
            if row.status != "ok" or row.arm == "check" or row.block >= blocks:
                continue
            for name in columns:
                if value := getattr(row, name):
                    own = (row.case, row.tracer, row.level, name)
                    is_second = row.block in values[*own, False]  # a block has two baselines
                    values[*own, is_second][row.block] = value
        return noise_table(values, blocks)


@dataclass(frozen=True, slots=True)
class Known:
    """A submission whose facts could be read."""

    files: SubmissionFolder
    document: MachineFile
    digest: str

    def traces(self, suite: Suite | None) -> Traces:
        """What a copy would keep of it; its rows are read."""
        return Traces(self.document, read_samples(self.files.samples, self.files.id)[0], suite)


def in_common(
    submissions: Iterable[SubmissionFolder],
    checked: Iterable[SubmissionFolder],
    suites: Mapping[str, Suite],
    kept: Kept,
) -> Mapping[Path, list[tuple[str, str]]]:
    """Folder to (rule, what it has in common with another) for each sign that the two are not two measurements.

    Each is compared with those that began before it, once, and what was found is kept. Two of which neither is
    `checked` are not compared where that is not known already: so the check of one grows with the others' number alone.
    """
    asked = {one.folder.resolve() for one in checked}
    by_suite: dict[str, list[Known]] = defaultdict(list)
    for files in dict.fromkeys(replace(one, folder=one.folder.resolve()) for one in submissions):
        document, faults = read_machine_file(files.machine_file, files.id)
        digest = content_digest(files)
        if document is not None and not faults and digest:
            by_suite[document.run.suite].append(Known(files, document, digest))
    found: dict[Path, list[tuple[str, str]]] = defaultdict(list)
    for name, some in by_suite.items():
        for one, other, sign, words in _of_suite(some, asked, suites.get(name), kept):
            for own, beside in ((one, other), (other, one)):
                found[own.folder].append((sign, words.replace("{other}", printable(beside.id))))
    return found


def _of_suite(
    some: Sequence[Known], asked: Collection[Path], suite: Suite | None, kept: Kept
) -> Iterator[tuple[SubmissionFolder, SubmissionFolder, str, str]]:
    """(a submission, one that began before it, rule, what both have in common)."""
    in_time = sorted(some, key=lambda one: (one.document.run.started, one.files.id))
    is_asked = [one.files.folder in asked for one in in_time]
    traces = cache(lambda place: in_time[place].traces(suite))
    before = hashlib.sha256(f"{code()} {code_version('checks')}".encode())
    for place, own in enumerate(in_time):
        name = f"{own.files.id} {own.digest}"
        made_from = ("alike", before.hexdigest(), name, str(has_fixed_operations(suite)))
        if is_asked[place]:
            found = kept.made(partial(_beside, place, range(place), traces), *made_from)
        else:
            found = kept.get(*made_from) or _beside(place, [one for one in range(place) if is_asked[one]], traces)
        for earlier, sign, words in json.loads(found):
            yield own.files, in_time[earlier].files, sign, words
        before.update(name.encode())


def _beside(place: int, others: Iterable[int], traces: Callable[[int], Traces]) -> bytes:
    """The signs of a submission beside some that began before it, as JSON; it is one of `place` pairs."""
    found = [(earlier, *sign) for earlier in others for sign in signs(traces(place), traces(earlier), place)]
    return json.dumps(found).encode()


def signs(one: Traces, other: Traces, others: int) -> Iterator[tuple[str, str]]:
    """(rule, what two submissions of one suite have in common that two measurements have not).

    Args:
        others: with how many `one` is compared.
    """
    for sign in (_same_order, _same_start):
        yield from sign(one, other)
    if one.document.run.metric == other.document.run.metric == "time":
        yield from _same_operations(one, other)
        yield from _same_times(one, other)
        yield from _same_noise("same-noise", "times", noise_of_runs(one, other), others)
        yield from _same_noise("same-tool-noise", "the tracers' times and memory", noise_of_tools(one, other), others)


def noise_of_runs(one: Traces, other: Traces) -> Shared | None:
    """What the noise of two workloads' times has in common."""
    return shared_noise(one.of_runs, other.of_runs, WIDTH_OF_RUNS)


def noise_of_tools(one: Traces, other: Traces) -> Shared | None:
    """What the noise of all that the tracers took has in common."""
    return shared_noise(one.of_tools, other.of_tools, WIDTH_OF_TOOLS)


def _same_order(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    if one.document.run.seed == other.document.run.seed:
        yield "same-order", f"seed {one.document.run.seed} is that of {{other}} too"
    elif len(one.order) >= LEAST_RUNS and one.order == other.order:
        yield "same-order", f"all {len(one.order)} runs stand in the order of {{other}}, which has another seed"


def _same_start(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    mine, theirs = one.document.run, other.document.run
    if mine.started == theirs.started:
        yield "same-start", f"it began at {mine.started}, the same second as {{other}}"


def _same_operations(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    if one.document.machine.cpu_model == other.document.machine.cpu_model:
        return  # trials on like machines may well come to the same
    both = one.operations.keys() & other.operations.keys()
    same = sum(one.operations[key] == other.operations[key] for key in both)
    if len(both) >= LEAST_SUBJECTS and same >= MOST_SAME_RATIO * len(both):
        yield "same-operations", f"runs of {same} of {len(both)} cases have as many operations as those of {{other}}"


def _same_times(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    same = len(one.times & other.times)
    least = min(len(one.times), len(other.times))
    if same >= max(LEAST_TIMES, LEAST_TIMES_RATIO * least):
        yield "same-times", f"{same} of {least} times stand in {{other}} too, to the nanosecond"


def _same_noise(rule: str, what: str, shared: Shared | None, others: int) -> Iterator[tuple[str, str]]:
    if shared is not None and (chance := shared.chance(others)) < LEAST_CHANCE:
        shown = f"{chance:.0e}" if chance > 0 else "below 1e-300"
        words = f"the noise of {what} goes with that of {{other}}: correlation {shared.correlation:.2f} of"
        yield rule, f"{words} {shared.values} values, probability {shown}"
