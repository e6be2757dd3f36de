"""Generated pieces that hand-written pages include: tables over all machines and sources, and the home page's chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.answer.rate_tiers import tiers
from probe_effect.charts.slowdown import Line, slowdown_chart
from probe_effect.numbers import names
from probe_effect.numbers.home import FIRST_SUITE, reference_submission
from probe_effect.pages import kernels_page, lists, wording
from probe_effect.pages import tiers as tier_wording
from probe_effect.pages.columns import COLUMNS
from probe_effect.pages.markdown import render
from probe_effect.pages.ranges import measured_range
from probe_effect.pages.results import skipped_cases
from probe_effect.pages.source_page import READ, baselines
from probe_effect.reduce.grades import OF_CASE, OF_SUBMISSION
from probe_effect.store.dictionary import TABLES, document_keys

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart
    from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder

HOME_CHART = "events-to-slowdown"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    reference = reference_submission(catalogue.numbers)
    shared = {"catalogue": catalogue, "wording": wording, "titles": catalogue.titles}
    return {
        "home-chart.md": render("fragments/home-chart.md.j2", chart=HOME_CHART if charts(catalogue) else None),
        "costs-table.md": render("fragments/costs-table.md.j2", reference=reference, skipped=skipped_cases, **shared),
        "all-costs.md": render(
            "fragments/all-costs.md.j2", suites=_first_suite_first(catalogue), measured=measured_range, **shared
        ),
        "published-costs.md": render("fragments/published-costs.md.j2", **shared),
        "tiers.md": render("fragments/tiers.md.j2", tiers=tiers(catalogue), wording=tier_wording),
        "sources.md": render(
            "fragments/sources.md.j2", sources=best_known_first(catalogue), read=READ, baselines=baselines, **shared
        ),
        "suites.md": render(
            "fragments/suites.md.j2",
            suites=_first_suite_first(catalogue),
            runs=lambda suite: [one for one in catalogue.numbers.submissions if one.suite == suite],
        ),
        "grades.md": render("fragments/grades.md.j2", rules={"a submission": OF_SUBMISSION, "a case": OF_CASE}),
        **lists.write_first(catalogue),
        "dictionary.md": render(
            "fragments/dictionary.md.j2", explained=COLUMNS.values(), tables=TABLES, keys=document_keys()
        ),
        **kernels_page.write_all(catalogue),
    }


def _first_suite_first(catalogue: Catalogue) -> list[SuiteFolder]:
    return sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)


def best_known_first(catalogue: Catalogue) -> list[PublishedSource]:
    """Sources read in full before those known from a file or an excerpt, newest first among each."""
    newest = sorted(catalogue.sources, key=lambda source: source.document.date, reverse=True)
    dated = sorted(newest, key=lambda source: source.document.date == wording.NOT_STATED)
    return sorted(dated, key=lambda source: list(READ).index(source.document.read))


def charts(catalogue: Catalogue) -> list[Chart]:
    """The home page's chart; none before anything was measured that guides."""
    reference = reference_submission(catalogue.numbers)
    if reference is None:
        return []
    titles = catalogue.titles
    guiding = [case for case in reference.numbers if case.cost is not None and case.threshold(5) is not None]
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
    return [slowdown_chart(HOME_CHART, "From events per second to slowdown", sentence, lines, page="/")]
