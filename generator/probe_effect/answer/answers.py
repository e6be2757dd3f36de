"""From a question to its answer: which machine stands for the asker's, and what the probes do there.

The figures of an answer are those of the asker's machine where it was measured or named, and else the range over all
machines of its kind (`part.py`); those of each machine are beside them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from probe_effect.answer.added import RatePoint, line
from probe_effect.answer.composition import Agreement, CompositionKind, agreement, checked
from probe_effect.answer.depth import may_pay_at_switches
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.first_instruction import is_in_red_zone
from probe_effect.answer.from_counts import Account, counted_as, models
from probe_effect.answer.part import Part, over_machines
from probe_effect.answer.parts import parts, plain_parts, refusal, with_calls
from probe_effect.answer.prediction import (
    Prediction,
    ProbeLoad,
    ThreadLoad,
    expected_loss,
    multiplied,
    predict,
    together,
)
from probe_effect.answer.proof import Spread, program_spread
from probe_effect.answer.published import PublishedCost
from probe_effect.answer.question import Question
from probe_effect.answer.setup import setup
from probe_effect.errors import ProbeEffectError
from probe_effect.model import Estimate
from probe_effect.numbers.likeness import Facts, Likeness, by_likeness, facts_of_submission
from probe_effect.reduce.submission import Number
from probe_effect.stats.estimates import is_above_0
from probe_effect.store.machine_file import MachineFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the probes do on one machine. `load.rate_hz` is the rate of all their events in one thread.

    `cost` is what an event costs in the measured loops; `prediction` holds how far real programs lie from those too,
    where `spread` tells it.
    """

    facts: Facts
    tracer: str
    parts: tuple[Part, ...]
    load: ThreadLoad
    cost: Estimate
    prediction: Prediction
    spread: Spread | None

    @property
    def printed(self) -> PublishedCost | None:
        """What others printed, where it is of that."""
        return self.parts[0].printed

    @property
    def machines(self) -> tuple[str, ...]:
        """Those whose range it is; empty of a forecast for one machine."""
        return tuple(dict.fromkeys(machine for part in self.parts for machine in part.machines))

    @property
    def document(self) -> MachineFile | None:
        """What its machine was, at its first measurement; None where no part is from the data's measurements."""
        return next((source.submission.document for source in self.sources), None)

    @property
    def sources(self) -> list[Number]:
        """Every measurement that it rests on."""
        return [source for part in self.parts for source in part.sources]

    @property
    def is_clear(self) -> bool:
        """Whether its slowdown is distinguishable from 0."""
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

    def event_hz(self, part: Part) -> float:
        """Events per second of one part that happen while traced, over all threads."""
        whole_hz = self.prediction.event_hz.value
        return whole_hz * part.rate_hz / self.load.rate_hz if self.load.rate_hz else 0.0

    @property
    def is_measured(self) -> bool:
        """Whether times of its probes were measured, whole or in parts; no such forecast is ranked with others."""
        return all(part.is_measured for part in self.parts)

    def _loss(self, part: Part) -> float | None:
        if part.highest_hz is None:
            return None
        found = [
            expected_loss(self.event_hz(part), one.rate_hz, one.loss_ratio)
            for one in part.sources
            if one.rate_hz is not None and one.loss_ratio is not None
        ]
        known = [loss for loss in found if loss is not None]
        return max(known) if known and len(known) == len(part.sources) else None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What happens on another machine, and what that machine has in common with the asker's."""

    forecast: Forecast
    likeness: Likeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`asker`: the machine that was named, or the one that asks. `neighbours`: the most like it first.

    `over`: the range over those that are comparable; None for fewer than two.
    """

    asker: Facts
    neighbours: tuple[Neighbour, ...]
    over: Forecast | None = None

    @property
    def headline(self) -> Neighbour | None:
        """The asker's machine, or else the range over those that are comparable; None without any."""
        nearest = next(iter(self.comparable), None)
        if nearest is None or self.over is None or nearest.likeness.is_same:
            return nearest
        return Neighbour(self.over, nearest.likeness)

    @property
    def comparable(self) -> list[Neighbour]:
        """Those of the asker's tier and instruction set; where some were measured, none that are estimated."""
        alike = [one for one in self.neighbours if one.likeness.comparable]
        return [one for one in alike if one.forecast.is_measured] or alike


@dataclass(frozen=True, slots=True)
class Tried:
    """What was measured on a forecast's machine of the model itself.

    `line`: the slowdown of its only probe at other rates; empty where nobody measured it. `combinations`: for each way
    in which its costs were put together, how well that agrees with measured combinations; None where nobody did.
    `accounts`: of each part that is estimated from its instructions, how. `in_red_zone`: those whose call writes there.
    `at_switches`: whether context switches of what is sampled may cost something too.
    """

    line: tuple[RatePoint, ...]
    combinations: tuple[tuple[CompositionKind, Agreement | None], ...]
    accounts: tuple[tuple[Part, Account], ...] = ()
    in_red_zone: tuple[Part, ...] = ()
    at_switches: bool = False


def answer(found: Evidence, question: Question, here: Facts) -> Answer:
    """The answer for the machine that the question names, or else for `here`.

    Raises: ProbeEffectError when there is no guidance, saying why and what has some; UsageError for a combination that
        several cases measure.
    """
    tracer = question.tracer or _usual_tracer(found, question)
    # An estimate is asked for only where it is the answer: on every machine it takes longer than all the rest.
    timed = [one for one in found.machines if _is_timed(found, question, one, tracer)]
    said = _answer(_forecasts(found, question, tracer, timed), question, here)
    if said is None or not any(one.forecast.is_measured for one in said.comparable):
        said = _answer(_forecasts(found, question, tracer, found.machines), question, here)
    if said is None:
        raise ProbeEffectError(refusal(found, question, tracer))
    return replace(said, over=_over(found, question, tracer, said))


def _over(found: Evidence, question: Question, tracer: str, said: Answer) -> Forecast | None:
    """The forecast of the range over the comparable machines: of each probe by itself, as of a script's probes."""
    machines = [one.forecast.facts.machine for one in said.comparable]
    if len(machines) < 2:
        return None
    on_each = [plain_parts(found, question, machine, tracer) for machine in machines]
    known = [
        part
        for some in zip(*on_each, strict=True)
        if (part := over_machines(zip(machines, some, strict=True))) is not None
    ]
    median = next(one.forecast.facts for one in said.comparable if one.forecast.facts.machine == known[0].machines[0])
    whole = with_calls(known, question.calls_hz)
    return forecast(whole, median, tracer, question, program_spread(found))


def _answer(forecasts: Iterable[Forecast], question: Question, here: Facts) -> Answer | None:
    """Forecasts by likeness; None without any, or without one of the machine that the question names."""
    by_machine = {one.facts.machine: one for one in forecasts}
    if not by_machine or (question.machine is not None and question.machine not in by_machine):
        return None
    asker = here if question.machine is None else by_machine[question.machine].facts
    ordered = by_likeness(asker, (one.facts for one in by_machine.values()))
    return Answer(asker=asker, neighbours=tuple(Neighbour(by_machine[one.machine], one) for one in ordered))


def forecast(
    known: Sequence[Part], facts: Facts, tracer: str, question: Question, apart: Spread | None = None
) -> Forecast:
    """What these probes do together on the machine of `facts`; `apart` is how far real programs lie from loops."""
    whole = together([ProbeLoad(part.cost, part.rate_hz) for part in known])
    stops = any(part.stops for part in known)
    load = ThreadLoad(rate_hz=whole.rate_hz, threads=question.threads, busy_ratio=question.busy_ratio, stops=stops)
    return Forecast(
        facts=facts,
        tracer=tracer,
        parts=tuple(known),
        load=load,
        cost=whole.cost,
        prediction=predict(multiplied(whole.cost, apart.factor) if apart else whole.cost, load),
        spread=apart,
    )


def tried(found: Evidence, one: Forecast) -> Tried:
    """What measurements say of the ways in which `one` was worked out."""
    (first, *more) = one.parts
    is_single = not more and first.basis == "measured"
    known = checked(found, one.facts.machine)
    done: list[CompositionKind] = ["several probes"] if more else []
    done += ["probe and action"] if any(part.basis == "composed" for part in one.parts) else []
    return Tried(
        line=tuple(line(found, one.facts.machine, one.tracer, first.name)) if is_single else (),
        combinations=tuple((kind, agreement(known, kind)) for kind in done),
        accounts=tuple(accounts(found, one.facts.machine, one.parts)),
        in_red_zone=tuple(
            part
            for part in one.parts
            if any(is_in_red_zone(found.case_of.get(added.case), added) for added in part.added)
        ),
        at_switches=may_pay_at_switches(one.tracer, (found.case_of[own.case].probe for own in one.sources)),
    )


def accounts(found: Evidence, machine: str, known: Sequence[Part]) -> Iterator[tuple[Part, Account]]:
    """The parts that are estimated from their instructions on a machine, each with how."""
    for part in known:
        if part.counted is not None:
            one = counted_as(found, found.case_of[part.counted.case], part.counted)
            if (account := models(found).account(machine, one)) is not None:
                yield part, account


def _usual_tracer(found: Evidence, question: Question) -> str:
    """Of the tracers that have guidance for the question, the one with most cases; without any, simply that one."""
    if not found.tracers:
        msg = "nothing has been measured yet that could guide; measure this machine with `probe-effect measure`"
        raise ProbeEffectError(msg)
    machines = found.machines if question.machine is None else [question.machine]
    usable = []
    for one in _tracers(found):
        for known in filter(None, (parts(found, question, machine, one) for machine in machines)):
            if all(part.is_measured for part in known):
                return one
            usable.append(one)
    return (usable or found.tracers)[0]


def _tracers(found: Evidence) -> Iterator[str]:
    """Ours, and then those of others, which are read only when it comes to them."""
    yield from found.tracers
    yield from (tracer for _, tracer, _ in found.printed)


def _is_timed(found: Evidence, question: Question, machine: str, tracer: str) -> bool:
    """Whether a machine has times of all that is asked about; where it has not, only counts may tell."""
    wanted = question.combination
    if wanted is not None and not setup(found, machine, tracer).bases(wanted.probe, wanted.mechanism):
        return False
    return all((machine, tracer, one.case) in found.costs for one in question.probes)


def _forecasts(found: Evidence, question: Question, tracer: str, machines: Iterable[str]) -> Iterator[Forecast]:
    """One for each of some machines that has every part, and one for the machine of others that the question names."""
    apart = program_spread(found)
    for machine in machines:
        known = parts(found, question, machine, tracer)
        if known:
            yield forecast(known, facts_of_submission(known[0].sources[0].submission), tracer, question, apart)
    if question.machine is not None and question.machine in found.others:
        known = parts(found, question, question.machine, tracer)
        if known and known[0].printed is not None:
            yield forecast(known, known[0].printed.facts, tracer, question)
