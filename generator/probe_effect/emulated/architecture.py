"""Processors to emulate: what differs between them in QEMU, the kernel's boot and Debian's packages."""

from dataclasses import dataclass
from typing import Any

from probe_effect import toml
from probe_effect.compilers import MACHINE
from probe_effect.errors import HostNotReady

GUESTS: dict[str, dict[str, Any]] = toml.beside(__file__, "guests")
"""How guests are started, each choice with its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestArchitecture:
    """One of Debian's architectures, as an emulated machine has it; `guests.toml` says what each field is."""

    debian: str
    machine: str
    loader: str
    emulator_package: str
    board: tuple[str, ...]
    cpu: str
    host_cpu: str
    unless_hosts: str
    line: tuple[str, ...]
    port: str
    console: str
    clock: str

    @property
    def emulator(self) -> str:
        """The name of the emulator's program."""
        return f"qemu-system-{self.machine}"


ARCHITECTURES = {
    name: GuestArchitecture(debian=name, **fields | {key: tuple(fields[key]) for key in ("board", "line")})
    for name, fields in GUESTS["processors"].items()
}
"""Debian's name to what is emulated."""

LOADERS = {one.machine: one.loader for one in ARCHITECTURES.values()}
"""Processor, as `uname -m` gives it, to its dynamic loader."""

DEFAULT = ARCHITECTURES["amd64"]
"""The default processor: the same on every host, so that one command counts the same everywhere."""


def of_the_host() -> GuestArchitecture:
    """The architecture of this machine. Raises: HostNotReady where it cannot be emulated here."""
    found = next((one for one in ARCHITECTURES.values() if one.machine == MACHINE), None)
    if found is None:
        able = ", ".join(one.machine for one in ARCHITECTURES.values())
        msg = f"this machine is {MACHINE}: an emulator is to be had here for {able} only"
        raise HostNotReady(msg)
    return found
