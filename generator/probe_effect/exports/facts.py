"""Every number that hand-written pages may quote, by key: `facts.json`, which the `number` shortcode reads.

Keys of times are in `exports.measured_facts`. The others:

- `instructions.<kernel series>.<tracer>.<case>[@<level>]`: instructions per event, counted in an emulated machine.
- `<source>.<figure>`: a published figure as printed; `<source>.<figure>.recomputed`: what its formula gives.
- `count.<machines|submissions|rows|suites|cases|tracers|kernels|sources|figures>`: how much data there is.
- `<key>/<key>`: the ratio of two figures of one source, or of two counts, where a page asks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.exports import measured_facts
from probe_effect.guidance import names
from probe_effect.guidance.published import figure_text, with_unit
from probe_effect.pages import addresses, instructions, newest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from probe_effect.exports.measured_facts import Fact
    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission, MeasuredSubmission, PublishedSource
    from probe_effect.model import InstructionCase
    from probe_effect.store.source_file import Figure

ASKED = re.compile(r'\{\{<\s*number\s+"([^"]+/[^"]+)"\s*>\}\}')
"""A ratio that a page asks for. There are a hundred thousand that nobody does."""

UNIT_IN_PRINT = re.compile(r"[A-Za-zµ%]")

NO_UNIT = ("count", "ratio")

DURATIONS = ("ns", "us", "ms", "s")


def facts(catalogue: Catalogue, ratios: Iterable[str] = ()) -> dict[str, Fact]:
    """Key to its text, the words shown on hover, where it comes from, and how it was got.

    Args:
        ratios: keys of ratios that are wanted beside all others; one that cannot be made is left out.
    """
    figures = {f"{source.id}.{one.figure}": (source, one) for source in catalogue.sources for one in source.figures}
    counted = _current_counts(catalogue)
    found = measured_facts.facts(catalogue, ratios) | dict(_data(catalogue))
    found |= {key: _count(*one) for key, one in counted.items()}
    found |= dict(pair for source in catalogue.sources for pair in _published(source))
    for key in ratios:
        first, _, second = key.partition("/")
        if first in figures and second in figures and (ratio := _ratio(figures[first], figures[second])):
            found[key] = ratio
        if first in counted and second in counted:
            found[key] = _ratio_of_counts(counted[first], counted[second])
    return found


def asked_ratios(content: Path) -> list[str]:
    """The keys of all ratios that hand-written pages ask for."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(content.rglob("*.md")))
    return sorted({key for text in texts for key in ASKED.findall(text)})


def _published(source: PublishedSource) -> Iterator[tuple[str, Fact]]:
    for figure in source.figures:
        key, title, page = f"{source.id}.{figure.figure}", _title(source, figure), addresses.figure(source.id)
        href = addresses.figure(source.id, figure.figure)
        yield key, {"text": _text(figure), "title": title, "href": href, "kind": "published"}
        if recomputed := source.recomputed.get(figure.figure):
            text = with_unit(float(recomputed.value), figure.unit)
            yield (
                f"{key}.recomputed",
                {"text": text, "title": f"{title}; computed again", "href": page, "kind": "published"},
            )


def _text(figure: Figure) -> str:
    """The figure as printed; with its unit where that stood in the head of a table, which prose has not."""
    printed = figure.printed
    if printed is None or figure.unit in NO_UNIT or UNIT_IN_PRINT.search(printed):
        return figure_text(figure)
    about = "about " if printed.startswith(("~", "≈")) else ""
    return about + with_unit(float(figure.value), figure.unit)


def _title(source: PublishedSource, figure: Figure) -> str:
    known = ", known only from an excerpt" if source.from_excerpt else ""
    return f"{figure.what}; {source.document.author}{known}"


def _ratio(first: tuple[PublishedSource, Figure], second: tuple[PublishedSource, Figure]) -> Fact | None:
    """Two figures of one source in units of one quantity; two digits, because the figures carry no intervals."""
    (source, one), (other_source, other) = first, second
    alike = one.unit == other.unit or {one.unit, other.unit} <= set(DURATIONS)
    if source is not other_source or not alike or not other.base_value:
        return None
    words = f"{_text(one)} over {_text(other)}: {one.what}; {other.what}; {source.document.author}"
    return {
        "text": units.quantity(float(one.base_value / other.base_value), units.TIMES, 2),
        "title": words,
        "href": addresses.figure(source.id, one.figure),
        "kind": "published",
    }


def _current_counts(catalogue: Catalogue) -> dict[str, tuple[CountedSubmission, InstructionCase]]:
    """The newest sound count of each kernel series, tracer, case and level."""
    found: dict[str, tuple[CountedSubmission, InstructionCase]] = {}
    for submission in sorted(catalogue.counted, key=lambda one: one.document.run.started, reverse=True):
        series = names.release_series(submission.document.system.kernel_release)
        for case in submission.summary.cases:
            if case.cost_instructions is not None and not case.faults:
                found.setdefault(f"instructions.{series}.{newest.name(case)}", (submission, case))
    return found


def _count(submission: CountedSubmission, case: InstructionCase) -> Fact:
    tool = names.tool(case.tracer, submission.document.tools.get(case.tracer))
    counted = instructions.count(case.cost_instructions)
    return {
        "text": units.count(case.cost_instructions.median if case.cost_instructions else None),
        "title": f"{counted} instructions per event; {tool}; {instructions.machine_name(submission.document)}",
        "href": addresses.number(submission.summary.id, case, "instructions"),
        "kind": "counted",
    }


def _ratio_of_counts(
    first: tuple[CountedSubmission, InstructionCase], second: tuple[CountedSubmission, InstructionCase]
) -> Fact:
    one, other = (case.cost_instructions for _, case in (first, second))
    ratio = one.median / other.median if one and other and other.median else None
    sides = " over ".join(_count(*side)["title"] for side in (first, second))
    return _count(*first) | {"text": units.quantity(ratio, units.TIMES, 2), "title": sides}


def _data(catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    """How much there is of everything."""
    submissions: list[MeasuredSubmission | CountedSubmission] = [*catalogue.submissions, *catalogue.counted]
    traced = {case.tracer for one in submissions for case in one.summary.cases if case.status == "ok"}
    sizes = {
        "machines": (len(catalogue.machines()), "/machines/"),
        "submissions": (len(submissions), "/results/"),
        "rows": (sum(_rows(one.files.samples) for one in submissions), "/data/"),
        "suites": (len(catalogue.suites), "/suites/"),
        "cases": (len(catalogue.cases()), "/costs/"),
        "tracers": (len({names.tool_of(tracer) for tracer in traced}), "/tracers/"),
        "kernels": (len({one.document.system.kernel_release for one in catalogue.counted}), "/kernels/"),
        "sources": (len(catalogue.sources), "/sources/"),
        "figures": (sum(len(source.figures) for source in catalogue.sources), "/sources/"),
    }
    for what, (size, page) in sizes.items():
        yield (
            f"count.{what}",
            {"text": units.count(size), "title": f"{what} in the data", "href": page, "kind": "counted"},
        )


def _rows(samples: Path) -> int:
    """Rows of a checked file, in which no cell holds a line's end; its header is none."""
    with samples.open("rb") as lines:
        return sum(1 for _ in lines) - 1
