"""Submissions and numbers without any file: made from rows, or put together as a test wants them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders import FOLDER, MACHINE, machine_document
from probe_effect.model import Estimate
from probe_effect.reduce.reduce import reduce
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.places import SubmissionFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.model import Sample
    from probe_effect.store.machine_file import MachineFile

STARTED = "2026-11-20T10:00:00Z"
UNTRACED = Estimate(1500.0, 1500.0, 1500.0)
"""The untraced operation of every count, in instructions."""


def reduced(samples: Sequence[Sample], document: MachineFile | None = None, folder: str = FOLDER) -> Submission:
    """What these rows say."""
    made = document or machine_document()
    return reduce(SubmissionFolder(Path(made.machine.id) / folder), made, samples)


def submission(
    machine: str = MACHINE,
    started: str = STARTED,
    suite: str = "tiny",
    document: Mapping[str, object] | None = None,
    **values: Any,  # noqa: ANN401
) -> Submission:
    """A submission without numbers, of times unless `values` say otherwise; `document` changes its machine."""
    made = Submission(
        files=SubmissionFolder(Path(machine) / f"{started[:10]}-{suite}"),
        machine=machine,
        suite=suite,
        started=started,
        **{"metric": "time", "rows": 0, "grade": "B", **values},
    )
    made.document = machine_document(machine__id=machine, run__started=started, **(document or {}))
    return made


def number(
    own: Submission,
    cost: Estimate | None,
    case: str = "02-kprobe",
    tracer: str = "bpftrace",
    **values: Any,  # noqa: ANN401
) -> Number:
    """One more number of `own`; of a time, with a noise floor of 0."""
    known = cost is not None
    usual: dict[str, Any] = {"level": None, "status": "ok" if known else "failed", "blocks": 10 if known else 0}
    usual |= {"noise_floor_ns": 0.0} if own.metric == "time" else {"baseline": UNTRACED}
    made = Number(submission=own, case=case, tracer=tracer, cost=cost, **usual | values)
    own.numbers = (*own.numbers, made)
    return made
