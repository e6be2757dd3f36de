"""What things are called, where their pages are, and how each tracer looks, for layouts and for scripts that draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.charts.tracer_look import LOOKS, look
from probe_effect.numbers import names
from probe_effect.pages import addresses, wording

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue

Label = dict[str, str | dict[str, str]]
"""`text` and `href`; of a source also its `title`, and what each of its `figures` is."""


def labels(catalogue: Catalogue) -> dict[str, dict[str, Label]]:
    """For suites, cases, sources and tracers each id to its text and the address of its page: `labels.json`.

    A tracer is called by its tool and the version of the newest submission that has it.
    """
    newest_first = sorted(catalogue.timed, key=lambda one: one.started, reverse=True)
    versions: dict[str, str] = {}
    for submission in newest_first:
        for tracer in (case.tracer for case in submission.numbers):
            versions.setdefault(tracer, names.tool(tracer, submission.document.tools.get(tracer)))
    return {
        "suites": {one.suite.id: _label(one.suite.title, addresses.suite(one.suite.id)) for one in catalogue.suites},
        "cases": {case.id: _label(case.title, addresses.case(case.id)) for case in catalogue.cases()},
        "sources": {
            one.id: {
                **_label(wording.source_label(one.document), addresses.figure(one.id)),
                "title": one.document.title,
                "figures": {figure.figure: figure.what for figure in one.figures},
            }
            for one in catalogue.sources
        },
        "tracers": {tracer: _label(name, addresses.tracer(tracer)) for tracer, name in sorted(versions.items())},
    }


def tracer_looks(catalogue: Catalogue) -> dict[str, dict[str, object]]:
    """Tracer id to its look, for every tracer that the data or the program knows: `data/tracer-looks.json`.

    `series` is the number of the variable `--series-1` and so on, `colour` the sentinel of specs, `shape` and `dash`
    are as Vega takes them.
    """
    measured = {case.tracer for one in catalogue.everything for case in one.numbers}
    published = {figure.tracer for source in catalogue.sources for figure in source.figures if figure.tracer}
    looks = {tracer: look(tracer) for tracer in sorted({*LOOKS, *measured, *published})}
    return {
        tracer: {"series": one.series, "colour": one.colour, "shape": one.shape, "dash": one.dash}
        for tracer, one in looks.items()
    }


def _label(text: str, href: str) -> Label:
    return {"text": text, "href": href}
