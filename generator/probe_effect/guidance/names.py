"""How machines, tools and dates are called in prose: one name for each, in the terminal and on every page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect import units

if TYPE_CHECKING:
    from probe_effect.model import Metric
    from probe_effect.store.machine_file import Machine, MachineFile

VERSION_IN_ID = re.compile(r"(-\d+)+$")
"""What a second version has at the end of its id: `bpftrace-0-23-2`."""

MONTHS = "January February March April May June July August September October November December".split()


def tool_of(tracer: str) -> str:
    """The tool that a tracer is a version of: `bpftrace` for `bpftrace-0-23-2`."""
    return VERSION_IN_ID.sub("", tracer)


def tool(name: str, version: str | None) -> str:
    """A tracer with its version, which many tools print with a name in front: `bpftrace v0.17`, `perf version 6.1`."""
    if version is None:
        return name
    own_name = tool_of(name)
    if version.startswith(own_name):
        return version
    program = own_name.partition("-")[0]
    return f"{own_name} {version.removeprefix(f'{program} version ')}"


def tier(machine: Machine, metric: Metric = "time") -> str:
    """What kind of machine it is, because times of different kinds never share a ranking."""
    if metric == "instructions":
        return "emulated"
    if machine.virtualization is None:
        return "physical"
    return "nested virtual machine" if machine.nested else "virtual machine"


def release_series(kernel_release: str) -> str:
    """The first two numbers of a kernel release: `6.18` of `6.18.44-amd64`."""
    return ".".join(kernel_release.partition("-")[0].split(".")[:2])


def machine_name(document: MachineFile) -> str:
    """A machine as prose calls it: `AMD EPYC, 2 CPUs, KVM, Linux 6.18`."""
    machine, system = document.machine, document.system
    parts = [machine.cpu_model or machine.architecture, f"{machine.threads} CPU{'' if machine.threads == 1 else 's'}"]
    if machine.virtualization:
        parts.append(machine.virtualization)
    return ", ".join([*parts, f"Linux {release_series(system.kernel_release)}"])


def date_words(date: str) -> str:
    """An ISO date as prose has it: `19 May 2023`, `May 2023`, `2023`; anything else as it is."""
    parts = date.split("-")
    if not all(part.isdigit() for part in parts):
        return date
    words = [parts[0], *(MONTHS[int(month) - 1] for month in parts[1:2]), *(str(int(day)) for day in parts[2:3])]
    return units.GAP.join(reversed(words))
