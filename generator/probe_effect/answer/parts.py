"""The probes that a question asks about, each with its cost on one machine; or why there is none."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from probe_effect.answer.added import contention, event_cost, nearest
from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.nearest import ProbeGroup, part_of
from probe_effect.answer.part import PLAIN_ACTION, Part, published
from probe_effect.answer.prediction import multiplied
from probe_effect.answer.printed_times import of_number
from probe_effect.answer.question import Combination, ProbeQuestion, Question


def parts(found: Evidence, question: Question, machine: str, tracer: str) -> list[Part]:
    """The question's probes as measured on a machine with a tracer, with what the program's system calls pay.

    Empty where one of the probes is missing.
    """
    known = plain_parts(found, question, machine, tracer)
    return with_calls(known, question.calls_hz) if known else []


def plain_parts(found: Evidence, question: Question, machine: str, tracer: str) -> list[Part]:
    """The same with as many system calls as in the measured loops."""
    wanted = [_measured(found, one, machine, tracer, question.threads) for one in question.probes]
    if question.combination is not None:
        wanted.append(_combined(found, question.combination, machine, tracer, question.threads))
    known = [part for part in wanted if part is not None]
    return known if len(known) == len(wanted) else []


def of_case(found: Evidence, case: str, machine: str, tracer: str) -> Part | None:
    """What a machine knows of one case with a tracer: a measured cost only if it is clear."""
    if case not in found.case_of or tracer not in found.by_tracer(machine):
        return None
    known = parts(found, Question(probes=(ProbeQuestion(case, 0.0),)), machine, tracer)
    return next((part for part in known if part.is_clear or part.basis != "measured"), None)


def with_calls(known: Sequence[Part], calls_hz: float | None) -> list[Part]:
    """The parts with what the system calls of the program pay, once for all probes on them.

    Where nobody says how many calls there are, they are as many as in the loop of the part that has most.
    """
    on_calls = [(part, part.path) for part in known if part.path is not None]
    events_hz = sum(part.rate_hz for part, _ in on_calls)
    if not events_hz or (calls_hz is None and len(on_calls) == 1):
        return list(known)
    in_loops_hz = max(part.rate_hz * path.calls_per_event for part, path in on_calls)
    calls_per_event = (in_loops_hz if calls_hz is None else calls_hz) / events_hz
    return [
        part
        if part.path is None
        else replace(
            part,
            cost=part.path.moved(part.cost, calls_per_event),
            path=replace(part.path, calls_per_event=calls_per_event),
        )
        for part in known
    ]


def _measured(found: Evidence, asked: ProbeQuestion, machine: str, tracer: str, threads: int) -> Part | None:
    one = found.costs.get((machine, tracer, asked.case))
    if one is None and not found.keys_of(machine):
        printed = found.printed.get((machine, tracer, asked.case))
        return published(found, printed, asked.case, asked.rate_hz) if printed else None
    if one is None:
        return _estimated(found, asked, machine, tracer)
    several = nearest(contention(found, machine, tracer, asked.case), threads)
    cost, path = event_cost(found, (machine, tracer, asked.case), one.bounded_cost)
    return Part(
        name=asked.case,
        title=one.title,
        rate_hz=asked.rate_hz,
        basis="measured",
        added=(one,),
        cost=multiplied(cost, several.factor) if several else cost,
        is_clear=one.is_clear,
        contention=several,
        path=path,
        hardware=of_number(found, one),
    )


def _estimated(found: Evidence, asked: ProbeQuestion, machine: str, tracer: str) -> Part | None:
    """The cost of a case that the machine could not time, from its instructions; None where something else is lacking.

    Nobody counted the whole work of some suites, nor their cases of several probes.
    """
    case = found.case_of[asked.case]
    if not found.counts.get(case.id) or case.parts:
        return None
    made = cost_of(found, machine, tracer, kind=case.probe, actions=(case.action,), rate_hz=asked.rate_hz)
    if made is None or made.basis != "estimated":
        return None
    return replace(made, name=asked.case, title=found.titles.get(asked.case))


def _combined(found: Evidence, wanted: Combination, machine: str, tracer: str, threads: int) -> Part | None:
    """The probe of a script with one action; with contention where that is a case which was measured with threads."""
    group = ProbeGroup(
        attach=wanted.probe,
        kind=wanted.probe,
        mechanism=wanted.mechanism,
        actions=(wanted.action,),
        rate_hz=wanted.rate_hz,
        frames=wanted.frames,
    )
    part = part_of(found, machine, tracer, group)
    several = nearest(contention(found, machine, tracer, part.name), threads) if part and part.title else None
    return replace(part, cost=multiplied(part.cost, several.factor), contention=several) if part and several else part


def refusal(found: Evidence, question: Question, tracer: str) -> str:
    """Why `question` has no answer with `tracer`, a line for each of its probes that has none."""
    if (wanted := question.combination) is not None:
        place = f" on {question.machine}" if question.machine else ""
        return (
            f"{wanted.probe} with {wanted.action}, with {tracer}{place}: no guidance: nobody measured it. Composing it "
            f"takes a measured case of {wanted.probe}, and two of one suite with another probe, with {wanted.action} "
            f"and with that case's action or {PLAIN_ACTION}. `probe-effect suites` lists the cases."
        )
    machines = found.machines if question.machine is None else [question.machine]
    cases = [one.case for one in question.probes]
    missing = [case for case in cases if not any((machine, tracer, case) in found.costs for machine in machines)]
    if not missing:
        return f"{' and '.join(cases)} with {tracer}: no guidance: no machine has all of them. Ask for one at a time."
    return "\n".join(_of_case(found, case, tracer, question.machine) for case in missing)


def _of_case(found: Evidence, case: str, tracer: str, machine: str | None) -> str:
    place = f" on {machine}" if machine else ""
    others = _by_tracer((used, owner) for owner, used, one in found.costs if one == case)
    why = _why(found, case, tracer, machine)
    said = f"{case} with {tracer}{place}: no guidance: {why}. It has guidance with: {others or 'no tracer yet'}."
    # With which tracers its cost can be estimated, and where; nothing where nobody counted it.
    question = Question(probes=(ProbeQuestion(case, 0.0),))
    told = _by_tracer(
        (tracer, machine)
        for machine in (found.machines if found.counts.get(case) else ())
        for tracer in found.by_tracer(machine)
        if any(part.basis == "estimated" for part in parts(found, question, machine, tracer))
    )
    return " ".join([said, *([f"It can be estimated with: {told}."] if told else []), *_printed(found, case)])


def _printed(found: Evidence, case: str) -> list[str]:
    """Where others printed its cost; nothing where nobody did."""
    machines = [f"--machine {machine} --tracer {used}" for machine, used, one in found.printed if one == case]
    return [f"Others printed its cost: {', '.join(machines)}."] if machines else []


def _why(found: Evidence, case: str, tracer: str, machine: str | None) -> str:
    reasons = {
        why
        for (owner, used, one), why in found.refused.items()
        if (used, one) == (tracer, case) and machine in {None, owner}
    }
    if reasons:
        return "; ".join(sorted(reasons))
    like = next((one.like for _, one in found.cases if one.id == case), None)
    return f"it is {like} at the levels of a factor, so ask for that" if like else "nobody measured it"


def _by_tracer(known: Iterable[tuple[str, str]]) -> str:
    """Each tracer with its machines, in words."""
    machines: dict[str, list[str]] = {}
    for tracer, machine in known:
        machines.setdefault(tracer, []).append(machine)
    return "; ".join(f"{tracer} on {', '.join(its)}" for tracer, its in machines.items())
