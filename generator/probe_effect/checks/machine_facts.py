"""The facts of a machine agree with each other and with what was measured, and its names are plain text."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from probe_effect import conditions
from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.conditions import CONDITIONS
from probe_effect.model import FIRST_RELEASE, Need, series_of
from probe_effect.store.documents import value_line
from probe_effect.store.machine_file import HOSTED, Machine, is_hosted, runner_id, runs_add_up
from probe_effect.store.places import MAX_PATH_LENGTH
from probe_effect.store.tables import printable
from probe_effect.toml import beside

KNOWN = beside(__file__)
FAMILIES = [(re.compile(one["words"], re.IGNORECASE), one["architectures"]) for one in KNOWN["families"]]
"""Words in a CPU's name, to the architectures that it can have."""

NAMED_CORES = re.compile(r"\b(\d{1,3})-core\b", re.IGNORECASE)
MOST_THREADS_PER_CORE = 8
LEAST_MEMORY_BYTES = 32 * 2**20
MOST_MEMORY_BYTES = 64 * 2**40

OPTIONS: dict[Need, str] = KNOWN["options"]
"""What a case needs, to the option without which no Linux has it."""

BACKPORTS = re.compile(r"\.el\d|\.amzn|\.uek|\.fc\d")
"""Kernels that take features from later releases say so in their name."""

GUEST_CPU = re.compile(r"\b(qemu|kvm|tcg|virtual(apple)?|virtual cpu)\b", re.IGNORECASE)
MARKUP = re.compile(r"[<>`]|\]\(|\]\[|://|\bwww\.|@(?!\d+(\.\d+)?\+?\s*[GMk]Hz\b)(?=\w)\S{1,40}", re.IGNORECASE)
"""What HTML or Markdown would make more of than text; `@ 2.50GHz` is how a CPU names its clock."""


@rule("machine-facts")
def _machine_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    yield from _count_faults(checked)
    yield from _name_faults(checked)
    memory_bytes = checked.document.machine.memory_bytes
    if memory_bytes == 0:
        yield checked.fault("machine.memory_bytes", "a machine without memory")
    elif memory_bytes is not None and not LEAST_MEMORY_BYTES <= memory_bytes <= MOST_MEMORY_BYTES:
        yield _perhaps(checked, "machine.memory_bytes", f"{memory_bytes} bytes of memory")
    run = checked.document.run
    if run.tracer_cpu is not None and run.tracer_cpu == run.workload_cpu:
        yield checked.fault("run.tracer_cpu", "workload and tracer on one CPU, which is then not the tracer's own")


def _count_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    machine = checked.document.machine
    if machine.threads == 0:
        yield checked.fault("machine.threads", "a machine without a CPU")
        return
    for key, count in (("sockets", machine.sockets), ("cores", machine.cores)):
        if count == 0:
            yield checked.fault(f"machine.{key}", f"a machine with 0 {key}")
    if not machine.cores:
        return
    if machine.sockets and machine.sockets > machine.cores:
        yield checked.fault("machine.sockets", f"{machine.sockets} sockets, but {machine.cores} cores")
    if machine.threads > MOST_THREADS_PER_CORE * machine.cores:
        yield _perhaps(checked, "machine.threads", f"{machine.threads} threads on {machine.cores} cores")
    elif machine.smt is False and machine.threads > machine.cores:
        yield _perhaps(checked, "machine.smt", f"no SMT, but {machine.threads} threads on {machine.cores} cores")
    elif machine.smt and machine.threads <= machine.cores:
        yield _perhaps(checked, "machine.smt", f"SMT, but {machine.threads} threads on {machine.cores} cores")


def _name_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    machine = checked.document.machine
    name = machine.cpu_model or ""
    possible = [architectures for word, architectures in FAMILIES if word.search(name)]
    if possible and not any(machine.architecture in one for one in possible):
        yield _perhaps(checked, "machine.architecture", f"`{machine.architecture}`, but the CPU is `{name[:60]}`")
    if (named := NAMED_CORES.search(name)) and machine.virtualization is None and machine.cores:
        most = int(named[1]) * (machine.sockets or 1)
        if machine.cores > most:
            yield _perhaps(checked, "machine.cores", f"{machine.cores} cores, but the CPU's name says {named[1]}")


def _perhaps(checked: CheckedSubmission, key: str, found: str) -> Fault:
    return checked.fault(key, found, "look at the machine, and say in the pull request why it is so", "warning")


@rule("kernel-facts")
def _kernel_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    system = checked.document.system
    if not system.kernel_config:  # not Linux, or not readable there
        return
    release = (0, 0) if BACKPORTS.search(system.kernel_release) else series_of(system.kernel_release)
    for need, (line, case) in _used(checked).items():
        option = OPTIONS.get(need)
        if option is not None and system.kernel_config.get(option) == "n":
            lacks = f"the kernel has {option}=n"
        elif (0, 0) < release < FIRST_RELEASE.get(need, (0, 0)):
            lacks = f"Linux {release[0]}.{release[1]} has no {need}"
        else:
            continue
        yield Fault("samples.csv", line, f"case `{case}` was measured, but {lacks}")


def _used(checked: CheckedSubmission) -> dict[Need, tuple[int, str]]:
    """Each need of a measured case, to the line and the case of the first row that used it."""
    cases = {case.id: case for case in checked.suite.cases} if checked.suite else {}
    used: dict[Need, tuple[int, str]] = {}
    for line, sample in checked.lines():
        if sample.arm == "traced" and sample.status == "ok" and (case := cases.get(sample.case)):
            for need in case.needs:
                used.setdefault(need, (line, case.id))
    return used


@rule("virtual-facts")
def _virtual_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    document = checked.document
    if document.machine.virtualization is None:
        for key, sign in _signs(checked):
            yield checked.fault(key, f"bare metal, but {sign}")
    named = (document.machine.cpu_model, document.machine.virtualization, document.run.packages.get("emulator"))
    if document.run.metric == "time" and any("TCG" in (name or "").upper() for name in named):
        found = "times of an emulated CPU, which say nothing of any machine"
        yield checked.fault("run.metric", found, "leave it out, and take times by KVM", "error")
    if document.run.metric == "instructions" and "emulator" not in document.run.packages:
        yield checked.fault("run.packages", "instructions of an emulated machine, but no emulator is named")


def _signs(checked: CheckedSubmission) -> Iterator[tuple[str, str]]:
    """Key of the fact, and what it says of a hypervisor."""
    document = checked.document
    if found := GUEST_CPU.search(document.machine.cpu_model or ""):
        yield "machine.cpu_model", f"the CPU's name says `{found[0]}`"
    if document.system.clocksource in KNOWN["guests"]["clocks"]:
        yield "system.clocksource", f"the clock source is `{document.system.clocksource}`"
    if any(flag.startswith(tuple(KNOWN["guests"]["flags"])) for flag in document.system.boot_flags):
        yield "system.boot_flags", "a boot flag is a guest's"
    if document.run.steal_ratio:
        yield "run.steal_ratio", "a hypervisor took time from it"
    if document.machine.nested:
        yield "machine.nested", "it says that it is nested"
    if any(line.startswith("Hypervisor detected") for line in document.system.boot_messages or ()):
        yield "system.boot_messages", "the kernel detected a hypervisor"


@rule("undisturbed")
def _undisturbed(checked: CheckedSubmission) -> Iterator[Fault]:
    for name in checked.document.run.warnings:
        if why := "; ".join(conditions.faults([name])):
            found = f"`{name}`: {why}, so its times lead nothing: they make no range, verdict or model"
            yield checked.fault("run.warnings", found, CONDITIONS[name].advice)


@rule("hosted-facts")
def _hosted_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    document = checked.document
    if document.provenance.kind != HOSTED:
        if is_hosted(document.machine.id):
            yield checked.fault("machine.id", "a hosted runner's, but `provenance.kind` is not")
    elif document.run.metric != "time" or document.machine.virtualization is None:
        yield checked.fault("provenance.kind", "a hosted runner is a virtual machine that was timed")
    elif document.machine.id != (wanted := runner_id(document.machine, document.system)):
        yield checked.fault("machine.id", f"image and CPU of the runner make `{wanted}`")


@rule("plain-names")
def _plain_names(checked: CheckedSubmission) -> Iterator[Fault]:
    document = checked.document
    named = {"machine": document.machine, "system": document.system}
    texts = [(f"{part}.{key}", value) for part, facts in named.items() for key, value in facts]
    for key, value in [*texts, ("tools", document.tools)]:
        if found := next((sign for text in _texts(value) if (sign := MARKUP.search(text))), None):
            yield checked.fault(key, f"{key} holds `{printable(found[0])}`")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from chain.from_iterable(map(_texts, chain.from_iterable(value.items())))
    elif isinstance(value, tuple):
        yield from chain.from_iterable(map(_texts, value))


@rule("program-runs")
def _program_runs(checked: CheckedSubmission) -> Iterator[Fault]:
    if checked.suite and checked.suite.workload.events == "counted":
        return  # what fires there is not the operation, such as a clock on each CPU
    for place, runs in checked.document.run.program_runs.items():
        case = checked.suite.case(place.partition(" ")[0]) if checked.suite else None
        is_silent = case is not None and case.counted_by == "nothing"
        if not runs_add_up(runs) or (round(runs) == 0 and not is_silent):
            yield checked.fault("run.program_runs", f"{printable(place)}: {runs} runs of its programs for each event")


MachineAmongOthers = tuple[Machine, Mapping[str, Machine]]
"""A machine, and what each submission says of it, by the submission's id."""

SAME = ("cpu_model", "architecture", "threads", "virtualization")


@rule("one-machine")
def _one_machine(checked: tuple[Path, Machine, Mapping[str, Machine]]) -> Iterator[Fault]:
    """The id of a machine is made of these facts, so one with others has another id."""
    file, machine, others = checked
    for key in SAME:
        own = getattr(machine, key)
        other = next((name for name, one in others.items() if getattr(one, key) != own), None)
        if other is not None:
            found = f"{key} `{own}`, but `{getattr(others[other], key)}` in {printable(other, MAX_PATH_LENGTH)}"
            yield Fault("machine.json", value_line(file, ("machine", key)), printable(found, MAX_PATH_LENGTH))


SAME_RULES = (_one_machine,)

RULES = (_machine_facts, _kernel_facts, _virtual_facts, _undisturbed, _hosted_facts, _plain_names, _program_runs)
