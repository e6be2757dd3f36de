"""Does the answer hold that is made of a script's own text? What scripts did to real programs, beside predictions.

Each script was run over a program at work, which counted its events (`proof.py` has the rates from those). Its text is
read as `probe-effect advise` reads it, and nothing else says which costs predict it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probe_effect.answer.advice import ProbeGroup, part_of
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.levels import point
from probe_effect.answer.parts import with_calls
from probe_effect.answer.prediction import multiplied
from probe_effect.answer.proof import LEAST_RATE_HZ, ProgramPair, calls_per_event, in_programs, program_spread
from probe_effect.numbers.once import once
from probe_effect.scripts.kinds import NO_EVENTS
from probe_effect.scripts.script import read_script
from probe_effect.stats import mover
from probe_effect.stats.correlation import kendall
from probe_effect.store.suite_file import script_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.part import Part
    from probe_effect.answer.proof import Spread
    from probe_effect.model import Estimate
    from probe_effect.reduce.submission import Number
    from probe_effect.scripts.script import Script
    from probe_effect.stats.correlation import Correlation
    from probe_effect.store.suite_file import Case, Suite

LANGUAGE = "bpftrace"


@once
def script_pairs(found: Evidence) -> Sequence[ProgramPair]:
    """Every script over a program, in suites whose cases name no other case that they are like.

    What is predicted has how far real programs lie from loops in its interval, as every answer has.
    """
    return [
        pair
        for suite, case in found.cases
        if case.like is None and suite.has_programs and suite.id in found.folders
        for one in in_programs(found, case)
        if one.tracer.startswith(LANGUAGE)
        and (pair := _pair(found, suite, case, one, program_spread(found))) is not None
    ]


def order(some: Sequence[ProgramPair]) -> Correlation | None:
    """How well the order of the predicted slowdowns is that of the measured ones (Kendall's tau); None of too few.

    Only pairs that are distinguishable from 0: the order of the others is noise.
    """
    visible = [one.point for one in some if one.is_visible]
    predicted, measured = (
        np.array([getattr(one, name).value for one in visible]) for name in ("predicted", "measured")
    )
    return kendall(predicted, measured)


def _pair(found: Evidence, suite: Suite, case: Case, measured: Number, apart: Spread | None) -> ProgramPair | None:
    """None where the script's costs are not known on that machine, and where the tracer did not see the program."""
    path = script_path(found.folders[suite.id], case.id, LANGUAGE, level=measured.level)
    if path is None:
        return None
    parts = _parts(found, read_script(path.read_text(encoding="utf-8")), case, measured)
    if not parts:
        return None
    calls = calls_per_event(found, suite, measured)
    cost = _of_one_event(with_calls(parts, calls))
    predicted = point(measured, multiplied(cost, apart.factor) if apart else cost)
    plain = point(measured, _of_one_event(parts))
    if predicted is None or plain is None or plain.rate_hz < LEAST_RATE_HZ:
        return None
    return ProgramPair(measured, predicted, plain)


def _parts(found: Evidence, script: Script, case: Case, measured: Number) -> list[Part]:
    """The script's probes with their costs, at the rate of one event that it counts; none where one is not known.

    Of a pair that times something both ends fire for each event; other probes share the events between them.
    """
    probes = [one for one in script.probes if one.kind not in NO_EVENTS]
    is_timed = any(one.timing for one in probes)
    share = 1.0 if is_timed else 1 / max(1, len(probes))
    groups = [
        ProbeGroup(
            attach=one.attach,
            kind=one.kind,
            mechanism=mechanism_of(case, measured),
            matched=1,
            first_bytes=None,
            actions=one.actions,
            has_filter=one.has_filter and not is_timed,
            unknown=one.unknown,
            rate_hz=share,
        )
        for one in probes
    ]
    parts = [part_of(found, measured.submission.machine, measured.tracer, one) for one in groups]
    known = [one for one in parts if one is not None]
    return known if len(known) == len(parts) else []


def _of_one_event(parts: Sequence[Part]) -> Estimate:
    """What the script costs for each event that it counts, ns."""
    return mover.total([one.cost.times(one.rate_hz) for one in parts])
