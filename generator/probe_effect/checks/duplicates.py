"""The same rows are submitted once: times to the nanosecond do not come twice."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.tables import MAX_FILE_BYTES, printable, regular_size

RowIndex = Mapping[int, tuple[Path, ...]]
"""Hash of a row to the folders of the submissions that have it."""

FEWEST_ROWS = 3
"""Fewer rows may agree by chance."""

MOST_ROWS = 2000
"""So many of each are looked at."""

MOST_SHARED_RATIO = 0.5


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """A submission beside the rows of every known one."""

    submission: SubmissionFolder
    copies: RowIndex


def row_index(submissions: Iterable[SubmissionFolder]) -> RowIndex:
    """Every row of a run that ended well, by its hash, to the folders of the submissions that have it."""
    index: dict[int, tuple[Path, ...]] = {}
    for folder, samples in {one.folder.resolve(): one.samples for one in submissions}.items():
        alone = (folder,)  # one for all its rows: nearly every row is in one submission only
        for row in set(_rows(samples)):
            index[row] = (*index[row], folder) if row in index else alone
    return index


def _rows(path: Path) -> Iterator[int]:
    """Hashes of the lines; nothing of a file that cannot be read, which is told elsewhere."""
    try:
        lines = path.read_bytes().splitlines() if regular_size(path) <= MAX_FILE_BYTES else []
    except OSError:
        return
    yield from islice((hash(line) for line in lines if b",ok," in line), MOST_ROWS)


@rule("duplicates")
def _duplicates(checked: CopiedRows) -> Iterator[Fault]:
    own = set(_rows(checked.submission.samples))
    here = checked.submission.folder
    shared = Counter(folder for row in own for folder in checked.copies.get(row, ()) if folder != here)
    for folder, number in sorted(shared.items()):
        if number >= max(FEWEST_ROWS, MOST_SHARED_RATIO * len(own)):
            other = printable(f"{folder.parent.name}/{folder.name}")
            found = f"{number} of {len(own)} rows are in {other} too"
            yield Fault("samples.csv", None, found, "submit each run once; a second run has times of its own")


RULES = (_duplicates,)
