"""From the runs that measured the tracer itself to a number: its CPU time, memory and system calls."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from probe_effect.model import Key, Sample
from probe_effect.reduce.blocks import BlockTable
from probe_effect.reduce.grades import OF_CASE, GradeFacts, grade, half_width, ratio
from probe_effect.reduce.rows import of_runs, over_runs, run_facts, tracer_cpu_ns
from probe_effect.reduce.submission import Number, Submission
from probe_effect.stats.outliers import outliers
from probe_effect.stats.signed_rank import MIN_BLOCKS, estimate


def tracer_number(submission: Submission, key: Key, rows: Sequence[Sample], table: BlockTable) -> Number:
    """What the tracer itself takes for an operation, of one case, tracer and level.

    It is made of its traced and check rows, and of the table of its blocks, of which one at least says what the tracer
    took.
    """
    own = table.own()
    own_ns = np.array(list(own.values()), dtype=np.float64)
    blocks = list(own)
    number = Number(
        submission=submission,
        **key._asdict(),
        status="ok",
        blocks=len(own),
        tracer_cpu=estimate(own_ns),
        memory=over_runs(row.tracer_rss_bytes or None for row in rows if tracer_cpu_ns(row) is not None),
        tracer_calls=_calls(rows),
        outlier_blocks=tuple(blocks[place] for place in outliers(own_ns)),
    )
    letter, reasons = grade(OF_CASE, _facts(number, rows))
    return replace(number, grade=letter, grade_reasons=reasons, note="; ".join(_notes(number, rows)) or None)


def _calls(rows: Sequence[Sample]) -> float | None:
    """System calls for an operation, in the runs that counted them; None without any."""
    counted = [(row.seen, row.operations) for row in rows if row.status == "ok" and row.seen and row.operations]
    return sum(seen for seen, _ in counted) / sum(operations for _, operations in counted) if counted else None


def _facts(number: Number, rows: Sequence[Sample]) -> GradeFacts:
    """What the rules look at; there is no baseline, so there is no noise floor and no loss."""
    return {
        **run_facts(rows, number.blocks, number.outlier_blocks),
        "uncounted": float(number.tracer_calls is None),
        "width_ratio": ratio(half_width(number.tracer_cpu), number.tracer_cpu.value if number.tracer_cpu else None),
    }


def _notes(number: Number, rows: Sequence[Sample]) -> Iterator[str]:
    """What a reader must know before using the number."""
    if number.blocks < MIN_BLOCKS:
        yield f"too few blocks: an interval needs {MIN_BLOCKS}"
    if number.tracer_calls is None:
        yield "its system calls were not counted"
    yield from of_runs(rows, number.blocks, number.outlier_blocks)
