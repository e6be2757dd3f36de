"""How far real programs are from loops, for each kind of script; halves of the programs test whether that holds.

Programs take turns in the order of their suite: the first is learnt from, the second tested, and so on. So both halves
have as many programs, whatever they are called, and none is in both. What answers use is learnt from all of them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

from probe_effect.answer.calibrated_proof import calibrated_pairs
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.proof import ProgramPair, Spread, of_events, program_spread, spread
from probe_effect.answer.script_proof import event_probes, script_of, script_pairs
from probe_effect.numbers.once import once
from probe_effect.scripts.tables import PRINT

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
