"""Every page and fragment that comes from data: path under the content or fragment folder, to its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.guidance.evidence import evidence
from probe_effect.pages import (
    case_page,
    emulated_page,
    fragments,
    kernel_charts,
    kernels_page,
    machine_page,
    source_page,
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
    for source in catalogue.sources:
        pages[f"sources/{source.id}.md"] = source_page.write(source, catalogue)
    for machine, submissions in catalogue.machines().items():
        pages[f"machines/{machine}.md"] = machine_page.write(machine, submissions, catalogue)
    for place, (machine, counted) in enumerate(kernels_page.machines(catalogue).items(), start=1):
        pages[f"kernels/{machine}.md"] = emulated_page.write(counted, catalogue, place)
    if changes := kernels_page.write_changes(catalogue):
        pages["kernels/changes.md"] = changes
    return pages


def fragment_files(catalogue: Catalogue) -> dict[str, str]:
    """Fragments by file name, for the hand-written pages to include."""
    return fragments.write_all(catalogue)


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart that a page or fragment names, once."""
    found = evidence(catalogue)
    drawn = [
        *fragments.charts(catalogue),
        *kernel_charts.charts(catalogue),
        *(chart for source in catalogue.sources for chart in source_page.charts(source)),
        *(chart for one in catalogue.submissions for chart in machine_page.charts(one)),
        *(
            chart
            for folder in catalogue.suites
            for case in folder.suite.cases
            for chart in case_page.charts(catalogue, found, folder.suite, case)
        ),
    ]
    return list({chart.name: chart for chart in drawn}.values())
