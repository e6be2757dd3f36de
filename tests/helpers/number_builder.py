"""Submissions and numbers without any file: made from rows, or put together as a test wants them."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.builders import FOLDER, MACHINE, machine_document
from probe_effect.model import Estimate, Key
from probe_effect.numbers.reduce import reduce
from probe_effect.numbers.submission import InstructionsResult, Number, Submission, TimeResult
from probe_effect.store.machine_file import canonical_architecture
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
    made = machine_document(machine__id=machine, run__started=started, **(document or {}))
    files = SubmissionFolder(Path(machine) / f"{started[:10]}-{suite}")
    cases: dict[str, list[Number]] = {}
    return Submission(
        machine=machine,
        suite=suite,
        started=started,
        architecture=canonical_architecture(made.machine.architecture),
        microarchitecture=made.machine.microarchitecture,
        sound={},
        make_cases=lambda _: cases,
        read_document=lambda _: made,
        read_blocks=dict,
        **{"files": files, "metric": "time", "rows": 0, "grade": "B", **values},
    )


def number(
    own: Submission,
    cost: Estimate | None,
    case: str = "02-kprobe",
    tracer: str = "bpftrace",
    level: str | None = None,
    **values: Any,  # noqa: ANN401
) -> Number:
    """One more number of `own`; of a time, with a noise floor of 0. `values` are its own and those of its result."""
    assert isinstance(own.cases, dict)
    assert isinstance(own.sound, dict)
    usual: dict[str, Any] = {"status": "failed", "blocks": 0} if cost is None else {"blocks": 10}
    usual |= {"noise_floor_ns": 0.0} if own.metric == "time" else {"baseline": UNTRACED}
    result = TimeResult() if own.metric == "time" else InstructionsResult()
    empty = Number(submission=own, key=Key(case, tracer, level), blocks=0, result=result)
    made = altered(empty, cost=cost, **usual | values)
    own.cases.setdefault(case, []).append(made)
    if made.is_sound and level is None:
        own.sound.setdefault(case, []).append(tracer)
    return made


def altered(one: Number, **values: Any) -> Number:  # noqa: ANN401
    """A number with other values, of its own or of its result."""
    assert one.result is not None
    of_result = {field.name: values.pop(field.name) for field in fields(one.result) if field.name in values}
    return replace(one, result=replace(one.result, **of_result), **values)
