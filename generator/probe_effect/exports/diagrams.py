"""The files of the diagrams: two drawings of each, its title and sentence, and its text form with links.

All costs of a diagram are of one of the machines that pages show, that which has most of those it asks for, or else
they could not stand side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.answer.evidence import evidence
from probe_effect.answer.parts import parts
from probe_effect.answer.question import Asked, Question
from probe_effect.diagrams.diagram import Cost
from probe_effect.diagrams.drawn import LAYOUTS, MAKERS, drawing
from probe_effect.diagrams.svg import svg
from probe_effect.exports.files import write
from probe_effect.exports.table import json_of
from probe_effect.numbers import names
from probe_effect.numbers.home import in_order
from probe_effect.numbers.kinds import shown_machines
from probe_effect.pages import addresses
from probe_effect.pages.estimates import MARK
from probe_effect.pages.markdown import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.part import Part
    from probe_effect.diagrams.diagram import Diagram
    from probe_effect.model import Estimate
    from probe_effect.numbers.catalogue import Catalogue

WHOSE = "Costs are those of {machine}."
ESTIMATED = f"{MARK} stands before what was estimated from counted instructions."


def diagrams(catalogue: Catalogue) -> Iterator[tuple[Diagram, str]]:
    """Every diagram with the costs of one machine, and whose they are, in a sentence."""
    found = evidence(catalogue)
    shown = shown_machines(catalogue.numbers)
    labels = {one.machine: names.machine_label(one) for one in in_order(catalogue.numbers) if one.machine in shown}
    for make in MAKERS:
        made = {(known := _Known(found, machine)): make(known) for machine in labels}
        if not made:
            yield make(lambda *_: None), ""
            continue
        known = max(made, key=lambda one: len(one.costs))
        texts = [cost.text for cost in known.costs.values()]
        whose = [WHOSE.format(machine=labels[known.machine])] if texts else []
        marked = [ESTIMATED] if any(text.startswith(MARK) for text in texts) else []
        yield made[known], " ".join([*whose, *marked])


def write_diagrams(catalogue: Catalogue, work: Path) -> None:
    """Write the files of each diagram into the work folder: `diagrams/<name>/` and `fragments/diagrams/<name>.md`."""
    for one, whose in diagrams(catalogue):
        folder = work / "assets" / "diagrams" / one.name
        for layout in LAYOUTS:
            write(folder / f"{layout}.svg", svg(drawing(one, layout)))
        write(folder / "meta.json", json_of({"title": one.title, "sentence": one.sentence, "whose": whose}))
        write(work / "assets" / "fragments" / "diagrams" / f"{one.name}.md", words(one))


def words(one: Diagram) -> str:
    """The text form of a diagram, as Markdown: all that its boxes say, in their order, and its costs as links."""
    return render("fragments/diagram.md.j2", diagram=one)


class _Known:
    """The costs that a machine knows of those that a diagram asks it for."""

    def __init__(self, found: Evidence, machine: str) -> None:
        self.found, self.machine = found, machine
        self.costs: dict[tuple[str, str], Cost] = {}

    def __call__(self, tracer: str, case: str) -> Cost | None:
        for part in _part(self.found, self.machine, tracer, case):
            self.costs[tracer, case] = _cost(part)
        return self.costs.get((tracer, case))


def _part(found: Evidence, machine: str, tracer: str, case: str) -> list[Part]:
    if case not in found.case_of or tracer not in found.by_tracer(machine):
        return []
    known = parts(found, Question(probes=(Asked(case, 0.0),)), machine, tracer)
    return [part for part in known if part.is_clear or part.basis != "measured"]


def _cost(part: Part) -> Cost:
    """A measured cost as its value with its address; an estimated one as its interval, which spans a factor of two."""
    if part.basis == "measured":
        text = units.value(part.cost, units.DURATION)
        return Cost(text, addresses.number(part.added[0], "cost"))
    return Cost(f"{MARK} {_range(part.cost)}", addresses.case(part.name))


def _range(cost: Estimate) -> str:
    """Both ends, with the unit once where it is the same; without them the value."""
    low, high = units.duration(cost.low, 2), units.duration(cost.high, 2)
    if units.MISSING in (low, high):
        return units.duration(cost.value, 2)
    same = low.partition(units.GAP)[2] == high.partition(units.GAP)[2]
    return f"{low.partition(units.GAP)[0] if same else low} to {high}"
