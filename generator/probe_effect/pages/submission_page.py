"""The page of a submission: every number of one suite, run once on one machine, and how far to trust them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import LAYOUTS, Chart
from probe_effect.compare.comparison import since
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.citation import LATER_EDITION
from probe_effect.numbers.once import grouped_by, once
from probe_effect.pages import addresses, changes_page, citing, wording
from probe_effect.pages.markdown import page, page_code
from probe_effect.pages.results import view_of
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.suite_file import Suite


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
