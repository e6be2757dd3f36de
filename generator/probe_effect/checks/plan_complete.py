"""A run is whole: everything that its plan promises is there, and its times follow each other."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.model import FAILURES, GIVE_UP_AFTER, Key, Sample
from probe_effect.numbers.index import grouped_by
from probe_effect.store.suite_file import script_path
from probe_effect.store.tables import printable
from probe_effect.tools.record import TOOLS, known_tool

TOOL = "probe-effect "
FIRST_DAY = datetime(2026, 11, 20, tzinfo=UTC)
"""Before it nothing could be measured with `TOOL`."""

SLACK = timedelta(days=1)
"""By how much the clock of a machine may be wrong."""

LONGEST = timedelta(days=30)


@rule("dates")
def _dates(checked: CheckedSubmission) -> Iterator[Fault]:
    run = checked.document.run
    latest = datetime.now(UTC) + SLACK
    started, ended = datetime.fromisoformat(run.started), datetime.fromisoformat(run.ended or run.started)
    if started > latest:
        yield checked.fault("run.started", f"the run began on {run.started}, which is still to come", "set the clock")
    elif checked.document.provenance.tool.startswith(TOOL) and started < FIRST_DAY - SLACK:
        found = f"the run began on {run.started}, before there was a program to measure with"
        yield checked.fault("run.started", found, "set the machine's clock, and measure again")
    elif ended > latest:
        yield checked.fault("run.ended", f"the run ended on {run.ended}, which is still to come", "set the clock")
    if ended < started:
        yield checked.fault("run.ended", "the run ended before it began", "let the clock alone during a run")
    elif ended - started > LONGEST:
        found = f"the run took more than {LONGEST.days} days"
        yield checked.fault("run.ended", found, "look whether the clock was set in between", "warning")
    known = [started, *map(datetime.fromisoformat, run.resumed), *([ended] if run.ended else [])]
    if run.resumed and ended >= started and known != sorted(known):
        found = "the run was continued before it began or after it ended"
        yield checked.fault("run.resumed", found, "let the clock alone")


DATE_RULES = (_dates,)


FILE = "samples.csv"
SHOWN = 5


@rule("plan-complete")
def _plan_complete(checked: CheckedSubmission) -> Iterator[Fault]:
    traced = ((line, sample) for line, sample in checked.lines() if sample.arm == "traced")
    rows = grouped_by(traced, lambda row: Key(row[1].case, row[1].tracer, row[1].level))
    yield from _block_faults(checked)
    for subject, found in rows.items():
        yield from _holes(subject, found, checked.document.run.blocks)
    yield from _absent(checked, rows.keys())


def _block_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    """Blocks that the run did not plan, or that have no row at all."""
    blocks = checked.document.run.blocks
    if blocks == 0:
        yield checked.fault("run.blocks", "a run of 0 blocks", "give the blocks planned")
        return
    beyond = next((line for line, sample in checked.lines() if sample.block >= blocks), None)
    if beyond is not None:
        yield Fault(FILE, beyond, f"a block beyond the {blocks} planned, which count from 0", "mend `run.blocks`")
    if missing := sorted(set(range(blocks)) - {sample.block for sample in checked.samples}):
        yield Fault(FILE, None, f"{_named(missing)} of {blocks} planned has no row")


def _holes(subject: Key, rows: Sequence[tuple[int, Sample]], blocks: int) -> Iterator[Fault]:
    """Blocks in which a measured case has no row, or two.

    One that could not be run has one row in all, and one that was given up has no row after its last failure.
    """
    first_line, first = rows[0]
    if len(rows) == 1 and first.status != "ok":
        return
    if sum(sample.status in FAILURES for _, sample in rows) >= GIVE_UP_AFTER and rows[-1][1].status in FAILURES:
        blocks = rows[-1][1].block + 1
    seen: set[int] = set()
    for line, sample in rows:
        if sample.block in seen:
            found = f"{_words(subject)} has two rows in block {sample.block}"
            yield Fault(FILE, line, found, "keep the run that was made")
        seen.add(sample.block)
    if missing := sorted(set(range(blocks)) - seen):
        yield Fault(FILE, first_line, f"{_words(subject)} has no row in {_named(missing)}")


def _absent(checked: CheckedSubmission, subjects: Collection[Key]) -> Iterator[Fault]:
    """What the suite has for the tracers of the run, and no row skips; an older version had other cases."""
    suite, folder, run = checked.suite, checked.suite_folder, checked.document.run
    if suite is None or folder is None or suite.version != run.suite_version:
        return
    chosen = _values(run.command, "--case")
    named = {tracer for tracer in _values(run.command, "--tracer") if tracer in TOOLS}
    for tracer in sorted(named | {subject.tracer for subject in subjects}):
        tool = known_tool(tracer)
        for case in suite.on(checked.document.machine.architecture).cases:
            if chosen and case.id not in chosen:
                continue
            wanted = (
                Key(case.id, tracer, level)
                for level in suite.levels or (None,)
                if tool and script_path(folder, case.id, tool.name, level=level)
            )
            for subject in (one for one in wanted if one not in subjects):
                yield Fault(FILE, None, f"{_words(subject)} is neither measured nor skipped")


def _words(subject: Key) -> str:
    at = "" if subject.level is None else f" at level `{printable(subject.level)}`"
    return f"case `{subject.case}` with {subject.tracer}{at}"


def _values(command: Iterable[str], option: str) -> set[str]:
    """What follows each `option` of the command that made the run."""
    return {value for word, value in pairwise(command) if word == option}


def _named(blocks: Sequence[int]) -> str:
    shown = ", ".join(str(block) for block in blocks[:SHOWN])
    more = f" and {len(blocks) - SHOWN} more" if len(blocks) > SHOWN else ""
    return f"block {shown}{more}"


RULES = (_plan_complete,)
