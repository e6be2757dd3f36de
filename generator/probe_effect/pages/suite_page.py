"""The page of a suite: its question, its cases, who ran it, and how to run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.numbers import names
from probe_effect.pages import citing
from probe_effect.pages.markdown import page
from probe_effect.pages.ranges import measured_range
from probe_effect.pages.submission_page import with_numbers
from probe_effect.store.suite_file import SCRIPT_SUFFIXES, own_headers, script_path, workload_source

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
    from probe_effect.reduce.submission import Submission
    from probe_effect.store.suite_file import Case

MOST_RUNS = 20
"""That the page lists: the newest."""


def write(folder: SuiteFolder, catalogue: Catalogue) -> str:
    """The page of the suite in `folder`."""
    suite = folder.suite
    runs = [one for one in catalogue.numbers.submissions if one.suite == suite.id]
    own = {metric: [one for one in runs if one.metric == metric] for metric in ("time", "instructions")}
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
        workload=_workload(folder),
        scripts=lambda case: scripts(folder, case),
        measured=lambda case: measured_range(catalogue, suite, case),
        timed=own["time"][:MOST_RUNS],
        more=sum(len(some[MOST_RUNS:]) for some in own.values()),
        counted=own["instructions"][:MOST_RUNS],
        tracers=tracers,
    )


def _workload(folder: SuiteFolder) -> list[str]:
    """The source of the workload and its own headers, by their addresses."""
    source = workload_source(folder.folder, folder.suite)
    headers = [f"/scripts/{path.name}" for path in own_headers(source)]
    return [f"/scripts/{folder.suite.id}/workload/{source.name}", *headers]


def scripts(folder: SuiteFolder, case: Case) -> dict[str, str]:
    """Tool to the address of its script of a case."""
    paths = {tool: script_path(folder.folder, case.id, tool) for tool in SCRIPT_SUFFIXES}
    return {tool: f"/scripts/{folder.suite.id}/{path.name}" for tool, path in paths.items() if path}


def tracers(submission: Submission) -> list[str]:
    """The tracers that gave any number, each with its version."""
    used = dict.fromkeys(case.tracer for case in with_numbers(submission))
    return [names.tool(tracer, submission.document.tools.get(tracer)) for tracer in used]
