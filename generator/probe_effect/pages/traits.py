"""What two sides of a comparison are, in words: their machines, tools and runs, and where they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.numbers.names import tier, tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probe_effect.reduce.submission import Number

Trait = tuple[str, str]


def differing(first: Iterable[Number], second: Iterable[Number]) -> list[tuple[str, str, str]]:
    """Trait, what it is on the first side and what on the second, for those that are not the same."""
    ours, others = of_side(first), of_side(second)
    return [
        (name, ours.get(name, ""), others.get(name, "")) for name in ours | others if ours.get(name) != others.get(name)
    ]


def of_side(side: Iterable[Number]) -> dict[str, str]:
    """Each trait once, with every value that it has on a side."""
    found: dict[str, dict[str, None]] = {}
    for one in side:
        for name, value in _of(one):
            found.setdefault(name, {})[value] = None
    return {name: ", ".join(sorted(values)) for name, values in found.items()}


def _of(one: Number) -> Iterator[Trait]:
    document, tracer = one.submission.document, one.tracer
    run = document.run
    yield "machine", document.machine.id
    yield "tier", tier(document.machine, run.metric)
    yield "CPU", f"{document.machine.cpu_model or document.machine.architecture}, {document.machine.threads} CPUs"
    yield "kernel", document.system.kernel_release
    yield "tracer", tool(tracer, document.tools.get(tracer))
    yield "suite", f"{run.suite}, version {run.suite_version}"
    yield "date", run.started[:10]
    yield "blocks", str(run.blocks)
    if one.is_time:
        yield "grade", f"{run.suite} {one.submission.grade}"
    yield from ((f"first bytes of {name}", code) for name, code in run.functions.items())
    yield from ((f"package of {part}", package) for part, package in run.packages.items())
