"""What `probe-effect compare` compares and finds: two sides by name, or two tracers of one; times and counts alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import NamedTuple

from probe_effect import units
from probe_effect.compare.comparison import REPEATABILITY_LIMIT_RATIO, Comparison, Side, between, between_tracers, grown
from probe_effect.model import BadData, Key, Metric, ProbeEffectError, Problem, UsageError, unknown
from probe_effect.numbers.catalogue import read_submissions
from probe_effect.numbers.index import Numbers, grouped_by
from probe_effect.numbers.names import cpu, tier, tool_with_version
from probe_effect.numbers.submission import Number, Submission
from probe_effect.store.beside_files import changed_ids, read_changes
from probe_effect.store.places import DataFolder, SubmissionFolder


@dataclass(frozen=True, slots=True)
class NamedSide:
    """A side whose `submissions` are read later. `text`: how the command line names it."""

    name: str
    text: str
    folders: tuple[SubmissionFolder, ...]
    is_machine: bool
    submissions: tuple[Submission, ...] = ()

    @property
    def words(self) -> str:
        """The side as the end of a sentence has it."""
        return f"in {self.name}" if "/" in self.name else f"on {self.name}"

    def of(self, metric: Metric) -> Side:
        """The side with only its submissions of times, or of counts."""
        return Side(self.name, tuple(submission for submission in self.submissions if submission.metric == metric))


def find_side(text: str, data: DataFolder) -> NamedSide:
    """A submission or a machine. Raises: UsageError where `text` is neither."""
    folder = (Path(text) if Path(text).is_dir() else data.results / text).resolve()
    own = SubmissionFolder(folder)
    if own.machine_file.is_file() or own.samples.is_file():
        return NamedSide(own.id, text, (own,), is_machine=False)
    inside = (SubmissionFolder(path) for path in sorted(folder.glob("*")))
    folders = tuple(submission_folder for submission_folder in inside if submission_folder.machine_file.is_file())
    if not folders:
        machines = ", ".join(sorted({submission.machine for submission in data.submissions()})) or "none"
        raise UsageError(
            f"{text}: neither the folder of a submission nor a machine with any; known machines: {machines}"
        )
    return NamedSide(folder.name, text, folders, is_machine=True)


def named_apart(first: NamedSide, second: NamedSide) -> list[NamedSide]:
    """Both sides; by the folders given where their submissions are of one name, in two folders of results.

    Raises: UsageError for one side twice.
    """
    if first.folders == second.folders:
        msg = f"{first.name}: the same twice. Expected two submissions or machines that are not one and the same."
        raise UsageError(msg)
    if first.name != second.name:
        return [first, second]
    return [replace(first, name=first.text), replace(second, name=second.text)]


def read_sides(sides: Sequence[NamedSide], data: DataFolder) -> list[NamedSide]:
    """The sides, each submission read once; of a machine without the withdrawn ones.

    Raises: BadData where files are unsound, UsageError where no submission is left.
    """
    problems: list[Problem] = []
    given: dict[NamedSide, list[SubmissionFolder]] = {}
    for side in sides:
        results = side.folders[0].folder.parent.parent
        own = DataFolder(results.parent)
        gone = _withdrawn(own, problems) if side.is_machine and results == own.results else frozenset()
        given[side] = [folder for folder in side.folders if folder.id not in gone]
        if not given[side]:
            msg = f"{side.text}: all its submissions are withdrawn. Name one by its folder to compare it all the same."
            raise UsageError(msg)
    folders = dict.fromkeys(chain.from_iterable(given.values()))
    by_folder = {submission.files: submission for submission in read_submissions(list(folders), data, problems)}
    if problems:
        raise BadData(problems)
    return [replace(side, submissions=tuple(by_folder[files] for files in own)) for side, own in given.items()]


def differing_traits(first: Iterable[Number], second: Iterable[Number]) -> list[tuple[str, str, str]]:
    """Trait, what it is on the first side and what on the second, for those that are not the same."""
    ours, others = traits(first), traits(second)
    each = ((name, ours.get(name, ""), others.get(name, "")) for name in ours | others)
    return [(name, value, other) for name, value, other in each if value != other]


def traits(side: Iterable[Number]) -> dict[str, str]:
    """Trait of machines, tools and runs of a side, to all its values."""
    each = grouped_by(chain.from_iterable(map(_traits, side)), itemgetter(0))
    return {name: ", ".join(sorted({value for _, value in own})) for name, own in each.items()}


def _traits(number: Number) -> Iterator[tuple[str, str]]:
    document = number.submission.document
    run = document.run
    yield "machine", document.machine.id
    yield "tier", tier(document.machine, run.metric)
    yield "CPU", f"{cpu(document.machine)}, {document.machine.threads} CPUs"
    yield "kernel", document.system.kernel_release
    yield "tracer", tool_with_version(number)
    yield "suite", f"{run.suite}, version {run.suite_version}"
    yield "date", run.started[:10]
    yield "blocks", str(run.blocks)
    if number.is_time:
        yield "grade", f"{run.suite} {number.submission.grade}"
    yield from ((f"first bytes of {name}", code) for name, code in run.functions.items())
    yield from ((f"package of {part}", package) for part, package in run.packages.items())


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases and tracers to compare, all where none is named; and the growth at which the gate fails."""

    cases: Sequence[str] = ()
    tracers: Sequence[str] = ()
    fail_above_ratio: float | None = None

    @property
    def limit_ratio(self) -> float:
        """The least change of a count that is reported, as a ratio: the gate's, where that is the finer one."""
        gate = REPEATABILITY_LIMIT_RATIO if self.fail_above_ratio is None else self.fail_above_ratio
        return min(REPEATABILITY_LIMIT_RATIO, gate)

    def among(self, numbers: Mapping[Key, Number]) -> dict[Key, Number]:
        return {
            key: number
            for key, number in numbers.items()
            if (not self.cases or key.case in self.cases) and (not self.tracers or key.tracer in self.tracers)
        }


class Half(NamedTuple):
    """A side or a tracer, how a sentence ends with it (`on B`), and its current numbers by the key that both share."""

    name: str
    words: str
    numbers: Mapping[Key, Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two sides by name, `second_words` as a sentence has the second (`on B`), and what was found.

    `absences`: what only the first side has a number of, and why the second has none. `of`: whose two tracers the sides
    are; None where they are submissions or machines.
    """

    first: str
    second: str
    second_words: str
    comparisons: Sequence[Comparison]
    absences: Mapping[Key, str]
    only_second: Sequence[Key]
    of: str | None = None
    fail_above_ratio: float | None = None

    @property
    def is_time(self) -> bool:
        return self.comparisons[0].first.is_time

    def differing(self) -> list[tuple[str, str, str]]:
        return differing_traits(
            (comparison.first for comparison in self.comparisons),
            (comparison.second for comparison in self.comparisons),
        )


def _withdrawn(data: DataFolder, problems: list[Problem]) -> frozenset[str]:
    """The ids of withdrawn submissions; faults of the change log go to `problems`."""
    document, faults = read_changes(data)
    problems += faults
    return changed_ids(document.changes if document else (), "withdrawn")


def of_sides(first: NamedSide, second: NamedSide, selection: Selection, data: DataFolder) -> Compared:
    """The second side against the first; times must differ by more than runs in `data` do.

    Raises: UsageError for an unknown name, nothing to compare, or a gate for times; ProbeEffectError without a common
        case.
    """
    metric = _common_metric([first, second], selection)
    sides = first.of(metric), second.of(metric)
    _check_names(selection, [key for side in sides for key in side.numbers])
    ours, others = (
        Half(given.name, given.words, selection.among(side.current))
        for given, side in zip((first, second), sides, strict=True)
    )
    spread = None
    if metric == "time":
        gone = _withdrawn(data, [])
        sound = read_submissions(
            [submission for submission in data.submissions() if submission.id not in gone], data, []
        )
        spread = Numbers(sound).spread
    comparisons = [
        comparison
        for comparison in between(*sides, selection.limit_ratio, spread)
        if comparison.first.key in ours.numbers
    ]
    return _compared(comparisons, ours, others, "no case with the same tracer on both sides", selection)


def of_tracers(side: NamedSide, tracers: tuple[str, str], selection: Selection) -> Compared:
    """The second tracer against the first.

    Raises: UsageError for one tracer twice, an unknown name, or a gate for times; ProbeEffectError where no case has
        both.
    """
    of = side.of(_common_metric([side], selection))
    first, second = tracers
    if first == second:
        raise UsageError(f"{first}: the same tracer twice. Expected two tracers, such as --tracers bpftrace libbpf.")
    _check_names(replace(selection, tracers=tracers), of.numbers)
    current = selection.among(of.current)
    by_tracer = grouped_by(current.values(), attrgetter("tracer"))
    ours, others = (
        Half(tracer, f"with {tracer}", {number.key._replace(tracer=""): number for number in by_tracer.get(tracer, ())})
        for tracer in tracers
    )
    comparisons = [
        comparison
        for comparison in between_tracers(of, first, second, selection.limit_ratio)
        if comparison.first.key in current
    ]
    return replace(_compared(comparisons, ours, others, f"{of.name}: no case with both tracers", selection), of=of.name)


class Failure(NamedTuple):
    """A case that is not let through, and why."""

    key: Key
    reason: str


def failures(compared: Compared) -> list[Failure]:
    """Cases that take more by more than the limit, and those without a sound count in B; none without a limit.

    A case that is faulty in A alone is not among them: nobody broke it since.
    """
    if compared.fail_above_ratio is None:
        return []
    limit, failing = units.stated(compared.fail_above_ratio, units.SHARE), []
    for comparison in grown(compared.comparisons, compared.fail_above_ratio):
        before, after = (units.spread(side.cost, units.INSTRUCTIONS) for side in (comparison.first, comparison.second))
        ratio = comparison.change_ratio
        by = "more, and the cost before was not above 0" if ratio is None else f"{units.percent(ratio, 3)} more"
        more = f"takes {by}: {before} before, {after} now (instructions per event; the limit is {limit})"
        failing.append(Failure(comparison.second.key, more))
    faulty = (comparison.second for comparison in compared.comparisons if comparison.second.faults)
    return [
        *failing,
        *(Failure(number.key, f"has no sound count: {'; '.join(number.faults)}") for number in faulty),
        *(Failure(key, f"has no count {compared.second_words}: {why}") for key, why in compared.absences.items()),
    ]


def tracers_by_case(keys: Iterable[Key]) -> list[tuple[str, str]]:
    """Each case with its tracers, and levels where it has any, by case id."""
    cases = grouped_by(sorted(keys, key=attrgetter("case")), attrgetter("case"))
    return [
        (case, ", ".join(key.tracer if key.level is None else f"{key.tracer} at {key.level}" for key in own))
        for case, own in cases.items()
    ]


def _common_metric(sides: Sequence[NamedSide], selection: Selection) -> Metric:
    """The metric of all sides, times first. Raises: UsageError where there is none, or for a gate on times."""
    held = [{submission.metric for submission in side.submissions} for side in sides]
    metrics: tuple[Metric, ...] = ("time", "instructions")
    metric = next((metric for metric in metrics if all(metric in some for some in held)), None)
    if metric is None:
        names = ", ".join(side.name for side in sides)
        words = " against ".join(", ".join(sorted(some)) for some in held)
        raise UsageError(f"{names}: {words}. Times and instruction counts are never compared.")
    if metric == "time" and selection.fail_above_ratio is not None:
        raise UsageError(
            "--fail-above: these are times, which do not repeat closely enough on a shared machine to decide so. "
            "Expected instructions, as `probe-effect measure SUITE --vm KERNEL` counts them."
        )
    return metric


def _check_names(selection: Selection, all_keys: Iterable[Key]) -> None:
    """Raise UsageError unless something known has each case and each tracer that is named."""
    keys = list(all_keys)
    unknown(selection.cases, sorted({key.case for key in keys}), "case here")
    unknown(selection.tracers, sorted({key.tracer for key in keys}), "tracer here")


def _compared(
    comparisons: Sequence[Comparison], first: Half, second: Half, lacking: str, selection: Selection
) -> Compared:
    """The comparisons, and what only one side has. Raises: ProbeEffectError without any comparison."""
    ours, others = ({key: number for key, number in half.numbers.items() if number.cost} for half in (first, second))
    if not comparisons:
        has = []  # such as `B: 02-kprobe (bpftrace, libbpf); 03-kretprobe (bpftrace)`
        for half, costs in ((first, ours), (second, others)):
            cases = tracers_by_case(number.key for number in costs.values())
            has.append(f"{half.name}: {'; '.join(f'{case} ({tracers})' for case, tracers in cases) or 'none'}")
        raise ProbeEffectError(f"{lacking}. {'. '.join(has)}.")
    absences = {}
    for key in [key for key in ours if key not in others]:
        other = second.numbers.get(key)
        absences[ours[key].key] = f"{other.status}: {other.note}" if other else "it was not measured"
    return Compared(
        first=first.name,
        second=second.name,
        second_words=second.words,
        comparisons=comparisons,
        absences=absences,
        only_second=[number.key for key, number in others.items() if key not in ours],
        fail_above_ratio=selection.fail_above_ratio,
    )
