"""One tracer on one machine: the cases that were measured there, and those counted elsewhere that stand for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from probe_effect.answer.actions import MADE_OF, Differences, Fired
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.from_counts import counted, models
from probe_effect.answer.part import PLAIN_ACTION
from probe_effect.numbers.index import once
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Case, Suite
from probe_effect.tools.record import known_tool

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
class Setup:
    """What is known of a tracer on a machine."""

    found: Evidence
    machine: str
    tracer: str

    @cached_property
    def costs(self) -> Mapping[str, Number]:
        """Case to its cost."""
        return self.found.by_tracer(self.machine).get(self.tracer, {})

    @cached_property
    def fired(self) -> tuple[Fired, ...]:
        """The cases with a cost that are one probe each and fire, in the order of their suites."""
        return tuple(
            Fired(suite.id, case, one, mechanism_of(case, one))
            for suite, case in single_cases(self.found)
            if (one := self.costs.get(case.id))
        )

    @cached_property
    def counted(self) -> tuple[Fired, ...]:
        """Such cases with a count that can become a time there; none where the tracer has no cost."""
        return tuple(
            Fired(suite.id, case, one, mechanism_of(case, one))
            for suite, case in (single_cases(self.found) if self.costs else ())
            if (one := counted(self.found, self.machine, self.tracer, case))
        )

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The actions of which something measured or counted tells, and those that are made of such."""
        return tuple(dict.fromkeys((PLAIN_ACTION, *(one.action for one in (*self.fired, *self.counted)), *MADE_OF)))

    @cached_property
    def differences(self) -> Differences:
        """What actions cost more than others, by the times."""
        return Differences(self.fired)

    @cached_property
    def calibrated(self) -> tuple[Number, ...]:
        """The times that say how long instructions take there."""
        return tuple(self.found.costs[key] for key in models(self.found).calibrated(self.machine, self.tracer))

    def bases(self, kind: str, mechanism: str | None) -> list[Fired]:
        """The cases with a cost that stand for a kind of probe; where a mechanism is asked for, of that alone.

        A user probe of which nobody recorded how it fires stands for none: one way costs many times what another does.
        """
        return _standing_for(self.fired, kind, mechanism)

    def counted_bases(self, kind: str, mechanism: str | None) -> list[Fired]:
        """The same of cases with a count. A kprobe that was counted stands for one of any mechanism."""
        return _standing_for((_made_by(mechanism, one) for one in self.counted), kind, mechanism)


def own_actions(tracer: str) -> tuple[str, ...]:
    """What a tracer does at each event anyway; empty for an unknown one."""
    tool = known_tool(tracer)
    return tool.own_actions if tool else ()


@once
def setup(found: Evidence, machine: str, tracer: str) -> Setup:
    """What is known of a tracer on a machine."""
    return Setup(found, machine, tracer)


@once
def single_cases(found: Evidence) -> Sequence[tuple[Suite, Case]]:
    """The cases that are one probe each and fire, with their suites."""
    return [
        (suite, case)
        for suite, case in found.cases
        if suite.factor is None and not case.like and not case.parts and case.counted_by != "nothing"
    ]


def _made_by(mechanism: str | None, one: Fired) -> Fired:
    is_kprobe = one.mechanism is not None and "kprobe" in one.case.needs
    return replace(one, mechanism=mechanism) if mechanism and is_kprobe else one


def _standing_for(fired: Iterable[Fired], kind: str, mechanism: str | None) -> list[Fired]:
    fitting = [
        one
        for one in fired
        if mechanism in (None, one.mechanism) or (one.mechanism is None and "uprobe" not in one.case.needs)
    ]
    of_kinds = ([one for one in fitting if one.case.probe == probe] for probe in STANDS_FOR.get(kind, (kind,)))
    return next(filter(None, of_kinds), [])
