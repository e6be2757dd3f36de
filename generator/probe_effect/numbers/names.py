"""How cases, machines, tools and dates are called in prose: one name for each, in the terminal and on every page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from probe_effect import units
from probe_effect.model import Metric
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.machine_file import Machine, MachineFile, System, canonical_architecture
from probe_effect.store.suite_file import Case, Suite

VERSION_IN_ID = re.compile(r"(-\d+)+$")
"""What a second version has at the end of its id: `bpftrace-0-23-2`."""

NUMBER = re.compile(r"\d+(\.\d+)+")
"""The number in what a tool prints as its version."""

X86_64 = "x86-64"

NESTED = "nested virtual machine"

ARCHITECTURES = {"x86_64": X86_64, "aarch64": "arm64"}
"""An instruction set as `uname -m` has it, to what readers call it."""

MONTHS = "January February March April May June July August September October November December".split()


def titles(suites: Sequence[Suite]) -> dict[str, str]:
    """Case id to its name: its title, with that of its suite where several cases have the title."""
    cases = [(suite, case) for suite in suites for case in suite.cases]
    shared = Counter(case.title for _, case in cases)
    return {case.id: f"{case.title} ({suite.title})" if shared[case.title] > 1 else case.title for suite, case in cases}


def quoted(title: str) -> str:
    """The name of a case inside a sentence: it may have commas of its own."""
    return f"“{title}”"


def at_level(level: str | None) -> str:
    """What follows the name of a case in a sentence: ` at level 4`; empty without a level."""
    return "" if level is None else f" at level {level}"


def with_level(number: Number) -> str:
    """The name of a case with the level of its number, as charts call a row: `Uprobe, 4`."""
    return number.title if number.level is None else f"{number.title}, {number.level}"


def tool_of(tracer: str) -> str:
    """The tool that a tracer is a version of: `bpftrace` for `bpftrace-0-23-2`."""
    return VERSION_IN_ID.sub("", tracer)


def tool(name: str, version: str | None) -> str:
    """A tracer with the number of its version: `bpftrace 0.17.0`, `perf-stat 6.1`; what is part of the kernel has none.

    A version without a number is as the tool prints it.
    """
    own_name = tool_of(name)
    if version is None or version.startswith("Linux "):
        return own_name
    number = NUMBER.search(version)
    return f"{own_name} {number[0]}" if number else version


def tier(machine: Machine, metric: Metric = "time") -> str:
    """What kind of machine it is, because times of different kinds never share a ranking."""
    if metric == "instructions":
        return "emulated"
    if machine.virtualization is None:
        return "physical"
    return NESTED if machine.nested else "virtual machine"


def tier_words(tier: str, number: int = 1) -> str:
    """A tier as readers see it: `2 virtual machines, believed nested`; one machine without its number.

    That a machine is nested is a guess, which the data file has in one word (`machine.virtual.nested`).
    """
    kind, belief = ("virtual machine", ", believed nested") if tier == NESTED else (tier, "")
    return f"{kind}{belief}" if number == 1 else f"{number} {kind}s{belief}"


def release_series(kernel_release: str) -> str:
    """The first two numbers of a kernel release: `6.18` of `6.18.44-amd64`."""
    return ".".join(kernel_release.partition("-")[0].split(".")[:2])


def kernel_name(system: System, *, exact: bool = False) -> str:
    """The kernel as prose calls it: `Linux 6.18`, `FreeBSD 14.4`; `exact` has the whole release.

    FreeBSD is one system with its kernel, and its name is in that of the system.
    """
    own = "FreeBSD" if (system.os or "").startswith("FreeBSD") else "Linux"
    return f"{own} {system.kernel_release if exact else release_series(system.kernel_release)}"


def traps(system: System) -> list[str]:
    """What may exit to a hypervisor, each with its time: `CPUID 4.2 µs`; empty where it was not measured."""
    times = {"CPUID": system.cpuid_ns, "a breakpoint": system.breakpoint_ns, "a single step": system.step_ns}
    return [f"{name} {units.duration(time_ns, 2)}" for name, time_ns in times.items() if time_ns is not None]


def architecture(machine_architecture: str) -> str:
    """An instruction set as prose calls it: `x86-64`, `arm64`; one that we have no word for as `uname -m` gives it."""
    return ARCHITECTURES.get(canonical_architecture(machine_architecture), machine_architecture)


def only_on(case: Case) -> str:
    """The architectures that have a case, `arm64 only`; empty where all have it."""
    return f"{' and '.join(map(architecture, case.architectures))} only" if case.architectures else ""


def cpu(machine: Machine) -> str:
    """The CPU's name; its architecture where it says none."""
    return machine.cpu_model or architecture(machine.architecture)


def machine_name(document: MachineFile) -> str:
    """A machine as prose calls it: `AMD EPYC, 2 CPUs, KVM, Linux 6.18`."""
    machine, system = document.machine, document.system
    parts = [cpu(machine), f"{machine.threads} CPU{'' if machine.threads == 1 else 's'}"]
    if machine.virtualization:
        parts.append(machine.virtualization)
    return ", ".join([*parts, kernel_name(system)])


def machine_title(document: MachineFile) -> str:
    """A machine as titles call it: an emulated one by its kernel, which is what tells it from others."""
    if document.run.metric == "instructions":
        return f"Linux {document.system.kernel_release}, emulated"
    return machine_name(document)


def machine_label(submission: Submission) -> str:
    """A machine in a sentence, distinguished from others of its name by the end of its id; emulated ones by kernel."""
    title = machine_title(submission.document)
    return f"{title} ({short_id(submission.machine)})" if submission.metric == "time" else title


def short_id(machine: str) -> str:
    """The end of a machine's id, which tells it from others of its name: `4247`."""
    return machine.rpartition("-")[2]


def machine_by_id(submission: Submission) -> str:
    """A machine where a paragraph names several: `machine 4247 (AMD EPYC)`."""
    machine = submission.document.machine
    return f"machine {short_id(submission.machine)} ({cpu(machine)})"


def tool_with_version(number: Number) -> str:
    """The tracer of a number with the number of its version."""
    return tool(number.tracer, number.tool_version)


def date_words(date: str) -> str:
    """An ISO date as prose has it: `19 May 2023`, `May 2023`, `2023`; anything else as it is."""
    parts = date.split("-")
    if not all(part.isdigit() for part in parts):
        return date
    words = [parts[0], *(MONTHS[int(month) - 1] for month in parts[1:2]), *(str(int(day)) for day in parts[2:3])]
    return units.GAP.join(reversed(words))
