"""The law of a sample on the page of the suite that varies the depth: base, price of a frame, residuals."""

from probe_effect import units
from probe_effect.answer.depth import FRAMES, WALKED, SampleLaw, sample_law
from probe_effect.answer.evidence import evidence
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages.results.cells import NumberColumn
from probe_effect.pages.results.view import ResultSection
from probe_effect.store.suite_file import Suite

SAID = (
    f"The cost of a sample is a line over the frames that are walked, {WALKED} at most. "
    "A thread is slowed by the samples a second that hit it times that cost."
)


def of_suite(suite: Suite, catalogue: Catalogue) -> ResultSection | None:
    """The laws of all its cases on all machines; None of another suite, and where nothing was measured."""
    if suite.factor is None or suite.factor.name != FRAMES:
        return None
    found = evidence(catalogue)
    laws = {
        cost: law
        for like in dict.fromkeys(case.like for case in suite.cases if case.like)
        for machine in found.machines
        for tracer, cost in found.with_tracers(machine, like).items()
        if (law := sample_law(found, machine, tracer, like))
    }
    columns = (
        NumberColumn("tracer", names.tool_with_version),
        NumberColumn("machine", lambda cost: names.machine_name(cost.submission)),
        NumberColumn("sample-base", lambda cost: units.interval(laws[cost].at(0), units.DURATION)),
        NumberColumn("sample-frame", lambda cost: units.interval(laws[cost].line.per_x, units.DURATION)),
        NumberColumn("sample-residuals", lambda cost: _residuals(laws[cost])),
    )
    return ResultSection(sentences=[SAID], columns=columns, rows=list(laws)) if laws else None


def _residuals(law: SampleLaw) -> str:
    """`1: +0.5 %, 10: −1.2 %`: measured less fitted at each depth, over fitted."""
    signs = {frames: "+" if ratio > 0 else "" for frames, ratio in law.residuals.items()}
    return ", ".join(f"{frames}: {signs[frames]}{units.percent(ratio)}" for frames, ratio in law.residuals.items())
