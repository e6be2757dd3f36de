"""What chapters of the guide and its companion include.

Tables of suites, the chart of static and dynamic probes, how often things happen in real programs, D beside bpftrace.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from statistics import mode

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.answers import of_case
from probe_effect.answer.prediction import BANDS, places
from probe_effect.compare.comparison import compare, expected_by_chance
from probe_effect.compare.kernels import kernel_names, matrices_of_case
from probe_effect.costs.evidence import Evidence, evidence_of
from probe_effect.costs.instructions import mechanism_of
from probe_effect.costs.row import CostRow
from probe_effect.model import release_numbers
from probe_effect.numbers import estimates, names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import home_numbers, reference_submission
from probe_effect.numbers.submission import Number, Submission, slowdown_at
from probe_effect.site.charts.dots import Dot, cost_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import instructions, links, parts
from probe_effect.site.pages.parts import Part, Pieces, Table, column, columns, fragment, of_data, script
from probe_effect.site.pages.results import view_of
from probe_effect.site.pages.results.view import COST
from probe_effect.site.pages.text import bracketed, say, together
from probe_effect.store.places import linux_form
from probe_effect.store.suite_file import Suite, script_path

MAX_ROWS = 24  # the rows of a suite that a chapter shows; the rest is on the suite's own page


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown, among them `suites/<suite>.md` and `kernels/<case>.md` for those with results."""
    numbers = home_numbers(catalogue.numbers).values()
    made = {
        f"suites/{suite_folder.suite.id}.md": _suite(suite_folder.suite, numbers) for suite_folder in catalogue.suites
    }
    for folder in catalogue.suites:
        for case in folder.suite.cases if folder.suite.result_type.guides else ():
            made[f"kernels/{case.id}.md"] = _kernels(folder.suite, case.id, catalogue)
    made |= {"versions.md": _versions(catalogue), "event-rates.md": [*_rates(catalogue)]}
    made["d-and-bpftrace.md"] = [*_languages(catalogue)]
    return {name: fragment(parts) for name, parts in made.items() if parts}


def _versions(catalogue: Catalogue) -> list[Part]:
    """The cases whose cost differs between the oldest and the newest version of a tool, measured in turns.

    From the machine that measured most versions of one tool in one run, and there most cases.
    """
    sets = [tracers for run in catalogue.timed for tracers in _versions_in(run)]
    versions = max(sets, key=len, default=())
    machines = grouped_by((run for run in catalogue.timed if versions in _versions_in(run)), lambda run: run.machine)
    compared = []
    for submission in max(machines.values(), key=lambda some: sum(len(run.cases) for run in some), default=()):
        for case in submission.cases.values():
            numbers = [number for tracer in versions for number in case if number.tracer == tracer and number.leads]
            if len(numbers) == len(versions) > 1:
                compared.append((numbers, compare(numbers[-1], numbers[0])))
    clear = [numbers for numbers, difference in compared if difference.is_clear]
    if not clear:
        return ["No two versions of a tool were measured in turns yet."]
    heads = [of_data("Case", "left"), *(of_data(names.tool_with_version(number)) for number in clear[0])]
    rows = []
    for numbers in clear:
        losses = (
            f", {units.percent(number.event.loss_ratio, 2)} lost" if number.event.loss_ratio else ""
            for number in numbers
        )
        cells = (Pieces([COST.cell(number), loss]) for number, loss in zip(numbers, losses, strict=True))
        rows.append([links.case(numbers[0].case, numbers[0].title), *cells])
    note = say(
        "Measured in turns on {}. Between the oldest and the newest version {} further cases do not differ by more "
        "than their intervals. Of {} equal pairs {} would differ by chance.",
        links.machine(clear[0][0].submission),
        len(compared) - len(clear),
        len(compared),
        units.significant(expected_by_chance(difference for _, difference in compared), 2),
    )
    return [Table(heads, rows), note]


def _versions_in(submission: Submission) -> list[tuple[str, ...]]:
    """For each tool that a submission has in several versions, their tracer ids, the newest version first."""
    tracers = {
        number.tracer: release_numbers(number.tool_version or "") for number in submission.numbers if number.is_sound
    }
    tools = grouped_by(sorted(tracers, key=tracers.__getitem__, reverse=True), names.tool_of)
    return [tuple(some) for some in tools.values() if len(some) > 1]


def _suite(suite: Suite, numbers: Iterable[Number]) -> list[Part]:
    """The newest results of a suite on the machine that stands for all; nothing where nobody has any."""
    of_suite = [number for number in numbers if number.submission.suite == suite.id]
    own = [number for number in of_suite if number.submission.machine == of_suite[0].submission.machine]
    if not own:
        return []
    order, view = {case.id: index for index, case in enumerate(suite.cases)}, view_of(suite)
    apart = suite.levels if view.scale is units.SHARE else ()  # builds of one program are compared at each level
    own.sort(
        key=lambda number: (
            apart.index(number.level) if number.level in apart else 0,
            order.get(number.case, len(order)),
        )
    )
    has_levels = any(number.level is not None for number in own)
    level = [column("level", suite.factor.title if suite.factor else None)] if has_levels else []
    heads = [column("case"), *level, column("tracer"), *(number_column.head for number_column in view.guide)]
    rows = []
    for number in own[:MAX_ROWS]:
        cells = (figure.cell(number) if figure.words(number) != units.MISSING else "" for figure in view.guide)
        case = links.case(number.case, number.title)
        rows.append([case, *(number.level or "" for _ in level), names.tool_with_version(number), *cells])
    more = f", whose page has {len(own) - MAX_ROWS} more" if len(own) > MAX_ROWS else ""
    where = links.machine(own[0].submission), links.suite(suite.id, suite.title)
    return [Table(heads, rows), say("Measured on {}, suite {}{}.", *where, more)]


def _kernels(suite: Suite, case_id: str, catalogue: Catalogue) -> list[Part]:
    tables: list[Part] = []
    for matrix in matrices_of_case(catalogue, suite, case_id):
        rows = []
        for row, tracer in product(matrix.rows, matrix.tracers):
            counts = [
                instructions.cell(number) if number and number.is_sound else "" for number in matrix.line(row, tracer)
            ]
            if any(counts):
                rows.append([bracketed(instructions.short(tracer), names.level(row.level)), *counts])
        architecture = of_data(names.architecture(matrix.architecture), "left")
        heads = (architecture, *map(of_data, kernel_names(matrix.kernels).values()))
        tables += [Table(heads, rows)] if rows else []
    case = links.case(case_id, catalogue.titles.get(case_id, case_id))
    sentence = say("Instructions that one event adds, {}, [counted in emulated machines](/kernels/): no times.", case)
    return [*tables, sentence] if tables else []


STATIC = {"Kernel": "21-raw-tracepoint 04-tracepoint-entry", "Program": "04-usdt-enabled"}
DYNAMIC = {
    "Kernel": "19-fentry 02-kprobe",
    "Program": "04-uprobe-push 05-uprobe-rip-mov 03-uprobe-nop5 02-uprobe-nop1 10-uretprobe-push 11-uretprobe-rip-mov",
}
"""Where probes are, and the cases: at a place that the authors of the code made for them (static), or at any."""

COMPARED = ("05-uprobe-rip-mov", "04-uprobe-push")  # two cases of one suite, whose ratio is the chart's finding

KINDS = {"measured": "measured", "estimated": "estimated from instructions"}


def charts(catalogue: Catalogue) -> list[Chart]:
    """What the home machine knows of each probe, with the tracer that has most of them; none without a machine."""
    reference = reference_submission(catalogue.numbers)
    if reference is None:
        return []
    evidence, machine, dots = evidence_of(catalogue), reference.machine, []
    tracers = sorted(evidence.by_tracer(machine), key=lambda tracer: -len(list(_parts(evidence, machine, [tracer]))))
    rows = list(_parts(evidence, machine, tracers))
    for location, kind, part in rows:
        name = part.title or part.name
        for number in part.added[:1]:
            case = evidence.case_of[number.case]
            # A probe of a user's function, with what the kernel does with its first instruction.
            how = mechanism_of(case, number) if "uprobe" in case.needs else None
            name = f"{number.title}, {how}" if how else number.title
        dots.append(Dot(f"{location}: {name}", f"{kind}, {KINDS[part.basis]}", part.cost))
    if not dots:
        return []
    where = names.machine_name(reference)
    series = [f"{kind}, {basis}" for kind in ("static", "dynamic") for basis in KINDS.values()]
    title = f"Static and dynamic probes{finding([part for _, _, part in rows])}, on {where}"
    sentence = (
        f"What one event adds, mostly with {tracers[0]}: in the kernel with an empty action, in programs with a count. "
        "A raw tracepoint is that of all system calls."
    )
    return [cost_chart("static-and-dynamic", title, sentence, dots, series=series, page="/guide/probes/")]


def _parts(evidence: Evidence, machine: str, tracers: list[str]) -> Iterator[tuple[str, str, CostRow]]:
    """Place and kind of each probe with its cost: by the first tracer that measured it, else by one that is known."""
    for location, kind in product(STATIC, ("static", "dynamic")):
        for case in (STATIC if kind == "static" else DYNAMIC)[location].split():
            every = (of_case(evidence, case, machine, tracer) for tracer in tracers)
            rows = [part for part in every if part and part.basis in KINDS]
            if rows:
                yield location, kind, min(rows, key=lambda part: part.basis != "measured")


def finding(rows: list[CostRow]) -> str:
    """How much more the most expensive way costs, where the two were measured in one run and differ."""
    costs = {part.name: part for part in rows if part.basis == "measured"}
    first, second = (costs.get(case) for case in COMPARED)
    if not first or not second or first.added[0].submission is not second.added[0].submission:
        return ""
    ratio = estimates.ratio(first.cost, second.cost)
    if ratio is None or ratio.low is None or ratio.low <= 1:
        return ""
    return f": a stepped uprobe costs {units.span(ratio, units.TIMES)} an emulated one"


EVENTS = {
    "03-program-calls": "System calls",
    "01-program-reads": "Reads",
    "07-program-malloc": "Allocations",
    "06-program-page-faults": "Page faults",
    "05-program-switches": "Context switches",
}
"""Cases of the suite `programs` that count one kind of event, to what it is called."""

TALK = "piotrowski-2023-tracing-overhead"  # the source that printed the same cases for D and for bpftrace
LANGUAGES = {"dtrace": "D", "bpftrace": "bpftrace"}  # the two tools, to what their scripts are called
TWINS = ("per-event", "usdt")  # suites whose pairs are shown; `user-probes` asks the same of other instructions


def _rates(catalogue: Catalogue) -> Iterator[Part]:
    counted, evidence = event_rates(catalogue), evidence_of(catalogue)
    if not counted:
        yield say("No machine has counted events of real programs yet: `probe-effect measure programs` does.")
        return
    programs = dict.fromkeys(number.level for own in counted.values() for number in own)
    by_kind = [{number.level: number for number in own} for own in counted.values()]
    rows: list[Sequence[object]] = []
    for program in programs:
        numbers = (kind.get(program) for kind in by_kind)
        rows.append(
            (
                program,
                *(links.number(number, "cost", units.rate(rate_hz(number))) if number else "" for number in numbers),
            )
        )
    yield Table([*columns("program"), *map(of_data, counted)], rows)
    first = next(iter(counted.values()))[0]
    yield say(
        "Events in a second of one busy CPU, on {}, suite {}: what {} counted in a round, over the time of an "
        "untraced round.\nAll processes and threads of a program share that CPU, so no thread of it makes more in a "
        "second of the clock.\nOne that had the CPU for a part of the round makes more in a second of its own "
        "running time.",
        links.machine(first.submission),
        links.suite(first.submission.suite),
        names.tool_with_version(first),
    )
    rows = []
    for title, (number, *_) in counted.items():
        like = evidence.case_of[number.case].like
        cost = evidence.costs.get((number.submission.machine, number.tracer, like)) if like else None
        estimate = slowdown_at(cost.known_cost, rate_hz(number)) if cost else None
        slowdown = units.interval(estimate, units.SHARE) if estimate else ""
        band = BANDS[places(estimate)[1]].range if estimate else ""  # by its upper end
        took = links.number(number, "cost", parts.slowdown(number))
        rows.append((links.case(number.case, title), number.level, units.rate(rate_hz(number)), slowdown, band, took))
    most_in, predicted = ("program", "Most of them in"), ("predicted", "Rate × cost of counting one")
    yield Table(columns("event", most_in, "event-rate", predicted, ("band", "Band"), "slowdown-of-program"), rows)
    yield say(
        "The cost is that of the like event in a tight loop on the same machine; the band is that of the upper end.\n"
        "*Measured* is by how much longer that program took while they were counted."
    )


def event_rates(catalogue: Catalogue) -> dict[str, list[Number]]:
    """Each type of event to a number for each program, the most frequent first.

    All are from one machine: that of most of the numbers that pages quote.
    """
    counted = [
        number for number in home_numbers(catalogue.numbers).values() if number.case in EVENTS and number.baseline
    ]
    machines = [number.submission.machine for number in counted]
    own = sorted(
        (number for number in counted if number.submission.machine == mode(machines)), key=rate_hz, reverse=True
    )
    by_event = {}
    for case, title in EVENTS.items():
        if tools := [number.tracer for number in own if number.case == case]:
            by_event[title] = [number for number in own if number.case == case and number.tracer == min(tools)]
    return by_event


def rate_hz(number: Number) -> float:
    """Events in a second of the untraced program; 0 where it made none."""
    return units.NS_PER_SECOND / number.baseline.value if number.baseline and number.baseline.value else 0.0


def _languages(catalogue: Catalogue) -> Iterator[Part]:
    printed = {
        (figure.case, figure.tracer): parts.shortcode("number", f"{TALK}.{figure.figure}")
        for source in catalogue.sources
        for figure in source.figures
        if source.id == TALK and figure.figure.startswith(("ns_dtrace_", "ns_bpftrace_"))  # of its own two systems
    }
    rows: list[Sequence[object]] = []
    timed: list[Number] = []
    counted: list[Number] = []
    twins = ((folder, case) for folder in catalogue.suites if folder.suite.id in TWINS for case in folder.suite.cases)
    for folder, case in twins:
        paths = {tool: script_path(folder.folder, case.id, tool) for tool in LANGUAGES}
        scripts = {tool: linux_form(path) or path for tool, path in paths.items() if path}
        if case.probe == "none" or len(scripts) < len(LANGUAGES):
            continue
        times = of_both(catalogue.numbers.of_case(case.id))
        counts = of_both(catalogue.numbers.of_case(case.id, "instructions"))
        theirs = {tool: printed.get((case.id, tool), "") for tool in LANGUAGES}
        timed, counted = timed or list(times.values()), counted or list(counts.values())
        if times or counts or any(theirs.values()):
            question = links.case(case.id, case.title)
            for tool, language in LANGUAGES.items():
                run = say("{} {}", language, script(f"{folder.suite.id}/{scripts[tool].name}", "line"))
                time: object = ""
                if number := times.get(tool):
                    text = units.value(number.cost, units.DURATION) if number.is_clear else parts.cost(number)
                    time = links.number(number, "cost", text)
                rows.append((question, run, time, links.count(counts.get(tool)), theirs[tool]))
                question = Markup("the same")
    if not rows:
        yield "No case has been measured in both languages yet."
        return
    heads = ("case", "Question"), "script", ("cost", "Time"), "instructions", ("published", "Printed in 2023")
    yield Table(columns(*heads), rows)
    of_time = "*Time*: of one event on {}, with {} and {}, in runs of their own; the interval is behind the link."
    of_counts = "*Instructions*: of one event, counted under Linux {}, with {} and {}."
    kernels, tools = (number.submission.document.system.kernel_release for number in counted), names.tool_with_version
    yield together(
        timed and say(of_time, links.machine(timed[0].submission), *map(tools, timed)),
        counted and say(of_counts, next(kernels), *map(tools, counted)),
        say("*Printed*: by the talk of 2023, which ran D on FreeBSD and bpftrace on Linux, on one model of machine."),
        say("An empty cell: nobody measured both."),
    )


def of_both(numbers: Sequence[Number]) -> dict[str, Number]:
    """Tool to its number, of the newest machine that has both; of several versions the first by name."""
    for own in grouped_by(
        (number for number in numbers if number.leads), lambda number: number.submission.machine
    ).values():
        by_tool = grouped_by(sorted(own, key=lambda number: number.tracer), lambda number: names.tool_of(number.tracer))
        if by_tool.keys() >= LANGUAGES.keys():
            return {tool: by_tool[tool][0] for tool in LANGUAGES}
    return {}
