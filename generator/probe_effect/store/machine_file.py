"""`machine.json`: what the machine was, how it was set and what was run; and `plan.json` of a run under way.

Written by the tool, never typed. Never recorded: host names, user names, addresses, serial numbers.

`plan.json` is beside the rows of a run under way: a run that was cut short continues with the same cases, order and
lengths. It may hold paths, which a submission does not, so `check` refuses a folder that still has it.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from probe_effect.model import Key, Metric, Status
from probe_effect.store.documents import Document, Slug, Text, no_name_of, read_document, without
from probe_effect.store.tables import FORMULA_START

BoundedCount = Annotated[int, Field(ge=0, le=2**53)]
MOMENT_FORM = "%Y-%m-%dT%H:%M:%SZ"
FIRST_DAY = datetime(2026, 11, 20, tzinfo=UTC)  # before it nothing could be measured with this program
SLACK = timedelta(days=1)  # by how much the clock of a machine may be wrong


def _moment(text: str) -> str:
    if datetime.strptime(text, MOMENT_FORM).replace(tzinfo=UTC).strftime(MOMENT_FORM) != text:
        raise ValueError("is not written as 2026-11-20T16:20:00Z")
    return text


Moment = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"), AfterValidator(_moment)
]
"""A UTC time to the second, `2026-11-20T16:20:00Z`."""


def _credit(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("holds a character that cannot be seen; write the name as it is read")
    if FORMULA_START.match(text.lstrip()):
        raise ValueError("would run as a formula in a spreadsheet; begin with a letter")
    return text


NO_ADDRESS = without(re.compile(r"://|\bwww\.", re.IGNORECASE), "holds a web address; give a name alone")

Credit = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_credit), NO_ADDRESS]
"""A name as it is to be shown: one line, printable, no address."""

ARCHITECTURES = {"amd64": "x86_64", "i86pc": "x86_64", "arm64": "aarch64"}
"""What FreeBSD, illumos and macOS call an instruction set, to what Linux calls it."""


def canonical_architecture(architecture: str) -> str:
    """An instruction set by one name, whatever `uname -m` calls it: `x86_64` for `amd64`; others as they are."""
    return ARCHITECTURES.get(architecture, architecture)


KVM_GUEST, TCG_GUEST = "QEMU KVM", "QEMU TCG"
"""How the record calls the virtualization of a guest that we booted: on the host's CPU, and by a program instead."""

PAGES = frozenset({"anatomy", "changes", "mechanisms", "series", "arm64", "x86-64", *ARCHITECTURES.values()})
"""Names of pages in the folder in which emulated machines have theirs."""


class Machine(Document):
    """The hardware, real or virtual. Keys with a default joined the format after the first files were written."""

    id: Annotated[Slug, no_name_of(PAGES, "of another page")]
    cpu_model: Text | None
    architecture: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=30)]
    sockets: BoundedCount | None
    cores: BoundedCount | None
    threads: BoundedCount
    smt: bool | None
    memory_bytes: BoundedCount | None
    governor: Text | None
    turbo: bool | None
    microcode: Text | None
    virtualization: Text | None
    nested: bool | None
    cpu_numbers: dict[Text, Text] = Field(default={})
    microarchitecture: Text | None = None
    core_kinds: dict[Text, BoundedCount] = Field(default={})


TrapTime = Annotated[float, Field(ge=0, le=1e9)] | None


class System(Document):
    """The operating system, and the settings that change what a probe costs.

    Keys with a default joined the format after the first files were written.
    """

    os: Text | None
    kernel_release: Text
    kernel_config: dict[Text, Text]
    boot_flags: tuple[Text, ...]
    vulnerabilities: dict[Text, Text]
    clocksource: Text | None
    clock_read_ns: float | None = Field(ge=0, le=1e6)
    bpf_jit: Text | None
    boot_messages: tuple[Text, ...] | None = None
    cpuid_ns: TrapTime = None
    breakpoint_ns: TrapTime = None
    step_ns: TrapTime = None


class Run(Document):
    """What was run. Keys with a default joined the format after the first files were written."""

    suite: Slug
    suite_version: BoundedCount
    started: Moment
    ended: Moment | None
    blocks: BoundedCount
    workload_cpu: BoundedCount
    tracer_cpu: BoundedCount | None
    seed: BoundedCount
    command: tuple[Text, ...]
    metric: Metric
    load_before: float | None = Field(ge=0, le=1e6)
    load_after: float | None = Field(ge=0, le=1e6)
    compiler: Text | None
    functions: dict[Text, Text] = Field(default={})
    mechanisms: dict[Text, Text] = Field(default={})
    program_runs: dict[Text, Annotated[float, Field(ge=0, le=1e6)]] = Field(default={})
    packages: dict[Text, Text] = Field(default={})
    resumed: tuple[Moment, ...] = ()
    steal_ratio: float | None = Field(default=None, ge=0, le=1)
    warnings: tuple[Slug, ...] = ()
    quota_cpus: float | None = Field(default=None, ge=0, le=1e6)
    quota_periods: BoundedCount | None = None
    throttled_periods: BoundedCount | None = None
    throttled_ns: BoundedCount | None = None
    traced_beside: tuple[Text, ...] = ()
    workload_core: Text | None = None
    tracer_core: Text | None = None


class Submitter(Document):
    """Who gets the credit, as they want it; both may be null."""

    name: Credit | None
    url: Annotated[str, Field(pattern=r"^https://[\w.~/-]+$", max_length=200)] | None


Author = Literal["project", "third-party", "hosted"]
HOSTED: Author = "hosted"


class Provenance(Document):
    """Who ran it, and with what; `hosted` is a runner that a service lends for one job, on a host that nobody knows."""

    tool: Text
    kind: Author
    fleet_name: Slug | None = None


RUNS_TOLERANCE = 0.02
"""Programs run at events of other processes too: of 20 000 events, up to 300 where a probe is on every system call."""


def runs_add_up(runs_per_event: float) -> bool:
    """Whether a tracer's programs ran a whole number of times for each event, none among them."""
    whole = round(runs_per_event)
    return abs(runs_per_event - whole) <= RUNS_TOLERANCE * max(whole, 1)


class MachineFile(Document):
    """The whole document."""

    schema_version: Literal[1]
    machine: Machine
    system: System
    tools: dict[Text, Text]
    run: Run
    submitter: Submitter
    provenance: Provenance


read_machine_file = partial(read_document, rule="machine", model=MachineFile)

NOISE = re.compile(r"\((r|tm|c)\)|\b(cpu|processor|\d+-core)\b|@.*|with .* graphics", re.IGNORECASE)
"""Words in a CPU's name that distinguish no CPUs."""

IMAGE = re.compile(r"(\D*\d+(?:\.\d+)?).*")
"""What names an image: `Ubuntu 24.04` of `Ubuntu 24.04.3 LTS`."""


def with_id(machine: Machine, signature: Iterable[str], kernel_release: str) -> Machine:
    """The machine with an id such as `amd-epyc-2t-kvm-3f07`: CPU, threads, hypervisor, and four digits of a hash.

    Memory counts in whole GiB: what the kernel manages differs a little from boot to boot.
    """
    memory_gib = None if machine.memory_bytes is None else round(machine.memory_bytes / 2**30)
    facts = machine.cpu_model, *signature, machine.microcode, machine.threads, memory_gib, kernel_release
    return machine.model_copy(update={"id": _id("", machine, machine.virtualization or "", facts)})


def runner_id(machine: Machine, system: System) -> str:
    """A slug such as `hosted-ubuntu-24-04-amd-epyc-7763-4t-3f07`: the image of a hosted runner, its CPU and threads.

    Each run has another host, and the image another kernel every few weeks, so neither makes it another machine.
    """
    image = IMAGE.sub(r"\1", system.os or "unknown image")
    facts = image, canonical_architecture(machine.architecture), machine.cpu_model, machine.threads
    return _id(f"{HOSTED} {image} ", machine, "", facts)


def as_author(machine: Machine, system: System, author: Author) -> Machine:
    """The machine with the id under which a run of `author` is kept."""
    return machine.model_copy(update={"id": runner_id(machine, system)}) if author == HOSTED else machine


def is_hosted(machine: str) -> bool:
    return machine.startswith(f"{HOSTED}-")


def _id(begin: str, machine: Machine, more: str, facts: Iterable[object]) -> str:
    digest = hashlib.sha256("\0".join(map(str, facts)).encode()).hexdigest()[:4]
    name = _slug(begin + NOISE.sub(" ", machine.cpu_model or "unknown cpu"))
    return "-".join(filter(None, (name, f"{machine.threads}t", _slug(more), digest)))


def _slug(text: str) -> str:
    """`text` in lower-case letters and digits with single hyphens, at most 60 characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")


class PlannedSubject(Document):
    """A case with a tracer, and how it is run; `status` and `note` say why it is not.

    A twin that counts runs once where it is counted apart.
    """

    case: Slug
    tracer: Slug
    level: Text | None = None
    operations: Annotated[int, Field(ge=1)] | None
    is_counted_apart: bool
    status: Status = "ok"
    note: Text | None = None

    @property
    def key(self) -> Key:
        return Key(self.case, self.tracer, self.level)


class PlanFile(Document):
    """The whole document.

    Attributes:
        digest: SHA-256 over the suite's files: another one, another plan.
        baseline_operations: of a baseline run; null where the suite has a factor, and each level its own.
        programs: tracer id to the path of its program, where one was given.
        tree: folder of the source tree that was named to be built; null: the suite's project, or none.
        continued_by: words of the command that continues the run, after the program's name, without --out.
    """

    schema_version: Literal[1]
    digest: Text
    baseline_operations: Annotated[int, Field(ge=1)] | None
    level_operations: dict[Text, Annotated[int, Field(ge=1)]] = Field(default={})
    subjects: tuple[PlannedSubject, ...]
    programs: dict[Slug, Text]
    tree: Text | None = None
    continued_by: tuple[Text, ...] = ()
    is_quick: bool


read_plan_file = partial(read_document, rule="plan", model=PlanFile)
