"""A page for each architecture: what changed there, charts and tables; and what one event executes, by function."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from probe_effect.compare.comparison import compare, largest
from probe_effect.compare.kernels import CountedCase, Matrix, column_of, matrices, names_of_all, release_order
from probe_effect.compare.paths import OTHER, AddedPath, purposes
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.pages import addresses, executed, instructions
from probe_effect.pages.instructions import listed
from probe_effect.pages.kernel_changes import WAYS, charts_of, short_names
from probe_effect.pages.markdown import page
from probe_effect.reduce.submission import Number
from probe_effect.tools import plain_tools

MOST_SAID = 3
"""Changes of a suite that the page begins with."""

PLAIN_ACTIONS = ("nothing", "count")
"""The actions of cases that are about their probe."""

LOWER_BOUND = f"{plain_tools('bpf')[0]} "
"""How the tracer is called that does nothing but what a probe asks for."""


def write_all(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Path and page for each architecture that readers have a word for."""
    each = groupby(matrices(catalogue), key=lambda one: one.architecture)
    for place, (architecture, some) in enumerate(each, start=1):
        if architecture in names.ARCHITECTURES:
            yield f"{addresses.architecture(architecture).strip('/')}.md", _write(list(some), catalogue, place)


def _write(found: list[Matrix], catalogue: Catalogue, place: int) -> str:
    kernels = names_of_all(found)
    word = names.architecture(found[0].architecture)
    ordered = sorted(kernels, key=release_order)
    front = {
        "title": f"Instructions on {word}",
        "description": f"How many instructions one traced event takes on {word}, {kernels[ordered[0]]} to "
        f"{kernels[ordered[-1]]}: charts and tables of every count, and what was not counted.",
        "weight": place,
    }
    return page(
        "architecture.md.j2",
        front,
        matrices=found,
        kernels=kernels,
        titles=catalogue.titles,
        findings=findings(found, kernels),
        charts=charts_of,
        flagged=flagged,
        uncounted=uncounted,
        heads=short_names,
    )


def findings(found: Sequence[Matrix], kernels: Mapping[str, str]) -> list[list[str]]:
    """Sentences in groups: changes from the oldest kernel to the newest, first kernels of probes, extents."""
    said = [group for each in found for group in (_over_all(each, kernels), since(each, kernels)) if len(group) > 1]
    return [*said, *([instructions.extent(some, way.title)] for way in WAYS if (some := way.of_all(found)))]


def plain_tracer(found: Matrix) -> str:
    """Libbpf where it was counted, which does nothing but what a probe asks for; else the first tracer."""
    return next((tracer for tracer in found.tracers if tracer.startswith(LOWER_BOUND)), found.tracers[0])


def _over_all(found: Matrix, kernels: Mapping[str, str]) -> list[str]:
    """The largest changes of plain probes from the oldest kernel to the newest, with libbpf where it was counted."""
    plain = {case.id for case in found.suite.cases if case.action in PLAIN_ACTIONS}
    lines = (found.along_kernels(row, plain_tracer(found)) for row in found.events() if row.case in plain)
    sound = [[one for one in line if one.is_sound] for line in lines]
    ends = (found.kernels[0], found.kernels[-1])
    whole = (line for line in sound if line and (column_of(line[0]).kernel, column_of(line[-1]).kernel) == ends)
    compared = largest([compare(line[0], line[-1]) for line in whole if len(line) > 1], MOST_SAID)
    head = instructions.said_of(found.suite, "which probes changed most, from the oldest kernel here to the newest.")
    return [head, *(instructions.between_kernels(one, kernels) for one in compared)]


def since(found: Matrix, kernels: Mapping[str, str]) -> list[str]:
    """Which cases could be counted from some kernel on, and not on the older ones here, where they were tried."""
    head = instructions.said_of(found.suite, "what could not be counted on older kernels here.")
    late = grouped_by(found.events(), lambda row: _first_kernel(found, row))
    titles = {row: names.quoted(one.title) for (row, _), one in found.cells.items()}
    told = {kernel: ", ".join(titles[row] for row in late[kernel]) for kernel in found.kernels if kernel in late}
    return [head, *(f"From {kernels[kernel]} on: {some}." for kernel, some in told.items())]


def _first_kernel(found: Matrix, row: CountedCase) -> str | None:
    """The first kernel on which a case could be counted; None where nobody tried it on an older one, or never could."""
    cells = [one for tracer in found.tracers for one in found.along_kernels(row, tracer)]
    known = {column_of(one).kernel for one in cells if one.cost is not None}
    first = next((kernel for kernel in found.kernels if kernel in known), None)
    is_late = first is not None and any(release_order(column_of(one).kernel) < release_order(first) for one in cells)
    return first if is_late else None


def flagged(found: Matrix) -> dict[tuple[str, str], list[str]]:
    """Cases with tracers, and what is wrong, to the kernels where it is: shown, but neither ranked nor compared."""
    faulty = (one for one in found.all() if one.cost is not None and one.faults)
    return _kernels_of(faulty, lambda one: "; ".join(one.faults))


def uncounted(found: Matrix) -> dict[tuple[str, str], list[str]]:
    """Cases with tracers, and the reason why there is no count, to the kernels where that is so."""
    missing = (one for one in found.all() if one.cost is None)
    return _kernels_of(missing, lambda one: f"{one.status}: {one.note}".rstrip("."))


def _kernels_of(some: Iterable[Number], reason: Callable[[Number], str]) -> dict[tuple[str, str], list[str]]:
    """One entry for the tracers of a case that have the same reason on the same kernels, and then for such cases."""
    numbers = grouped_by(some, lambda one: (instructions.subject(one), reason(one), instructions.tracer(one)))
    kernels = {key: tuple(column_of(one).kernel for one in own) for key, own in numbers.items()}
    tracers = grouped_by(numbers, lambda key: (*key[:2], kernels[key]))
    cases = grouped_by(tracers, lambda key: (*key[1:], tuple(tracer for *_, tracer in tracers[key])))
    return {
        (f"{listed([case for case, *_ in own])} with {listed(used)}", why): list(places)
        for (why, places, used), own in cases.items()
    }


ADDRESS = "kernels/anatomy.md"
BEFORE_MACHINES = 50
"""The weight of the page, which comes after those of the architectures."""

OPEN_CASES = ("02-kprobe", "04-tracepoint-entry", "06-uprobe")
"""Those that the page shows at once; the others are folded."""


class Anatomy(NamedTuple):
    """A case on one architecture: on each kernel the count, and what an event executes more there."""

    case: str
    name: str
    kernels: Mapping[str, tuple[Number, AddedPath]]

    @property
    def newest(self) -> tuple[Number, AddedPath]:
        """The count and the path on the newest kernel."""
        return list(self.kernels.values())[-1]

    def table(self) -> list[tuple[str, list[str]]]:
        """Purposes with their instructions on each kernel, empty where there are none; as the list of purposes goes."""
        each = [path.by_purpose() for _, path in self.kernels.values()]
        found = ((name, [one.get(name) for one in each]) for name in purposes())
        return [
            (name, ["" if one is None else str(one.instructions).replace("-", "−") for one in cells])
            for name, cells in found
            if any(one and one.instructions for one in cells)
        ]


def write(catalogue: Catalogue) -> str | None:
    """The page; None where no path was recorded."""
    found = matrices(catalogue)
    each = [(one, own) for one in found if (own := anatomies(one, plain_tracer(one)))]
    if not each:
        return None
    kernels = names_of_all(found)
    icicles = {one.name: executed.boxes(one.newest[1].stacks) for _, own in each for one in own}
    front = {
        "title": "What one event executes",
        "description": "Function by function, which instructions a traced event adds, and what they are for, "
        "on each kernel and architecture, as an emulator recorded them.",
        "weight": BEFORE_MACHINES,
        "icicles": icicles,
    }
    return page(
        "anatomy.md.j2",
        front,
        each=each,
        executed=executed,
        titles=catalogue.titles,
        purposes={name: says for name, says in purposes().items() if name != OTHER},
        open_cases=OPEN_CASES,
        place=lambda number: kernels[number.submission.document.system.kernel_release],
        heads=lambda one: [kernels[kernel] for kernel in one.kernels],
        plain_tracer=plain_tracer,
    )


def anatomies(found: Matrix, tracer: str) -> list[Anatomy]:
    """The cases of a suite of which a path was recorded with that tracer, in the suite's order."""
    made = (_anatomy(found, row, tracer) for row in found.events() if row.level is None)
    return [one for one in made if one.kernels]


def _anatomy(found: Matrix, row: CountedCase, tracer: str) -> Anatomy:
    counts = {one.submission.document.system.kernel_release: one for one in found.along_kernels(row, tracer)}
    known = {kernel: (one, path) for kernel, one in counts.items() if (path := executed.executed_of(one))}
    return Anatomy(row.case, f"{names.architecture(found.architecture)}-{found.suite.id}-{row.case}", known)
