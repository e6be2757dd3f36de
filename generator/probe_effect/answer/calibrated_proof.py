"""Does a cost hold that was measured in a loop of ours on the same machine?

Where a suite runs scripts over programs, each script was timed in a loop before its runs (`calibration.csv`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median, quantiles

from probe_effect.answer.proof import ProgramPair, calls_per_event, in_programs, pair_of
from probe_effect.answer.script_proof import cost_on, event_probes, script_of
from probe_effect.costs.added import EntryPath, point
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import WIDEST_RATIO
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.reduce.submission import Number
from probe_effect.scripts.script import ScriptProbe
from probe_effect.stats import estimates
from probe_effect.store.further_tables import ProbeCalibration
from probe_effect.store.suite_file import Case, Suite

FEWEST_TIMES = 10
"""Of fewer, how far costs of other machines are says too little."""

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
    if len(times) < FEWEST_TIMES:
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
