"""Does a cost hold that was measured in a loop of ours on the same machine; and how far programs are from loops.

Where a suite runs scripts over programs, each script was timed in a loop before its runs (`calibration.csv`).

Programs take turns in the order of their suite: the first is learnt from, the second tested, and so on. So both halves
have as many programs, whatever they are called, and none is in both. What answers use is learnt from all of them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median, quantiles
from typing import Literal, get_args

from probe_effect.answer.proof import (
    FEWEST_PAIRS,
    ProgramPair,
    Spread,
    calls_per_event,
    in_programs,
    of_events,
    pair_of,
    program_spread,
    spread,
)
from probe_effect.answer.script_proof import cost_on, event_probes, script_of, script_pairs
from probe_effect.costs.added import EntryPath, point
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import WIDEST_RATIO
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.reduce.submission import Number
from probe_effect.scripts.form import PRINT
from probe_effect.scripts.script import ScriptProbe
from probe_effect.stats import estimates
from probe_effect.store.further_tables import ProbeCalibration
from probe_effect.store.suite_file import Case, Suite

ON_CALL = re.compile(r"tracepoint:(?:raw_)?syscalls:sys_(?:enter|exit)([\w*]*)")
"""Attach points on system calls, with the name of the call."""


@once
def calibrated_pairs(found: Evidence) -> Sequence[ProgramPair]:
    """Every script over a program that was timed in a loop before its runs."""
    return [
        pair
        for suite, case in found.cases
        if suite.has_programs
        for one in in_programs(found, case)
        if (pair := _pair(found, suite, case, one)) is not None
    ]


def times_of_others(found: Evidence) -> Estimate | None:
    """How far slowdowns by costs timed beside the programs are from those by costs of other machines, as a ratio.

    The median of all scripts, programs and other machines, and ends between which four in five are; None of too few. A
    prediction so wide that `advise` would pass over its cost is no answer, and does not count.
    """
    times = [times for pair in calibrated_pairs(found) for times in _times(found, pair)]
    if len(times) < FEWEST_PAIRS:
        return None
    tenths = quantiles(times, n=10, method="inclusive")
    return Estimate(median(times), tenths[0], tenths[-1])


def _times(found: Evidence, pair: ProgramPair) -> Iterator[float]:
    measured = pair.measured
    suite, case = found.of[measured.case]
    script = script_of(found, suite, measured)
    machines = [one for one in found.machines if one != measured.submission.machine]
    costs = [cost_on(found, one, script, case, measured) for one in machines] if script else []
    for other in (point(measured, one) for one in costs if one):
        if other and (other.predicted.high or 0.0) < WIDEST_RATIO * (other.predicted.low or 0.0):
            yield pair.plain.predicted.value / other.predicted.value


def _pair(found: Evidence, suite: Suite, case: Case, measured: Number) -> ProgramPair | None:
    rows = measured.submission.calibration
    own = rows.get(measured.key) or rows.get(measured.key._replace(level=None)) or ()
    script = script_of(found, suite, measured) if own else None
    if script is None:
        return None
    probes, share = event_probes(script, case)
    costs = [cost for one in probes if (cost := _cost(one, own)) is not None]
    if not costs or len(costs) < len(probes):
        return None
    plain = estimates.total([cost.times(share) for cost in costs])
    call, calls = own[0].call, calls_per_event(found, suite, measured)
    cost = plain
    if call is not None and calls is not None:
        cost = EntryPath(call, measured, _own_calls(probes) * share).moved(plain, calls)
    return pair_of(measured, cost, plain)


def _cost(probe: ScriptProbe, rows: Sequence[ProbeCalibration]) -> Estimate | None:
    """What one event costs, ns; of a probe that fires in several ways, what stands for any of them."""
    costs = [row.cost for row in rows if row.probe == probe.attach and row.cost is not None]
    return estimates.spanning(costs) if costs else None


def _own_calls(probes: Sequence[ScriptProbe]) -> float:
    """How many system calls the costs of all probes include: each its own, and both ends of a call together one."""
    of_call = [call[1] for one in probes if (call := ON_CALL.fullmatch(one.attach))]
    together = Counter(of_call)
    return sum(1 / together[call] for call in of_call)


ScriptKind = Literal["plain", "process", "stack", "print"]
"""What a script does that programs may bear otherwise than loops do; `plain`: count, store and filter."""

KINDS: tuple[ScriptKind, ...] = get_args(ScriptKind)
"""Of a script with probes of several kinds the last one counts."""

ON_PROCESSES = re.compile(
    r"""(?:sched:sched_(?:process_\w+|switch|wakeup\w*|waking)|task:task_newtask
    |syscalls:sys_(?:enter|exit)_(?:clone3?|v?fork|execve(?:at)?|exit(?:_group)?)
    |(?:software|s):(?:cs|context-switches|cpu-migrations))(?::\d+)?$""",
    re.VERBOSE,
)


FEWEST_OF_KIND = 6
"""Of fewer pairs of one kind nothing is learnt, and of half as many nothing that is tested."""


@dataclass(frozen=True, slots=True)
class KindSpread:
    """How far programs are from loops, by the visible pairs of one kind of script.

    `source`: the kind that it is from; `all` where that has too few pairs. `tested`: visible pairs of one half of the
    programs, and `inside_ratio` the share of these that the factor of the other half contains; None where a half has
    too few.
    """

    spread: Spread
    source: str
    tested: int
    inside_ratio: float | None


def kind_of_script(attach: str, actions: Sequence[str]) -> ScriptKind:
    """The kind of a script by one of its probes: what it prints or which stacks it takes comes before where it is."""
    if PRINT in actions:
        return "print"
    if any("stack" in action for action in actions):
        return "stack"
    return "process" if ON_PROCESSES.search(attach) else "plain"


def spread_of(found: Evidence, actions: Sequence[str], attach: str, basis: str) -> Spread | None:
    """How far programs are from what a loop predicts of a probe; None where too few programs were traced.

    `basis`: of its cost; `calibrated` was measured in a loop on the same machine.
    """
    kind = kind_of_script(attach, actions)
    known = spread_by_kind(found, is_calibrated=True).get(kind) if basis == "calibrated" else None
    return known.spread if known else program_spread(found)


@once
def spread_by_kind(found: Evidence, *, is_calibrated: bool) -> Mapping[ScriptKind, KindSpread]:
    """Each kind to its spread, for costs measured in a loop beside the programs or for those of the machine's suites.

    A kind with too few visible pairs has the spread of all kinds. Nothing where even these are too few.
    """
    of_basis = calibrated_pairs(found) if is_calibrated else [*of_events(found), *script_pairs(found)]
    visible = [(_kind(found, one), one) for one in of_basis if one.is_visible and one.ratio is not None]
    made: dict[ScriptKind, KindSpread] = {}
    every = [one for _, one in visible]
    for kind, source in product(KINDS, (True, False)):
        own = [one for one_kind, one in visible if one_kind == kind or not source]
        if kind not in made and (known := spread(own, FEWEST_OF_KIND, every)) is not None:
            half = spread([one for one in own if is_learnt_from(found, one)], FEWEST_OF_KIND // 2, every)
            tested = [one for one in own if half is not None and not is_learnt_from(found, one)]
            share = sum(map(half.contains, tested)) / len(tested) if half is not None and tested else None
            made[kind] = KindSpread(known, kind if source else "all", len(tested), share)
    return made


def is_learnt_from(found: Evidence, pair: ProgramPair) -> bool:
    """Whether the program of a pair is of the half that spreads are learnt from."""
    return pair.measured.level in found.of[pair.measured.case][0].levels[::2]


def _kind(found: Evidence, pair: ProgramPair) -> ScriptKind:
    """By the probes of its script; of a tool without one by the action of its case."""
    suite, case = found.of[pair.measured.case]
    script = script_of(found, suite, pair.measured)
    probes = [(one.attach, one.actions) for one in event_probes(script, case)[0]] if script else [("", [case.action])]
    kinds = {kind_of_script(attach, actions) for attach, actions in probes}
    return next(kind for kind in reversed(KINDS) if kind in kinds)
