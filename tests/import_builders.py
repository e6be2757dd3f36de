"""What tests of importers share: a source of what was extracted, its figures by id, and its problems once written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builders import REAL_DATA
from probe_effect.checks.run import check
from probe_effect.errors import UsageError
from probe_effect.importers.costs import Options
from probe_effect.importers.source import as_source
from probe_effect.store.places import DataFolder
from probe_effect.store.source_writer import write_source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from probe_effect.importers.extracted import Extracted
    from probe_effect.importers.source import Source
    from probe_effect.model import Problem
    from probe_effect.store.source_file import Figure


def source_of(
    extracted: Extracted,
    baseline: str | None = None,
    operations: int | None = None,
    tracer: str | None = None,
    cases: Mapping[str, str] | None = None,
) -> Source:
    """The source of what was extracted; `cases` leads from the name of a series to our case."""
    options = Options(
        facts={"title": "A test", "where": "a test"},
        baseline=baseline,
        cases=cases or {},
        tracer=tracer,
        operations=operations,
    )
    return as_source(extracted, options)


def figures_by_id(source: Source) -> dict[str, Figure]:
    return {figure.figure: figure for figure in source.figures}


def problems_of(source: Source, folder: Path) -> list[Problem]:
    """What `check` says of the source, written to `folder`."""
    write_source(folder, source.document, source.figures)
    return check([folder], DataFolder(REAL_DATA))


def is_read_or_refused(read: Callable[[], object]) -> bool:
    """Whether `read` works, or says what it expected; any other failure comes through."""
    try:
        read()
    except UsageError as error:
        return "Expected " in str(error)
    return True
