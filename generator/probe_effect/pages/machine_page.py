"""A page per machine: what it is, the submission that stands for it, and the way to all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.numbers.home import representative
from probe_effect.pages import citing, submission_page, wording
from probe_effect.pages.markdown import page
from probe_effect.pages.results import with_numbers
from probe_effect.pages.submission_page import suite_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Submission
    from probe_effect.store.machine_file import MachineFile


def write(machine: str, submissions: Sequence[Submission], catalogue: Catalogue) -> str:
    """The page of `machine`; `submissions` newest first."""
    newest, shown = submissions[0].document, representative(submissions)
    suite = suite_of(shown, catalogue)
    front = {
        "title": names.machine_name(newest),
        "kind": "machine",
        "kicker": wording.tier(newest),
        "description": f"What tracing costs on {names.machine_name(newest)}: {len(submissions)} submission(s).",
        **citing.machine(newest, catalogue),
    }
    return page(
        "machine.md.j2",
        front,
        machine=machine,
        facts=facts(newest),
        kernel_options=by_value(newest.system.kernel_config),
        vulnerabilities=by_value(newest.system.vulnerabilities),
        submissions=submissions,
        shown=shown,
        chart=next((chart.name for chart in submission_page.charts(shown)), None),
        cases=with_numbers(shown),
        factor=suite.factor if suite else None,
        starts=submission_page.starts(suite),
        titles=catalogue.titles,
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
        "Tracers": "; ".join(f"{name}: {version}" if version else name for name, version in document.tools.items())
        or None,
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
