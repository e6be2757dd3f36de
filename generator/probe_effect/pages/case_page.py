"""A page per case: what it costs where it was measured, what others printed, and its script for each tracer."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from probe_effect.answer import sentences
from probe_effect.answer.alternatives import alternatives
from probe_effect.answer.beside import remarks
from probe_effect.answer.composition import checked
from probe_effect.answer.entry_path import entry_path
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.slowdown import Line, slowdown_chart
from probe_effect.compare.agreement import of_case
from probe_effect.compare.comparison import compare
from probe_effect.compare.kernels import kernel_names, matrices_of_case
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.home import home_machine
from probe_effect.numbers.kinds import shown, shown_machines
from probe_effect.pages import addresses, citing, comparison, estimates, own_use, source_page, starts, tails, wording
from probe_effect.pages.factors import dots, tested
from probe_effect.pages.markdown import page
from probe_effect.store.script_forms import linux_form

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from probe_effect.answer.alternatives import Alternative
    from probe_effect.answer.composition import Checked
    from probe_effect.answer.evidence import Evidence
    from probe_effect.charts.theme import Chart
    from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case, Suite

MOST_CASES = 1000
"""Of one suite, for the order of pages."""

MOST_LINES = 2
"""Machines of a chart: each has a line for each of its tracers."""

PLAIN_SYSTEM = "FreeBSD"
"""What a script is for that has a form for Linux beside it: the functions that it names are those of FreeBSD."""

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
    compared = [] if folder.suite.factor else measured
    single = tails.lines(measured)
    title = catalogue.titles[case.id]
    front = {
        "title": title,
        "kind": "case",
        "kicker": folder.suite.title,
        "description": case.what,
        "weight": _weight(catalogue, folder, case),
        **citing.front(citing.cite_case(case, catalogue)),
    }
    return page(
        "case.md.j2",
        front,
        case=case,
        title=title,
        titles=catalogue.titles,
        suite=folder.suite,
        scripts=scripts(folder, case),
        counted_by=COUNTED_BY[case.counted_by],
        measured=measured,
        answers=answers(measured, home_machine(catalogue.numbers), ranked=not folder.suite.factor),
        places=places(compared),
        between_machines=between_machines(compared, case.functions),
        between_versions=between_versions(compared),
        single=single,
        single_sentences=list(tails.sentences(single)),
        tested=tested(found, case.id, machines),
        estimated=estimates.of_case(found, case.id, shown_machines(catalogue.numbers))[: estimates.MOST_LINES],
        system_calls=system_calls(found, case.id, machines),
        put_together=put_together(found, case, machines),
        less=less(found, case.id, machines),
        remarks=remarks,
        pairings=of_case(catalogue, case.id, measured) if folder.suite.measures == "cost" else [],
        published=list(catalogue.published(case.id)),
        growth=starts.growth(measured) if folder.suite.measures == "start" else [],
        beside=list(catalogue.published_beside(case.id)) if folder.suite.measures in {"start", "tracer"} else [],
        printed=source_page.shown,
        said=list(own_use.sentences(measured)),
        growths=own_use.growths(measured),
        growth_counted=starts.growth_counted,
        counted=matrices_of_case(catalogue, folder.suite, case.id),
        kernel_names=kernel_names,
        charts=[chart.name for chart in charts(catalogue, found, folder.suite, case)],
    )


def scripts(folder: SuiteFolder, case: Case) -> list[tuple[str, str | None]]:
    """The names of its scripts with the system that each is for, None where it is for all."""
    found: list[tuple[str, str | None]] = []
    for paths in folder.by_case[case.id].values():
        for path in paths:
            own = linux_form(path)
            found += [(path.name, PLAIN_SYSTEM), (own.name, "Linux")] if own else [(path.name, None)]
    return found


def _weight(catalogue: Catalogue, folder: SuiteFolder, case: Case) -> int:
    """The page's place among all, which keeps the cases of a suite together, in its order."""
    return catalogue.suites.index(folder) * MOST_CASES + folder.suite.cases.index(case) + 1


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


def answers(measured: Sequence[Number], home: str | None, *, ranked: bool) -> list[list[str]]:
    """For each machine, `home` first, what its tracers of the lowest and the highest overhead do, or why none does.

    Args:
        ranked: whether to say, too, which of its tracers can be told apart.
    """
    machines: dict[str, list[Number]] = {}
    for one in sorted(measured, key=lambda one: one.submission.machine != home):
        machines.setdefault(one.submission.machine, []).append(one)
    return [[*_extremes(own), *(rankings(own) if ranked else [])] for own in machines.values()]


def _extremes(own: Sequence[Number]) -> list[str]:
    costs = sorted((one for one in own if one.cost), key=lambda one: one.known_cost.value)
    chosen = dict.fromkeys([*costs[:1], *costs[-1:]] or own[:1])
    return [wording.answer(one, names.machine_label(one.submission)) for one in chosen]


def rankings(measured: Sequence[Number]) -> list[str]:
    """For each machine with several tracers, which has the lowest overhead, as far as can be told."""
    said = [comparison.ranking(own, comparison.place_of(own[0])) for own in _by_machine(measured)]
    return [sentence for sentence in said if sentence is not None]


def places(measured: Sequence[Number]) -> dict[str, str]:
    """Number's id to the place by cost among the tracers of that machine; empty without any."""
    return {key: place for own in _by_machine(measured) for key, place in comparison.places(own).items()}


def between_machines(measured: Sequence[Number], functions: Sequence[str]) -> list[str]:
    """Each tracer on the machine that ran last against every other machine of the same tier that has it."""
    newest: dict[tuple[str, str | None, str], Number] = {}
    found = []
    for one in sorted(measured, key=lambda one: one.submission.started, reverse=True):
        document = one.submission.document
        place = (one.tracer, one.level, names.tier(document.machine, document.run.metric))
        other = newest.setdefault(place, one)
        if other is not one and one.cost and other.cost:
            compared = compare(one, other)
            remarks = comparison.instruction_remarks(compared, functions)
            found.append(" ".join([comparison.between_machines(compared), *remarks]))
    return found


def between_versions(measured: Sequence[Number]) -> list[str]:
    """Each two versions of one tool on one machine, the one with the shorter id first."""
    pairs = [
        pair
        for own in _by_machine(measured)
        for pair in combinations(sorted(own, key=lambda one: one.tracer), 2)
        if len({names.tool_of(one.tracer) for one in pair}) == 1
    ]
    return [
        f"On {comparison.place_of(found.first)}, {comparison.between_tracers(found)}"
        for found in (compare(*pair) for pair in pairs if all(one.cost for one in pair))
    ]


def system_calls(found: Evidence, case_id: str, machines: Collection[str]) -> list[str]:
    """What of its cost falls on system calls that nobody traces, one sentence for each machine and tracer."""
    return [
        f"On {names.machine_label(cost.submission)}, with {names.tool_with_version(cost)}: "
        + sentences.calls(names.quoted(cost.title), path)
        for machine in found.machines
        if machine in machines
        for tracer, cost in found.with_tracers(machine, case_id).items()
        if (path := entry_path(found, (machine, tracer, case_id)))
    ]


def _by_machine(measured: Sequence[Number]) -> list[list[Number]]:
    """What each machine measured, apart for each level: only that is ranked together."""
    groups: dict[tuple[str, str | None], list[Number]] = {}
    for one in measured:
        groups.setdefault((one.submission.machine, one.level), []).append(one)
    return list(groups.values())


def charts(catalogue: Catalogue, found: Evidence, suite: Suite, case: Case) -> list[Chart]:
    """Single operations, what a tracer takes, slowdown over rate, starts, published costs: what there is of them."""
    measured, _ = shown(catalogue.numbers.of_case(case.id), catalogue.numbers, MOST_LINES)
    machines = {one.submission.machine: names.machine_name(one.submission.document) for one in measured}
    labels = {
        (one.submission.machine, one.tracer): one.tracer
        if len(machines) == 1
        else f"{one.tracer}, {one.submission.machine}"
        for one in measured
    }
    lines = [
        Line(labels[one.submission.machine, one.tracer], one.known_cost, one.tracer)
        for one in measured
        if one.threshold(5) is not None and suite.measures == "cost" and not suite.factor
    ]
    published = [
        Dot(_row(source), figure.tracer or "other", Estimate(float(figure.cost_ns)), figure.tracer)
        for source, figure in catalogue.published(case.id)
        if figure.cost_ns is not None
    ]
    drawn, address = own_use.charts(suite, case, measured, labels), addresses.case(case.id)
    drawn += tails.charts(catalogue, case)
    if lines:
        where = f" on {next(iter(machines.values()))}" if len(machines) == 1 else ""
        points = dots(tested(found, case.id, machines), labels)
        sentence = f"Slowdown of one busy thread by the rate of its events{where}, with 95 % intervals as bands" + (
            "; dots are slowdowns that were measured at those rates." if points else "."
        )
        title = f"{case.title}: events per second to slowdown"
        drawn.append(slowdown_chart(f"slowdown-{case.id}", title, sentence, lines, points, page=address))
    if suite.measures == "start":
        drawn += starts.charts(case, measured, labels)
    if len(published) > 1 and any(dot.cost.value for dot in published):
        sentence = "Costs that others printed; each on its own machine, so they compare only in order of magnitude."
        title = f"{case.title}: published costs"
        drawn.append(cost_chart(f"published-{case.id}", title, sentence, published, page=address))
    return drawn


def _row(source: PublishedSource) -> str:
    """The row of a source's costs: who and when, and that only an excerpt is known where that is so."""
    label = wording.source_label(source.document)
    return f"{label} (excerpt only)" if source.from_excerpt else label
