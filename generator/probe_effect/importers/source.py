"""What was extracted from others' files, as a published source: `source.toml` and the rows of `figures.csv`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from probe_effect.importers.costs import Costs
from probe_effect.importers.extracted import named
from probe_effect.importers.files import refuse
from probe_effect.store.source_file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.importers.costs import Options
    from probe_effect.importers.extracted import Extracted
    from probe_effect.store.source_file import Figure

STATED = ("author", "date", "where", "hardware", "os", "tool_versions", "workload", "method")
"""Keys that say so where nobody says what."""
NOT_STATED = "not stated"

NO_SUBMISSION = (
    "This is a published source and no submission: a submission has runs in random blocks between baselines, "
    "events that were counted, and the facts of its machine."
)
OUR_SUMS = "The printed numbers are those of the imported file; what is marked as derived was derived from them here."
NO_BASELINE = "which runs are the untraced ones: without --baseline no cost is drawn"
NO_OPERATIONS = "the cost per event, as the times are those of whole runs: --operations says how many a run made"


@dataclass(frozen=True, slots=True)
class Source:
    """A source ready to be written, and what its files do not say, as phrases."""

    document: SourceFile
    figures: tuple[Figure, ...]
    missing: tuple[str, ...]


def as_source(extracted: Extracted, options: Options) -> Source:
    """The source of what was extracted. Raises: UsageError when the options do not fit the files."""
    costs = Costs(extracted, options)
    _check(costs)
    costs.draw()
    missing = (*extracted.missing, *_missing(costs))
    return Source(_document(costs, missing), tuple(costs.figures.rows), missing)


def _check(costs: Costs) -> None:
    """Options that ask for what these files cannot give."""
    extracted, options = costs.extracted, costs.options
    for name in options.cases:
        named(name, [one.name for one in extracted.series], "--case")
    if options.cases and options.baseline is None and extracted.baseline is None:
        refuse("--case", "no cost to compare with it", "an untraced side", "Name it with --baseline.")
    if options.cases and costs.of == "run":
        refuse("--case", "times of whole runs", "a cost per event", "Say how many a run made with --operations.")
    if options.operations is not None and not extracted.whole_runs:
        do = "Leave --operations out."
        refuse("--operations", "times that are of one operation already", "times of whole runs", do)


def _missing(costs: Costs) -> Iterator[str]:
    if costs.untraced is None:
        yield NO_BASELINE
    if costs.of == "run":
        yield NO_OPERATIONS


def _summary(costs: Costs) -> str:
    """One or two sentences whose numbers are figures."""
    article = "An" if costs.of == "operation" else "A"
    if costs.untraced is None or not costs.added:
        span = _span(*costs.ends(one.time for one in costs.timed))
        return f"{article} {costs.of} took {span}; no cost follows, as no traced runs stand beside untraced ones."
    added = _span(*costs.ends(costs.added))
    return f"{article} {costs.of} took {{{costs.untraced.time}}} without a tracer. Tracing added {added}."


def _span(least: str, most: str) -> str:
    return f"{{{least}}}" if least == most else f"between {{{least}}} and {{{most}}}"


def _document(costs: Costs, missing: Sequence[str]) -> SourceFile:
    remarks = (NO_SUBMISSION, f"The file does not say: {'; '.join(missing)}.", OUR_SUMS, *costs.extracted.remarks)
    keys: dict[str, Any] = dict.fromkeys(STATED, NOT_STATED) | dict(costs.extracted.facts) | dict(costs.options.facts)
    try:
        return SourceFile(
            schema_version=1,
            kind="tool output",
            read="full",
            grade="S",
            summary=_summary(costs),
            remarks=remarks,
            **keys,
        )
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        refuse("options", faults, "one line of plain text each, and a date such as 2024-08-05", "Mend them.")
