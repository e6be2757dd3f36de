"""The rows that one machine has of the costs of a tracer: a function for each basis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from probe_effect.costs import row as cost_row
from probe_effect.costs.actions import MADE_OF, SAME_ACTION, STOPS, Differences, Fired, Sum, at_depth, stopped
from probe_effect.costs.evidence import Evidence, PublishedCost
from probe_effect.costs.from_counts import counted, counted_as, models
from probe_effect.costs.instructions import mechanism_of, on_nop
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.numbers.index import once
from probe_effect.numbers.names import X86_64, architecture, quoted
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import known_tool
from probe_effect.store.machine_file import KVM_GUEST
from probe_effect.store.suite_file import Case, Suite

AWAY_FROM_CALLS = ("tracepoint", "software", "profile", "hardware")
"""Kinds that are on no system call: like the tracepoints that are, without the longer way into the kernel."""

ON_CALLS = {"tracepoint-entry", "tracepoint-return", "raw-tracepoint", "system-call"}
"""Kinds that are on system calls, and make all of them slower."""

STANDS_FOR = {kind: (kind, "tracepoint", "tracepoint-entry") for kind in ("tracepoint", "software")} | {
    "usdt": ("usdt", "uprobe"),
    "hardware": ("hardware", "profile"),
}
"""A kind to those whose cases stand for it, the first that was measured; any other kind stands for itself.

No probe stands for a sample: most of what that costs is the interrupt that takes it.
"""


@dataclass(frozen=True, eq=False)
class MachineCosts:
    """What is known of a tracer on a machine."""

    found: Evidence
    machine: str
    tracer: str

    @cached_property
    def costs(self) -> Mapping[str, Number]:
        return self.found.by_tracer(self.machine).get(self.tracer, {})

    @cached_property
    def fired(self) -> tuple[Fired, ...]:
        """The cases with a cost that are one probe each and fire, in the order of their suites."""
        return tuple(
            Fired(suite.id, case, number, mechanism_of(case, number))
            for suite, case in single_cases(self.found)
            if (number := self.costs.get(case.id))
        )

    @cached_property
    def counted(self) -> tuple[Fired, ...]:
        """The cases with a count that can become a time on the machine; none where the tracer has no cost."""
        return tuple(
            Fired(suite.id, case, number, mechanism_of(case, number))
            for suite, case in (single_cases(self.found) if self.costs else ())
            if (number := counted(self.found, self.machine, self.tracer, case))
        )

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The actions of which something measured or counted tells, and those that are made of such."""
        return tuple(
            dict.fromkeys(
                (cost_row.PLAIN_ACTION, *(fired_case.action for fired_case in (*self.fired, *self.counted)), *MADE_OF)
            )
        )

    @cached_property
    def differences(self) -> Differences:
        """What actions cost more than others, by the times of which no events were lost."""
        return Differences([fired_case for fired_case in self.fired if fired_case.number.leads])

    @cache  # noqa: B019 (it lives as long as the evidence that it is of)
    def mechanisms(self, kind: str) -> set[str | None]:
        """The mechanisms that a kind was measured with, or else counted; None where that is not recorded."""
        for fired in (self.fired, self.counted):
            if own_mechanisms := {fired_case.mechanism for fired_case in _of_kind(fired, kind)}:
                return own_mechanisms
        return {None} if (self.tracer, kind) == (STOPS, cost_row.SAMPLED) else set()

    def is_timed(self, kind: str) -> bool:
        """Whether a probe of a kind, or one that stands for it, was timed."""
        return (self.tracer, kind) == (STOPS, cost_row.SAMPLED) or bool(_of_kind(self.fired, kind))

    @cache  # noqa: B019 (likewise)
    def row(self, key: cost_row.RowKey, *, is_any: bool = False) -> cost_row.CostRow | None:
        """The best row of a key; of `is_any` only where the kind was measured by that mechanism."""
        is_asked = not is_any or key.mechanism in self.mechanisms(key.kind)
        return cost_row.best([cost_row.typical(self.rows(key))]) if is_asked else None

    @cache  # noqa: B019 (likewise)
    def rows(self, key: cost_row.RowKey) -> list[cost_row.CostRow]:
        """Every row of a key: what was timed, else what is estimated. All of them are of the key's own mechanism."""
        if (self.tracer, key.kind) == (STOPS, cost_row.SAMPLED):
            row = stopped(self.found, self.machine, key.action, key.frames)
            return [row] if row else []
        return list(self._timed(key)) or list(self._estimated(key))

    def case(self, case: str, threads: int) -> cost_row.CostRow | None:
        """A case as it was measured, or else estimated from its instructions; None where neither is known."""
        number = self.costs.get(case)
        if number is not None:
            cost, path = cost_row.event_cost(self.found, (self.machine, self.tracer, case), number.bounded_cost)
            row = cost_row.CostRow(
                name=case,
                title=number.title,
                basis="measured",
                added=(number,),
                cost=cost,
                is_clear=number.is_clear,
                path=path,
                hardware=number_on_hardware(self.found, number),
            )
            return self._contended(row, threads)
        suite_case = self.found.case_of[case]
        # Nobody counted the whole work of some suites, nor their cases of several probes.
        if not self.found.counts_of(case) or suite_case.parts:
            return None
        action = SAME_ACTION.get(suite_case.action, suite_case.action)
        every = (
            row
            for how in self.mechanisms(suite_case.probe)
            for row in self.rows(cost_row.RowKey(suite_case.probe, how, action))
        )
        narrow = min((row for row in every if row.basis == "estimated"), key=lambda row: row.order, default=None)
        return narrow and replace(narrow, name=case, title=self.found.titles.get(case))

    def _timed(self, key: cost_row.RowKey) -> Iterator[cost_row.CostRow]:
        for base, whole, note in self._exchanged(key, _standing_for(self.fired, key)):
            row = self._row(key, base, whole, note)
            if (
                key.action == cost_row.PLAIN_ACTION != base.action and len(whole.added) == 1
            ):  # each holds more: take the least
                row = replace(row, order=(*row.order, whole.cost.value))
            if len(whole.added) == 1 and not whole.less:
                basis: cost_row.Basis = "composed" if note else "measured"
                clear = base.number.is_clear
                row = replace(row, name=base.case.id, title=base.number.title, is_clear=clear, basis=basis)
            yield at_depth(self.found, self.machine, self.tracer, self._contended(row, key.threads), key.frames)

    def _estimated(self, key: cost_row.RowKey) -> Iterator[cost_row.CostRow]:
        """Counted cases of the key, as its mechanism makes their probes, by the machine's times of instructions.

        A kprobe that was counted stands for one of any mechanism.
        """
        made = [
            replace(fired_case, mechanism=key.mechanism or fired_case.mechanism)
            if fired_case.mechanism is not None and "kprobe" in fired_case.case.needs
            else fired_case
            for fired_case in self.counted
        ]
        cost_keys = models(self.found).calibrated(self.machine, self.tracer)
        calibrated = tuple(self.found.costs[cost_key] for cost_key in cost_keys)
        for base, whole, note in self._exchanged(key, _standing_for(made, key)):
            row, width = self._row(key, base, whole, note), (whole.width_ns,)
            yield replace(row, basis="estimated", counted=base.number, calibrated=calibrated, order=width)

    def _row(self, key: cost_row.RowKey, base: Fired, whole: Sum, note: str | None) -> cost_row.CostRow:
        at = self.machine, self.tracer, base.case.id
        return cost_row.CostRow(
            name=key.name,
            basis="composed",
            added=whole.added,
            less=whole.less,
            cost=whole.cost,
            is_clear=estimates.is_above_0(whole.cost),
            path=None if key.kind in AWAY_FROM_CALLS else cost_row.event_cost(self.found, at, whole.cost)[1],
            hardware=on_hardware(self.found, key.kind, base.mechanism, next(iter(self.costs.values())).submission),
            note=note,
            mechanism=base.mechanism,
            order=tuple(map(float, whole.terms)),
        )

    def _exchanged(self, key: cost_row.RowKey, bases: Sequence[Fired]) -> list[tuple[Fired, Sum, str | None]]:
        """Each base with the key's action in place of its own, what that comes to, and what was assumed.

        A plain probe of which every base has an action that nobody measured apart is the base with its action.
        """
        is_away = key.kind in AWAY_FROM_CALLS
        alone = [(base, *pair) for base in bases if (pair := self._alone(base, key.mechanism, is_away=is_away))]
        is_whole = any(base.action == key.action for base in bases)
        parts = (key.action,) if is_whole else MADE_OF.get(key.action, (key.action,))
        made = [
            (base, whole.plus(more), note)
            for base, whole, note in alone
            if (more := self.differences.instead(parts, base.action)) is not None
        ]
        if made or key.action != cost_row.PLAIN_ACTION:
            return made
        own = [
            cost_row.NOTES["own-action"].format(case=quoted(base.number.title), action=base.action)
            for base, _, _ in alone
        ]
        return [
            (base, whole, more if note is None else f"{note} {more}")
            for (base, whole, note), more in zip(alone, own, strict=True)
        ]

    @cache  # noqa: B019 (likewise)
    def _alone(self, base: Fired, how: str | None, *, is_away: bool) -> tuple[Sum, str | None] | None:
        """A case as it was measured, or estimated from its count; on no system call where the kind is on none."""
        number = base.number
        if not number.is_time:
            cost = models(self.found).cost(self.machine, counted_as(self.found, base.case, number, how))
            if cost is None:
                return None
            counted = number.count.mechanism
            other = counted is not None and how not in (None, counted)
            words = {"case": quoted(number.title), "counted": counted, "wanted": how}
            note = cost_row.NOTES["other-way"].format(**words) if other else None
            return Sum(cost=cost, suites=frozenset({base.suite})), note
        cost, path = cost_row.event_cost(self.found, (self.machine, number.tracer, number.case), number.bounded_cost)
        whole = Sum((number,), (), cost, frozenset({base.suite}))
        if not is_away or base.case.silent is None:
            return whole, None
        # The longer way into the kernel, which every system call takes while it is traced, is no part of such a probe.
        if path is None:
            ends = (None, None) if cost.high is None else (min(0.0, cost.low or 0.0), cost.high)
            note = cost_row.NOTES["at-most"].format(case=quoted(number.title))
            return whole._replace(cost=Estimate(cost.value, *ends)), note
        assert path.source
        return whole._replace(less=(path.source,), cost=path.moved(cost, 0)), None

    def _contended(self, row: cost_row.CostRow, threads: int) -> cost_row.CostRow:
        """The row with several threads that fire the probe, where its case was measured with threads."""
        several = (
            cost_row.nearest(cost_row.contention(self.found, self.machine, self.tracer, row.name), threads)
            if row.title
            else None
        )
        return replace(row, cost=estimates.multiplied(row.cost, several.factor), contention=several) if several else row


def on_hardware(evidence: Evidence, kind: str, mechanism: str | None, measured: Submission) -> PublishedCost | None:
    """What others measured of a kind of probe on a physical machine; None unless it is stepped in a guest of KVM."""
    machine = measured.document.machine
    is_kvm = machine.virtualization in {"KVM", KVM_GUEST} and architecture(machine.architecture) == X86_64
    if mechanism != "stepped" or not is_kvm:
        return None
    kinds = (
        (evidence.case_of[key[2]].probe, printed) for key, printed in evidence.printed.items() if key[2] in evidence.of
    )
    return next((cost for its, cost in kinds if its == kind and cost.is_physical), None)


def number_on_hardware(evidence: Evidence, number: Number) -> PublishedCost | None:
    """What others measured on hardware for the case of a measured number."""
    case = evidence.case_of[number.case]
    return on_hardware(evidence, case.probe, mechanism_of(case, number), number.submission)


def own_actions(tracer: str) -> tuple[str, ...]:
    """The actions that a tracer does at each event anyway; empty for an unknown one."""
    tool = known_tool(tracer)
    return tool.own_actions if tool else ()


@once
def machine_costs(evidence: Evidence, machine: str, tracer: str) -> MachineCosts:
    return MachineCosts(evidence, machine, tracer)


@once
def single_cases(evidence: Evidence) -> Sequence[tuple[Suite, Case]]:
    """The cases that are one probe each and fire, with their suites."""
    return [
        (suite, case)
        for suite, case in evidence.cases
        if suite.factor is None and not case.like and not case.parts and case.counted_by != "nothing"
    ]


def _of_kind(fired: Iterable[Fired], kind: str) -> list[Fired]:
    """The cases that stand for a kind: of the first kind that has any. A static user probe is on a nop."""
    every = [fired_case for fired_case in fired if kind != "usdt" or fired_case.mechanism == on_nop(fired_case.number)]
    of_kinds = (
        [fired_case for fired_case in every if fired_case.case.probe == probe]
        for probe in STANDS_FOR.get(kind, (kind,))
    )
    return next(filter(None, of_kinds), [])


def _standing_for(fired: Iterable[Fired], key: cost_row.RowKey) -> list[Fired]:
    """The cases that stand for a kind of probe that is made in one way.

    A user probe of which nobody recorded how it fires stands for none: one way costs many times what another does.
    """
    fitting = (
        fired_case
        for fired_case in fired
        if fired_case.mechanism == key.mechanism
        or (fired_case.mechanism is None and "uprobe" not in fired_case.case.needs)
    )
    return _of_kind(fitting, key.kind)
