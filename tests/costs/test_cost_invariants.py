"""More work never costs less, and no answer is a figure for less work than was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.cost_invariants import Asked, Said, turned, violations
from probe_effect.costs.evidence import evidence_of, whose
from probe_effect.costs.machine import machine_costs
from probe_effect.costs.row import PLAIN_ACTION, RowKey
from probe_effect.costs.table import CostTable, ProbeGroup, event
from probe_effect.numbers.shown import facts_of_submission, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def tables(catalogue: Catalogue) -> list[CostTable]:
    """The table of every tracer on every machine, and on a machine of their kind that nobody measured."""
    found = evidence_of(catalogue)
    nobody = replace(facts_of_submission(in_order(catalogue.numbers)[0]), machine="", name="")
    scopes = [whose(found, nobody, machine) for machine in (None, *found.machines)]
    return [CostTable(found, scope, tracer) for scope in scopes for tracer in (*found.tracers, "py-spy")]


def asking(table: CostTable) -> Callable[[Asked], Said | None]:
    """The engine as a function of what is asked."""

    def ask(asked: Asked) -> Said | None:
        threads = asked.threads
        values = {key: value for key, value in asked._asdict().items() if key != "threads"}
        row = event(table, ProbeGroup(attach="probe", **values), threads=threads)
        return Said(row.cost, row.basis) if row else None

    return ask


def test_more_work_never_costs_less_in_any_scope_with_any_tracer(tables: list[CostTable]) -> None:
    swept = [(table, *violations(asking(table))) for table in tables]
    wrong = [(table.scope, table.tracer, one) for table, _, found in swept for one in found]
    assert not wrong, f"{len(wrong)} of {sum(count for _, count, _ in swept)}: {wrong[:5]}"
    assert sum(count for _, count, _ in swept) > 10_000


def test_the_order_of_actions_changes_nothing(tables: list[CostTable]) -> None:
    assert [one for table in tables[:20] for one in turned(asking(table))] == []


def keys(table: CostTable) -> Iterator[RowKey]:
    """Every key of a table that has a row."""
    kinds = dict.fromkeys(case.probe for _, case in table.found.cases)
    return (RowKey(kind, None, action) for kind in kinds for action in table.actions)


def test_what_others_printed_answers_for_its_own_action_alone(tables: list[CostTable]) -> None:
    printed = [(key, row) for table in tables for key in keys(table) if (row := table.row(key)) and row.printed]
    assert printed
    for key, row in printed:
        assert row.printed is not None
        own = tables[0].found.case_of[row.name].action
        assert key.action == own or (own == PLAIN_ACTION and "adds was measured on other machines" in (row.note or ""))


def test_an_estimate_is_of_an_action_that_was_timed_or_counted_with_the_tracer(tables: list[CostTable]) -> None:
    for table in tables:
        machines = {one for level in (*table.scope.levels, table.scope.lending) for one in level}
        known = {action for one in machines for action in machine_costs(table.found, one, table.tracer).actions}
        for key in keys(table):
            row = table.row(key)
            assert row is None or row.basis != "estimated" or key.action in known
