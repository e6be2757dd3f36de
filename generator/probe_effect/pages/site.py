"""Every page and fragment that comes from data: path under the content or fragment folder, to its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.guidance.catalogue import MeasuredSubmission
from probe_effect.guidance.evidence import evidence
from probe_effect.pages import (
    case_page,
    changes_page,
    emulated_page,
    explore_page,
    fragments,
    guide_fragments,
    kernel_charts,
    kernels_page,
    machine_page,
    number_page,
    releases_page,
    source_page,
    submission_page,
    suite_page,
    tracer_page,
)

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue


def content(catalogue: Catalogue) -> dict[str, str]:
    """Pages by path relative to Hugo's content folder."""
    pages, found = {}, evidence(catalogue)
    for folder in catalogue.suites:
        for case in folder.suite.cases:
            pages[f"costs/{case.id}.md"] = case_page.write(catalogue, found, folder, case)
    for folder in catalogue.suites:
        pages[f"suites/{folder.suite.id}.md"] = suite_page.write(folder, catalogue)
    for source in catalogue.sources:
        pages[f"sources/{source.id}.md"] = source_page.write(source, catalogue)
    for machine, submissions in catalogue.machines().items():
        pages[f"machines/{machine}.md"] = machine_page.write(machine, submissions, catalogue)
    for place, (machine, counted) in enumerate(kernels_page.machines(catalogue).items(), start=1):
        pages[f"kernels/{machine}.md"] = emulated_page.write(counted, catalogue, place)
    for release in catalogue.releases:
        pages[f"releases/{release.version}.md"] = releases_page.write(release, catalogue)
    if changes := kernels_page.write_changes(catalogue):
        pages["kernels/changes.md"] = changes
    return pages | _results(catalogue)


def _results(catalogue: Catalogue) -> dict[str, str]:
    """The page of each submission, and of each of its numbers."""
    pages = {}
    for one in catalogue.all_submissions():
        if isinstance(one, MeasuredSubmission):
            pages[f"results/{one.summary.id}.md"] = submission_page.write_measured(one, catalogue)
        else:
            pages[f"results/{one.summary.id}.md"] = submission_page.write_counted(one, catalogue)
        pages |= dict(number_page.write_all(one, catalogue))
    return pages


def fragment_files(catalogue: Catalogue) -> dict[str, str]:
    """Fragments by file name, for the hand-written pages to include."""
    return {
        **fragments.write_all(catalogue),
        **tracer_page.write_all(catalogue),
        **guide_fragments.write_all(catalogue),
        **explore_page.write_all(catalogue),
        "data-changes.md": changes_page.fragment(catalogue),
        "releases.md": releases_page.fragment(catalogue),
        "current-release.md": releases_page.current(catalogue),
    }


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart that a page or fragment names, once."""
    found = evidence(catalogue)
    drawn = [
        *fragments.charts(catalogue),
        *explore_page.charts(catalogue),
        *kernel_charts.charts(catalogue),
        *(chart for source in catalogue.sources for chart in source_page.charts(source)),
        *(
            chart
            for one in catalogue.all_submissions()
            if isinstance(one, MeasuredSubmission)
            for chart in submission_page.charts(one)
        ),
        *(
            chart
            for folder in catalogue.suites
            for case in folder.suite.cases
            for chart in case_page.charts(catalogue, found, folder.suite, case)
        ),
    ]
    return list({chart.name: chart for chart in drawn}.values())
