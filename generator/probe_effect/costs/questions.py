"""Named questions: whatever the site says that something costs is the answer to one, so that it has one answer.

`questions.toml` has those that several pages ask. Any case of any tool is a question too, `<tracer>.<case>[@<level>]`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.instructions import mechanism_of
from probe_effect.costs.row import calls_of_event, event_cost, median_range, upper_median
from probe_effect.model import Estimate, Key
from probe_effect.numbers import index
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import once
from probe_effect.numbers.names import several
from probe_effect.numbers.submission import Number
from probe_effect.records import beside


@dataclass(frozen=True, slots=True)
class NamedQuestion:
    """What a page asks: of the first of `cases` that a machine measured, with the first of `tracers` that it has.

    `words` say what is asked, `briefly` in few words. `of`: one event, or one start or stop of the tracer. `unit`: what
    an event is, where it is no event of a probe. `mechanism`: how the probe must fire there. `by`: on what the cost
    depends, where the question is of all of its cases together. `is_rung`: whether the ladder has it.
    """

    id: str
    words: str
    tracers: tuple[str, ...]
    cases: tuple[str, ...]
    of: Literal["event", "start", "stop"] = "event"
    unit: str = "event"
    mechanism: str | None = None
    briefly: str = ""
    by: str = ""
    is_rung: bool = False


class Reply(NamedTuple):
    """The answer of one machine: the number it is from, and its time, ns. `is_bound`: the event may cost nothing."""

    number: Number
    time: Estimate
    is_bound: bool = False


class MachineRange(NamedTuple):
    """The answer of several machines, ns: the value of the median one, from the least low to the greatest high end.

    `replies`: those of the machines, the least first. `words`: how many machines of which kind.
    """

    time: Estimate
    replies: tuple[Reply, ...]
    machines: int
    words: str


QUESTIONS: Mapping[str, NamedQuestion] = {
    name: NamedQuestion(name, **own | {"tracers": tuple(own["tracers"]), "cases": tuple(own["cases"])})
    for name, own in beside(__file__).items()
}


def question(catalogue: Catalogue, name: str) -> NamedQuestion | None:
    """The named question, or that of the case which `<tracer>.<case>[@<level>]` names; None where no suite has it."""
    if name in QUESTIONS:
        return QUESTIONS[name]
    tracer, _, case = name.partition(".")
    costs, case_id = evidence_of(catalogue), case.partition("@")[0]
    if case_id not in costs.of:
        return None
    unit = "event" if calls_of_event(costs, case_id) is None else "system call"
    return NamedQuestion(name, catalogue.titles.get(case_id, case_id), (tracer,), (case,), unit=unit)


@once
def on(catalogue: Catalogue, asked: NamedQuestion, machine: str) -> Reply | None:
    """The answer of a machine; None where it measured none of the cases, or lost events."""
    return next(_replies(catalogue, asked, machine), None)


@once
def of_all_machines(catalogue: Catalogue, asked: NamedQuestion) -> MachineRange | None:
    """The answer of all timed machines whose cost is clear; None without any."""
    replies = []
    for machine in catalogue.numbers.machines():
        every = [reply for reply in _replies(catalogue, asked, machine) if not reply.is_bound]
        replies += every if asked.by else every[:1]
    if not replies:
        return None
    replies.sort(key=lambda reply: (reply.time.value, reply.number.id))
    runs = {reply.number.submission.machine: reply.number.submission for reply in replies}
    time = median_range([reply.time for reply in replies], upper_median(replies).time)
    return MachineRange(time, tuple(replies), len(runs), several(list(runs.values())))


def _replies(catalogue: Catalogue, asked: NamedQuestion, machine: str) -> Iterator[Reply]:
    """What a machine has of each case, with the first tracer that measured any."""
    cases = [(name.partition("@")[0], name.partition("@")[2] or None) for name in asked.cases]
    all_cases = evidence_of(catalogue).of
    for tracer in asked.tracers:
        keys = [Key(case, tracer, level) for case, level in cases if case in all_cases]
        every = (catalogue.runs.of_machine_and_case(machine, key.case).get(key) for key in keys)
        # A start takes as long whatever was lost later.
        usable = (number for number in every if number and (number.leads if asked.of == "event" else number.is_sound))
        if replies := [reply for number in usable if (reply := _reply(catalogue, asked, number))]:
            yield from replies
            return


def _reply(catalogue: Catalogue, asked: NamedQuestion, measured: Number) -> Reply | None:
    number, share = catalogue.runs.over_hosts(measured), catalogue.numbers.spread_of(measured.submission)
    if asked.of != "event":
        taken = number.event.attach if asked.of == "start" else number.event.detach
        return taken and Reply(measured, taken)
    evidence = evidence_of(catalogue)
    if asked.mechanism not in (None, mechanism_of(evidence.case_of[number.case], number)):
        return None
    if number.is_clear:
        time = event_cost(evidence, (number.submission.machine, number.tracer, number.case), number.known_cost)[0]
        return Reply(measured, index.for_next_run(time, share))
    high = catalogue.numbers.of_next_run(number).bounded_cost.high
    return Reply(measured, Estimate(high), is_bound=True) if high else None
