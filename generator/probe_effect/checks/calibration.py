"""What `calibration.csv` must hold: scripts that the submission ran, each probe once."""

from __future__ import annotations

from collections.abc import Iterator

from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.store.tables import printable

FILE = "calibration.csv"


@rule(
    "calibration-scripts",
    "A calibration is of a case, tracer and level that the submission has rows of, and has each probe once.",
    good="case `01-program-reads` with bpftrace, which samples.csv has",
    bad="case `99-other`, which samples.csv has not",
)
def _scripts(checked: CheckedSubmission) -> Iterator[Fault]:
    known = {(row.case, row.tracer, level) for row in checked.samples for level in (row.level, None)}
    seen: set[tuple[object, ...]] = set()
    for line, row in enumerate(checked.calibration, start=2):  # exact because a sound file has one line a row
        named = printable(f"{row.case} with {row.tracer}" + (f" at {row.level}" if row.level else ""))
        if row.key not in known:
            yield Fault(FILE, line, f"{named} is not in samples.csv", "leave the file as the tool wrote it")
        if (probe := row[:5]) in seen:
            yield Fault(FILE, line, f"{named} has this probe twice", "keep its first row")
        seen.add(probe)


RULES = (_scripts,)
