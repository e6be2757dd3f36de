"""Small evidence for guidance: suites, and costs measured on machines, without any file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from helpers.builders import COST_NS, RowChanges, many_blocks
from helpers.number_builder import number, submission
from probe_effect.answer import answers as asked_parts
from probe_effect.costs.evidence import Evidence, whose
from probe_effect.costs.table import CostTable, ProbeGroup, event, of_machine
from probe_effect.store.suite_file import Suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.question import Question
    from probe_effect.costs.row import CostRow
    from probe_effect.costs.table import HereCosts
    from probe_effect.model import Estimate, Sample
    from probe_effect.numbers.shown import Facts
    from probe_effect.numbers.submission import Number

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
    cost: Estimate,
    machine: str = MACHINE,
    tracer: str = TRACER,
    document: dict[str, Any] | None = None,
    **values: Any,  # noqa: ANN401
) -> Number:
    """A cost of a case; `document` changes its machine by dotted path, `values` what else is known of it."""
    own = submission(machine, document=document, grade_reasons=("fewer than 20 blocks",), noise_floor_ns=1.0)
    return number(own, cost, name, tracer, **{"rate_hz": 1e6, "loss_ratio": 0.0, **values})


def evidence(suites: tuple[Suite, ...], *costs: Number) -> Evidence:
    """What guidance may use of these costs."""
    found = Evidence(suites)
    for one in costs:
        found.add(one)
    return found


def cost_of(
    found: Evidence,
    machine: str,
    tracer: str,
    *,
    kind: str,
    mechanism: str | None = None,
    actions: Sequence[str] = (),
    **values: Any,  # noqa: ANN401
) -> CostRow | None:
    """What one event costs by the table of one machine."""
    group = ProbeGroup(attach=kind, kind=kind, mechanism=mechanism, actions=tuple(actions), **values)
    return event(of_machine(found, machine, tracer), group)


def parts(found: Evidence, question: Question, machine: str, tracer: str) -> list[CostRow]:
    """The probes of a question by the table of one machine."""
    return asked_parts.rows_of(of_machine(found, machine, tracer), question)


def part_of(found: Evidence, machine: str, tracer: str, group: ProbeGroup) -> CostRow | None:
    """A group of probes by the table of one machine."""
    return event(of_machine(found, machine, tracer), group)


def asked_here(
    found: Evidence,
    here: Facts,
    tracer: str,
    group: ProbeGroup,
    *,
    own: HereCosts | None = None,
    named: str | None = None,
) -> CostRow | None:
    """A group of probes by the costs of whoever answers for a machine."""
    return event(CostTable(found, whose(found, here, named), tracer), group, own)
