"""The initial RAM file system of an emulated machine: archives that are cached one by one and concatenated.

The kernel unpacks archives that follow each other into one tree (Documentation/driver-api/early-userspace/
buffer-format.rst), so only what has changed is archived again. There are no modules, disks or networks.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from probe_effect.compilers import Sysroot
from probe_effect.emulated.architecture import LOADERS
from probe_effect.emulated.debian import made_whole
from probe_effect.errors import ProbeEffectError

LEFT_OUT = re.compile(
    r"(^|/)usr/share/(doc|man|info|locale|lintian|bash-completion|perl|perl5|i18n)(/|$)"
    r"|(^|/)usr/lib/[^/]+/perl(-base|5)?(/|$)|\.a$"
)
"""Files that no tool needs, which would take memory, and time to unpack."""

PROGRAM_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin")

WRAPPER = """\
#!/bin/sh
# A program of another release of Debian: with that release's loader and libraries.
exec {command} "$@"
"""


def archive(folder: Path, target: Path) -> Path:
    """The files of `folder` as an archive; made before, or now. Raises: ProbeEffectError with cpio's words."""
    if not target.is_file():
        with made_whole(target) as made:
            _cpio(folder, made)
    return target


def join(archives: Sequence[Path], target: Path) -> Path:
    """The archives concatenated in one file, as an emulator takes them."""
    with target.open("wb") as whole:
        for one in archives:
            with one.open("rb") as part:
                shutil.copyfileobj(part, whole)
            whole.write(b"\0" * (-whole.tell() % 4))
    return target


def compile_python(system: Sysroot, *folders: Path) -> None:
    """Have the Python of a system compile modules beforehand; emulated it would take minutes.

    Debian's packages compile theirs when they are installed, which they are not here. What it makes is the same for
    every processor, so the system is one that runs here.
    """
    python = _only(system.root / "usr/bin", "python3.[0-9]*").name
    command = [*foreign(system, python), "-I", "-m", "compileall", "-q"]
    options = ["--invalidation-mode", "unchecked-hash"]
    # Some modules of the tests of others do not compile; what is needed and faulty shows when it is run.
    subprocess.run(
        [*command, *options, *map(str, folders)],
        env={"PYTHONHOME": str(system.root / "usr")},
        capture_output=True,
        timeout=600,
        check=False,
    )


def foreign(system: Sysroot, program: str, place: Path | None = None) -> list[str]:
    """The words that run a program of another system with its own loader and libraries, when it is in `place`.

    Raises: ProbeEffectError where it has no such program.
    """
    root, place = system.root, place or system.root
    loader = _only(root, LOADERS[system.machine]).relative_to(root)
    path = next((folder for folder in PROGRAM_FOLDERS if (root / folder / program).exists()), None)
    if path is None:
        msg = f"{program}: no such program in its package"
        raise ProbeEffectError(msg)
    libraries = ":".join(f"{place}/{folder}/{system.triplet}" for folder in ("lib", "usr/lib"))
    return [str(place / loader), "--library-path", libraries, str(place / path / program)]


def wrapper(system: Sysroot, place: Path, program: str) -> str:
    """A shell script that runs `program` of the system, when that is in the folder `place`."""
    return WRAPPER.format(command=" ".join(foreign(system, program, place)))


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if not found:
        msg = f"{folder}: no {pattern} in it"
        raise ProbeEffectError(msg)
    return found[0]


def _cpio(root: Path, target: Path) -> None:
    """Archive all that is needed, folders before what is in them."""
    names = (path.relative_to(root).as_posix() for path in sorted(root.rglob("*")))
    with target.open("wb") as file:
        run = subprocess.run(
            ["cpio", "--create", "--format=newc", "--null", "--quiet", "--reproducible", "--owner=0:0"],  # noqa: S607
            cwd=root,
            input=b"".join(name.encode() + b"\0" for name in names if not LEFT_OUT.search(name)),
            stdout=file,
            stderr=subprocess.PIPE,
            timeout=600,
            check=False,
        )
    if run.returncode != 0:
        msg = f"{root}: cpio ended with status {run.returncode}: {run.stderr.decode(errors='replace').strip()}"
        raise ProbeEffectError(msg)
