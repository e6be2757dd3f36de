"""The initial RAM file system of an emulated machine: archives that are cached one by one and lie behind each other.

The kernel unpacks archives that follow each other into one tree (Documentation/driver-api/early-userspace/
buffer-format.rst), so that only what has changed is archived anew. There are no modules, disks or networks.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.emulated.debian import made_whole
from probe_effect.errors import ProbeEffectError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEFT_OUT = re.compile(
    r"(^|/)usr/share/(doc|man|info|locale|lintian|bash-completion|perl|perl5|i18n)(/|$)"
    r"|(^|/)usr/lib/[^/]+/perl(-base|5)?(/|$)|\.a$"
)
"""What no tool asks for: memory for it would be taken, and time to unpack it."""

LOADER = "ld-linux-x86-64.so.2"
LIBRARY_FOLDERS = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")

WRAPPER = """\
#!/bin/sh
# A program of another release of Debian: with that release's loader and libraries.
exec {loader} --library-path {libraries} {program} "$@"
"""


def archive(folder: Path, target: Path) -> Path:
    """The files of `folder` as an archive; made before, or now. Raises: ProbeEffectError with cpio's words."""
    if not target.is_file():
        with made_whole(target) as made:
            _cpio(folder, made)
    return target


def join(archives: Sequence[Path], target: Path) -> Path:
    """The archives behind each other in one file, as an emulator takes them."""
    with target.open("wb") as whole:
        for one in archives:
            with one.open("rb") as part:
                shutil.copyfileobj(part, whole)
            whole.write(b"\0" * (-whole.tell() % 4))
    return target


def compile_python(root: Path, *folders: Path) -> None:
    """Have the Python of the system at `root` compile modules beforehand; emulated it would take minutes.

    Debian's packages compile theirs when they are installed, which they are not here. Raises: ProbeEffectError.
    """
    libraries = ":".join(str(root / folder) for folder in LIBRARY_FOLDERS)
    loader = _only(root, LOADER)
    python = _only(root / "usr/bin", "python3.[0-9]*")
    command = [str(loader), "--library-path", libraries, str(python), "-I", "-m", "compileall", "-q"]
    options = ["--invalidation-mode", "unchecked-hash"]
    # Some modules of the tests of others do not compile; what is needed and faulty shows when it is run.
    subprocess.run(
        [*command, *options, *map(str, folders)],
        env={"PYTHONHOME": str(root / "usr")},
        capture_output=True,
        timeout=600,
        check=False,
    )


def wrapper(root: Path, place: str, program: str) -> str:
    """A shell script that runs `program` of the system at `root`, when that lies in the folder `place`."""
    loader = Path(place) / _only(root, LOADER).relative_to(root)
    libraries = ":".join(f"{place}/{folder}" for folder in LIBRARY_FOLDERS)
    path = next((folder for folder in ("usr/bin", "usr/sbin", "bin", "sbin") if (root / folder / program).exists()), "")
    if not path:
        msg = f"{program}: no such program in its package"
        raise ProbeEffectError(msg)
    return WRAPPER.format(loader=loader, libraries=libraries, program=f"{place}/{path}/{program}")


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if not found:
        msg = f"{folder}: no {pattern} in it"
        raise ProbeEffectError(msg)
    return found[0]


def _names(root: Path) -> Iterator[str]:
    """The names of all that is archived, folders before what is in them."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not LEFT_OUT.search(name):
            yield name


def _cpio(root: Path, target: Path) -> None:
    with target.open("wb") as file:
        run = subprocess.run(
            ["cpio", "--create", "--format=newc", "--null", "--quiet", "--reproducible", "--owner=0:0"],  # noqa: S607
            cwd=root,
            input=b"".join(name.encode() + b"\0" for name in _names(root)),
            stdout=file,
            stderr=subprocess.PIPE,
            timeout=600,
            check=False,
        )
    if run.returncode != 0:
        msg = f"{root}: cpio ended with status {run.returncode}: {run.stderr.decode(errors='replace').strip()}"
        raise ProbeEffectError(msg)
