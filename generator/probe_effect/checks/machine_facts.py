"""The facts of a machine agree with each other and with what was measured, and its names are plain text."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from probe_effect.checks.rule import CheckedSubmission, Fault, rule
from probe_effect.model import FIRST_RELEASE, Need, series_of
from probe_effect.records import CONDITIONS, beside, faults_of
from probe_effect.store.documents import value_line
from probe_effect.store.machine_file import HOSTED, Machine, is_hosted, runner_id, runs_add_up
from probe_effect.store.places import MAX_PATH_LENGTH
from probe_effect.store.tables import printable

KNOWN = beside(__file__)
FAMILIES = [(re.compile(family["words"], re.IGNORECASE), family["architectures"]) for family in KNOWN["families"]]
"""Words in a CPU's name, to the architectures that it can have."""

NAMED_CORES = re.compile(r"\b(\d{1,3})-core\b", re.IGNORECASE)
MOST_PER_CORE = 8
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
    machine, run = checked.document.machine, checked.document.run
    sockets, cores, threads, memory_bytes = machine.sockets, machine.cores or 0, machine.threads, machine.memory_bytes
    has_own_cpu = run.tracer_cpu is None or run.tracer_cpu != run.workload_cpu
    wrong = (
        ("machine.threads", threads == 0, "a machine without a CPU"),
        ("machine.sockets", sockets == 0, "a machine with 0 sockets"),
        ("machine.cores", machine.cores == 0, "a machine with 0 cores"),
        ("machine.sockets", 0 < cores < (sockets or 0), f"{sockets} sockets, but {cores} cores"),
        ("machine.memory_bytes", memory_bytes == 0, "a machine without memory"),
        ("run.tracer_cpu", not has_own_cpu, "workload and tracer on one CPU, which is then not the tracer's own"),
    )
    for key, is_wrong, message in wrong:
        if is_wrong:
            yield checked.fault(key, message)
    name, counts, most_threads = machine.cpu_model or "", f"{threads} threads on {cores} cores", cores * MOST_PER_CORE
    possible = [architectures for word, architectures in FAMILIES if word.search(name)]
    named = NAMED_CORES.search(name) if machine.virtualization is None else None
    is_usual = not memory_bytes or LEAST_MEMORY_BYTES <= memory_bytes <= MOST_MEMORY_BYTES
    is_possible = not possible or any(machine.architecture in family for family in possible)
    odd = (
        ("machine.threads", 0 < most_threads < threads, counts),
        ("machine.smt", machine.smt is False and cores < threads <= most_threads, f"no SMT, but {counts}"),
        ("machine.smt", machine.smt and 0 < threads <= cores, f"SMT, but {counts}"),
        ("machine.memory_bytes", not is_usual, f"{memory_bytes} bytes of memory"),
        ("machine.architecture", not is_possible, f"`{machine.architecture}`, but the CPU is `{name[:60]}`"),
        (
            "machine.cores",
            named and cores > int(named[1]) * (sockets or 1),
            f"{cores} cores, but the CPU's name says {named and named[1]}",
        ),
    )
    for key, is_odd, message in odd:
        if is_odd:
            yield checked.fault(
                key, message, "look at the machine, and say in the pull request why it is so", "warning"
            )


@rule("kernel-facts")
def _kernel_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    system, cases = checked.document.system, checked.cases()
    if not system.kernel_config:  # not Linux, or not readable there
        return
    release = (0, 0) if BACKPORTS.search(system.kernel_release) else series_of(system.kernel_release)
    # Each need of a measured case, to the first row that used it.
    used: dict[Need, tuple[int, str]] = {}
    for line, sample in checked.lines():
        if sample.arm == "traced" and sample.status == "ok" and (case := cases.get(sample.case)):
            for need in case.needs:
                used.setdefault(need, (line, case.id))
    for need, (line, case_id) in used.items():
        option = OPTIONS.get(need)
        if option is not None and system.kernel_config.get(option) == "n":
            yield Fault("samples.csv", line, f"case `{case_id}` was measured, but the kernel has {option}=n")
        elif (0, 0) < release < FIRST_RELEASE.get(need, (0, 0)):
            lacks = f"Linux {release[0]}.{release[1]} has no {need}"
            yield Fault("samples.csv", line, f"case `{case_id}` was measured, but {lacks}")


@rule("virtual-facts")
def _virtual_facts(checked: CheckedSubmission) -> Iterator[Fault]:
    machine, system, run = checked.document.machine, checked.document.system, checked.document.run
    guest_cpu = GUEST_CPU.search(machine.cpu_model or "")
    guest_flag = any(flag.startswith(tuple(KNOWN["guests"]["flags"])) for flag in system.boot_flags)
    was_detected = any(line.startswith("Hypervisor detected") for line in system.boot_messages or ())
    of_guest = (
        ("machine.cpu_model", guest_cpu, f"the CPU's name says `{guest_cpu and guest_cpu[0]}`"),
        (
            "system.clocksource",
            system.clocksource in KNOWN["guests"]["clocks"],
            f"the clock source is `{system.clocksource}`",
        ),
        ("system.boot_flags", guest_flag, "a boot flag is a guest's"),
        ("run.steal_ratio", run.steal_ratio, "a hypervisor took time from it"),
        ("machine.nested", machine.nested, "it says that it is nested"),
        ("system.boot_messages", was_detected, "the kernel detected a hypervisor"),
    )
    for key, is_there, sign in of_guest if machine.virtualization is None else ():
        if is_there:
            yield checked.fault(key, f"bare metal, but {sign}")
    named = (machine.cpu_model, machine.virtualization, run.packages.get("emulator"))
    if run.metric == "time" and any("TCG" in (name or "").upper() for name in named):
        message = "times of an emulated CPU, which say nothing of any machine"
        yield checked.fault("run.metric", message, "leave it out, and take times by KVM", "error")
    if run.metric == "instructions" and "emulator" not in run.packages:
        yield checked.fault("run.packages", "instructions of an emulated machine, but no emulator is named")


@rule("undisturbed")
def _undisturbed(checked: CheckedSubmission) -> Iterator[Fault]:
    for name in checked.document.run.warnings:
        if why := "; ".join(faults_of([name])):
            message = f"`{name}`: {why}, so its times lead nothing: they make no range, verdict or model"
            yield checked.fault("run.warnings", message, CONDITIONS[name].advice)


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
        if match := next(filter(None, map(MARKUP.search, _texts(value))), None):
            yield checked.fault(key, f"{key} holds `{printable(match[0])}`")


def _texts(value: object) -> Iterator[str]:
    """The texts that a fact holds, at any depth; of a table, its keys too."""
    if isinstance(value, str):
        yield value
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    if isinstance(parts, list | tuple):
        for part in parts:
            yield from _texts(part)


@rule("program-runs")
def _program_runs(checked: CheckedSubmission) -> Iterator[Fault]:
    if checked.suite and checked.suite.workload.events == "counted":
        return  # what fires there is not the operation, such as a clock on each CPU
    for key, runs in checked.document.run.program_runs.items():
        case = checked.suite.case(key.partition(" ")[0]) if checked.suite else None
        is_silent = case is not None and case.counted_by == "nothing"
        if not runs_add_up(runs) or (round(runs) == 0 and not is_silent):
            yield checked.fault("run.program_runs", f"{printable(key)}: {runs} runs of its programs for each event")


SAME = ("cpu_model", "architecture", "threads", "virtualization")


@rule("one-machine")
def _one_machine(checked: tuple[Path, Machine, Mapping[str, Machine]]) -> Iterator[Fault]:
    """The id of a machine is made of these facts, so one with others has another id."""
    file, machine, others = checked
    for key in SAME:
        own = getattr(machine, key)
        other = next((name for name, other_machine in others.items() if getattr(other_machine, key) != own), None)
        if other is not None:
            message = f"{key} `{own}`, but `{getattr(others[other], key)}` in {printable(other, MAX_PATH_LENGTH)}"
            yield Fault("machine.json", value_line(file, ("machine", key)), printable(message, MAX_PATH_LENGTH))


RULES = (_machine_facts, _kernel_facts, _virtual_facts, _undisturbed, _hosted_facts, _plain_names, _program_runs)

SAME_RULES = (_one_machine,)
