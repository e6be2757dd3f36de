"""What chapters of the guide include: tables of suites, and the chart of static and dynamic probes."""

from collections.abc import Iterable, Iterator
from itertools import product

from probe_effect import units
from probe_effect.answer.answers import of_case
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.compare.comparison import compare, expected_by_chance
from probe_effect.compare.kernels import Matrix, kernel_names, matrices_of_case
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.instructions import mechanism_of
from probe_effect.costs.row import CostRow
from probe_effect.model import release_numbers
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import home_numbers, reference_submission
from probe_effect.pages import instructions
from probe_effect.pages.markdown import render
from probe_effect.pages.results import view_of
from probe_effect.reduce.submission import Number, Submission
from probe_effect.stats import estimates

MAX_ROWS = 24
"""The rows of a suite that a chapter shows; the rest is on the suite's own page."""


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: `suites/<suite>.md` and `kernels/<case>.md`, for those with results."""
    found = home_numbers(catalogue.numbers).values()
    suites = {f"suites/{one.suite.id}.md": _suite(one, found, catalogue) for one in catalogue.suites}
    kernels = {
        f"kernels/{case.id}.md": _kernels(catalogue, one, case.id)
        for one in catalogue.suites
        for case in one.suite.cases
        if one.suite.result_type.guides
    }
    versions = {"versions.md": _versions(catalogue)}
    return {name: text for name, text in (suites | kernels | versions).items() if text is not None}


def _versions(catalogue: Catalogue) -> str:
    """The cases whose cost differs between the oldest and the newest version of a tool, measured in turns.

    From the machine that measured most versions of one tool in one run, and there most cases.
    """
    sets = [tracers for one in catalogue.timed for tracers in _versions_in(one)]
    versions = max(sets, key=len, default=())
    machines = grouped_by((one for one in catalogue.timed if versions in _versions_in(one)), lambda one: one.machine)
    compared = [
        (numbers, compare(numbers[-1], numbers[0]))
        for submission in max(machines.values(), key=lambda some: sum(len(one.cases) for one in some), default=())
        for case in submission.cases.values()
        if len(numbers := [one for tracer in versions for one in case if one.tracer == tracer and one.leads]) > 1
        if len(numbers) == len(versions)
    ]
    return render(
        "fragments/versions.md.j2",
        compared=[numbers for numbers, found in compared if found.is_clear],
        others=sum(not found.is_clear for _, found in compared),
        by_chance=expected_by_chance(found for _, found in compared),
        titles=catalogue.titles,
    )


def _versions_in(submission: Submission) -> list[tuple[str, ...]]:
    """For each tool that a submission has in several versions, their tracer ids, the newest version first."""
    tracers = {one.tracer: release_numbers(one.tool_version or "") for one in submission.numbers if one.is_sound}
    tools = grouped_by(sorted(tracers, key=tracers.__getitem__, reverse=True), names.tool_of)
    return [tuple(some) for some in tools.values() if len(some) > 1]


def _suite(folder: SuiteFolder, found: Iterable[Number], catalogue: Catalogue) -> str | None:
    """The newest results of a suite on the machine that stands for all; None where nobody has any."""
    suite = folder.suite
    of_suite = [one for one in found if one.submission.suite == suite.id]
    if not of_suite:
        return None
    home = of_suite[0].submission.machine
    rows = [one for one in of_suite if one.submission.machine == home]
    order = {case.id: place for place, case in enumerate(suite.cases)}
    apart = suite.levels if view_of(suite).is_signed else ()  # builds of one program are compared at each level
    rows.sort(key=lambda one: (apart.index(one.level) if one.level in apart else 0, order.get(one.case, len(order))))
    return render(
        "fragments/guide-suite.md.j2",
        suite=suite,
        rows=rows[:MAX_ROWS],
        more=len(rows) - MAX_ROWS,
        titles=catalogue.titles,
        submission=rows[0].submission,
        shown=view_of(suite).guide,
        has_levels=any(one.level is not None for one in rows),
    )


def _kernels(catalogue: Catalogue, folder: SuiteFolder, case_id: str) -> str | None:
    """The sound counts of a case by kernel and tracer version, for each architecture; None where there are none."""
    title = catalogue.titles.get(case_id, case_id)
    each = [(one, _rows(one)) for one in matrices_of_case(catalogue, folder.suite, case_id)]
    tables = [(one.architecture, list(kernel_names(one.kernels).values()), rows) for one, rows in each if rows]
    return render("fragments/guide-kernels.md.j2", tables=tables, case_id=case_id, title=title) if tables else None


def _rows(found: Matrix) -> list[tuple[str, list[str]]]:
    """Tracer with its version, and its sound counts kernel by kernel."""
    return [
        (f"{instructions.short(tracer)}{f' ({row.level})' if row.level else ''}", cells)
        for row in found.rows
        for tracer in found.tracers
        if any(
            cells := [
                instructions.cell(cell) if (cell := found.cell(row, kernel, tracer)) and cell.is_sound else ""
                for kernel in found.kernels
            ]
        )
    ]


CHART, PAGE = "static-and-dynamic", "/guide/probes/"

STATIC = {"Kernel": "21-raw-tracepoint 04-tracepoint-entry", "Program": "04-usdt-enabled"}
DYNAMIC = {
    "Kernel": "19-fentry 02-kprobe",
    "Program": "04-uprobe-push 05-uprobe-rip-mov 03-uprobe-nop5 02-uprobe-nop1 10-uretprobe-push 11-uretprobe-rip-mov",
}
"""Where probes are, and the cases: at a place that the authors of the code made for them (static), or at any."""

COMPARED = ("05-uprobe-rip-mov", "04-uprobe-push")
"""Two cases of one suite, whose ratio is the chart's finding."""

KINDS = {"measured": "measured", "estimated": "estimated from instructions"}


def charts(catalogue: Catalogue) -> list[Chart]:
    """What the home machine knows of each probe, with the tracer that has most of them; none without a machine."""
    reference = reference_submission(catalogue.numbers)
    if reference is None:
        return []
    found, machine = evidence(catalogue), reference.machine
    tracers = sorted(found.by_tracer(machine), key=lambda one: -len(list(_parts(found, machine, [one]))))
    known = list(_parts(found, machine, tracers))
    dots = [
        Dot(f"{place}: {_called(found, part)}", f"{kind}, {KINDS[part.basis]}", part.cost)
        for place, kind, part in known
    ]
    if not dots:
        return []
    where = names.machine_name(reference)
    series = [f"{kind}, {basis}" for kind in ("static", "dynamic") for basis in KINDS.values()]
    title = f"Static and dynamic probes{finding([part for _, _, part in known])}, on {where}"
    sentence = (
        f"What one event adds, mostly with {tracers[0]}: in the kernel with an empty action, in programs with a count. "
        "A raw tracepoint is that of all system calls."
    )
    return [cost_chart(CHART, title, sentence, dots, series=series, page=PAGE)]


def _called(found: Evidence, part: CostRow) -> str:
    """A probe by its name; one of a user's function with what the kernel does with the first instruction."""
    if not part.added:
        return part.title or part.name
    one = part.added[0]
    case = found.case_of[one.case]
    how = mechanism_of(case, one) if "uprobe" in case.needs else None
    return f"{one.title}, {how}" if how else one.title


def _parts(found: Evidence, machine: str, tracers: list[str]) -> Iterator[tuple[str, str, CostRow]]:
    """Place and kind of each probe with its cost: by the first tracer that measured it, else by one that is known."""
    for place, kind in product(STATIC, ("static", "dynamic")):
        for case in (STATIC if kind == "static" else DYNAMIC)[place].split():
            every = (of_case(found, case, machine, tracer) for tracer in tracers)
            known = [part for part in every if part and part.basis in KINDS]
            if known:
                yield place, kind, min(known, key=lambda part: part.basis != "measured")


def finding(known: list[CostRow]) -> str:
    """How much more the most expensive way costs, where the two were measured in one run and differ."""
    costs = {part.name: part for part in known if part.basis == "measured"}
    first, second = (costs.get(case) for case in COMPARED)
    if not first or not second or first.added[0].submission is not second.added[0].submission:
        return ""
    ratio = estimates.ratio(first.cost, second.cost)
    if ratio is None or ratio.low is None or ratio.low <= 1:
        return ""
    return f": a stepped uprobe costs {units.span(ratio, units.TIMES)} an emulated one"
