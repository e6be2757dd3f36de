"""A page per case: what it costs where it was measured, what others printed, and its script for each tracer."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer import prediction, sentences
from probe_effect.answer.answers import alternatives
from probe_effect.answer.sentences import remarks
from probe_effect.compare.agreement import of_case
from probe_effect.costs.actions import checked
from probe_effect.costs.evidence import Evidence, evidence_of
from probe_effect.costs.row import entry_path
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.counted import at_least
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.rows import Tail
from probe_effect.numbers.shown import MOST_MACHINES, home_machine, shown, shown_machines
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.charts.curves import Curve, tail_chart
from probe_effect.site.charts.dots import Dot, cost_chart
from probe_effect.site.charts.theme import Chart, TextForm
from probe_effect.site.pages import addresses, case_answer, citing, comparison, instructions, links, parts, source_page
from probe_effect.site.pages.case_answer import EstimateRow
from probe_effect.site.pages.parts import Fold, Heading, Items, Link, Part, Pieces, Table, columns, fold, section
from probe_effect.site.pages.results import view_of
from probe_effect.site.pages.results.cost import Tested, tested
from probe_effect.site.pages.results.view import COST, CaseResults, NumberColumn, of_machines
from probe_effect.site.pages.text import link, listed, safe, say, together
from probe_effect.store.places import linux_form
from probe_effect.store.suite_file import Case, Suite

MOST_CASES = 1000  # more cases than any suite has, so that the pages of a suite stay together
MOST_DRAWN = (MOST_MACHINES, 2)  # machines of a chart of dots, and of one where each has a line for each of its tracers

COUNTED_BY = {
    "maps": "The script counts its own events.",
    "lines": "Events are the lines that the script prints.",
    "twin": "A twin of the script counts the events of the workload alone, in a run of its own that is not timed.",
    "tool": "The tool counts events itself.",
    "calls": "The system calls of the tool itself are counted by perf stat, in a run of its own that is not timed.",
    "nothing": "No event is expected.",
}

MEET = {True: "meet", False: "do not meet"}  # whether two intervals have a value in common


def write(catalogue: Catalogue, evidence: Evidence, folder: SuiteFolder, case: Case) -> str:
    suite = folder.suite
    front = {
        "title": catalogue.titles[case.id],
        "kind": "case",
        "kicker": suite.title,
        "description": case.what,
        "weight": catalogue.suites.index(folder) * MOST_CASES + suite.cases.index(case) + 1,
        **citing.front(citing.cite_case(case, suite, catalogue)),
    }
    of = CaseResults(evidence, suite, case, _home_first(catalogue, case.id))
    return parts.page(front, _parts(catalogue, of, folder))


def _parts(catalogue: Catalogue, of: CaseResults, folder: SuiteFolder) -> Iterator[Part]:
    evidence, suite, case, view = of.found, of.suite, of.case, view_of(of.suite)
    estimated = case_answer.of_case(evidence, case.id, shown_machines(catalogue.numbers))[: case_answer.MOST_LINES]
    results, counted = view.sections(of), list(view.counted(suite, case, catalogue))
    (drawn, drawn_tails, drawn_costs), written = charts(catalogue, case.id), _scripts(folder, case)
    measured = [part for part in results if not isinstance(part, Fold)]
    more = tested(evidence, case.id, of.machines)
    yield case_answer.answer(view, of, estimated)
    yield _what(case, suite, has_untraced=view.has_untraced)
    yield from (parts.chart(chart.name) for chart in drawn[:1])
    yield Heading("Measured" if measured or not estimated else "Estimated", anchor="measured")
    if not of.measured:
        yield say("No machine has run this case yet. [Yours could be the first](/submit/).")
    yield from measured or _estimates(estimated, catalogue.titles)
    yield " ".join(prediction.sentences(evidence, of.measured))
    yield from (part for part in counted if not isinstance(part, Fold))
    yield Heading("The scripts")
    yield _how_to_run(suite, case, of.measured)
    yield from chain.from_iterable(written[:1])
    yield from section(
        "In detail",
        *fold("Its other scripts", *chain.from_iterable(written[1:])),
        *fold("Further charts", *(parts.chart(chart.name) for chart in drawn[1:])),
        *(part for part in (*results, *counted) if isinstance(part, Fold)),
        *fold("What other system calls pay", *_system_calls(of)),
        *fold("Estimated", *(_estimates(estimated, catalogue.titles) if measured else [])),
        *fold("Single operations", *_single_operations(of.measured, drawn_tails)),
        *fold("What would cost less", *_less(of)),
        *fold("What its parts predict", *_put_together(of, catalogue.titles)),
        *fold("Does the line hold?", *_at_rates(more)),
        *fold("Several threads", *_by_threads(more)),
        *fold("Where it was not measured", Items(not_measured(of.measured))),
        *_published(catalogue, of, drawn_costs),
    )


def _home_first(catalogue: Catalogue, case_id: str, most: int = MOST_MACHINES) -> list[Number]:
    measured, _ = shown(catalogue.numbers.of_case(case_id), catalogue.numbers, most)
    home = home_machine(catalogue.numbers)
    return sorted(measured, key=lambda number: number.submission.machine != home)


def _what(case: Case, suite: Suite, *, has_untraced: bool) -> Markup:
    events = "one event" if case.events_per_operation == 1 else f"{case.events_per_operation} events"
    made = "its events are counted in each run" if suite.workload.events == "counted" else f"one operation is {events}"
    made = "costs are those of one operation, which has no event" if case.probe.startswith("silent") else made
    text = "One operation of the workload is {}; {}." if has_untraced else "An operation is {}."
    work = say(text, suite.workload.operation, made)
    only = say(" It is a case of {}.", names.only_on(case)) if case.architectures else ""
    return say("{} {}{}", case.what, work, only)


def _estimates(estimated: Sequence[EstimateRow], titles: Mapping[str, str]) -> list[Part]:
    if not estimated:
        return []
    cases = dict.fromkeys(case for row in estimated for case in row.part.cases)
    explanation = say(
        "Instructions were counted, and [what they take there](/costs/#estimates) is known from other cases: no "
        "measurement, and ranked with none."
    )
    columns = [NumberColumn(name, attrgetter(key)) for name, key in (("tracer", "tracer"), ("estimated-cost", "cost"))]
    note = (
        f"From {instructions.listed(names.quoted(titles.get(case_id, case_id)) for case_id in cases)}." if cases else ""
    )
    return [explanation, *of_machines(columns, estimated, note)]


def _how_to_run(suite: Suite, case: Case, measured: Sequence[Number]) -> Markup:
    versions = [
        str(number) for number in sorted({version.submission.document.run.suite_version for version in measured})
    ]
    of_version = "The script is that of version {} of the suite; what is above was measured with {} {}."
    word = "version" if len(versions) == 1 else "versions"
    return together(
        say("To run it on your machine: `probe-effect measure {} --case {}`.", safe(suite.id), safe(case.id)),
        COUNTED_BY[case.counted_by],
        versions and say(of_version, suite.version, word, instructions.listed(versions)),
    )


def _scripts(folder: SuiteFolder, case: Case) -> list[list[Part]]:
    scripts: list[list[Part]] = []
    for path in chain.from_iterable(folder.by_case[case.id].values()):
        for_linux = linux_form(path)  # beside it, the functions that the script names are those of FreeBSD
        for system, form in (("FreeBSD", path), ("Linux", for_linux)) if for_linux else (("", path),):
            scripts.append([system and say("On {}:", system), parts.script(f"{folder.suite.id}/{form.name}")])
    return scripts


def _system_calls(of: CaseResults) -> list[Part]:
    """A sentence for each machine and tracer: which part of the cost falls on system calls that nobody traces."""
    items = []
    for machine, tracer, cost in ((at, tracer, cost) for at, own in of.costs.items() for tracer, cost in own.items()):
        if path := entry_path(of.found, (machine, tracer, of.case.id)):
            where = f"On {names.machine_name(cost.submission)}, with {names.tool_with_version(cost)}"
            items.append(f"{where}: {sentences.calls(names.quoted(cost.title), path)}")
    why = (
        "A probe on one system call sends all of them through a longer way into the kernel. `probe-effect predict "
        "--calls` takes the number that your program makes."
    )
    return [Items(items), say(why)] if items else []


class TailRow(NamedTuple):
    """The number of a tracer, or None for the untraced runs of its submission, and how long single operations took."""

    submission: Submission
    number: Number | None
    tail: Tail

    @property
    def name(self) -> str:
        return self.number.tracer if self.number else "untraced"

    def cells(self) -> list[str]:
        percentiles = [units.interval(percentile, units.DURATION) for percentile in self.tail.percentiles_ns]
        return [*percentiles, units.duration(self.tail.longest_ns)]


def tails(measured: Sequence[Number]) -> list[TailRow]:
    """The rows of each submission that timed single operations: the untraced one, then one for each of the numbers."""
    rows = []
    for submission in dict.fromkeys(number.submission for number in measured):
        own = [number for number in measured if number.submission is submission and number.key in submission.tails]
        levels = {number.level for number in own}
        untraced = [(key, tail) for key, tail in submission.tails.items() if key.is_baseline and key.level in levels]
        rows += [TailRow(submission, None, tail) for _, tail in untraced]
        rows += [TailRow(submission, number, submission.tails[number.key]) for number in own]
    return rows


def _single_operations(measured: Sequence[Number], drawn: Sequence[Chart]) -> list[Part]:
    columns = [
        NumberColumn("tracer", lambda row: names.tool_with_version(row.number) if row.number else row.name),
        NumberColumn("p50", lambda row: row.cells()[0]),
        NumberColumn("p99", lambda row: row.cells()[2]),
        NumberColumn("p99-9", lambda row: row.cells()[3]),
        NumberColumn("longest", lambda row: row.cells()[4]),
    ]
    timed = say(
        "Each operation was timed by itself, with the clock read before and after it: each time has about one read of "
        "the clock in it."
    )
    meaning = say(
        "A percentile is the Hodges-Lehmann estimate over the blocks with its 95 % interval; the longest time is that "
        "of all blocks.\nCompare a tracer with the untraced line of its own machine: nobody's operations are free of a "
        "tail."
    )
    table = of_machines(columns, tails(measured), meaning)
    return [timed, *(parts.chart(chart.name) for chart in drawn), *table] if table else []


def _less(of: CaseResults) -> Iterator[Part]:
    """For each machine what costs less than the case with the tracer of most cases; the calculator has the others."""
    has_any = False
    for machine, costs in of.costs.items():
        tracer = min(costs, key=of.found.tracers.index)
        asked, rows = costs[tracer], []
        for way in alternatives(of.found, (machine, tracer, of.case.id)):
            number, difference = way.measured, comparison.cells(way.comparison)[0]
            rows.append(
                (links.case(number.case, number.title), number.tracer, COST.cell(number), difference, remarks(way))
            )
        if rows:
            called, tool = names.quoted(asked.title), names.tool_with_version(asked)
            yield say("On {}, in place of {} with {}:", links.machine(asked.submission), called, tool)
            head = ("difference", f"Difference from {called}")
            yield Table(columns("case", "tracer", "cost", head, "trade"), rows)
            has_any = True
    if has_any:
        yield say(
            "Other probes and actions that answer the same question, or enough of it, where an interval separates the "
            "two costs.\nWhat they would do at your rate: [the calculator](/)."
        )


def _put_together(of: CaseResults, titles: Mapping[str, str]) -> list[Part]:
    case, made = of.case, of.case.composed
    of_which = case.parts or ((made.probe, made.action, made.plain) if made else ())
    rows = []
    for machine in of.found.machines if of_which else ():
        for check in checked(of.found, machine) if machine in of.machines else ():
            if check.case == case.id:
                on = link(of.machines[machine], addresses.machine(machine))
                times = (units.interval(time, units.DURATION) for time in (check.predicted, check.measured))
                rows.append((on, check.tracer, *times, units.interval(check.ratio, units.TIMES), MEET[check.holds]))
    if not rows:
        return []
    operations = ("predicted-operation", "measured-operation", "measured-predicted")
    table = Table(columns("machine", "tracer", *operations, "meet"), rows)
    cases = [links.case(part, titles.get(part, part)) for part in of_which]
    summed = say("The sum of {}", listed(cases)) if case.parts else say("{}, plus {}, less {}", *cases)
    return [say("{}, against what was measured.", summed), table]


def _at_rates(tests: Sequence[Tested]) -> Iterator[Part]:
    for test in (test for test in tests if test.points):
        where = (names.tool_with_version(test.cost), names.machine_name(test.cost.submission))
        yield say("{} on {}: {}", *where, sentences.line_words(test.points))
        rows = []
        for point in test.points:
            slowdowns = (units.interval(each, units.SHARE) for each in (point.measured, point.predicted))
            rows.append((units.rate(point.rate_hz), *slowdowns, MEET[point.holds]))
        yield Table(columns("untraced-rate", "slowdown-measured", "slowdown-predicted", "meet"), rows)


def _by_threads(tests: Sequence[Tested]) -> list[Part]:
    rows = []
    for test, factor in ((of, factor) for of in tests for factor in of.factors):
        times = Pieces([units.interval(factor.factor, units.TIMES), " what it costs with one"])
        on = links.machine(test.cost.submission), names.tool_with_version(test.cost)
        rows.append((*on, factor.threads, times))
    return [Table(columns("machine", "tracer", "threads", "thread-factor"), rows)] if rows else []


def not_measured(measured: Sequence[Number]) -> list[str]:
    """A sentence for each reason why there is no number, with the tracers and the machines where it is so."""
    reasons = grouped_by(
        (number for number in measured if not number.is_known), lambda number: f"{number.status}: {number.note}"
    )
    items = []
    for reason, own in reasons.items():
        machines = instructions.listed(dict.fromkeys(names.machine_name(number.submission) for number in own))
        tracers = instructions.listed(dict.fromkeys(names.tracer_name(number.tracer) for number in own))
        items.append(f"{machines}, with {tracers}: {reason.rstrip('.')}.")
    return items


def _published(catalogue: Catalogue, of: CaseResults, drawn: Sequence[Chart]) -> Iterator[Part]:
    each = (
        "Each of these comes from its own machine and its own {}: compare them in order of magnitude, and read the "
        "source’s page first."
    )
    ratio = (
        "The ratio is what was measured here over the published cost: the least and the greatest of so many machines "
        "and versions. They are never averaged."
    )
    case = of.case.id
    ratios = comparison.ratios(of_case(catalogue, case, of.measured)) if of.suite.result_type.guides else {}
    first, last = ("source", "tracer", "what"), "figure-grade"
    if costs := list(catalogue.published(case)):
        measured = ["measured-published"] if ratios else []
        rows = [
            links.figure(source, figure) | {"measured-published": ratios.get((source.id, figure.figure), "")}
            for source, figure in costs
        ]
        table = Table.of_cells([*first, "published-cost", "published-baseline", *measured, last], rows)
        pictures = (parts.chart(chart.name) for chart in drawn)
        yield from fold("Published by others", together(say(each, "method"), ratios and say(ratio)), table, *pictures)
    with_costs, rows = {source.id for source, _ in costs}, []
    for source, figure in catalogue.published(case, are_costs=False):
        if source.id not in with_costs:
            text = source_page.shown(figure) + (" (derived)" if figure.printed is None else "")
            rows.append(
                links.figure(source, figure) | {"printed": Link(text, addresses.figure(source.id, figure.figure))}
            )
    if rows:
        yield from fold("Printed by others", say(each, "script"), Table.of_cells([*first, "printed", last], rows))


@once
def charts(catalogue: Catalogue, case_id: str) -> tuple[list[Chart], list[Chart], list[Chart]]:
    """The charts of a case: of its results, of single operations, and of published costs; each may be empty."""
    evidence = evidence_of(catalogue)
    suite, case = evidence.of[case_id]
    every, few = (CaseResults(evidence, suite, case, _home_first(catalogue, case_id, most)) for most in MOST_DRAWN)
    results = [*case_answer.machines_chart(view_of(suite), every), *view_of(suite).charts(few)]
    return results, tail_charts(catalogue, case), _published_chart(catalogue, case)


def tail_charts(catalogue: Catalogue, case: Case) -> list[Chart]:
    """The share of operations that take as long or longer, on one machine; none where they were not timed."""
    timed = [number for number in catalogue.numbers.of_case(case.id) if number.key in number.submission.tails]
    chosen, _ = shown(timed, catalogue.numbers, 1)
    drawn = tails(chosen)
    if not drawn:
        return []
    curves = [Curve(row.name, at_least(row.tail.buckets), row.number.tracer if row.number else None) for row in drawn]
    meanings = ("half take no longer than", "90 %", "99 %", "99.9 %", "the longest")
    rows = zip(meanings, *(row.cells() for row in drawn), strict=True)
    table = TextForm(("", *(row.name for row in drawn)), tuple(rows))
    where = names.machine_name(drawn[0].submission)
    sentence = "Share of operations that take as long or longer: one in a thousand is 0.1 %."
    title = f"{case.title}: how long single operations take on {where}"
    return [tail_chart(f"tail-{case.id}", title, sentence, curves, table=table, page=addresses.case(case.id))]


def _published_chart(catalogue: Catalogue, case: Case) -> list[Chart]:
    published = []
    for source, figure in catalogue.published(case.id):
        if figure.cost_ns is not None:
            label = parts.source_label(source.document) + (" (excerpt only)" if source.from_excerpt else "")
            cost = Estimate(float(figure.cost_ns))
            published.append(Dot(label, figure.tracer or "other", cost, figure.tracer))
    if len(published) < 2 or not any(dot.cost.value for dot in published):
        return []
    sentence = "Costs that others printed; each on its own machine, so they compare only in order of magnitude."
    costs = parts.from_to([dot.cost.value for dot in published])
    title, page = f"{case.title}: others printed {costs} an event", addresses.case(case.id)
    return [cost_chart(f"published-{case.id}", title, sentence, published, page=page)]
