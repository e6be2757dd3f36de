"""All facts of a machine, as `machine.json` has them.

Every command asks this module what its machine is, by the module's name, so that a test makes it another machine in one
place.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from probe_effect.host import ROOT, usable_cpus
from probe_effect.machine import cpu, kernel
from probe_effect.store.machine_file import Machine, System, with_id


def collect_machine(root: Path = ROOT) -> Machine:
    """The hardware, real or virtual."""
    found = Machine(
        id="made-of-the-rest",
        cpu_model=cpu.cpu_model(root),
        cpu_numbers=cpu.numbers(root),
        microarchitecture=cpu.microarchitecture(root),
        architecture=kernel.architecture(),
        sockets=cpu.sockets(root),
        cores=cpu.cores(root),
        threads=cpu.threads(root),
        smt=cpu.smt(root),
        memory_bytes=cpu.memory_bytes(root),
        governor=cpu.governor(root),
        turbo=cpu.turbo(root),
        microcode=cpu.microcode(root),
        virtualization=cpu.virtualization(root),
        nested=cpu.nested(root),
    )
    return with_id(found, cpu.signature(root), kernel.kernel_release(root))


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
        boot_messages=cpu.boot_messages(root),
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
