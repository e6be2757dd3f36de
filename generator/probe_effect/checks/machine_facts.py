"""The facts of a machine do not contradict each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

X86 = frozenset({"x86_64", "amd64", "i386", "i486", "i586", "i686", "i86pc"})
ARM = frozenset({"aarch64", "arm64", "arm", "armv6l", "armv7l", "armv8l"})
FAMILIES = (
    (re.compile(r"\b(intel|amd|epyc|ryzen|xeon|opteron|threadripper|pentium|celeron)\b", re.IGNORECASE), X86),
    (re.compile(r"\b(apple m\d|neoverse|cortex|ampere|graviton|kunpeng|thunderx\w*)\b", re.IGNORECASE), ARM),
    (re.compile(r"\bpower\d+\b", re.IGNORECASE), frozenset({"ppc64", "ppc64le"})),
)
"""Words in a CPU's name, to the architectures that it can have."""

NAMED_CORES = re.compile(r"\b(\d{1,3})-core\b", re.IGNORECASE)
MOST_THREADS_PER_CORE = 8
LEAST_MEMORY_BYTES = 32 * 2**20
MOST_MEMORY_BYTES = 64 * 2**40


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    yield from _count_faults(checked)
    yield from _name_faults(checked)
    yield from _memory_faults(checked)
    yield from _placement_faults(checked)


def _count_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    machine = checked.document.machine
    if machine.threads == 0:
        yield _sure(checked, "machine.threads", "a machine without a CPU")
        return
    for key, count in (("sockets", machine.sockets), ("cores", machine.cores)):
        if count == 0:
            yield _sure(checked, f"machine.{key}", f"a machine with 0 {key}")
    if not machine.cores:
        return
    if machine.sockets and machine.sockets > machine.cores:
        yield _sure(checked, "machine.sockets", f"{machine.sockets} sockets, but {machine.cores} cores")
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


def _memory_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    memory_bytes = checked.document.machine.memory_bytes
    if memory_bytes == 0:
        yield _sure(checked, "machine.memory_bytes", "a machine without memory")
    elif memory_bytes is not None and not LEAST_MEMORY_BYTES <= memory_bytes <= MOST_MEMORY_BYTES:
        yield _perhaps(checked, "machine.memory_bytes", f"{memory_bytes} bytes of memory")


def _placement_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    run = checked.document.run
    if run.tracer_cpu is not None and run.tracer_cpu == run.workload_cpu:
        yield _sure(checked, "run.tracer_cpu", "workload and tracer on one CPU, which is then not the tracer's own")


def _sure(checked: CheckedSubmission, key: str, found: str) -> Fault:
    return Fault("machine.json", checked.line_of(key), found, "let the tool write machine.json")


def _perhaps(checked: CheckedSubmission, key: str, found: str) -> Fault:
    hint = "look at the machine, and say in the pull request why it is so"
    return Fault("machine.json", checked.line_of(key), found, hint, "warning")


RULE = Rule(
    "machine-facts",
    "CPU name, architecture, counts and memory of a machine agree with each other.",
    _faults,
    good="`AMD Ryzen 7 5800X 8-Core Processor`, x86_64, 8 cores, 16 threads",
    bad="`Intel Xeon`, aarch64",
)
