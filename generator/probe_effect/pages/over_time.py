"""What the page of a machine says of it over time: for each suite that it ran again, how its costs changed.

Every difference is a comparison of one case with one tracer in two runs, and its words come from `pages/comparison.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from probe_effect import units
from probe_effect.charts.dots import Dot, DotQuantity, dot_chart
from probe_effect.charts.theme import LAYOUTS, Chart
from probe_effect.compare.comparison import Comparison, largest
from probe_effect.compare.subjects import History, RunChange, histories, same_machine
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import once
from probe_effect.numbers.names import date_words, quoted, with_level
from probe_effect.pages import addresses, comparison
from probe_effect.pages.results import view_of
from probe_effect.reduce.submission import Number, Submission

MOST_RUNS, MOST_ROWS = 4, 24
"""In a chart: the newest runs, and cases with a tracer, those that changed before those that did not."""

MOST_SENTENCES = 3
"""The largest changes are told one by one; all are on the pages of the runs."""

CHANGE = DotQuantity(
    "times the cost of the run before",
    ("ratio", "ratio_low", "ratio_high"),
    partial(units.interval, scale=units.TIMES),
    reference=1.0,
)


@dataclass(frozen=True, slots=True)
class SuiteOverTime:
    """A suite that a machine ran again: its title, when, what its costs did, and the chart of that where it has one.

    `said`: what else changed meanwhile, and what the costs did then; `clear`: the largest changes without any other.
    """

    suite: str
    title: str
    when: str
    said: tuple[tuple[str, str], ...]
    clear: tuple[str, ...]
    chart: str | None


def of_machine(machine: str, catalogue: Catalogue) -> list[SuiteOverTime]:
    """The history of each suite that the machine ran again, where its cases can be compared."""
    drawn = charts(catalogue, machine)
    return [_told(suite, one, catalogue, drawn.get(suite)) for suite, one in _of_costs(machine, catalogue)]


def other_ids(machine: str, catalogue: Catalogue) -> list[Submission]:
    """The newest run under each other id that the machine has, because its kernel or microcode changed."""
    found = {one.machine: one for one in reversed(same_machine(machine, catalogue.numbers.machines()))}
    return [one for name, one in found.items() if name != machine]


@once
def charts(catalogue: Catalogue, machine: str) -> dict[str, Chart]:
    """Suite to the chart that these name, the same under each id of the machine; without a card, as those of runs."""
    drawn = {suite: _chart(suite, one, catalogue) for suite, one in _of_costs(machine, catalogue)}
    return {suite: chart for suite, chart in drawn.items() if chart is not None}


def _of_costs(machine: str, catalogue: Catalogue) -> Iterator[tuple[str, History]]:
    """The histories of suites whose numbers are costs of events or slowdowns, by suite as the site orders them."""
    found = histories(same_machine(machine, catalogue.numbers.machines()))
    for folder in catalogue.suites:
        if folder.suite.id in found and view_of(folder.suite).has_costs:
            yield folder.suite.id, found[folder.suite.id]


def _told(suite: str, found: History, catalogue: Catalogue, chart: Chart | None) -> SuiteOverTime:
    first, last = (date_words(run.date) for run in (found.runs[0], found.runs[-1]))
    when = f"{units.count(len(found.runs))} runs, " + (f"all on {first}" if first == last else f"{first} to {last}")
    return SuiteOverTime(
        suite,
        catalogue.by_suite[suite].suite.title,
        when,
        tuple(_said(found)),
        tuple(
            comparison.between_submissions(one, lambda run: f"the run of {_when(run, found.runs)}")
            for one in largest(found.alike, MOST_SENTENCES)
        ),
        chart.name if chart else None,
    )


def _said(found: History) -> Iterator[tuple[str, str]]:
    if found.alike:
        yield "Kernel, microcode, tool and suite stayed the same.", _summary(found.alike)
    for changed, compared in found.changed.items():
        words = "; ".join(map(_change, changed))
        yield f"{words[:1].upper()}{words[1:]}.", _summary(compared)


def _summary(compared: Sequence[Comparison]) -> str:
    said = comparison.summary(compared, "in the later run")
    return f"{said} {comparison.chance(compared)}" if any(one.reason is None for one in compared) else said


def _change(one: RunChange) -> str:
    before, after = (side or "unknown" for side in (one.before, one.after))
    return f"{one.what} {quoted(before)} became {quoted(after)}"


def _chart(suite: str, found: History, catalogue: Catalogue) -> Chart | None:
    """The chart of each cost over that of the run before; None where no two can be compared."""
    newest = {one.id: _when(one, found.runs) for one in found.runs[-MOST_RUNS:]}
    compared = [
        one
        for one in found.comparisons
        if one.second.submission.id in newest and one.reason is None and one.ratio is not None
    ]
    if not compared:
        return None
    # The rows that are drawn to their places: of too many those with a change first, then in the order of cases.
    ordered = sorted(compared, key=lambda one: one.second.key.order)
    labels = list(dict.fromkeys(_row(one.second) for one in ordered))
    clear = {_row(one.second) for one in ordered if one.is_clear}
    kept = set(sorted(labels, key=lambda label: label not in clear)[:MOST_ROWS])
    rows = {label: place for place, label in enumerate(label for label in labels if label in kept)}
    shown = sorted((one for one in compared if _row(one.second) in rows), key=lambda one: rows[_row(one.second)])
    dots = [Dot(_row(one.second), newest[one.second.submission.id], one.ratio) for one in shown if one.ratio]
    machine, title = found.runs[-1].machine, catalogue.by_suite[suite].suite.title
    sentence = (
        "Cost of one event in a run over its cost in the run before, with its 95 % interval; at 1 it is the same."
    )
    left = len({_row(one.second) for one in compared}) - len(rows)
    chart = dot_chart(
        CHANGE,
        f"over-time-{machine}-{suite}",
        f"{title} on {names.machine_name(found.runs[-1])}: runs against the runs before",
        sentence,
        dots,
        series=list(newest.values()),
        note=f"{units.count(left)} more that show no difference are on the pages of the runs." if left else None,
        page=addresses.machine(machine),
    )
    return replace(chart, specs={layout: chart.specs[layout] for layout in LAYOUTS})


def _row(one: Number) -> str:
    return f"{with_level(one)}, {one.tracer}"


def _when(one: Submission, runs: Sequence[Submission]) -> str:
    """The day of a run, with its time where the machine ran the suite again that day."""
    is_alone = sum(run.date == one.date for run in runs) == 1
    return date_words(one.date) + ("" if is_alone else f", {one.started[11:16]} UTC")
