"""Why there is no guidance, and what has some: said instead of a number that nobody measured."""

from collections.abc import Iterable

from probe_effect.answer.evidence import Evidence
from probe_effect.answer.part import PLAIN_ACTION
from probe_effect.answer.parts import parts
from probe_effect.answer.question import ProbeQuestion, Question


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
