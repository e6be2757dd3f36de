"""What a copy of a submission would keep of it: read from its rows once, and kept as one small entry.

Laying a submission beside a thousand others then opens an entry of each, and no rows.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probe_effect.checks.layout import MAX_BLOCKS
from probe_effect.model import Sample
from probe_effect.reduce.reading import code, content_digest
from probe_effect.stats.shared_noise import NoiseTable, noise_table
from probe_effect.store.kept import Kept, code_version
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.samples import read_samples

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
    """That of some columns; nothing of a run that is refused because it has too many blocks."""
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
