"""What two submissions have in common that two measurements have not, in words, with its figure.

A copy that was changed keeps something of what it was made from: the seed, when it began, how many operations the
trials found, single times, or the noise. Noise says nothing of a machine's speed and never comes twice. These traces of
a submission are kept, so that comparing one with a thousand others reads no rows. How often each sign finds a forgery,
and suspects an honest submission, is in `/method/checks/`.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe_effect.checks.folders import MAX_BLOCKS
from probe_effect.checks.rule import Fault, Rule, rule
from probe_effect.model import Sample
from probe_effect.numbers.catalogue import code, content_digest
from probe_effect.numbers.trends import NoiseTable, Shared, noise_table, shared_noise
from probe_effect.store.kept import Kept, code_version
from probe_effect.store.machine_file import MachineFile, read_machine_file
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.result_tables import read_samples
from probe_effect.store.suite_file import Suite
from probe_effect.store.tables import MAX_FILE_BYTES, printable, regular_size


@dataclass(frozen=True, slots=True)
class Suspected:
    """What a submission has in common with others, as (rule, words), and all signs, those of its own files too.

    `is_accepted`: whether the change log says that it was measured all the same.
    """

    common: Sequence[tuple[str, str]]
    signs: Sequence[str]
    is_accepted: bool

    def faults(self, name: str) -> Iterator[Fault]:
        """A fault for each thing in common that the rule `name` is about."""
        yield from (Fault("samples.csv", None, words) for rule, words in self.common if rule == name)


SIGNS: tuple[Rule[Any], ...] = tuple(
    rule(name)(partial(Suspected.faults, name=name))
    for name in ("same-order", "same-start", "same-operations", "same-times", "same-noise", "same-tool-noise")
)


@rule("two-signs")
def _two_signs(suspected: Suspected) -> Iterator[Fault]:
    named = list(dict.fromkeys(suspected.signs))
    if len(named) > 1 and not suspected.is_accepted:
        message = f"{len(named)} signs that this was not measured as it says: {', '.join(named)}"
        yield Fault("samples.csv", None, message)


COPIED_RULES = (*SIGNS, _two_signs)

FEWEST_ROWS, MOST_SHARED_RATIO = 3, 0.5  # fewer rows may agree by chance
MOST_ROWS = 2000  # of each submission that are looked at

MOST_COPIES = 20
"""So many submissions are named of those that have a row: each of a thousand copies would else name all others."""


def copied_rows(checked: Iterable[SubmissionFolder], every: Iterable[SubmissionFolder]) -> Mapping[Path, list[str]]:
    """The folder of each submission that is `checked`, to words of each that shares more rows than two measurements."""
    # Hash of each row of a run that ended well, to the folders of the submissions that have it.
    index: dict[int, tuple[Path, ...]] = {}
    for folder, samples in {submission.folder.resolve(): submission.samples for submission in every}.items():
        alone = (folder,)  # one for all its rows: nearly every row is in one submission only
        for row in set(_rows(samples)):
            folders = index.get(row, ())
            if len(folders) < MOST_COPIES:
                index[row] = (*folders, folder) if folders else alone
    by_folder = {}
    for here, samples in {submission.folder.resolve(): submission.samples for submission in checked}.items():
        own = set(_rows(samples))
        shared = Counter(folder for row in own for folder in index.get(row, ()) if folder != here)
        least = max(FEWEST_ROWS, MOST_SHARED_RATIO * len(own))
        by_folder[here] = [
            f"{number} of {len(own)} rows are in {printable(f'{folder.parent.name}/{folder.name}')} too"
            for folder, number in sorted(shared.items())
            if number >= least
        ]
    return by_folder


def _rows(path: Path) -> Iterator[int]:
    """Hashes of the lines; nothing of a file that cannot be read, which is told elsewhere."""
    try:
        lines = path.read_bytes().splitlines() if regular_size(path) <= MAX_FILE_BYTES else []
    except OSError:
        return
    yield from islice((hash(line) for line in lines if b",ok," in line), MOST_ROWS)


@rule("duplicates")
def _duplicates(shared: Sequence[str]) -> Iterator[Fault]:
    yield from (Fault("samples.csv", None, words) for words in shared)


DUPLICATE_RULES = (_duplicates,)

OF_RUNS = ("wall_ns",)
OF_TOOLS = ("attach_ns", "detach_ns", "tracer_cpu_ns", "tracer_rss_bytes")
SINGLE = ("wall_ns", "attach_ns", "detach_ns")


@dataclass(frozen=True, slots=True)
class Traces:
    """What a copy would keep; of a submission that counts instructions, only its facts.

    `operations` has how many a run of each case has. `times` has each time of a clock once: its ns, times the number of
    columns, plus its column. `of_runs` is the noise of the workload's times, `of_tools` that of what the tracers took.
    """

    document: MachineFile
    operations: Mapping[str, int]
    times: NDArray[np.int64]
    of_runs: NoiseTable
    of_tools: NoiseTable


def read_traces(
    files: SubmissionFolder, document: MachineFile, digest: str, kept: Kept, rows: Sequence[Sample] | None = None
) -> Traces:
    """The traces of a submission, kept unless its files have changed since they had that digest (`content_digest`).

    `rows`: where they were read already; otherwise they are read only if its traces are not kept.
    """
    made_from = ("traces", code(), code_version("checks"), digest)
    if text := kept.get(*made_from):
        operations, times, tables = json.loads(text)
        noise = (
            NoiseTable(tuple(rows), np.array(values, dtype=float).reshape(len(rows), -1) if rows else np.zeros((0, 0)))
            for rows, values in tables
        )
        return Traces(document, operations, np.array(times, dtype=np.int64), *noise)
    made = traces_of(document, read_samples(files.samples, files.id)[0] if rows is None else rows)
    if content_digest(files) == digest:
        tables = [[table.rows, table.values.tolist()] for table in (made.of_runs, made.of_tools)]
        kept.put(json.dumps([made.operations, made.times.tolist(), tables]).encode(), *made_from)
    return made


def traces_of(document: MachineFile, rows: Sequence[Sample]) -> Traces:
    timed = rows if document.run.metric == "time" else ()
    counted = [row for row in timed if row.status == "ok" and row.arm != "check"]
    clocks = ((getattr(row, name), column) for row in timed for column, name in enumerate(SINGLE))
    times = np.array(sorted({time * len(SINGLE) + column for time, column in clocks if time}), dtype=np.int64)
    operations = {f"{row.case} {row.tracer} {row.level}": row.operations or row.events or 0 for row in counted}
    noise = (_noise(counted, columns, document.run.blocks) for columns in (OF_RUNS, OF_TOOLS))
    return Traces(document, operations, times, *noise)


def _noise(rows: Sequence[Sample], columns: Sequence[str], blocks: int) -> NoiseTable:
    values: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for row in rows:
        if row.block >= blocks:
            continue
        for name in columns:
            if value := getattr(row, name):
                own = f"{row.case} {row.tracer} {row.level} {name}"
                is_second = row.block in values[own]  # a block has two baselines
                values[f"{own} again" if is_second else own][row.block] = value
    return noise_table(values, blocks)


LEAST_CHANCE = 1e-3
"""Of noise that has so much in common by chance, over all submissions of the suite."""

LEAST_TIMES, LEAST_TIMES_RATIO = 3, 0.01
"""Single times that two may share: clocks that step by 100 ns give the same now and then."""

LEAST_SUBJECTS, MOST_SAME_RATIO = 8, 0.8
"""Cases of which machines with different CPUs were given the same number of operations; a third is the most seen."""

WIDTH_OF_RUNS, WIDTH_OF_TOOLS = 1.3, 2.2
"""By which the noise of unrelated submissions deviates more than that of independent values: the four values of a
tracer's run go with each other. `tests/evidence/forgery.py` prints what the committed submissions give."""


MOST_PARTNERS = 20
"""Earlier submissions of which a later one's signs are told: a thousand copies are a million pairs."""


def has_fixed_operations(suite: Suite | None) -> bool:
    """Whether the suite says how many operations a run has, and no trial finds it."""
    return suite is None or suite.workload.operations is not None or suite.workload.project is not None


class Sign(NamedTuple):
    """What two submissions of one suite have in common that two measurements have not.

    `later` and `earlier` are their places in time among all that are compared. In `words`, `{other}` and `{chance}`
    are in place of both; `chance` is that of so much in common between two unrelated submissions.
    """

    later: int
    earlier: int
    rule: str
    words: str
    chance: float

    @property
    def overall(self) -> float:
        """The chance that the later one has so much in common with any of those before it."""
        return min(1.0, self.chance * self.later)

    def beside(self, other: str) -> str:
        shown = f"{self.overall:.0e}" if self.chance > 0 else "below 1e-300"
        return self.words.replace("{chance}", shown).replace("{other}", printable(other))


class KnownMachine(NamedTuple):
    """A submission whose facts could be read, with the digest of its content."""

    files: SubmissionFolder
    document: MachineFile
    digest: str


def known_machines(submissions: Iterable[SubmissionFolder]) -> list[KnownMachine]:
    """The submissions whose facts and rows can be read, each once."""
    machines = []
    for files in dict.fromkeys(replace(submission, folder=submission.folder.resolve()) for submission in submissions):
        document, faults = read_machine_file(files.machine_file, files.id)
        digest = content_digest(files)
        if document is not None and not faults and digest:
            machines.append(KnownMachine(files, document, digest))
    return machines


def in_common(
    all_submissions: Iterable[KnownMachine],
    checked: Iterable[SubmissionFolder],
    suites: Mapping[str, Suite],
    kept: Kept,
) -> Mapping[Path, list[tuple[str, str]]]:
    """Folder to (rule, what it has in common with another) for each sign that the two are not two measurements.

    Two of which neither is `checked` are not compared: so the check of one grows with the others' number alone.
    """
    asked = {submission.folder.resolve() for submission in checked}
    by_suite: dict[str, list[KnownMachine]] = defaultdict(list)
    for submission in all_submissions:
        if submission.document.run.blocks <= MAX_BLOCKS:  # more are refused
            by_suite[submission.document.run.suite].append(submission)
    common: dict[Path, list[tuple[str, str]]] = defaultdict(list)
    for name, submissions in by_suite.items():
        in_time = sorted(submissions, key=lambda submission: (submission.document.run.started, submission.files.id))
        wanted = {index for index, submission in enumerate(in_time) if submission.files.folder in asked}
        if not wanted:
            continue
        traces = [read_traces(submission.files, submission.document, submission.digest, kept) for submission in in_time]
        for sign in sorted(sure(possible(traces, wanted, suites.get(name))), key=lambda sign: sign[:2]):
            both = in_time[sign.later].files, in_time[sign.earlier].files
            for own, beside in (both, both[::-1]):
                common[own.folder].append((sign.rule, sign.beside(beside.id)))
    return common


def sure(signs: Iterable[Sign]) -> Iterator[Sign]:
    """The signs that chance does not explain, over all submissions of the suite."""
    return (sign for sign in signs if sign.overall < LEAST_CHANCE)


def possible(in_time: Sequence[Traces], new: Collection[int], suite: Suite | None) -> Iterator[Sign]:
    """The signs of all pairs with one that is new, and what would be a sign if there were no others.

    The submissions are in the order in which they began; `new` are places of some of them.
    """
    times, is_fixed = _common_times(in_time), has_fixed_operations(suite)
    for later, traces in enumerate(in_time):
        places = range(later) if later in new else [index for index in sorted(new) if index < later]
        others = [in_time[index] for index in places]
        noise = zip(*shared_noises(traces, others), strict=True)
        partners = 0
        for earlier, other, (of_runs, of_tools) in zip(places, others, noise, strict=True):
            if partners == MOST_PARTNERS:
                break
            same = (
                *_same_values(traces, other, times[later, earlier], is_fixed=is_fixed),
                *_same_noise("same-noise", "times", of_runs),
                *_same_noise("same-tool-noise", "the tracers' times and memory", of_tools),
            )
            partners += bool(same)
            yield from (Sign(later, earlier, *sign) for sign in same)


def shared_noises(traces: Traces, others: Sequence[Traces]) -> tuple[list[Shared | None], list[Shared | None]]:
    """What the noise of a workload's times has in common with that of others, and that of all that the tracers took."""
    return (
        shared_noise(traces.of_runs, [other.of_runs for other in others], WIDTH_OF_RUNS),
        shared_noise(traces.of_tools, [other.of_tools for other in others], WIDTH_OF_TOOLS),
    )


def _common_times(in_time: Sequence[Traces]) -> Counter[tuple[int, int]]:
    """How many single times two have in common, by their places, that of the later one first: all sorted together."""
    times = np.concatenate([traces.times for traces in in_time])
    places = np.repeat(np.arange(len(in_time)), [len(traces.times) for traces in in_time])
    order = np.argsort(times, kind="stable")
    times, places = times[order], places[order]
    counts: Counter[tuple[int, int]] = Counter()
    step = 1  # of a time that is in three submissions, each pair; of one that is in many, those next to each other
    while step <= MOST_PARTNERS and (same := np.flatnonzero(times[step:] == times[:-step])).size:
        counts.update(zip(places[same + step].tolist(), places[same].tolist(), strict=True))
        step += 1
    return counts


def _same_values(traces: Traces, other: Traces, same_times: int, *, is_fixed: bool) -> Iterator[tuple[str, str, float]]:
    """(rule, words, chance) of all but the noise; `is_fixed`: no trial found the number of operations."""
    mine, theirs = traces.document.run, other.document.run
    if mine.seed == theirs.seed:
        yield "same-order", f"seed {mine.seed} is that of {{other}} too", 0.0
    if mine.started == theirs.started:
        yield "same-start", f"it began at {mine.started}, the same second as {{other}}", 0.0
    # Trials on machines with the same CPU may well find the same numbers of operations.
    if not is_fixed and traces.document.machine.cpu_model != other.document.machine.cpu_model:
        both = traces.operations.keys() & other.operations.keys()
        same = sum(traces.operations[key] == other.operations[key] for key in both)
        if len(both) >= LEAST_SUBJECTS and same >= MOST_SAME_RATIO * len(both):
            words = f"runs of {same} of {len(both)} cases have as many operations as those of {{other}}"
            yield "same-operations", words, 0.0
    least = min(len(traces.times), len(other.times))
    if same_times >= max(LEAST_TIMES, LEAST_TIMES_RATIO * least):
        yield "same-times", f"{same_times} of {least} times are in {{other}} too, to the nanosecond", 0.0


def _same_noise(rule: str, what: str, shared: Shared | None) -> Iterator[tuple[str, str, float]]:
    if shared is not None and shared.chance < LEAST_CHANCE:
        words = f"the noise of {what} goes with that of {{other}}: correlation {shared.correlation:.2f} of"
        yield rule, f"{words} {shared.values} values, probability {{chance}}", shared.chance
