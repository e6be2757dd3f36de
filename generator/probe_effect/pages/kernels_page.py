"""The pieces of the first page on kernels: what probes take on each architecture, what changed, and what compares."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from probe_effect.compare.agreement import CountedOrder, counted_orders
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.kernels import (
    CountedCase,
    Matrix,
    architecture_order,
    beside,
    explanation_of,
    kernel_names,
    matrices,
    names_of_all,
    release_order,
)
from probe_effect.costs.from_counts import FEWEST_POINTS
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by, newest_first
from probe_effect.numbers.published import DERIVED_MARK
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.pages import instructions
from probe_effect.pages.architecture_page import plain_tracer
from probe_effect.pages.kernel_changes import changes, short_names
from probe_effect.pages.markdown import render
from probe_effect.pages.timed_kernels import timed_kernels
from probe_effect.reduce.submission import Number, Submission
from probe_effect.stats.trends import MIN_PAIRS
from probe_effect.store.beside_files import Explanation

MOST_EXPLAINED = 5
"""The causes that the page names for an architecture and a way to compare, each with the largest change."""


class ProbeTable(NamedTuple):
    """Plain probes on one architecture, kernel by kernel: `matrix` has the kernels, and a row a count for each.

    `tracer` is that of the table; a row of another, because that one has no such probe, names it.
    """

    matrix: Matrix
    tracer: str
    rows: list[tuple[CountedCase, str, list[Number | None]]]


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown; each says so, or is empty, before anything was counted."""
    found, timed = matrices(catalogue), timed_kernels(catalogue)
    own: dict[str, dict[str, object]] = {
        "answers": {
            "tables": tables(found),
            "heads": short_names,
            "architectures": list(dict.fromkeys(one.architecture for one in found)),
        },
        "findings": {"told": told(catalogue, found)},
        "architectures": {"pairs": beside(found)},
        "orders": {"orders": orders(catalogue, found)},
        "machines": {"machines": machines(catalogue), "tracers": tracers},
        "published-times": {
            "timed": timed,
            "names_of_timed": kernel_names(one.kernel for one in timed),
            "mark": DERIVED_MARK,
            "cases": len({pair.count.case for one in timed for pair in one.pairs}),
            "fewest": {"cases of a model": FEWEST_POINTS, "pairs of an order": MIN_PAIRS},
        },
    }
    shared = {"kernels": names_of_all(found), "titles": catalogue.titles}
    return {
        f"kernel-{name}.md": render(f"fragments/kernel-{name}.md.j2", **values, **shared)
        for name, values in own.items()
    }


def tables(found: Sequence[Matrix]) -> list[ProbeTable]:
    """The probes alone, without an action, of the first suite, on each architecture on which it was counted."""
    return [_table(one) for one in found if one.suite.id == FIRST_SUITE]


def _table(found: Matrix) -> ProbeTable:
    plain = {case.id for case in found.suite.cases if case.action == "nothing" and case.counted_by != "nothing"}
    first = plain_tracer(found)
    rows = []
    for row in (row for row in found.rows if row.case in plain):
        for tracer in (first, *found.tracers):
            counts = [found.cell(row, kernel, tracer) for kernel in found.kernels]
            if any(one and one.is_sound for one in counts):
                rows.append((row, "" if tracer == first else instructions.short(tracer), counts))
                break
    return ProbeTable(found, instructions.short(first), rows)


class Told(NamedTuple):
    """The sentence on a change, its cause where that is known, and how many smaller changes have the same one."""

    sentence: str
    cause: Explanation | None
    others: int


def told(catalogue: Catalogue, found: Sequence[Matrix]) -> dict[str, list[list[Told]]]:
    """Architecture to the largest changes of each way, one for each cause."""
    names = names_of_all(found)
    said: dict[str, list[list[Told]]] = {}
    for name, own in grouped_by(found, attrgetter("architecture")).items():
        for way, listed in changes(own).items():
            causes = grouped_by(listed, lambda one: explanation_of(one, catalogue.explanations) or one)
            told = [
                Told(way.sentence(same[0], names), None if isinstance(cause, Comparison) else cause, len(same) - 1)
                for cause, same in list(causes.items())[:MOST_EXPLAINED]
            ]
            said.setdefault(name, []).append(told)
    return said


def machines(catalogue: Catalogue) -> dict[str, list[Submission]]:
    """Emulated machine to its submissions, newest first; machines in the order of architectures and kernels."""
    return grouped_by(sorted(newest_first(catalogue.counted), key=_machine_order), attrgetter("machine"))


def _machine_order(one: Submission) -> tuple[object, ...]:
    document = one.document
    return (
        architecture_order(one.architecture),
        release_order(document.system.kernel_release),
        -document.machine.threads,
    )


def tracers(submissions: Iterable[Submission]) -> list[str]:
    """Every tracer of a machine, with its version."""
    return list(dict.fromkeys(instructions.tracer(number) for one in submissions for number in one.numbers))


def orders(catalogue: Catalogue, found: Sequence[Matrix]) -> list[list[tuple[CountedOrder, str]]]:
    """The orders that can be set against each other, each with its architecture; together by source and platform."""
    each = ((one, suite.architecture) for suite in found for one in counted_orders(catalogue, suite))
    return list(grouped_by(each, lambda pair: (pair[0].source.id, pair[0].platform)).values())
