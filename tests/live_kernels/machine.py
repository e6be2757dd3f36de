"""An emulated machine that can run tests: the userland of all others, with our pytest and Debian's numpy."""

from __future__ import annotations

import shutil
import tempfile
from importlib.metadata import files
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.builders import PROJECT
from helpers.live_programs import written
from probe_effect.advising import loop
from probe_effect.guests import assembly
from probe_effect.guests.assembly import BASE_PACKAGES, PYTHON_PACKAGES, SDK_PACKAGES, USERLAND
from probe_effect.guests.debian import DebianRelease, of_the_host
from probe_effect.guests.guest import LIBRARY, PLACE
from probe_effect.guests.qemu import Image, archive, compile_python
from probe_effect.host.compilers import c_compiler, compiled

if TYPE_CHECKING:
    from probe_effect.guests.debian import GuestArchitecture, KernelImage
    from probe_effect.host.compilers import Sysroot

TESTS = PROJECT / "tests"
FILES = ("live/test_live_count.py", "live/test_live_loaded.py")
"""The tests of what `live/` asks the kernel; they need no package that has compiled parts but numpy."""

HELPERS = ("helpers/live_programs.py", "helpers/needs.py", "live_kernels/inside.py")
LIBRARIES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "system-calls")
"""Packages without compiled parts, of which the guest has the versions of the lock."""

DEBIAN_PACKAGES = ("python3-numpy", "strace")
PROGRAM, INSIDE = "-P -m probe_effect.guests.guest", "-u -P -m live_kernels.inside"
"""What the first program starts: in all other guests, and in ours."""


def image(kernel: KernelImage, architecture: GuestArchitecture, cache: Path) -> Image:
    """The kernel with a file system that has the tests; `cache` is the folder of all emulated machines.

    Raises: HostNotReady where a package cannot be had; ProbeEffectError where something cannot be made.
    """
    release = DebianRelease(USERLAND, cache, architecture)
    base, sdk = release.unpack([*BASE_PACKAGES, *DEBIAN_PACKAGES]), release.unpack(SDK_PACKAGES).system
    python = DebianRelease(USERLAND, cache, of_the_host()).unpack(PYTHON_PACKAGES).system
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        root = Path(folder) / "root"
        _fill(root, sdk.triplet)
        compile_python(python, root)
        ours = archive(root, Path(folder) / "tests.cpio").rename(cache / f"live-tests-{architecture.debian}.cpio")
        programs = _programs(Path(folder), sdk)
        own = assembly.own(kernel, programs, (), python=python, sdk=sdk, cache=cache)
        own = own.rename(cache / f"live-tests-own-{architecture.debian}.cpio")  # its programs are of this run alone
    return Image(kernel.image, (assembly.userland(base, python, cache), own, ours))


def _fill(root: Path, triplet: str) -> None:
    """Put what tests need where it is in the guest; the first program is another than that which makes runs."""
    library = root / LIBRARY.removeprefix("/")
    libraries = (file for name in LIBRARIES for file in files(name) or () if file.suffix != ".pyc")
    copies = {Path(str(file.locate())): library / file for file in libraries if ".." not in file.parts}
    copies |= {TESTS / name: library / name for name in (*FILES, *HELPERS)} | {
        loop.SOURCE: library / "probe_effect/advising" / loop.SOURCE.name,
        PROJECT / "Makefile": root / PLACE.removeprefix("/") / "Makefile",
        TESTS / "live_kernels/cc": root / "usr/bin/cc",
        assembly.INIT: root / PLACE.removeprefix("/") / "init",
    }
    for source, target in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for name in ("blas", "lapack"):  # of which Debian has several, and a package chooses when it is installed
        link = root / "usr/lib" / triplet / f"lib{name}.so.3"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"{name}/lib{name}.so.3")
    init = root / PLACE.removeprefix("/") / "init"
    init.write_text(init.read_text(encoding="utf-8").replace(PROGRAM, INSIDE), encoding="utf-8")
    init.chmod(0o755)


def _programs(folder: Path, sdk: Sysroot) -> list[Path]:
    """The programs that tests compile, for the guest: `cc` hands them out there."""
    compiler = c_compiler(("-O1",), system=sdk)
    counted = compiled(written(folder), compiler, "live-tests/counted", folder)
    looping = compiled(loop.SOURCE, c_compiler(loop.FLAGS, system=sdk), "live-tests/loop", folder)
    return [counted.path, looping.path]
