"""`machine.json`: what the machine was, how it was set and what was run (schema version 1).

Written by the tool, never typed. Never recorded: host names, user names, addresses, serial numbers.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from probe_effect.model import Metric, Problem
from probe_effect.store.documents import Document, Slug, Text, read_document, write_document
from probe_effect.store.tables import FORMULA_START

BoundedCount = Annotated[int, Field(ge=0, le=2**53)]
MOMENT_FORM = "%Y-%m-%dT%H:%M:%SZ"


def _moment(text: str) -> str:
    if datetime.strptime(text, MOMENT_FORM).replace(tzinfo=UTC).strftime(MOMENT_FORM) != text:
        msg = "is not written as 2026-11-20T16:20:00Z"
        raise ValueError(msg)
    return text


Moment = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"), AfterValidator(_moment)
]
"""A UTC time to the second, `2026-11-20T16:20:00Z`."""


def _credit(text: str) -> str:
    if not text.isprintable() or not text.strip():
        msg = "holds a character that cannot be seen; write the name as it is read"
        raise ValueError(msg)
    if FORMULA_START.match(text.lstrip()):
        msg = "would run as a formula in a spreadsheet; begin with a letter"
        raise ValueError(msg)
    if WEB_ADDRESS.search(text):
        msg = "holds a web address; give a name alone"
        raise ValueError(msg)
    return text


WEB_ADDRESS = re.compile(r"://|\bwww\.", re.IGNORECASE)

Credit = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_credit)]
"""A name as it is to be shown: one line, printable, no address."""


ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
"""What FreeBSD calls an instruction set, to what Linux calls it."""


def canonical_architecture(architecture: str) -> str:
    """An instruction set by one name, whatever `uname -m` calls it: `x86_64` for `amd64`; others as they are."""
    return ARCHITECTURES.get(architecture, architecture)


class Machine(Document):
    """The hardware, real or virtual. Keys with a default joined the format after the first files were written."""

    id: Slug = Field(description="Made by the tool from CPU, core count and virtualization; names the folder.")
    cpu_model: Text | None = Field(description="The CPU's name as it reports it.")
    architecture: Text = Field(description="Instruction set, as `uname -m` gives it.")
    sockets: BoundedCount | None = Field(description="CPU sockets.")
    cores: BoundedCount | None = Field(description="Physical cores over all sockets.")
    threads: BoundedCount = Field(description="Logical CPUs online.")
    smt: bool | None = Field(description="Whether sibling threads share a core and are on.")
    memory_bytes: BoundedCount | None = Field(description="Memory that the kernel manages, bytes.")
    governor: Text | None = Field(description="CPU frequency governor; null where the kernel sets none.")
    turbo: bool | None = Field(description="Whether the CPU may exceed its base frequency.")
    microcode: Text | None = Field(description="Microcode revision.")
    virtualization: Text | None = Field(description="Hypervisor or container kind; null on bare metal.")
    nested: bool | None = Field(
        description="Whether the hypervisor is believed to run in a virtual machine, by the boot parameter "
        "`nested_pvm=1` alone; false on bare metal; null: unknown."
    )
    cpu_numbers: dict[Text, Text] = Field(
        default={},
        description="Numbers that distinguish CPUs of one name, by their keys in `/proc/cpuinfo`: family, model and "
        "stepping, or Arm's implementer, variant, part and revision.",
    )
    microarchitecture: Text | None = Field(
        default=None, description="The core's name for these numbers, by the kernel's source; null: not in our table."
    )


TrapTime = Annotated[float, Field(ge=0, le=1e9)] | None


class System(Document):
    """The operating system, and the settings that change what a probe costs.

    Keys with a default joined the format after the first files were written.
    """

    os: Text | None = Field(description="Distribution and its version.")
    kernel_release: Text = Field(description="Kernel release, as `uname -r` gives it.")
    kernel_config: dict[Text, Text] = Field(description="Kernel build options that change probe cost: name to value.")
    boot_flags: tuple[Text, ...] = Field(description="Boot parameters that change probe cost, from a fixed list.")
    vulnerabilities: dict[Text, Text] = Field(description="CPU vulnerability to the kernel's account of it.")
    clocksource: Text | None = Field(description="Kernel clock source.")
    clock_read_ns: float | None = Field(ge=0, le=1e6, description="Median time of one monotonic clock read, ns.")
    bpf_jit: Text | None = Field(description="State of the BPF just-in-time compiler (net.core.bpf_jit_enable).")
    boot_messages: tuple[Text, ...] | None = Field(
        default=None,
        description="What the kernel logged of a hypervisor at boot: lines of known forms, without times; null: its "
        "log could not be read, or no longer begins at the boot.",
    )
    cpuid_ns: TrapTime = Field(
        default=None, description="Median CPU time of a CPUID instruction, ns; a guest of VMX or SVM exits for each."
    )
    breakpoint_ns: TrapTime = Field(
        default=None, description="Median CPU time of a breakpoint (`int3`, #BP) with its signal and the return, ns."
    )
    step_ns: TrapTime = Field(
        default=None,
        description="Median CPU time of an instruction under the trap flag (#DB) with its signal and the return, ns; "
        "KVM intercepts #DB and not #BP.",
    )


class Run(Document):
    """What was run. Keys with a default joined the format after the first files were written."""

    suite: Slug = Field(description="Id of the suite.")
    suite_version: BoundedCount = Field(description="Version of the suite's scripts and workload.")
    started: Moment = Field(description="When the run began, UTC.")
    ended: Moment | None = Field(description="When it ended, UTC; null when it was cut short.")
    blocks: BoundedCount = Field(description="Rounds planned.")
    workload_cpu: BoundedCount = Field(description="CPU that the workload was pinned to; the first of several.")
    tracer_cpu: BoundedCount | None = Field(
        description="CPU that the tracer was pinned to; null without one of its own."
    )
    seed: BoundedCount = Field(description="Seed of the random order.")
    command: tuple[Text, ...] = Field(description="The exact command.")
    metric: Metric = Field(description="`time`, or `instructions` counted in an emulated machine.")
    load_before: float | None = Field(ge=0, le=1e6, description="One-minute load average before the first run.")
    load_after: float | None = Field(ge=0, le=1e6, description="One-minute load average after the last run.")
    compiler: Text | None = Field(description="Compiler and flags of the workload.")
    functions: dict[Text, Text] = Field(
        default={}, description="Probed user functions, `file:symbol`, to their first bytes in hexadecimal digits."
    )
    mechanisms: dict[Text, Text] = Field(
        default={},
        description="Case and tracer, with a blank between, to how the kernel made the case's kprobes: `trap`, `jump` "
        "(optimised) or `ftrace`; with a plus where several are mixed. Read while they were live.",
    )
    program_runs: dict[Text, Annotated[float, Field(ge=0, le=1e6)]] = Field(
        default={},
        description="Case and tracer, with a blank between, to how often the kernel ran the tracer's BPF programs for "
        "each event that was made, by its own count (`bpf_stats_enabled`): in a trial, since counting takes time.",
    )
    packages: dict[Text, Text] = Field(
        default={},
        description="What an emulated machine was made of: `kernel`, `userland` or a tracer's id to the package and "
        "its version; `emulator` to the emulating program with its version and options. Of a suite that builds a "
        "project `tree`: its name and version, or a hash over the files of another.",
    )
    resumed: tuple[Moment, ...] = Field(default=(), description="When a run that was cut short was continued, UTC.")
    steal_ratio: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the workload CPU's time that the hypervisor took, since the run was last started.",
    )
    warnings: tuple[Slug, ...] = Field(
        default=(), description="What made the machine noisy, by the ids that `probe-effect doctor` explains."
    )


class Submitter(Document):
    """Who gets the credit, as they want it; both may be null."""

    name: Credit | None = Field(description="The name that pages show, as text; null: nobody is named.")
    url: Annotated[str, Field(pattern=r"^https://[\w.~/-]+$", max_length=200)] | None = Field(
        description="A page of theirs, `https://..`; null: none."
    )


class Provenance(Document):
    """Who ran it, and with what."""

    tool: Text = Field(description="Name and version of the measuring program.")
    kind: Literal["project", "third-party"] = Field(description="Run by the project itself or by somebody else.")
    fleet_name: Slug | None = Field(
        default=None,
        description="The machine's name in the project's fleet, `.github/fleet.json`, which it keeps when another "
        "kernel or microcode gives it another id; null for any other machine.",
    )


RUNS_TOLERANCE = 0.02
"""Programs run at events of other processes too: of 20 000 events, up to 300 where a probe is on every system call."""


def runs_add_up(runs_per_event: float) -> bool:
    """Whether a tracer's programs ran a whole number of times for each event, none among them."""
    whole = round(runs_per_event)
    return abs(runs_per_event - whole) <= RUNS_TOLERANCE * max(whole, 1)


class MachineFile(Document):
    """The whole document."""

    schema_version: Literal[1] = Field(description="1.")
    machine: Machine
    system: System
    tools: dict[Text, Text] = Field(description="Tracer id to its version as it prints it.")
    run: Run
    submitter: Submitter
    provenance: Provenance


def read_machine_file(path: Path, file: str) -> tuple[MachineFile | None, list[Problem]]:
    """The document at `path`, or None with every problem found."""
    return read_document(path, file, "machine", MachineFile)


def write_machine_file(path: Path, document: MachineFile) -> None:
    """Write `document` as the data format wants it. Raises: HostNotReady when it cannot be written."""
    write_document(path, document)
