"""What a copy of a submission would keep of it: the same rows, the same noise, or the same marks in its files.

Laying a submission beside a thousand others then opens an entry of each, and no rows.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probe_effect.checks.folders import MAX_BLOCKS
from probe_effect.checks.rule import Fault, Rule, rule
from probe_effect.model import Sample
from probe_effect.reduce.reading import code, content_digest
from probe_effect.stats.trends import NoiseTable, noise_table
from probe_effect.store.kept import Kept, code_version
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.samples import read_samples
from probe_effect.store.tables import MAX_FILE_BYTES, printable, regular_size


@dataclass(frozen=True, slots=True)
class Suspected:
    """A submission, and what was found of it."""

    found: Sequence[tuple[str, str]]
    """(rule, what it has in common with another submission)."""
    signs: Sequence[str]
    """Rules of all signs, its own files' too."""
    is_accepted: bool
    """Whether the change log says that it was measured all the same."""

    def faults(self, name: str) -> Iterator[Fault]:
        """One fault for each sign that the rule `name` found."""
        yield from (Fault("samples.csv", None, words) for found, words in self.found if found == name)


SIGNS: tuple[Rule[Any], ...] = tuple(
    rule(name)(partial(Suspected.faults, name=name))
    for name in ("same-order", "same-start", "same-operations", "same-times", "same-noise", "same-tool-noise")
)


@rule("two-signs")
def _two_signs(suspected: Suspected) -> Iterator[Fault]:
    named = list(dict.fromkeys(suspected.signs))
    if len(named) > 1 and not suspected.is_accepted:
        found = f"{len(named)} signs that this was not measured as it says: {', '.join(named)}"
        yield Fault("samples.csv", None, found)


COPIED_RULES = (*SIGNS, _two_signs)


RowIndex = Mapping[int, tuple[Path, ...]]
"""Hash of a row to the folders of the submissions that have it."""

FEWEST_ROWS = 3
"""Fewer rows may agree by chance."""

MOST_ROWS = 2000
"""So many of each are looked at."""

MOST_SHARED_RATIO = 0.5

MOST_COPIES = 20
"""So many submissions are named of those that have a row: each of a thousand copies would else name all others."""


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """The submissions that have many rows of another, by folder."""

    rows: int
    """The number of rows that were looked at."""
    shared: Mapping[Path, int]
    """Folder to how many of these are there too."""


def row_index(submissions: Iterable[SubmissionFolder]) -> RowIndex:
    """Every row of a run that ended well, by its hash, to the folders of the submissions that have it."""
    index: dict[int, tuple[Path, ...]] = {}
    for folder, samples in {one.folder.resolve(): one.samples for one in submissions}.items():
        alone = (folder,)  # one for all its rows: nearly every row is in one submission only
        for row in set(_rows(samples)):
            known = index.get(row, ())
            if len(known) < MOST_COPIES:
                index[row] = (*known, folder) if known else alone
    return index


def copied_rows(submission: SubmissionFolder, index: RowIndex) -> CopiedRows:
    """The submissions that share more rows with this one than two measurements do."""
    own, here = set(_rows(submission.samples)), submission.folder.resolve()
    shared = Counter(folder for row in own for folder in index.get(row, ()) if folder != here)
    least = max(FEWEST_ROWS, MOST_SHARED_RATIO * len(own))
    return CopiedRows(len(own), {folder: number for folder, number in sorted(shared.items()) if number >= least})


def _rows(path: Path) -> Iterator[int]:
    """Hashes of the lines; nothing of a file that cannot be read, which is told elsewhere."""
    try:
        lines = path.read_bytes().splitlines() if regular_size(path) <= MAX_FILE_BYTES else []
    except OSError:
        return
    yield from islice((hash(line) for line in lines if b",ok," in line), MOST_ROWS)


@rule("duplicates")
def _duplicates(checked: CopiedRows) -> Iterator[Fault]:
    for folder, number in checked.shared.items():
        other = printable(f"{folder.parent.name}/{folder.name}")
        yield Fault("samples.csv", None, f"{number} of {checked.rows} rows are in {other} too")


DUPLICATE_RULES = (_duplicates,)


OF_RUNS = ("wall_ns",)
OF_TOOLS = ("attach_ns", "detach_ns", "tracer_cpu_ns", "tracer_rss_bytes")
SINGLE = ("wall_ns", "attach_ns", "detach_ns")


@dataclass(frozen=True, slots=True)
class Traces:
    """What a copy would keep; of a submission that counts instructions, only its order."""

    document: MachineFile
    runs: int
    order: str
    """A digest of what ran, in order."""
    operations: Mapping[str, int]
    """How many a run of each case has."""
    times: NDArray[np.int64]
    """Each time of a clock once: its ns, times the number of columns, plus its column."""
    of_runs: NoiseTable
    """The noise of the workload's times."""
    of_tools: NoiseTable
    """The noise of what the tracers took."""


def read_traces(
    files: SubmissionFolder, document: MachineFile, digest: str, kept: Kept, rows: Sequence[Sample] | None = None
) -> Traces:
    """The traces of a submission, kept unless its files have changed since they had that digest (`content_digest`).

    `rows`: where they were read already; otherwise they are read only if its traces are not kept.
    """
    made_from = ("traces", code(), code_version("checks"), digest)
    if text := kept.get(*made_from):
        return _unpacked(document, text)
    made = traces_of(document, read_samples(files.samples, files.id)[0] if rows is None else rows)
    if content_digest(files) == digest:
        tables = [[table.rows, table.values.tolist()] for table in (made.of_runs, made.of_tools)]
        kept.put(json.dumps([made.runs, made.order, made.operations, made.times.tolist(), tables]).encode(), *made_from)
    return made


def traces_of(document: MachineFile, rows: Sequence[Sample]) -> Traces:
    """The traces in the rows of a submission."""
    order = hashlib.sha256("\n".join(f"{row.case} {row.tracer} {row.level}" for row in rows).encode()).hexdigest()
    timed = rows if document.run.metric == "time" else ()
    counted = [row for row in timed if row.status == "ok" and row.arm != "check"]
    times = {
        time * len(SINGLE) + column
        for row in timed
        for column, name in enumerate(SINGLE)
        if (time := getattr(row, name))
    }
    return Traces(
        document,
        len(rows),
        order,
        {f"{row.case} {row.tracer} {row.level}": row.operations or row.events or 0 for row in counted},
        np.array(sorted(times), dtype=np.int64),
        _noise(counted, OF_RUNS, document.run.blocks),
        _noise(counted, OF_TOOLS, document.run.blocks),
    )


def _noise(rows: Sequence[Sample], columns: Sequence[str], blocks: int) -> NoiseTable:
    """The noise of some columns; nothing of a run that is refused because it has too many blocks."""
    values: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for row in rows if blocks <= MAX_BLOCKS else ():
        if row.block >= blocks:
            continue
        for name in columns:
            if value := getattr(row, name):
                own = f"{row.case} {row.tracer} {row.level} {name}"
                is_second = row.block in values[own]  # a block has two baselines
                values[f"{own} again" if is_second else own][row.block] = value
    return noise_table(values, blocks)


def _unpacked(document: MachineFile, text: bytes) -> Traces:
    runs, order, operations, times, tables = json.loads(text)
    of_runs, of_tools = (
        NoiseTable(tuple(rows), np.array(values, dtype=float).reshape(len(rows), -1) if rows else np.zeros((0, 0)))
        for rows, values in tables
    )
    return Traces(document, runs, order, operations, np.array(times, dtype=np.int64), of_runs, of_tools)
