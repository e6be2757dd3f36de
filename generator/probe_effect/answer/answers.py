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
from probe_effect.model import Estimate, ProbeEffectError, UsageError
from probe_effect.numbers import names
from probe_effect.numbers.estimates import is_above_0, is_below, multiplied
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.shown import Facts, Likeness, by_likeness, facts_of_submission, likeness
from probe_effect.numbers.submission import Number


def rows_of(table: CostTable, question: Question) -> list[CostRow]:
    """The question's probes by the costs of a table, with what the program's system calls pay.

    Empty where one of the probes has no cost. Raises: UsageError for fewer system calls than events on them.
    """
    asked = [(table.case(probe.case, question.threads), probe.rate_hz) for probe in question.probes]
    wanted = question.combination
    if wanted is not None:
        actions, frames = (wanted.action,), wanted.frames
        group = ProbeGroup(
            attach=wanted.probe, kind=wanted.probe, mechanism=wanted.mechanism, actions=actions, frames=frames
        )
        asked.append((event(table, group, threads=question.threads), wanted.rate_hz))
    rows = [replace(row, rate_hz=rate_hz) for row, rate_hz in asked if row is not None]
    least_hz = max((row.rate_hz for row in rows if row.path), default=0.0)
    if question.calls_hz is not None and question.calls_hz < least_hz:
        msg = f"--calls {question.calls_hz:g}: expected at least {least_hz:g}, because each such event is a system call"
        raise UsageError(msg)
    return with_calls(rows, question.calls_hz) if len(rows) == len(asked) else []


def of_case(evidence: Evidence, case: str, machine: str, tracer: str) -> CostRow | None:
    """What a machine knows of one case with a tracer: a measured cost only if it is clear."""
    if case not in evidence.case_of or tracer not in evidence.by_tracer(machine):
        return None
    row = of_machine(evidence, machine, tracer).case(case)
    return row if row is not None and (row.is_clear or row.basis != "measured") else None


def _refusal(evidence: Evidence, question: Question, tracer: str) -> str:
    """Why `question` has no answer with `tracer`, a line for each of its probes that has none."""
    machine = question.machine
    where = f" on {machine}" if machine else ""
    if (wanted := question.combination) is not None:
        return (
            f"{wanted.probe} with {wanted.action}, with {tracer}{where}: no guidance: nobody measured it. Composing it "
            f"takes a measured case of {wanted.probe}, and two of one suite with another probe, with {wanted.action} "
            f"and with that case's action or {PLAIN_ACTION}. `probe-effect suites` lists the cases."
        )
    lines = []
    for case in (probe.case for probe in question.probes):
        if any(
            (candidate, tracer, case) in evidence.costs for candidate in ([machine] if machine else evidence.machines)
        ):
            continue
        reasons = {
            why
            for (owner, used, case_id), why in evidence.refused.items()
            if (used, case_id) == (tracer, case) and machine in {None, owner}
        }
        like = next((suite_case.like for _, suite_case in evidence.cases if suite_case.id == case), None)
        why = f"it is {like} at the levels of a factor, so ask for that" if like else "nobody measured it"
        others = _by_tracer((used, owner) for owner, used, case_id in evidence.costs if case_id == case)
        alone = Question(probes=(ProbeQuestion(case, 0.0),))
        able = _by_tracer(
            (used, owner)
            for owner in (evidence.machines if evidence.counts_of(case) else ())
            for used in evidence.by_tracer(owner)
            if any(row.basis == "estimated" for row in rows_of(of_machine(evidence, owner, used), alone))
        )
        printed = [f"--machine {owner} --tracer {used}" for owner, used, case_id in evidence.printed if case_id == case]
        sentences = [
            f"{case} with {tracer}{where}: no guidance: {'; '.join(sorted(reasons)) or why}.",
            f"It has guidance with: {others or 'no tracer yet'}.",
            *([f"It can be estimated with: {able}."] if able else []),
            *([f"Others printed its cost: {', '.join(printed)}."] if printed else []),
        ]
        lines.append(" ".join(sentences))
    return "\n".join(lines)


def _by_tracer(pairs: Iterable[tuple[str, str]]) -> str:
    machines = grouped_by(pairs, itemgetter(0))
    return "; ".join(f"{tracer} on {', '.join(machine for _, machine in its)}" for tracer, its in machines.items())


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
        shares = [share * loss for share, loss in losses if loss is not None]
        return sum(shares) if len(shares) == len(losses) else None

    def _loss(self, part: CostRow) -> float | None:
        if part.highest_hz is None:
            return None
        expected_losses = [
            expected_loss(self.event_hz(part), time.rate_hz, time.loss_ratio)
            for time in (source.time for source in part.sources)
            if time.rate_hz is not None and time.loss_ratio is not None
        ]
        losses = [loss for loss in expected_losses if loss is not None]
        return max(losses) if losses and len(losses) == len(part.sources) else None

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
        alike = [neighbour for neighbour in self.neighbours if neighbour.likeness.comparable]
        return [neighbour for neighbour in alike if neighbour.forecast.is_measured] or alike


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


def answer(evidence: Evidence, question: Question, here: Facts) -> Answer:
    """The answer for the machine that the question names, or else for `here`.

    Raises: ProbeEffectError when there is no guidance, saying why and what has some.
    """
    scope, all_facts = whose(evidence, here, question.machine), _facts(evidence)
    tracer = question.tracer or _usual_tracer(evidence, question, scope)
    rows = rows_of(cost_table(evidence, scope, tracer), question)
    if not rows:
        raise ProbeEffectError(_refusal(evidence, question, tracer))
    is_timed = all(row.is_measured for row in rows)
    forecasts = [
        forecast(own, facts, tracer, question, spreads_of(evidence, tracer, question, own))
        for machine, facts in all_facts.items()
        if not is_timed or _is_timed(evidence, question, machine, tracer)
        if (own := rows_of(of_machine(evidence, machine, tracer), question)) and own[0].printed is None
    ]
    by_machine = {machine_forecast.facts.machine: machine_forecast for machine_forecast in forecasts}
    asker = here if question.machine is None else all_facts.get(question.machine) or _printed_facts(rows)
    ordered = by_likeness(asker, (machine_forecast.facts for machine_forecast in forecasts))
    machines = [machine for row in rows for machine in row.machines]
    facts = all_facts[machines[0]] if machines else _printed_facts(rows)
    nearest = next((machine_likeness for machine_likeness in ordered if machine_likeness.machine in machines), None)
    apart = spreads_of(evidence, tracer, question, rows) if machines else ()
    whole = forecast(rows, facts, tracer, question, apart)
    return Answer(
        headline=Neighbour(whole, nearest or likeness(asker, facts)),
        neighbours=tuple(
            Neighbour(by_machine[machine_likeness.machine], machine_likeness) for machine_likeness in ordered
        ),
    )


@once
def _facts(evidence: Evidence) -> dict[str, Facts]:
    return {
        machine: facts_of_submission(evidence.costs[evidence.keys_of(machine)[0]].submission)
        for machine in evidence.machines
    }


def _printed_facts(rows: Sequence[CostRow]) -> Facts:
    return next(row.printed.facts for row in rows if row.printed is not None)


def forecast(
    rows: Sequence[CostRow], facts: Facts, tracer: str, question: Question, apart: Sequence[Spread | None] = ()
) -> Forecast:
    """What these probes do together on the machine of `facts`; `apart` is how far programs are from each of them."""
    spreads = tuple(apart) or (None,) * len(rows)
    whole = together([ProbeLoad(part.cost, part.rate_hz) for part in rows])
    widened = [
        ProbeLoad(multiplied(part.cost, spread.factor) if spread else part.cost, part.rate_hz)
        for part, spread in zip(rows, spreads, strict=True)
    ]
    stops = any(part.stops for part in rows)
    load = ThreadLoad(rate_hz=whole.rate_hz, threads=question.threads, busy_ratio=question.busy_ratio, stops=stops)
    return Forecast(
        facts=facts,
        tracer=tracer,
        parts=tuple(rows),
        load=load,
        cost=whole.cost,
        prediction=predict(together(widened).cost, load),
        spreads=spreads,
    )


def spreads_of(
    evidence: Evidence, tracer: str, question: Question, rows: Sequence[CostRow]
) -> tuple[Spread | None, ...]:
    """How far real programs are from the prediction of each probe of a question, which has these rows."""
    cases = [evidence.case_of[asked_probe.case] for asked_probe in question.probes]
    asked = [(case.probe, case.action) for case in cases]
    asked += [
        (combination.probe, combination.action) for combination in (question.combination,) if combination is not None
    ]
    return tuple(spread_of(evidence, tracer, probe, [action]) for (probe, action), _ in zip(asked, rows, strict=True))


def tried(evidence: Evidence, tried_forecast: Forecast) -> Tried:
    """What measurements say of the ways in which `tried_forecast` was worked out."""
    machine, (first, *more) = tried_forecast.facts.machine, tried_forecast.parts
    is_single = not more and first.basis == "measured"
    checks = checked(evidence, machine)
    done: list[CompositionKind] = ["several probes"] if more else []
    done += ["probe and action"] if any(part.basis == "composed" for part in tried_forecast.parts) else []
    accounts = [
        (
            part,
            models(evidence).account(machine, counted_as(evidence, evidence.case_of[part.counted.case], part.counted)),
        )
        for part in tried_forecast.parts
        if part.counted is not None
    ]
    return Tried(
        line=tuple(line(evidence, machine, tried_forecast.tracer, first.name)) if is_single else (),
        combinations=tuple((kind, agreement(checks, kind)) for kind in done),
        accounts=tuple((part, account) for part, account in accounts if account is not None),
        in_red_zone=tuple(
            part
            for part in tried_forecast.parts
            if any(is_in_red_zone(evidence.case_of.get(added.case), added) for added in part.added)
        ),
        at_switches=may_pay_at_switches(tried_forecast.tracer),
    )


def _usual_tracer(evidence: Evidence, question: Question, scope: Scope) -> str:
    """The tracer with most cases among those that answer the question; the one with most cases if none does."""
    if not evidence.tracers:
        msg = "nothing has been measured yet that could guide; measure this machine with `probe-effect measure`"
        raise ProbeEffectError(msg)
    usable = []
    for tracer in _tracers(evidence):
        if rows := rows_of(cost_table(evidence, scope, tracer), question):
            if all(row.is_measured for row in rows):
                return tracer
            usable.append(tracer)
    return (usable or evidence.tracers)[0]


def _tracers(evidence: Evidence) -> Iterator[str]:
    """The tracers that we measured, then those of published figures, which are read only when it comes to them."""
    yield from evidence.tracers
    yield from dict.fromkeys(tracer for _, tracer, _ in evidence.printed)


def _is_timed(evidence: Evidence, question: Question, machine: str, tracer: str) -> bool:
    """Whether a machine has times of all that is asked about; an estimate takes longer than all the rest."""
    wanted = question.combination
    if wanted is not None and not machine_costs(evidence, machine, tracer).is_timed(wanted.probe):
        return False
    return all((machine, tracer, probe.case) in evidence.costs for probe in question.probes)


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


def alternatives(evidence: Evidence, key: CostKey) -> list[Alternative]:
    """What costs less than the cost at `key` on its machine: with the same tool first, then by cost."""
    asked = evidence.costs.get(key)
    if asked is None or not asked.is_clear or not asked.leads:
        return []
    pairs = ((number, but, compare(asked, number)) for number, but in _candidates(evidence, key))
    lower = [Alternative(number, made, but) for number, but, made in pairs if made.outcome == "lower"]
    tool = names.tool_of(key[1])
    return sorted(
        lower,
        key=lambda alternative: (names.tool_of(alternative.key[1]) != tool, alternative.measured.known_cost.value),
    )


def ways(evidence: Evidence, asked_forecast: Forecast) -> list[Way]:
    """The alternatives to a forecast of one measured probe, under its load; empty for several probes.

    With several threads costs change by contention, so there only those whose slowdown stays apart.
    """
    (first, *more) = asked_forecast.parts
    if more or first.basis != "measured":
        return []
    # Of several machines what each of them finds lower, whichever machine the asker's is most like.
    keys = [(machine, asked_forecast.tracer, first.name) for machine in asked_forecast.machines]
    lower = [{other.key[1:] for other in alternatives(evidence, key)} for key in keys if key in evidence.costs]
    made = []
    for other in alternatives(evidence, (asked_forecast.facts.machine, asked_forecast.tracer, first.name)):
        machine, tracer, case = other.key
        if all((tracer, case) in some for some in lower):
            asked = (ProbeQuestion(case, asked_forecast.load.rate_hz),)
            question = Question(
                probes=asked, threads=asked_forecast.load.threads, busy_ratio=asked_forecast.load.busy_ratio
            )
            rows = rows_of(of_machine(evidence, machine, tracer), question)
            under_load = forecast(
                rows, asked_forecast.facts, tracer, question, spreads_of(evidence, tracer, question, rows)
            )
            made.append((other, under_load))
    return [way for way in made if asked_forecast.load.threads == 1 or is_below(way[1].cost, asked_forecast.cost)]


def _candidates(evidence: Evidence, key: CostKey) -> Iterator[tuple[Number, str | None]]:
    """What answers the same question on the same machine, with what is to be said of it.

    Of the same case each tool with the lowest cost of its versions. Of each other case one: with the tracer asked
    about, or else another version of that tool, or else the tracer that costs least.
    """
    machine, tracer, case_id = key

    def distance(number: Number) -> tuple[bool, bool, float]:
        return number.tracer != tracer, names.tool_of(number.tracer) != names.tool_of(tracer), number.known_cost.value

    same = [
        number for used, number in evidence.with_tracers(machine, case_id).items() if used != tracer and number.leads
    ]
    for tool in dict.fromkeys(names.tool_of(number.tracer) for number in same):
        of_tool = (number for number in same if names.tool_of(number.tracer) == tool)
        yield min(of_tool, key=lambda number: number.known_cost.value), None
    for other in evidence.case_of[case_id].instead:
        with_tracers = evidence.with_tracers(machine, other.case)
        fitting = (number for used, number in with_tracers.items() if other.tracer in (None, names.tool_of(used)))
        measured = [number for number in fitting if number.leads]
        if measured:
            yield min(measured, key=distance), other.but
