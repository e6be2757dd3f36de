"""What `probe-effect compare` finds between two sides, or two tracers of one: of times and of counts alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from probe_effect.compare.comparison import REPEATABILITY_LIMIT_RATIO, Side, between, between_tracers
from probe_effect.errors import BadData, ProbeEffectError, UsageError, unknown
from probe_effect.pages.comparison import differing_traits
from probe_effect.reduce.reading import read_submissions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probe_effect.cli.compare_sides import Given
    from probe_effect.compare.comparison import Comparison
    from probe_effect.model import Key, Metric, Problem
    from probe_effect.reduce.submission import Number, Submission
    from probe_effect.store.places import DataFolder

METRICS: tuple[Metric, ...] = ("time", "instructions")
"""What is compared of sides that hold both: the first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared: these cases and tracers, or all where none is named; and the growth that is not let through."""

    cases: Sequence[str] = ()
    tracers: Sequence[str] = ()
    fail_above_ratio: float | None = None

    @property
    def limit_ratio(self) -> float:
        """What changes of counts are called so: those of the gate too, where it is the finer of the two."""
        gate = REPEATABILITY_LIMIT_RATIO if self.fail_above_ratio is None else self.fail_above_ratio
        return min(REPEATABILITY_LIMIT_RATIO, gate)

    def among(self, numbers: Mapping[Key, Number]) -> dict[Key, Number]:
        """Those of `numbers` that are asked for."""
        return {
            key: one
            for key, one in numbers.items()
            if (not self.cases or key.case in self.cases) and (not self.tracers or key.tracer in self.tracers)
        }


@dataclass(frozen=True, slots=True)
class ReadSide:
    """A side with its submissions."""

    given: Given
    submissions: Sequence[Submission]

    def of(self, metric: Metric) -> Side:
        """Its times, or its counts."""
        return Side(self.given.name, tuple(one for one in self.submissions if one.metric == metric))


class Half(NamedTuple):
    """A side or a tracer, how a sentence ends with it (`on B`), and its current numbers by what stands opposite."""

    name: str
    words: str
    numbers: Mapping[Key, Number]

    def costs(self) -> dict[Key, Number]:
        """Those that have a cost."""
        return {key: one for key, one in self.numbers.items() if one.cost is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two sides by name, `second_words` as a sentence has the second (`on B`), and what was found.

    `absences`: what only the first side has a number of, and why the second has none. `of`: whose two tracers are the
    sides; None where the sides are submissions or machines.
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
        """Whether both hold times, and not counts of instructions."""
        return self.comparisons[0].first.is_time

    def differing(self) -> list[tuple[str, str, str]]:
        """What else is not the same on both sides, of what was compared; empty where it is not known."""
        return differing_traits((one.first for one in self.comparisons), (one.second for one in self.comparisons))


def read_sides(given: Sequence[Given], data: DataFolder) -> list[ReadSide]:
    """The sides, each submission read once. Raises: BadData where files are unsound, UsageError where none is left."""
    problems: list[Problem] = []
    folders = [one.in_force(problems) for one in given]
    read = read_submissions(list(dict.fromkeys(one for some in folders for one in some)), data, problems)
    if problems:
        raise BadData(problems)
    by_folder = {one.files: one for one in read}
    return [ReadSide(one, [by_folder[files] for files in some]) for one, some in zip(given, folders, strict=True)]


def of_sides(first: ReadSide, second: ReadSide, asked: Asked) -> Compared:
    """The second side against the first.

    Raises: UsageError for an unknown name, nothing to compare, or a gate for times; ProbeEffectError without a common
        case.
    """
    metric = _common_metric([first, second], asked)
    sides = first.of(metric), second.of(metric)
    _check_names(asked, [key for side in sides for key in side.numbers])
    ours, others = (
        Half(side.name, given.words, asked.among(side.current))
        for side, given in zip(sides, (first.given, second.given), strict=True)
    )
    found = [one for one in between(*sides, asked.limit_ratio) if one.first.key in ours.numbers]
    return _compared(found, ours, others, "no case with the same tracer on both sides", asked)


def of_tracers(side: ReadSide, tracers: tuple[str, str], asked: Asked) -> Compared:
    """The second tracer against the first.

    Raises: UsageError for one tracer twice, an unknown name, or a gate for times; ProbeEffectError where no case has
        both.
    """
    of = side.of(_common_metric([side], asked))
    first, second = tracers
    if first == second:
        msg = f"{first}: the same tracer twice. Expected two tracers, such as --tracers bpftrace libbpf."
        raise UsageError(msg)
    _check_names(replace(asked, tracers=tracers), of.numbers)
    current = asked.among(of.current)
    ours, others = (
        Half(
            tracer,
            f"with {tracer}",
            {key._replace(tracer=""): one for key, one in current.items() if key.tracer == tracer},
        )
        for tracer in tracers
    )
    found = [one for one in between_tracers(of, first, second, asked.limit_ratio) if one.first.key in current]
    return replace(_compared(found, ours, others, f"{of.name}: no case with both tracers", asked), of=of.name)


def tracers_by_case(keys: Iterable[Key]) -> list[tuple[str, str]]:
    """Each case with its tracers, and levels where it has any, by case id."""
    found: dict[str, list[str]] = {}
    for key in sorted(keys, key=lambda key: key.case):
        level = "" if key.level is None else f" at {key.level}"
        found.setdefault(key.case, []).append(f"{key.tracer}{level}")
    return [(case, ", ".join(tracers)) for case, tracers in found.items()]


def _common_metric(sides: Sequence[ReadSide], asked: Asked) -> Metric:
    """What all hold. Raises: UsageError where they have nothing in common, or for a gate where it is times."""
    held = [{one.metric for one in side.submissions} for side in sides]
    metric = next((metric for metric in METRICS if all(metric in some for some in held)), None)
    if metric is None:
        names = ", ".join(side.given.name for side in sides)
        words = " against ".join(", ".join(sorted(some)) for some in held)
        msg = f"{names}: {words}. Times and instruction counts are never compared."
        raise UsageError(msg)
    if metric == "time" and asked.fail_above_ratio is not None:
        msg = (
            "--fail-above: these are times, which do not repeat closely enough on a shared machine to decide so. "
            "Expected instructions, as `probe-effect measure SUITE --vm KERNEL` counts them."
        )
        raise UsageError(msg)
    return metric


def _check_names(asked: Asked, known: Iterable[Key]) -> None:
    """Raise UsageError unless something known has each case and each tracer that is asked for."""
    keys = list(known)
    unknown(asked.cases, sorted({key.case for key in keys}), "case here")
    unknown(asked.tracers, sorted({key.tracer for key in keys}), "tracer here")


def _compared(found: Sequence[Comparison], first: Half, second: Half, lacking: str, asked: Asked) -> Compared:
    """What was found, and what only one of the two has. Raises: ProbeEffectError where nothing was found."""
    ours, others = first.costs(), second.costs()
    if not found:
        has = (f"{name}: {_names(known.values())}" for name, known in ((first.name, ours), (second.name, others)))
        msg = f"{lacking}. {'. '.join(has)}."
        raise ProbeEffectError(msg)
    return Compared(
        first=first.name,
        second=second.name,
        second_words=second.words,
        comparisons=found,
        absences={one.key: _absence(second.numbers.get(key)) for key, one in ours.items() if key not in others},
        only_second=[one.key for key, one in others.items() if key not in ours],
        fail_above_ratio=asked.fail_above_ratio,
    )


def _absence(one: Number | None) -> str:
    """Why there is no cost."""
    return "it was not measured" if one is None else f"{one.status}: {one.note}"


def _names(numbers: Iterable[Number]) -> str:
    """What a side has, for a message: `02-kprobe (bpftrace, libbpf); 03-kretprobe (bpftrace)`."""
    found = tracers_by_case(one.key for one in numbers)
    return "; ".join(f"{case} ({tracers})" for case, tracers in found) or "none"
