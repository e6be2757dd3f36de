"""A page per case: what it costs where it was measured, what others printed, and its script for each tracer."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from probe_effect.charts.costs import Dot, cost_chart
from probe_effect.charts.slowdown import Line, slowdown_chart
from probe_effect.model import Interval
from probe_effect.pages import wording
from probe_effect.pages.markdown import page
from probe_effect.store.suite_file import SCRIPT_SUFFIXES, script_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission, PublishedSource, SuiteFolder
    from probe_effect.model import CaseSummary
    from probe_effect.store.suite_file import Case, Suite

COUNTED_BY = {
    "maps": "The script counts its own events.",
    "lines": "Events are the lines that the script prints.",
    "twin": "The action counts nothing, so a twin of the script with a counter runs once, untimed.",
    "tool": "The tool counts events itself.",
    "nothing": "No event is expected.",
}


def write(catalogue: Catalogue, folder: SuiteFolder, case: Case) -> str:
    """The page of `case`."""
    scripts = [path.name for tracer in SCRIPT_SUFFIXES if (path := script_path(folder.folder, case.id, tracer))]
    measured = list(catalogue.measured(case.id))
    front = {
        "title": case.title,
        "kind": "case",
        "kicker": case.id,
        "description": case.what,
        "weight": [one.id for one in folder.suite.cases].index(case.id) + 1,
    }
    return page(
        "case.md.j2",
        front,
        case=case,
        suite=folder.suite,
        scripts=scripts,
        counted_by=COUNTED_BY[case.counted_by],
        measured=measured,
        answers=answers(measured),
        published=list(catalogue.published(case.id)),
        charts=[chart.name for chart in charts(catalogue, folder.suite, case)],
        wording=wording,
    )


def answers(measured: Sequence[tuple[MeasuredSubmission, CaseSummary]]) -> list[str]:
    """For each machine the sentence for its cheapest tracer and for its dearest; or why it has no number."""
    found = []
    for _, rows in groupby(measured, key=lambda one: one[0].summary.machine):
        own = list(rows)
        name = wording.machine_name(own[0][0].document)
        costs = sorted((one.cost.value, place) for place, (_, one) in enumerate(own) if one.cost is not None)
        chosen = dict.fromkeys(place for _, place in (costs[:1] + costs[-1:])) or {0: None}
        found += [wording.answer(own[place][1], name) for place in chosen]
    return found


def charts(catalogue: Catalogue, suite: Suite, case: Case) -> list[Chart]:
    """Slowdown over rate where it was measured; published costs as dots where there are several."""
    measured = list(catalogue.measured(case.id))
    machines = {submission.summary.machine: wording.machine_name(submission.document) for submission, _ in measured}
    lines = [
        Line(one.tracer if len(machines) == 1 else f"{one.tracer}, {submission.summary.machine}", one.cost)
        for submission, one in measured
        if one.cost is not None and one.threshold_5 is not None and suite.measures == "cost"
    ]
    dots = [
        Dot(_row(source), figure.tracer or "other", Interval(float(figure.cost_ns)))
        for source, figure in catalogue.published(case.id)
        if figure.cost_ns is not None
    ]
    drawn = []
    if lines:
        where = f" on {next(iter(machines.values()))}" if len(machines) == 1 else ""
        sentence = f"Slowdown of one busy thread by the rate of its events{where}, with 95 % intervals as bands."
        drawn.append(
            slowdown_chart(f"slowdown-{case.id}", f"{case.title}: events per second to slowdown", sentence, lines)
        )
    if len(dots) > 1 and any(dot.cost.value for dot in dots):
        sentence = "Costs that others printed; each on its own machine, so they compare only in order of magnitude."
        drawn.append(cost_chart(f"published-{case.id}", f"{case.title}: published costs", sentence, dots))
    return drawn


def _row(source: PublishedSource) -> str:
    """The row of a source's costs: who and when, and that only an excerpt is known where that is so."""
    label = wording.source_label(source.document)
    return f"{label} (excerpt only)" if source.from_excerpt else label
