"""The page of what one event executes, kernel by kernel: what the instructions of each plain probe are for."""

from collections.abc import Mapping
from typing import NamedTuple

from probe_effect.compare.kernels import CountedCase, Matrix, matrices, names_of_all
from probe_effect.compare.paths import OTHER, AddedPath, purposes
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import executed
from probe_effect.pages.architecture_page import plain_tracer
from probe_effect.pages.markdown import page
from probe_effect.reduce.submission import Number

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
