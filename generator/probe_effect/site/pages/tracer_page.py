"""What pages of tracers and `/tools/` say from data: versions seen, cases, and what standard tools cost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.question import ENDINGS, ToolCost, best_machine, tool_costs
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.row import PLAIN_ACTION
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import in_order, reference_submission, shown_machines
from probe_effect.numbers.submission import Number, Submission, threshold
from probe_effect.records import TOOLS
from probe_effect.site.pages import links, parts
from probe_effect.site.pages.fragments import first_suite_first
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Pieces, Table, columns, fragment, of_data, section
from probe_effect.site.pages.results import view_of
from probe_effect.site.pages.text import escape, listed, safe, say, together
from probe_effect.store.transcripts import ToolPackage, ToolProbes


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: one for each tool, `tracers/<tool>.md`, and the list of all."""
    written = {f"tracers/{tool}.md": fragment(_tool(catalogue, tool)) for tool in TOOLS}
    rows = []
    for tool in TOOLS:
        can = [case for folder in catalogue.suites for case in folder.suite.cases if tool in folder.by_case[case.id]]
        timed = {
            number.case for run in catalogue.timed for number in run.numbers if number.is_known and _is_of(number, tool)
        }
        rows.append((links.tracer(tool, tool), len(can), len(timed), "; ".join(_versions(catalogue, tool))))
    heads = columns("tracer", "cases", "measured-cases", "versions")
    return written | {"tracers.md": fragment([Table(heads, rows)])}


def _tool(catalogue: Catalogue, tool: str) -> Iterator[Part]:
    yield Heading("Versions seen")
    yield Items(_versions(catalogue, tool)) or "No submission has it yet."
    yield Heading("What it can do here, and what that costs")
    reference = reference_submission(catalogue.numbers)
    newest = "Newest numbers of {}; those of other machines are on the page of each case."
    yield say(newest, links.machine(reference)) if reference else None
    suites = [_suite(catalogue, folder, tool, reference) for folder in first_suite_first(catalogue)]
    yield from chain.from_iterable(suites) if any(suites) else ["No suite has a script for it yet."]
    is_counted = any(_is_of(number, tool) for run in catalogue.counted for number in run.numbers)
    yield say("Its instructions are counted [kernel by kernel](/kernels/).") if is_counted else None


def _suite(catalogue: Catalogue, folder: SuiteFolder, tool: str, reference: Submission | None) -> list[Part]:
    suite = folder.suite.on(reference.architecture) if reference else folder.suite
    machine, rows = reference.machine if reference else None, {}
    for case in (candidate for candidate in suite.cases if tool in folder.by_case[candidate.id]):
        newest = (number for number in catalogue.numbers.of_case(case.id) if number.submission.machine == machine)
        # At a factor's levels there are many numbers, for which the page of the case is.
        rows[case] = {number.tracer: number for number in newest if _is_of(number, tool) and number.level is None}
    main = view_of(suite).main
    numbers = [number for row in rows.values() for _, number in sorted(row.items()) if number.cost]
    tracers = dict.fromkeys(number.tracer for number in numbers)
    cases = [links.case(case.id, case.title) for case in rows]
    where = "by level, on the pages of the cases" if suite.factor else "without a number there"
    if not tracers:
        return section(suite.title, say("{}: {}.", listed(cases), where) if cases else None, level=3)
    versions = {
        tracer: version for submission in catalogue.timed for tracer, version in submission.document.tools.items()
    }
    heads = [of_data(names.tool(tracer, versions.get(tracer))) for tracer in tracers]
    table, missing = [], []
    for linked, row in zip(cases, rows.values(), strict=True):
        if any(number.is_known for number in row.values()):
            table.append((linked, *(main.cell(row[tracer]) if tracer in row else "" for tracer in tracers)))
        else:
            missing.append(linked)
    head = parts.column("case", f"{main.head.label}, by case")
    left_out = say("Without a number there: {}.", listed(missing)) if missing else None
    return section(suite.title, Table([head, *heads], table), left_out, level=3)


def _is_of(number: Number, tool: str) -> bool:
    return names.tool_of(number.tracer) == tool


def _versions(catalogue: Catalogue, tool: str) -> list[str]:
    pairs = {pair for submission in catalogue.everything for pair in submission.document.tools.items()}
    return sorted({names.tool(*pair) for pair in pairs if names.tool_of(pair[0]) == tool})


def write_plain(by_hand: Path) -> Iterator[tuple[str, str]]:
    """Path and page of each tool for which the folder `by_hand` has no page: its fragment alone."""
    for position, tool in enumerate(TOOLS, start=1):
        path = f"tracers/{tool}.md"
        if not (by_hand / path).is_file():
            description = f"What {tool} can do here, and what that costs."
            front = {
                "title": tool,
                "description": description,
                "kind": "tracer",
                "kicker": tool,
                "weight": 10 * position,
            }
            yield path, parts.page(front, [description, parts.shortcode("fragment", path)])


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: the costs, and what each tool asks and attaches."""
    evidence = evidence_of(catalogue)
    shown = shown_machines(catalogue.numbers)
    submissions = [run for run in in_order(catalogue.numbers) if run.machine in shown]
    machine = best_machine(evidence, catalogue.tools, list(dict.fromkeys(run.machine for run in submissions)))
    submission = next((run for run in submissions if run.machine == machine), None)
    packages_read_first = sorted(catalogue.tools, key=lambda package: (package.scripts is None, package.package))
    packages = [(package, tool_costs(evidence, machine, package)) for package in packages_read_first] if machine else []
    return {"tools.md": fragment(_costs(packages, submission)), "tools-asked.md": fragment(_asked(packages))}


Packages = Sequence[tuple[ToolPackage, Sequence[ToolCost]]]


def _costs(packages: Packages, submission: Submission | None) -> Iterator[Part]:
    if submission is None or not packages:
        yield "Nothing has been measured yet."
        return
    bare: set[str] = set()
    for package, costs in packages:
        yield Heading(f"Tools of {package.title}")
        of = len(package.tools), package.package, package.version, links.machine(submission)
        yield together(say("{} tools of Debian’s package {} {}, on {}.", *of), package.stands_in)
        tool, slowdown = ("standard-tool", "Tool and event"), ("slowdown-predicted", "At that rate")
        yield Table(
            columns(tool, "cost", "threshold-5", "usual-rate", slowdown),
            [_cost(tool_cost, bare) for tool_cost in costs],
        )
        notes = grouped_by(
            ((note, tool_cost.tool.name) for tool_cost in costs for note in tool_cost.notes), itemgetter(0)
        )
        yield Items([say("{}: {}", ", ".join(name for _, name in own), note) for note, own in notes.items()])
    for package, costs in packages:
        rows: list[Sequence[object]] = []
        for name, (number, point) in ((tool_cost.tool.name, pair) for tool_cost in costs for pair in tool_cost.points):
            measured, predicted = (units.interval(each, units.SHARE) for each in (point.measured, point.predicted))
            cost = links.number(number, "slowdown", measured)
            rows.append((name, number.level, units.rate(point.rate_hz), cost, predicted))
        if rows:
            first = next(number for tool_cost in costs for number, _ in tool_cost.points)
            yield Heading(f"Tools of {package.title} in real programs")
            yield say(
                "What the tool did to programs at work on {}, beside what its rate of events times the cost above "
                "predicts, with what their other system calls pay; [how far that holds](/does-it-hold/).",
                links.machine(first.submission),
            )
            heads = ("standard-tool", "program", ("untraced-rate", "Rate"), "slowdown-measured", "predicted")
            yield Table(columns(*heads), rows)


def _cost(tool_cost: ToolCost, bare: set[str]) -> Sequence[object]:
    """The row of a tool. Its name is its place, and so is the name by which people call it, of the first of `bare`."""
    tool = tool_cost.tool
    name = called = str(escape(tool.name.replace(" ", "")))
    for ending in ENDINGS:
        called = called.replace(ending, "")
    event = tool.event if called in bare else Link(tool.event, f"#={called}")
    bare.add(called)
    if tool_cost.cost:
        cost: object = Pieces([units.interval(tool_cost.cost, units.DURATION), f", {tool_cost.basis}"])
    elif tool_cost.is_clocked:
        cost = "fired by a clock, not by events"
    else:
        cost = f"no time of {' and '.join(tool_cost.missing)} with these actions"
    low, high = tool.usual_from_hz, tool.usual_to_hz
    usual: object = "none stated"
    if low is not None or high is not None:
        begin = ["up"] if low is None else ["from ", units.rate(low, 1)]
        end = [] if high is None else [" to ", units.rate(high, 1)]
        usual = Pieces([*begin, *end, say(" ({})", tool.usual_source)])
    what = Pieces([Link(tool.name, f"#={name}"), safe(": "), event])
    rate = units.interval(threshold(tool_cost.cost, 5) if tool_cost.cost else None, units.RATE)
    return what, cost, rate, usual, units.interval(tool_cost.usual_slowdown, units.SHARE)


def _asked(packages: Packages) -> Iterator[Part]:
    for package, costs in packages:
        items = []
        for tool in (tool_cost.tool for tool_cost in costs):
            text = " ".join(filter(None, (tool.answers, tool.remark)))
            items.append((say("{}: {}", tool.name, text), list(map(_attaches, tool.probes))))
        yield say("**{}**", package.title)
        yield Items(items)


def _attaches(group: ToolProbes) -> Markup:
    more = f" and {len(group.attach) - 3} more" if len(group.attach) > 3 else ""
    actions = [f"{name} ({times} times)" if times > 1 else name for name, times in Counter(group.actions).items()]
    does = listed([*actions, *group.unknown]) + ("; behind a condition" if group.filter else "")
    if group.actions == (PLAIN_ACTION,):
        does = Markup("what the tracer itself does")
    return say("{}{}: {}", listed(group.attach[:3]), more, does)
