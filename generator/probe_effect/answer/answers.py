"""From a question to its answer: each probe's cost or why there is none, whose costs they are, and what the probes do
by these, with each machine beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from probe_effect.answer.prediction import Prediction, ProbeLoad, ThreadLoad, expected_loss, predict, together
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.spread import Spread, spread_of
from probe_effect.compare.comparison import Comparison, compare
from probe_effect.costs.actions import Agreement, CompositionKind, agreement, checked, may_pay_at_switches
from probe_effect.costs.evidence import CostKey, Evidence, PublishedCost, Scope, whose
from probe_effect.costs.from_counts import Account, counted_as, models
from probe_effect.costs.instructions import is_in_red_zone
from probe_effect.costs.machine import machine_costs
from probe_effect.costs.row import PLAIN_ACTION, CostRow, RatePoint, line
from probe_effect.costs.table import CostTable, ProbeGroup, cost_table, event, of_machine, with_calls
from probe_effect.model import Estimate, ProbeEffectError
from probe_effect.numbers import names
from probe_effect.numbers.estimates import is_above_0, is_below, multiplied
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.shown import Facts, Likeness, by_likeness, facts_of_submission, likeness
from probe_effect.numbers.submission import Number


def rows_of(table: CostTable, question: Question) -> list[CostRow]:
    """The question's probes by the costs of a table, with what the program's system calls pay.

    Empty where one of the probes has no cost.
    """
    asked = [(table.case(one.case, question.threads), one.rate_hz) for one in question.probes]
    wanted = question.combination
    if wanted is not None:
        actions, frames = (wanted.action,), wanted.frames
        group = ProbeGroup(
            attach=wanted.probe, kind=wanted.probe, mechanism=wanted.mechanism, actions=actions, frames=frames
        )
        asked.append((event(table, group, threads=question.threads), wanted.rate_hz))
    rows = [replace(row, rate_hz=rate_hz) for row, rate_hz in asked if row is not None]
    return with_calls(rows, question.calls_hz) if len(rows) == len(asked) else []


def of_case(found: Evidence, case: str, machine: str, tracer: str) -> CostRow | None:
    """What a machine knows of one case with a tracer: a measured cost only if it is clear."""
    if case not in found.case_of or tracer not in found.by_tracer(machine):
        return None
    row = of_machine(found, machine, tracer).case(case)
    return row if row is not None and (row.is_clear or row.basis != "measured") else None


def _refusal(found: Evidence, question: Question, tracer: str) -> str:
    """Why `question` has no answer with `tracer`, a line for each of its probes that has none."""
    machine = question.machine
    place = f" on {machine}" if machine else ""
    if (wanted := question.combination) is not None:
        return (
            f"{wanted.probe} with {wanted.action}, with {tracer}{place}: no guidance: nobody measured it. Composing it "
            f"takes a measured case of {wanted.probe}, and two of one suite with another probe, with {wanted.action} "
            f"and with that case's action or {PLAIN_ACTION}. `probe-effect suites` lists the cases."
        )
    lines = []
    for case in (one.case for one in question.probes):
        if any((one, tracer, case) in found.costs for one in ([machine] if machine else found.machines)):
            continue
        reasons = {
            why
            for (owner, used, one), why in found.refused.items()
            if (used, one) == (tracer, case) and machine in {None, owner}
        }
        like = next((one.like for _, one in found.cases if one.id == case), None)
        why = f"it is {like} at the levels of a factor, so ask for that" if like else "nobody measured it"
        others = _by_tracer((used, owner) for owner, used, one in found.costs if one == case)
        alone = Question(probes=(ProbeQuestion(case, 0.0),))
        able = _by_tracer(
            (used, owner)
            for owner in (found.machines if found.counts_of(case) else ())
            for used in found.by_tracer(owner)
            if any(row.basis == "estimated" for row in rows_of(of_machine(found, owner, used), alone))
        )
        printed = [f"--machine {owner} --tracer {used}" for owner, used, one in found.printed if one == case]
        sentences = [
            f"{case} with {tracer}{place}: no guidance: {'; '.join(sorted(reasons)) or why}.",
            f"It has guidance with: {others or 'no tracer yet'}.",
            *([f"It can be estimated with: {able}."] if able else []),
            *([f"Others printed its cost: {', '.join(printed)}."] if printed else []),
        ]
        lines.append(" ".join(sentences))
    return "\n".join(lines)


def _by_tracer(known: Iterable[tuple[str, str]]) -> str:
    machines = grouped_by(known, itemgetter(0))
    return "; ".join(f"{tracer} on {', '.join(one for _, one in its)}" for tracer, its in machines.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the probes do on one machine. `load.rate_hz` is the rate of all their events in one thread.

    `cost` is what an event costs in the measured loops; `prediction` holds how far real programs lie from those too,
    where `spreads` tell it of each part.
    """

    facts: Facts
    tracer: str
    parts: tuple[CostRow, ...]
    load: ThreadLoad
    cost: Estimate
    prediction: Prediction
    spreads: tuple[Spread | None, ...]

    @property
    def printed(self) -> PublishedCost | None:
        return self.parts[0].printed

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(machine for part in self.parts for machine in part.machines))

    @property
    def sources(self) -> list[Number]:
        return [source for part in self.parts for source in part.sources]

    @property
    def is_clear(self) -> bool:
        return is_above_0(self.cost) and any(part.is_clear for part in self.parts)

    @property
    def grade(self) -> tuple[str, tuple[str, ...]]:
        """The worst grade among its measurements, and every reason once; empty without measurements of the data."""
        grades = [source.trust for source in self.sources]
        reasons = dict.fromkeys(why for _, whys in grades for why in whys)
        return max((letter for letter, _ in grades), default=""), tuple(reasons)

    @property
    def loss_ratio(self) -> float | None:
        """The share of all events that will be lost; None where nothing tells for one of the parts."""
        if self.load.rate_hz == 0:
            return 0.0
        losses = [(part.rate_hz / self.load.rate_hz, self._loss(part)) for part in self.parts]
        known = [share * loss for share, loss in losses if loss is not None]
        return sum(known) if len(known) == len(losses) else None

    def _loss(self, part: CostRow) -> float | None:
        if part.highest_hz is None:
            return None
        found = [
            expected_loss(self.event_hz(part), one.rate_hz, one.loss_ratio)
            for one in (source.time for source in part.sources)
            if one.rate_hz is not None and one.loss_ratio is not None
        ]
        known = [loss for loss in found if loss is not None]
        return max(known) if known and len(known) == len(part.sources) else None

    def event_hz(self, part: CostRow) -> float:
        whole_hz = self.prediction.event_hz.value
        return whole_hz * part.rate_hz / self.load.rate_hz if self.load.rate_hz else 0.0

    @property
    def is_measured(self) -> bool:
        """Whether times of its probes were measured, whole or in parts; no such forecast is ranked with others."""
        return all(part.is_measured for part in self.parts)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What happens on another machine, and what that machine has in common with the asker's."""

    forecast: Forecast
    likeness: Likeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`headline`: by the costs of the asker's scope. `neighbours`: on each machine, the most like the asker's first.

    The asker's machine is the one that was named, or the one that asks.
    """

    headline: Neighbour
    neighbours: tuple[Neighbour, ...]

    @property
    def comparable(self) -> list[Neighbour]:
        """Neighbours of the asker's tier and instruction set: the measured ones, or else the estimated ones."""
        alike = [one for one in self.neighbours if one.likeness.comparable]
        return [one for one in alike if one.forecast.is_measured] or alike


@dataclass(frozen=True, slots=True)
class Tried:
    """What was measured on a forecast's machine of the model itself.

    `line`: the slowdown of its only probe at other rates; empty where nobody measured it. `combinations`: for each way
    in which its costs were put together, how well that agrees with measured combinations; None where nobody did.
    `accounts`: of each part that is estimated from its instructions, how. `in_red_zone`: those whose call writes there.
    `at_switches`: whether context switches of what is watched may cost something too.
    """

    line: tuple[RatePoint, ...]
    combinations: tuple[tuple[CompositionKind, Agreement | None], ...]
    accounts: tuple[tuple[CostRow, Account], ...]
    in_red_zone: tuple[CostRow, ...]
    at_switches: bool


def answer(found: Evidence, question: Question, here: Facts) -> Answer:
    """The answer for the machine that the question names, or else for `here`.

    Raises: ProbeEffectError when there is no guidance, saying why and what has some.
    """
    scope, all_facts = whose(found, here, question.machine), _facts(found)
    tracer = question.tracer or _usual_tracer(found, question, scope)
    rows = rows_of(cost_table(found, scope, tracer), question)
    if not rows:
        raise ProbeEffectError(_refusal(found, question, tracer))
    is_timed = all(row.is_measured for row in rows)
    forecasts = [
        forecast(own, facts, tracer, question, spreads_of(found, tracer, question, own))
        for machine, facts in all_facts.items()
        if not is_timed or _is_timed(found, question, machine, tracer)
        if (own := rows_of(of_machine(found, machine, tracer), question)) and own[0].printed is None
    ]
    by_machine = {one.facts.machine: one for one in forecasts}
    asker = here if question.machine is None else all_facts.get(question.machine) or _printed_facts(rows)
    ordered = by_likeness(asker, (one.facts for one in forecasts))
    machines = [machine for row in rows for machine in row.machines]
    facts = all_facts[machines[0]] if machines else _printed_facts(rows)
    nearest = next((one for one in ordered if one.machine in machines), None)
    apart = spreads_of(found, tracer, question, rows) if machines else ()
    whole = forecast(rows, facts, tracer, question, apart)
    return Answer(
        headline=Neighbour(whole, nearest or likeness(asker, facts)),
        neighbours=tuple(Neighbour(by_machine[one.machine], one) for one in ordered),
    )


@once
def _facts(found: Evidence) -> dict[str, Facts]:
    return {one: facts_of_submission(found.costs[found.keys_of(one)[0]].submission) for one in found.machines}


def _printed_facts(rows: Sequence[CostRow]) -> Facts:
    return next(row.printed.facts for row in rows if row.printed is not None)


def forecast(
    known: Sequence[CostRow], facts: Facts, tracer: str, question: Question, apart: Sequence[Spread | None] = ()
) -> Forecast:
    """What these probes do together on the machine of `facts`; `apart` is how far programs are from each of them."""
    spreads = tuple(apart) or (None,) * len(known)
    whole = together([ProbeLoad(part.cost, part.rate_hz) for part in known])
    widened = [
        ProbeLoad(multiplied(part.cost, one.factor) if one else part.cost, part.rate_hz)
        for part, one in zip(known, spreads, strict=True)
    ]
    stops = any(part.stops for part in known)
    load = ThreadLoad(rate_hz=whole.rate_hz, threads=question.threads, busy_ratio=question.busy_ratio, stops=stops)
    return Forecast(
        facts=facts,
        tracer=tracer,
        parts=tuple(known),
        load=load,
        cost=whole.cost,
        prediction=predict(together(widened).cost, load),
        spreads=spreads,
    )


def spreads_of(found: Evidence, tracer: str, question: Question, rows: Sequence[CostRow]) -> tuple[Spread | None, ...]:
    """How far real programs are from the prediction of each probe of a question, which has these rows."""
    cases = [found.case_of[one.case] for one in question.probes]
    asked = [(case.probe, case.action) for case in cases]
    asked += [(one.probe, one.action) for one in (question.combination,) if one is not None]
    return tuple(spread_of(found, tracer, probe, [action]) for (probe, action), _ in zip(asked, rows, strict=True))


def tried(found: Evidence, one: Forecast) -> Tried:
    """What measurements say of the ways in which `one` was worked out."""
    machine, (first, *more) = one.facts.machine, one.parts
    is_single = not more and first.basis == "measured"
    known = checked(found, machine)
    done: list[CompositionKind] = ["several probes"] if more else []
    done += ["probe and action"] if any(part.basis == "composed" for part in one.parts) else []
    accounts = [
        (part, models(found).account(machine, counted_as(found, found.case_of[part.counted.case], part.counted)))
        for part in one.parts
        if part.counted is not None
    ]
    return Tried(
        line=tuple(line(found, machine, one.tracer, first.name)) if is_single else (),
        combinations=tuple((kind, agreement(known, kind)) for kind in done),
        accounts=tuple((part, account) for part, account in accounts if account is not None),
        in_red_zone=tuple(
            part
            for part in one.parts
            if any(is_in_red_zone(found.case_of.get(added.case), added) for added in part.added)
        ),
        at_switches=may_pay_at_switches(one.tracer),
    )


def _usual_tracer(found: Evidence, question: Question, scope: Scope) -> str:
    """The tracer with most cases among those that answer the question; the one with most cases if none does."""
    if not found.tracers:
        msg = "nothing has been measured yet that could guide; measure this machine with `probe-effect measure`"
        raise ProbeEffectError(msg)
    usable = []
    for tracer in _tracers(found):
        if rows := rows_of(cost_table(found, scope, tracer), question):
            if all(row.is_measured for row in rows):
                return tracer
            usable.append(tracer)
    return (usable or found.tracers)[0]


def _tracers(found: Evidence) -> Iterator[str]:
    """The tracers that we measured, then those of published figures, which are read only when it comes to them."""
    yield from found.tracers
    yield from dict.fromkeys(tracer for _, tracer, _ in found.printed)


def _is_timed(found: Evidence, question: Question, machine: str, tracer: str) -> bool:
    """Whether a machine has times of all that is asked about; an estimate takes longer than all the rest."""
    wanted = question.combination
    if wanted is not None and not machine_costs(found, machine, tracer).is_timed(wanted.probe):
        return False
    return all((machine, tracer, one.case) in found.costs for one in question.probes)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A measured cost that is lower than the one asked about.

    `comparison`: it against the one asked about. `but`: what it needs or does not tell; None for the same probe and
    action with another tracer.
    """

    measured: Number
    comparison: Comparison
    but: str | None

    @property
    def key(self) -> CostKey:
        return self.measured.submission.machine, self.measured.tracer, self.measured.case


Way = tuple[Alternative, Forecast]
"""An alternative, and what it does under the load that was asked about."""


def alternatives(found: Evidence, key: CostKey) -> list[Alternative]:
    """What costs less than the cost at `key` on its machine: with the same tool first, then by cost."""
    asked = found.costs.get(key)
    if asked is None or not asked.is_clear or not asked.leads:
        return []
    pairs = ((one, but, compare(asked, one)) for one, but in _candidates(found, key))
    lower = [Alternative(one, made, but) for one, but, made in pairs if made.outcome == "lower"]
    tool = names.tool_of(key[1])
    return sorted(lower, key=lambda one: (names.tool_of(one.key[1]) != tool, one.measured.known_cost.value))


def ways(found: Evidence, one: Forecast) -> list[Way]:
    """The alternatives to a forecast of one measured probe, under its load; empty for several probes.

    With several threads costs change by contention, so there only those whose slowdown stays apart.
    """
    (first, *more) = one.parts
    if more or first.basis != "measured":
        return []
    # Of several machines what each of them finds lower, whichever machine the asker's is most like.
    keys = [(machine, one.tracer, first.name) for machine in one.machines]
    lower = [{other.key[1:] for other in alternatives(found, key)} for key in keys if key in found.costs]
    made = []
    for other in alternatives(found, (one.facts.machine, one.tracer, first.name)):
        machine, tracer, case = other.key
        if all((tracer, case) in some for some in lower):
            asked = (ProbeQuestion(case, one.load.rate_hz),)
            question = Question(probes=asked, threads=one.load.threads, busy_ratio=one.load.busy_ratio)
            rows = rows_of(of_machine(found, machine, tracer), question)
            under_load = forecast(rows, one.facts, tracer, question, spreads_of(found, tracer, question, rows))
            made.append((other, under_load))
    return [way for way in made if one.load.threads == 1 or is_below(way[1].cost, one.cost)]


def _candidates(found: Evidence, key: CostKey) -> Iterator[tuple[Number, str | None]]:
    """What answers the same question on the same machine, with what is to be said of it.

    Of the same case each tool with the lowest cost of its versions. Of each other case one: with the tracer asked
    about, or else another version of that tool, or else the tracer that costs least.
    """
    machine, tracer, case_id = key

    def distance(one: Number) -> tuple[bool, bool, float]:
        return one.tracer != tracer, names.tool_of(one.tracer) != names.tool_of(tracer), one.known_cost.value

    same = [one for used, one in found.with_tracers(machine, case_id).items() if used != tracer and one.leads]
    for tool in dict.fromkeys(names.tool_of(one.tracer) for one in same):
        of_tool = (one for one in same if names.tool_of(one.tracer) == tool)
        yield min(of_tool, key=lambda one: one.known_cost.value), None
    for other in found.case_of[case_id].instead:
        with_tracers = found.with_tracers(machine, other.case)
        fitting = (one for used, one in with_tracers.items() if other.tracer in (None, names.tool_of(used)))
        measured = [one for one in fitting if one.leads]
        if measured:
            yield min(measured, key=distance), other.but
