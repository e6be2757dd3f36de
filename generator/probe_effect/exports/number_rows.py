"""One row for each number of the site: what a submission says of one case, tracer and level.

Times and instructions are two tables, whose fields differ; nothing puts them into one. Published figures are a third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from probe_effect.exports.table import Field, fields_of
from probe_effect.guidance import names
from probe_effect.guidance.catalogue import CountedSubmission
from probe_effect.pages import addresses
from probe_effect.store.source_file import FIGURE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.exports.table import Row, Value
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission, PublishedSource
    from probe_effect.model import CaseSummary, InstructionCase, Interval, Spread
    from probe_effect.store.source_file import Figure

    Submission = TypeVar("Submission", MeasuredSubmission, CountedSubmission)

DIGITS = 7
"""Of each number: more than any interval supports."""


def _interval_fields(name: str, unit: str, text: str) -> tuple[Field, ...]:
    ends = (("", text), ("_low", "Low end of its 95 % interval."), ("_high", "High end of its 95 % interval."))
    return tuple(Field(f"{name}{end}_{unit}", "number", words) for end, words in ends)


def _spread_fields(name: str, text: str) -> tuple[Field, ...]:
    ends = (("", text), ("_least", "The least of its blocks."), ("_greatest", "The greatest of its blocks."))
    return tuple(Field(f"{name}{end}_instructions", "number", words) for end, words in ends)


PLACE_FIELDS = (
    Field("id", "string", "Submission, case, tracer and level; the number's page is `/results/<id>/`."),
    Field("machine", "string", "Id of the machine."),
    Field("machine_name", "string", "The machine as prose calls it."),
    Field("tier", "string", "What kind of machine it is; only those of one kind compare."),
    Field("kernel_release", "string", "Kernel release, as `uname -r` gives it."),
    Field("submission", "string", "Id of the submission, `<machine>/<date>-<suite>[-n]`."),
    Field("date", "date", "Day on which it was run, UTC."),
    Field("suite", "string", "Id of the suite."),
    Field("case", "string", "Id of the case."),
    Field("tracer", "string", "Id of the tracer."),
    Field("tracer_version", "string", "The tracer's version as it prints it."),
    Field("level", "string", "The value of the suite's varied factor; empty where there is none."),
    Field("current", "boolean", "Whether no newer submission of the machine has the same case, tracer and level."),
    Field("status", "string", "How its runs ended: `ok`, `failed`, `timeout` or `skipped`."),
    Field("blocks", "integer", "Blocks with a traced run and a baseline that ended well."),
)
EVENT_FIELDS = (
    Field("loss_ratio", "number", "Events that the tracer did not report over events made."),
    Field("reconciled", "boolean", "Whether events seen and lost add up to those made; empty where none are counted."),
)
COST_FIELDS = (
    *PLACE_FIELDS,
    Field("baseline_ns", "number", "Untraced time for each event, ns: median of the baselines."),
    Field("noise_floor_ns", "number", "What no difference looks like, from baseline against baseline, ns an event."),
    *_interval_fields("cost", "ns", "Added time for each event, ns: Hodges-Lehmann estimate."),
    Field("fastest_ns", "number", "Fastest traced run less fastest baseline, ns an event."),
    Field("distinguishable", "boolean", "Whether the cost can be told from 0."),
    *_interval_fields("slowdown", "ratio", "Cost over baseline at the rate that was measured; 0.05 is 5 % slower."),
    *_interval_fields("threshold_1", "hz", "Rate of events at which a busy thread is 1 % slower, events/s."),
    *_interval_fields("threshold_5", "hz", "Rate of events at which a busy thread is 5 % slower, events/s."),
    *_interval_fields("threshold_30", "hz", "Rate of events at which a busy thread is 30 % slower, events/s."),
    *_interval_fields("attach", "ns", "From starting the tracer until its probes were live, ns."),
    *_interval_fields("detach", "ns", "From asking the tracer to stop until it had exited, ns."),
    Field("rate_hz", "number", "Highest rate of events while traced, events/s."),
    *EVENT_FIELDS,
    Field("grade", "string", "How far to trust it; A is the best."),
    Field("grade_reasons", "string", "Why the grade is no better; with semicolons between."),
    Field("note", "string", "What a reader should know of it."),
)
COUNT_FIELDS = (
    *PLACE_FIELDS,
    *_spread_fields("baseline", "Untraced instructions for each event: median of the blocks."),
    *_spread_fields("cost", "Added instructions for each event: median of the blocks."),
    *EVENT_FIELDS,
    Field("mechanism", "string", "How the kernel made the kprobes of the case; empty for others."),
    Field("faults", "string", "Why it is neither ranked nor compared; empty for a sound one."),
    Field("note", "string", "What a reader should know of it."),
)
FIGURE_FIELDS = (
    Field("source", "string", "Id of the source; its page is `/sources/<source>/`."),
    Field("source_title", "string", "The source's title."),
    Field("source_date", "string", "When the source appeared, as far as it says."),
    *fields_of(FIGURE_COLUMNS),
    Field("recomputed", "number", "What its formula gives, in `unit`; empty without a formula."),
    Field("verdict", "string", "How that compares with the printed value: `agrees`, `close` or `differs`."),
)


def standing(catalogue: Catalogue) -> list[MeasuredSubmission | CountedSubmission]:
    """The submissions of times, then those of instructions; withdrawn ones are in no table but their own."""
    return [*catalogue.submissions, *catalogue.counted]


def own_rows(one: MeasuredSubmission | CountedSubmission) -> list[Row]:
    """What a submission that is withdrawn says; none of it is current."""
    if isinstance(one, CountedSubmission):
        return [count_row(one, case, set()) for case in one.summary.cases]
    return [cost_row(one, case, set()) for case in one.summary.cases]


def cost_rows(catalogue: Catalogue) -> list[Row]:
    """Every case of every submission of times, by submission."""
    current = _current(catalogue.submissions)
    return [cost_row(one, case, current) for one in catalogue.submissions for case in one.summary.cases]


def count_rows(catalogue: Catalogue) -> list[Row]:
    """Every case of every submission of instructions, by submission."""
    current = _current(catalogue.counted)
    return [count_row(one, case, current) for one in catalogue.counted for case in one.summary.cases]


def figure_rows(sources: Iterable[PublishedSource]) -> list[Row]:
    """Every published figure, by source."""
    return [figure_row(source, figure) for source in sources for figure in source.figures]


def cost_row(one: MeasuredSubmission, case: CaseSummary, current: set[str]) -> Row:
    """What a submission says of a case in times; `current` are the ids of numbers that no newer one replaces."""
    return {
        **_place(one, case, current),
        "baseline_ns": _short(case.baseline_ns),
        "noise_floor_ns": _short(case.noise_floor_ns),
        **_interval("cost", "ns", case.cost),
        "fastest_ns": _short(case.fastest_ns),
        "distinguishable": case.distinguishable,
        **_interval("slowdown", "ratio", case.slowdown),
        **_interval("threshold_1", "hz", case.threshold_1),
        **_interval("threshold_5", "hz", case.threshold_5),
        **_interval("threshold_30", "hz", case.threshold_30),
        **_interval("attach", "ns", case.attach),
        **_interval("detach", "ns", case.detach),
        "rate_hz": _short(case.rate_hz),
        **_events(case),
        "grade": case.grade,
        "grade_reasons": "; ".join(case.grade_reasons) or None,
        "note": case.note,
    }


def count_row(one: CountedSubmission, case: InstructionCase, current: set[str]) -> Row:
    """What a submission says of a case in instructions; `current` as for `cost_row`."""
    return {
        **_place(one, case, current),
        **_spread("baseline", case.baseline_instructions),
        **_spread("cost", case.cost_instructions),
        **_events(case),
        "mechanism": case.mechanism,
        "faults": "; ".join(case.faults) or None,
        "note": case.note,
    }


def figure_row(source: PublishedSource, figure: Figure) -> Row:
    """A published figure beside what it comes to when computed again."""
    own = {column.name: _plain(getattr(figure, column.name)) for column in FIGURE_COLUMNS}
    found = source.recomputed.get(figure.figure)
    return {
        "source": source.id,
        "source_title": source.document.title,
        "source_date": source.document.date,
        **own,
        "recomputed": _short(float(found.value)) if found else None,
        "verdict": found.verdict if found else None,
    }


def _current(submissions: Iterable[Submission]) -> set[str]:
    """The ids of the numbers that tables show: of each machine, case, tracer and level the newest."""
    newest: dict[tuple[str, str, str, str | None], str] = {}
    for one in sorted(submissions, key=lambda one: one.document.run.started, reverse=True):
        for case in one.summary.cases:
            key = (one.summary.machine, case.case, case.tracer, case.level)
            newest.setdefault(key, addresses.number_id(one.files.id, case))
    return set(newest.values())


def _place(one: MeasuredSubmission | CountedSubmission, case: CaseSummary | InstructionCase, current: set[str]) -> Row:
    document, number_id = one.document, addresses.number_id(one.files.id, case)
    return {
        "id": number_id,
        "machine": one.summary.machine,
        "machine_name": names.machine_name(document),
        "tier": names.tier(document.machine, document.run.metric),
        "kernel_release": document.system.kernel_release,
        "submission": one.files.id,
        "date": document.run.started[:10],
        "suite": one.summary.suite,
        "case": case.case,
        "tracer": case.tracer,
        "tracer_version": document.tools.get(case.tracer),
        "level": case.level,
        "current": number_id in current,
        "status": case.status,
        "blocks": case.blocks,
    }


def _events(case: CaseSummary | InstructionCase) -> Row:
    return {"loss_ratio": _short(case.loss_ratio), "reconciled": case.reconciled}


def _interval(name: str, unit: str, found: Interval | None) -> Row:
    ends = (found.value, found.low, found.high) if found else (None, None, None)
    return {f"{name}{end}_{unit}": _short(value) for end, value in zip(("", "_low", "_high"), ends, strict=True)}


def _spread(name: str, found: Spread | None) -> Row:
    ends = (found.median, found.least, found.greatest) if found else (None, None, None)
    return {
        f"{name}{end}_instructions": _short(value) for end, value in zip(("", "_least", "_greatest"), ends, strict=True)
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _plain(value: object) -> Value:
    """A cell of `figures.csv`; decimals become numbers."""
    return value if value is None or isinstance(value, int | str) else float(str(value))
