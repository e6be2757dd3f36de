"""Every number that hand-written pages may quote, by key: `facts.json`, which the `number` shortcode reads.

Keys: `<tracer>.<case>.<cost|slowdown|threshold-1|threshold-5|threshold-30>` and `baseline`, `noise-floor` for the
reference submission, `<source>.<figure>` for a published figure, and `<source>.<figure>.recomputed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.guidance import names
from probe_effect.guidance.published import figure_text, with_unit
from probe_effect.pages import wording
from probe_effect.pages.fragments import reference_submission

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission, PublishedSource

Fact = dict[str, str]


def facts(catalogue: Catalogue) -> dict[str, Fact]:
    """Key to its text, the words shown on hover, and where it comes from."""
    found: dict[str, Fact] = {}
    if reference := reference_submission(catalogue):
        found |= dict(_measured(reference))
    for source in catalogue.sources:
        found |= dict(_published(source))
    return found


def _measured(submission: MeasuredSubmission) -> Iterator[tuple[str, Fact]]:
    name = names.machine_name(submission.document)
    page = f"/machines/{submission.summary.machine}/"
    yield "machine", {"text": name, "href": page}
    yield "baseline", {"text": units.duration(submission.summary.baseline_ns), "title": name, "href": page}
    yield "noise-floor", {"text": units.duration(submission.summary.noise_floor_ns, 2), "title": name, "href": page}
    for case in submission.summary.cases:
        if case.cost is None:
            continue
        shown = {
            "cost": (units.duration(case.cost.value), units.interval(case.cost, units.DURATION)),
            "slowdown": (wording.slowdown(case), name),
            **{
                f"threshold-{percent}": (rate, f"{percent} % slower")
                for percent, rate in zip((1, 5, 30), wording.thresholds(case), strict=True)
            },
        }
        for what, (text, title) in shown.items():
            key = f"{case.tracer}.{case.case}.{what}"
            yield key, {"text": text, "title": f"{title}; {name}", "href": f"/costs/{case.case}/"}


def _published(source: PublishedSource) -> Iterator[tuple[str, Fact]]:
    known = ", known only from an excerpt" if source.from_excerpt else ""
    for figure in source.figures:
        key, page = f"{source.id}.{figure.figure}", f"/sources/{source.id}/"
        title = f"{figure.what}; {source.document.author}{known}"
        yield key, {"text": figure_text(figure), "title": title, "href": page}
        if recomputed := source.recomputed.get(figure.figure):
            text = with_unit(float(recomputed.value), figure.unit)
            yield f"{key}.recomputed", {"text": text, "title": f"{title}; computed again", "href": page}
