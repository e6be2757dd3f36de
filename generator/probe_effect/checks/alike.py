"""What two submissions of a suite have in common that two measurements have not, in words, with its figure.

A copy that was changed keeps something of what it was made from: the seed and the order of runs, when it began, how
many operations the trials found, single times, or the noise. Noise says nothing of a machine's speed and never comes
twice.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from probe_effect.checks.copies import Traces, read_traces
from probe_effect.checks.folders import MAX_BLOCKS
from probe_effect.checks.signs import has_fixed_operations
from probe_effect.reduce.reading import code, content_digest
from probe_effect.stats.trends import Shared, shared_noise
from probe_effect.store.kept import Kept, code_version
from probe_effect.store.machine_file import MachineFile, read_machine_file
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.suite_file import Suite
from probe_effect.store.tables import printable

LEAST_CHANCE = 1e-3
"""Of noise that has so much in common by chance, over all submissions of the suite."""

LEAST_TIMES, LEAST_TIMES_RATIO = 3, 0.01
"""Single times that two may share: clocks that step by 100 ns give the same now and then."""

LEAST_SUBJECTS, MOST_SAME_RATIO = 8, 0.8
"""Cases of which machines with different CPUs were given the same number of operations; a third is the most seen."""

LEAST_RUNS = 40
"""In so many the order of two submissions does not agree by chance."""

WIDTH_OF_RUNS, WIDTH_OF_TOOLS = 1.3, 2.2
"""By which the noise of unrelated submissions deviates more than that of independent values: the four values of a
tracer's run go with each other. `benchmarks/forgery.py` prints what the committed submissions give."""


MOST_PARTNERS = 20
"""Earlier submissions of which a later one's signs are told: a thousand copies are a million pairs."""


class Sign(NamedTuple):
    """What two submissions of one suite have in common that two measurements have not."""

    later: int
    """The place of the one that began later, and that of the other, among all that were laid beside each other."""
    earlier: int
    rule: str
    words: str
    """With `{other}` and `{chance}` in place of both."""
    chance: float = 0.0
    """Of so much in common between two unrelated ones."""

    @property
    def overall(self) -> float:
        """The chance that the later one has so much in common with any of those before it."""
        return min(1.0, self.chance * self.later)

    def beside(self, other: str) -> str:
        """The words, with the other's id."""
        shown = f"{self.overall:.0e}" if self.chance > 0 else "below 1e-300"
        return self.words.replace("{chance}", shown).replace("{other}", printable(other))


@dataclass(frozen=True, slots=True)
class KnownMachine:
    """A submission whose facts could be read."""

    files: SubmissionFolder
    document: MachineFile
    digest: str

    @property
    def name(self) -> str:
        """What makes it the same submission in another check."""
        return f"{self.files.id} {self.digest}"


def known_machines(submissions: Iterable[SubmissionFolder]) -> list[KnownMachine]:
    """The submissions whose facts and rows can be read, each once."""
    found = []
    for files in dict.fromkeys(replace(one, folder=one.folder.resolve()) for one in submissions):
        document, faults = read_machine_file(files.machine_file, files.id)
        digest = content_digest(files)
        if document is not None and not faults and digest:
            found.append(KnownMachine(files, document, digest))
    return found


def in_common(
    known: Iterable[KnownMachine], checked: Iterable[SubmissionFolder], suites: Mapping[str, Suite], kept: Kept
) -> Mapping[Path, list[tuple[str, str]]]:
    """Folder to (rule, what it has in common with another) for each sign that the two are not two measurements.

    Two are laid beside each other once, as what was found is kept. Two of which neither is `checked` are not where
    that is not known already: so the check of one grows with the others' number alone.
    """
    asked = {one.folder.resolve() for one in checked}
    by_suite: dict[str, list[KnownMachine]] = defaultdict(list)
    for one in known:
        if one.document.run.blocks <= MAX_BLOCKS:  # more are refused
            by_suite[one.document.run.suite].append(one)
    found: dict[Path, list[tuple[str, str]]] = defaultdict(list)
    for name, some in by_suite.items():
        in_time = sorted(some, key=lambda one: (one.document.run.started, one.files.id))
        for sign in _of_suite(in_time, asked, suites.get(name), kept):
            both = in_time[sign.later].files, in_time[sign.earlier].files
            for own, beside in (both, both[::-1]):
                found[own.folder].append((sign.rule, sign.beside(beside.id)))
    return found


def _of_suite(
    in_time: Sequence[KnownMachine], asked: Collection[Path], suite: Suite | None, kept: Kept
) -> Iterator[Sign]:
    """What those of one suite have in common.

    One entry names all that were laid beside each other, by what is in them, and all signs that any two of these have:
    that stays true whatever is added or taken away, so one that is new is all that has to be laid beside the others.
    """
    places = {one.name: place for place, one in enumerate(in_time)}
    suite_id, is_fixed = in_time[0].document.run.suite, has_fixed_operations(suite)
    made_from = ("alike", code(), code_version("checks"), suite_id, str(is_fixed))
    laid, signs = json.loads(kept.get(*made_from) or "[[], []]")
    if _is_cut(signs) and not set(laid) <= places.keys():
        laid, signs = [], []  # those that are gone may have kept others from being named
    new = {places[name] for name in places.keys() - set(laid)}
    found = [Sign(places[one], places[other], *sign) for one, other, *sign in signs if {one, other} <= places.keys()]
    wanted = {place for place, one in enumerate(in_time) if one.files.folder in asked}
    is_whole = new <= wanted
    if new and wanted:
        traces = [read_traces(one.files, one.document, one.digest, kept) for one in in_time]
        found = [*(found if is_whole else ()), *possible(traces, new if is_whole else wanted, suite)]
    if new and is_whole:
        named = [(in_time[later].name, in_time[earlier].name, *sign) for later, earlier, *sign in found]
        kept.put(json.dumps([list(places), named]).encode(), *made_from)
    return sure(sorted(found, key=lambda sign: sign[:2]))


def _is_cut(signs: Sequence[Sequence[object]]) -> bool:
    """Whether any of some named signs may be there only because others were not told."""
    partners = Counter(later for later, _ in {(later, earlier) for later, earlier, *_ in signs})
    return any(number >= MOST_PARTNERS for number in partners.values())


def sure(found: Iterable[Sign]) -> Iterator[Sign]:
    """The signs that chance does not explain, over all submissions of the suite."""
    return (sign for sign in found if sign.overall < LEAST_CHANCE)


def possible(in_time: Sequence[Traces], new: Collection[int], suite: Suite | None) -> Iterator[Sign]:
    """The signs of all pairs with one that is new, and what would be a sign if there were no others.

    The submissions are in the order in which they began; `new` are places of some of them.
    """
    times = _common_times(in_time)
    for later, one in enumerate(in_time):
        places = range(later) if later in new else [place for place in sorted(new) if place < later]
        others = [in_time[place] for place in places]
        noise = zip(*shared_noises(one, others), strict=True)
        partners = 0
        for earlier, other, (of_runs, of_tools) in zip(places, others, noise, strict=True):
            if partners == MOST_PARTNERS:
                break
            found = [
                *_same_order(one, other),
                *_same_start(one, other),
                *(() if has_fixed_operations(suite) else _same_operations(one, other)),
                *_same_times(one, other, times[later, earlier]),
                *_same_noise("same-noise", "times", of_runs),
                *_same_noise("same-tool-noise", "the tracers' times and memory", of_tools),
            ]
            partners += bool(found)
            yield from (Sign(later, earlier, *sign) for sign in found)


def shared_noises(one: Traces, others: Sequence[Traces]) -> tuple[list[Shared | None], list[Shared | None]]:
    """What the noise of a workload's times has in common with that of others, and that of all that the tracers took."""
    return (
        shared_noise(one.of_runs, [other.of_runs for other in others], WIDTH_OF_RUNS),
        shared_noise(one.of_tools, [other.of_tools for other in others], WIDTH_OF_TOOLS),
    )


def _common_times(in_time: Sequence[Traces]) -> Counter[tuple[int, int]]:
    """How many single times two have in common, by their places, that of the later one first: all sorted together."""
    times = np.concatenate([one.times for one in in_time])
    places = np.repeat(np.arange(len(in_time)), [len(one.times) for one in in_time])
    order = np.argsort(times, kind="stable")
    times, places = times[order], places[order]
    found: Counter[tuple[int, int]] = Counter()
    step = 1  # of a time that is in three submissions, each pair; of one that is in many, those next to each other
    while step <= MOST_PARTNERS and (same := np.flatnonzero(times[step:] == times[:-step])).size:
        found.update(zip(places[same + step].tolist(), places[same].tolist(), strict=True))
        step += 1
    return found


def _same_order(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    if one.document.run.seed == other.document.run.seed:
        yield "same-order", f"seed {one.document.run.seed} is that of {{other}} too"
    elif one.runs >= LEAST_RUNS and one.order == other.order:
        yield "same-order", f"all {one.runs} runs are in the order of {{other}}, which has another seed"


def _same_start(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    mine, theirs = one.document.run, other.document.run
    if mine.started == theirs.started:
        yield "same-start", f"it began at {mine.started}, the same second as {{other}}"


def _same_operations(one: Traces, other: Traces) -> Iterator[tuple[str, str]]:
    if one.document.machine.cpu_model == other.document.machine.cpu_model:
        return  # trials on like machines may well come to the same
    both = one.operations.keys() & other.operations.keys()
    same = sum(one.operations[key] == other.operations[key] for key in both)
    if len(both) >= LEAST_SUBJECTS and same >= MOST_SAME_RATIO * len(both):
        yield "same-operations", f"runs of {same} of {len(both)} cases have as many operations as those of {{other}}"


def _same_times(one: Traces, other: Traces, same: int) -> Iterator[tuple[str, str]]:
    least = min(len(one.times), len(other.times))
    if same >= max(LEAST_TIMES, LEAST_TIMES_RATIO * least):
        yield "same-times", f"{same} of {least} times are in {{other}} too, to the nanosecond"


def _same_noise(rule: str, what: str, shared: Shared | None) -> Iterator[tuple[str, str, float]]:
    if shared is not None and shared.chance < LEAST_CHANCE:
        words = f"the noise of {what} goes with that of {{other}}: correlation {shared.correlation:.2f} of"
        yield rule, f"{words} {shared.values} values, probability {{chance}}", shared.chance
