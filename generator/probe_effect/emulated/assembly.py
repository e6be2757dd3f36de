"""The image to boot: a kernel, Debian's userland, tracers of any release, our own program and the suites' files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.compilers import CompiledProgram, c_compiler_for
from probe_effect.emulated import parts
from probe_effect.emulated.architecture import GuestArchitecture, of_the_host
from probe_effect.emulated.debian import DebianRelease, check_programs
from probe_effect.emulated.kernel import KernelImage
from probe_effect.emulated.qemu import Emulator, Image, find_emulator
from probe_effect.emulated.recording import MARKED
from probe_effect.emulated.tracers import Wanted
from probe_effect.measure.request import Work
from probe_effect.tools.record import TOOLS
from probe_effect.workloads.loop import build

USERLAND = "bookworm"
"""The release inside, for every kernel, so that the probed C library is the same for all kernels."""

PYTHON_PACKAGES = ("python3-minimal", "libpython3-stdlib")
BASE_PACKAGES = ("base-files", "busybox-static", "libc-bin", "linux-libc-dev", *PYTHON_PACKAGES)
"""Packages of the userland; bpftrace 0.17 needs the kernel's headers for some tracepoints of Linux 5.10."""
SDK_PACKAGES = ("libc6-dev", "libbpf-dev", "systemtap-sdt-dev")
"""Packages to compile workloads and BPF programs against; they stay on the host."""

HOST_PROGRAMS = {"cpio": "cpio", "apt-get": "apt", "dpkg-deb": "dpkg"}
"""The package that has each program."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """An image, the workloads in it, and its origins."""

    emulator: Emulator
    image: Image
    programs: dict[Path, CompiledProgram]
    """Workload's source to the compiled program."""
    packages: dict[str, str]
    """`kernel`, `userland`, or a tracer as it was named, to the package with its version and release."""
    config: Path | None
    """The kernel's build options."""


def assemble(
    architecture: GuestArchitecture,
    kernel: KernelImage,
    tracers: Sequence[Wanted],
    works: Sequence[Work],
    cache: Path,
    *,
    records: bool = False,
) -> Assembly:
    """The image for a kernel, with these tracers and suites, and what emulates it.

    `cache` is our folder for everything that is downloaded or made. `records`: whether paths of events will be.
    Raises: HostNotReady where a program or package cannot be had; ProbeEffectError where something cannot be made.
    """
    check_programs(host_programs(architecture))
    native = [one for one in tracers if one.release is None]
    names = sorted({name for one in native for name in one.packages})
    userland = DebianRelease(USERLAND, cache, architecture)
    base, sdk = userland.unpack([*BASE_PACKAGES, *names]), userland.unpack(SDK_PACKAGES).system
    python = DebianRelease(USERLAND, cache, of_the_host()).unpack(PYTHON_PACKAGES).system
    others = {
        one: DebianRelease(one.release, cache, architecture).unpack([one.package])
        for one in tracers
        if one.release and one.package
    }
    programs = {
        work.source(): build(work.source(), cache, system=sdk, more=MARKED if records else ()) for work in works
    }
    compiled = [program.path for program in programs.values()]
    archives = (
        parts.userland(base, python, cache),
        *(parts.from_elsewhere(one, unpacked, cache) for one, unpacked in others.items()),
        parts.own(kernel, compiled, _scripts(tracers, works), python=python, sdk=sdk, cache=cache),
    )
    packages = {"kernel": kernel.origin, "userland": base.origin("libc6")}
    packages |= {one.word: base.origin(one.packages[0]) for one in native if one.packages}
    packages |= {one.word: unpacked.origin(str(one.package)) for one, unpacked in others.items()}
    emulator = find_emulator(architecture, cache)
    return Assembly(emulator, Image(kernel.image, archives), programs, packages, kernel.config)


def host_programs(architecture: GuestArchitecture) -> dict[str, str]:
    """What has to be installed here to put such a machine together: program to the package that brings it."""
    return HOST_PROGRAMS | dict([c_compiler_for(architecture.machine)])


def _scripts(tracers: Sequence[Wanted], works: Sequence[Work]) -> list[Path]:
    """The suites' scripts for these tracers."""
    endings = tuple(TOOLS[one.tracer].ending for one in tracers)
    return sorted(path for work in works for path in work.folder.iterdir() if path.name.endswith(endings))
