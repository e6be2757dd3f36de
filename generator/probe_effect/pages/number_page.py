"""The page of a number: one case, tracer and level of one submission, its quantities, and the rows they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from probe_effect import units
from probe_effect.guidance import blocks, names
from probe_effect.guidance.rows import CaseKey
from probe_effect.model import CaseSummary
from probe_effect.pages import addresses, changes_page, citing, instructions, wording
from probe_effect.pages.commands import again
from probe_effect.pages.markdown import page
from probe_effect.pages.results import has_number
from probe_effect.store.samples import read_samples
from probe_effect.store.script_forms import linux_form
from probe_effect.store.suite_file import script_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from probe_effect.guidance.blocks import Block, Made
    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission, MeasuredSubmission, SuiteFolder
    from probe_effect.model import InstructionCase

DIGITS = 7
"""Of a run over its operations: enough to come to the same estimate by hand."""


class Line(NamedTuple):
    """One quantity: the column that explains it, whose id is its anchor too, its value in words, and another label."""

    column: str
    text: str
    label: str | None = None


def write_all(submission: MeasuredSubmission | CountedSubmission, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """The address below the content folder and the page of each number of `submission`; its rows are read once."""
    samples, _ = read_samples(submission.files.samples, submission.files.id)
    is_counted = submission.document.run.metric == "instructions"
    made = blocks.counted(samples) if is_counted else blocks.timed(samples)
    shared = _shared(submission, catalogue)
    for case in submission.summary.cases:
        if has_number(case):
            address = addresses.number(submission.summary.id, case)
            rows = made[CaseKey(case.case, case.tracer, case.level)]
            yield f"{address.strip('/')}.md", _write(submission, case, rows, catalogue, shared)


def _shared(submission: MeasuredSubmission | CountedSubmission, catalogue: Catalogue) -> dict[str, object]:
    suite = submission.summary.suite
    return {
        "submission": submission,
        "folder": next((one for one in catalogue.suites if one.suite.id == suite), None),
        "machine": machine_label(submission),
        "machine_address": machine_address(submission),
        "titles": catalogue.titles(),
        "digits": digits,
    }


def _write(
    submission: MeasuredSubmission | CountedSubmission,
    case: CaseSummary | InstructionCase,
    made: Made,
    catalogue: Catalogue,
    shared: dict[str, object],
) -> str:
    document = submission.document
    folder = next((one for one in catalogue.suites if one.suite.id == submission.summary.suite), None)
    front = {
        "title": title(submission, case, catalogue),
        "kind": "number",
        "kicker": f"{machine_label(submission)}, {names.date_words(document.run.started[:10])}",
        "description": sentence(submission, case, folder),
        **citing.number(submission, case, catalogue),
        **changes_page.withdrawn(submission.files.id, catalogue),
    }
    return page(
        "number.md.j2",
        front,
        case=case,
        made=made,
        events=units.trimmed(made.events),
        sentence=front["description"],
        quantities=quantities(case, starts=measures_start(folder)),
        is_time=isinstance(case, CaseSummary),
        script=script(folder, case, document.run.metric),
        again=again(submission, case),
        **shared,
    )


def title(
    submission: MeasuredSubmission | CountedSubmission, case: CaseSummary | InstructionCase, catalogue: Catalogue
) -> str:
    """`Uprobe with bpftrace v0.17.0, level 4`."""
    tool = names.tool(case.tracer, submission.document.tools.get(case.tracer))
    level = "" if case.level is None else f", level {case.level}"
    return f"{catalogue.titles().get(case.case, case.case)} with {tool}{level}"


def measures_start(folder: SuiteFolder | None) -> bool:
    """Whether its suite is about the tracer's own start and stop, and not about the cost of an event."""
    return folder is not None and folder.suite.measures == "start"


def sentence(
    submission: MeasuredSubmission | CountedSubmission, case: CaseSummary | InstructionCase, folder: SuiteFolder | None
) -> str:
    """The number with its interval, and where it was found."""
    where = f"On {machine_label(submission)}"
    if not isinstance(case, CaseSummary):
        return f"{where}, tracing adds {instructions.count(case.cost_instructions)} instructions to one event."
    if measures_start(folder):
        start, stop = wording.start_and_stop(case)
        return f"{where}, it takes {start} until the probes are live, and {stop} to stop."
    if case.distinguishable is False:
        return f"{where}, the cost of one event is {wording.cost(case)}."
    interval = "" if case.cost is None or case.cost.low is None else ", with the 95 % interval in brackets"
    return f"{where}, tracing adds {wording.cost(case)} to one event{interval}."


def quantities(case: CaseSummary | InstructionCase, *, starts: bool = False) -> list[Line]:
    """Every quantity that is known of a case, each with its anchor; `starts`: what its suite is about comes first."""
    lines = list(_times(case) if isinstance(case, CaseSummary) else _counts(case))
    known = [line for line in lines if line.text != units.MISSING]
    return sorted(known, key=lambda line: line.column not in {"start", "stop"}) if starts else known


def _times(case: CaseSummary) -> Iterator[Line]:
    yield Line("cost", wording.cost(case))
    for percent, rate in zip((1, 5, 30), wording.thresholds(case), strict=True):
        yield Line(f"threshold-{percent}", rate, f"Slows a busy thread by {percent} % at")
    yield Line("slowdown", wording.slowdown(case))
    yield Line("fastest", units.duration(case.fastest_ns))
    yield Line("baseline", units.duration(case.baseline_ns))
    yield Line("noise-floor", units.duration(case.noise_floor_ns, 2))
    yield Line("traced-rate", units.rate(case.rate_hz))
    yield Line("loss", units.percent(case.loss_ratio))
    for name, time in zip(("start", "stop"), wording.start_and_stop(case), strict=True):
        yield Line(name, time)
    yield Line("blocks", units.count(case.blocks))


def _counts(case: InstructionCase) -> Iterator[Line]:
    yield Line("instructions", instructions.added(case))
    yield Line("untraced-share", instructions.share(case))
    yield Line("baseline", instructions.count(case.baseline_instructions))
    yield Line("loss", units.percent(case.loss_ratio))
    yield Line("mechanism", case.mechanism or units.MISSING)
    yield Line("blocks", units.count(case.blocks))


def digits(block: Block, values: Iterable[float]) -> str:
    """Values of a block, all to the place that its longest run has in `DIGITS` digits."""
    longest = max((*block.untraced, block.traced or 0.0), default=0.0)
    place = units.exponent(longest) - DIGITS + 1 if longest else 0
    return "; ".join(units.at_place(value, place) for value in values)


def machine_label(submission: MeasuredSubmission | CountedSubmission) -> str:
    """The machine in a sentence, told apart from others of its name by the end of its id; emulated ones by kernel."""
    document = submission.document
    if document.run.metric == "instructions":
        return instructions.machine_name(document)
    return f"{names.machine_name(document)} ({submission.summary.machine.rpartition('-')[2]})"


def machine_address(submission: MeasuredSubmission | CountedSubmission) -> str:
    """The page of the machine."""
    found, metric = submission.summary.machine, submission.document.run.metric
    return addresses.kernel(found) if metric == "instructions" else addresses.machine(found)


def script(folder: SuiteFolder | None, case: CaseSummary | InstructionCase, metric: str) -> str | None:
    """Where the site has the script of the case for its tool, as it is today; None where there is none."""
    path = script_path(folder.folder, case.case, names.tool_of(case.tracer)) if folder else None
    if folder is None or path is None:
        return None
    return f"/scripts/{folder.suite.id}/{_form(path, metric).name}"


def _form(path: Path, metric: str) -> Path:
    """Emulated machines run Linux, which some scripts have a form of their own for."""
    own = linux_form(path)
    return own if own and metric == "instructions" else path
