"""What rows must hold, in `samples.csv` and in the tables beside it; that they are all that the plan promises; and what
looks odd in the costs that follow from them.

`histogram.csv` has buckets of the runs that were timed, with all their operations; `calibration.csv` scripts that the
submission ran, each probe once; `paths.csv` events of cases that it counted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

from probe_effect import units
from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.model import FAILURES, GIVE_UP_AFTER, NO_TRACER, Key, Sample
from probe_effect.numbers.estimates import is_below
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.rows import adds_up, baselines
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import TOOLS, known_tool
from probe_effect.store.machine_file import FIRST_DAY, SLACK
from probe_effect.store.result_tables import TIMES, bucket_around
from probe_effect.store.suite_file import Case, script_path
from probe_effect.store.tables import printable

BASELINES_PER_BLOCK = 2

MOST_TRACER_NS = 120 * units.NS_PER_SECOND
"""Longer than a run is waited for."""


@rule("known-cases")
def _known_cases(checked: CheckedSubmission) -> Iterator[Fault]:
    if checked.suite is None:
        message = f"suite `{checked.document.run.suite}` is not known"
        yield Fault("machine.json", None, message, "`probe-effect suites` lists those that are")
        return
    case_ids, here = checked.cases().keys(), checked.document.machine.architecture
    own = {case.id for case in checked.suite.on(here).cases}
    levels = checked.suite.levels or (None,)
    for line, sample in checked.lines():
        if sample.tracer != NO_TRACER and sample.case not in case_ids:
            message = f"case `{sample.case}` is not in suite `{checked.suite.id}`"
            yield Fault("samples.csv", line, message, "use the case ids of the suite's suite.toml")
        if sample.case in case_ids - own:
            message = f"case `{sample.case}` is not of the machine's architecture, `{printable(here)}`"
            hint = "the suite's suite.toml says which case is of which `architectures`"
            yield Fault("samples.csv", line, message, hint)
        if sample.level not in levels:
            message = "no level" if sample.level is None else f"level `{printable(sample.level)}`"
            hint = "use the levels of the suite's suite.toml; leave the cell empty where the suite has none"
            yield Fault("samples.csv", line, f"{message} in a row of suite `{checked.suite.id}`", hint)


@rule("known-tracers")
def _known_tracers(checked: CheckedSubmission) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for line, sample in checked.lines():
        first.setdefault(sample.tracer, line)
    first.pop(NO_TRACER, None)
    for tracer, line in first.items():
        if known_tool(tracer) is None:
            hint = f"known are {', '.join(TOOLS)}, and each with its version after a hyphen"
            yield Fault("samples.csv", line, f"tracer `{tracer}` is not known", hint)
        elif tracer not in checked.document.tools:
            message = f"the version of tracer `{tracer}` is not in `tools`"
            yield checked.fault("tools", message, "let the tool write machine.json")


@rule("metric")
def _metric(checked: CheckedSubmission) -> Iterator[Fault]:
    is_count = checked.document.run.metric == "instructions"
    untimed = {"check", "traced"} if checked.is_of_tracer else {"check"}
    for line, sample in checked.lines():
        is_timed = sample.status == "ok" and sample.arm not in untimed
        if is_count and (filled := [name for name in TIMES if getattr(sample, name) is not None]):
            message = f"metric `instructions`, but a row with {', '.join(filled)}"
            yield Fault("samples.csv", line, message, "leave times empty: those of an emulated machine mean nothing")
        if is_count and is_timed and not sample.instructions:
            message = "metric `instructions`, but an `ok` run without `instructions`"
            yield Fault("samples.csv", line, message, "set status to failed when they are not known")
        if not is_count and is_timed and not sample.wall_ns:
            message = "metric `time`, but an `ok` run without `wall_ns`"
            yield Fault("samples.csv", line, message, "set run.metric to `instructions` where no times were taken")


@rule("tracer-use")
def _tracer_use(checked: CheckedSubmission) -> Iterator[Fault]:
    rows = checked.lines() if checked.is_of_tracer else ()
    for line, sample in ((line, row) for line, row in rows if row.status == "ok" and row.arm != "baseline"):
        named = f"{printable(sample.case)} with {printable(sample.tracer)}"
        operations = sample.operations or sample.events or 0
        if times := [name for name in ("wall_ns", "user_ns", "sys_ns") if getattr(sample, name) is not None]:
            message = f"{named}: {', '.join(times)} of a workload that only waited"
            yield Fault("samples.csv", line, message, "leave them empty: its suite is about the tracer")
        each_ns = (sample.tracer_cpu_ns or 0) / max(operations, 1)
        if sample.arm == "traced" and each_ns > MOST_TRACER_NS:
            message = f"{named}: {units.duration(each_ns)} of CPU time for an operation"
            hint = f"look at its unit: a whole run ends after {units.duration(MOST_TRACER_NS)}"
            yield Fault("samples.csv", line, message, hint)
        if sample.arm == "check" and sample.seen is not None and sample.seen < operations:
            message = f"{named}: {sample.seen} system calls for {operations} operations"
            yield Fault("samples.csv", line, message, "look whether it did anything at all")


@rule("row-order")
def _row_order(checked: CheckedSubmission) -> Iterator[Fault]:
    for (_, before), (line, after) in pairwise(checked.lines()):
        if (after.block, after.position) < (before.block, before.position):
            message = f"block {after.block}, position {after.position} comes after a later one"
            yield Fault("samples.csv", line, message, "keep rows in the order run: by block, then by position")
    baselines = Counter((sample.block, sample.level) for sample in checked.samples if sample.arm == "baseline")
    timed = [sample for sample in checked.samples if sample.arm == "traced" and sample.status == "ok"]
    for block, level in dict.fromkeys((sample.block, sample.level) for sample in timed):
        if (number := baselines[block, level]) < BASELINES_PER_BLOCK:
            at = "" if level is None else f" at level `{printable(level)}`"
            message = f"block {block} has {number} baseline runs{at}, expected {BASELINES_PER_BLOCK} or more"
            yield Fault("samples.csv", None, message, "measure the block again: costs are differences inside a block")


@rule("reconciled")
def _reconciled(checked: CheckedSubmission) -> Iterator[Fault]:
    for line, sample in checked.lines():
        if adds_up(sample) is False:
            message = f"{sample.case}: {sample.events} events made, {sample.seen} seen, {sample.lost or 0} lost"
            yield Fault("samples.csv", line, message)


UNKNOWN_NAME = frozenset({_known_cases.id, _known_tracers.id})
"""Rules that find a wrong name; under one, a run is also missing under the right name."""


HISTOGRAM = "histogram.csv"

NEAR_RATIO = 0.005
"""By how much the instructions of an event may differ from those of its run, an operation, unless it is said what else
was executed; and those of its run from those of the others. Repeated counts differ by less (/method/instructions/)."""


@rule("histogram-runs")
def _runs(checked: CheckedSubmission) -> Iterator[Fault]:
    if not checked.histogram:
        return
    timed = {(row.block, row.position) for row in checked.samples if _is_timed(row)}
    line_by_run: dict[tuple[int, int], int] = {}
    for line, row in enumerate(checked.histogram, start=2):
        line_by_run.setdefault(row.place, line)
    for (block, position), line in line_by_run.items():
        if (block, position) not in timed:
            message = f"block {block}, position {position} is no run of samples.csv that was timed and ended well"
            yield Fault(HISTOGRAM, line, message)
    for block, position in sorted(timed - line_by_run.keys()):
        yield Fault(HISTOGRAM, None, f"block {block}, position {position} has no row, and other runs have")


@rule("histogram-buckets")
def _buckets(checked: CheckedSubmission) -> Iterator[Fault]:
    for line, row in enumerate(checked.histogram, start=2):
        low_ns, high_ns = bucket_around(row.low_ns)
        if row.low_ns != low_ns or not low_ns <= row.high_ns <= high_ns:
            message = f"{row.low_ns} to {row.high_ns} ns is no bucket"
            yield Fault(
                HISTOGRAM, line, message, f"{low_ns} to {high_ns} ns is one; only the last of a run ends before"
            )
    for (_, before), (line, after) in pairwise(enumerate(checked.histogram, start=2)):
        if (after.place, after.low_ns) <= (before.place, before.low_ns):
            message = f"block {after.block}, position {after.position}, {after.low_ns} ns comes after a later row"
            yield Fault(HISTOGRAM, line, message, "keep rows in the order run, and in that of times")


@rule("histogram-operations")
def _operations(checked: CheckedSubmission) -> Iterator[Fault]:
    counted: Counter[tuple[int, int]] = Counter()
    last: dict[tuple[int, int], int] = {}
    for line, row in enumerate(checked.histogram, start=2):
        counted[row.place] += row.operations
        last[row.place] = line
    for sample in checked.samples:
        run = (sample.block, sample.position)
        made = sample.operations or sample.events
        if run in counted and _is_timed(sample) and counted[run] != made:
            message = f"block {sample.block}, position {sample.position}: {counted[run]} operations in its buckets"
            yield Fault(HISTOGRAM, last[run], f"{message}, {made} performed")


def _is_timed(sample: Sample) -> bool:
    return sample.status == "ok" and sample.arm != "check" and bool(sample.wall_ns)


@rule("calibration-scripts")
def _scripts(checked: CheckedSubmission) -> Iterator[Fault]:
    keys = {(row.case, row.tracer, level) for row in checked.samples for level in (row.level, None)}
    seen: set[tuple[object, ...]] = set()
    for line, row in enumerate(checked.calibration, start=2):
        named = printable(f"{row.case} with {row.tracer}" + (f" at {row.level}" if row.level else ""))
        if row.key not in keys:
            yield Fault("calibration.csv", line, f"{named} is not in samples.csv")
        if (probe := row[:5]) in seen:
            yield Fault("calibration.csv", line, f"{named} has this probe twice", "keep its first row")
        seen.add(probe)


@rule("paths-counts")
def _paths(checked: CheckedSubmission) -> Iterator[Fault]:
    counts: dict[Key, list[float]] = {}
    for row in checked.samples:
        operations = row.operations or row.events
        if row.status == "ok" and row.arm != "check" and row.instructions and operations:
            counts.setdefault(Key(row.case, row.tracer, row.level), []).append(row.instructions / operations)
    for event in checked.paths:
        named = printable(" ".join(filter(None, event.key)))
        if event.key not in counts:
            message = f"{named} was not counted in samples.csv"
            yield Fault("paths.csv", None, message, "leave the file as the tool wrote it")
            continue
        sum_, usual = event.total.instructions, median(counts[event.key])
        if abs(sum_ - event.counted) > NEAR_RATIO * event.counted and not event.beside:
            message = f"{named}: {sum_} instructions in its rows, {event.counted:g} an operation in its run"
            yield Fault("paths.csv", None, message, "say what else was executed, or record it again", "warning")
        if abs(event.counted - usual) > NEAR_RATIO * usual:
            message = f"{named}: {event.counted:g} instructions an operation where it was recorded, {usual:g} counted"
            yield Fault("paths.csv", None, message, "record it again: the run was disturbed", "warning")


LONGEST = timedelta(days=30)


@rule("dates")
def _dates(checked: CheckedSubmission) -> Iterator[Fault]:
    run = checked.document.run
    latest = datetime.now(UTC) + SLACK
    started, ended = datetime.fromisoformat(run.started), datetime.fromisoformat(run.ended or run.started)
    if started > latest:
        yield checked.fault("run.started", f"the run began on {run.started}, which is still to come", "set the clock")
    elif checked.document.provenance.tool.startswith("probe-effect ") and started < FIRST_DAY - SLACK:
        message = f"the run began on {run.started}, before there was a program to measure with"
        yield checked.fault("run.started", message, "set the machine's clock, and measure again")
    elif ended > latest:
        yield checked.fault("run.ended", f"the run ended on {run.ended}, which is still to come", "set the clock")
    if ended < started:
        yield checked.fault("run.ended", "the run ended before it began", "let the clock alone during a run")
    elif ended - started > LONGEST:
        message = f"the run took more than {LONGEST.days} days"
        yield checked.fault("run.ended", message, "look whether the clock was set in between", "warning")
    times = [started, *map(datetime.fromisoformat, run.resumed), *([ended] if run.ended else [])]
    if run.resumed and ended >= started and times != sorted(times):
        message = "the run was continued before it began or after it ended"
        yield checked.fault("run.resumed", message, "let the clock alone")


SHOWN = 5


@rule("plan-complete")
def _plan_complete(checked: CheckedSubmission) -> Iterator[Fault]:
    blocks = checked.document.run.blocks
    if blocks == 0:
        yield checked.fault("run.blocks", "a run of 0 blocks", "give the blocks planned")
    else:
        beyond = next((line for line, sample in checked.lines() if sample.block >= blocks), None)
        if beyond is not None:
            yield Fault(
                "samples.csv", beyond, f"a block beyond the {blocks} planned, which count from 0", "mend `run.blocks`"
            )
        if missing := _missing(blocks, checked.samples):
            yield Fault("samples.csv", None, f"{missing} of {blocks} planned has no row")
    traced = ((line, sample) for line, sample in checked.lines() if sample.arm == "traced")
    rows = grouped_by(traced, lambda row: Key(row[1].case, row[1].tracer, row[1].level))
    for subject, its_rows in rows.items():
        yield from _holes(subject, its_rows, blocks)
    yield from _absent(checked, rows.keys())


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
            message = f"{_words(subject)} has two rows in block {sample.block}"
            yield Fault("samples.csv", line, message, "keep the run that was made")
        seen.add(sample.block)
    if missing := _missing(blocks, [sample for _, sample in rows]):
        yield Fault("samples.csv", first_line, f"{_words(subject)} has no row in {missing}")


def _absent(checked: CheckedSubmission, subjects: Collection[Key]) -> Iterator[Fault]:
    """What the suite has for the tracers of the run, and no row skips; an older version had other cases."""
    suite, folder, run = checked.suite, checked.suite_folder, checked.document.run
    if suite is None or folder is None or suite.version != run.suite_version:
        return
    given = [*pairwise(run.command)]
    chosen = {value for option, value in given if option == "--case"}
    named = {value for option, value in given if option == "--tracer" and value in TOOLS}
    for tracer in sorted(named | {subject.tracer for subject in subjects}):
        tool, cases = known_tool(tracer), suite.on(checked.document.machine.architecture).cases
        for case in (case for case in cases if not chosen or case.id in chosen):
            for subject in (Key(case.id, tracer, level) for level in suite.levels or (None,)):
                has_script = tool and script_path(folder, case.id, tool.name, level=subject.level)
                if has_script and subject not in subjects:
                    yield Fault("samples.csv", None, f"{_words(subject)} is neither measured nor skipped")


def _words(subject: Key) -> str:
    at = "" if subject.level is None else f" at level `{printable(subject.level)}`"
    return f"case `{subject.case}` with {subject.tracer}{at}"


def _missing(blocks: int, samples: Iterable[Sample]) -> str | None:
    missing = sorted(set(range(blocks)) - {sample.block for sample in samples})
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return f"block {', '.join(map(str, missing[:SHOWN]))}{more}" if missing else None


CALL_LOOPS = frozenset({"dd-loop.c"})
"""Workloads of which an operation is two system calls and nothing else."""

CALLS_PER_OPERATION = 2
LEAST_NS, MOST_NS = 30, 2000
MOST_DRIFT_RATIO = 0.02

RETURNS = {"uretprobe": "uprobe", "kretprobe": "kprobe"}


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission of times in which nothing is wrong, with the costs that follow from it."""

    checked: CheckedSubmission
    submission: Submission

    @property
    def baseline_ns(self) -> float | None:
        """One untraced operation of a loop of system calls; None of any other workload."""
        suite, baseline = self.checked.suite, self.submission.baseline
        return baseline.value if suite and baseline and suite.workload.program in CALL_LOOPS else None

    def doubt(self, number: Number, message: str, hint: str | None = None) -> Fault:
        """What is odd about a number, at the first row of its case, tracer and level."""
        rows = self.checked.lines()
        first = next((line for line, row in rows if (row.case, row.tracer, row.level) == number.key), None)
        return Fault("samples.csv", first, f"case `{number.case}` with {number.tracer} {message}", hint)


@rule("baseline-range")
def _baseline_range(judged: JudgedSubmission) -> Iterator[Fault]:
    baseline_ns = judged.baseline_ns
    if baseline_ns is not None and not LEAST_NS <= baseline_ns <= MOST_NS:
        message = f"an untraced operation takes {units.duration(baseline_ns)}, expected {LEAST_NS} to {MOST_NS} ns"
        first = next((line for line, row in judged.checked.lines() if row.arm == "baseline"), None)
        yield Fault("samples.csv", first, message)


@rule("steady-baselines")
def _steady_baselines(judged: JudgedSubmission) -> Iterator[Fault]:
    for level, baseline in baselines(judged.checked.samples).items():
        drift = baseline.drift_within()
        if drift is None or drift.low is None or drift.high is None:
            continue
        # The whole interval is beyond: among many levels, some values are by chance.
        if drift.low > MOST_DRIFT_RATIO or drift.high < -MOST_DRIFT_RATIO:
            at = "" if level is None else f" at level `{level}`"
            first = next(line for line, row in judged.checked.lines() if (row.arm, row.level) == ("baseline", level))
            message = f"baselines{at} differ by {units.percent(drift.value)} from the first of a block to the second"
            yield Fault("samples.csv", first, message)


@rule("negative-cost")
def _negative_cost(judged: JudgedSubmission) -> Iterator[Fault]:
    suite = judged.checked.suite
    builds = {case.id for case in suite.cases if case.variant} if suite and not suite.result_type.guides else set()
    for number in judged.submission.numbers:
        if number.cost is not None and number.distinguishable and number.cost.value < 0 and number.case not in builds:
            yield judged.doubt(number, f"costs {units.duration(number.cost.value)}")


@rule("probe-order")
def _probe_order(judged: JudgedSubmission) -> Iterator[Fault]:
    cases = judged.checked.cases()
    numbers = {number.key: number for number in judged.submission.numbers}
    # The probe at a function's return is armed by one at its entry.
    for number in numbers.values():
        case = cases.get(number.case)
        entry = case and _entry(case, cases.values())
        other = numbers.get(number.key._replace(case=entry.id)) if entry else None
        if other is not None and is_below(number.cost, other.cost):
            message = f"costs less than `{other.case}`, the entry of the same"
            yield judged.doubt(number, message, "look whether it fired, and at the mechanism of both")
    # A uprobe enters the kernel, as a system call does, and then does more.
    if judged.baseline_ns is None:
        return
    call_ns = judged.baseline_ns / CALLS_PER_OPERATION
    for number in numbers.values():
        case, tool = cases.get(number.case), known_tool(number.tracer)
        if case is None or case.probe != "uprobe" or (tool is not None and not tool.enters_kernel):
            continue
        if number.cost is not None and number.cost.high is not None and number.cost.high < call_ns:
            cost, call = units.duration(number.cost.value), units.duration(call_ns)
            yield judged.doubt(number, f"costs {cost}, less than a system call there ({call})")


def _entry(case: Case, cases: Iterable[Case]) -> Case | None:
    """The case that does at the entry of the same function what `case` does at its return."""
    words = case.probe.split("-")
    wanted = "-".join([RETURNS.get(words[0], ""), *words[1:]])
    same = (other for other in cases if other.probe == wanted and other.action == case.action)
    return next((other for other in same if other.variant == case.variant), None)


RULES = (
    *(_known_cases, _known_tracers, _metric, _tracer_use, _row_order, _reconciled),
    *(_runs, _buckets, _operations, _scripts, _paths),
    _dates,
)
PLAN_RULES = (_plan_complete,)
COST_RULES = (_baseline_range, _steady_baselines, _negative_cost, _probe_order)
