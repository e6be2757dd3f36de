"""What the page `/compare/` works with: an index of its subjects, and a file for each of them.

A subject is one machine with one tracer. Two of different machines share no block, so the page works their difference
out itself (`site/assets/js/comparison.js`, the twin of `guidance.comparison` and `guidance.instruction_change`). Two of
one machine often do, and then the interval of the difference takes the raw rows, which only this side has: it is made
here.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from probe_effect.guidance import comparison, instruction_change
from probe_effect.guidance.catalogue import MeasuredSubmission
from probe_effect.guidance.citation import Edition, Subject, cite
from probe_effect.guidance.comparison import Measurement, Side
from probe_effect.guidance.instruction_change import Counted, CountedSide
from probe_effect.guidance.kernels import release_order
from probe_effect.guidance.names import release_series, tier, tool
from probe_effect.model import Interval, Spread
from probe_effect.pages import instructions, traits, wording
from probe_effect.pages.comparison import machine_label, words_of_outcomes
from probe_effect.pages.results import reference_submission
from probe_effect.store.tables import FORMULA_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission
    from probe_effect.model import Metric

One = Measurement | Counted
Pair = tuple[One, One, Interval | None]
"""Two of one machine, and the difference over the blocks that both have; None where they have none."""

INDEX = "index.json"

CITED_TITLE, CITED_ADDRESS = "@title@", "@address@"
"""What the page puts into a citation of the reader's view."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What was measured on one machine, newest first: times, or counted instructions."""

    id: str
    side: Side | CountedSide

    @property
    def metric(self) -> Metric:
        """What it holds."""
        return "time" if isinstance(self.side, Side) else "instructions"

    def every(self) -> list[One]:
        """Each cost of each submission, newest first."""
        if isinstance(self.side, Side):
            timed = (Measurement(one, case) for one in self.side.submissions for case in one.summary.cases)
            return [one for one in timed if one.case.cost is not None]
        counted = (Counted(one, case) for one in self.side.submissions for case in one.summary.cases)
        return [one for one in counted if one.case.cost_instructions is not None]

    def tracers(self) -> list[str]:
        """Those with most costs first."""
        return [tracer for tracer, _ in Counter(one.case.tracer for one in self.every()).most_common()]

    def pairs(self, first: str, second: str) -> list[Pair]:
        """Every case and level that it has with both tracers; from one submission where one has both."""
        if isinstance(self.side, Side):
            found = comparison.between_tracers(self.side, first, second)
            return [(one.first, one.second, one.difference if one.is_paired else None) for one in found]
        changes = instruction_change.changes_of_tracers(self.side, first, second)
        return [(one.first, one.second, None) for one in changes]


def shards(catalogue: Catalogue) -> dict[str, str]:
    """File name below `/data/compare/` to its JSON."""
    machines = subjects(catalogue)
    files = {
        shard_name(machine.id, tracer): _json(_shard(machine, tracer))
        for machine in machines
        for tracer in machine.tracers()
    }
    return {INDEX: _json(_index(catalogue, machines)), **files}


def shard_name(machine: str, tracer: str) -> str:
    """The file of a subject; no id has two hyphens in a row."""
    return f"{machine}--{tracer}.json"


def subjects(catalogue: Catalogue) -> list[Machine]:
    """Machines with a cost: those whose times were measured, then those that count, the oldest kernel first."""
    starts = {folder.suite.id for folder in catalogue.suites if folder.suite.measures == "start"}
    timed = [
        Machine(machine, Side(machine, tuple(one for one in submissions if one.summary.suite not in starts)))
        for machine, submissions in catalogue.machines().items()
    ]
    return [machine for machine in (*timed, *_counting(catalogue, starts)) if machine.every()]


def _counting(catalogue: Catalogue, without: Iterable[str]) -> list[Machine]:
    found: dict[str, list[CountedSubmission]] = {}
    for one in sorted(catalogue.counted, key=lambda one: one.document.run.started, reverse=True):
        if one.summary.suite not in without:
            found.setdefault(one.summary.machine, []).append(one)
    by_kernel = sorted(found.items(), key=lambda item: release_order(item[1][0].document.system.kernel_release))
    return [Machine(machine, CountedSide(machine, tuple(submissions))) for machine, submissions in by_kernel]


def view_citation(path: Literal["explore", "compare"], edition: Edition) -> dict[str, str]:
    """A citation of one view of a page, with places for its title and its whole address."""
    made = cite(Subject(path, CITED_TITLE, CITED_ADDRESS), Edition(edition.version, ""))
    return {"text": made.text, "bibtex": made.bibtex}


def _index(catalogue: Catalogue, machines: Sequence[Machine]) -> dict[str, Any]:
    return {
        "version": catalogue.version,
        "cite": view_citation("compare", catalogue.edition),
        "words": {"time": words_of_outcomes(), "instructions": instructions.words_of_outcomes()},
        "unclear": wording.UNCLEAR,
        "formula": FORMULA_START.pattern,
        "titles": catalogue.titles(),
        "machines": [_machine(one, label) for one, label in labelled(machines)],
        "first": _first_choice(catalogue, machines),
    }


def labelled(machines: Iterable[Machine]) -> list[tuple[Machine, str]]:
    """Each machine with what sentences call it: one that counts by its kernel alone, where no other has that."""
    found = [(one, _label(one)) for one in machines]
    times = Counter(label for _, label in found)
    return [(one, f"{label} ({one.id.rpartition('-')[2]})" if times[label] > 1 else label) for one, label in found]


def _label(one: Machine) -> str:
    newest = one.side.submissions[0]
    if isinstance(newest, MeasuredSubmission):
        return machine_label(newest)
    return f"Linux {release_series(newest.document.system.kernel_release)}"


def _machine(one: Machine, label: str) -> dict[str, Any]:
    return {
        "id": one.id,
        "metric": one.metric,
        "label": label,
        "tier": tier(one.side.submissions[0].document.machine, one.metric),
        "tracers": [[tracer, _tools(one, tracer)] for tracer in one.tracers()],
    }


def _tools(machine: Machine, tracer: str) -> str:
    """The tracer with its version on that machine, the newest where it had several."""
    versions = (one.submission.document.tools.get(tracer) for one in machine.every() if one.case.tracer == tracer)
    return tool(tracer, next(filter(None, versions), None))


def _first_choice(catalogue: Catalogue, machines: Sequence[Machine]) -> dict[Metric, list[str]]:
    """The sides that the page begins with: two tracers of the reference machine; one tracer on two kernels."""
    reference = reference_submission(catalogue)
    found: dict[Metric, list[str]] = {}
    for machine in machines:
        if reference and machine.id == reference.summary.machine and machine.metric == "time":
            found["time"] = [f"{machine.id}:{tracer}" for tracer in machine.tracers()[:2]]
    if counting := [machine for machine in machines if machine.metric == "instructions"]:
        tracer = counting[0].tracers()[0]
        found["instructions"] = [f"{machine.id}:{tracer}" for machine in (counting[0], counting[-1])]
    return found


def _shard(machine: Machine, tracer: str) -> dict[str, Any]:
    every = machine.every()
    own = [one for one in every if one.case.tracer == tracer]
    of_run: dict[str, One] = {}
    for one in own:
        of_run.setdefault(one.submission.summary.id, one)
    runs = list(of_run)
    return {
        "machine": machine.id,
        "tracer": tracer,
        "metric": machine.metric,
        "runs": [{"id": run, "traits": traits.of_side([one])} for run, one in of_run.items()],
        "numbers": [_number(one, runs) for one in own],
        "beside": {other: found for other in machine.tracers() if (found := _beside(machine, every, tracer, other))},
    }


def _beside(machine: Machine, every: Sequence[One], tracer: str, other: str) -> list[list[Any]]:
    """For each pair the places of both in their files, and the difference where it is that of common blocks."""
    if tracer == other:
        return []
    places: dict[int, int] = {}
    for name in (tracer, other):
        own = [one for one in every if one.case.tracer == name]
        places |= {id(one.case): place for place, one in enumerate(own)}
    return [
        [places[id(first.case)], places[id(second.case)], difference and _ends(difference)]
        for first, second, difference in machine.pairs(tracer, other)
    ]


def _number(one: One, runs: Sequence[str]) -> dict[str, Any]:
    """One cost with all that the comparison of it asks for; ns per event, or instructions per event."""
    found = {"case": one.case.case, "level": one.case.level, "run": runs.index(one.submission.summary.id)}
    if isinstance(one, Counted):
        untraced = one.case.baseline_instructions
        return found | {
            "cost": _spread(one.case.cost_instructions),
            "untraced": untraced and untraced.median,
            "faults": instruction_change.faults(one),
        }
    return found | {
        "cost": _ends(one.case.cost),
        "floor": one.case.noise_floor_ns,
        "clear": one.case.distinguishable,
        "faults": comparison.faults(one),
    }


def _ends(found: Interval | None) -> list[float | None]:
    return [] if found is None else [found.value, found.low, found.high]


def _spread(found: Spread | None) -> list[float]:
    return [] if found is None else [found.median, found.least, found.greatest]


def _json(found: object) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
