"""Small evidence for guidance: suites, and costs measured on machines, without any file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from builders import COST_NS, RowChanges, machine_document, many_blocks
from probe_effect.guidance.catalogue import MeasuredSubmission
from probe_effect.guidance.evidence import Evidence, Measured
from probe_effect.model import CaseSummary, Interval, SubmissionSummary
from probe_effect.store.places import Submission
from probe_effect.store.suite_file import Suite

if TYPE_CHECKING:
    from probe_effect.model import Sample

MACHINE = "test-machine"
TRACER = "bpftrace"


def case(name: str, probe: str = "uprobe", action: str = "nothing", **keys: Any) -> dict[str, Any]:  # noqa: ANN401
    """A case as `suite.toml` has it."""
    return {"id": name, "title": name, "probe": probe, "action": action, "what": "-", "counted_by": "maps", **keys}


def suite(name: str, *cases: dict[str, Any], **keys: Any) -> Suite:  # noqa: ANN401
    """A suite of these cases."""
    values = {"schema_version": 1, "id": name, "version": 1, "title": name, "question": "-", "description": "-"}
    workload = {"program": "loop.c", "operation": "-"}
    return Suite.model_validate_json(json.dumps(values | {"workload": workload, "cases": cases} | keys))


def rows_of(name: str, cost_ns: float = COST_NS, **changes: Unpack[RowChanges]) -> list[Sample]:
    """The rows of eight blocks in which a case costs so much."""
    rows = many_blocks(cost_ns=cost_ns, **changes)
    return [replace(row, case=name) if row.arm == "traced" else row for row in rows]


def measured(
    name: str,
    cost: Interval,
    machine: str = MACHINE,
    tracer: str = TRACER,
    document: dict[str, Any] | None = None,
    **summary: Any,  # noqa: ANN401
) -> Measured:
    """A cost of a case; `document` changes its machine by dotted path, `summary` its other figures."""
    made = machine_document(**{"machine__id": machine, **(document or {})})
    figures = {"blocks": 10, "distinguishable": True, "rate_hz": 1e6, "loss_ratio": 0.0, "level": None} | summary
    found = CaseSummary(case=name, tracer=tracer, status="ok", cost=cost, **figures)
    whole = SubmissionSummary(
        id=f"{machine}/2026-11-20-tiny",
        machine=machine,
        suite="tiny",
        metric="time",
        grade="B",
        grade_reasons=("fewer than 20 blocks",),
        noise_floor_ns=1.0,
        baseline_ns=100.0,
        cases=(found,),
    )
    return Measured(MeasuredSubmission(Submission(Path(machine)), made, whole), found, cost)


def evidence(suites: tuple[Suite, ...], *costs: Measured) -> Evidence:
    """What guidance may use of these costs."""
    found = Evidence(suites)
    for one in costs:
        key = (one.submission.summary.machine, one.case.tracer, one.case.case)
        if one.case.level is None:
            found.costs[key] = one
        else:
            found.by_level.setdefault(key, {})[one.case.level] = one
    return found
