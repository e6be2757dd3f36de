"""Which costs guidance may use: of each machine, tracer and case the current number, where it is sound; those that
others printed; and whose costs an answer takes, which is decided first.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, code
from probe_effect.numbers.index import Numbers, grouped_by, once
from probe_effect.numbers.published import DERIVED_MARK, PUBLISHED_MARK, printed_text
from probe_effect.numbers.shown import Facts, Likeness, by_likeness, facts_of_submission
from probe_effect.numbers.submission import Number
from probe_effect.store.beside_files import Figure
from probe_effect.store.kept import code_version
from probe_effect.store.suite_file import Case, Suite

TIER = "published"
"""The tier of a machine of others, so that it is comparable with none of ours."""


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
    """Machine, tracer and case to the cost that was printed, without those of which a source has several.

    Several are of variants that the case does not tell apart, such as the first instruction of a function.
    """
    costs = [
        (PublishedCost(source, figure), figure.tracer, figure.case)
        for source in sources
        for figure in source.figures
        if figure.case and figure.tracer and figure.cost_ns is not None and figure.cost_ns > 0
    ]
    groups = grouped_by(costs, lambda entry: (entry[0].machine, entry[1], entry[2]))
    return {key: same[0][0] for key, same in groups.items() if len(same) == 1}


CostKey = tuple[str, str, str]
"""Machine, tracer, case."""

V = TypeVar("V")


class _Known(NamedTuple):
    """The numbers of a machine and a case by tracer: costs, costs at levels, why others are none, and whole work."""

    costs: dict[str, Number]
    by_level: dict[str, dict[str, Number]]
    refused: dict[str, str]
    of_work: dict[str, dict[str, Number]]


class _OnDemand(Mapping[CostKey, V]):
    """One part of what is known, by machine, tracer and case; numbers are read when somebody asks for their case."""

    def __init__(self, evidence: "Evidence", part: Callable[[_Known], dict[str, V]]) -> None:
        self._found, self._part = evidence, part

    def __getitem__(self, key: CostKey) -> V:
        machine, tracer, case = key
        return self._part(self._found.known(machine, case))[tracer]

    def __iter__(self) -> Iterator[CostKey]:
        for machine, case in self._found.places():
            yield from ((machine, tracer, case) for tracer in self._part(self._found.known(machine, case)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Evidence:
    """Every usable cost, case by case; those measured at levels, by level; and why others are not usable.

    `of_work`: what an event adds, by level, where a suite measures whole work. `counts`: what `counts_of` found.
    `folders`: suite to where its scripts are. `titles`: case to its name. `sources`: what others published, read only
    where it is asked for. `keep`: what a package made of the same evidence in an earlier run, or what it makes now.
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
        self.costs: Mapping[CostKey, Number] = _OnDemand(self, attrgetter("costs"))
        self.by_level: Mapping[CostKey, dict[str, Number]] = _OnDemand(self, attrgetter("by_level"))
        self.refused: Mapping[CostKey, str] = _OnDemand(self, attrgetter("refused"))
        self.of_work: Mapping[CostKey, dict[str, Number]] = _OnDemand(self, attrgetter("of_work"))
        self.counts: dict[str, list[Number]] = {}
        self.worked_out: dict[object, Any] = {}
        self._numbers = Numbers(()) if numbers is None else numbers
        self._known: dict[tuple[str, str], _Known] = {}

    @cached_property
    def spread(self) -> float | None:
        """The standard deviation between runs, as a share of a cost (`numbers.index`); None where it is not known."""
        return self._spread()

    def known(self, machine: str, case: str) -> _Known:
        """What the numbers have of a machine and a case."""
        if (machine, case) not in self._known:
            self._known[machine, case] = _Known({}, {}, {}, {})
            numbers = self._numbers.of_machine_and_case(machine, case) if case in self.of else {}
            for number in numbers.values():
                self.add(self._numbers.over_hosts(number), self.of[case][0].result_type.no_cost)
        return self._known[machine, case]

    def places(self) -> list[tuple[str, str]]:
        """Every machine and case of which something may be known, case by case and then machine by machine."""
        measured = ((machine, case.id) for _, case in self.cases for machine in self._numbers.machines())
        return list(dict.fromkeys([*measured, *self._known]))

    def add(self, number: Number, refused: str | None = None) -> None:
        """Take a number up as a cost, or with why it is none: `refused` where its suite says that, else by itself."""
        entry, tracer, level = self.known(number.submission.machine, number.case), number.tracer, number.level
        if refused is not None:
            entry.refused[tracer] = refused
            if number.is_sound and level is not None:
                entry.of_work.setdefault(tracer, {})[level] = number
        elif number.cost is None:
            entry.refused[tracer] = f"{number.status}: {number.note}"
        elif number.faults:
            entry.refused[tracer] = "; ".join(number.faults)
        elif level is None:
            entry.costs[tracer] = number
        else:
            entry.by_level.setdefault(tracer, {})[level] = number

    def counts_of(self, case: str) -> list[Number]:
        """The sound counts of a case by any tracer and kernel, on the architectures of machines that have costs."""
        if case not in self.counts:
            self.counts[case] = [
                number
                for number in self._numbers.of_case(case, "instructions")
                if number.is_sound and number.level is None and number.submission.architecture in self._architectures
            ]
        return self.counts[case]

    @cached_property
    def _architectures(self) -> set[str]:
        return {self.costs[keys[0]].submission.architecture for keys in self._keys_of.values()}

    @cached_property
    def printed(self) -> dict[CostKey, PublishedCost]:
        return printed_costs(self.sources())

    @cached_property
    def cases(self) -> list[tuple[Suite, Case]]:
        return [(suite, case) for suite in self.suites for case in suite.cases]

    @cached_property
    def case_of(self) -> dict[str, Case]:
        return {case.id: case for _, case in self.cases}

    @cached_property
    def of(self) -> dict[str, tuple[Suite, Case]]:
        return {case.id: (suite, case) for suite, case in self.cases}

    @cached_property
    def keys(self) -> list[CostKey]:
        """The keys of all usable costs, case by case and then machine by machine, without looking at the costs."""
        if not self._numbers.submissions:
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
        cases = grouped_by(self.keys, itemgetter(1))
        return sorted(cases, key=lambda tracer: -len({case for _, _, case in cases[tracer]}))

    def with_tracers(self, machine: str, case: str) -> dict[str, Number]:
        """Tracer to the cost of a case on a machine."""
        return {key[1]: self.costs[key] for key in self.keys_of(machine) if key[2] == case}

    @once
    def by_tracer(self, machine: str) -> dict[str, dict[str, Number]]:
        """Tracer to case to the cost on a machine."""
        costs: dict[str, dict[str, Number]] = {}
        for key in self.keys_of(machine):
            costs.setdefault(key[1], {})[key[2]] = self.costs[key]
        return costs

    @once
    def levels_of(self, case: str) -> Mapping[str, Mapping[str, Mapping[str, Number]]]:
        """Machine to tracer to level to the cost of a case."""
        added = (machine for machine, own in self._known if own == case)
        machines = dict.fromkeys([*self._numbers.machines(), *added])
        return {machine: levels for machine in machines if (levels := self.known(machine, case).by_level)}


def evidence_of(catalogue: Catalogue, sources: Callable[[], Iterable[PublishedSource]] | None = None) -> Evidence:
    """The costs of a catalogue that guidance may use, gathered once; `sources` reads the published ones it lacks."""
    if evidence_of not in catalogue.worked_out:
        catalogue.worked_out[evidence_of] = Evidence(
            tuple(folder.suite for folder in catalogue.suites),
            catalogue.runs,
            spread=lambda: catalogue.numbers.spread,
            folders={suite_folder.suite.id: suite_folder.folder for suite_folder in catalogue.suites},
            titles=catalogue.titles,
            sources=sources or (lambda: catalogue.sources),
            keep=partial(_keep, catalogue),
        )
    made: Evidence = catalogue.worked_out[evidence_of]
    return made


def _keep(catalogue: Catalogue, package: str, make: Callable[[], bytes]) -> bytes:
    """What a package makes of all evidence; not kept where a submission has no digest of its files."""
    if any(submission.digest is None for submission in catalogue.active):
        return make()
    own = code_version("costs", "numbers", "scripts", package)
    submissions = (f"{submission.id} {submission.digest}" for submission in catalogue.active)
    return catalogue.kept.made(make, "evidence", package, own, code(), catalogue.suites_digest, *submissions)


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


def machines_for(evidence: Evidence, here: Facts, named: str | None = None) -> list[Likeness]:
    """The measured machines with what each has in common with this one, the most like it first; or a named one."""
    machines = dict.fromkeys(machine for machine, _, _ in reversed(evidence.keys))
    newest = (evidence.costs[evidence.keys_of(machine_id)[0]].submission for machine_id in machines)
    ordered = by_likeness(here, map(facts_of_submission, newest))
    return (
        ordered
        if named is None
        else [replace(likeness, comparable=True) for likeness in ordered if likeness.machine == named]
    )


def whose(evidence: Evidence, here: Facts, named: str | None = None) -> Scope:
    """Whose costs answer a question from the machine of `here`, or about a machine that is named."""
    if named is not None and named not in evidence.machines:
        return Scope(printed=named)
    facts = here if named is None else facts_of_submission(evidence.costs[evidence.keys_of(named)[0]].submission)
    likely = machines_for(evidence, facts)
    alike = tuple(likeness.machine for likeness in likely if likeness.comparable and not likeness.is_same)
    if named is not None:
        return Scope((named,), lending=alike)
    own = tuple(likeness.machine for likeness in likely if likeness.is_same)
    return Scope(own, alike, tuple(likeness.machine for likeness in likely if not likeness.comparable))
