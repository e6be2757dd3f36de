"""The chart of static and dynamic probes on one machine: in the kernel, and in programs."""

from collections.abc import Iterator
from itertools import product

from probe_effect import units
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.part import Part
from probe_effect.answer.parts import of_case
from probe_effect.charts.dots import Dot, cost_chart
from probe_effect.charts.theme import Chart
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import reference_submission
from probe_effect.stats import estimates

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


def _called(found: Evidence, part: Part) -> str:
    """A probe by its name; one of a user's function with what the kernel does with the first instruction."""
    if not part.added:
        return part.title or part.name
    one = part.added[0]
    case = found.case_of[one.case]
    how = mechanism_of(case, one) if "uprobe" in case.needs else None
    return f"{one.title}, {how}" if how else one.title


def _parts(found: Evidence, machine: str, tracers: list[str]) -> Iterator[tuple[str, str, Part]]:
    """Place and kind of each probe with its cost: by the first tracer that measured it, else by one that is known."""
    for place, kind in product(STATIC, ("static", "dynamic")):
        for case in (STATIC if kind == "static" else DYNAMIC)[place].split():
            every = (of_case(found, case, machine, tracer) for tracer in tracers)
            known = [part for part in every if part and part.basis in KINDS]
            if known:
                yield place, kind, min(known, key=lambda part: part.basis != "measured")


def finding(known: list[Part]) -> str:
    """How much more the most expensive way costs, where the two were measured in one run and differ."""
    costs = {part.name: part for part in known if part.basis == "measured"}
    first, second = (costs.get(case) for case in COMPARED)
    if not first or not second or first.added[0].submission is not second.added[0].submission:
        return ""
    ratio = estimates.ratio(first.cost, second.cost)
    if ratio is None or ratio.low is None or ratio.low <= 1:
        return ""
    return f": a stepped uprobe costs {units.span(ratio, units.TIMES)} an emulated one"
