"""The cost table of a scope and a tracer: what one event costs, by kind of probe, mechanism and action.

A scope says whose costs they are (`scope.py`). Each basis yields rows of a key (`machine.py`, `depth.py`, and below),
and `best` (`row.py`) is all that chooses. METHOD.md, "Answers", has the order.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property

from probe_effect.costs.actions import SAME_ACTION
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.machine import MachineCosts, machine_costs
from probe_effect.costs.published import PublishedCost
from probe_effect.costs.row import (
    NOTES,
    PLAIN_ACTION,
    CostRow,
    RowKey,
    best,
    median_range,
    no_less,
    of_any,
    over_machines,
    upper_median,
)
from probe_effect.costs.scope import Scope
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.numbers.names import tool_of
from probe_effect.stats import estimates
from probe_effect.store.suite_file import Case


class CostTable:
    """What is known of a tracer in a scope. Rows are made when somebody asks for them, each once."""

    def __init__(self, found: Evidence, scope: Scope, tracer: str) -> None:
        self.found, self.scope, self.tracer = found, scope, tracer
        self._rows: dict[RowKey, CostRow | None] = {}
        self._adds: dict[str, Estimate | None] = {}

    def row(self, key: RowKey) -> CostRow | None:
        """What one event costs; None where no basis knows it.

        Without a mechanism it is that of any with which the kind was measured.
        """
        if key not in self._rows:
            if key.mechanism is None:
                rows = (self._made(key._replace(mechanism=how), is_any=True) for how in self.mechanisms(key.kind))
                self._rows[key] = of_any([row for row in rows if row is not None])
            else:
                self._rows[key] = self._made(key)
        return self._rows[key]

    def adds(self, action: str) -> Estimate | None:
        """What a further action adds to a probe, ns an event; None where no machine tells it."""
        if action not in self._adds:
            every = (self._added(machines, action) for machines in self.scope.adding)
            self._adds[action] = next((one for one in every if one is not None), None)
        return self._adds[action]

    @cached_property
    def highest(self) -> tuple[str, Estimate] | None:
        """The action that adds most to a probe, which stands for a part of a script that nobody knows."""
        known = [(action, added) for action in self.actions if (added := self.adds(action)) is not None]
        return max(known, key=lambda one: one[1].value, default=None)

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """Every action of which something tells."""
        known = (self._on(one) for machines in (*self.scope.levels, self.scope.lending) for one in machines)
        printed = (case.action for _, case in self._printed)
        return tuple(dict.fromkeys([PLAIN_ACTION, *(action for one in known for action in one.actions), *printed]))

    def mechanisms(self, kind: str) -> list[str | None]:
        """Every mechanism that a kind was measured with on a machine of the scope."""
        own, alike, others = (
            {how for one in some for how in self._on(one).mechanisms(kind)} for some in self.scope.levels
        )
        return sorted((own | alike) or others or {None}, key=str)

    def knows(self, kind: str) -> bool:
        """Whether anything is known of a kind of probe."""
        machines = (one for level in self.scope.levels for one in level)
        return any(self._on(one).mechanisms(kind) for one in machines) or any(
            case.probe == kind for _, case in self._printed
        )

    def case(self, case: str, threads: int = 1) -> CostRow | None:
        """What one event of a case costs; None where no machine of the scope measured or estimates it."""

        def over(machines: Sequence[str]) -> list[CostRow]:
            return self._over(machines, lambda one: [one.case(case, threads)])

        own, alike, others = self.scope.levels
        printed = (published(self.found, one, case) for one, its in self._printed if its.id == case)
        known = best([over(own), over(alike)]) or best([_far(over(others))])
        return known or (next(printed, None) if self.scope.printed else None)

    @cache  # noqa: B019 (a table lives as long as the evidence that it is of)
    def _made(self, key: RowKey, *, is_any: bool = False) -> CostRow | None:
        """The row of a mechanism, which is never below that of less work: what others printed is left out there.

        `is_any`: whether it is one of several, each taken of those machines alone that measured the kind in that way.
        """
        plain = self._plain(key, is_any=is_any)
        levels: list[list[CostRow]] = []
        for machines in self.scope.levels:
            if not any(levels) or machines is self.scope.alike:
                rows = self._over(machines, lambda one: [one.row(key, is_any=is_any)])
                rows = rows or self._lent(key, machines, is_any=is_any)
                levels.append(_far(rows) if machines is self.scope.others else rows)
        row = best(levels) or next(iter(self._published(key)), None)
        if row is None or (row.basis == "published" and plain is not None and row.cost.value < plain.cost.value):
            return None
        return no_less(row, plain)

    def _plain(self, key: RowKey, *, is_any: bool) -> CostRow | None:
        return None if key.action == PLAIN_ACTION else self._made(key._replace(action=PLAIN_ACTION), is_any=is_any)

    def _lent(self, key: RowKey, machines: Sequence[str], *, is_any: bool) -> list[CostRow]:
        """A plain probe with what its action adds on other machines, where these machines know the probe alone."""
        added = None if key.action == PLAIN_ACTION else self.adds(key.action)
        if added is None:
            return []
        plain = self._over(machines, lambda one: [one.row(key._replace(action=PLAIN_ACTION), is_any=is_any)])
        return [
            replace(
                row,
                name=key.name,
                title=None,
                basis="composed" if row.is_measured else row.basis,
                cost=estimates.total([row.cost, added]),
            ).noted(NOTES["lent"].format(action=key.action))
            for row in plain
        ]

    def _published(self, key: RowKey) -> list[CostRow]:
        """What others printed of a probe with the very action, the greatest first."""
        some = [
            published(self.found, one, case.id)
            for one, case in self._printed
            if (case.probe, SAME_ACTION.get(case.action, case.action)) == (key.kind, key.action)
        ]
        return sorted(some, key=lambda row: -row.cost.value)

    def _over(self, machines: Sequence[str], of: Callable[[MachineCosts], Sequence[CostRow | None]]) -> list[CostRow]:
        """One row for all of some machines that know it; none where none does."""
        row = over_machines((one, row) for one in machines for row in of(self._on(one)) if row is not None)
        return [row] if row else []

    def _added(self, machines: Sequence[str], action: str) -> Estimate | None:
        known = [more.cost for one in machines if (more := self._on(one).differences.added(action)) is not None]
        if not known:
            return None
        ordered = sorted(known, key=lambda cost: cost.value)
        # Nothing that a probe does besides makes it cost less, though noisy costs may differ so.
        return median_range(known, upper_median(ordered)).mapped(lambda ns: max(0.0, ns))

    def _on(self, machine: str) -> MachineCosts:
        return machine_costs(self.found, machine, self.tracer)

    @cached_property
    def _printed(self) -> list[tuple[PublishedCost, Case]]:
        """What others printed of the tool, with its cases."""
        return [
            (printed, case)
            for (machine, tracer, case_id), printed in sorted(self.found.printed.items())
            if tool_of(tracer) == tool_of(self.tracer)
            and self.scope.printed in (None, machine)
            and (case := self.found.case_of.get(case_id)) is not None
        ]


def published(found: Evidence, printed: PublishedCost, case: str) -> CostRow:
    """A printed cost as a row."""
    title = found.titles.get(case)
    return CostRow(name=case, title=title, basis="published", printed=printed, cost=printed.cost, is_clear=True)


def _far(rows: Sequence[CostRow]) -> list[CostRow]:
    """Ranges over machines of another kind, marked as such."""
    return [row.noted(NOTES["another-kind"].format(machines=f"{len(row.machines)} of them")) for row in rows]


@once
def cost_table(found: Evidence, scope: Scope, tracer: str) -> CostTable:
    """The table of a tracer in a scope, made once of the same evidence."""
    return CostTable(found, scope, tracer)


def of_machine(found: Evidence, machine: str, tracer: str) -> CostTable:
    """The table of one machine alone."""
    return cost_table(found, Scope((machine,)), tracer)
