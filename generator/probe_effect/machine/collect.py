"""All facts, as `machine.json` holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.host import ROOT, usable_cpus
from probe_effect.machine import clock, cpu, identity, kernel, virtual
from probe_effect.store.machine_file import Machine, System

if TYPE_CHECKING:
    from pathlib import Path


def collect_machine(root: Path = ROOT) -> Machine:
    """The hardware, real or virtual."""
    model, code, memory = cpu.cpu_model(root), cpu.microcode(root), cpu.memory_bytes(root)
    hypervisor = virtual.virtualization(root)
    return Machine(
        id=identity.machine_id(
            cpu_model=model,
            signature=cpu.signature(root),
            microcode=code,
            threads=cpu.threads(root),
            memory_bytes=memory,
            virtualization=hypervisor,
            kernel_release=kernel.kernel_release(root),
        ),
        cpu_model=model,
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


def collect_system(clock_read_ns: float | None, root: Path = ROOT) -> System:
    """The operating system. `clock_read_ns` is measured by the caller, with the workload's own clock loop."""
    return System(
        os=kernel.os_name(root),
        kernel_release=kernel.kernel_release(root),
        kernel_config=kernel.kernel_options(root),
        boot_flags=kernel.boot_flags(root),
        vulnerabilities=kernel.vulnerabilities(root),
        clocksource=clock.clocksource(root),
        clock_read_ns=clock_read_ns,
        bpf_jit=kernel.bpf_jit(root),
    )


def choose_cpus(root: Path = ROOT) -> tuple[int, int | None]:
    """(CPU for the workload, CPU for the tracer or None on a one-CPU machine), of those that we may use.

    The workload gets the last one, which by custom has fewer interrupts than the first; the tracer gets the first
    that shares no core with it, or a sibling when there is no other.
    """
    usable = sorted(usable_cpus())
    workload = usable[-1]
    others = [number for number in usable if number != workload]
    apart = [number for number in others if number not in cpu.siblings(root, workload)]
    return workload, next(iter(apart or others), None)
