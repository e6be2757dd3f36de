"""Does the answer hold that is made of a script's own text? What scripts did to real programs, beside predictions.

Each script was run over a program at work, which counted its events (`proof.py` has the rates from those). Its text is
read as `probe-effect advise` reads it, and nothing else says which costs predict it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from probe_effect.answer.proof import ProgramPair, calls_per_event
from probe_effect.costs.event import ProbeGroup, event, with_calls
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.first_instruction import mechanism_of
from probe_effect.costs.row import CostRow
from probe_effect.costs.table import of_machine
from probe_effect.model import Estimate
from probe_effect.reduce.submission import Number
from probe_effect.scripts.form import NO_EVENTS, PRINT
from probe_effect.scripts.script import Script, ScriptProbe, read_script
from probe_effect.stats import estimates
from probe_effect.stats.trends import Correlation, kendall
from probe_effect.store.suite_file import Case, Suite, script_path
from probe_effect.tools.record import known_tool

PROGRAMMED = ("bpftrace", "d")
"""The languages of programs; every other is one of command lines, of which a suite has the words after the command."""


def order(some: Sequence[ProgramPair]) -> Correlation | None:
    """How well the order of the predicted slowdowns is that of the measured ones (Kendall's tau); None of too few.

    Only pairs that are distinguishable from 0: the order of the others is noise.
    """
    visible = [one.point for one in some if one.is_visible]
    return kendall(
        np.array([one.predicted.value for one in visible]), np.array([one.measured.value for one in visible])
    )


def of_script(found: Evidence, suite: Suite, case: Case, measured: Number) -> tuple[Estimate, Estimate] | None:
    """What one event costs in a program, ns, and without its other system calls, from what the case does alone.

    That is in the text of its script or in its command line. None where the machine's costs with that tracer do not
    tell it.
    """
    script, machine = script_of(found, suite, measured), measured.submission.machine
    parts = _parts(found, machine, script, case, measured) if script else []
    if not parts or not all(one.leads for one in parts):
        return None
    return _of_one_event(with_calls(parts, calls_per_event(found, suite, measured))), _of_one_event(parts)


def event_probes(script: Script, case: Case) -> tuple[list[ScriptProbe], float]:
    """The probes that events fire, and how often each fires for one event that the script counts.

    Of a pair that times something both ends fire for each event; other probes share the events between them. Where
    lines are counted, only probes that print share them, and each other probe is taken to fire once for each line.
    """
    probes = [one for one in script.probes if one.kind not in NO_EVENTS]
    counting = [one for one in probes if case.counted_by != "lines" or PRINT in one.actions]
    return probes, 1.0 if any(one.timing for one in probes) else 1 / max(1, len(counting))


def script_of(found: Evidence, suite: Suite, measured: Number) -> Script | None:
    """The script, or the command line, that ran over a program; None of a tool of which none is here or can be read."""
    tool, folder = known_tool(measured.tracer), found.folders.get(suite.id)
    if folder is None or tool is None or tool.language is None:
        return None
    path = script_path(folder, measured.case, tool.name, level=measured.level)
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    if tool.language in PROGRAMMED:
        return read_script(text)
    words = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    cpu = " 0" if words.endswith("-C") else ""  # as the process, it is named when the tool is started
    return read_script(f"{tool.commands[0]} -p 1 {words}{cpu}")


def cost_on(found: Evidence, machine: str, script: Script, case: Case, measured: Number) -> Estimate | None:
    """What a script that ran over a program costs for each event on another machine, ns, without other system calls."""
    parts = _parts(found, machine, script, case, measured)
    return _of_one_event(parts) if parts else None


def _parts(found: Evidence, machine: str, script: Script, case: Case, measured: Number) -> list[CostRow]:
    """The script's probes with a machine's costs, at the rate of one event that it counts; none if one is not known."""
    probes, share = event_probes(script, case)
    is_timed = any(one.timing for one in probes)
    groups = [
        replace(
            ProbeGroup.of(one),
            mechanism=mechanism_of(case, measured),
            has_filter=one.has_filter and not is_timed,
            rate_hz=share,
        )
        for one in probes
    ]
    table = of_machine(found, machine, measured.tracer)
    parts = [event(table, one) for one in groups]
    known = [one for one in parts if one is not None]
    return known if len(known) == len(parts) else []


def _of_one_event(parts: Sequence[CostRow]) -> Estimate:
    """What the script costs for each event that it counts, ns."""
    return estimates.total([one.cost.times(one.rate_hz) for one in parts])
