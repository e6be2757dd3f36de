"""A machine over time: each run of a suite against the runs before it, apart by what else had changed meanwhile.

Only where nothing known had changed is a difference the machine's own. Where kernel, microcode, tool or suite became
another, the difference may be theirs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from probe_effect.compare.comparison import Comparison, since
from probe_effect.numbers.once import grouped_by
from probe_effect.reduce.submission import Number, Submission


class RunChange(NamedTuple):
    """A change between two runs: its subject, the old value and the new; None where it is not recorded."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class History:
    """The runs of one suite on one machine, the first at the beginning, each compared with the runs before it.

    `alike`: where nothing known had changed; `changed`: the rest, by what had.
    """

    runs: tuple[Submission, ...]
    alike: tuple[Comparison, ...]
    changed: dict[tuple[RunChange, ...], tuple[Comparison, ...]]

    @property
    def comparisons(self) -> list[Comparison]:
        """All comparisons of the history."""
        return [*self.alike, *chain.from_iterable(self.changed.values())]


def histories(submissions: Sequence[Submission]) -> dict[str, History]:
    """Suite id to its history, for each suite of which a machine has two timed runs or more that can be compared."""
    timed = (one for one in submissions if one.metric == "time")
    suites = grouped_by(sorted(timed, key=attrgetter("suite", "started", "id")), attrgetter("suite"))
    found = {suite: _history(runs) for suite, runs in suites.items() if len(runs) > 1}
    return {suite: one for suite, one in found.items() if any(pair.reason is None for pair in one.comparisons)}


def same_machine(machine: str, machines: Mapping[str, Sequence[Submission]]) -> list[Submission]:
    """All runs of a machine, also those that it has under other ids because its kernel or microcode changed.

    Only machines of the project's fleet have a name that outlives them. Facts cannot tell: virtual machines that are
    of one name differ several times in what a tracepoint costs.
    """
    own = _fleet_names(machines[machine])
    others = (runs for other, runs in machines.items() if other != machine and own & _fleet_names(runs))
    return [*machines[machine], *chain.from_iterable(others)]


def changes(found: Comparison) -> tuple[RunChange, ...]:
    """The recorded changes between the runs of two numbers."""
    sides = zip(_facts(found.first), _facts(found.second), strict=True)
    return tuple(RunChange(what, before, after) for (what, before), (_, after) in sides if before != after)


def _history(runs: Sequence[Submission]) -> History:
    by_change = grouped_by(chain.from_iterable(since(one, runs) for one in runs), changes)
    alike = tuple(by_change.pop((), ()))
    return History(tuple(runs), alike, {change: tuple(found) for change, found in by_change.items()})


def _fleet_names(runs: Iterable[Submission]) -> set[str]:
    found = (one.document.provenance for one in runs)
    return {one.fleet_name for one in found if one.kind == "project" and one.fleet_name is not None}


def _facts(one: Number) -> Iterator[tuple[str, str | None]]:
    """The facts that a cost depends on beside the machine, in the order of sentences."""
    document = one.submission.document
    yield "the kernel", document.system.kernel_release
    yield "the microcode", document.machine.microcode
    yield f"the version of {one.tracer}", document.tools.get(one.tracer)
    yield "the version of the suite", str(document.run.suite_version)
