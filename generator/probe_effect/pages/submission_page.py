"""The pages of a suite, and of a submission: every number of one suite, run once on one machine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import LAYOUTS, Chart
from probe_effect.compare.comparison import since
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.names import LATER_EDITION
from probe_effect.pages import addresses, changes_page, citing, wording
from probe_effect.pages.markdown import page, page_code
from probe_effect.pages.results import view_of
from probe_effect.pages.source_page import FigureGroup, groups, shown
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.places import own_headers
from probe_effect.store.suite_file import Case, Suite, tools_of, workload_source
from probe_effect.tools import TOOLS


def write(submission: Submission, catalogue: Catalogue) -> str:
    """The page of a submission.

    It changes only with the submission, with older ones of its machine and suite, with the suite and our own code, and
    is kept.
    """
    runs = catalogue.numbers.machines(submission.metric).get(submission.machine, [])
    withdrawn = changes_page.withdrawn(submission.id, catalogue)
    known = [f"{one.id} {one.digest}" for one in runs if one.suite == submission.suite and one.digest]
    own = (names.machine_name(submission), json.dumps(withdrawn))
    made_from = ("submission page", page_code(), catalogue.suites_digest, *own, *known)
    make = partial(_write, submission, runs, replace(catalogue, edition=LATER_EDITION), withdrawn)
    if submission.digest is None:
        return make()
    return catalogue.kept.made(lambda: make().encode(), *made_from, submission.id, submission.digest).decode()


def _write(
    submission: Submission, runs: Sequence[Submission], catalogue: Catalogue, withdrawn: Mapping[str, object]
) -> str:
    suite, is_time = suite_of(submission, catalogue), submission.metric == "time"
    view, cases = view_of(suite, submission.metric), with_numbers(submission)
    chart = next((chart.name for chart in charts(catalogue, submission)), None)
    machine = names.machine_name(submission)
    trust = f"Grade {submission.grade}." if is_time else "Instructions, and no times."
    front = {
        "title": suite.title if suite else submission.suite,
        "kind": "submission",
        "kicker": f"{machine}, {names.date_words(submission.date)}",
        "description": f"The run {submission.files.folder.name} on {machine}. {trust}",
        **citing.front(citing.cite_submission(submission, catalogue)),
        **withdrawn,
    }
    return page(
        "submission.md.j2",
        front,
        submission=submission,
        is_time=is_time,
        machine=machine,
        machine_address=addresses.machine_of(submission),
        suite=suite,
        titles=catalogue.titles,
        cases=cases,
        table=view.table(cases, suite.factor if suite else None, chart),
        skipped=skipped_cases(submission),
        view=view,
        changes=since(submission, runs) if view.has_costs else [],
    )


def suite_of(submission: Submission, catalogue: Catalogue) -> Suite | None:
    """The suite that was run, as it is today; None where it is gone."""
    folder = catalogue.by_suite.get(submission.suite)
    return folder.suite if folder else None


def with_numbers(submission: Submission) -> list[Number]:
    """The cases whose runs gave a number, which then has a page, in the order of their ids."""
    return [one for one in submission.numbers if one.is_known]


def skipped_cases(submission: Submission) -> dict[str, list[str]]:
    """How the runs of cases ended, and why, to the cases that have no number for that."""
    without = (one for one in submission.numbers if not one.is_known)
    reasons = grouped_by(without, lambda one: f"{one.status}: {one.note}")
    return {reason: list(dict.fromkeys(one.case for one in own)) for reason, own in reasons.items()}


@once
def charts(catalogue: Catalogue, submission: Submission) -> list[Chart]:  # noqa: ARG001  it remembers them
    """The costs of the submission with their intervals; without a card, which at a thousand runs few would ever see."""
    dots = [
        Dot(names.with_level(case), case.tracer, case.cost, case.tracer)
        for case in submission.numbers
        if case.cost is not None and case.distinguishable
    ]
    if not dots:
        return []
    name = f"costs-{submission.id.replace('/', '-')}"
    sentence = "Cost of one event for each case measured, with its 95 % interval; often narrower than the dot."
    costs, run = wording.from_to([dot.cost.value for dot in dots]), submission.id.rpartition("/")[2]
    title = f"One event costs {costs} on {names.machine_name(submission)} (run {run})"
    page = addresses.submission(submission.id)
    chart = cost_chart(name, title, sentence, dots, page=page)
    specs = {layout: chart.specs[layout] for layout in LAYOUTS}
    return [replace(chart, specs=specs, edition=f"run {submission.id}")]


MOST_RUNS = 20
"""The runs that the page lists: the newest."""


def write_suite(folder: SuiteFolder, catalogue: Catalogue) -> str:
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
