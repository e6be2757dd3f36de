"""A page per case: what it costs where it was measured, what others printed, and its script for each tracer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from probe_effect.answer import hardware, sentences
from probe_effect.answer.alternatives import Alternative, alternatives
from probe_effect.answer.beside import remarks
from probe_effect.answer.composition import Checked, checked
from probe_effect.answer.entry_path import entry_path
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.agreement import of_case
from probe_effect.compare.kernels import kernel_names, matrices_of_case
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.home import home_machine
from probe_effect.numbers.kinds import shown, shown_machines
from probe_effect.numbers.once import once
from probe_effect.pages import addresses, citing, estimates, source_page, tails, wording
from probe_effect.pages.factors import tested
from probe_effect.pages.markdown import page
from probe_effect.pages.results import view_of
from probe_effect.pages.results.view import CaseResults, ResultSection
from probe_effect.reduce.submission import Number
from probe_effect.store.script_forms import linux_form
from probe_effect.store.suite_file import Case

MOST_CASES = 1000
"""More cases than any suite has, so that the pages of a suite stay together."""

MOST_LINES = 2
"""Machines of a chart: each has a line for each of its tracers."""

PLAIN_SYSTEM = "FreeBSD"
"""What a script is for that has a form for Linux beside it: the functions that it names are those of FreeBSD."""

CALLS_NOTE = Markup(
    "A probe on one system call sends all of them through a longer way into the kernel. `probe-effect predict --calls` "
    "takes the number that your program makes."
)

COUNTED_BY = {
    "maps": "The script counts its own events.",
    "lines": "Events are the lines that the script prints.",
    "twin": "A twin of the script counts the events of the workload alone, in a run of its own that is not timed.",
    "tool": "The tool counts events itself.",
    "calls": "The system calls of the tool itself are counted by perf stat, in a run of its own that is not timed.",
    "nothing": "No event is expected.",
}


def write(catalogue: Catalogue, found: Evidence, folder: SuiteFolder, case: Case) -> str:
    """The page of `case`; `found` is what the catalogue offers to guidance."""
    measured, _ = shown(catalogue.numbers.of_case(case.id), catalogue.numbers)
    machines = {one.submission.machine for one in measured}
    view, suite = view_of(folder.suite), folder.suite
    single = tails.lines(measured)
    title = catalogue.titles[case.id]
    drawn, more = charts(catalogue, case.id), tested(found, case.id, machines)
    of = CaseResults(found, suite, case, measured, home_machine(catalogue.numbers))
    names_of_results = [chart.name for chart in drawn.results]
    sections = [
        replace(one, charts=[name for name in one.charts if name in names_of_results])
        for one in view.sections(of)
        if not one.is_empty
    ]
    above = {name for one in sections for name in one.charts}
    front = {
        "title": title,
        "kind": "case",
        "kicker": folder.suite.title,
        "description": case.what,
        "weight": catalogue.suites.index(folder) * MOST_CASES + suite.cases.index(case) + 1,
        **citing.front(citing.cite_case(case, catalogue)),
    }
    return page(
        "case.md.j2",
        front,
        case=case,
        title=title,
        titles=catalogue.titles,
        suite=suite,
        scripts=scripts(folder, case),
        counted_by=COUNTED_BY[case.counted_by],
        measured=measured,
        sections=sections,
        view=view,
        single=ResultSection(charts=[one.name for one in drawn.tails], columns=tails.COLUMNS, rows=single)
        if single
        else None,
        single_sentences=list(tails.sentences(single)),
        lines=[one for one in more if one.points],
        threads=[(one.cost, factor) for one in more for factor in one.factors],
        estimated=estimates.of_case(found, case.id, shown_machines(catalogue.numbers))[: estimates.MOST_LINES],
        hardware=hardware.sentences(found, measured),
        system_calls=system_calls(found, case.id, machines),
        put_together=put_together(found, case, machines),
        machine_names=of.machines,
        less=less(found, case.id, machines),
        remarks=remarks,
        pairings=of_case(catalogue, case.id, measured) if suite.result_type.guides else [],
        published=list(catalogue.published(case.id)),
        beside=list(catalogue.published(case.id, are_costs=False)) if view.has_figures_beside else [],
        printed=source_page.shown,
        counted=matrices_of_case(catalogue, suite, case.id) if view.counts_template else [],
        kernel_names=kernel_names,
        drawn=drawn,
        below=[name for name in names_of_results if name not in above],
    )


def scripts(folder: SuiteFolder, case: Case) -> list[tuple[str, str | None]]:
    """The names of its scripts with the system that each is for, None where it is for all."""
    found: list[tuple[str, str | None]] = []
    for paths in folder.by_case[case.id].values():
        for path in paths:
            own = linux_form(path)
            found += [(path.name, PLAIN_SYSTEM), (own.name, "Linux")] if own else [(path.name, None)]
    return found


def less(found: Evidence, case_id: str, machines: Collection[str]) -> dict[Number, list[Alternative]]:
    """For each of some machines its cost with the tracer of most cases, to what costs less; none where nothing does.

    The other tracers of the case are in its table, and the calculator answers for each of them.
    """
    keys = [
        (machine, min(costs, key=found.tracers.index), case_id)
        for machine in found.machines
        if machine in machines and (costs := found.with_tracers(machine, case_id))
    ]
    return {found.costs[key]: cheaper for key in keys if (cheaper := alternatives(found, key))}


def put_together(found: Evidence, case: Case, machines: Collection[str]) -> list[tuple[str, Checked]]:
    """Machine and what the parts of a combination predict there, for a case that is one."""
    if not case.parts and case.composed is None:
        return []
    shown = (machine for machine in found.machines if machine in machines)
    return [(machine, one) for machine in shown for one in checked(found, machine) if one.case == case.id]


def system_calls(found: Evidence, case_id: str, machines: Collection[str]) -> ResultSection:
    """A sentence for each machine and tracer: which part of the cost falls on system calls that nobody traces."""
    said = [
        f"On {names.machine_name(cost.submission)}, with {names.tool_with_version(cost)}: "
        + sentences.calls(names.quoted(cost.title), path)
        for machine in found.machines
        if machine in machines
        for tracer, cost in found.with_tracers(machine, case_id).items()
        if (path := entry_path(found, (machine, tracer, case_id)))
    ]
    return ResultSection(title="What other system calls pay", items=said, note=[CALLS_NOTE] * bool(said))


@dataclass(frozen=True, slots=True)
class CaseCharts:
    """The charts of the page of a case, by where it has them: of its results, of tails, and of published costs."""

    results: Sequence[Chart]
    tails: Sequence[Chart]
    published: Sequence[Chart]

    @property
    def every(self) -> list[Chart]:
        """All of them, in the order of the page."""
        return [*self.results, *self.tails, *self.published]


@once
def charts(catalogue: Catalogue, case_id: str) -> CaseCharts:
    """The charts of a case; groups are empty where there is nothing to draw."""
    found = evidence(catalogue)
    suite, case = found.of[case_id]
    measured, _ = shown(catalogue.numbers.of_case(case.id), catalogue.numbers, MOST_LINES)
    results = view_of(suite).charts(CaseResults(found, suite, case, measured))
    return CaseCharts(results, tails.charts(catalogue, case), _published_chart(catalogue, case))


def _published_chart(catalogue: Catalogue, case: Case) -> list[Chart]:
    """Costs that others printed, where there are two."""
    published = [
        Dot(_row(source), figure.tracer or "other", Estimate(float(figure.cost_ns)), figure.tracer)
        for source, figure in catalogue.published(case.id)
        if figure.cost_ns is not None
    ]
    if len(published) < 2 or not any(dot.cost.value for dot in published):
        return []
    sentence = "Costs that others printed; each on its own machine, so they compare only in order of magnitude."
    costs = wording.from_to([dot.cost.value for dot in published])
    title, page = f"{case.title}: others printed {costs} an event", addresses.case(case.id)
    return [cost_chart(f"published-{case.id}", title, sentence, published, page=page)]


def _row(source: PublishedSource) -> str:
    """The row of a source's costs: who and when, and that only an excerpt is known where that is so."""
    label = wording.source_label(source.document)
    return f"{label} (excerpt only)" if source.from_excerpt else label
