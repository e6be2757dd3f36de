"""Pages on kernels: one for each architecture, and the one of which mechanisms of tracing work on which kernel.

The page of an architecture says what changed there, with charts and tables, and what one event executes, by function.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter

from markupsafe import Markup

from probe_effect import units
from probe_effect.compare import kernels as counted
from probe_effect.compare.comparison import compare, largest
from probe_effect.compare.kernels import Matrix, column_of, matrices, release_order
from probe_effect.costs.instructions import OTHER, AddedPath, purposes
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.numbers.submission import Number
from probe_effect.records import plain_tools
from probe_effect.site.pages import addresses, instructions, links, parts
from probe_effect.site.pages.kernel_changes import WAYS, charts_of, short_names
from probe_effect.site.pages.parts import Fold, Heading, Items, Part, Pieces, Table, column, of_data, section
from probe_effect.site.pages.submission_page import COUNTED
from probe_effect.site.pages.text import link, listed, say, together
from probe_effect.store.transcripts import MECHANISMS, KernelMechanisms

MOST_SAID = 3  # changes of a suite that the page begins with
BEHIND_MACHINES = 2000  # the weight of pages of suites


def write_all(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Path and page of each architecture that readers have a word for, and of each other suite counted on it."""
    each = grouped_by(matrices(catalogue), attrgetter("architecture"))
    for position, (architecture, own_matrices) in enumerate(each.items(), start=1):
        if architecture in names.ARCHITECTURES:
            kernels, word = counted.names_of_all(own_matrices), names.architecture(architecture)
            ordered = sorted(kernels, key=release_order)
            front = {
                "title": f"Instructions on {word}",
                "description": f"How many instructions one traced event takes on {word}, {kernels[ordered[0]]} to "
                f"{kernels[ordered[-1]]}: charts and tables of every count, and what was not counted.",
                "weight": position,
                "open": 1,
            }
            first, others = (
                [matrix for matrix in own_matrices if (matrix.suite.id == FIRST_SUITE) is own] for own in (True, False)
            )
            address = partial(addresses.architecture, architecture)
            further = listed(link(matrix.suite.title, address(matrix.suite.id)) for matrix in others)
            causes = say("[Every change](/kernels/changes/) has its cause where that is known.")
            whole = [
                together(*_clear(own_matrices), causes),
                together(COUNTED, further and say("Other suites: {}.", further)),
            ]
            tables = (part for matrix in first for part in _of_suite(matrix, kernels, catalogue.titles))
            yield _path(address()), parts.page(front, [*whole, *tables])
            for matrix in others:
                title = instructions.said_of(matrix.suite, f"instructions on {word}")
                front |= {"title": title, "description": matrix.suite.question, "weight": BEHIND_MACHINES + position}
                own = _of_suite(matrix, kernels, catalogue.titles)
                yield _path(address(matrix.suite.id)), parts.page(front, [matrix.suite.question, COUNTED, *own])


def _path(address: str) -> str:
    return f"{address.strip('/')}.md"


def _of_suite(matrix: Matrix, kernels: Mapping[str, str], titles: Mapping[str, str]) -> Iterator[Part]:
    yield from _findings(matrix, kernels)
    drawn = [parts.chart(each.name) for each in charts_of(matrix)]
    yield from drawn[:1]
    for tracer in matrix.tracers:
        counted_rows = [row for row in matrix.rows if any(cell.cost for cell in matrix.along_kernels(row, tracer))]
        cases = (links.case(row.case, titles.get(row.case, row.case), row.level) for row in counted_rows)
        rows = [
            (case, *map(links.count, matrix.line(row, tracer))) for case, row in zip(cases, counted_rows, strict=True)
        ]
        yield Heading(instructions.short(tracer))
        yield Table([column("case", "Case, on Linux"), *map(of_data, short_names(matrix))], rows)
    yield from section("Further charts", *drawn[1:])
    if faulty := [cell for cell in matrix.all() if cell.cost is not None and cell.faults]:
        yield Heading("Flagged")
        yield say("{} marks counts that are neither ranked nor compared:", instructions.FLAG)
        yield _on_kernels(faulty, lambda cell: "; ".join(cell.faults), kernels)
    missing = [cell for cell in matrix.all() if cell.cost is None]
    reasons = _on_kernels(missing, lambda cell: f"{cell.status}: {cell.note}".rstrip("."), kernels)
    yield from section("Not counted", Items(_since(matrix, kernels)), reasons if missing else None)


def _findings(each: Matrix, kernels: Mapping[str, str]) -> Iterator[Part]:
    plain = {case.id for case in each.suite.cases if case.action in {"nothing", "count"}}
    lines = (each.line(row, plain_tracer(each)) for row in each.events() if row.case in plain)
    ends = [(line[0], line[-1]) for line in lines if len(line) > 1]
    sound = [
        compare(number, other) for number, other in ends if number and other and number.is_sound and other.is_sound
    ]
    most = [instructions.between_kernels(comparison, kernels) for comparison in largest(sound, MOST_SAID)]
    yield "What changed most, from the oldest kernel here to the newest:" if most else None
    yield Items(most)


def _clear(matrices: Sequence[Matrix]) -> Iterator[Markup]:
    for way in WAYS:
        if compared := way.of_all(matrices):
            clear = units.count(sum(comparison.is_clear for comparison in compared))
            pairs = f"{clear} of {units.count(len(compared))} pairs of counts"
            yield say("{}, {} differ by more than {}.", way.title, pairs, instructions.LIMIT)


def plain_tracer(matrix: Matrix) -> str:
    """Libbpf where it was counted, which does nothing but what a probe asks for; else the first tracer."""
    plain = f"{plain_tools('bpf')[0]} "
    return next((tracer for tracer in matrix.tracers if tracer.startswith(plain)), matrix.tracers[0])


def _since(matrix: Matrix, kernels: Mapping[str, str]) -> list[str]:
    late: dict[str, list[str]] = {}
    for row in matrix.events():
        tried = [number for tracer in matrix.tracers for number in matrix.along_kernels(row, tracer)]
        places = [(matrix.kernels.index(column_of(number).kernel), number.cost is not None) for number in tried]
        first = min((index for index, is_counted in places if is_counted), default=0)
        if any(index < first for index, _ in places):
            late.setdefault(matrix.kernels[first], []).append(names.quoted(tried[0].title))
    return [f"From {kernels[kernel]} on: {', '.join(late[kernel])}." for kernel in matrix.kernels if kernel in late]


def _on_kernels(some: Iterable[Number], reason: Callable[[Number], str], kernels: Mapping[str, str]) -> Items:
    """One item for the tracers of a case that have the same reason on the same kernels, and then for such cases."""
    numbers = grouped_by(
        some, lambda number: (instructions.subject(number), reason(number), instructions.tracer(number))
    )
    places = {key: ", ".join(kernels[column_of(number).kernel] for number in own) for key, own in numbers.items()}
    tracers = grouped_by(numbers, lambda key: (*key[:2], places[key]))
    cases = grouped_by(tracers, lambda key: (*key[1:], tuple(tracer for *_, tracer in tracers[key])))
    listed, items = instructions.listed, []
    for (why, where, used), own in cases.items():
        items.append(say("{} with {} on {}: {}.", listed(case for case, *_ in own), listed(used), where, why))
    return Items(items)


ADDRESS = "kernels/anatomy.md"

OPEN_CASES = ("02-kprobe", "04-tracepoint-entry", "06-uprobe")  # shown at once; the others are folded

Recordings = Mapping[str, Sequence[tuple[Number, AddedPath]]]
"""Case to its counts from kernel to kernel, each with what an event executes more there."""


def write(catalogue: Catalogue) -> str | None:
    all_matrices = matrices(catalogue)
    each = [(matrix, own) for matrix in all_matrices if (own := _recorded(matrix))]
    front = {
        "title": "What one event executes",
        "description": "Function by function, which instructions a traced event adds, and what they are for, "
        "on each kernel and architecture, as an emulator recorded them.",
        "weight": 50,  # behind the pages of architectures, before those of machines
        "icicles": {
            _drawing(matrix, case): instructions.boxes(own[-1][1].stacks)
            for matrix, cases in each
            for case, own in cases.items()
        },
    }
    return parts.page(front, _anatomy(each, counted.names_of_all(all_matrices), catalogue.titles)) if each else None


def _recorded(matrix: Matrix) -> Recordings:
    recordings = {}
    for row in matrix.events():
        numbers = [] if row.level is not None else matrix.along_kernels(row, plain_tracer(matrix))
        if paths := [(number, path) for number in numbers if (path := instructions.executed_of(number))]:
            recordings[row.case] = paths
    return recordings


def _drawing(matrix: Matrix, case: str) -> str:
    return f"{names.architecture(matrix.architecture)}-{matrix.suite.id}-{case}"


def _anatomy(
    each: Sequence[tuple[Matrix, Recordings]], kernels: Mapping[str, str], titles: Mapping[str, str]
) -> Iterator[Part]:
    yield say(
        "This page shows which instructions one traced event adds, and what they are for. "
        "An emulator recorded every instruction of the same operation, traced and untraced; the difference is the "
        "event. Each count leads to its functions; [the method](/method/instructions/#what-one-event-executes) "
        "says how it was done."
    )
    for matrix, cases in each:
        word = names.architecture(matrix.architecture)
        yield Heading(say("{}: {}", matrix.suite.title, word))
        for case, own in sorted(cases.items(), key=lambda pair: pair[0] not in OPEN_CASES):
            title, inner = f"{titles.get(case, case)} on {word}", list(_executed(matrix, case, own, kernels))
            yield from [Heading(title, 3), *inner] if case in OPEN_CASES else [Fold(title, inner)]
    yield Heading("What functions are for")
    yield Items([say("{}: {}.", name, says) for name, says in purposes().items() if name != OTHER])


def _executed(
    matrix: Matrix, case: str, own: Sequence[tuple[Number, AddedPath]], kernels: Mapping[str, str]
) -> Iterator[Part]:
    called, newest = [kernels[column_of(number).kernel] for number, _ in own], own[-1][1]
    of_suite = matrix.suite.case(case)
    executed = instructions.sentence(newest, of_suite.events_per_operation if of_suite else 1)
    yield say("On {} with {}. {}.", called[-1], plain_tracer(matrix), executed)
    yield parts.icicle(_drawing(matrix, case))
    by_purpose = [path.by_purpose() for _, path in own]
    rows: list[Sequence[object]] = []
    for name in purposes():
        cells = [instructions.signed(totals[name]) if name in totals else "" for totals in by_purpose]
        rows += [(name, *cells)] if set(cells) - {"", "0"} else []
    sums = (links.number(number, "executed", instructions.signed(path.total)) for number, path in own)
    heads = [column("purpose", "Instructions for"), *map(of_data, called)]
    yield Table(heads, [*rows, (Markup("**Sum**"), *sums)])
    if hidden := instructions.kinds(newest):
        yield say("What the count hides there: {}.", hidden)


MECHANISMS_ADDRESS = "kernels/mechanisms.md"

NOT_SEEN = {"architecture": "not here", "event": "not seen", "ended": "did not end"}  # of outcomes without an error


MECHANISM_WORDS = say(
    "*Works* means that it was attached and that an event was seen, where there is one to see.\n"
    "Otherwise the cell says what was refused, with the kernel's error: to load the program or the map, or to attach "
    "it.\n"
    "*Not seen* means that it was attached, and was not seen to work: its probe may fire by another mechanism.\n"
    "The machines have Debian's kernels as they are, the modules left out, and an emulated processor: a mechanism may "
    "be missing because Debian built the kernel without it."
)


def write_mechanisms(catalogue: Catalogue) -> str | None:
    front = {
        "title": "Which mechanisms work",
        "description": f"{len(MECHANISMS)} mechanisms of tracing, each tried on every kernel here: whether it works, "
        "what was refused where it does not, and how many instructions an event adds.",
        "weight": 60,  # behind the anatomy, before the machines
    }
    return parts.page(front, _mechanisms_parts(catalogue)) if catalogue.mechanisms else None


def _mechanisms_parts(catalogue: Catalogue) -> Iterator[Part]:
    yield say(
        "Each mechanism was tried on each kernel, in an emulated machine.\n"
        "A number is what an event adds in instructions, with the tracer that does least, and leads to its page."
    )
    yield Fold("What “works” means, and why a mechanism may be missing", [MECHANISM_WORDS])
    # The counts of the tracer that does least.
    both = (
        *counted.series(catalogue),
        *(suite_matrix for suite_matrix in matrices(catalogue) if suite_matrix.suite.id == FIRST_SUITE),
    )
    counts = {
        (column_of(number).kernel, row.case): number
        for matrix in both
        for row in matrix.events()
        if row.level is None
        for number in matrix.along_kernels(row, plain_tracer(matrix))
    }

    def order(record: KernelMechanisms) -> tuple[object, ...]:
        return counted.architecture_order(record.architecture), release_order(record.kernel_release)

    ordered = sorted(catalogue.mechanisms, key=order)
    for name, own in grouped_by(ordered, lambda record: names.architecture(record.architecture)).items():
        called, rows, printed = counted.kernel_names(record.kernel_release for record in own), [], []
        for id_, mechanism in MECHANISMS.items():
            cells: list[object] = [mechanism["name"]]
            for record in own:
                trial, count = record.trials.get(id_), counts.get((record.kernel_release, mechanism.get("case", "")))
                if trial is None:
                    cells.append("")
                elif trial.outcome == "works":
                    cells.append(Pieces(["works, ", links.count(count)]) if count else "works")
                else:
                    refused = say("{}: {}", trial.outcome, trial.error or "refused")
                    cells.append(NOT_SEEN.get(trial.outcome, refused))
                if trial and trial.says:
                    printed.append(say("{}, {}: {}", mechanism["name"], called[record.kernel_release], trial.says))
            rows.append(cells)
        yield Heading(name)
        summaries: list[Markup] = []
        for record in own if len(own) < 2 else (own[0], own[-1]):
            working = sum(trial.outcome == "works" for trial in record.trials.values())
            what = "" if summaries else "mechanisms work "
            summaries.append(say("{} of {} {}on {}", working, len(record.trials), what, called[record.kernel_release]))
        yield say("{}.", listed(summaries, ", and "))
        yield Table([column("kernel-mechanism"), *map(of_data, called.values())], rows)
        yield Fold(f"What the kernels said on {name}", [Items(printed)])
    yield Heading("How each is tried")
    yield Items([say("{}: {}", entry["name"], entry["how"]) for entry in MECHANISMS.values()])
    yield Heading("The same for programs")
    yield say(
        "One [JSON file](/data/mechanisms.json) has all of it, and a "
        "[schema](/data/schema/mechanisms.json.schema.json) says what is in it.\n"
        "`probe-effect doctor --vm RELEASE --arch ARCHITECTURE --format json` tries them on another kernel."
    )
    yield say("The kernels:")
    kernels = (
        (record.kernel_release, record.kernel, record.emulator, names.date_words(record.date)) for record in ordered
    )
    yield Items([say("{}: {}, {}, tried on {}", *kernel) for kernel in kernels])
