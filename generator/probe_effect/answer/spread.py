"""How far real programs are from the prediction: one table with a row for each kind of script, for all answers.

A pair is one program under one probe or script, with what the machine's own costs with the same tracer predict. Every
pair with a prediction is in its row, whether its slowdown is clear or not, as surely as its intervals say
(`numbers/estimates.py`). What has no prediction is named, with the reason.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple, get_args

from probe_effect.answer import proof
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import SAMPLED
from probe_effect.model import Estimate
from probe_effect.numbers.estimates import multiplied, next_ratio
from probe_effect.numbers.index import once
from probe_effect.numbers.submission import Number
from probe_effect.records import TOOLS, known_tool
from probe_effect.scripts.form import PRINT
from probe_effect.store.suite_file import Case, Suite

ScriptKind = Literal["plain", "stack", "print", "stop", "sample"]
"""What a script does that programs may bear otherwise than loops do; `plain`: count, store and filter."""

KINDS: tuple[ScriptKind, ...] = get_args(ScriptKind)
"""Of a script with probes of several kinds the last one counts."""

STOPPING = tuple(tool.name for tool in TOOLS.values() if tool.stops_at_events)
"""The tools that stop the program at each event."""

SPREAD_SHARE = 0.8
"""The share of programs that a spread is to contain."""

FEWEST_PAIRS = 6
"""A kind with fewer pairs that tell has the spread of all pairs together."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One program under one probe that is in no row, and why."""

    measured: Number
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Measured over predicted slowdown of one kind of script: the median of programs, and the range of four in five.

    What the errors of the measurements explain is not in it. `pairs` have a prediction, of `measured` ones; `clear` of
    them show a slowdown that is no noise. They are from so many `machines`. `is_own`: whether the ratio is that of the
    kind and not of all kinds together.
    """

    kind: ScriptKind
    measured: int
    pairs: int
    clear: int
    machines: int
    ratio: Estimate
    is_own: bool = True

    @property
    def factor(self) -> Estimate:
        """What to multiply a cost with, so that slowdowns predicted with it contain those of four in five programs."""
        return _factor(self.ratio)


class Coverage(NamedTuple):
    """How many pairs were `tested`, all that tell, and the share inside the interval of their answer; None of none."""

    tested: int
    inside_ratio: float | None


def kind_of(tracer: str, probe: str, actions: Iterable[str]) -> ScriptKind:
    tool, done = known_tool(tracer), list(actions)
    if probe == SAMPLED:
        return "sample"
    if tool is not None and tool.stops_at_events:
        return "stop"
    if PRINT in done:
        return "print"
    return "stack" if any("stack" in action for action in done) else "plain"


@once
def program_runs(evidence: Evidence) -> Sequence[tuple[ScriptKind, proof.ProgramPair | LeftOut]]:
    return [
        (_kind(evidence, suite, case, number), _run(evidence, suite, case, number))
        for suite, case in evidence.cases
        if suite.has_programs
        for number in proof.in_programs(evidence, case)
    ]


def _kind(evidence: Evidence, suite: Suite, case: Case, measured: Number) -> ScriptKind:
    """The kind of script, by its probes; of a tool without a script, by the probe and the action of its case."""
    script = proof.script_of(evidence, suite, measured)
    probes = [(probe.kind, probe.actions) for probe in proof.event_probes(script, case)[0]] if script else []
    kinds = {kind_of(measured.tracer, *probe) for probe in probes or [(case.probe, (case.action,))]}
    return max(kinds, key=KINDS.index)


def _run(evidence: Evidence, suite: Suite, case: Case, measured: Number) -> proof.ProgramPair | LeftOut:
    if case.counted_by == "nothing":
        return LeftOut(measured, "no event of it is counted, so there is no rate to predict from")
    if measured.has_losses:
        return LeftOut(measured, "events were lost, and a lost event costs less")
    costs = (proof.of_like if case.like else proof.of_script)(evidence, suite, case, measured)
    if costs is None:
        why = f"the cost of its probe and action with {measured.tracer} is not known on that machine"
        return LeftOut(measured, why)
    not_seen = "the tracer saw hardly an event of the program, or the slowdown has no interval"
    return proof.pair_of(measured, *costs) or LeftOut(measured, not_seen)


def program_pairs(evidence: Evidence, *kinds: ScriptKind) -> list[proof.ProgramPair]:
    return [
        run
        for kind, run in program_runs(evidence)
        if isinstance(run, proof.ProgramPair) and (not kinds or kind in kinds)
    ]


def left_out(evidence: Evidence) -> list[LeftOut]:
    return [run for _, run in program_runs(evidence) if isinstance(run, LeftOut)]


@once
def spreads(evidence: Evidence) -> Mapping[ScriptKind, Spread]:
    """The table: each kind of script with its row; empty where too few programs were traced for any."""
    rows = json.loads(evidence.keep("answer", lambda: json.dumps(list(map(asdict, _spreads(evidence)))).encode()))
    return {row["kind"]: Spread(**row | {"ratio": Estimate(*row["ratio"])}) for row in rows}


def spread_of(evidence: Evidence, tracer: str, probe: str, actions: Iterable[str]) -> Spread | None:
    """The row for a probe with its actions; None where too few programs were traced."""
    return spreads(evidence).get(kind_of(tracer, probe, actions))


def coverage(evidence: Evidence, kind: ScriptKind) -> Coverage:
    """How often the interval of an answer contains the slowdown of a program that its spread was not learnt from."""
    row = spreads(evidence)[kind]
    pairs = program_pairs(evidence, *([kind] if row.is_own else []))
    tested = [pair for pair in program_pairs(evidence, kind) if pair.is_telling]
    inside = []
    for program in dict.fromkeys(pair.measured.level for pair in tested):
        factor = _factor(_ratio([pair for pair in pairs if pair.measured.level != program]))
        for pair in (pair for pair in tested if pair.measured.level == program):
            _, low, high = multiplied(pair.point.predicted, factor)
            inside.append(low is not None and high is not None and low <= pair.point.measured.value <= high)
    return Coverage(len(tested), proof.share(inside))


def _factor(ratio: Estimate) -> Estimate:
    """A ratio around 1: the value stays rate times cost."""
    value, low, high = ratio
    return Estimate(1.0, min(1.0, value if low is None else low), max(1.0, value if high is None else high))


def _spreads(evidence: Evidence) -> Iterable[Spread]:
    every = program_pairs(evidence)
    if sum(pair.is_telling for pair in every) < FEWEST_PAIRS:
        return
    for kind in KINDS:
        pairs = program_pairs(evidence, kind)
        is_own = sum(pair.is_telling for pair in pairs) >= FEWEST_PAIRS
        yield Spread(
            kind=kind,
            measured=sum(its == kind for its, _ in program_runs(evidence)),
            pairs=len(pairs),
            clear=sum(pair.is_visible for pair in pairs),
            machines=len({pair.measured.submission.machine for pair in pairs}),
            ratio=_ratio(pairs if is_own else every),
            is_own=is_own,
        )


def _ratio(pairs: Iterable[proof.ProgramPair]) -> Estimate:
    return next_ratio([ratio for pair in pairs if (ratio := pair.measured_ratio) is not None], SPREAD_SHARE)
