"""The pages of a suite, and of a submission: every number of one suite, run once on one machine.

The page of a suite says what it asks, how it measures, its cases with their ranges, what it found, and who ran it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from probe_effect import units
from probe_effect.compare.comparison import since
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import TOOLS
from probe_effect.site.charts.dots import Dot, cost_chart
from probe_effect.site.charts.theme import LAYOUTS, Chart
from probe_effect.site.pages import addresses, changes_page, citing, comparison, instructions, links, parts
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Table, columns, page, page_code, section
from probe_effect.site.pages.results import suite_of, view_of, view_of_submission
from probe_effect.site.pages.results.view import COST
from probe_effect.site.pages.source_page import FigureGroup, grid, groups, shown
from probe_effect.site.pages.text import link, listed, say, together
from probe_effect.store.places import own_headers
from probe_effect.store.suite_file import Case, Suite, tools_of, workload_source

COUNTED = say(
    "Instructions counted in an emulated machine, and no times: see "
    "[what they show, and what they do not](/kernels/what-counts-hide/)."
)


def write(submission: Submission, catalogue: Catalogue) -> str:
    # The page changes with the submission, older ones of its machine and suite, the suite, and our code; it is kept.
    runs = catalogue.numbers.machines(submission.metric).get(submission.machine, [])
    withdrawn = changes_page.withdrawn(submission.id, catalogue)
    digests = [f"{run.id} {run.digest}" for run in runs if run.suite == submission.suite and run.digest]
    own = (names.machine_name(submission), json.dumps(withdrawn), str(catalogue.numbers.spread))
    made_from = ("submission page", page_code(), catalogue.suites_digest, *own, *digests)

    def made() -> bytes:
        suite, machine = suite_of(submission, catalogue), names.machine_name(submission)
        trust = f"Grade {submission.grade}." if submission.metric == "time" else "Instructions, and no times."
        later = catalogue.later
        front = {
            "title": suite.title if suite else submission.suite,
            "kind": "submission",
            "kicker": f"{machine}, {names.date_words(submission.date)}",
            "description": f"The run {submission.files.folder.name} on {machine}. {trust}",
            **citing.front(citing.cite_submission(submission, later)),
            **withdrawn,
        }
        return page(front, _parts(submission, runs, later)).encode()

    own_digest = submission.digest
    kept = catalogue.kept.made(made, *made_from, submission.id, own_digest) if own_digest else made()
    return kept.decode()


def _parts(submission: Submission, runs: Sequence[Submission], catalogue: Catalogue) -> Iterator[Part]:
    document, run, is_time = submission.document, submission.document.run, submission.metric == "time"
    suite, numbers = suite_of(submission, catalogue), with_numbers(submission)
    view = view_of(suite, submission.metric)
    yield suite.question if suite else None
    without_tracer = untraced(submission) if view.has_untraced else ()
    yield together(links.grade(submission) if is_time else COUNTED, *without_tracer)
    if numbers:
        yield Heading(view.heading)
        yield from (parts.chart(chart.name) for chart in charts(catalogue, submission))
        yield from view.table(numbers, suite.factor if suite else None)
        yield f"Each {'number' if is_time else 'count'} leads to the rows that it is made of."
        yield Items([remark for number in numbers for remark in _remarks(number, view.main.id)])
    if view.has_costs and (changes := since(submission, runs, catalogue.numbers.spread)):
        yield Heading("Since earlier runs")
        yield f"{comparison.summary(changes, 'in this run')} {comparison.chance(changes)}"
        rows = []
        for change in changes:
            then = change.first
            case, cost = links.case(then.case, then.title, then.level), links.number(then, "cost", parts.cost(then))
            rows.append((case, then.tracer, cost, *comparison.cells(change), links.run(then.submission)))
        yield Table(columns("case", "tracer", "then", "difference", "ratio", "outcome", "earlier-run"), rows)
        yield "The earlier run is the newest before this one, of the same suite, that has the case with the tracer."
        yield Items([comparison.between_submissions(change) for change in changes if change.reason])
    without = [number for number in submission.numbers if not number.is_known]
    yield Heading(f"Not {'measured' if is_time else 'counted'}") if without else None
    for reason, own in grouped_by(without, lambda number: f"{number.status}: {number.note}").items():
        cases = dict.fromkeys(links.case(number.case, number.title) for number in own)
        these = "This is case" if len(cases) == 1 else "These are cases"
        yield together(say("{}.", reason), say("{} {}.", these, listed(cases)))
    yield Heading("How it was run")
    yield parts.command(run.command)
    workloads, tracers = (f" ({core})" if core else "" for core in (run.workload_core, run.tracer_core))
    tracer_cpu = "" if run.tracer_cpu is None else f", tracer on CPU {run.tracer_cpu}{tracers}"
    load = "" if run.load_before is None else f", load {run.load_before} before and {run.load_after} after"
    how = f"{run.workload_cpu}{workloads}{tracer_cpu}{load}"
    raw = say("Raw data: {}.", links.raw_files(submission))
    yield together(raw, say("Seed {}, workload on CPU {}, by {}.", run.seed, how, document.provenance.tool))
    if run.traced_beside:
        yield say("Something else traced meanwhile: {}.", ", ".join(run.traced_beside))
    yield links.credit([submission])
    suite_link, machine = links.suite(submission.suite), links.machine(submission)
    yield say("Suite {}, version {}, on {}.", suite_link, run.suite_version, machine)
    if is_time and run.functions:
        functions = listed(say("{} **{}**", name, first_bytes) for name, first_bytes in run.functions.items())
        yield say("Probed instructions, by the first bytes of each function: {}.", functions)


def untraced(submission: Submission) -> Iterator[Markup]:
    """What an operation takes without a tracer, and what two such runs may differ by."""
    if baseline := submission.baseline:
        is_time = submission.metric == "time"
        takes = units.duration(baseline.value) if is_time else f"{instructions.count(baseline)} instructions"
        yield say("One untraced operation takes {}.", takes)
    if floor_ns := submission.noise_floor_ns:
        means = "that is the noise floor, and a cost below it is no difference"
        yield say("Baseline against baseline leaves {} possible: {}.", units.duration(floor_ns, 2), means)
    if apart_ns := submission.equal_runs_ns:
        yield say(
            "Two single untraced runs differ by up to {}, in 95\u00a0% of the pairs.", units.duration(apart_ns, 2)
        )


def _remarks(number: Number, quantity: str) -> Iterator[Markup]:
    tracer = names.tracer_name(number.tracer)
    if number.faults and not number.is_time:
        sentence = "{} {}, {}: neither ranked nor compared, because {}."
        yield say(sentence, instructions.FLAG, number.title, tracer, "; ".join(number.faults))
    if number.note:
        level = f", {names.level(number.level)}" if number.level else ""
        yield say("{}, {}{}: {}", link(number.title, addresses.number(number, quantity)), tracer, level, number.note)


def with_numbers(submission: Submission) -> list[Number]:
    """The cases whose runs gave a number, which then has a page, in the order of their ids."""
    return [number for number in submission.numbers if number.is_known]


@once
def charts(catalogue: Catalogue, submission: Submission) -> list[Chart]:
    """The costs of the submission with their intervals, where that is what its suite measures.

    They have no card, which at a thousand runs few would ever see.
    """
    if view_of_submission(submission, catalogue).main is not COST:
        return []
    clear = (number for number in submission.numbers if number.cost is not None and number.distinguishable)
    dots = [Dot(names.with_level(number), number.tracer, number.known_cost, number.tracer) for number in clear]
    if not dots:
        return []
    name = f"costs-{submission.id.replace('/', '-')}"
    sentence = "Cost of one event for each case measured, with its 95 % interval; often narrower than the dot."
    costs, run = parts.from_to([dot.cost.value for dot in dots]), submission.id.rpartition("/")[2]
    title = f"One event costs {costs} on {names.machine_name(submission)} (run {run})"
    chart = cost_chart(name, title, sentence, dots, page=addresses.submission(submission.id))
    specs = {layout: chart.specs[layout] for layout in LAYOUTS}
    return [replace(chart, specs=specs, edition=f"run {submission.id}")]


MOST_RUNS = 20  # the runs that the page of a suite lists: the newest


def write_suite(folder: SuiteFolder, catalogue: Catalogue, cases: Table) -> str:
    suite = folder.suite
    front = {
        "title": suite.title,
        "kind": "suite",
        "kicker": suite.id,
        "description": suite.question,
        "weight": catalogue.suites.index(folder) + 1,
        **citing.front(citing.cite_suite(suite, catalogue)),
    }
    return page(front, _suite_parts(folder, catalogue, cases))


def _suite_parts(folder: SuiteFolder, catalogue: Catalogue, cases: Table) -> Iterator[Part]:
    suite, view = folder.suite, view_of(folder.suite)
    spoils = all(TOOLS[tool].spoils for tool in tools_of(folder.folder))
    yield suite.question
    yield " ".join(suite.description.split())
    yield Heading("How it measures")
    program = workload_source(folder.folder, suite)
    headers = (link(path.name, f"/scripts/{path.name}") for path in own_headers(program))
    workload = listed([link(program.name, f"/scripts/{suite.id}/workload/{program.name}"), *headers])
    facts: dict[object, object] = {"One operation": suite.workload.operation, "Workload": workload}
    if suite.factor:
        levels = (suite.factor.title, ", ".join(map(names.level, suite.levels)), suite.factor.meaning)
        facts["What varies"] = say("{}: {}; {}", *levels)
    yield Table.of_facts({**facts, "Version": suite.version})
    where = "in an emulated machine, and nowhere else" if spoils else "with every tracer that is there"
    yield say("A `probe-effect` in a checkout, or installed by itself, runs it {}:", where)
    yield parts.command(["probe-effect", "measure", suite.id, *(["--vm", "trixie"] if spoils else [])])
    yield say("`probe-effect doctor` says what is missing first, and [how to submit](/submit/) what comes after.")
    yield Heading("Its cases")
    yield cases
    yield (
        "Of several numbers the least and the greatest value are shown, with how many there are in brackets; the page "
        "of a case has all of them."
    )
    yield from section("What it found", *view.of_suite(suite, catalogue))
    if published := beside(suite, catalogue):
        source, group = published
        page_of_source = link(parts.source_label(source.document), addresses.figure(source.id))
        yield Heading("Published by others")
        yield say(
            "{} prints under “{}” these figures; another machine, and another program or another version of it, so "
            "compare in order of magnitude, and read the page of the source first.",
            page_of_source,
            group.heading,
        )
        yield grid(
            group, catalogue.titles, lambda figure: Link(shown(figure), addresses.figure(source.id, figure.figure))
        )
    yield Heading("Who ran it")
    runs = [submission for submission in catalogue.numbers.submissions if submission.suite == suite.id]
    timed, counted = ([run for run in runs if run.metric == metric] for metric in ("time", "instructions"))
    rows: list[Sequence[object]]
    if timed:
        rows = [(links.run(run), links.machine(run), _tracers(run), run.grade) for run in timed[:MOST_RUNS]]
        yield Table(columns("run", "machine", "tracers", "grade"), rows)
    elif not spoils:
        yield say("No machine has run it yet. [Yours could be the first](/submit/).")
    if counted:
        yield say("Its instructions were counted in emulated machines, which is no time:")
        rows = [
            (links.run(run), links.machine(run, run.document.system.kernel_release), _tracers(run))
            for run in counted[:MOST_RUNS]
        ]
        yield Table(columns("run", "kernel", "tracers"), rows)
    if more := len(timed[MOST_RUNS:]) + len(counted[MOST_RUNS:]):
        yield say("{} older runs are in the [list of all results](/results/).", units.count(more))


def beside(suite: Suite, catalogue: Catalogue) -> tuple[PublishedSource, FigureGroup] | None:
    """The published figures that the suite names, with their source; None where there are none."""
    named = suite.published
    sources = (source for source in catalogue.sources if named and source.id == named.source)
    each = ((source, group) for source in sources for group in groups(source.figures))
    return next(((source, group) for source, group in each if named and group.heading == named.heading), None)


def scripts_of(folder: SuiteFolder, case: Case) -> Markup:
    return listed(
        link(tool if len(paths) == 1 else f"{tool} {', '.join(levels)}", f"/scripts/{folder.suite.id}/{path.name}")
        for tool, paths in folder.by_case[case.id].items()
        for path, levels in paths.items()
    )


def _tracers(submission: Submission) -> str:
    used = dict.fromkeys(case.tracer for case in with_numbers(submission))
    return "; ".join(names.tool(tracer, submission.document.tools.get(tracer)) for tracer in used)
