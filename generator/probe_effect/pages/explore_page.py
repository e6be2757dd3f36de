"""What `/explore/` and `/compare/` show without scripts: a chart and tables of every current cost, and comparisons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.charts.costs import Dot, cost_chart
from probe_effect.guidance import names
from probe_effect.guidance.comparison import Side, between_tracers
from probe_effect.pages import addresses, comparison, wording
from probe_effect.pages.markdown import render
from probe_effect.pages.results import FIRST_SUITE, reference_submission

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission
    from probe_effect.guidance.comparison import Comparison
    from probe_effect.model import CaseSummary
    from probe_effect.store.suite_file import Suite

CHART = "explore"

FLAG = "†"
"""After a number that is shown and not ranked: its events do not add up, or it counts lost ones."""

WORDS = {
    "cost": "Cost of one event",
    "slowdown": "Slowdown of a busy thread at {rate}",
    "instructions": "Instructions of one event",
    "axis": {
        "cost": "added ns per event",
        "slowdown": "slowdown, %",
        "instructions": "added instructions per event",
    },
    "unclear": wording.UNCLEAR,
    "flag": FLAG,
    "shown": "{rows} shown.",
    "row": ["number", "numbers"],
    "none": "Nothing was measured with all of these choices.",
    "not_drawn": {
        "unclear": "{rows} not distinguishable from 0",
        "zero": "{rows} not above 0, which a logarithmic axis does not have",
        "many": "{rows} beyond the first {most} rows",
    },
    "ignored": "Ignored from the address, not known here: {names}.",
    "failed": "The numbers could not be loaded; the table below has them too.",
    "no_chart": "The chart could not be drawn; the table has its numbers.",
}
"""What the page's script says, by key, with named places."""


@dataclass(frozen=True, slots=True)
class Versus:
    """Another tracer against the usual one of a machine."""

    tracer: str
    tool: str
    comparisons: tuple[Comparison, ...]

    @property
    def has_levels(self) -> bool:
        """Whether any of its cases has a level."""
        return any(one.first.case.level is not None for one in self.comparisons)


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    shared = {"titles": catalogue.titles(), "wording": wording, "addresses": addresses}
    drawn = CHART if charts(catalogue) else None
    tables = [(suite, rows) for suite in _suites(catalogue) if (rows := measured(catalogue, suite))]
    return {
        "explore-chart.md": render("fragments/explore-chart.md.j2", chart=drawn),
        "explore-tables.md": render("fragments/explore-tables.md.j2", tables=tables, flag=FLAG, **shared),
        "compare-tracers.md": render(
            "fragments/compare-tracers.md.j2", **versus(catalogue), comparison=comparison, **shared
        ),
    }


def measured(catalogue: Catalogue, suite: Suite) -> list[tuple[MeasuredSubmission, CaseSummary]]:
    """Every current cost of a suite, in its order."""
    rows = [found for case in suite.cases for found in catalogue.measured(case.id)]
    return [(submission, case) for submission, case in rows if case.cost is not None]


def versus(catalogue: Catalogue) -> dict[str, object]:
    """On the reference machine each tracer against the one with most costs; nothing before anything was measured."""
    reference = reference_submission(catalogue)
    if reference is None:
        return {"usual": None, "where": None, "others": []}
    starts = {folder.suite.id for folder in catalogue.suites if folder.suite.measures == "start"}
    of_machine = catalogue.machines()[reference.summary.machine]
    side = Side(reference.summary.machine, tuple(one for one in of_machine if one.summary.suite not in starts))
    usual, *others = [tracer for tracer, _ in Counter(key.tracer for key in side.measurements()).most_common()]
    found = ((other, tuple(between_tracers(side, usual, other))) for other in others)
    return {
        "usual": usual,
        "where": comparison.machine_label(reference),
        "others": [Versus(other, _named(some[0].second.submission, other), some) for other, some in found if some],
    }


def _named(submission: MeasuredSubmission, tracer: str) -> str:
    return names.tool(tracer, submission.document.tools.get(tracer))


def charts(catalogue: Catalogue) -> list[Chart]:
    """The first suite on the reference machine with all its tracers; none before anything was measured."""
    reference = reference_submission(catalogue)
    if reference is None:
        return []
    suites = (suite for suite in _suites(catalogue) if suite.id == FIRST_SUITE)
    rows = [row for suite in suites for row in measured(catalogue, suite)]
    own = [row for row in rows if row[0].summary.machine == reference.summary.machine]
    clear = [(one, case) for one, case in own if case.distinguishable and case.reconciled is not False]
    titles = catalogue.titles()
    dots = [
        Dot(titles.get(case.case, case.case), _named(one, case.tracer), case.cost, case.tracer)
        for one, case in clear
        if case.cost is not None
    ]
    if not dots:
        return []
    where = f"{names.machine_name(reference.document)} ({wording.tier(reference.document)})"
    sentence = f"Measured on {where}: what each event adds, a row for each case and a dot for each tracer."
    left_out = len(own) - len(clear)
    note = f"Left out: {left_out} not distinguishable from 0, or whose events do not add up." if left_out else None
    return [cost_chart(CHART, "The cost of one event, by case and tracer", sentence, dots, note, page="/explore/")]


def _suites(catalogue: Catalogue) -> list[Suite]:
    """Those that measure costs, the first suite first."""
    suites = [folder.suite for folder in catalogue.suites if folder.suite.measures == "cost"]
    return sorted(suites, key=lambda suite: suite.id != FIRST_SUITE)
