"""Which costs guidance may use: of each machine, tracer and case the newest measurement whose events add up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probe_effect.guidance.likeness import facts_of
from probe_effect.model import Interval
from probe_effect.stats import mover

if TYPE_CHECKING:
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission
    from probe_effect.guidance.likeness import Facts
    from probe_effect.model import CaseSummary
    from probe_effect.store.suite_file import Case, Suite

START_SUITES = "start"
"""What suites measure whose runs are too short for a cost."""

Key = tuple[str, str, str]
"""Machine, tracer, case."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured cost, ns an event, with the submission that it is from."""

    submission: MeasuredSubmission
    case: CaseSummary
    cost: Interval

    @property
    def is_clear(self) -> bool:
        """Whether it is a cost at all, and not noise."""
        return self.case.distinguishable is not False and self.cost.value > 0

    @property
    def bounded(self) -> Interval:
        """The cost; where it is not clear, with its high end raised to the noise floor: it may be as much."""
        floor_ns, high_ns = self.case.noise_floor_ns, self.cost.high
        if self.is_clear or floor_ns is None or high_ns is None:
            return self.cost
        return Interval(self.cost.value, self.cost.low, max(high_ns, floor_ns))

    def over(self, other: Measured) -> Interval | None:
        """How many times the other's cost it is, taken for independent of it; None where the other may be 0."""
        return mover.ratio(self.cost, other.cost)

    @property
    def grade(self) -> tuple[str, tuple[str, ...]]:
        """(A to D, the reasons that kept it from a better one): the case's, or else its submission's."""
        if self.case.grade is None:
            return self.submission.summary.grade, self.submission.summary.grade_reasons
        return self.case.grade, self.case.grade_reasons

    @property
    def facts(self) -> Facts:
        """What its machine is like."""
        document = self.submission.document
        return facts_of(document.machine, document.system.kernel_release, document.run.metric)

    @property
    def tool_version(self) -> str | None:
        """What the tracer printed as its version."""
        return self.submission.document.tools.get(self.case.tracer)

    @property
    def date(self) -> str:
        """The day of the run, as ISO has it."""
        return self.submission.document.run.started[:10]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Every usable cost; those measured at levels apart, by level; and why others are not usable."""

    suites: tuple[Suite, ...]
    costs: dict[Key, Measured] = field(default_factory=dict)
    by_level: dict[Key, dict[str, Measured]] = field(default_factory=dict)
    refused: dict[Key, str] = field(default_factory=dict)

    def cases(self) -> list[tuple[Suite, Case]]:
        """Every case with its suite."""
        return [(suite, case) for suite in self.suites for case in suite.cases]

    def machines(self) -> list[str]:
        """Machines with a usable cost, those of the newest submissions first."""
        return list(dict.fromkeys(machine for machine, _, _ in self.costs))

    def tracers(self) -> list[str]:
        """Tracers with a usable cost, the one with most cases first."""
        cases: dict[str, set[str]] = {}
        for _, tracer, case in self.costs:
            cases.setdefault(tracer, set()).add(case)
        return sorted(cases, key=lambda tracer: -len(cases[tracer]))


def evidence(catalogue: Catalogue) -> Evidence:
    """What the catalogue's submissions offer to guidance."""
    found = Evidence(tuple(folder.suite for folder in catalogue.suites))
    for suite, case in found.cases():
        for submission, summary in catalogue.measured(case.id):
            _add(found, submission, summary, costs=suite.measures != START_SUITES)
    return found


def _add(found: Evidence, submission: MeasuredSubmission, case: CaseSummary, *, costs: bool) -> None:
    key = (submission.summary.machine, case.tracer, case.case)
    refusal = _refusal(submission, case) if costs else "its suite measures starting and stopping, not costs"
    if refusal is not None or case.cost is None:
        found.refused[key] = refusal or case.status
    elif case.level is None:
        found.costs[key] = Measured(submission, case, case.cost)
    else:
        found.by_level.setdefault(key, {})[case.level] = Measured(submission, case, case.cost)


def _refusal(submission: MeasuredSubmission, case: CaseSummary) -> str | None:
    """Why a measurement cannot guide; None where it can."""
    if submission.summary.metric != "time":
        return "it counts instructions, not time"
    if case.cost is None:
        return f"{case.status}: {case.note}"
    if case.reconciled is False:
        return "its events do not add up"
    return None
