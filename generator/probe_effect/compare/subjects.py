"""The machines that readers compare, the one most like a new submission's, and a machine over time.

Only where nothing known had changed is a difference the machine's own. Where kernel, microcode, tool or suite became
another, the difference may be theirs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from probe_effect.compare.comparison import Comparison, Side, between, since
from probe_effect.compare.kernels import architecture_order, counted, release_order
from probe_effect.model import Metric
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import Numbers, grouped_by
from probe_effect.numbers.names import machine_name, tool, tracer_name
from probe_effect.numbers.shown import MOST_MACHINES, Likeness, by_likeness, facts_of_submission, shown_machines
from probe_effect.numbers.submission import Number, Submission


@dataclass(frozen=True)
class MeasuredMachine(Side):
    """A machine with a cost, by its id; `label` is its short name. Its submissions are newest first."""

    metric: Metric
    label: str

    @property
    def architecture(self) -> str:
        return self.submissions[0].architecture

    @cached_property
    def every(self) -> list[Number]:
        """The machine's current costs, by case, then those of every submission, newest first; each once."""
        older = (number for run in self.submissions for number in run.numbers if number.cost is not None)
        return list(dict.fromkeys((*self.numbers.values(), *older)))

    @cached_property
    def tools(self) -> dict[str, str]:
        """Tracer to its name with its newest version here; the tracer with most costs first."""
        tracers = [tracer for tracer, _ in Counter(number.tracer for number in self.every).most_common()]
        versions = {number.tracer: number.tool_version for number in reversed(self.every) if number.tool_version}
        named = {tracer: tool(tracer, versions.get(tracer)) for tracer in tracers}
        often = Counter(named.values())
        return {tracer: name if often[name] == 1 else tracer_name(tracer) for tracer, name in named.items()}


def subjects(catalogue: Catalogue) -> list[MeasuredMachine]:
    """The timed machines, as they ran last, then the counting ones, x86-64 and the oldest kernel first."""
    others = {folder.suite.id for folder in catalogue.suites if not folder.suite.result_type.guides}

    def made(metric: Metric) -> list[MeasuredMachine]:
        machines = catalogue.numbers.machines(metric).items()
        costs = {name: tuple(run for run in runs if run.suite not in others) for name, runs in machines}
        each = (MeasuredMachine(name, own, metric, machine_name(own[0])) for name, own in costs.items() if own)
        return [machine for machine in each if machine.numbers]

    def kernel_order(machine: MeasuredMachine) -> tuple[object, ...]:
        release = machine.submissions[0].document.system.kernel_release
        return architecture_order(machine.architecture), release_order(release)

    return [*made("time"), *sorted(made("instructions"), key=kernel_order)]


def offered(machines: Sequence[MeasuredMachine], catalogue: Catalogue) -> list[MeasuredMachine]:
    """The timed machines that pages show, the home machine first, and the newest kernels of each architecture."""
    timed = {machine.name: machine for machine in machines if machine.metric == "time"}
    current = {submission.machine for submission in counted(catalogue)}
    counts = (machine for machine in machines if machine.metric == "instructions" and machine.name in current)
    counting = grouped_by(counts, lambda machine: machine.architecture)
    newest = [machine for some in counting.values() for machine in some[-(MOST_MACHINES // len(counting)) :]]
    return [*(timed[name] for name in shown_machines(catalogue.numbers) if name in timed), *newest]


class Nearest(NamedTuple):
    """A machine with its newest submission, and each case that it has in common with the given one, compared."""

    likeness: Likeness
    newest: Submission
    comparisons: tuple[Comparison, ...]


def nearest(new: Submission, submissions: Iterable[Submission]) -> Nearest | None:
    """The most alike of the machines of `submissions`; None where none holds what `new` holds, times or instructions.

    One that may be compared and has a case in common comes before one that is more alike and has not.
    """
    machines, own, first = of_kind(new, submissions), Side(new.id, (new,)), None
    for likeness in by_likeness(facts_of_submission(new), [facts_of_submission(runs[0]) for runs in machines.values()]):
        runs = machines[likeness.machine]
        comparisons = between(Side(likeness.machine, tuple(runs)), own) if likeness.comparable else ()
        nearest = Nearest(likeness, runs[0], tuple(comparisons))
        if comparisons:
            return nearest
        first = first or nearest
    return first


def of_kind(new: Submission, submissions: Iterable[Submission]) -> dict[str, list[Submission]]:
    """Machine to its submissions that hold what `new` holds, newest first; `new` itself left out."""
    return Numbers(submission for submission in submissions if submission.id != new.id).machines(new.metric)


class RunChange(NamedTuple):
    """A change between two runs: its subject, the old value and the new; None where it is not recorded."""

    what: str
    before: str | None
    after: str | None


class History(NamedTuple):
    """The runs of one suite on one machine, the first at the beginning, each compared with the runs before it.

    `alike`: where nothing known had changed; `changed`: the rest, by what had.
    """

    runs: tuple[Submission, ...]
    alike: tuple[Comparison, ...]
    changed: dict[tuple[RunChange, ...], tuple[Comparison, ...]]

    @property
    def comparisons(self) -> list[Comparison]:
        return [*self.alike, *chain.from_iterable(self.changed.values())]


def histories(submissions: Sequence[Submission], spread: float | None) -> dict[str, History]:
    """Suite id to its history, for each suite of which a machine has two timed runs or more that can be compared."""
    timed = (submission for submission in submissions if submission.metric == "time")
    suites = grouped_by(sorted(timed, key=attrgetter("suite", "started", "id")), attrgetter("suite"))
    made = {}
    for suite, runs in suites.items():
        by_change = grouped_by(chain.from_iterable(since(run, runs, spread) for run in runs), changes)
        alike = tuple(by_change.pop((), ()))
        history = History(tuple(runs), alike, {change: tuple(pairs) for change, pairs in by_change.items()})
        if any(pair.reason is None for pair in history.comparisons):
            made[suite] = history
    return made


def changes(comparison: Comparison) -> tuple[RunChange, ...]:
    """The recorded changes between the runs of two numbers."""
    sides = zip(_facts(comparison.first), _facts(comparison.second), strict=True)
    return tuple(RunChange(what, before, after) for (what, before), (_, after) in sides if before != after)


def _facts(number: Number) -> Iterator[tuple[str, str | None]]:
    """What a cost depends on beside the machine, in the order of sentences."""
    document = number.submission.document
    yield "the kernel", document.system.kernel_release
    yield "the microcode", document.machine.microcode
    yield f"the version of {number.tracer}", document.tools.get(number.tracer)
    yield "the version of the suite", str(document.run.suite_version)


def same_machine(machine: str, machines: Mapping[str, Sequence[Submission]]) -> list[Submission]:
    """All runs of a machine, also those that it has under other ids because its kernel or microcode changed.

    Only machines of the project's fleet have a name that outlives them. Facts cannot tell: virtual machines that are
    of one name differ several times in what a tracepoint costs.
    """

    def fleet_names(runs: Iterable[Submission]) -> set[str]:
        origins = (run.document.provenance for run in runs)
        return {origin.fleet_name for origin in origins if origin.kind == "project" and origin.fleet_name is not None}

    own = fleet_names(machines[machine])
    others = (runs for other, runs in machines.items() if other != machine and own & fleet_names(runs))
    return [*machines[machine], *chain.from_iterable(others)]
