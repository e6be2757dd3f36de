"""All facts of a machine, as `machine.json` has them, and the id that they give it.

The same hardware and kernel give the same id, and it says nothing of who owns them. Every command asks this module what
its machine is, by the module's name, so that a test makes it another machine in one place.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from probe_effect.host import ROOT, usable_cpus
from probe_effect.machine import cpu, kernel, virtual
from probe_effect.store.machine_file import Machine, System

NOISE = re.compile(r"\((r|tm|c)\)|\b(cpu|processor|\d+-core)\b|@.*|with .* graphics", re.IGNORECASE)
"""Words in a CPU's name that distinguish no CPUs."""

HASH_DIGITS = 4
GIBIBYTE = 1 << 30


def collect_machine(root: Path = ROOT) -> Machine:
    """The hardware, real or virtual."""
    model, code, memory = cpu.cpu_model(root), cpu.microcode(root), cpu.memory_bytes(root)
    hypervisor = virtual.virtualization(root)
    return Machine(
        id=machine_id(
            cpu_model=model,
            signature=cpu.signature(root),
            microcode=code,
            threads=cpu.threads(root),
            memory_bytes=memory,
            virtualization=hypervisor,
            kernel_release=kernel.kernel_release(root),
        ),
        cpu_model=model,
        cpu_numbers=cpu.numbers(root),
        microarchitecture=cpu.microarchitecture(root),
        architecture=kernel.architecture(),
        sockets=cpu.sockets(root),
        cores=cpu.cores(root),
        threads=cpu.threads(root),
        smt=cpu.smt(root),
        memory_bytes=memory,
        governor=cpu.governor(root),
        turbo=cpu.turbo(root),
        microcode=code,
        virtualization=hypervisor,
        nested=virtual.nested(root),
    )


def collect_system(
    clock_read_ns: float | None, root: Path = ROOT, traps: Mapping[str, float] = MappingProxyType({})
) -> System:
    """The operating system. The caller measures `clock_read_ns`, with the workload's own clock loop, and `traps`."""
    found = System(
        os=kernel.os_name(root),
        kernel_release=kernel.kernel_release(root),
        kernel_config=kernel.kernel_options(root),
        boot_flags=kernel.boot_flags(root),
        vulnerabilities=kernel.vulnerabilities(root),
        clocksource=kernel.clocksource(root),
        clock_read_ns=clock_read_ns,
        bpf_jit=kernel.bpf_jit(root),
        boot_messages=virtual.boot_messages(root),
    )
    return found.model_copy(update=traps)


def choose_cpus(root: Path = ROOT) -> tuple[int, int | None]:
    """The CPU for the workload and the CPU for the tracer, of those that we may use; None if there is only one CPU.

    The workload gets the last one, which by custom has fewer interrupts than the first; the tracer gets the first
    that shares no core with it, or a sibling when there is no other.
    """
    usable = sorted(usable_cpus())
    workload = usable[-1]
    others = [number for number in usable if number != workload]
    apart = [number for number in others if number not in cpu.siblings(root, workload)]
    return workload, next(iter(apart or others), None)


def machine_id(
    *,
    cpu_model: str | None,
    signature: Iterable[str],
    microcode: str | None,
    threads: int,
    memory_bytes: int | None,
    virtualization: str | None,
    kernel_release: str,
) -> str:
    """A slug such as `amd-epyc-2t-kvm-3f07`: CPU, threads, hypervisor, and four digits of a hash over the rest.

    Memory counts in whole GiB: what the kernel manages differs a little from boot to boot.
    """
    memory_gib = None if memory_bytes is None else round(memory_bytes / GIBIBYTE)
    facts = (cpu_model, *signature, microcode, threads, memory_gib, kernel_release)
    digest = hashlib.sha256("\0".join(str(fact) for fact in facts).encode()).hexdigest()[:HASH_DIGITS]
    parts = (_slug(NOISE.sub(" ", cpu_model or "unknown cpu")), f"{threads}t", _slug(virtualization or ""), digest)
    return "-".join(part for part in parts if part)


def _slug(text: str) -> str:
    """`text` in lower-case letters and digits with single hyphens, at most 60 characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")
