"""The law of a sample on the page of the suite that varies the depth: base, price of a frame, residuals."""

from dataclasses import dataclass

from probe_effect import units
from probe_effect.answer.depth import FRAMES, SampleLaw, sample_law
from probe_effect.answer.evidence import evidence
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages.results.cells import NumberColumn
from probe_effect.pages.results.view import ResultSection
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.suite_file import Suite

SAID = (
    "The cost of a sample is a line over the frames that are walked, 127 at most. "
    "A thread is slowed by the samples a second that hit it times that cost."
)


@dataclass(frozen=True, slots=True)
class LawRow:
    """The law of the case that `cost` is of."""

    cost: Number
    law: SampleLaw
    level: None = None

    @property
    def submission(self) -> Submission:
        """The run that the cost is of, which names the machine."""
        return self.cost.submission

    @property
    def case(self) -> str:
        """The case whose sample it is."""
        return self.cost.case

    @property
    def title(self) -> str:
        """What that case is called."""
        return self.cost.title


COLUMNS = (
    NumberColumn("tracer", lambda row: names.tool_with_version(row.cost)),
    NumberColumn("machine", lambda row: names.machine_name(row.submission)),
    NumberColumn("sample-base", lambda row: units.interval(row.law.at(0), units.DURATION)),
    NumberColumn("sample-frame", lambda row: units.interval(row.law.line.per_x, units.DURATION)),
    NumberColumn("sample-residuals", lambda row: _residuals(row.law)),
)


def of_suite(suite: Suite, catalogue: Catalogue) -> ResultSection | None:
    """The laws of all its cases on all machines; None of another suite, and where nothing was measured."""
    if suite.factor is None or suite.factor.name != FRAMES:
        return None
    found = evidence(catalogue)
    rows = [
        LawRow(found.costs[machine, tracer, like], law)
        for like in dict.fromkeys(case.like for case in suite.cases if case.like)
        for machine in found.machines
        for tracer in found.with_tracers(machine, like)
        if (law := sample_law(found, machine, tracer, like))
    ]
    return ResultSection(sentences=[SAID], columns=COLUMNS, rows=rows) if rows else None


def _residuals(law: SampleLaw) -> str:
    """`1: +0.5 %, 10: −1.2 %`: measured less fitted at each depth, over fitted."""
    signs = {frames: "+" if ratio > 0 else "" for frames, ratio in law.residuals.items()}
    return ", ".join(f"{frames}: {signs[frames]}{units.percent(ratio)}" for frames, ratio in law.residuals.items())
