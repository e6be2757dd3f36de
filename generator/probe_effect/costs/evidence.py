"""Which costs guidance may use: of each machine, tracer and case the current number, where it is sound; those that
others printed; and whose costs an answer takes, which is decided first.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import Numbers, OnDemand, grouped_by, once
from probe_effect.numbers.published import DERIVED_MARK, PUBLISHED_MARK, printed_text
from probe_effect.numbers.reading import code
from probe_effect.numbers.shown import Facts, Likeness, by_likeness, facts_of_submission
from probe_effect.numbers.submission import Number
from probe_effect.store.beside_files import Figure
from probe_effect.store.kept import code_version
from probe_effect.store.release_file import folders_digest
from probe_effect.store.suite_file import Case, Suite

TIER = "published"
"""What stands for the tier of a machine of others, so that it is comparable with none of ours."""


@dataclass(frozen=True, slots=True)
class PublishedCost:
    """A cost of a case as a source printed it, or as it follows from what it printed."""

    source: PublishedSource
    figure: Figure

    @property
    def cost(self) -> Estimate:
        """ns an event, without an interval: no source has one."""
        assert self.figure.cost_ns is not None
        return Estimate(float(self.figure.cost_ns))

    @property
    def text(self) -> str:
        """The cost as printed, or as worked out, with its mark."""
        derived = f"{units.duration(self.cost.value)}{DERIVED_MARK}"
        return derived if self.is_derived else f"{printed_text(self.figure)}{PUBLISHED_MARK}"

    @property
    def is_derived(self) -> bool:
        """Whether the cost is not printed, and was worked out here from what is."""
        return self.figure.cost_from == "derived"

    @property
    def machine(self) -> str:
        """The source, and after a full stop the platform where it has several."""
        platform = re.sub(r"[^a-z0-9]+", "-", (self.figure.platform or "").lower()).strip("-")
        return f"{self.source.id}.{platform}" if platform else self.source.id

    @property
    def hardware(self) -> str:
        """The platform as the figure names it, or else the hardware as the source describes it."""
        return self.figure.platform or self.source.document.hardware

    @property
    def is_physical(self) -> bool:
        """Whether the cost was measured without a hypervisor."""
        return self.hardware in self.source.document.physical

    @property
    def label(self) -> str:
        """The author of the figure's source, and its date in words."""
        document = self.source.document
        return f"{document.author}, {names.date_words(document.date)}"

    @property
    def facts(self) -> Facts:
        """The source's machine as far as likeness looks at it: like no other."""
        return Facts(
            machine=self.machine, tier=TIER, architecture="not stated", cpu_model=self.hardware, kernel_release=""
        )


def printed_costs(sources: Iterable[PublishedSource]) -> dict[tuple[str, str, str], PublishedCost]:
    """Machine, tracer and case to the cost that was printed; left out where a source has several for the three.

    Several are of variants that the case does not tell apart, such as the first instruction of a function.
    """
    found: dict[tuple[str, str, str], list[PublishedCost]] = {}
    for source in sources:
        for figure in source.figures:
            if figure.case and figure.tracer and figure.cost_ns is not None and figure.cost_ns > 0:
                one = PublishedCost(source, figure)
                found.setdefault((one.machine, figure.tracer, figure.case), []).append(one)
    return {key: some[0] for key, some in found.items() if len(some) == 1}


CostKey = tuple[str, str, str]
"""Machine, tracer, case."""


class Evidence:
    """Every usable cost; those measured at levels apart, by level; and why others are not usable.

    `counts`: case to its sound counts of instructions, by whichever tracer and kernel, on the architectures of machines
    that have costs: no time comes of others. `folders`: suite to where its scripts lie. `titles`: case to its name.
    `of_work`: what an event adds, by level, where a suite measures whole work.
    `sources`: what others published, read only where it is asked for. `keep`: what a package made of the same evidence
    in an earlier run, or what it makes now.

    What `numbers` have of a machine and a case is taken up when somebody asks for that, so that a command which asks
    of few cases does not read the numbers of all.
    """

    def __init__(
        self,
        suites: tuple[Suite, ...],
        numbers: Numbers | None = None,
        *,
        folders: Mapping[str, Path] | None = None,
        titles: Mapping[str, str] | None = None,
        spread: Callable[[], float | None] = lambda: None,
        sources: Callable[[], Iterable[PublishedSource]] = tuple,
        keep: Callable[[str, Callable[[], bytes]], bytes] = lambda _, make: make(),
    ) -> None:
        self.suites, self.sources, self.keep, self._spread = suites, sources, keep, spread
        self.folders: Mapping[str, Path] = folders or {}
        self.titles: Mapping[str, str] = titles or {}
        self.costs: OnDemand[CostKey, Number] = OnDemand(self._look)
        self.by_level: OnDemand[CostKey, dict[str, Number]] = OnDemand(self._look)
        self.refused: OnDemand[CostKey, str] = OnDemand(self._look)
        self.of_work: OnDemand[CostKey, dict[str, Number]] = OnDemand(self._look)
        self.counts: OnDemand[str, list[Number]] = OnDemand(self._count)
        self.worked_out: dict[object, Any] = {}
        """What `numbers.index` remembers."""
        self._numbers = Numbers(()) if numbers is None else numbers
        self._taken: set[tuple[str, str]] = set()
        self._counted: set[str] = set()
        self._is_whole = numbers is None

    @cached_property
    def spread(self) -> float | None:
        """The standard deviation between runs, as a share of a cost (`numbers.repeats`); None where it is not known."""
        return self._spread()

    def _look(self, key: CostKey | None) -> None:
        """Take up what the numbers have of the machine and the case of a key; for None everything, in order."""
        if self._is_whole:
            return
        if key is not None:
            machine, _, case = key
            if (machine, case) not in self._taken and case in self.of:
                self._taken.add((machine, case))
                for number in self._numbers.of_machine_and_case(machine, case).values():
                    self.add(self._numbers.over_hosts(number), self.of[case][0].result_type.no_cost)
            return
        self._is_whole = True
        for some in (self.costs, self.by_level, self.refused, self.of_work):
            some.known.clear()
        for suite, one in self.cases:
            for number in self._numbers.of_case(one.id):
                self.add(self._numbers.over_hosts(number), suite.result_type.no_cost)

    def _count(self, case: str | None) -> None:
        """Take up the counts of a case; for None those of all cases."""
        for one in self.case_of if case is None else (case,):
            if one not in self._counted:
                self._counted.add(one)
                counts = self._numbers.of_case(one, "instructions")
                sound = (count for count in counts if count.is_sound and count.level is None)
                found = [count for count in sound if count.submission.architecture in self._architectures]
                self.counts.known.setdefault(one, found)

    @cached_property
    def _architectures(self) -> set[str]:
        """The instruction sets of the machines with a usable cost."""
        return {self.costs[keys[0]].submission.architecture for keys in self._keys_of.values()}

    def add(self, one: Number, refused: str | None = None) -> None:
        """Take a number up as a cost, or with why it is none: `refused` where its suite says that, else by itself."""
        key = (one.submission.machine, one.tracer, one.case)
        if refused is not None:
            self.refused[key] = refused
            if one.is_sound and one.level is not None:
                self.of_work.known.setdefault(key, {})[one.level] = one
        elif one.cost is None:
            self.refused[key] = f"{one.status}: {one.note}"
        elif one.faults:
            self.refused[key] = "; ".join(one.faults)
        elif one.level is None:
            self.costs[key] = one
        else:
            self.by_level.known.setdefault(key, {})[one.level] = one

    @cached_property
    def printed(self) -> dict[CostKey, PublishedCost]:
        """The costs that sources printed, by machine, tracer and case."""
        return printed_costs(self.sources())

    @cached_property
    def cases(self) -> list[tuple[Suite, Case]]:
        """Every case with its suite."""
        return [(suite, case) for suite in self.suites for case in suite.cases]

    @cached_property
    def case_of(self) -> dict[str, Case]:
        """Case id to the case."""
        return {case.id: case for _, case in self.cases}

    @cached_property
    def of(self) -> dict[str, tuple[Suite, Case]]:
        """Case id to the suite and the case."""
        return {case.id: (suite, case) for suite, case in self.cases}

    @cached_property
    def keys(self) -> list[CostKey]:
        """The keys of all usable costs, case by case and then machine by machine, without looking at the costs."""
        if self._is_whole:
            return list(self.costs)
        sound: dict[str, dict[str, set[str]]] = {}
        for machine, runs in self._numbers.machines().items():
            for case, tracers in (each for run in runs for each in run.sound.items()):
                sound.setdefault(case, {}).setdefault(machine, set()).update(tracers)
        return [
            (machine, tracer, case.id)
            for suite, case in self.cases
            if suite.result_type.guides
            for machine, tracers in sound.get(case.id, {}).items()
            for tracer in sorted(tracers)
        ]

    def keys_of(self, machine: str) -> list[CostKey]:
        """The keys of a machine's usable costs, case by case."""
        return self._keys_of.get(machine, [])

    @cached_property
    def _keys_of(self) -> dict[str, list[CostKey]]:
        return grouped_by(self.keys, itemgetter(0))

    @cached_property
    def machines(self) -> list[str]:
        """Machines with a usable cost, those of the newest submissions first."""
        return list(self._keys_of)

    @cached_property
    def others(self) -> list[str]:
        """Machines of others, of which there are printed costs."""
        return list(dict.fromkeys(machine for machine, _, _ in self.printed))

    @cached_property
    def tracers(self) -> list[str]:
        """Tracers with a usable cost, the one with most cases first."""
        cases: dict[str, set[str]] = {}
        for _, tracer, case in self.keys:
            cases.setdefault(tracer, set()).add(case)
        return sorted(cases, key=lambda tracer: -len(cases[tracer]))

    def with_tracers(self, machine: str, case: str) -> dict[str, Number]:
        """Tracer to the cost of a case on a machine."""
        return {key[1]: self.costs[key] for key in self.keys_of(machine) if key[2] == case}

    @once
    def by_tracer(self, machine: str) -> dict[str, dict[str, Number]]:
        """Tracer to case to the cost on a machine."""
        found: dict[str, dict[str, Number]] = {}
        for key in self.keys_of(machine):
            found.setdefault(key[1], {})[key[2]] = self.costs[key]
        return found

    @once
    def levels_of(self, case: str) -> Mapping[str, Mapping[str, Mapping[str, Number]]]:
        """Machine to tracer to level to the cost of a case."""
        own = self._numbers.of_case(case)
        keys = [(one.submission.machine, one.tracer, case) for one in own] or list(self.by_level)
        found: dict[str, dict[str, Mapping[str, Number]]] = {}
        for machine, tracer, _ in (key for key in keys if key[2] == case and key in self.by_level):
            found.setdefault(machine, {})[tracer] = self.by_level[machine, tracer, case]
        return found


def evidence(catalogue: Catalogue, sources: Callable[[], Iterable[PublishedSource]] | None = None) -> Evidence:
    """What the catalogue's numbers offer to guidance, gathered once of each catalogue.

    `sources`: what reads the published ones, where the catalogue was read without them.
    """
    if evidence not in catalogue.worked_out:
        catalogue.worked_out[evidence] = Evidence(
            tuple(folder.suite for folder in catalogue.suites),
            catalogue.runs,
            spread=lambda: catalogue.numbers.spread,
            folders={one.suite.id: one.folder for one in catalogue.suites},
            titles=catalogue.titles,
            sources=sources or partial(tuple, catalogue.sources),
            keep=_keep(catalogue),
        )
    made: Evidence = catalogue.worked_out[evidence]
    return made


def _keep(catalogue: Catalogue) -> Callable[[str, Callable[[], bytes]], bytes]:
    """Keeps what a package makes of all evidence, unless a submission has no digest of its files."""
    kept, submissions, folders = catalogue.kept, catalogue.active, [one.folder for one in catalogue.suites]

    def keep(package: str, make: Callable[[], bytes]) -> bytes:
        if any(one.digest is None for one in submissions):
            return make()
        own = code_version("costs", "numbers", "scripts", package)
        known = (f"{one.id} {one.digest}" for one in submissions)
        return kept.made(make, "evidence", package, own, code(), folders_digest(folders), *known)

    return keep


@dataclass(frozen=True, slots=True)
class Scope:
    """Machines whose costs may be taken, level by level: a later level answers where an earlier one knows nothing.

    `own`: the asker's machine, or the one that was named. `alike`: those of its kind, and `others` those of another
    kind. `lending`: machines of the own one's kind, which tell what an action adds where it does not; `printed`: the
    machine of others that was named.
    """

    own: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    lending: tuple[str, ...] = ()
    printed: str | None = None

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The machines whose probes are taken, the nearest first."""
        return self.own, self.alike, self.others

    @property
    def adding(self) -> tuple[tuple[str, ...], ...]:
        """The machines that tell what an action adds, the nearest first."""
        return self.own, self.alike or self.lending, self.others


def machines_for(found: Evidence, here: Facts, named: str | None = None) -> list[Likeness]:
    """The measured machines with what each has in common with this one, the most like it first; or a named one."""
    machines = dict.fromkeys(machine for machine, _, _ in reversed(found.keys))
    newest = (found.costs[found.keys_of(one)[0]].submission for one in machines)
    ordered = by_likeness(here, map(facts_of_submission, newest))
    return ordered if named is None else [replace(one, comparable=True) for one in ordered if one.machine == named]


def whose(found: Evidence, here: Facts, named: str | None = None) -> Scope:
    """Whose costs answer a question from the machine of `here`, or about a machine that is named."""
    if named is None:
        every = machines_for(found, here)
        alike = _names(one for one in every if one.comparable and not one.is_same)
        own = _names(one for one in every if one.is_same)
        return Scope(own, alike, _names(one for one in every if not one.comparable))
    if named not in found.machines:
        return Scope(printed=named)
    facts = facts_of_submission(found.costs[found.keys_of(named)[0]].submission)
    kind = _names(one for one in machines_for(found, facts) if one.comparable and not one.is_same)
    return Scope((named,), lending=kind)


def _names(machines: Iterable[Likeness]) -> tuple[str, ...]:
    return tuple(one.machine for one in machines)
