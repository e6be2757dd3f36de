"""The page of a suite: its question, its cases, who ran it, and how to run it."""

from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.pages import citing
from probe_effect.pages.markdown import page
from probe_effect.pages.results import view_of
from probe_effect.pages.source_page import FigureGroup, groups, shown
from probe_effect.pages.submission_page import with_numbers
from probe_effect.reduce.submission import Submission
from probe_effect.store.places import own_headers
from probe_effect.store.suite_file import Case, Suite, tools_of, workload_source
from probe_effect.tools.record import TOOLS

MOST_RUNS = 20
"""The runs that the page lists: the newest."""


def write(folder: SuiteFolder, catalogue: Catalogue) -> str:
    """The page of the suite in `folder`."""
    suite = folder.suite
    runs = [one for one in catalogue.numbers.submissions if one.suite == suite.id]
    own = {metric: [one for one in runs if one.metric == metric] for metric in ("time", "instructions")}
    view = view_of(suite)
    source = workload_source(folder.folder, suite)
    headers = [f"/scripts/{path.name}" for path in own_headers(source)]
    front = {
        "title": suite.title,
        "kind": "suite",
        "kicker": suite.id,
        "description": suite.question,
        "weight": catalogue.suites.index(folder) + 1,
        **citing.front(citing.cite_suite(suite, catalogue)),
    }
    return page(
        "suite.md.j2",
        front,
        suite=suite,
        description=" ".join(suite.description.split()),
        workload=[f"/scripts/{suite.id}/workload/{source.name}", *headers],
        scripts=lambda case: scripts(folder, case),
        spoils=all(TOOLS[tool].spoils for tool in tools_of(folder.folder)),
        measured=lambda case: view.range_of(case, catalogue.numbers),
        timed=own["time"][:MOST_RUNS],
        more=sum(len(some[MOST_RUNS:]) for some in own.values()),
        counted=own["instructions"][:MOST_RUNS],
        tracers=tracers,
        view=view,
        found=view.of_suite(suite, catalogue),
        beside=beside(suite, catalogue),
        printed=shown,
        titles=catalogue.titles,
    )


def beside(suite: Suite, catalogue: Catalogue) -> tuple[PublishedSource, FigureGroup] | None:
    """The published figures that the suite names, with their source; None where there are none."""
    if suite.published is None:
        return None
    sources = [one for one in catalogue.sources if one.id == suite.published.source]
    found = [(one, group) for one in sources for group in groups(one.figures)]
    return next((one for one in found if one[1].heading == suite.published.heading), None)


def scripts(folder: SuiteFolder, case: Case) -> dict[str, str]:
    """Tool to the address of its script of a case; with the level, where levels have scripts of their own."""
    found = {}
    for tool, paths in folder.by_case[case.id].items():
        for path, levels in paths.items():
            label = tool if len(paths) == 1 else f"{tool} {', '.join(levels)}"
            found[label] = f"/scripts/{folder.suite.id}/{path.name}"
    return found


def tracers(submission: Submission) -> list[str]:
    """The tracers that gave any number, each with its version."""
    used = dict.fromkeys(case.tracer for case in with_numbers(submission))
    return [names.tool(tracer, submission.document.tools.get(tracer)) for tracer in used]
