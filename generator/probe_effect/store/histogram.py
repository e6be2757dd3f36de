"""`histogram.csv`: how long single operations took, where the workload times each; written beside `samples.csv`.

A row is a bucket of one run. A run has no row for times that no operation took, and its last row ends with the time
of the longest, so that the maximum is exact.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, Self

from probe_effect.model import Bucket, Problem, Sample
from probe_effect.store.samples import SampleWriter
from probe_effect.store.table_writer import TableWriter
from probe_effect.store.tables import TableReader, read_columns

HISTOGRAM = "histogram.csv"

PART_BITS = 4
"""A power of two has 2 to the power of this many buckets: a bucket is no wider than a 16th of its times."""

HISTOGRAM_COLUMNS = read_columns("histogram")


class HistogramRow(NamedTuple):
    """One row; the columns are described in `HISTOGRAM_COLUMNS`."""

    block: int
    position: int
    low_ns: int
    high_ns: int
    operations: int

    @property
    def place(self) -> tuple[int, int]:
        """Block and position of its run."""
        return self.block, self.position


def bucket_around(time_ns: int) -> tuple[int, int]:
    """Least and greatest time of the bucket that a time is counted in, ns."""
    width_ns: int = 1 << max(time_ns.bit_length() - 1 - PART_BITS, 0)
    low_ns = time_ns // width_ns * width_ns
    return low_ns, low_ns + width_ns - 1


def read_histogram(path: Path, file: str) -> tuple[list[HistogramRow], list[Problem]]:
    """The sound rows of a `histogram.csv`, and every problem found in it; nothing where there is none.

    `file` is the name that problems give, usually relative to the data folder.
    """
    if not os.path.lexists(path):
        return [], []
    reader = TableReader(file, "histogram", HISTOGRAM_COLUMNS)
    rows: Iterable[dict[str, Any]] = (dict(row.cells) for row in reader.read(path))
    return [HistogramRow(**row) for row in rows], reader.problems


def with_histograms(samples: Iterable[Sample], rows: Iterable[HistogramRow]) -> list[Sample]:
    """The runs, each with what `rows` say of it."""
    buckets: dict[tuple[int, int], list[Bucket]] = defaultdict(list)
    for row in rows:
        buckets[row.place].append(Bucket(row.low_ns, row.high_ns, row.operations))
    return [
        replace(sample, histogram=tuple(buckets[place]))
        if (place := (sample.block, sample.position)) in buckets
        else sample
        for sample in samples
    ]


class RunWriter(SampleWriter):
    """Appends runs to a `samples.csv`, and what they say of single operations to the `histogram.csv` beside it.

    The row of a run is written last: a run without one is made again, and what `histogram.csv` has of it already is
    cut off when both are opened.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._beside = path.with_name(HISTOGRAM)

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            if self._beside.exists():
                # Keep what is of runs that have their row; both headers begin alike.
                done = {_place(line) for line in self._path.read_bytes().splitlines()}
                with TableWriter(self._beside, HISTOGRAM_COLUMNS) as table:
                    lines = self._beside.read_bytes().splitlines(keepends=True)
                    table.cut(sum(map(len, takewhile(lambda line: _place(line) in done, lines))))
        except BaseException:
            self.__exit__()
            raise
        return self

    def write(self, sample: Sample) -> None:
        """Append one run. Raises: HostNotReady when the disk is full or gone."""
        if sample.histogram:
            with TableWriter(self._beside, HISTOGRAM_COLUMNS) as table:
                table.put((sample.block, sample.position, *bucket) for bucket in sample.histogram)
        super().write(sample)


def _place(line: bytes) -> tuple[bytes, ...]:
    return tuple(line.split(b",", 2)[:2])
