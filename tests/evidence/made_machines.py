"""Machines that nobody has: kinds of hardware that there are, and any number of machines made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.store.machine_file import Machine, with_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.store.machine_file import System

SPEED_SIGMA = 0.35
"""Of the natural logarithm of a machine's factor: two of three lie between 0.7 and 1.4 times the measured one."""


MICROCODE = "0x2b000643"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """A kind of machine, as `machine.json` describes it."""

    cpu_model: str
    signature: tuple[str, ...]
    """What the machine's id is made of beside the name: family, model, stepping; or as Arm's kernels have them."""
    architecture: str = "x86_64"
    sockets: int = 1
    cores: int
    threads: int
    memory_gib: int
    virtualization: str | None = None
    is_nested: bool = False
    clocksource: str = "tsc"
    governor: str | None = None

    @property
    def microcode(self) -> str | None:
        """Its revision; Arm's kernels name none."""
        return MICROCODE if self.architecture == "x86_64" else None


HARDWARE = (
    Hardware(
        cpu_model="AMD EPYC",
        signature=("25", "1", "1"),
        cores=2,
        threads=2,
        memory_gib=24,
        virtualization="KVM",
        is_nested=True,
    ),
    Hardware(
        cpu_model="AMD Ryzen 9 7950X 16-Core Processor",
        signature=("25", "97", "2"),
        cores=16,
        threads=32,
        memory_gib=64,
        governor="schedutil",
    ),
    Hardware(
        cpu_model="Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz",
        signature=("6", "106", "6"),
        cores=4,
        threads=8,
        memory_gib=32,
        virtualization="Hyper-V",
        clocksource="hyperv_clocksource_tsc_page",
    ),
    Hardware(
        cpu_model="implementer 0x41 part 0xd0c",
        signature=("0x41", "0x3", "0xd0c", "1"),
        architecture="aarch64",
        cores=4,
        threads=4,
        memory_gib=16,
        virtualization="KVM",
        clocksource="arch_sys_counter",
    ),
    Hardware(
        cpu_model="implementer 0x41 part 0xd0b",
        signature=("0x41", "0x4", "0xd0b", "1"),
        architecture="aarch64",
        cores=4,
        threads=4,
        memory_gib=8,
        clocksource="arch_sys_counter",
        governor="ondemand",
    ),
    Hardware(
        cpu_model="Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz",
        signature=("6", "79", "1"),
        sockets=2,
        cores=28,
        threads=56,
        memory_gib=128,
        governor="performance",
    ),
    Hardware(
        cpu_model="AMD EPYC 7763 64-Core Processor",
        signature=("25", "1", "1"),
        cores=2,
        threads=4,
        memory_gib=16,
        virtualization="KVM",
        clocksource="kvm-clock",
    ),
    Hardware(
        cpu_model="Intel(R) Xeon(R) Processor @ 2.60GHz",
        signature=("6", "143", "8"),
        cores=2,
        threads=4,
        memory_gib=8,
        virtualization="KVM",
        is_nested=True,
    ),
    Hardware(
        cpu_model="implementer 0x41 part 0xd4f",
        signature=("0x41", "0x0", "0xd4f", "1"),
        architecture="aarch64",
        cores=72,
        threads=72,
        memory_gib=256,
        clocksource="arch_sys_counter",
        governor="performance",
    ),
)
"""Taken in turn, so that few machines are already of every tier and both instruction sets."""

KERNELS = (
    ("Debian GNU/Linux 12 (bookworm)", "6.1.0-50"),
    ("Ubuntu 24.04 LTS", "6.8.0-90-generic"),
    ("Debian GNU/Linux 13 (trixie)", "6.12.107+deb13"),
    ("Ubuntu 22.04 LTS", "5.15.0-170-generic"),
    ("Fedora Linux 43", "6.17.8-300.fc43"),
    ("Debian GNU/Linux 11 (bullseye)", "5.10.0-40"),
    ("Arch Linux", "6.18.44-arch1-1"),
)
"""System and kernel release; as many as share no factor with `HARDWARE`, so that all pairs come."""

NESTED_FLAGS = ("nested_pvm",)
"""How boot flags begin that only a nested guest has."""


@dataclass(frozen=True, slots=True)
class MadeMachine:
    """A machine that nobody has: its facts, and how fast it is."""

    hardware: Hardware
    machine: Machine
    os: str
    kernel_release: str
    speed: float
    """Factor of every time."""

    def system(self, like: System) -> System:
        """The system `like`, with what this machine has otherwise; what CPUs are vulnerable to is the maker's."""
        is_guest = self.hardware.virtualization is not None
        flags = [flag for flag in like.boot_flags if self.hardware.is_nested or not flag.startswith(NESTED_FLAGS)]
        changes: dict[str, object] = {
            "os": self.os,
            "kernel_release": self.kernel_release,
            "boot_flags": tuple(flags) if is_guest else (),
            "boot_messages": like.boot_messages if is_guest else None,
            "vulnerabilities": {},
            "clocksource": self.hardware.clocksource,
            "clock_read_ns": None if like.clock_read_ns is None else round(like.clock_read_ns * self.speed, 2),
        }
        return like.model_copy(update=changes)


def machines(seed: int) -> Iterator[MadeMachine]:
    """Machines without end: the same for the same seed, each with an id of its own."""
    taken: set[str] = set()
    for number in count():
        hardware = HARDWARE[number % len(HARDWARE)]
        speed = float(np.random.default_rng([seed, number]).lognormal(0, SPEED_SIGMA))
        yield made_machine(hardware, KERNELS[number % len(KERNELS)], speed, number, taken)


def made_machine(
    hardware: Hardware, kernel: tuple[str, str], speed: float, number: int, taken: set[str]
) -> MadeMachine:
    """The machine of that number, with system and kernel release; its id is none of `taken`, and is put there."""
    (system, release), known = kernel, _machine(hardware)
    own = next(one for one in _with_ids(known, hardware, release, number) if one.id not in taken)
    taken.add(own.id)
    return MadeMachine(hardware, own, system, release, speed)


def _with_ids(known: Machine, hardware: Hardware, release: str, number: int) -> Iterator[Machine]:
    """The machine with ids that the tool could give it; further ones for when a machine made before has the first."""
    for attempt in count():
        yield with_id(known, (*hardware.signature, str(number), str(attempt)), release)


def _machine(hardware: Hardware) -> Machine:
    return Machine(
        id="made-of-the-rest",
        cpu_model=hardware.cpu_model,
        architecture=hardware.architecture,
        sockets=hardware.sockets,
        cores=hardware.cores,
        threads=hardware.threads,
        smt=hardware.threads > hardware.cores,
        memory_bytes=hardware.memory_gib << 30,
        governor=hardware.governor,
        turbo=None if hardware.governor is None else True,
        microcode=hardware.microcode,
        virtualization=hardware.virtualization,
        nested=_nested(hardware),
    )


def _nested(hardware: Hardware) -> bool | None:
    """As the tool records it: a guest that shows no sign of being nested may be, all the same."""
    if hardware.virtualization is None:
        return False
    return True if hardware.is_nested else None
