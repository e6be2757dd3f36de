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
    for place, (architecture, found) in enumerate(each.items(), start=1):
        if architecture in names.ARCHITECTURES:
            kernels, word = counted.names_of_all(found), names.architecture(architecture)
            ordered = sorted(kernels, key=release_order)
            front = {
                "title": f"Instructions on {word}",
                "description": f"How many instructions one traced event takes on {word}, {kernels[ordered[0]]} to "
                f"{kernels[ordered[-1]]}: charts and tables of every count, and what was not counted.",
                "weight": place,
                "open": 1,
            }
            first, others = ([one for one in found if (one.suite.id == FIRST_SUITE) is own] for own in (True, False))
            address = partial(addresses.architecture, architecture)
            further = listed(link(one.suite.title, address(one.suite.id)) for one in others)
            causes = say("[Every change](/kernels/changes/) has its cause where that is known.")
            whole = [together(*_clear(found), causes), together(COUNTED, further and say("Other suites: {}.", further))]
            tables = (part for one in first for part in _of_suite(one, kernels, catalogue.titles))
            yield _path(address()), parts.page(front, [*whole, *tables])
            for one in others:
                title = instructions.said_of(one.suite, f"instructions on {word}")
                front |= {"title": title, "description": one.suite.question, "weight": BEHIND_MACHINES + place}
                own = _of_suite(one, kernels, catalogue.titles)
                yield _path(address(one.suite.id)), parts.page(front, [one.suite.question, COUNTED, *own])


def _path(address: str) -> str:
    return f"{address.strip('/')}.md"


def _of_suite(one: Matrix, kernels: Mapping[str, str], titles: Mapping[str, str]) -> Iterator[Part]:
    yield from _findings(one, kernels)
    drawn = [parts.chart(each.name) for each in charts_of(one)]
    yield from drawn[:1]
    for tracer in one.tracers:
        known = [row for row in one.rows if any(cell.cost for cell in one.along_kernels(row, tracer))]
        cases = (links.case(row.case, titles.get(row.case, row.case), row.level) for row in known)
        rows = [(case, *map(links.count, one.line(row, tracer))) for case, row in zip(cases, known, strict=True)]
        yield Heading(instructions.short(tracer))
        yield Table([column("case", "Case, on Linux"), *map(of_data, short_names(one))], rows)
    yield from section("Further charts", *drawn[1:])
    if faulty := [cell for cell in one.all() if cell.cost is not None and cell.faults]:
        yield Heading("Flagged")
        yield say("{} marks counts that are neither ranked nor compared:", instructions.FLAG)
        yield _on_kernels(faulty, lambda cell: "; ".join(cell.faults), kernels)
    missing = [cell for cell in one.all() if cell.cost is None]
    reasons = _on_kernels(missing, lambda cell: f"{cell.status}: {cell.note}".rstrip("."), kernels)
    yield from section("Not counted", Items(_since(one, kernels)), reasons if missing else None)


def _findings(each: Matrix, kernels: Mapping[str, str]) -> Iterator[Part]:
    plain = {case.id for case in each.suite.cases if case.action in {"nothing", "count"}}
    lines = (each.line(row, plain_tracer(each)) for row in each.events() if row.case in plain)
    ends = [(line[0], line[-1]) for line in lines if len(line) > 1]
    sound = [compare(one, other) for one, other in ends if one and other and one.is_sound and other.is_sound]
    most = [instructions.between_kernels(one, kernels) for one in largest(sound, MOST_SAID)]
    yield "What changed most, from the oldest kernel here to the newest:" if most else None
    yield Items(most)


def _clear(found: Sequence[Matrix]) -> Iterator[Markup]:
    for way in WAYS:
        if compared := way.of_all(found):
            clear = units.count(sum(one.is_clear for one in compared))
            pairs = f"{clear} of {units.count(len(compared))} pairs of counts"
            yield say("{}, {} differ by more than {}.", way.title, pairs, instructions.LIMIT)


def plain_tracer(found: Matrix) -> str:
    """Libbpf where it was counted, which does nothing but what a probe asks for; else the first tracer."""
    plain = f"{plain_tools('bpf')[0]} "
    return next((tracer for tracer in found.tracers if tracer.startswith(plain)), found.tracers[0])


def _since(found: Matrix, kernels: Mapping[str, str]) -> list[str]:
    late: dict[str, list[str]] = {}
    for row in found.events():
        tried = [one for tracer in found.tracers for one in found.along_kernels(row, tracer)]
        places = [(found.kernels.index(column_of(one).kernel), one.cost is not None) for one in tried]
        first = min((place for place, is_counted in places if is_counted), default=0)
        if any(place < first for place, _ in places):
            late.setdefault(found.kernels[first], []).append(names.quoted(tried[0].title))
    return [f"From {kernels[kernel]} on: {', '.join(late[kernel])}." for kernel in found.kernels if kernel in late]


def _on_kernels(some: Iterable[Number], reason: Callable[[Number], str], kernels: Mapping[str, str]) -> Items:
    """One item for the tracers of a case that have the same reason on the same kernels, and then for such cases."""
    numbers = grouped_by(some, lambda one: (instructions.subject(one), reason(one), instructions.tracer(one)))
    places = {key: ", ".join(kernels[column_of(one).kernel] for one in own) for key, own in numbers.items()}
    tracers = grouped_by(numbers, lambda key: (*key[:2], places[key]))
    cases = grouped_by(tracers, lambda key: (*key[1:], tuple(tracer for *_, tracer in tracers[key])))
    listed, items = instructions.listed, []
    for (why, place, used), own in cases.items():
        items.append(say("{} with {} on {}: {}.", listed(case for case, *_ in own), listed(used), place, why))
    return Items(items)


ADDRESS = "kernels/anatomy.md"

OPEN_CASES = ("02-kprobe", "04-tracepoint-entry", "06-uprobe")  # shown at once; the others are folded

Recordings = Mapping[str, Sequence[tuple[Number, AddedPath]]]
"""Case to its counts from kernel to kernel, each with what an event executes more there."""


def write(catalogue: Catalogue) -> str | None:
    found = matrices(catalogue)
    each = [(one, own) for one in found if (own := _recorded(one))]
    front = {
        "title": "What one event executes",
        "description": "Function by function, which instructions a traced event adds, and what they are for, "
        "on each kernel and architecture, as an emulator recorded them.",
        "weight": 50,  # behind the pages of architectures, before those of machines
        "icicles": {
            _drawing(one, case): instructions.boxes(own[-1][1].stacks)
            for one, cases in each
            for case, own in cases.items()
        },
    }
    return parts.page(front, _anatomy(each, counted.names_of_all(found), catalogue.titles)) if each else None


def _recorded(found: Matrix) -> Recordings:
    recordings = {}
    for row in found.events():
        numbers = [] if row.level is not None else found.along_kernels(row, plain_tracer(found))
        if paths := [(one, path) for one in numbers if (path := instructions.executed_of(one))]:
            recordings[row.case] = paths
    return recordings


def _drawing(found: Matrix, case: str) -> str:
    return f"{names.architecture(found.architecture)}-{found.suite.id}-{case}"


def _anatomy(
    each: Sequence[tuple[Matrix, Recordings]], kernels: Mapping[str, str], titles: Mapping[str, str]
) -> Iterator[Part]:
    yield say(
        "This page shows which instructions one traced event adds, and what they are for. "
        "An emulator recorded every instruction of the same operation, traced and untraced; the difference is the "
        "event. Each count leads to its functions; [the method](/method/instructions/#what-one-event-executes) "
        "says how it was done."
    )
    for found, cases in each:
        word = names.architecture(found.architecture)
        yield Heading(say("{}: {}", found.suite.title, word))
        for case, own in sorted(cases.items(), key=lambda pair: pair[0] not in OPEN_CASES):
            title, inner = f"{titles.get(case, case)} on {word}", list(_executed(found, case, own, kernels))
            yield from [Heading(title, 3), *inner] if case in OPEN_CASES else [Fold(title, inner)]
    yield Heading("What functions are for")
    yield Items([say("{}: {}.", name, says) for name, says in purposes().items() if name != OTHER])


def _executed(
    found: Matrix, case: str, own: Sequence[tuple[Number, AddedPath]], kernels: Mapping[str, str]
) -> Iterator[Part]:
    called, newest = [kernels[column_of(number).kernel] for number, _ in own], own[-1][1]
    yield say("On {} with {}. {}.", called[-1], plain_tracer(found), instructions.sentence(newest))
    yield parts.icicle(_drawing(found, case))
    by_purpose = [path.by_purpose() for _, path in own]
    rows: list[Sequence[object]] = []
    for name in purposes():
        cells = [instructions.signed(one[name]) if name in one else "" for one in by_purpose]
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
    both = (*counted.series(catalogue), *(one for one in matrices(catalogue) if one.suite.id == FIRST_SUITE))
    counts = {
        (column_of(one).kernel, row.case): one
        for found in both
        for row in found.events()
        if row.level is None
        for one in found.along_kernels(row, plain_tracer(found))
    }

    def order(one: KernelMechanisms) -> tuple[object, ...]:
        return counted.architecture_order(one.architecture), release_order(one.kernel_release)

    ordered = sorted(catalogue.mechanisms, key=order)
    for name, own in grouped_by(ordered, lambda one: names.architecture(one.architecture)).items():
        called, rows, printed = counted.kernel_names(one.kernel_release for one in own), [], []
        for id_, mechanism in MECHANISMS.items():
            cells: list[object] = [mechanism["name"]]
            for one in own:
                trial, count = one.trials.get(id_), counts.get((one.kernel_release, mechanism.get("case", "")))
                if trial is None:
                    cells.append("")
                elif trial.outcome == "works":
                    cells.append(Pieces(["works, ", links.count(count)]) if count else "works")
                else:
                    refused = say("{}: {}", trial.outcome, trial.error or "refused")
                    cells.append(NOT_SEEN.get(trial.outcome, refused))
                if trial and trial.says:
                    printed.append(say("{}, {}: {}", mechanism["name"], called[one.kernel_release], trial.says))
            rows.append(cells)
        yield Heading(name)
        said: list[Markup] = []
        for one in own if len(own) < 2 else (own[0], own[-1]):
            working = sum(trial.outcome == "works" for trial in one.trials.values())
            what = "" if said else "mechanisms work "
            said.append(say("{} of {} {}on {}", working, len(one.trials), what, called[one.kernel_release]))
        yield say("{}.", listed(said, ", and "))
        yield Table([column("kernel-mechanism"), *map(of_data, called.values())], rows)
        yield Fold(f"What the kernels said on {name}", [Items(printed)])
    yield Heading("How each is tried")
    yield Items([say("{}: {}", one["name"], one["how"]) for one in MECHANISMS.values()])
    yield Heading("The same for programs")
    yield say(
        "One [JSON file](/data/mechanisms.json) has all of it, and a "
        "[schema](/data/schema/mechanisms.json.schema.json) says what is in it.\n"
        "`probe-effect doctor --vm RELEASE --arch ARCHITECTURE --format json` tries them on another kernel."
    )
    yield say("The kernels:")
    kernels = ((one.kernel_release, one.kernel, one.emulator, names.date_words(one.date)) for one in ordered)
    yield Items([say("{}: {}, {}, tried on {}", *one) for one in kernels])
