"""The page of a submission: every number of one suite, run once on one machine, and how far to trust them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.compare.comparison import since
from probe_effect.numbers import names
from probe_effect.numbers.citation import LATER_EDITION
from probe_effect.pages import addresses, changes_page, citing, comparison, instructions, wording
from probe_effect.pages.markdown import page, page_code
from probe_effect.pages.results import skipped_cases, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Submission
    from probe_effect.store.suite_file import Suite


def write(submission: Submission, catalogue: Catalogue) -> str:
    """The page of a submission.

    It changes only with the submission, with older ones of its machine and suite, with the suite and our own code, and
    is kept.
    """
    runs = catalogue.numbers.machines(submission.metric).get(submission.machine, [])
    withdrawn = changes_page.withdrawn(submission.id, catalogue)
    known = [f"{one.id} {one.digest}" for one in runs if one.suite == submission.suite and one.digest]
    made_from = ("submission page", page_code(), catalogue.suites_digest, json.dumps(withdrawn), *known)
    make = partial(_write, submission, runs, replace(catalogue, edition=LATER_EDITION))
    if submission.digest is None:
        return make()
    return catalogue.kept.made(lambda: make().encode(), *made_from, submission.id, submission.digest).decode()


def _write(submission: Submission, runs: Sequence[Submission], catalogue: Catalogue) -> str:
    if submission.metric == "instructions":
        return page(
            "counted-submission.md.j2",
            _front(submission, catalogue, "Instructions, and no times."),
            **_shared(submission, catalogue),
            cases=with_numbers(submission),
            tracer=instructions.tracer,
            instructions=instructions,
        )
    suite = suite_of(submission, catalogue)
    return page(
        "submission.md.j2",
        _front(submission, catalogue, f"Grade {submission.grade}."),
        **_shared(submission, catalogue),
        chart=next((chart.name for chart in charts(submission)), None),
        cases=with_numbers(submission),
        starts=starts(suite),
        factor=suite.factor if suite else None,
        changes=[] if starts(suite) else since(submission, runs),
        comparison=comparison,
        wording=wording,
    )


def suite_of(submission: Submission, catalogue: Catalogue) -> Suite | None:
    """The suite that was run, as it is today; None where it is gone."""
    folder = catalogue.by_suite.get(submission.suite)
    return folder.suite if folder else None


def starts(suite: Suite | None) -> bool:
    """Whether a suite is about the tracer's own start and stop."""
    return suite is not None and suite.measures == "start"


def _front(submission: Submission, catalogue: Catalogue, trust: str) -> dict[str, object]:
    suite = suite_of(submission, catalogue)
    day = names.date_words(submission.date)
    name = suite.title if suite else submission.suite
    return {
        "title": name,
        "kind": "submission",
        "kicker": f"{names.machine_label(submission)}, {day}",
        "description": f"The run {submission.files.folder.name} on {names.machine_label(submission)}. {trust}",
        **citing.submission(submission, catalogue),
        **changes_page.withdrawn(submission.id, catalogue),
    }


def _shared(submission: Submission, catalogue: Catalogue) -> dict[str, object]:
    return {
        "submission": submission,
        "machine": names.machine_label(submission),
        "machine_address": addresses.machine_of(submission),
        "suite": suite_of(submission, catalogue),
        "titles": catalogue.titles,
        "skipped": skipped_cases(submission),
    }


def charts(submission: Submission) -> list[Chart]:
    """The costs of the submission with their intervals."""
    dots = [
        Dot(case.case if case.level is None else f"{case.case}, {case.level}", case.tracer, case.cost, case.tracer)
        for case in with_numbers(submission)
        if case.cost is not None and case.distinguishable
    ]
    if not dots:
        return []
    name = f"costs-{submission.id.replace('/', '-')}"
    sentence = "Cost of one event for each case measured, with its 95 % interval; often narrower than the dot."
    title, page = f"Cost of one event, suite {submission.suite}", addresses.submission(submission.id)
    return [cost_chart(name, title, sentence, dots, page=page)]
