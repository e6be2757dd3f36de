"""The page of which mechanisms of tracing work on which kernel, with what an event adds where that was counted."""

from collections.abc import Iterator
from typing import Any

from probe_effect.compare.kernels import architecture_order, kernel_names, matrices, release_order, series
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import FIRST_SUITE
from probe_effect.pages.architecture_page import plain_tracer
from probe_effect.pages.markdown import page
from probe_effect.reduce.submission import Number
from probe_effect.store.transcripts import MECHANISMS

ADDRESS = "kernels/mechanisms.md"


def write(catalogue: Catalogue) -> str | None:
    """The page; None where nothing was tried."""
    if not catalogue.mechanisms:
        return None
    front = {
        "title": "Which mechanisms work",
        "description": f"{len(MECHANISMS)} mechanisms of tracing, each tried on every kernel here: whether it works, "
        "what was refused where it does not, and how many instructions an event adds.",
        "weight": 60,  # behind the anatomy, before the machines
    }
    tables, counts = list(_tables(catalogue)), dict(_counts(catalogue))
    return page("mechanisms.md.j2", front, tables=tables, counts=counts, mechanisms=MECHANISMS)


def _tables(catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """For each architecture its kernels, by how the page calls them and in the order of their releases."""
    for architecture in sorted({one.architecture for one in catalogue.mechanisms}, key=architecture_order):
        own = [one for one in catalogue.mechanisms if one.architecture == architecture]
        own.sort(key=lambda one: release_order(one.kernel_release))
        named = kernel_names(one.kernel_release for one in own)
        yield {"architecture": architecture, "kernels": {named[one.kernel_release]: one for one in own}}


def _counts(catalogue: Catalogue) -> Iterator[tuple[tuple[str, str], Number]]:
    """(Kernel, case) and the count of the tracer that does least."""
    for found in (*series(catalogue), *(one for one in matrices(catalogue) if one.suite.id == FIRST_SUITE)):
        for row in (row for row in found.events() if row.level is None):
            for one in found.along_kernels(row, plain_tracer(found)):
                yield (one.submission.document.system.kernel_release, row.case), one
