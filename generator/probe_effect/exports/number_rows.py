"""One row for each number of the site, and one for each published figure.

Times and instructions are two tables, whose fields differ; nothing puts them into one. Published figures are a third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probe_effect.exports.table import Field, TableRow, fields_of
from probe_effect.numbers import names
from probe_effect.reduce.thresholds import THRESHOLDS
from probe_effect.store.source_file import FIGURE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from probe_effect.exports.table import CellValue
    from probe_effect.model import Estimate
    from probe_effect.numbers.catalogue import PublishedSource
    from probe_effect.numbers.index import Numbers
    from probe_effect.reduce.submission import Number, Submission

Cells = dict[str, "CellValue"]

INTERVAL = {"_low": "Low end of its 95 % interval.", "_high": "High end of its 95 % interval."}
RANGE = {"_least": "The least of its blocks.", "_greatest": "The greatest of its blocks."}
"""What the ends of a time and of a count are called, and what they are."""

NO_ENDS = (None, None, None)

DIGITS = 7
"""Of each number: more than any interval supports."""


def _fields(name: str, unit: str, text: str, ends: Mapping[str, str] = INTERVAL) -> tuple[Field, ...]:
    """A quantity with its ends."""
    return tuple(Field(f"{name}{end}_{unit}", "number", words) for end, words in {"": text, **ends}.items())


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
    Field(
        "current",
        "boolean",
        "Whether it stands for its machine, case, tracer and level: the newest run that is sound, or else the newest.",
    ),
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
    *_fields("cost", "ns", "Added time for each event, ns: Hodges-Lehmann estimate."),
    Field("fastest_ns", "number", "Fastest traced run less fastest baseline, ns an event."),
    Field("distinguishable", "boolean", "Whether the cost can be told from 0."),
    *_fields("slowdown", "ratio", "Cost over baseline at the rate that was measured; 0.05 is 5 % slower."),
    *_fields("threshold_1", "hz", "Rate of events at which a busy thread is 1 % slower, events/s."),
    *_fields("threshold_5", "hz", "Rate of events at which a busy thread is 5 % slower, events/s."),
    *_fields("threshold_30", "hz", "Rate of events at which a busy thread is 30 % slower, events/s."),
    *_fields("attach", "ns", "From starting the tracer until its probes were live, ns."),
    *_fields("detach", "ns", "From asking the tracer to stop until it had exited, ns."),
    *_fields(
        "tracer_cpu",
        "ns",
        "CPU time of the tracer itself, from start to exit, ns; for an operation where that was measured.",
    ),
    *_fields("tracer_rss", "bytes", "Largest resident memory of the tracer, bytes."),
    Field("probes", "integer", "Probes that the tracer says it attached; empty where it does not say."),
    Field("rate_hz", "number", "Highest rate of events while traced, events/s."),
    Field("tracer_calls", "number", "System calls of the tracer itself for an operation; only where counted."),
    *EVENT_FIELDS,
    Field("grade", "string", "How far to trust it; A is the best."),
    Field("grade_reasons", "string", "Why the grade is no better; with semicolons between."),
    Field("note", "string", "What a reader should know of it."),
)
COUNT_FIELDS = (
    *PLACE_FIELDS,
    Field("architecture", "string", "Instruction set of the emulated machine; counts of two are never compared."),
    Field("cpus", "integer", "CPUs of the emulated machine; the only one is shared by the tracer and the workload."),
    *_fields("baseline", "instructions", "Untraced instructions for each event: median of the blocks.", RANGE),
    *_fields("cost", "instructions", "Added instructions for each event: median of the blocks.", RANGE),
    *_fields("attach", "instructions", "To have the tracer start: median of the blocks; empty: not counted.", RANGE),
    *_fields("detach", "instructions", "To have the tracer stop: median of the blocks; empty: not counted.", RANGE),
    Field("probes", "integer", "Probes that the tracer says it attached; empty where it does not say."),
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


def number_rows(submissions: Iterable[Submission], numbers: Numbers) -> Iterator[TableRow]:
    """Every case of each of `submissions`, all of times or all of instructions; of one withdrawn, none is current."""
    for submission in submissions:
        place = _place(submission)
        fields = COST_FIELDS if submission.metric == "time" else COUNT_FIELDS
        for one in submission.numbers:
            made = place | {"tracer_version": one.tool_version, "current": numbers.is_current(one)}
            made |= _time(one) if one.is_time else _count(one)
            yield TableRow((field.name, _cell(one, made, field)) for field in fields)


def figure_rows(sources: Iterable[PublishedSource]) -> Iterator[TableRow]:
    """Every published figure, by source, beside what it comes to when computed again."""
    for source in sources:
        document = source.document
        place: Cells = {"source": source.id, "source_title": document.title, "source_date": document.date}
        for figure in source.figures:
            own = {column.name: _plain(getattr(figure, column.name)) for column in FIGURE_COLUMNS}
            found = source.recomputed.get(figure.figure)
            again: Cells = {
                "recomputed": _short(float(found.value)) if found else None,
                "verdict": found.verdict if found else None,
            }
            yield TableRow(place | own | again)


def _place(submission: Submission) -> Cells:
    """What all rows of a submission share."""
    document = submission.document
    return {
        "machine": submission.machine,
        "machine_name": names.machine_name(document),
        "tier": names.tier(document.machine, submission.metric),
        "kernel_release": document.system.kernel_release,
        "submission": submission.id,
        "date": submission.date,
        "suite": submission.suite,
    }


def _time(one: Number) -> Cells:
    """Cells of a time that it does not have under their own names."""
    cells = {"baseline_ns": one.baseline.value if one.baseline else None}
    cells |= _ends("cost", "ns", one.cost) | _ends("slowdown", "ratio", one.slowdown)
    for percent in THRESHOLDS:
        cells |= _ends(f"threshold_{percent}", "hz", one.threshold(percent))
    cells |= _ends("attach", "ns", one.attach) | _ends("detach", "ns", one.detach)
    cells |= _ends("tracer_cpu", "ns", one.tracer_cpu or one.cpu) | _ends("tracer_rss", "bytes", one.memory)
    return {**cells, "grade_reasons": "; ".join(one.grade_reasons) or None}


def _count(one: Number) -> Cells:
    """Cells of a count that it does not have under their own names."""
    found = {"baseline": one.baseline, "cost": one.cost, "attach": one.attach, "detach": one.detach}
    ends = {k: v for name, each in found.items() for k, v in _ends(name, "instructions", each, RANGE).items()}
    machine = one.submission.document.machine
    place: Cells = {"architecture": names.architecture(machine.architecture), "cpus": machine.threads}
    return {**place, **ends, "faults": "; ".join(one.faults) or None}


def _ends(name: str, unit: str, found: Estimate | None, ends: Iterable[str] = INTERVAL) -> dict[str, float | None]:
    return {f"{name}{end}_{unit}": value for end, value in zip(("", *ends), found or NO_ENDS, strict=True)}


def _cell(one: Number, made: Cells, field: Field) -> CellValue:
    """What was made for a field, or else what the number has under its name."""
    found: Any = made[field.name] if field.name in made else getattr(one, field.name)
    cell: CellValue = _short(found) if field.kind == "number" else found
    return cell


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _plain(value: object) -> CellValue:
    """A cell of `figures.csv`; decimals become numbers."""
    return value if value is None or isinstance(value, int | str) else float(str(value))
