"""Generated pieces that hand-written pages include: tables over all machines and sources, and the home page's chart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.slowdown import Line, slowdown_chart
from probe_effect.guidance import names
from probe_effect.guidance.grades import OF_CASE, OF_SUBMISSION
from probe_effect.guidance.tiers import tiers
from probe_effect.pages import instructions, kernels_page, wording
from probe_effect.pages import tiers as tier_wording
from probe_effect.pages.machine_page import skipped_cases
from probe_effect.pages.markdown import render
from probe_effect.pages.source_page import READ, baselines
from probe_effect.store.dictionary import TABLES, document_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission, PublishedSource, SuiteFolder
    from probe_effect.model import Interval, SubmissionSummary
    from probe_effect.store.suite_file import Case, Suite

HOME_CHART = "events-to-slowdown"
FIRST_SUITE = "per-event"
"""The suite that the home page shows: one event, probe by probe."""


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    reference = reference_submission(catalogue)
    shared = {"catalogue": catalogue, "wording": wording, "titles": catalogue.titles()}
    return {
        "home-chart.md": render("fragments/home-chart.md.j2", chart=HOME_CHART if charts(catalogue) else None),
        "costs-table.md": render("fragments/costs-table.md.j2", reference=reference, skipped=skipped_cases, **shared),
        "all-costs.md": render(
            "fragments/all-costs.md.j2", suites=_first_suite_first(catalogue), measured=measured, **shared
        ),
        "published-costs.md": render("fragments/published-costs.md.j2", **shared),
        "tiers.md": render("fragments/tiers.md.j2", tiers=tiers(catalogue), wording=tier_wording),
        "machines.md": render("fragments/machines.md.j2", representative=representative, **shared),
        "sources.md": render(
            "fragments/sources.md.j2", sources=best_known_first(catalogue), read=READ, baselines=baselines, **shared
        ),
        "grades.md": render("fragments/grades.md.j2", rules={"a submission": OF_SUBMISSION, "a case": OF_CASE}),
        "files.md": render("fragments/files.md.j2", instructions=instructions, **shared),
        "dictionary.md": render("fragments/dictionary.md.j2", tables=TABLES, keys=document_keys()),
        **kernels_page.write_all(catalogue),
    }


def _first_suite_first(catalogue: Catalogue) -> list[SuiteFolder]:
    return sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)


def measured(catalogue: Catalogue, suite: Suite, case: Case) -> str:
    """What current submissions measured for a case, in one cell: one cost, or the least and the greatest of several."""
    found = [one for _, one in catalogue.measured(case.id)]
    timed = [one for one in found if one.cost is not None]
    if not timed:
        return found[0].status if found else "not yet"
    if suite.measures == "start":
        spans = [one.attach for one in timed if one.attach is not None]
        return _range([units.duration(span.value) for span in sorted(spans, key=_value)])
    clear = [one.cost for one in timed if one.cost is not None and one.distinguishable]
    if len(timed) == 1 or not clear:
        return wording.cost(timed[0])
    return _range([units.duration(cost.value) for cost in sorted(clear, key=_value)])


def _value(found: Interval) -> float:
    return found.value


def _range(texts: list[str]) -> str:
    """`21 ns to 262 ns (6)` of texts in ascending order; a single one alone."""
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]} ({len(texts)})" if texts else units.MISSING


def best_known_first(catalogue: Catalogue) -> list[PublishedSource]:
    """Sources read in full before those known from a file or an excerpt, newest first among each."""
    newest = sorted(catalogue.sources, key=lambda source: source.document.date, reverse=True)
    dated = sorted(newest, key=lambda source: source.document.date == wording.NOT_STATED)
    return sorted(dated, key=lambda source: list(READ).index(source.document.read))


def reference_submission(catalogue: Catalogue) -> MeasuredSubmission | None:
    """The submission that stands for the whole on the home page."""
    newest_first = [one for submissions in catalogue.machines().values() for one in submissions]
    timed = [one for one in newest_first if one.summary.metric == "time"]
    measured = [one for one in timed if any(case.cost for case in one.summary.cases)]
    return representative(measured) if measured else None


def representative(submissions: Sequence[MeasuredSubmission]) -> MeasuredSubmission:
    """Of submissions, newest first, the one to show: of the first suite, best grade, least noise, newest."""
    return min(  # of equals the first
        submissions,
        key=lambda one: (one.summary.suite != FIRST_SUITE, one.summary.grade, _noise_ratio(one.summary)),
    )


def _noise_ratio(summary: SubmissionSummary) -> float:
    if summary.noise_floor_ns is None or not summary.baseline_ns:
        return math.inf
    return summary.noise_floor_ns / summary.baseline_ns


def charts(catalogue: Catalogue) -> list[Chart]:
    """The home page's chart; none before anything was measured that guides."""
    reference = reference_submission(catalogue)
    if reference is None:
        return []
    titles = catalogue.titles()
    guiding = [case for case in reference.summary.cases if case.cost is not None and case.threshold_5 is not None]
    # Of one tracer, the one with most cases: lines of several would lie on each other.
    tracer = max((case.tracer for case in guiding), key=[case.tracer for case in guiding].count, default="")
    lines = [
        Line(titles.get(case.case, case.case), case.cost)
        for case in guiding
        if case.tracer == tracer and case.cost is not None
    ]
    if not lines:
        return []
    lines.sort(key=lambda line: line.cost.value)
    name = names.machine_name(reference.document)
    with_tool = names.tool(tracer, reference.document.tools.get(tracer))
    where = f"{name} ({wording.tier(reference.document)}) with {with_tool}"
    sentence = f"Measured on {where}: slowdown of one busy thread by its event rate."
    return [slowdown_chart(HOME_CHART, "From events per second to slowdown", sentence, lines)]
