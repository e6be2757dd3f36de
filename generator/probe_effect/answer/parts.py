"""The probes that a question asks about, each with its cost in a table; or why there is none."""

from collections.abc import Iterable
from dataclasses import replace

from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.costs.event import ProbeGroup, event, with_calls
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import PLAIN_ACTION, CostRow
from probe_effect.costs.table import CostTable, of_machine


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
        if any(row.basis == "estimated" for row in rows_of(of_machine(found, machine, tracer), question))
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
