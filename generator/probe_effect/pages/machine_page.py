"""A page per machine: what it is, how far to trust it, and everything measured on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.costs import Dot, cost_chart
from probe_effect.guidance import names
from probe_effect.guidance.comparison import since
from probe_effect.pages import comparison, wording
from probe_effect.pages.markdown import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission
    from probe_effect.model import CaseSummary, InstructionCase
    from probe_effect.store.machine_file import MachineFile


def write(machine: str, submissions: Sequence[MeasuredSubmission], catalogue: Catalogue) -> str:
    """The page of `machine`; `submissions` newest first."""
    newest = submissions[0].document
    front = {
        "title": names.machine_name(newest),
        "kind": "machine",
        "kicker": wording.tier(newest),
        "description": f"What tracing costs on {names.machine_name(newest)}: {len(submissions)} submission(s).",
    }
    return page(
        "machine.md.j2",
        front,
        machine=machine,
        document=newest,
        facts=facts(newest),
        kernel_options=by_value(newest.system.kernel_config),
        vulnerabilities=by_value(newest.system.vulnerabilities),
        submissions=submissions,
        charts=charts,
        measured=measured_cases,
        skipped=skipped_cases,
        earlier=lambda submission: since(submission, submissions),
        comparison=comparison,
        titles=catalogue.titles(),
        factors={folder.suite.id: folder.suite.factor for folder in catalogue.suites},
        measures={folder.suite.id: folder.suite.measures for folder in catalogue.suites},
        wording=wording,
    )


def facts(document: MachineFile) -> dict[str, str]:
    """What is recorded of the machine, labelled for readers; unknown things are left out."""
    machine, system = document.machine, document.system
    shown = {
        "CPU": machine.cpu_model,
        "Architecture": machine.architecture,
        "Sockets, cores, threads": _numbers(machine.sockets, machine.cores, machine.threads),
        "Simultaneous multithreading": _yes(machine.smt),
        "Memory": units.size(machine.memory_bytes) if machine.memory_bytes else None,
        "Frequency governor": machine.governor,
        "Turbo": _yes(machine.turbo),
        "Microcode": machine.microcode,
        "Virtualization": machine.virtualization,
        "Nested": _yes(machine.nested),
        "Operating system": system.os,
        "Kernel": system.kernel_release,
        "Clock source": system.clocksource,
        "Cost of a clock read": units.duration(system.clock_read_ns) if system.clock_read_ns else None,
        "BPF compiler": system.bpf_jit,
        "Boot parameters": ", ".join(system.boot_flags) or None,
        "Tracers": ", ".join(names.tool(name, version) for name, version in document.tools.items()) or None,
    }
    return {label: value for label, value in shown.items() if value}


def by_value(settings: Mapping[str, str]) -> dict[str, list[str]]:
    """Each value to the names that have it: a hundred options become a few lines."""
    groups: dict[str, list[str]] = {}
    for name, value in settings.items():
        groups.setdefault(value, []).append(name)
    return groups


def _yes(value: bool | None) -> str | None:  # noqa: FBT001
    return None if value is None else ("yes" if value else "no")


def _numbers(*values: int | None) -> str:
    return ", ".join(units.count(value) for value in values)


def measured_cases(submission: MeasuredSubmission) -> list[CaseSummary]:
    """The cases with a cost, in the order of their ids."""
    return [case for case in submission.summary.cases if case.cost is not None]


def skipped_cases(submission: MeasuredSubmission) -> dict[str, list[str]]:
    """Reason to the cases that it kept from being measured."""
    return by_reason(case for case in submission.summary.cases if case.cost is None)


def by_reason(skipped: Iterable[CaseSummary | InstructionCase]) -> dict[str, list[str]]:
    """How the runs of cases ended, and why, to the cases of which that is so."""
    reasons: dict[str, list[str]] = {}
    for case in skipped:
        cases = reasons.setdefault(f"{case.status}: {case.note}", [])
        if case.case not in cases:  # with several tracers
            cases.append(case.case)
    return reasons


def charts(submission: MeasuredSubmission) -> list[Chart]:
    """The costs of the submission with their intervals."""
    dots = [
        Dot(case.case if case.level is None else f"{case.case}, {case.level}", case.tracer, case.cost)
        for case in measured_cases(submission)
        if case.cost is not None and case.distinguishable
    ]
    if not dots:
        return []
    name = f"costs-{submission.summary.id.replace('/', '-')}"
    sentence = "Cost of one event for each case measured, with its 95 % interval; often narrower than the dot."
    return [cost_chart(name, f"Cost of one event, suite {submission.summary.suite}", sentence, dots)]
