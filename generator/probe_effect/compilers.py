"""Sources of ours, compiled on the machine that runs them: once, and kept under the hash of all that made the outcome.

The compiler's own account of itself is part of the hash, and goes into the record of a measurement.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady, ProbeEffectError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPILE_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Program:
    """What a compiler made, and what compiled it."""

    path: Path
    compiler: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A compiler and how it is called: `command` stands before the source, `link` after it."""

    command: tuple[str, ...]
    link: tuple[str, ...] = ()
    absent: str
    """What to say when it is not on the PATH, and what to do then."""
    sysroot: Path | None = None
    """Root of another system, whose headers and libraries are taken instead of this one's."""


def compiled(
    source: Path, compiler: Compiler, target: str, folder: Path | None = None, includes: Sequence[Path] = ()
) -> Program:
    """What `compiler` makes of one source; made before, or now.

    Args:
        target: kind and name of the outcome, `workloads/dd-loop`; a folder named by the hash comes between them.
        folder: where outcomes are kept; the user's cache by default.
        includes: further files of ours that go into it.
    Raises: HostNotReady without the compiler; ProbeEffectError with its words when it refuses the source.
    """
    program = shutil.which(compiler.command[0])
    if program is None:
        raise HostNotReady(compiler.absent)
    root = compiler.sysroot.absolute() if compiler.sysroot else None
    # The record names the other system, not where it lies here.
    system = [f"--sysroot={root.name}"] if root else []
    made_by = " ".join([_version(program), *system, *compiler.command[1:], *compiler.link])
    parts = (source.read_bytes(), f"{made_by} {root}".encode(), *(path.read_bytes() for path in includes))
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    kind, name = target.split("/")
    path = (folder or cache_folder()) / kind / digest / name
    if not path.is_file():
        _compile([program, *_other_system(root), *compiler.command[1:]], source, path, compiler.link)
    return Program(path, made_by)


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/probe-effect`, or `~/.cache/probe-effect`."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "probe-effect"


def _other_system(root: Path | None) -> list[str]:
    """Words that turn a compiler to the Debian system at `root`; none for the system on which it runs.

    Source: the manual of gcc, `--sysroot` and `-B`: a compiler finds its own system's libraries by a path from its own
    place, which `--sysroot` leaves first (`cc --sysroot=.. -print-search-dirs`), and `-B` comes before them.
    """
    return [f"--sysroot={root}", f"-B{root}/usr/lib/{os.uname().machine}-linux-gnu"] if root else []


@cache
def _version(program: str) -> str:
    """First line of the compiler's own account, `gcc (Debian 12.2.0-14) 12.2.0` for instance."""
    run = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    return run.stdout.partition("\n")[0].strip() or Path(program).name


def _compile(command: Sequence[str], source: Path, path: Path, link: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        whole = [*command, "-o", str(made), str(source.absolute()), *link]
        run = subprocess.run(whole, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False)
        if run.returncode != 0:
            msg = f"{source}: the compiler refused it. `{' '.join(whole)}` says:\n{run.stderr.strip()}"
            raise ProbeEffectError(msg)
        made.replace(path)  # in one step: another run may be looking
