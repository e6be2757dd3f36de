"""A page per case: what it costs where it was measured, what others printed, and its script for each tracer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from probe_effect.answer import prediction, sentences
from probe_effect.answer.alternatives import Alternative, alternatives, remarks
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.agreement import of_case
from probe_effect.compare.kernels import kernel_names, matrices_of_case
from probe_effect.costs.actions import Checked, checked
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import entry_path
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.shown import MOST_MACHINES, home_machine, shown, shown_machines
from probe_effect.pages import addresses, agreement, case_answer, case_parts, citing, source_page, wording
from probe_effect.pages.case_answer import answer, machines_chart
from probe_effect.pages.case_parts import tested
from probe_effect.pages.instructions import listed
from probe_effect.pages.kernel_changes import causes, changes
from probe_effect.pages.markdown import page
from probe_effect.pages.results import view_of
from probe_effect.pages.results.cells import NumberColumn
from probe_effect.pages.results.view import CaseResults, ResultSection
from probe_effect.reduce.submission import Number
from probe_effect.store.places import linux_form
from probe_effect.store.suite_file import Case

MOST_CASES = 1000
"""More cases than any suite has, so that the pages of a suite stay together."""

MOST_ROWS = 20
"""Rows of its table, which a reader sees before those of other machines are asked for."""

OTHERS, CALLS = "On other machines", "What other system calls pay"

MOST_DRAWN = (MOST_MACHINES, 2)
"""Machines of a chart of dots, and of one where each has a line for each of its tracers."""

PLAIN_SYSTEM = "FreeBSD"
"""What a script is for that has a form for Linux beside it: the functions that it names are those of FreeBSD."""


def write(catalogue: Catalogue, found: Evidence, folder: SuiteFolder, case: Case) -> str:
    """The page of `case`; `found` is what the catalogue offers to guidance."""
    measured = home_first(catalogue, case.id)
    machines = {one.submission.machine for one in measured}
    view, suite = view_of(folder.suite), folder.suite
    of = CaseResults(found, suite, case, measured)
    single, more = case_parts.lines(measured), tested(found, case.id, machines)
    estimated = case_answer.of_case(found, case.id, shown_machines(catalogue.numbers))[: case_answer.MOST_LINES]
    table, *further = view.sections(of)
    table, others = table.parted(MOST_ROWS, OTHERS)
    drawn = charts(catalogue, case.id)
    counted = matrices_of_case(catalogue, suite, case.id) if view.counts_template else []
    published = list(catalogue.published(case.id))
    with_costs = {source.id for source, _ in published}
    front = {
        "title": catalogue.titles[case.id],
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
        title=catalogue.titles[case.id],
        titles=catalogue.titles,
        suite=suite,
        scripts=scripts(folder, case),
        versions=sorted({one.submission.document.run.suite_version for one in measured}),
        measured=measured,
        answer=answer(view, of, estimated),
        table=table,
        estimated=_estimated(estimated, catalogue.titles),
        folded=[others, *further, system_calls(found, case.id, machines)],
        others=OTHERS,
        calls=CALLS,
        skipped=not_measured(measured),
        view=view,
        single=ResultSection(columns=case_parts.COLUMNS, rows=single) if single else None,
        lines=[one for one in more if one.points],
        threads=[(one.cost, factor) for one in more for factor in one.factors],
        hardware=prediction.sentences(found, measured),
        put_together=put_together(found, case, machines),
        machine_names=of.machines,
        less=less(found, case.id, machines),
        remarks=remarks,
        published=published,
        ratios=agreement.ratios(of_case(catalogue, case.id, measured)) if suite.result_type.guides else {},
        beside=[one for one in catalogue.published(case.id, are_costs=False) if one[0].id not in with_costs],
        printed=source_page.shown,
        counted=counted,
        causes=causes(counted, catalogue.explanations),
        is_changed=bool(changes(counted)),
        kernel_names=kernel_names,
        drawn=drawn,
    )


def home_first(catalogue: Catalogue, case_id: str, most: int = MOST_MACHINES) -> list[Number]:
    """The numbers of a case that its page shows, on up to `most` machines."""
    measured, _ = shown(catalogue.numbers.of_case(case_id), catalogue.numbers, most)
    home = home_machine(catalogue.numbers)
    return sorted(measured, key=lambda one: one.submission.machine != home)


def _estimated(found: Sequence[case_answer.EstimateRow], titles: Mapping[str, str]) -> ResultSection:
    """The table of estimates, and the cases that they are from."""
    if not found:
        return ResultSection()
    cases = dict.fromkeys(case for one in found for case in one.part.cases)
    note = [f"From {listed([names.quoted(titles.get(one, one)) for one in cases])}."]
    columns = (NumberColumn("tracer", attrgetter("tracer")), NumberColumn("estimated-cost", attrgetter("text")))
    return ResultSection(title="Estimated", columns=columns, rows=found, note=note)


def not_measured(measured: Sequence[Number]) -> list[str]:
    """A sentence for each reason why there is no number, with the tracers and the machines where it is so."""
    reasons = grouped_by((one for one in measured if not one.is_known), lambda one: f"{one.status}: {one.note}")
    return [
        f"{listed(list(dict.fromkeys(names.machine_name(one.submission) for one in own)))}, with "
        f"{listed(list(dict.fromkeys(one.tracer for one in own)))}: {reason.rstrip('.')}."
        for reason, own in reasons.items()
    ]


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
    return ResultSection(title=CALLS, items=said)


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
    every, few = (CaseResults(found, suite, case, home_first(catalogue, case_id, most)) for most in MOST_DRAWN)
    results = [*machines_chart(view_of(suite), every), *view_of(suite).charts(few)]
    return CaseCharts(results, [*case_parts.charts(catalogue, case)], _published_chart(catalogue, case))


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
