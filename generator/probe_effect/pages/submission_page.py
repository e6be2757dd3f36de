"""The page of a submission: every number of one suite, run once on one machine, and how far to trust them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.charts.costs import Dot, cost_chart
from probe_effect.guidance import names
from probe_effect.guidance.comparison import since
from probe_effect.guidance.instruction_change import Counted
from probe_effect.pages import addresses, changes_page, citing, comparison, instructions, wording
from probe_effect.pages.markdown import page
from probe_effect.pages.number_page import machine_address, machine_label
from probe_effect.pages.results import counted_cases, measured_cases, skipped_cases

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission, MeasuredSubmission
    from probe_effect.model import InstructionCase
    from probe_effect.store.suite_file import Suite


def write_measured(submission: MeasuredSubmission, catalogue: Catalogue) -> str:
    """The page of a submission of times."""
    suite = suite_of(submission, catalogue)
    earlier = since(submission, catalogue.machines().get(submission.summary.machine, []))
    return page(
        "submission.md.j2",
        _front(submission, catalogue, f"Grade {submission.summary.grade}."),
        **_shared(submission, catalogue),
        chart=next((chart.name for chart in charts(submission)), None),
        cases=measured_cases(submission),
        starts=starts(suite),
        factor=suite.factor if suite else None,
        changes=[] if starts(suite) else earlier,
        comparison=comparison,
        wording=wording,
    )


def write_counted(submission: CountedSubmission, catalogue: Catalogue) -> str:
    """The page of a submission of counted instructions."""
    return page(
        "counted-submission.md.j2",
        _front(submission, catalogue, "Instructions, and no times."),
        **_shared(submission, catalogue),
        cases=counted_cases(submission),
        tracer=lambda case: tracer(submission, case),
        instructions=instructions,
    )


def suite_of(submission: MeasuredSubmission | CountedSubmission, catalogue: Catalogue) -> Suite | None:
    """The suite that was run, as it is today; None where it is gone."""
    return next((one.suite for one in catalogue.suites if one.suite.id == submission.summary.suite), None)


def starts(suite: Suite | None) -> bool:
    """Whether a suite is about the tracer's own start and stop."""
    return suite is not None and suite.measures == "start"


def tracer(submission: CountedSubmission, case: InstructionCase) -> str:
    """The tracer of a count with its version."""
    return instructions.tracer(Counted(submission, case))


def _front(submission: MeasuredSubmission | CountedSubmission, catalogue: Catalogue, trust: str) -> dict[str, object]:
    suite = suite_of(submission, catalogue)
    day = names.date_words(submission.document.run.started[:10])
    name = suite.title if suite else submission.summary.suite
    return {
        "title": name,
        "kind": "submission",
        "kicker": f"{machine_label(submission)}, {day}",
        "description": f"The run {submission.files.folder.name} on {machine_label(submission)}. {trust}",
        **citing.submission(submission, catalogue),
        **changes_page.withdrawn(submission.files.id, catalogue),
    }


def _shared(submission: MeasuredSubmission | CountedSubmission, catalogue: Catalogue) -> dict[str, object]:
    return {
        "submission": submission,
        "summary": submission.summary,
        "machine": machine_label(submission),
        "machine_address": machine_address(submission),
        "suite": suite_of(submission, catalogue),
        "titles": catalogue.titles(),
        "skipped": skipped_cases(submission),
    }


def charts(submission: MeasuredSubmission) -> list[Chart]:
    """The costs of the submission with their intervals."""
    dots = [
        Dot(case.case if case.level is None else f"{case.case}, {case.level}", case.tracer, case.cost, case.tracer)
        for case in measured_cases(submission)
        if case.cost is not None and case.distinguishable
    ]
    if not dots:
        return []
    name = f"costs-{submission.summary.id.replace('/', '-')}"
    sentence = "Cost of one event for each case measured, with its 95 % interval; often narrower than the dot."
    title, page = f"Cost of one event, suite {submission.summary.suite}", addresses.submission(submission.summary.id)
    return [cost_chart(name, title, sentence, dots, page=page)]
