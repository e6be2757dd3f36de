"""Every page and fragment that comes from data: path under the content or fragment folder, to its text."""

from collections.abc import Iterator
from itertools import chain

from probe_effect.compare.kernels import matrices
from probe_effect.costs.evidence import evidence_of
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.names import ARCHITECTURES, Citation, Subject, cite
from probe_effect.numbers.shown import reference_submission
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import (
    addresses,
    architecture_page,
    case_page,
    changes_page,
    citing,
    fragments,
    guide_fragments,
    kernel_changes,
    kernels_page,
    ladder_page,
    machine_page,
    number_page,
    parts,
    proof,
    source_page,
    submission_page,
    tracer_page,
)
from probe_effect.site.pages.parts import Table, of_data


def content(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Pages by path relative to Hugo's content folder; those of numbers are in `number_pages`."""
    evidence = evidence_of(catalogue)
    for folder in catalogue.suites:
        cases = fragments.case_table(folder, catalogue, has_scripts=True)
        yield f"suites/{folder.suite.id}.md", submission_page.write_suite(folder, catalogue, cases)
        for case in folder.suite.cases:
            yield f"costs/{case.id}.md", case_page.write(catalogue, evidence, folder, case)
    for source in catalogue.sources:
        yield f"sources/{source.id}.md", source_page.write(source, catalogue)
    for machine, submissions in catalogue.numbers.machines().items():
        yield f"machines/{machine}.md", machine_page.write(submissions, catalogue)
    yield from architecture_page.write_all(catalogue)
    yield from kernel_changes.write_series(catalogue)
    # After the pages of architectures.
    for weight, (machine, counted) in enumerate(kernels_page.machines(catalogue).items(), start=101):
        yield f"kernels/{machine}.md", machine_page.write_emulated(counted, catalogue, weight)
    for release in catalogue.releases:
        yield f"releases/{release.version}.md", changes_page.write(release, catalogue)
    yield from fragments.write_further(catalogue)
    optional = {
        architecture_page.ADDRESS: architecture_page.write(catalogue),
        architecture_page.MECHANISMS_ADDRESS: architecture_page.write_mechanisms(catalogue),
        "kernels/changes.md": kernel_changes.write(catalogue),
    }
    yield from ((path, text) for path, text in optional.items() if text)
    for submission in catalogue.everything:
        yield f"results/{submission.id}.md", submission_page.write(submission, catalogue)


def number_pages(catalogue: Catalogue) -> Iterator[tuple[str, bytes]]:
    """For each submission the name of a file, and the pages of its numbers in it."""
    for submission in catalogue.everything:
        yield f"{submission.id}.json", number_page.write_all(submission, catalogue)


def fragment_files(catalogue: Catalogue) -> dict[str, str]:
    """Fragments by file name, for the hand-written pages to include."""
    return {
        **fragments.write_all(catalogue),
        **tracer_page.write_all(catalogue),
        **guide_fragments.write_all(catalogue),
        **kernels_page.write_all(catalogue),
        **ladder_page.write(catalogue),
        **proof.write(catalogue),
        **tracer_page.write(catalogue),
        "releases.md": changes_page.fragment(catalogue),
        "current-release.md": changes_page.current(catalogue),
    }


def charts(catalogue: Catalogue) -> list[Chart]:
    """Every chart that a page or fragment names, once."""
    evidence = evidence_of(catalogue)
    runs = (submission for submission in catalogue.everything if submission.metric == "time")
    machines = catalogue.numbers.machines()
    named = (matrix for matrix in matrices(catalogue) if matrix.architecture in ARCHITECTURES)
    drawn = [
        *guide_fragments.charts(catalogue),
        *ladder_page.charts(catalogue),
        *machine_page.charts(catalogue),
        *ladder_page.explore_charts(catalogue),
        *proof.charts(catalogue, evidence),
        *chain.from_iterable(kernel_changes.charts_of(matrix) for matrix in named),
        *kernel_changes.series_charts(catalogue),
        *chain.from_iterable(source_page.charts(catalogue, source) for source in catalogue.sources),
        *chain.from_iterable(submission_page.charts(catalogue, run) for run in runs),
        *chain.from_iterable(machine_page.charts_over_time(catalogue, machine).values() for machine in machines),
        *chain.from_iterable(some for case in catalogue.cases() for some in case_page.charts(catalogue, case.id)),
    ]
    return list({chart.name: chart for chart in drawn}.values())


def figure_page(chart: Chart, catalogue: Catalogue, position: int) -> str:
    """The page of `chart`, with its numbers as a table; what other sites embed is made from it too.

    `position` is its place in lists, from 1.
    """
    subject = Subject(chart.name, chart.title, addresses.chart(chart.name))
    front = {
        "title": chart.title,
        "kind": "figure",
        "weight": position,
        "description": chart.sentence,
        "chart": chart.name,
        "shown_on": chart.page,
        "outputs": ["html", "embed"],
        "cite_what": "figure",
        **citing.front(cite(subject, catalogue.edition)),
    }
    table = Table([of_data(head, "left") for head in chart.table.head], chart.table.rows)
    numbers = parts.Heading("The same numbers as a table", anchor="numbers")
    return parts.page(front, [parts.chart(chart.name), numbers, table])


def citations(catalogue: Catalogue) -> dict[str, Citation]:
    """Real examples of how to cite: `data`, and as far as there is any: `release`, `number`, `machine`, `figure`."""
    by_kind = {"data": citing.cite_data(catalogue)}
    if catalogue.releases:
        by_kind["release"] = citing.cite_release(catalogue.releases[-1], catalogue)
    if reference := reference_submission(catalogue.numbers):
        by_kind["machine"] = citing.cite_machine(reference, catalogue)
        if number := next((candidate for candidate in reference.numbers if candidate.threshold(5)), None):
            by_kind["number"] = citing.cite_number(number, catalogue)
    sources = fragments.best_known_first(catalogue)
    printed = ((source, entry) for source in sources for entry in source.figures if entry.printed)
    if figure := next(printed, None):
        by_kind["figure"] = citing.cite_figure(*figure, catalogue)
    return by_kind
