"""Which costs guidance may use: of each machine, tracer and case the current number, where it is sound."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from probe_effect.answer.from_counts import models
from probe_effect.answer.published import printed_costs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from probe_effect.answer.from_counts import Models
    from probe_effect.answer.published import Printed
    from probe_effect.numbers.catalogue import Catalogue, PublishedSource
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case, Suite

NO_COSTS = {
    "start": "its suite measures starting and stopping, not costs",
    "tracer": "its suite measures the tracer itself, not costs",
    "slowdown": "its suite measures the slowdown of the whole work, whose processes share what an event costs",
}
"""What suites measure that have no cost for guidance, to the sentence that says so."""

Key = tuple[str, str, str]
"""Machine, tracer, case."""

GATHERED: WeakKeyDictionary[Catalogue, Evidence] = WeakKeyDictionary()
"""The evidence of each catalogue that is still there."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Every usable cost; those measured at levels apart, by level; and why others are not usable.

    `counts`: case to its sound counts of instructions, by whichever tracer and kernel, on the architectures of machines
    that have costs: no time comes of others. `folders`: suite to where its scripts lie. `titles`: case to its name.
    `sources`: what others published, read only where it is asked for.
    """

    suites: tuple[Suite, ...]
    costs: dict[Key, Number] = field(default_factory=dict)
    by_level: dict[Key, dict[str, Number]] = field(default_factory=dict)
    refused: dict[Key, str] = field(default_factory=dict)
    counts: dict[str, list[Number]] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    sources: Callable[[], Iterable[PublishedSource]] = tuple
    worked_out: dict[object, Any] = field(default_factory=dict, repr=False)
    """What `answer.once` remembers."""

    def add(self, one: Number, refused: str | None = None) -> None:
        """Take a number up as a cost, or with why it is none: `refused` where its suite says that, else by itself."""
        key = (one.submission.machine, one.tracer, one.case)
        if refused is not None:
            self.refused[key] = refused
        elif one.cost is None:
            self.refused[key] = f"{one.status}: {one.note}"
        elif one.faults:
            self.refused[key] = "; ".join(one.faults)
        elif one.level is None:
            self.costs[key] = one
        else:
            self.by_level.setdefault(key, {})[one.level] = one

    @cached_property
    def printed(self) -> dict[Key, Printed]:
        """What others printed, on machines of theirs."""
        return printed_costs(self.sources())

    @cached_property
    def models(self) -> Models:
        """How counts become times, machine by machine."""
        return models(self)

    @cached_property
    def cases(self) -> list[tuple[Suite, Case]]:
        """Every case with its suite."""
        return [(suite, case) for suite in self.suites for case in suite.cases]

    @cached_property
    def case_of(self) -> dict[str, Case]:
        """Case id to the case."""
        return {case.id: case for _, case in self.cases}

    def of(self, case_id: str) -> tuple[Suite, Case]:
        """A case with its suite. Raises: KeyError for a case of none."""
        return self._of[case_id]

    @cached_property
    def _of(self) -> dict[str, tuple[Suite, Case]]:
        return {case.id: (suite, case) for suite, case in self.cases}

    @cached_property
    def machines(self) -> list[str]:
        """Machines with a usable cost, those of the newest submissions first."""
        return list(self._by_machine)

    @cached_property
    def others(self) -> list[str]:
        """Machines of others, of which there are printed costs."""
        return list(dict.fromkeys(machine for machine, _, _ in self.printed))

    @cached_property
    def tracers(self) -> list[str]:
        """Tracers with a usable cost, the one with most cases first."""
        cases: dict[str, set[str]] = {}
        for _, tracer, case in self.costs:
            cases.setdefault(tracer, set()).add(case)
        return sorted(cases, key=lambda tracer: -len(cases[tracer]))

    def with_tracers(self, machine: str, case: str) -> dict[str, Number]:
        """Tracer to the cost of a case on a machine."""
        return self._by_case.get((machine, case), {})

    def by_tracer(self, machine: str) -> dict[str, dict[str, Number]]:
        """Tracer to case to the cost on a machine."""
        return self._by_machine.get(machine, {})

    def levels_of(self, case: str) -> Mapping[str, Mapping[str, Mapping[str, Number]]]:
        """Machine to tracer to level to the cost of a case."""
        return self._levels.get(case, {})

    @cached_property
    def _levels(self) -> dict[str, dict[str, dict[str, dict[str, Number]]]]:
        found: dict[str, dict[str, dict[str, dict[str, Number]]]] = {}
        for (machine, tracer, case), levels in self.by_level.items():
            found.setdefault(case, {}).setdefault(machine, {})[tracer] = levels
        return found

    @cached_property
    def _by_case(self) -> dict[tuple[str, str], dict[str, Number]]:
        found: dict[tuple[str, str], dict[str, Number]] = defaultdict(dict)
        for (machine, tracer, case), one in self.costs.items():
            found[machine, case][tracer] = one
        return dict(found)

    @cached_property
    def _by_machine(self) -> dict[str, dict[str, dict[str, Number]]]:
        found: dict[str, dict[str, dict[str, Number]]] = {}
        for (machine, tracer, case), one in self.costs.items():
            found.setdefault(machine, {}).setdefault(tracer, {})[case] = one
        return found


def evidence(catalogue: Catalogue, sources: Callable[[], Iterable[PublishedSource]] | None = None) -> Evidence:
    """What the catalogue's numbers offer to guidance, gathered once of each catalogue.

    Args:
        sources: what reads the published ones, where the catalogue was read without them.
    """
    if catalogue not in GATHERED:
        # Nothing here may hold the catalogue itself, or it would never be let go of.
        GATHERED[catalogue] = _gathered(catalogue, sources or partial(tuple, catalogue.sources))
    return GATHERED[catalogue]


def _gathered(catalogue: Catalogue, sources: Callable[[], Iterable[PublishedSource]]) -> Evidence:
    suites = tuple(folder.suite for folder in catalogue.suites)
    folders = {one.suite.id: one.folder for one in catalogue.suites}
    found = Evidence(suites, folders=folders, titles=catalogue.titles, sources=sources)
    for suite, case in found.cases:
        for number in catalogue.numbers.of_case(case.id):
            found.add(number, NO_COSTS.get(suite.measures))
    timed = {one.submission.architecture for one in found.costs.values()}
    for _, case in found.cases:
        counted = catalogue.numbers.of_case(case.id, "instructions")
        found.counts[case.id] = [
            one for one in counted if one.is_sound and one.level is None and one.submission.architecture in timed
        ]
    return found
