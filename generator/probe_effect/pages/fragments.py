"""Generated pieces that hand-written pages include: tables over all machines and sources, and the home page's chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.charts.slowdown import Line, slowdown_chart
from probe_effect.guidance.grades import RULES
from probe_effect.pages import wording
from probe_effect.pages.machine_page import skipped_cases
from probe_effect.pages.markdown import render
from probe_effect.pages.source_page import READ, baselines
from probe_effect.store.dictionary import TABLES, document_keys

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission, PublishedSource

HOME_CHART = "events-to-slowdown"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    reference = reference_submission(catalogue)
    shared = {"catalogue": catalogue, "wording": wording, "titles": catalogue.titles()}
    return {
        "home-chart.md": render("fragments/home-chart.md.j2", chart=HOME_CHART if charts(catalogue) else None),
        "costs-table.md": render("fragments/costs-table.md.j2", reference=reference, skipped=skipped_cases, **shared),
        "all-costs.md": render("fragments/all-costs.md.j2", **shared),
        "published-costs.md": render("fragments/published-costs.md.j2", **shared),
        "machines.md": render("fragments/machines.md.j2", **shared),
        "sources.md": render(
            "fragments/sources.md.j2", sources=best_known_first(catalogue), read=READ, baselines=baselines, **shared
        ),
        "grades.md": render("fragments/grades.md.j2", rules=RULES),
        "files.md": render("fragments/files.md.j2", **shared),
        "dictionary.md": render("fragments/dictionary.md.j2", tables=TABLES, keys=document_keys()),
    }


def best_known_first(catalogue: Catalogue) -> list[PublishedSource]:
    """Sources read in full before those known from a file or an excerpt, newest first among each."""
    newest = sorted(catalogue.sources, key=lambda source: source.document.date, reverse=True)
    dated = sorted(newest, key=lambda source: source.document.date == wording.NOT_STATED)
    return sorted(dated, key=lambda source: list(READ).index(source.document.read))


def reference_submission(catalogue: Catalogue) -> MeasuredSubmission | None:
    """The submission that stands for the whole on the home page: best grade, then most cases, then newest."""
    # `current` gives the newest first, and of equals `min` takes the first.
    timed = [one for one in catalogue.current() if one.summary.metric == "time"]
    measured = [one for one in timed if any(case.cost for case in one.summary.cases)]
    return min(
        measured,
        key=lambda one: (one.summary.grade, -sum(case.cost is not None for case in one.summary.cases)),
        default=None,
    )


def charts(catalogue: Catalogue) -> list[Chart]:
    """The home page's chart; none before anything was measured that guides."""
    reference = reference_submission(catalogue)
    if reference is None:
        return []
    titles = catalogue.titles()
    lines = [
        Line(f"{titles.get(case.case, case.case)} ({case.tracer})", case.cost)
        for case in reference.summary.cases
        if case.cost is not None and case.threshold_5 is not None
    ]
    if not lines:
        return []
    lines.sort(key=lambda line: line.cost.value)
    name = wording.machine_name(reference.document)
    sentence = (
        f"Measured on {name} ({wording.tier(reference.document)}): slowdown of one busy thread by its event rate."
    )
    return [slowdown_chart(HOME_CHART, "From events per second to slowdown", sentence, lines)]
