"""Processors to emulate: what differs between them in QEMU, the kernel's boot and Debian's packages."""

from dataclasses import dataclass

from probe_effect.compilers import MACHINE
from probe_effect.errors import HostNotReady


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestArchitecture:
    """One of Debian's architectures (`dpkg-architecture -L`), as an emulated machine has it."""

    debian: str
    """Debian's name of the architecture, which packages have."""
    machine: str
    """The kernel's name of the architecture, as `uname -m` prints it."""
    loader: str
    """File name of glibc's dynamic loader (sysdeps/unix/sysv/linux/*/shlib-versions)."""
    emulator_package: str
    """The package with the emulator."""
    board: tuple[str, ...]
    """The emulator's options for the board; empty for the emulator's own choice."""
    cpu: str
    """The CPU, as the emulator calls it."""
    line: tuple[str, ...]
    """The emulator's options that make the character device `line` a serial port."""
    port: str
    """The device of that port in the guest."""
    boot_words: str
    """Boot parameters of the kernel on this architecture."""

    @property
    def emulator(self) -> str:
        """The name of the emulator's program."""
        return f"qemu-system-{self.machine}"


ARCHITECTURES = {
    one.debian: one
    for one in (
        GuestArchitecture(
            debian="amd64",
            machine="x86_64",
            loader="ld-linux-x86-64.so.2",
            emulator_package="qemu-system-x86",
            board=(),
            # With what newer QEMUs add, Linux since 6.4 copies memory by instructions whose repetitions count each.
            cpu="max,-fsrm,-fsrs,-fzrm",
            line=("-serial", "chardev:line"),
            port="/dev/ttyS1",
            # Without these the kernel would leave the time stamp counter for a clock whose reads leave the CPU.
            boot_words="console=ttyS0 clocksource=tsc tsc=reliable",
        ),
        GuestArchitecture(
            debian="arm64",
            machine="aarch64",
            loader="ld-linux-aarch64.so.1",
            emulator_package="qemu-system-arm",
            board=("-machine", "virt"),
            cpu="neoverse-n1",  # that of many rented machines: Graviton 2, Altra
            # The board has one port of its own, which is the console's.
            line=("-device", "pci-serial,chardev=line"),
            port="/dev/ttyS0",
            boot_words="console=ttyAMA0",
        ),
    )
}
"""Debian's name to what is emulated. Others of Debian's lack a kernel or a userland in some release that we count."""

LOADERS = {one.machine: one.loader for one in ARCHITECTURES.values()}
"""Processor, as `uname -m` gives it, to its dynamic loader."""

DEFAULT = ARCHITECTURES["amd64"]
"""The default processor: the same on every host, so that one command counts the same everywhere."""


def of_the_host() -> GuestArchitecture:
    """That of the machine that we run on. Raises: HostNotReady where it is none of these."""
    found = next((one for one in ARCHITECTURES.values() if one.machine == MACHINE), None)
    if found is None:
        able = ", ".join(one.machine for one in ARCHITECTURES.values())
        msg = f"this machine is {MACHINE}: an emulator is to be had here for {able} only"
        raise HostNotReady(msg)
    return found
