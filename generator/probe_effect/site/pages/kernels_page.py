"""The pieces of the first page on kernels: what probes take on each architecture, what changed, and what compares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import NamedTuple

from probe_effect import units
from probe_effect.compare import kernels as counted
from probe_effect.compare.agreement import counted_orders
from probe_effect.compare.kernels import ArchitecturePair, Matrix, column_of, kernel_names, matrices, release_order
from probe_effect.costs.from_counts import FEWEST_POINTS
from probe_effect.costs.instructions import mechanism_of
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import grouped_by, newest_first
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.published import DERIVED_MARK
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.numbers.submission import Number, Submission
from probe_effect.numbers.trends import MIN_PAIRS
from probe_effect.records import beside
from probe_effect.site.pages import addresses, comparison, instructions, kernel_changes, links, parts
from probe_effect.site.pages.architecture_page import plain_tracer
from probe_effect.site.pages.kernel_changes import cause_address, changes, short_names
from probe_effect.site.pages.parts import Heading, Items, Part, Pieces, Table, chart, column, columns, fragment, of_data
from probe_effect.site.pages.text import link, listed, say
from probe_effect.store.beside_files import Explanation

FACTS = beside(__file__)
SOURCE, CASES, DONE = FACTS["source"], FACTS["cases"], FACTS["done"]


@dataclass(frozen=True, slots=True)
class PrintedTime:
    """The printed time of an event, exceptions and all, and the count of the same probe."""

    time_ns: float
    count: Number

    @property
    def ns_per_instruction(self) -> float:
        return self.time_ns / self.count.known_cost.value


class TimedKernel(NamedTuple):
    """The times of a source on one platform beside the counts of one kernel; at least one."""

    source: PublishedSource
    platform: str
    kernel: str
    pairs: list[PrintedTime]


def timed_kernels(catalogue: Catalogue) -> list[TimedKernel]:
    """What can be set beside each other, before the patch and with it; empty where no counts are of arm64."""
    cells = (
        number
        for matrix in matrices(catalogue)
        if matrix.architecture == FACTS["architecture"]
        for number in matrix.all()
    )
    sound = (
        number
        for number in cells
        if tool_of(number.tracer) == FACTS["tool"] and number.is_sound and number.known_cost.value > 0
    )
    counts = {(number.case, column_of(number).kernel): number for number in sound}
    cases = {case.id: case for case in catalogue.cases()}
    made = {key: mechanism_of(cases[key[0]], number) for key, number in counts.items()}
    timed = []
    for source in (publication for publication in catalogue.sources if publication.id == SOURCE):
        figures = {entry.figure: entry for entry in source.figures}
        for word, kernel in _stand_ins(made).items():
            pairs, platforms = [], []
            for name, case in CASES.items():
                figure, how = figures.get(f"time_{word}_{name}"), made.get((case, kernel))
                if figure and figure.cost_ns and how and how == DONE[word].get(name.rpartition("_")[2]):
                    pairs.append(PrintedTime(float(figure.cost_ns), counts[case, kernel]))
                    platforms.append(figure.platform or "")
            timed += [TimedKernel(source, platforms[0], kernel, pairs)] if pairs else []
    return timed


def _stand_ins(made: Mapping[tuple[str, str], str | None]) -> dict[str, str]:
    """The kernel that stands for the source's without the patch, and that for the one with it, where there are such."""
    ordered = sorted((kernel for case, kernel in made if case == CASES["uprobe_nop"]), key=release_order)
    stepping, emulating = (
        [kernel for kernel in ordered if made[CASES["uprobe_nop"], kernel] == how] for how in ("stepped", "emulated")
    )
    return {word: some[index] for word, some, index in (("xol", stepping, -1), ("emulation", emulating, 0)) if some}


MOST_EXPLAINED = 3  # causes that the page names for an architecture and a way to compare, with their largest change
MOST_APART = 3  # cases of two architectures that are named because their shares of an operation lie furthest apart


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown; each says so, or is empty, before anything was counted."""
    all_matrices, titles = matrices(catalogue), catalogue.titles
    pieces = {
        "picture": (chart(picture.name) for picture in kernel_changes.series_charts(catalogue)[:1]),
        "answers": _answers(all_matrices, titles),
        "findings": _findings(catalogue, all_matrices),
        "architectures": _architectures(counted.beside(all_matrices), titles),
        "orders": _orders(catalogue, all_matrices),
        "machines": _machines(catalogue),
        "published-times": _published_times(catalogue),
    }
    return {f"kernel-{name}.md": fragment(parts) for name, parts in pieces.items()}


def _answers(all_matrices: Sequence[Matrix], titles: Mapping[str, str]) -> Iterator[Part]:
    if not all_matrices:
        yield "Nothing has been counted yet."
        return
    each = list(dict.fromkeys(matrix.architecture for matrix in all_matrices))
    named = (architecture for architecture in each if architecture in names.ARCHITECTURES)
    pages = listed(
        link(f"on {names.architecture(architecture)}", addresses.architecture(architecture)) for architecture in named
    )
    both = say("[what of both can be compared](/kernels/architectures/); ") if len(each) > 1 else ""
    yield say("Every count: {}; {}[what changed](#what-changed).", pages, both)
    for matrix in (matrix for matrix in all_matrices if matrix.suite.id == FIRST_SUITE):
        plain = {case.id for case in matrix.suite.cases if case.action == "nothing" and case.counted_by != "nothing"}
        first, rows = plain_tracer(matrix), []
        for row in (row for row in matrix.rows if row.case in plain):
            # With another tracer where that one has no such probe.
            lines = {tracer: matrix.line(row, tracer) for tracer in (first, *matrix.tracers)}
            if tracers := [tracer for tracer, line in lines.items() if any(cell and cell.is_sound for cell in line)]:
                other = "" if tracers[0] == first else instructions.short(tracers[0])
                case = links.case(row.case, titles.get(row.case, row.case), other)
                rows.append((case, *map(links.count, lines[tracers[0]])))
        head = column("case", f"Instructions of one event on {names.architecture(matrix.architecture)}")
        yield Table([head, *map(of_data, short_names(matrix))], rows)
        words = "With {}, where no other tracer is named; columns are versions of Linux."
        yield say(words, instructions.short(first))


def _findings(catalogue: Catalogue, all_matrices: Sequence[Matrix]) -> Iterator[Part]:
    kernels = counted.names_of_all(all_matrices)
    each = {name: changes(own) for name, own in grouped_by(all_matrices, attrgetter("architecture")).items()}
    if not any(each.values()):
        yield "No two counts differ yet."
        return
    for name, ways in each.items():
        if ways:
            yield Heading(say("On {}", names.architecture(name)), 3)
        for way, some in ways.items():
            causes = grouped_by(some, lambda pair: counted.explanation_of(pair, catalogue.explanations) or pair)
            items = []
            for why, (largest, *_) in list(causes.items())[:MOST_EXPLAINED]:
                cause = say(" {}.", link("Cause", cause_address(why))) if isinstance(why, Explanation) else ""
                items.append(say("{}{}", way.sentence(largest, kernels), cause))
            yield Items(items)
    yield say(
        "The largest are named, first between kernels and then between versions: [every change](/kernels/changes/)."
    )


def _architectures(pairs: Sequence[ArchitecturePair], titles: Mapping[str, str]) -> Iterator[Part]:
    if not pairs:
        yield "Nothing has been counted on two architectures with as many CPUs, on one kernel and with one tracer, yet."
    for architecture_pair in pairs:
        title = architecture_pair.matrices[0].suite.title
        yield Heading(
            say("{}: Linux {} with {}", title, architecture_pair.series, instructions.short(architecture_pair.tracer)),
            3,
        )
        yield Items(list(_compared(architecture_pair, titles)))
        sides = [("instructions", names.architecture(side.architecture)) for side in architecture_pair.matrices]
        heads = [each for side in sides for each in (side, ("untraced-share", "of an operation"))]
        rows = []
        for pair in architecture_pair.pairs:
            case = links.case(pair[0].case, titles.get(pair[0].case, pair[0].case), pair[0].level)
            rows.append(
                [case, *(cell for number in pair for cell in (links.count(number), instructions.share(number)))]
            )
        yield Table(columns("case", *heads), rows)


def _compared(architecture_pair: ArchitecturePair, titles: Mapping[str, str]) -> Iterator[str]:
    sides = [names.architecture(matrix.architecture) for matrix in architecture_pair.matrices]
    if all(number.baseline for number in architecture_pair.pairs[0]):
        taken = [units.count(number.baseline.value) for number in architecture_pair.pairs[0] if number.baseline]
        words = "An untraced operation takes {} instructions on {} and {} on {}."
        yield say(words, taken[0], sides[0], taken[1], sides[1])
    tau = architecture_pair.correlation and comparison.tau(architecture_pair.correlation)
    ordered = say("; the rank correlation of their two orders is {}", tau) if tau else ""
    order = ordered or say(": too few to compare their order")
    yield say("{} cases were counted on both{}.", units.count(len(architecture_pair.pairs)), order)
    for number, other in architecture_pair.furthest(MOST_APART):
        shares = instructions.share(number), sides[0], instructions.share(other), sides[1]
        yield say("{} adds {} of an untraced operation on {}, and {} on {}.", instructions.subject(number), *shares)
    for side, rows in zip(sides, architecture_pair.only, strict=True):
        if rows:
            cases = (names.quoted(titles.get(row.case, row.case)) + names.at_level(row.level) for row in rows)
            yield say("On Linux {} counted on {} alone: {}.", architecture_pair.series, side, listed(cases))


def _orders(catalogue: Catalogue, all_matrices: Sequence[Matrix]) -> Iterator[Part]:
    kernels = counted.names_of_all(all_matrices)
    each = [
        (ordering, names.architecture(suite.architecture))
        for suite in all_matrices
        for ordering in counted_orders(catalogue, suite)
    ]
    if not each:
        yield "No source prints enough costs of a tool whose instructions were counted."
        return
    for some in grouped_by(each, lambda pair: (pair[0].source.id, pair[0].platform)).values():
        first = some[0][0]
        source = link(parts.source_label(first.source.document), addresses.figure(first.source.id))
        rows = []
        for ordering, architecture in some:
            kernel, tracer = kernels[ordering.column.kernel], instructions.short(ordering.column.tracer)
            order = (comparison.rank_correlation(ordering), comparison.chance_of_order(ordering))
            rows.append((f"{kernel}, {architecture}", tracer, units.count(len(ordering.pairings)), *order))
        yield say("Against {}{}:", source, f", {first.platform}" if first.platform else "")
        yield Table(columns(("on", "Counted on"), "with", "cases", "correlation", "chance"), rows)
    yield "“Chance of such a pattern” is how likely it would be if the two had nothing to do with each other."


def machines(catalogue: Catalogue) -> dict[str, list[Submission]]:
    """Emulated machine to its submissions, newest first; machines in the order of architectures and kernels."""

    def order(submission: Submission) -> tuple[object, ...]:
        system, machine = submission.document.system, submission.document.machine
        return (
            counted.architecture_order(submission.architecture),
            release_order(system.kernel_release),
            -machine.threads,
        )

    return grouped_by(sorted(newest_first(catalogue.counted), key=order), attrgetter("machine"))


def _machines(catalogue: Catalogue) -> Iterator[Part]:
    rows = []
    for own in machines(catalogue).values():
        newest, machine, system = own[0], own[0].document.machine, own[0].document.system
        what = names.architecture(machine.architecture), machine.threads, system.os, newest.date
        rows.append((links.machine(newest, system.kernel_release), *what))
    heads = columns("kernel", "architecture", "cpus", "system", "newest-run")
    yield Table(heads, rows) if rows else "No kernel has been emulated yet."


def _published_times(catalogue: Catalogue) -> Iterator[Part]:
    timed, titles = timed_kernels(catalogue), catalogue.titles
    called = kernel_names(timing.kernel for timing in timed)
    if not timed:
        return
    source = timed[0].source
    yield Heading("What others timed on arm64")
    yield say(
        "The times are of {}, each of a whole call with its probe; "
        "the counts are of the same probe, made the same way.",
        link(parts.source_label(source.document), addresses.figure(source.id)),
    )
    for timing in timed:
        yield say("Times {}, beside counts on {}:", timing.platform, called[timing.kernel])
        rows = []
        for pair in timing.pairs:
            case = links.case(pair.count.case, titles.get(pair.count.case, pair.count.case))
            time = Pieces([units.duration(pair.time_ns), DERIVED_MARK])
            counted = links.number(pair.count, "instructions", instructions.added(pair.count))
            rows.append((case, time, counted, units.duration(pair.ns_per_instruction)))
        yield Table(columns("case", "published", "instructions", "instruction-time"), rows)
        both = list(combinations(((pair.time_ns, pair.count.known_cost.value) for pair in timing.pairs), 2))
        alike = units.count(sum((first[0] - second[0]) * (first[1] - second[1]) > 0 for first, second in both))
        few = f"; a rank correlation takes {MIN_PAIRS} cases" if len(timing.pairs) < MIN_PAIRS else ""
        sentence = f"Of {units.count(len(both))} pairs of cases, {alike} have the same order by time and by count{few}."
        yield sentence if both else "One case has no order."
    cases = len({pair.count.case for timing in timed for pair in timing.pairs})
    if cases < FEWEST_POINTS:
        many = "{} cases have a time and a count, and a model of time is fitted from {} on"
        yield say(f"{many}, so none is fitted for arm64.", cases, FEWEST_POINTS)
