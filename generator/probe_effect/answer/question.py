"""What is asked: cases or one probe, how often they fire, and of whom; and what people ask in their own words.

A command line that starts a standard tool is read as a script with the same probes. Of a tool whose command lines are
not read, `other_tools.toml` has what is known of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from probe_effect import units
from probe_effect.answer.proof import calls_per_event
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.questions import of_all_machines, question
from probe_effect.costs.row import Basis, CostRow, RatePoint, point
from probe_effect.costs.table import ProbeGroup, event, of_machine, with_calls
from probe_effect.model import Estimate, UsageError, unknown
from probe_effect.numbers import estimates
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.names import machine_name
from probe_effect.numbers.submission import Number, slowdown_at
from probe_effect.records import beside
from probe_effect.scripts.clauses import matches_many
from probe_effect.scripts.commands import command_name
from probe_effect.scripts.form import NO_EVENTS
from probe_effect.scripts.script import Script, ScriptProbe
from probe_effect.store.transcripts import StandardTool, ToolPackage

GROUPED = r"[0-9]{1,3}(?:[, \u00a0\u202f][0-9]{3})+"
"""A number as people type it or copy it from these pages: `300,000`, `300 000`."""

RATE = re.compile(rf"((?:{GROUPED}|[0-9]+(?:_[0-9]+)*)(?:\.[0-9]+)?(?:e[+-]?[0-9]{{1,2}})?)[ \u00a0]?([kKMG]?)(?:/s)?")
UNCLEAR = re.compile(r"([1-9][0-9]{0,2})\.[0-9]{3}(?:/s)?")
"""`50.000`: fifty to one half of the world, and fifty thousand to the other."""

PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(%?)")


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """A case, and how many of its events happen per second in each thread."""

    case: str
    rate_hz: float


@dataclass(frozen=True, slots=True)
class Combination:
    """A kind of probe with an action, and how many events happen per second in each thread.

    `mechanism`: what the kernel does at the probe, such as `stepped` for a user probe; `frames`: how deep the stack is
    that a sample finds. None where nobody says.
    """

    probe: str
    action: str
    rate_hz: float
    mechanism: str | None = None
    frames: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Cases or one combination; None for a tracer or a machine that guidance is to choose.

    `calls_hz`: system calls of each thread per second, traced or not; None where the asker does not know.
    """

    probes: tuple[ProbeQuestion, ...] = ()
    combination: Combination | None = None
    tracer: str | None = None
    machine: str | None = None
    threads: int = 1
    busy_ratio: float = 1.0
    calls_hz: float | None = None


def rate_from(text: str) -> float:
    """Events per second as people write them: `50k`, `1.5M`, `200`, `1e5`, `50_000`, `300,000`. Raises: UsageError."""
    if unclear := UNCLEAR.fullmatch(text.strip()):
        before = unclear[1]
        raise UsageError(f"rate {text!r}: {before} or {before} thousand events per second? Write {before} or {before}k")
    match = RATE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"rate {text!r}: expected events per second, such as 50k, 1.5M, 200, 1e5 or 50_000")
    return float(re.sub(r"[_, \u00a0\u202f]", "", match[1])) * PREFIXES[match[2]]


def share_from(text: str) -> float:
    """A share of time as a ratio: `40%` and `0.4` are 0.4. Raises: UsageError, for a bare number above 1 too."""
    match = SHARE.fullmatch(text.strip())
    value = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < value <= 1:
        raise UsageError(f"share {text!r}: expected more than 0 % and at most 100 %, such as 40% or 0.4")
    return value


def asked_from(text: str, rate_hz: float | None) -> ProbeQuestion:
    """A case with its own rate after `@`, or else with `rate_hz`. Raises: UsageError where neither is given."""
    case, has_own, own = text.partition("@")
    if has_own:
        return ProbeQuestion(case, rate_from(own))
    if rate_hz is None:
        msg = f"case {case}: expected a rate, found none; give --rate 50k, or the case's own: --case {case}@50k"
        raise UsageError(msg)
    return ProbeQuestion(case, rate_hz)


QUESTIONS: dict[str, dict[str, str]] = beside(__file__, "asking")
"""By group, in the order in which they are offered: what somebody wants to see, to its script; the first is preset."""

ANY_THREAD = 0
"""The id of a thread that stands for any: no thread has it."""


def groups(script: Script) -> list[ProbeGroup]:
    """The probes of a script that threads fire, without a system to find them on: only a sampler has a rate."""
    return [
        replace(
            ProbeGroup.of(probe),
            matched=None if matches_many(probe.attach) else 1,
            rate_hz=probe.hz,
            rates_hz=None if probe.hz is None else {ANY_THREAD: probe.hz},
        )
        for probe in script.probes
        if probe.kind not in NO_EVENTS
    ]


def tracer_of(costs: Evidence, script: Script, named: str | None) -> str:
    """The tracer that runs the script, as the data calls it where it was measured. Raises: UsageError for a name."""
    usual = script.tracer
    if named is not None:
        unknown([named], [*costs.tracers, usual], "tracer")
        return named
    fitting = [tracer for tracer in costs.tracers if tracer == usual or tracer.startswith(f"{usual}-")]
    return usual if usual in fitting or not fitting else fitting[0]


CLOCKED = frozenset({"interval", "profile"})
"""Kinds that a clock fires, at the tool's own rate, whatever programs do."""

RETURNS = frozenset({"tracepoint-return", "kretprobe", "uretprobe", "fexit"})
"""Kinds that an event passes at its end, unless the script says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCost:
    """A tool on one machine.

    `cost`: ns an event, with every action that a condition may lead to; None where `missing` has kinds of probe of
    which no cost is known there, and where only a clock fires it. `basis`: the weakest of its parts'. `notes`: what
    was assumed. `points`: the tool in real programs, with the slowdown that its rate times that cost predicts.
    """

    tool: StandardTool
    cost: Estimate | None = None
    basis: Basis | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[tuple[Number, RatePoint], ...] = ()

    @property
    def is_clocked(self) -> bool:
        return all(probe.kind in CLOCKED for probe in self.tool.probes)

    @property
    def usual_slowdown(self) -> Estimate | None:
        """The slowdown of a thread that makes all events of the greatest usual rate; None without a stated rate."""
        rate_hz = self.tool.usual_to_hz
        return None if self.cost is None or rate_hz is None else slowdown_at(self.cost, rate_hz)


ENDINGS = (".bt", "-bpfcc", "-perf")
"""What packages add to the names of tools, without which people call them."""


def tool_script(text: str, packages: Sequence[ToolPackage]) -> Script | None:
    """A standard tool that a command line starts, as a script; None for any other text.

    Raises: ScriptError where a quote is never closed.
    """
    return tool_scripts(packages).get(command_name(text))


def tool_scripts(packages: Sequence[ToolPackage]) -> dict[str, Script]:
    """Each name by which a tool with probes is started, its own or without its ending, to its script."""
    tools = [(tool, package) for package in packages for tool in package.tools if tool.probes]
    full = {tool.name: _script(tool, tool.tracer or package.tracer) for tool, package in tools}
    bare = {
        name.removesuffix(ending): script
        for name, script in reversed(full.items())
        for ending in ENDINGS
        if name.endswith(ending)
    }
    return bare | full


def _script(tool: StandardTool, tracer: str) -> Script:
    probes = tuple(
        ScriptProbe(
            attach=f"{tool.name}: {', '.join(probe.attach)}",
            kind=probe.kind,
            actions=probe.actions,
            has_filter=probe.filter,
            timing=probe.timing,
            unknown=probe.unknown,
        )
        for probe in tool.probes
    )
    return Script(language="tool", tracer=tracer, text=tool.name, probes=probes)


def tool_costs(evidence: Evidence, machine: str, package: ToolPackage) -> list[ToolCost]:
    return [_tool_cost(evidence, machine, package, tool) for tool in package.tools]


def best_machine(evidence: Evidence, packages: Sequence[ToolPackage], machines: Sequence[str]) -> str | None:
    """The machine with costs for most tools; of several, the one that measured most of them, then the first."""

    def known(machine: str) -> tuple[int, int]:
        costs = [tool_cost for package in packages for tool_cost in tool_costs(evidence, machine, package)]
        return sum(tool_cost.cost is not None for tool_cost in costs), sum(len(tool_cost.points) for tool_cost in costs)

    return max(machines, key=known, default=None)


def _tool_cost(evidence: Evidence, machine: str, package: ToolPackage, tool: StandardTool) -> ToolCost:
    tracer = tool.tracer or package.tracer
    table, sides = of_machine(evidence, machine, tracer), dict[bool, list[CostRow]]()
    missing = []
    for group in tool.probes:
        if group.kind in CLOCKED:
            continue
        part = event(
            table,
            ProbeGroup(attach=tool.name, kind=group.kind, actions=group.actions, unknown=group.unknown, rate_hz=1.0),
        )
        if part is None:
            missing.append(group.kind)
        else:
            is_end = group.timing == "end" or (group.timing is None and group.kind in RETURNS)
            sides.setdefault(is_end, []).append(part)
    if missing or not sides:
        return ToolCost(tool=tool, missing=tuple(dict.fromkeys(missing)))
    # Of either side the most expensive, because a tool may watch several kinds of event, and one event is of one kind.
    highest = [max(parts, key=lambda row: row.cost.value) for parts in sides.values()]
    # The weakest: a sum is composed at best, and costs that stand in for another tool's are estimates.
    order: tuple[Basis, ...] = get_args(Basis)
    least: Basis = "estimated" if package.stands_in else "composed" if len(highest) > 1 else "measured"

    def together(calls: float | None) -> Estimate:
        """The cost of an event, ns; several probes on system calls share the longer way into the kernel."""
        return estimates.total([row.cost for row in with_calls(highest, calls)])

    points: list[tuple[Number, RatePoint | None]] = []
    if tool.case:
        suite, _ = evidence.of[tool.case]
        in_programs = evidence.by_level.get((machine, tracer, tool.case), {}).values()
        points = [(number, point(number, together(calls_per_event(evidence, suite, number)))) for number in in_programs]
    return ToolCost(
        tool=tool,
        cost=together(None),
        basis=max([least, *(row.basis for row in highest)], key=order.index),
        notes=tuple(dict.fromkeys(row.note for row in highest if row.note)),
        points=tuple((number, predicted) for number, predicted in points if predicted is not None),
    )


OTHER_TOOLS: dict[str, dict[str, str]] = {
    command: record
    for name, record in beside(__file__, "other_tools").items()
    for command in (name, *record.get("names", ()))
}
"""Each name of a command to its tool's record: `tracer`, `case` and `event`, or what to ask `instead`."""


def what_is_known(catalogue: Catalogue, name: str) -> str | None:
    """What is known of a tool whose command lines are not read, as one sentence; None of any other name."""
    tool = OTHER_TOOLS.get(name)
    if tool is None:
        return None
    if "instead" in tool:
        return f"{name}: its command lines are not read, and no cost of it was measured; {tool['instead']}"
    asked = question(catalogue, f"{tool['tracer']}.{tool['case']}")
    machine_range = asked and of_all_machines(catalogue, asked)
    if not machine_range:
        return f"{name}: its command lines are not read, and the data have no cost of {tool['event']}"
    cost = units.interval(machine_range.time, units.DURATION)
    where = (
        machine_name(machine_range.replies[0].number.submission) if machine_range.machines == 1 else machine_range.words
    )
    return f"{name}: {cost} for {tool['event']}, measured on {where}; its command lines are not read"
