"""The machines that the site wants, the cases that none of them has, and in which order a machine measures."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from operator import itemgetter
from statistics import median

from probe_effect.model import Metric, release_numbers
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.names import release_series
from probe_effect.numbers.shown import machine_kind
from probe_effect.numbers.submission import Submission
from probe_effect.records import TOOLS, beside
from probe_effect.store.suite_file import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedKind:
    """A kind of machine, as `wanted.toml` describes it; a condition that is not given holds for all."""

    words: str
    physical: bool | None = None
    architecture: str | None = None
    cpu: str = ""
    system: str = ""
    tool: str | None = None
    needs: Sequence[str] = ()

    def is_kind_of(self, submission: Submission) -> bool:
        """Whether the machine of a submission is one."""
        machine, system = submission.document.machine, submission.document.system
        return (
            self.physical in {None, machine.virtualization is None}
            and self.architecture in {None, submission.architecture}
            and re.search(self.cpu, f"{machine.cpu_model} {machine.microarchitecture}") is not None
            and (system.os or "").startswith(self.system)
        )

    def can_run(self, folder: SuiteFolder, case: Case) -> bool:
        return (
            can_be_timed(folder, case)
            and (not self.needs or not set(self.needs).isdisjoint(case.needs))
            and (self.architecture is None or case.is_of(self.architecture))
            and (self.tool is None or self.tool in folder.by_case[case.id])
        )


KINDS = [WantedKind(**kind) for kind in beside(__file__)["kind"]]


def can_be_timed(folder: SuiteFolder, case: Case) -> bool:
    """Whether a case may be measured on a machine that goes on, by one of its tools; others are counted alone."""
    return not all(TOOLS[tool].spoils for tool in folder.by_case[case.id])


@dataclass(frozen=True, slots=True)
class LackingCases:
    """The cases, by suite, that no machine of a kind has a time of, and those of them that no machine at all has."""

    words: str
    cases: Mapping[str, Sequence[Case]]
    first: Mapping[str, Sequence[Case]]

    @property
    def number(self) -> int:
        return sum(map(len, self.cases.values()))

    @property
    def number_first(self) -> int:
        return sum(map(len, self.first.values()))

    @property
    def probes(self) -> Sequence[str]:
        return list(dict.fromkeys(case.probe for cases in self.first.values() for case in cases))

    @property
    def suite(self) -> str:
        """The suite to begin with: the one with most first times, then with most cases."""
        return max(self.cases, key=lambda suite: (len(self.first.get(suite, ())), len(self.cases[suite])))


@once
def measured(catalogue: Catalogue, metric: Metric = "time") -> Mapping[str, Sequence[Submission]]:
    """Case to the submissions with a current, sound number of it."""
    sound = (number for number in catalogue.numbers.current(metric) if number.is_known and not number.faults)
    return {
        case: [number.submission for number in own]
        for case, own in grouped_by(sound, lambda number: number.case).items()
    }


@once
def lacking(catalogue: Catalogue) -> list[LackingCases]:
    """Each kind that lacks a case, in the order of `wanted.toml`."""
    timed, kinds = measured(catalogue), []
    for kind in KINDS:
        own = {case for case, submissions in timed.items() if any(map(kind.is_kind_of, submissions))}
        if cases := _without(catalogue, own, kind.can_run):
            kinds.append(LackingCases(kind.words, cases, _without(catalogue, {*timed}, kind.can_run)))
    return kinds


@once
def untimed(catalogue: Catalogue) -> Mapping[str, Sequence[Case]]:
    """The cases, by suite, that no machine has a sound time of."""
    return _without(catalogue, {*measured(catalogue)}, can_be_timed)


@once
def uncounted(catalogue: Catalogue) -> Mapping[str, Sequence[Case]]:
    """The cases without a sound count, in suites that have one of another case."""
    by_case = measured(catalogue, "instructions")
    suites = {submission.suite for counted in by_case.values() for submission in counted}
    return _without(catalogue, {*by_case}, lambda folder, _: folder.suite.id in suites)


def _without(
    catalogue: Catalogue, covered_cases: set[str], is_asked: Callable[[SuiteFolder, Case], bool]
) -> dict[str, list[Case]]:
    """The cases that are asked for and not known, by suite; without suites that have none."""
    asked = (
        (folder, case) for folder in catalogue.suites for case in folder.suite.cases if case.id not in covered_cases
    )
    wanted = [(folder.suite.id, case) for folder, case in asked if is_asked(folder, case)]
    return {suite: [case for _, case in own] for suite, own in grouped_by(wanted, itemgetter(0)).items()}


@once
def untimed_kernels(catalogue: Catalogue) -> list[str]:
    """The kernels, by the first two numbers of their release, that were counted on and that no time is of."""
    timed, counted = (
        {release_series(submission.document.system.kernel_release) for submission in submissions}
        for submissions in (catalogue.timed, catalogue.counted)
    )
    return sorted(counted - timed, key=release_numbers)


@once
def run_s(catalogue: Catalogue) -> Mapping[str, float]:
    """Suite to the median time that one run of it took, with starting and ending the tracer, s."""
    return {suite: median(took_s / rows for took_s, rows in runs) for suite, runs in _whole(catalogue).items()}


def minutes(catalogue: Catalogue) -> Mapping[str, int]:
    """Suite to the median time that the whole of it took, minutes."""
    return {suite: ceil(median(took_s for took_s, _ in runs) / 60) for suite, runs in _whole(catalogue).items()}


def _whole(catalogue: Catalogue) -> Mapping[str, Sequence[tuple[float, int]]]:
    """Suite to the seconds and the rows of each submission of it that was neither quick nor continued."""
    suites: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for submission in catalogue.timed:
        run = submission.document.run
        if run.ended and not run.resumed and "--quick" not in run.command:
            took = datetime.fromisoformat(run.ended) - datetime.fromisoformat(run.started)
            suites[submission.suite].append((took.total_seconds(), submission.rows))
    return suites


FEWEST, MOST = 6, 20
"""Blocks of a suite: fewest that carry a 95 % interval, and as many as `measure` makes by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTurn:
    """A suite on this machine: which of its cases it can give the site, and how it is measured.

    `first`: the cases that no machine has a sound time of; `own`: those that no machine of its kind has one of.
    """

    suite: str
    cases: int
    first: Sequence[str]
    own: Sequence[str]
    block_s: float
    quick_block_s: float
    blocks: int = FEWEST
    is_quick: bool = False

    @property
    def takes_s(self) -> float:
        """About how long it takes; its trials are as one more block."""
        return self.quick_s if self.is_quick else (self.blocks + 1) * self.block_s

    @property
    def quick_s(self) -> float:
        """About how long its quick plan takes."""
        return (FEWEST + 1) * self.quick_block_s


def new_here(catalogue: Catalogue, kind: Sequence[str], cases: Iterable[str]) -> tuple[list[str], list[str]]:
    """Of `cases`, those that no machine has a sound time of, and those that no machine of a kind has one of."""
    by_case = measured(catalogue)
    own = [case for case in cases if all(machine_kind(submission) != kind for submission in by_case.get(case, ()))]
    return [case for case in own if case not in by_case], own


def by_want(turns: Iterable[SuiteTurn]) -> list[SuiteTurn]:
    """Most first times a minute first, then most cases new to the kind of machine a minute, then the shortest."""
    return sorted(
        turns, key=lambda turn: (-len(turn.first) / turn.block_s, -len(turn.own) / turn.block_s, turn.block_s)
    )


def fitted(turns: Sequence[SuiteTurn], budget_s: float) -> list[SuiteTurn]:
    """What fits into a time, in its order: as many suites as can be with fewest blocks, then more blocks of each.

    Where not even the first fits so, its quick plan does, or the quick plan of the next that fits; empty: nothing does.
    """
    chosen, left_s = [], budget_s
    for turn in turns:
        if turn.takes_s <= left_s:
            chosen.append(turn)
            left_s -= turn.takes_s
    if not chosen:
        quick = (replace(turn, is_quick=True) for turn in turns)
        return [turn for turn in quick if turn.takes_s <= budget_s][:1]
    for index, turn in enumerate(chosen):
        more = min(MOST - FEWEST, int(left_s / turn.block_s))
        chosen[index] = replace(turn, blocks=FEWEST + more)
        left_s -= more * turn.block_s
    return chosen
