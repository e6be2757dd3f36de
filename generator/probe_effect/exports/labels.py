"""What layouts and scripts read: what things are called, their pages, the look of tracers, the guide's transcripts."""

from typing import Any

from probe_effect.charts.series_look import LOOKS, look
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import addresses, wording
from probe_effect.store.transcripts import ROOT_NEED, Recorded, Transcript

Label = dict[str, str | dict[str, str]]
"""`text` and `href`; of a source also its `title`, and what each of its `figures` is."""


def labels(catalogue: Catalogue) -> dict[str, dict[str, Label]]:
    """For suites, cases, sources and tracers each id to its text and the address of its page: `labels.json`.

    A tracer is called by its tool and the version of the newest submission that has it.
    """
    newest_first = sorted(catalogue.timed, key=lambda one: one.started, reverse=True)
    versions = {one.tracer: names.tool_with_version(one) for run in reversed(newest_first) for one in run.numbers}
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


def transcript_values(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Every recorded transcript, by chapter: `transcripts.json`; `chapter` is the stem of its file."""
    return [
        {"chapter": one.chapter, **_values(one.transcript, one.recorded, catalogue)}
        for one in catalogue.transcripts
        if one.recorded is not None
    ]


def _values(one: Transcript, recorded: Recorded, catalogue: Catalogue) -> dict[str, Any]:
    known = next((found for found in catalogue.timed if found.machine == recorded.machine), None)
    return {
        "id": one.id,
        "asks": one.asks,
        "run": one.run.strip("\n"),
        "beside": one.beside or "",
        "is_root": ROOT_NEED in one.needs,
        "output": "\n".join(recorded.output),
        "exit_status": recorded.exit_status,
        "machine": names.machine_name(known) if known else recorded.machine,
        "href": addresses.machine(recorded.machine) if known else "",
        "kernel": recorded.kernel,
        "versions": [names.tool(command, version) for command, version in recorded.versions.items()],
        "date": names.date_words(recorded.date),
    }


def _label(text: str, href: str) -> Label:
    return {"text": text, "href": href}
